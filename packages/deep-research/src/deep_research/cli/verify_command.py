"""`deep-research verify`: check other authors' reports against their cited pages."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deep_research.cli import shared_flags
from deep_research.cli.lazy_modules import api, asyncio
from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research.api import Run
    from deep_research.data import Report
    from deep_research.settings import Settings

_MOST_SHOWN = 40


@click.command(
    "verify",
    epilog="Exit codes: 0 all that cites is confirmed, 1 something is not confirmed (or it failed, or was stopped: 130), "
    "2 something is contradicted or misleading, or wrong usage, 3 nothing cites a source. An error prints no counts.",
)
@click.argument("reports", metavar="FILE|URL|- [FILE|URL]", nargs=-1)
@click.option("--run", "run_id", metavar="RUN", help="Verify the report of an earlier run.")
@click.option(
    "-d",
    "--docs",
    multiple=True,
    type=shared_flags.PATH,
    metavar="PATH",
    help="Hold it against these files instead of its links.",
)
@click.option("--question", default="", metavar="TEXT", help="What the report should answer.")
@click.option("--fix", is_flag=True, help="Have the text put right; print it, and what changed to standard error.")
@shared_flags.PROVIDER
@shared_flags.MODEL
@click.option("--source", "sources", multiple=True, metavar="NAME", help="Web source the verifier may search.")
@shared_flags.SETTING
@shared_flags.BUDGET
@shared_flags.ESTIMATE
@click.option("--to", "to", metavar="FORMAT", help="Write the annotated report: html, markdown, pdf, docx, xlsx, json.")
@click.option("-o", "--out", type=shared_flags.PATH, metavar="FILE", help="The file for --to or --fix.")
@shared_flags.AS_JSON
@click.option("--quiet", is_flag=True, help="Show no progress.")
@shared_flags.VERBOSE
def verify_command(reports: tuple[str, ...], run_id: str | None, question: str, fix: bool, **flags: Any) -> int:
    """Verify a report against the pages it cites; two reports are compared as well.

    Its citations are found in the styles people meet (links, [1] with a list, footnotes), the pages are fetched and
    kept, and each statement is held against them: by a model with --provider or a key, else by code, which knows
    numbers, dates, names, quotations and dead links, and says what nobody has judged. `resume RUN` goes on with one
    that was interrupted.
    """
    from deep_research.cli.flags import output_file, settings_of, write_export  # noqa: PLC0415 - help stays fast
    from deep_research.cli.session import Session, code_of_verification, print_estimate  # noqa: PLC0415
    from deep_research.data import GivenReport  # noqa: PLC0415

    settings = settings_of(flags)
    out = output_file(flags)
    # Before anything is paid for.
    if flags["to"] and flags["to"] not in (formats := [made.name for made in api.list_exporters()]):
        raise click.UsageError(f"There is no format {flags['to']!r}. Formats: {', '.join(formats)}.")
    texts = _given(reports, run_id, settings)
    if flags["estimate"]:
        print_estimate(settings, texts, revises=fix)
        return 0
    other = texts[1] if len(texts) > 1 else ""
    given = GivenReport(text=texts[0], other=other, question=question, revises=fix)
    docs = flags["docs"] or (api.open_run(run_id).record.docs if run_id else ())
    run = api.start_verification(given, settings, docs=docs)
    if fix or flags["to"]:
        run.note_output(str(out or ""), flags["to"] or "")
    report = Session(flags).carry_out(run)
    if flags["as_json"]:
        click.echo(report.model_dump_json(indent=1))
    else:
        _show(run, report, partial(echo_wrapped, err=fix and not (out or flags["to"])))
    if flags["to"]:
        echo_wrapped(f"Written: {write_export(run.export(flags['to']), out)}", err=True)
    elif fix:
        if out is not None:
            api.save_text(out, report.report)
            echo_wrapped(f"Written: {out}", err=True)
        elif not flags["as_json"]:
            click.echo(report.report, nl=False)
        click.echo(report.diff, err=True)
    return code_of_verification(run, report)


def _given(reports: tuple[str, ...], run_id: str | None, settings: "Settings") -> list[str]:
    if bool(run_id) == bool(reports) or len(reports) > 2:
        raise click.UsageError("Give one FILE, URL or - (standard input), two to compare them, or --run RUN.")
    if run_id:
        return [api.open_run(run_id).report.report]
    if reports.count("-") > 1:
        raise click.UsageError("Standard input (-) is one report; name a file for the other.")
    named = [name if name.startswith(("http://", "https://")) else Path(name) for name in reports]
    return [
        api.read_report_stream(sys.stdin.buffer) if str(one) == "-" else asyncio.run(api.read_report(one, settings))
        for one in named
    ]


def _show(run: "Run", report: "Report", echo: Callable[[str], None]) -> None:
    from deep_research.i18n.catalog import phrase  # noqa: PLC0415 - help stays fast

    counts = api.verdict_counts(report)
    echo(f"{report.title}\n")
    echo(
        f"{counts.cited} statements cite sources: {counts.supported} supported, {counts.contradicted} contradicted, "
        f"{counts.misleading} misleading, {counts.unverified} not confirmed. {counts.own} cite nothing."
    )
    if not report.reasoner.is_language_model:
        echo("No model has judged them: code has checked ids, links, quotations, numbers, dates and names.")
    for number, one in enumerate(report.disagreements, 1):
        echo(f"\nDisagreement {number}: A: “{one.first[:300]}” B: “{one.second[:300]}”")
        echo(f"   {phrase(f'borne_out_{one.borne_out}', 'en')} {one.why}")
    where = {claim.id: claim.where for claim in report.claims}
    rest = f"more; all: deep-research show {run.id} --json"
    for number, problem in enumerate(report.problems[:_MOST_SHOWN], 1):
        place = f" ({where[problem.claim]})" if where.get(problem.claim) else ""
        done = "" if problem.outcome == "open" else f" [{problem.outcome}]"
        echo(f"\n{number}. {problem.kind}{place}{done}: “{problem.quote[:300]}”")
        echo(f"   {problem.problem}" + (f" Evidence: {problem.evidence}" if problem.evidence else ""))
    if (left := len(report.problems) - _MOST_SHOWN) > 0:
        echo(f"\n… and {left:,} {rest}")
    if report.gaps:
        echo(f"\nWhat could not be read or done ({len(report.gaps):,}):")
        for gap in report.gaps[:_MOST_SHOWN]:
            echo(f"- {gap.why}" if gap.what in gap.why else f"- {gap.what}: {gap.why}")
    if (left := len(report.gaps) - _MOST_SHOWN) > 0:
        echo(f"… and {left:,} {rest}")
    echo_wrapped(f"\nStatement by statement: deep-research show {run.id}   (or --to html)", err=True)
