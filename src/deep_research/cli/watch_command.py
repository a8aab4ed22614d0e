"""`deep-research watch`: a report that is kept up to date, and who is told what changed."""

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from deep_research.cli.completion_command import complete_run_ids
from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research.api import Run

_LONGEST_NAP = 3600.0
"""A clock that is set, or a machine that slept, is noticed after so many seconds at most."""


@click.command("watch")
@click.argument("run_id", metavar="RUN", shell_complete=complete_run_ids)
@click.option("--every", default="7d", show_default=True, metavar="TIME", help="How often: 12h, 1d, 2w, 1m.")
@click.option("--webhook", metavar="URL", help="POST what changed to this address as JSON.")
@click.option("--mail-to", metavar="ADDRESS", help="Mail what changed; SMTP_URL names the server.")
@click.option("--once", is_flag=True, help="Refresh if it is due, and end: for cron and timers.")
@click.option("--now", "at_once", is_flag=True, help="Do not wait for the first refresh to be due.")
def watch_command(run_id: str, every: str, webhook: str | None, mail_to: str | None, once: bool, at_once: bool) -> int:
    """Refresh the report of RUN again and again, and tell what is new, what changed and what is gone.

    The newest refresh of RUN is refreshed; one that was interrupted is carried on. Nobody is told of a refresh that
    changed nothing. With --once the exit code is 1 when the refresh or a message failed.

    \b
    deep-research watch RUN --every 1d --webhook https://example.org/hook
    0 6 * * *  deep-research watch RUN --every 1d --once --mail-to me@example.org     (cron)
    """
    from deep_research import api  # noqa: PLC0415 - help stays fast

    length = api.read_length(every)
    api.check_notices(webhook=webhook, mail_to=mail_to)
    while True:
        newest = api.newest_refresh(run_id)
        wait = 0.0 if at_once else _seconds_until_due(newest, length)
        if wait > 0 and once:
            echo_wrapped(f"Not due yet: the next refresh is due in {timedelta(seconds=round(wait))}.", err=True)
            return 0
        while wait > 0:
            time.sleep(min(wait, _LONGEST_NAP))
            wait = _seconds_until_due(newest, length)
        at_once = False
        went_well = _refresh(newest, webhook, mail_to)
        if once:
            return 0 if went_well else 1
        if not went_well:
            time.sleep(min(length.total_seconds(), _LONGEST_NAP))


def _seconds_until_due(run: "Run", every: timedelta) -> float:
    """Return how long it is until the next refresh; nothing for a refresh that was begun and not finished."""
    if run.record.origin == "refresh" and not run.has_report:
        return 0.0
    due = datetime.fromisoformat(run.record.created) + every
    return (due - datetime.now(UTC)).total_seconds()


def _refresh(newest: "Run", webhook: str | None, mail_to: str | None) -> bool:
    """Refresh, print what changed and tell others. Returns whether all of it went well."""
    import asyncio  # noqa: PLC0415

    from deep_research import api  # noqa: PLC0415
    from deep_research.errors import ResearchError  # noqa: PLC0415

    try:
        begun = newest.record.origin == "refresh" and not newest.has_report
        run = newest if begun else asyncio.run(newest.refresh())
        asyncio.run(run.carry_out())
        changes = run.changes_since_parent()
        if not changes.statements and not changes.sources:
            echo_wrapped(f"{run.record.created[:16]}  nothing changed ({run.id})")
            return True
        click.echo(str(changes))
        echo_wrapped(f"The whole report: deep-research show {run.id}", err=True)
        api.send_notices(run, webhook=webhook, mail_to=mail_to)
    except ResearchError as error:
        echo_wrapped(f"Error: {error.message}", err=True)
        return False
    return True
