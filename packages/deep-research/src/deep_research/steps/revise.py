"""Let the writer put its own text right: what it has changed is verified again.

Where much was found it writes its report anew, else it returns edits, which code applies.
"""

import asyncio
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from deep_research.data import Assignment, Edit, Move, Problem, Revision, Turn, Verification
from deep_research.data.actions import REVISION_LOOKUPS
from deep_research.errors import LimitReached, MalformedOutput, ModelError
from deep_research.events import Revised
from deep_research.i18n.catalog import gap_from, gap_of
from deep_research.run_context.context import RunContext
from deep_research.steps.converse import converse
from deep_research.steps.verify import verify_changes
from deep_research.steps.write import Written, clean_report, read_report
from deep_research.text.code_spans import code_spans, is_within
from deep_research.verification.citations import normalize_citations

ROUNDS = 2
"""Rounds of revision; what still fails then is shown as failing."""
_OF_THE_WHOLE = ("missing", "unclear", "inconsistent")
"""Kinds of problems that a report which was written anew has answered, wherever it does."""
_MOST_PARAGRAPHS = 500
_LEAST = 0.5
"""Share of its report's length below which a writer has written anew only a part of it."""


class Checked(NamedTuple):
    """A text with its verification, and all edits that were made to it."""

    text: str
    verification: Verification
    edits: tuple[Edit, ...] = ()


async def revise(ctx: RunContext, assignment: Assignment, written: Written, found: Verification) -> Checked:
    """Return the text as revised by its writer, verified again where it changed.

    A writer that fails leaves the text as it is, which is a gap.
    """
    text, edits, rounds = written.text, list[Edit](), list[Revision]()
    for number in range(1, ROUNDS + 1):
        problems = [p for p in found.problems if p.outcome == "open"]
        if not problems:
            break
        before = text
        try:
            text, done = await _round(ctx, assignment, written, text, rounds, problems)
        except (LimitReached, ModelError) as error:
            ctx.report_gap(gap_from("revision", error))
            break
        rounds.append(done)
        edits += [e for e in done.edits if e.old]
        found = found.model_copy(update={"problems": _with_outcomes(found.problems, problems, done.edits)})
        if not any(e.applied for e in done.edits):
            break
        first = before if done.text else ""
        found = await verify_changes(ctx, assignment, text, found, number=number + 1, first=first)
    lost = [e for e in edits if not e.applied]
    ctx.emit(Revised(edits=len(edits) - len(lost), failed=len(lost)))
    if lost:
        ctx.report_gap(gap_of("report", "edits_not_made", count=str(len(lost))))
    for claim in (c for c in found.claims if c.verdict.kind == "contradicted"):
        ctx.report_gap(gap_of(claim.text, "contradicted", why=claim.verdict.reason))
    return Checked(text, found, tuple(e for e in edits if e.applied))


async def _round(
    ctx: RunContext,
    assignment: Assignment,
    written: Written,
    text: str,
    rounds: Sequence[Revision],
    problems: Sequence[Problem],
) -> tuple[str, Revision]:
    """Return the text and record of one round; ask once more for unmatched edits."""

    given = assignment.model_copy(update={"draft": written.text})

    async def ask(now: str, before: Sequence[Revision], asked: Sequence[Problem]) -> tuple[Move, str]:
        async def next_move(looked: Sequence[Turn]) -> Move:
            return await ctx.reasoner.revise(given, written.turns, now, before, asked, looked, ctx.library)

        move, looked = await converse(ctx, next_move, most=REVISION_LOOKUPS)
        anew, lack = await asyncio.to_thread(_read, move.text, now, assignment)
        if lack:
            move = await next_move([*looked, Turn(said=move.text), Turn(remarks=(lack,))])
            anew, lack = await asyncio.to_thread(_read, move.text, now, assignment)
        if lack:
            raise MalformedOutput(lack, text=move.text, reason="report")
        return move, anew

    move, anew = await ask(text, rounds, problems)
    if anew:
        anew = await _reread(ctx, assignment, anew)
        changes = await asyncio.to_thread(changed_paragraphs, text, anew, problems)
        return anew, Revision(problems=tuple(problems), edits=changes, text=anew)
    text, made = await asyncio.to_thread(apply_edits, text, move.edits)
    failed = [e for e in made if e.old and not e.applied]
    if failed:
        numbers = sorted({n for e in failed for n in e.problems if n < len(problems)}) or [0]
        again = [
            problems[n].model_copy(update={"failed_edits": tuple(failed) if n == numbers[0] else ()}) for n in numbers
        ]
        done = Revision(problems=tuple(problems), edits=tuple(e for e in made if e.applied))
        text, second = await asyncio.to_thread(apply_edits, text, (await ask(text, [*rounds, done], again))[0].edits)
        renumbered = [
            e.model_copy(update={"problems": tuple(numbers[n] for n in e.problems if n < len(numbers))}) for e in second
        ]
        made = [e for e in made if e not in failed] + renumbered
    return text, Revision(problems=tuple(problems), edits=tuple(made))


async def _reread(ctx: RunContext, assignment: Assignment, text: str) -> str:
    """Return the report written again by a writer that reads it as its reader will.

    What it was told of sources and problems makes a text dense; this is asked without them. A writer that fails, or
    writes only a part, leaves the text as it is.
    """
    try:
        said = await ctx.reasoner.reread(assignment, text)
    except (LimitReached, ModelError) as error:
        ctx.report_gap(gap_from("revision", error))
        return text
    better, lack = await asyncio.to_thread(_read, said, text, assignment)
    return text if lack or not better else better


def _read(said: str, before: str, assignment: Assignment) -> tuple[str, str]:
    """Return a rewritten report and its fault as told to the writer, or both as ""."""
    text, lack = read_report(said, assignment) if said else ("", "")
    is_whole = not said or len(text) > len(before) * _LEAST
    return text, lack or ("" if is_whole else "That is not the whole report. Write it whole.")


def changed_paragraphs(before: str, after: str, problems: Sequence[Problem]) -> tuple[Edit, ...]:
    """Return the differing paragraphs of two texts as edits.

    The edit of an added paragraph begins with the paragraph before it.

    The first answers what was said of the whole: its words may stand as they were, and the rest tell more.
    """
    # The comparison takes the product of their numbers: what is beyond a report's is one paragraph.
    old, new = before.split("\n\n", _MOST_PARAGRAPHS), after.split("\n\n", _MOST_PARAGRAPHS)
    changes: list[Edit] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lead = int(kind == "insert" and a > 0)
        if kind != "equal":
            edit = Edit(old="\n\n".join(old[a - lead : b]), new="\n\n".join(new[c - lead : d]), applied=True)
            changes.append(edit)
    whole = tuple(n for n, problem in enumerate(problems) if problem.kind in _OF_THE_WHOLE)
    return tuple(e.model_copy(update={"problems": whole}) if n == 0 else e for n, e in enumerate(changes))


def apply_edits(text: str, edits: Sequence[Edit]) -> tuple[str, list[Edit]]:
    """Return the text with edits of unique old words, and all edits, marked if made.

    A writer copies them from what it wrote, before its citations were brought into one form.
    """
    made: list[Edit] = []
    for edit in edits:
        old = edit.old if edit.old in text else normalize_citations(edit.old)
        fits = bool(old) and text.count(old) == 1
        if fits:
            is_code = is_within(code_spans(text), text.index(old))
            text = text.replace(old, edit.new if is_code else _cleaned(edit.new))
        made.append(edit.model_copy(update={"applied": fits}))
    return text, made


def _cleaned(new: str) -> str:
    """Return the cleaned words of an edit, with the line ends around them kept."""
    words = new.strip()
    start = new.find(words) if words else len(new)
    return new[:start] + clean_report(words) + new[start + len(words) :]


def _with_outcomes(
    all_problems: Sequence[Problem], asked: Sequence[Problem], edits: Sequence[Edit]
) -> tuple[Problem, ...]:
    """Return all problems with what came of those that the writer was asked about."""
    revised = {n for e in edits if e.applied for n in e.problems}
    rejected = {n: e.reply for e in edits if not e.old for n in e.problems}
    outcome: dict[int, Problem] = {}
    for number, problem in enumerate(asked):
        if number in revised:
            outcome[id(problem)] = problem.model_copy(update={"outcome": "revised"})
        elif number in rejected:
            outcome[id(problem)] = problem.model_copy(update={"outcome": "rejected", "reply": rejected[number]})
    return tuple(outcome.get(id(problem), problem) for problem in all_problems)
