"""Two reports on one question, verified together: joined into one and compared."""

import asyncio

from claimcheck.text.quotations import stands_nearly_in
from deep_research.data import Disagreement, Verification
from deep_research.errors import LimitReached, ModelError
from deep_research.i18n.catalog import gap_from, gap_of, phrase
from deep_research.run_context.context import RunContext
from deep_research.steps.foreign_report import report_title
from deep_research.steps.write import headings_of
from deep_research.text.rewritten_text import RewrittenText
from deep_research.verification.citations import cite_ids

_DEEPEST = 4
"""Headings that can become two levels lower."""
_MOST_CHARS, _MOST_IDS = 2_000, 20
"""Of what a model says in one line of a list, and of the passages that it names for it."""


def join_reports(first: str, second: str) -> str:
    """Return two reports as one Markdown text, each under a heading with its title."""
    titles = report_title(first), report_title(second)
    parts = [
        f"## {name}: {title}\n\n{_demoted(text, name)}"
        for name, title, text in zip("AB", titles, (first, second), strict=True)
    ]
    return "\n\n".join([f"# {titles[0]} / {titles[1]}", *parts])


def _demoted(text: str, name: str) -> str:
    """Return a report without its title, its headings two levels lower and prefixed.

    The prefix is the name of the report, so that the heading of a statement tells its report.
    """
    title, _, rest = text.strip().partition("\n")
    body = rest.strip() if title.startswith("# ") else text.strip()
    marks = [(m.end(1), m.end(1), f"{'##' * (len(m[1]) <= _DEEPEST)} {name}:") for m in headings_of(body)]
    return RewrittenText(body, marks).text


async def compare_reports(ctx: RunContext, first: str, second: str, question: str) -> tuple[Disagreement, ...]:
    """Return the contradictions between two reports; without a model none and a gap.

    What is quoted of a report and does not stand in it is no finding.
    """
    if not ctx.reasoner.info.is_language_model:
        ctx.report_gap(gap_of("comparison", "no_comparison"))
        return ()
    try:
        found = await ctx.reasoner.compare(first, second, ctx.library, question)
    except (LimitReached, ModelError) as error:
        ctx.report_gap(gap_from("comparison", error))
        return ()

    def stand() -> tuple[Disagreement, ...]:
        return tuple(d for d in found if stands_nearly_in(d.first, first) and stands_nearly_in(d.second, second))

    return await asyncio.to_thread(stand)


def describe_disagreements(found: tuple[Disagreement, ...], language: str) -> str:
    """Return disagreements as a section of the report; "" without any."""
    if not found:
        return ""
    colon = phrase("colon", language)
    rows = [
        f"{number}. **A**{colon}“{_line(one.first)}” **B**{colon}“{_line(one.second)}” — "
        f"{phrase(f'borne_out_{one.borne_out}', language)} {_line(one.why)} {cite_ids(one.passages[:_MOST_IDS])}".rstrip()
        for number, one in enumerate(found, 1)
    ]
    return f"## {phrase('disagreements', language)}\n\n" + "\n".join(rows)


def describe_problems(found: Verification, language: str) -> str:
    """Return the open problems with their headings as a report section; "" for none."""
    open_ones = {problem.claim for problem in found.problems if problem.outcome == "open"}
    where = {c.id: f"{c.where}{phrase('colon', language)}" for c in found.claims if c.where and c.id in open_ones}
    rows = [
        f"- {where.get(problem.claim, '')}“{_line(problem.quote)}” — {_line(problem.problem)} {_line(problem.evidence)} {cite_ids(problem.passages[:_MOST_IDS])}"
        for problem in found.problems
        if problem.outcome == "open"
    ]
    return f"## {phrase('problems_found', language)}\n\n" + "\n".join(map(str.rstrip, rows)) if rows else ""


def _line(text: str) -> str:
    return " ".join(text[:_MOST_CHARS].split())
