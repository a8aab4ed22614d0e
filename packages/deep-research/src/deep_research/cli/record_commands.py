"""Earlier runs: `deep-research replay`, `bundle`, `import`, `refresh`, `watch`."""

import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deep_research.cli import shared_flags
from deep_research.cli.lazy_modules import api, asyncio
from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research.api import Run

_LONGEST_NAP = 3600.0  # A clock that is set, or a machine that slept, is noticed after so many seconds at most


@click.command("replay")
@click.argument("run_id", metavar="RUN|BUNDLE")
@shared_flags.AS_JSON
def replay_command(run_id: str, as_json: bool) -> int:
    """Repeat RUN, or a bundle's run, offline from its journal; print its report.

    No keys are needed. Every call is answered from the journal. The command ends with code 1 at the first call that the
    run did not make.
    """
    from deep_research.cli.report_printer import print_report  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="deep-research-bundle-") as scratch:
        # A bundle is taken into a state folder of its own, which is deleted again.
        run = api.read_bundle(Path(run_id), home=Path(scratch)) if Path(run_id).is_file() else api.open_run(run_id)
        report = asyncio.run(run.replay())
    click.echo(report.model_dump_json(indent=1)) if as_json else print_report(report)
    echo_wrapped(f"The replay of {run.id} made no call outside its journal.", err=True)
    return 0


@click.command("bundle")
@shared_flags.RUN
@click.option(
    "-o", "--out", type=shared_flags.PATH, metavar="FILE", help="The file to write (default: RUN.bundle.zip)."
)
def bundle_command(run_id: str, out: str | None) -> int:
    """Write RUN to one file: question, settings, journal, hashed snapshots, result.

    It holds the whole texts of what was read. On any machine, without keys: deep-research replay FILE
    """
    run = api.open_run(run_id)
    path = Path(out or f"{run.id}.bundle.zip")
    run.write_bundle(path)
    echo_wrapped(f"Bundle: {path} ({path.stat().st_size / 1e6:,.1f} MB). Replay it with: deep-research replay {path}")
    return 0


@click.command("import")
@click.argument("file", type=shared_flags.PATH, metavar="FILE")
def import_command(file: str) -> int:
    """Import the run of a bundle, to list, show, question and replay like one's own."""
    run = api.read_bundle(
        Path(file),
        on_left_out=lambda told: echo_wrapped(
            f"Left out, because a bundle may come from somebody else: {told}. Your own settings hold instead.", err=True
        ),
    )
    echo_wrapped(f"Imported: {run.id}. Show it with: deep-research show {run.id}")
    return 0


@click.command("refresh")
@shared_flags.RUN
@shared_flags.AS_JSON
def refresh_command(run_id: str, as_json: bool) -> int:
    """Research RUN's plan in today's sources; report new, changed and lost content."""
    from deep_research.cli.report_printer import print_markdown  # noqa: PLC0415

    run = asyncio.run(api.open_run(run_id).refresh())
    asyncio.run(run.carry_out())
    changes = run.changes_since_parent()
    click.echo(changes.model_dump_json(indent=1)) if as_json else print_markdown(str(changes))
    echo_wrapped(f"The whole report: deep-research show {run.id}", err=True)
    return 0


@click.command("watch")
@shared_flags.RUN
@click.option("--every", default="7d", show_default=True, metavar="TIME", help="How often: 12h, 1d, 2w, 1m.")
@click.option("--once", is_flag=True, help="Refresh if it is due, and end: for cron and timers.")
@click.option("--now", "at_once", is_flag=True, help="Do not wait for the first refresh to be due.")
def watch_command(run_id: str, every: str, once: bool, at_once: bool) -> int:
    """Refresh the report of RUN repeatedly; show new, changed and removed content.

    The newest refresh of RUN is refreshed; one that was interrupted or failed is carried on until the next one is due.
    With --once the exit code is 1 when the refresh failed.

    \b
    deep-research watch RUN --every 1d
    0 6 * * *  deep-research watch RUN --every 1d --once     (cron, which mails what is printed)
    """
    length = api.parse_age(every)
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
        went_well = _refresh_and_tell(newest, length)
        if once:
            return 0 if went_well else 1
        if not went_well:
            time.sleep(min(length.total_seconds(), _LONGEST_NAP))


def _seconds_until_due(run: "Run", every: timedelta) -> float:
    """Return the seconds until the next refresh; 0 for an unfinished refresh."""
    is_begun = run.record.origin == "refresh" and not run.has_report
    return 0.0 if is_begun else _seconds_left(run, every)


def _seconds_left(run: "Run", every: timedelta) -> float:
    return (datetime.fromisoformat(run.record.created) + every - datetime.now(UTC)).total_seconds()


def _refresh_and_tell(newest: "Run", every: timedelta) -> bool:
    from deep_research.errors import ResearchError  # noqa: PLC0415

    try:
        begun = newest.record.origin == "refresh" and not newest.has_report
        if begun and newest.record.status in ("failed", "declined") and _seconds_left(newest, every) <= 0:
            newest, begun = api.open_run(newest.record.parent), False
        run = newest if begun else asyncio.run(newest.refresh())
        asyncio.run(run.carry_out())
        changes = run.changes_since_parent()
        if not changes.statements and not changes.sources:
            echo_wrapped(f"{run.record.created[:16]}  nothing changed ({run.id})")
            return True
        click.echo(str(changes))
        echo_wrapped(f"The whole report: deep-research show {run.id}", err=True)
    except ResearchError as error:
        echo_wrapped(f"Error: {error.message}", err=True)
        return False
    return True
