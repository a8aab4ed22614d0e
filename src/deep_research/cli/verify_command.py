"""`deep-research verify`: a report that somebody else wrote, held against the pages that it cites."""

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deep_research.cli.lazy_modules import api, asyncio
from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research.api import Run
    from deep_research.data import Report

_MOST_SHOWN = 40


@click.command(
    "verify",
    epilog="Exit codes: 0 all that cites is confirmed, 1 something is not confirmed, 2 something is contradicted or "
    "misleading (an error prints no counts).",
)
@click.argument("reports", metavar="FILE|URL|-", nargs=-1)
@click.option("--run", "run_id", metavar="RUN", help="Verify the report of an earlier run.")
@click.option("-d", "--docs", multiple=True, metavar="PATH", help="Hold it against these files instead of its links.")
@click.option("--question", default="", metavar="TEXT", help="What the report should answer.")
@click.option("--fix", is_flag=True, help="Have the text put right; print it, and what changed to standard error.")
@click.option("-p", "--provider", metavar="NAME", help="Model provider (default: the first with a key, else no model).")
@click.option("--model", metavar="NAME", help="Model of the provider.")
@click.option("--source", "sources", multiple=True, metavar="NAME", help="Web source the verifier may search.")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="Any setting.")
@click.option("--budget", metavar="AMOUNT", help="Maximum cost: 0.50 (US dollars) or 200000tokens.")
@click.option("--to", "to", metavar="FORMAT", help="Write the annotated report: html, markdown, pdf, docx, xlsx, json.")
@click.option("-o", "--out", metavar="FILE", help="The file for --to or --fix.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Show every event.")
def verify_command(reports: tuple[str, ...], run_id: str | None, question: str, fix: bool, **flags: Any) -> int:
    """Verify a report: do the pages it cites say what it says?

    Its citations are found in the styles people meet (links, [1] with a list, footnotes), the pages are fetched and
    kept, and each statement is held against them: by a model with --provider or a key, else by code, which knows
    numbers, dates, names, quotations and dead links, and says what nobody has judged. `resume RUN` goes on with one
    that was interrupted.
    """
    from deep_research.cli.session import Interrupted, Session  # noqa: PLC0415 - help stays fast

    text = _given(reports, run_id)
    session = Session(flags)
    run = api.start_verification(text, session.settings(), docs=flags["docs"], question=question, revises=fix)
    try:
        report = session.carry_out(run)
    except Interrupted as stopped:
        return stopped.code
    if flags["as_json"]:
        click.echo(report.model_dump_json(indent=1))
    else:
        _show(run, report)
    if flags["to"]:
        made = run.export(flags["to"])
        path = Path(flags["out"] or made.file_name)
        path.write_bytes(made.data)
        echo_wrapped(f"Written: {path}", err=True)
    elif fix:
        _write_fixed(text, report, flags["out"])
    return _code_of(report)


def _given(reports: tuple[str, ...], run_id: str | None) -> str:
    if bool(run_id) == bool(reports) or len(reports) > 1:
        raise click.UsageError("Give one FILE, URL or - (standard input), or --run RUN.")
    if run_id:
        return api.open_run(run_id).report.report
    name = "".join(reports)
    if name == "-":
        return sys.stdin.read()
    if name.startswith(("http://", "https://")):
        return asyncio.run(api.fetch_report(name))
    return api.read_report_file(Path(name))


def _show(run: "Run", report: "Report") -> None:
    """Print the counts, and each problem with its quotation, its place and what a source has instead."""
    counts = api.verdict_counts(report)
    click.echo(f"{report.title}\n")
    click.echo(
        f"{counts.cited} statements cite sources: {counts.supported} supported, {counts.contradicted} contradicted, "
        f"{counts.misleading} misleading, {counts.unverified} not confirmed. {counts.own} cite nothing."
    )
    if not report.reasoner.is_language_model:
        click.echo("No model has judged them: code has checked ids, links, quotations, numbers, dates and names.")
    where = {claim.id: claim.where for claim in report.claims}
    for number, problem in enumerate(report.problems[:_MOST_SHOWN], 1):
        place = f" ({where[problem.claim]})" if where.get(problem.claim) else ""
        echo_wrapped(f"\n{number}. {problem.kind}{place}: “{problem.quote[:300]}”")
        echo_wrapped(f"   {problem.problem}" + (f" Evidence: {problem.evidence}" if problem.evidence else ""))
    if len(report.problems) > _MOST_SHOWN:
        click.echo(f"\n… and {len(report.problems) - _MOST_SHOWN} more (--json has all)")
    if unread := [gap for gap in report.gaps if gap.source]:
        click.echo(f"\n{len(unread)} links could not be read:")
        for gap in unread[:_MOST_SHOWN]:
            echo_wrapped(f"- {gap.what}: {gap.why}")
    echo_wrapped(f"\nStatement by statement: deep-research show {run.id}   (or --to html)", err=True)


def _write_fixed(before: str, report: "Report", out: str | None) -> None:
    if out:
        Path(out).write_text(report.report, "utf-8")
        echo_wrapped(f"Written: {out}", err=True)
    else:
        click.echo(report.report)
    lines = difflib.unified_diff(before.splitlines(), report.report.splitlines(), "before", "after", lineterm="", n=0)
    click.echo("\n".join(lines), err=True)


def _code_of(report: "Report") -> int:
    counts = api.verdict_counts(report)
    if counts.contradicted or counts.misleading:
        return 2
    return 1 if counts.unverified or report.problems else 0
