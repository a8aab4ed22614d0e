"""Verify a text: split it into statements, flag by code, have judges find faults.

Two halves run side by side: statements in batches against the passages they cite, and a verifier with the researcher's
tools who reads the whole as the reader who will act on it. Nothing here changes the text.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from threading import Event

from claimcheck.text.cleaning import shorten
from deep_research.concurrency import side_by_side
from deep_research.data import (
    FOREIGN,
    Assignment,
    Claim,
    Findings,
    Move,
    Problem,
    Reckoning,
    Turn,
    Verdict,
    Verification,
)
from deep_research.data.actions import LOOKUPS
from deep_research.errors import LimitReached, ModelError, WorkTooLarge
from deep_research.events import Verified
from deep_research.i18n.catalog import gap_from, gap_of, verdict_of
from deep_research.ports import Library
from deep_research.run_context.context import RunContext
from deep_research.search.source_standing import dated_source
from deep_research.steps.converse import converse
from deep_research.text.prompt_fencing import clean_own
from deep_research.text.token_count import estimate_tokens
from deep_research.verification.arithmetic import agrees, evaluate, states_result
from deep_research.verification.chart_points import chart_problems, read_charts
from deep_research.verification.citations import citations, cited_ids
from deep_research.verification.statement_flags import Flag, flags_by_id
from deep_research.verification.statements import Statement, plain_text, split_statements, wrong_length
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker, in_worker_thread

_AGAIN = """The writer has written the report anew:

<report>
{text}
</report>

Read it as before. Of problems only what harms this reader and is left or new, quoted from this text, at most eight."""
_BATCH_CLAIMS, _BATCH_TOKENS = 40, 12_000
"""How many statements one call judges, and how long their passages may be together."""
_QUOTED, _MOST_TOLD, _MOST_REASON = 2_000, 20, 300
"""Characters of a statement in each of its problems, problems that code tells of one, characters of why none was read."""
_MOST_SURE = 2_000
"""Problems that are listed of a report that nobody judges."""
_OF_SOURCE = 3
"""Passages against which a statement is held that cites a source as a whole."""
_WIDER, _ROUNDS = 6, 2
"""Passages in which a statement of a foreign report is looked for before it counts as unsupported, and how often."""
_MOST_OF_ONE, _MOST_OF_ALL = 500_000, 5_000_000
"""Characters of a source that is cited as a whole, and of all of them, in which code looks for what a statement says."""
_MOST_HERE, _LIMITS = 10_000, Limits(memory=1_000_000_000, cpu_seconds=120.0)
"""A longer text is looked through in a worker: comparisons hold the interpreter as long as they take."""


def claims_of(text: str, library: Library, *, is_quoted: bool = False) -> list[Claim]:
    """Return the statements of a text, not judged yet, without unknown passage ids.

    `is_quoted`: nobody has written it; between a title and a citation all is of the cited passage, the rest is left out.
    """
    claims: list[Claim] = []
    found = split_statements(text)
    for number, statement in enumerate(_of_places(found, text) if is_quoted else found, 1):
        known = (key for cited in statement.passages for key in _existing(cited, statement, library))
        kind = "fact" if statement.passages else "own"
        claims.append(
            Claim(
                id=f"c{number}",
                text=statement.text,
                passages=tuple(dict.fromkeys(known)),
                kind=kind,
                verdict=verdict_of("own", "own_reasoning") if kind == "own" else verdict_of("unverified", "not_judged"),
                where=" › ".join(filter(None, (statement.where, " | ".join(statement.header)))),
                start=statement.start,
                end=statement.end,
            )
        )
    return claims


def _existing(cited: str, statement: Statement, library: Library) -> list[str]:
    """Return a passage id, or a whole source's nearest passages; none if missing."""
    if "p" in cited:
        return [cited] if library.passage(cited) is not None else []
    if library.source(cited) is None or not library.is_read(cited):
        return []
    return [hit.passage.id for hit in library.search(statement.text, limit=_OF_SOURCE, sources=[cited])]


def _of_places(statements: Sequence[Statement], text: str) -> list[Statement]:
    """Return the statements of each cited place, with the citation that ends it.

    A place goes back to the title above.
    """
    found: list[Statement] = []
    cited: tuple[str, ...] = ()
    where = ""
    for statement in reversed(statements):
        is_title = text.startswith("**", statement.start) and not statement.passages
        if is_title or statement.where != where:
            cited = ()
        cited, where = statement.passages or cited, statement.where
        found += [statement._replace(passages=cited)] * bool(cited)
    return found[::-1]


async def verify(
    ctx: RunContext, assignment: Assignment, text: str, *, unread: Mapping[str, str] | None = None
) -> Verification:
    """Return a text's statements with verdicts, and faults; a failed judge is a gap.

    `unread` are cited sources (by id) that could not be read: what rests on them alone is not confirmed.
    """
    is_written = ctx.reasoner.info.is_language_model
    is_quoted = not is_written and ctx.settings.workflow not in FOREIGN
    claims = await asyncio.to_thread(claims_of, text, ctx.library, is_quoted=is_quoted)
    if unread:
        claims = await asyncio.to_thread(lambda: [_of_unread(claim, text, unread) for claim in claims])
    # What code has copied is nobody's statement: nothing is looked for in it.
    stand = {} if is_quoted else await asyncio.to_thread(_as_they_stand, claims, text)
    judging = judge_claims(ctx, assignment, *(([], "") if is_quoted else (claims, text)), stand)
    if ctx.settings.depth == "brief" or not is_written:
        judged, seen = await judging, Findings()
    else:
        judged, seen = await side_by_side([judging, examine(ctx, assignment, text)])
    if is_written and unread is not None:
        claims, judged = await _look_further(ctx, assignment, claims, judged, stand)
    found = await asyncio.to_thread(_verification, claims, judged, seen, text, ctx.library)
    if not is_quoted:
        ctx.emit(Verified(statements=len(claims), problems=len(found.problems), round=1))
    return found


def _verification(
    claims: Sequence[Claim], judged: Findings, seen: Findings, text: str, library: Library
) -> Verification:
    """Return statements with the judges' findings and the verifier's (`seen`)."""
    placed = _placed(seen.problems, claims, text, library)
    twice = {(p.claim, p.kind) for p in placed if p.claim}  # what both have found, the verifier tells
    problems = (*(p for p in judged.problems if (p.claim, p.kind) not in twice), *placed)
    final = tuple(_with_verdicts(claims, judged.judged, problems))
    return Verification(claims=final, problems=problems, parts=seen.parts, reading=seen.reading)


async def _look_further(
    ctx: RunContext, assignment: Assignment, claims: Sequence[Claim], judged: Findings, stand: Mapping[str, str]
) -> tuple[Sequence[Claim], Findings]:
    """Return statements and findings after searching cited pages for missing support.

    Whoever wrote a foreign report cited pages: which of their passages carries a statement is this program's guess. A
    statement that stands in others rests on those.
    """
    for _ in range(_ROUNDS):
        lost = {p.claim: p for p in judged.problems if p.kind == "unsupported" and p.by != "code"}
        sought = [(claim, lost[claim.id]) for claim in claims if claim.id in lost]
        wider = {c.id: more for c, p in sought if (more := await asyncio.to_thread(_wider, ctx.library, c, p))}
        if not wider:
            break
        again = await judge_claims(ctx, assignment, list(wider.values()), "", stand)
        kept = tuple(p for p in judged.problems if p.claim not in wider or p.by == "code")
        known = {p.claim for p in kept}
        new = tuple(p for p in again.problems if p.by != "code" or p.claim not in known)
        judged = judged.model_copy(update={"problems": (*kept, *new)})
        found = wider.keys() - {p.claim for p in new}
        claims = [wider[c.id] if c.id in found else c for c in claims]
    return claims, judged


def _wider(library: Library, claim: Claim, lost: Problem) -> Claim | None:
    """Return a claim with more passages of its sources, by the judge's ids and words.

    None where there are no more.
    """
    sources = list(dict.fromkeys(key.partition("p")[0] for key in claim.passages if "p" in key))
    named = [key for key in lost.passages if key.partition("p")[0] in sources and library.passage(key) is not None]
    hits = library.search(lost.look_for or claim.text, limit=_WIDER, sources=sources) if sources else ()
    other = list(dict.fromkeys([*named, *(hit.passage.id for hit in hits)]))[:_WIDER]
    passages = tuple(dict.fromkeys([*other, *claim.passages]))  # those from the beginning may carry a part of it
    return claim.model_copy(update={"passages": passages}) if set(passages) > set(claim.passages) else None


def _of_unread(claim: Claim, text: str, unread: Mapping[str, str]) -> Claim:
    lost = [key for key in cited_ids(text[claim.start : claim.end]) if key in unread]
    if claim.passages or not lost:
        return claim
    return claim.model_copy(
        update={"verdict": verdict_of("unverified", "source_unread", why=shorten(unread[lost[0]], _MOST_REASON))}
    )


def _as_they_stand(claims: Sequence[Claim], text: str) -> dict[str, str]:
    """Return statements (by id) that go on after a citation, citations included.

    An example is "As [s1p2] says, …".
    """
    cited = citations(text)
    starts = [one.start for one in cited]
    found: dict[str, str] = {}
    for claim in claims:
        own = cited[bisect_left(starts, claim.start) : bisect_left(starts, claim.end)]
        ends = [*(one.start for one in own[1:]), claim.end]
        if any(any(map(str.isalnum, text[one.end : end])) for one, end in zip(own, ends, strict=False)):
            found[claim.id] = plain_text(text[claim.start : claim.end]).strip("| ")
    return found


async def judge_claims(
    ctx: RunContext, assignment: Assignment, claims: Sequence[Claim], text: str, stand: Mapping[str, str]
) -> Findings:
    """Return faults found in statements by code and a judge, against cited passages.

    `stand` are those (by id) that the judge sees with their citations.
    """
    question = assignment.question.text
    is_judged = ctx.reasoner.info.is_language_model
    stopped = Event()
    try:
        sure, told = await in_worker_thread(_noticed, ctx, assignment, claims, text, stopped)
    finally:
        stopped.set()  # a thread is not ended from outside
    if not is_judged:
        if (more := len(sure) - _MOST_SURE) > 0:
            ctx.report_gap(gap_of("report", "problems_left", count=str(more), limit=str(_MOST_SURE)))
        return Findings(problems=tuple(sure[:_MOST_SURE]))
    batches = await asyncio.to_thread(lambda: list(_batches([c for c in claims if c.passages], ctx.library)))
    rows = await side_by_side(_judged(ctx, batch, told, question, stand) for batch in batches)
    problems = [p for row in rows for p in row.problems]
    reckonings = [reckoning for row in rows for reckoning in row.reckonings]
    reckoned = await asyncio.to_thread(_reckoned_wrong, reckonings, claims)
    known = {p.claim for p in problems}
    return Findings(
        judged=tuple(key for row in rows for key in row.judged),
        problems=(*problems, *(p for p in (*sure, *reckoned) if not p.claim or p.claim not in known)),
    )


def _noticed(
    ctx: RunContext, assignment: Assignment, claims: Sequence[Claim], text: str, stopped: Event
) -> tuple[list[Problem], dict[str, list[str]]]:
    """Return what code is sure of, and what it tells the judge of statements (by id)."""
    is_judged = ctx.reasoner.info.is_language_model
    is_whole = ctx.settings.workflow == "verify" and not is_judged
    try:
        flags = _flags(claims, text, assignment, ctx.library, stopped, is_whole=is_whole)
    except WorkTooLarge as error:
        flags = dict[str, list[Flag]]()
        ctx.report_gap(gap_from("verification", error))
    noticed = [(claim, flag) for claim in claims for flag in flags.get(claim.id, ())[:_MOST_TOLD]]
    # What code cannot be wrong about: an id that does not exist, a quotation that was changed. Where nobody judges, what
    # code looked for and did not find is told as well.
    sure = [
        _of_code(claim, flag.said) for claim, flag in noticed if flag.is_sure or (not is_judged and _is_telling(flag))
    ]
    told = {key: said for key, found in flags.items() if (said := [f.said for f in found if _is_telling(f)])}
    # A quick question, or one about a report, has one section and is answered in short; a foreign report has none.
    is_long = is_judged and len(assignment.sections) > 1
    if length := wrong_length(text, assignment.brief.language) if is_long else "":
        sure.append(Problem(quote="", kind="unclear", problem=length, by="code"))
    return [*sure, *_chart_problems(text, ctx.library)], told


def _of_code(claim: Claim, said: str) -> Problem:
    return Problem(quote=claim.text[:_QUOTED], kind="unsupported", problem=said, claim=claim.id, by="code")


async def _judged(
    ctx: RunContext,
    claims: Sequence[Claim],
    flags: Mapping[str, Sequence[str]],
    question: str,
    stand: Mapping[str, str],
) -> Findings:
    said = {claim.id: claim.text[:_QUOTED] for claim in claims}
    shown = [claim.model_copy(update={"text": stand.get(claim.id, claim.text)}) for claim in claims]
    try:
        found = await ctx.reasoner.judge(shown, flags, ctx.library, question)
        problems = tuple(p.model_copy(update={"quote": said.get(p.claim, p.quote)}) for p in found.problems)
        return found.model_copy(update={"problems": problems})
    except (LimitReached, ModelError) as error:
        ctx.report_gap(gap_from("judge", error))
        # Of a report from elsewhere it is told what code has looked for and not found, as where nobody judges.
        told = [_of_code(c, said) for c in claims for said in flags.get(c.id, ())]
        return Findings(problems=tuple(told if ctx.settings.workflow in FOREIGN else ()))


async def examine(ctx: RunContext, assignment: Assignment, text: str, before: Sequence[Turn] = ()) -> Findings:
    """Return what a verifier that looks things up finds wrong with a text as a whole.

    `before` is how it has read the text so far.
    """

    async def ask(turns: Sequence[Turn]) -> Move:
        return await ctx.reasoner.examine(assignment, text, [*before, *turns], ctx.library)

    try:
        move, turns = await converse(ctx, ask, most=LOOKUPS)
    except (LimitReached, ModelError) as error:
        ctx.report_gap(gap_from("verifier", error))
        return Findings()
    reading = (*before, *turns, Turn(said=move.text))
    return (move.findings or Findings()).model_copy(update={"reading": reading})


def _batches(claims: Sequence[Claim], library: Library) -> Iterator[list[Claim]]:
    """Yield statements in their order, as many as one call may judge."""
    batch: list[Claim] = []
    held: dict[str, int] = {}
    for claim in claims:
        own = {key: estimate_tokens(p.text) for key in claim.passages if (p := library.passage(key)) is not None}
        if batch and (len(batch) >= _BATCH_CLAIMS or sum((held | own).values()) > _BATCH_TOKENS):
            yield batch
            batch, held = [], {}
        batch.append(claim)
        held |= own
    if batch:
        yield batch


def _flags(
    claims: Sequence[Claim], text: str, assignment: Assignment, library: Library, stopped: Event, *, is_whole: bool
) -> dict[str, list[Flag]]:
    """Return what code noticed of each statement that cites anything.

    `is_whole`: which passages of a foreign report's sources carry it no model looks further for; all of them may.
    Of a statement that cites a whole source which is too long to look through nothing is noticed.
    """
    cited = {s.start: s.passages for s in split_statements(text)}
    known = [term.meaning for term in assignment.brief.terms]
    told: dict[str, Collection[str]] = {}
    for claim in claims:
        ids = cited.get(claim.start, claim.passages)
        if claim.kind == "fact" and not any(_is_unread(key, library) for key in ids):
            told[claim.id] = dict.fromkeys(key.partition("p")[0] for key in ids) if is_whole else ids
    texts = _cited_texts((key for ids in told.values() for key in ids), library)
    given = [
        (claim.id, claim.text, list(ids))
        for claim in claims
        if (ids := told.get(claim.id)) is not None and texts.keys() >= set(ids)
    ]
    if any(len(text or "") > _MOST_HERE for text in texts.values()):
        kind = dict[str, list[Flag]]
        return call_in_worker(flags_by_id, given, texts, assignment.question.text, known, returns=kind, limits=_LIMITS)
    return flags_by_id(given, texts, assignment.question.text, known, is_stopped=stopped.is_set)


def _cited_texts(keys: Iterable[str], library: Library) -> dict[str, str | None]:
    """Return the cited texts by key for code to check, without very long sources.

    The bound holds for whole sources alone.
    """
    said: dict[str, str | None] = {}
    left = _MOST_OF_ALL
    for key in dict.fromkeys(keys):
        text = _said_by(key, library)
        size = len(text or "") if "p" not in key else 0
        if size <= min(left, _MOST_OF_ONE):
            said[key], left = text, left - size
    return said


def _is_unread(key: str, library: Library) -> bool:
    """Tell whether a key cites a whole source that could not be read.

    Such a source may say something that the others do not.
    """
    return "p" not in key and library.source(key) is not None and not library.is_read(key)


def _said_by(key: str, library: Library) -> str | None:
    """Return a passage's text with title, place and date of its source, or None."""
    source = library.source(key.partition("p")[0])
    if source is None:
        return None
    about = f"{source.title}\n{source.location}\n{source.url}\n{dated_source(library, source.id).date}"
    if "p" not in key:  # a whole source is cited
        snapshot = library.snapshot(key)
        return f"{about}\n{snapshot.text}" if snapshot is not None else about
    passage = library.passage(key)
    return f"{about}\n{passage.heading}\n{passage.text}" if passage is not None else None


def _is_telling(flag: Flag) -> bool:
    """Return whether a flag helps a judge; a name without digits may be a plain word."""
    return flag.kind != "name" or any(sign.isdigit() for sign in flag.quote)


def _chart_problems(text: str, library: Library) -> list[Problem]:
    problems: list[Problem] = []
    for chart in read_charts(text):
        passages = {key: _said_by(key, library) for point in chart.points for key in point.passages}
        quote = text[chart.start : chart.end][:_QUOTED]
        problems += [
            Problem(quote=quote, kind="unsupported", problem=told, by="code")
            for told in chart_problems(chart, passages)[:_MOST_TOLD]
        ]
    return problems


def _reckoned_wrong(reckonings: Sequence[Reckoning], claims: Sequence[Claim]) -> list[Problem]:
    """Return the reckoned figures that arithmetic does not bear out."""
    texts = {claim.id: claim.text[:_QUOTED] for claim in claims}
    wrong: list[Problem] = []
    for reckoning in reckonings:
        value = evaluate(reckoning.expression)
        if (
            value is not None
            and states_result(reckoning.quote, reckoning.expression)
            and not agrees(reckoning.quote, value)
        ):
            told = f"{reckoning.expression} = {value:f}, not {reckoning.quote}"
            quote = texts.get(reckoning.claim, reckoning.quote)
            wrong.append(Problem(quote=quote, kind="inconsistent", problem=told, claim=reckoning.claim, by="code"))
    return wrong


def _placed(problems: Sequence[Problem], claims: Sequence[Claim], text: str, library: Library) -> list[Problem]:
    """Return problems with the statement of their quotation, and with existing ids."""
    placed: list[Problem] = []
    for problem in problems:
        at = text.find(problem.quote) if problem.quote else -1
        home = next((c.id for c in claims if at >= 0 and c.start < at + len(problem.quote) and at < c.end), "")
        known = tuple(key for key in problem.passages if library.passage(key) is not None)
        placed.append(problem.model_copy(update={"claim": home, "passages": known}))
    return placed


def _with_verdicts(claims: Sequence[Claim], judged: Sequence[str], problems: Sequence[Problem]) -> Iterator[Claim]:
    wrong = {p.claim: p for p in reversed(problems) if p.claim and p.kind not in ("missing", "unclear")}
    seen = set(judged)
    for claim in claims:
        yield claim.model_copy(update={"verdict": _verdict(claim, wrong.get(claim.id), is_judged=claim.id in seen)})


def _verdict(claim: Claim, problem: Problem | None, *, is_judged: bool) -> Verdict:
    if problem is not None:
        kind = problem.kind if problem.kind in ("contradicted", "misleading") else "unverified"
        return Verdict(kind=kind, reason=problem.problem, by_model=problem.by != "code")
    if claim.kind == "fact" and is_judged:
        return Verdict(kind="supported", by_model=True)
    return claim.verdict


async def verify_changes(
    ctx: RunContext, assignment: Assignment, text: str, before: Verification, *, number: int, first: str = ""
) -> Verification:
    """Return the verification of a revised text; judge only changed statements again.

    One that was written anew from a `first` text, which somebody has read as a whole, is read so once more.
    """
    known = {(c.text, c.passages): c for c in before.claims}
    claims = await asyncio.to_thread(claims_of, text, ctx.library)
    ids = {old.id: c.id for c in claims if (old := known.get((c.text, c.passages))) is not None}
    changed = [c for c in claims if (c.text, c.passages) not in known]
    stand = await asyncio.to_thread(_as_they_stand, changed, text)
    judging = judge_claims(ctx, assignment, changed, text, stand)
    if first and before.reading:
        reading = (*before.reading, Turn(remarks=(_AGAIN.format(text=clean_own(text)),)))
        judged, seen = await side_by_side([judging, examine(ctx, assignment, first, reading)])
    else:
        judged, seen = await judging, Findings()

    def merge() -> tuple[Verification, int]:
        measured = {problem.problem for problem in judged.problems}
        kept = [_carried(p, ids, text, measured, is_read=bool(seen.reading)) for p in before.problems]
        told = {problem.problem for problem in kept}
        same = {id(c): old.verdict for c in claims if (old := known.get((c.text, c.passages))) is not None}
        stand = [c.model_copy(update={"verdict": same.get(id(c), c.verdict)}) for c in claims]
        found = _verification(stand, judged, seen, text, ctx.library)
        new = [p for p in found.problems if p.claim or p.problem not in told]
        return found.model_copy(update={"problems": (*kept, *new), "parts": seen.parts or before.parts}), len(new)

    found, new = await asyncio.to_thread(merge)
    ctx.emit(Verified(statements=len(changed), problems=new, round=number))
    return found


def _carried(
    problem: Problem, ids: Mapping[str, str], text: str, measured: Collection[str], *, is_read: bool
) -> Problem:
    """Return a problem carried over to a revised text, with its outcome.

    It is revised if its statement or words are gone, or if it is not `measured` again.

    Where the verifier has read the whole once more (`is_read`), it has told what is left of its own.
    """
    gone = problem.claim not in ids if problem.claim else bool(problem.quote) and problem.quote not in text
    gone = gone or (is_read and problem.by == "verifier")
    outcome = "revised" if gone and problem.outcome == "open" else problem.outcome
    if problem.by == "code" and not problem.quote and outcome != "rejected":
        outcome = "open" if problem.problem in measured else "revised"
    return problem.model_copy(update={"claim": ids.get(problem.claim, ""), "outcome": outcome})
