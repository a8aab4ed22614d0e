"""Reports, answers and their sources as a terminal shows them."""

import re
import sys

import click

from deep_research.api import with_tables
from deep_research.cli.wrapped_text import echo_wrapped
from deep_research.data import FollowUp, Reference, Report
from deep_research.i18n.catalog import phrase
from deep_research.safe_text import safe_text
from deep_research.settings import is_paging_wanted

_WIDTH = 110
_SECTION = re.compile(r"(?m)^## (.+)$")


def print_report(report: Report, *, plain: bool = False, short: bool = False, paged: bool = False) -> None:
    """Print the report, or its answer (`short`), rendered on a terminal."""
    text = report.report
    if short and report.reasoner.is_language_model:
        text = _SECTION.split(text, maxsplit=1)[0].rstrip() + "\n"
    elif short:  # all places that were found
        text = f"# {report.title}\n\n{_answer_text(report)}\n"
    print_markdown(text, report, plain=plain, paged=paged and not short)


def print_markdown(text: str, report: Report | None = None, *, plain: bool = False, paged: bool = False) -> None:
    """Print Markdown, rendered on a terminal unless `plain`; a long one `paged`."""
    text = with_tables(safe_text(text), report, is_rendered=plain or sys.stdout.isatty())
    if plain or not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console  # noqa: PLC0415 - only on a terminal
    from rich.markdown import Markdown  # noqa: PLC0415

    console = Console()
    width = min(console.width, _WIDTH)
    with console.capture() as drawn:
        console.print(Markdown(text), width=width)
    is_long = drawn.get().count("\n") > console.height
    if paged and is_long and sys.stdin.isatty() and is_paging_wanted():
        click.echo_via_pager(drawn.get())
    else:
        click.echo(drawn.get(), nl=False)


def print_answer(made: FollowUp) -> None:
    """Print the answer to a follow-up: short on a terminal, as Markdown elsewhere."""
    report = made.report
    if report is None:
        return
    if not sys.stdout.isatty():
        print_markdown(report.report, report)
        return
    lines = [*(f"*{told}*" for told in report.assumptions), _answer_text(report)]
    print_markdown("\n\n".join(lines))
    if report.references:
        echo_wrapped("\n" + "\n".join(reference_line(reference) for reference in report.references))
    echo_wrapped(f"\n{came_from(made)}")


def _answer_text(report: Report) -> str:
    """Return a report's text without title, references, gaps and verification notes."""
    behind = {phrase(name, report.language) for name in ("references", "gaps", "checked")}
    text = report.report.partition("\n")[2] if report.report.startswith("# ") else report.report
    ends = [found.start() for found in _SECTION.finditer(text) if found[1].strip() in behind]
    return text[: min(ends, default=len(text))].strip()


def came_from(made: FollowUp) -> str:
    """Return one line that says where an answer comes from."""
    report = made.report
    if report is None:
        return {"running": "interrupted", "stopped": "stopped"}.get(made.status, f"failed: {made.error}")
    name = "from_library" if made.found_in == "library" else "from_research" if report.answered else "from_neither"
    return phrase(name, report.language, searches=report.ledger.searches)


def reference_line(reference: Reference) -> str:
    """Return one reference on one line: number, title, place, ids of its passages."""
    place = reference.location or reference.url
    return f"[{reference.number}] {reference.title} — {place}  ({', '.join(reference.passages)})"
