"""Write the report freely from all notes and passages, with look-ups if needed."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from claimcheck.language import detect, language_name
from deep_research.data import Assignment, Brief, Decision, Move, QueryAnalysis, Question, Section, Turn
from deep_research.data.actions import LOOKUPS
from deep_research.errors import LimitReached, ModelError, ModelRateLimited, ProviderDown
from deep_research.events import ReportPiece
from deep_research.i18n.catalog import gap_from, gap_of, phrase
from deep_research.run_context.context import RunContext
from deep_research.steps.converse import converse
from deep_research.text.code_spans import code_spans, fenced_blocks, is_within
from deep_research.text.inert_markdown import make_inert
from deep_research.verification.citations import cited_ids, normalize_citations

_NOT_FOUND = 12
_NOTHING_CITED = (
    "Your text cites no passage. Write the same report again, each fact with the id of the passage that says "
    "it right behind it, like [s7p3]."
)
_TAGGED = re.compile(
    r"\A[^\n]{0,200}\n?\s{0,9}<(report|answer|final_report)>\n?(.*)</\1>[^\n]{0,200}\Z", re.DOTALL | re.IGNORECASE
)
_AROUND = 200
"""Characters around a fence that holds a whole report; before one that begins with a title there may be more."""
_HEADING = re.compile(r"^(#{1,6}) ++\S", re.MULTILINE)
_TELLING_CHARS = 200
"""A text of fewer characters does not tell its language."""


class Written(NamedTuple):
    """The writer's text with passage ids, and the look-ups before it."""

    text: str
    turns: tuple[Turn, ...] = ()


def assign(
    ctx: RunContext,
    question: Question,
    analysis: QueryAnalysis,
    decision: Decision,
    brief: Brief,
    sections: Sequence[Section],
) -> Assignment:
    """Return the writer's assignment, passages cited in notes before those only seen."""
    known = [[key for key in cited_ids(s.content) if ctx.library.passage(key) is not None] for s in sections]
    cited = [key for row in zip_longest(*known) for key in row if key]
    seen = [key for row in zip_longest(*(s.passages for s in sections)) for key in row if key]
    brief = ctx.steering.now.brief_with_remarks(brief)
    return Assignment(
        question=question,
        analysis=analysis,
        brief=brief.model_copy(update={"assumptions": decision.assumptions}),
        sections=tuple(sections),
        passages=tuple(dict.fromkeys([*cited, *seen])),
        not_found=tuple(sorted(f"{gap.what}: {gap.why}" for gap in ctx.log.gaps)[:_NOT_FOUND]),
    )


async def write_report(ctx: RunContext, assignment: Assignment) -> Written:
    """Return the report as its writer has written it, streamed while it comes.

    A text without ids, or in another language, is asked for once more. A writer that fails leaves the notes, section
    by section, which is a gap. Raises ModelRateLimited and ProviderDown where its server stays away: what was paid for
    is kept, and the run can go on here; unless the report is wanted now, or no model has answered in this run.
    """
    with _streamed(ctx):
        try:
            return await _written(ctx, assignment)
        except (LimitReached, ModelError) as error:
            is_away = isinstance(error, ModelRateLimited | ProviderDown)
            if is_away and not ctx.steering.now.finishing and ctx.journal.count("model") > 0:
                message = phrase("writer_away", "en", error=error.message, run_id=ctx.run_id)
                raise replace(error, message=message) from error
            ctx.report_gap(gap_from("report", error))
            return Written(notes_as_report(assignment))


async def _written(ctx: RunContext, assignment: Assignment) -> Written:
    async def ask(turns: Sequence[Turn]) -> Move:
        return await ctx.reasoner.write(assignment, turns, ctx.library)

    move, turns = await converse(ctx, ask, most=LOOKUPS)
    text, lack = await asyncio.to_thread(read_report, move.text, assignment)
    if lack and ctx.reasoner.info.is_language_model:
        again = [*turns, Turn(said=move.text), Turn(remarks=(lack,))]
        second = (await ctx.reasoner.write(assignment, again, ctx.library)).text
        better, lack_still = await asyncio.to_thread(read_report, second, assignment)
        if better and not lack_still:
            return Written(better, tuple(again))
        if lack == _NOTHING_CITED:
            ctx.report_gap(gap_of("report", "nothing_cited"))
    return Written(text or notes_as_report(assignment), tuple(turns))


def read_report(said: str, assignment: Assignment) -> tuple[str, str]:
    """Return a writer's cleaned text and its fault as told to the writer, or ""."""
    text = _from_title(clean_report(said))
    if text and assignment.passages and not cited_ids(text):
        return text, _NOTHING_CITED
    if len(text) >= _TELLING_CHARS and detect(text) != (language := assignment.brief.language):
        name = language_name(language)
        return text, f"Your text is not in {name}. Write the same report again in {name}, with its ids."
    return text, ""


def clean_report(text: str) -> str:
    """Return a text with uniform citations and nothing active when rendered."""
    return make_inert(normalize_citations(unwrap_report(text.strip())))


def unwrap_report(text: str) -> str:
    """Return the text in a fence or tag around a whole report, as some models send."""
    if tagged := _TAGGED.search(text):
        return tagged[2].strip()
    for start, end, info in fenced_blocks(text):
        inner = text[start:end].strip("\n").partition("\n")[2]
        around = (text[:start], text[end:])
        is_short = len(text[:start]) <= _AROUND and info.lower() in ("markdown", "md")
        is_report = (is_short or inner.startswith("# ")) and len(text[end:]) <= _AROUND
        if is_report and not any("#" in part or cited_ids(part) for part in around):
            return inner.rstrip().removesuffix("```").removesuffix("~~~").rstrip()
    return text


def _from_title(text: str) -> str:
    """Return a report from its title on, dropping uncited text before the title.

    What a model says to itself before it begins is no part of the report, and stays in the turns.
    """
    first = next(headings_of(text), None)
    if first is None or len(first[1]) > 1 or cited_ids(text[: first.start()]):
        return text
    return text[first.start() :]


def headings_of(text: str) -> Iterator[re.Match[str]]:
    """Yield the headings of a report outside its code; group 1 is their marks."""
    code = code_spans(text)
    return (found for found in _HEADING.finditer(text) if not is_within(code, found.start()))


def notes_as_report(assignment: Assignment) -> str:
    """Return the notes of the sections as a report, where there is no writer."""
    parts = [f"# {assignment.brief.title}"]
    for section in assignment.sections:
        if section.content:
            parts += [f"## {section.title}", section.content]
    return "\n\n".join(parts)


def _streamed(ctx: RunContext):
    if not ctx.reasoner.info.is_language_model:
        return nullcontext()
    from deep_research.providers.token_stream import streaming_to  # noqa: PLC0415 - only with a model

    async def show(piece: str) -> None:
        ctx.emit(ReportPiece(text=piece))

    return streaming_to(show)
