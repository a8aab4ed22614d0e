"""Finish a report: numbers for ids, references, gaps and how it was checked."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, cast

from claimcheck.text.sentences import sentences
from claimcheck.text.tokens import content_terms, tokenize
from deep_research import data
from deep_research.concurrency import in_background
from deep_research.data.noun import copy_fields
from deep_research.errors import WorkTooLarge
from deep_research.i18n.catalog import explain, join_list, join_sentences, name_subject, outages, phrase
from deep_research.ports import Library
from deep_research.reasoners.bounded_reasoner import AskedLibrary, offered_of
from deep_research.report.counts import VerdictCounts, verdict_counts
from deep_research.report.ledger import ledger_of, reasoner_of
from deep_research.run_context.context import RunContext
from deep_research.safe_text import safe_noun
from deep_research.search.source_standing import dated_source
from deep_research.steps.open_source import PLACE
from deep_research.text.inert_markdown import keep_literal, literal_marks, make_inert
from deep_research.verification.citations import citations, cited_ids, number_citations
from deep_research.verification.statements import end_of_words, plain_text
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker, in_worker_thread

_TITLE = re.compile(r"\A\s*+# ++(.*[^ #\n])[ #]*\n")
_QUOTED_CHARS = 240
_MOST_GAPS = 24


@dataclass(frozen=True)
class Finished:
    """Parts of a verified report; `text` cites passage ids, `original` is as asked.

    `found_in` is where a follow-up's answer was found, `diff` what changed in a report that was handed in.
    """

    question: data.Question
    original: str
    analysis: data.QueryAnalysis
    decision: data.Decision
    brief: data.Brief
    sections: tuple[data.Section, ...]
    text: str
    verification: data.Verification
    edits: tuple[data.Edit, ...] = ()
    diff: str = ""
    reviews: tuple[data.ReportReview, ...] = ()
    found_in: data.FoundIn = ""
    disagreements: tuple[data.Disagreement, ...] = ()


_SHORT = 100_000  # characters of a text that is put together in this process, in a moment
_LIMITS = Limits(memory=1_000_000_000, cpu_seconds=30.0)


class Circumstances(NamedTuple):
    """What a report tells of its run; `is_model` is its setup, `reasoner` its work."""

    run_id: str
    workflow: data.Workflow
    is_model: bool
    reasoner: data.ReasonerInfo
    ledger: data.Ledger
    changes: data.Changes
    gaps: tuple[data.Gap, ...]
    is_bundled: bool = False

    @property
    def is_silent(self) -> bool:
        """Whether a model was set up to write, and none has answered."""
        return self.is_model and not self.reasoner.is_language_model and self.workflow not in data.FOREIGN


async def assemble(ctx: RunContext, done: Finished) -> data.Report:
    """Assemble the report, long texts in a worker; raise WorkTooLarge at its limit."""
    about = await in_background(_circumstances, ctx)
    if len(done.text) <= _SHORT:
        return await in_background(lambda: safe_noun(assemble_here(done, about, ctx.library)))
    offered = offered_of(ctx.library)
    try:
        return await in_worker_thread(
            call_in_worker, assemble_in_worker, done, about, returns=data.Report, limits=_LIMITS, offered=offered
        )
    except WorkTooLarge as error:
        message = "Putting the report together took too much computing or memory, and was ended."
        raise WorkTooLarge(message) from error


def _circumstances(ctx: RunContext) -> Circumstances:
    sources = ctx.library.sources()
    changes, logged = ctx.steering.now.changes(), ctx.log.gaps
    refused = {gap.what for gap in logged if gap.source and not gap.codes}
    gone = {*changes.dropped, *(s.url for s in sources if s.url in refused and ctx.library.is_read(s.id))}
    gaps = [gap for gap in logged if gap.what not in (gone if gap.source and not gap.codes else changes.dropped)]
    if ctx.settings.workflow in data.FOREIGN:  # what their readers ask first is which of the links are dead
        gaps.sort(key=lambda gap: gap.source != PLACE)
    new = max(0, len(sources) - ctx.outside.sources_before)
    return Circumstances(
        run_id=ctx.run_id,
        workflow=ctx.settings.workflow,
        is_model=ctx.reasoner.info.is_language_model,
        reasoner=reasoner_of(ctx.reasoner.info, ctx.journal),
        ledger=ledger_of(ctx.journal, sources=new, seconds=ctx.log.seconds),
        changes=changes,
        gaps=tuple(gaps),
        is_bundled=not ctx.outside.docs and any(place.name == "documents" for place in ctx.outside.places),
    )


def assemble_in_worker(done: Finished, about: Circumstances) -> data.Report:
    """Return the report, put together in a worker, whose parent has the library."""
    return safe_noun(assemble_here(done, about, cast(Library, AskedLibrary())))


def assemble_here(done: Finished, about: Circumstances, library: Library) -> data.Report:
    """Assemble the report: references, gaps, method note, and all to be looked up."""
    language = done.question.language
    title, text, claims = _titled(done)
    is_written = about.reasoner.is_language_model and about.workflow != "verify"
    shown = "" if about.reasoner.is_language_model or about.workflow in data.FOREIGN else text
    references = _References(library, claims, text, "" if is_written else done.question.text, shown)
    judged = any(c.verdict.by_model for c in claims)
    failing = (c for c in claims if c.kind == "fact" and not c.stands)
    doubted = {c.id for c in failing if judged or "not_judged" not in c.verdict.codes}
    numbered = number_citations(text, references.number_of, _insertions(text, claims, doubted, library))
    body = make_inert(numbered.text)
    is_same = len(body) == len(numbered.text)
    head = f"# {title}\n\n" + _notices(about, done, language)
    start, to_new = len(head), numbered.to_new
    places = [(start + to_new(c.start), start + to_new(c.end)) if is_same else (0, 0) for c in claims]
    placed = [c.model_copy(update={"start": at, "end": end}) for c, (at, end) in zip(claims, places, strict=True)]
    order = {section.title: number for number, section in enumerate(done.sections)}  # they end in any order
    gaps = tuple(sorted(about.gaps, key=lambda gap: order.get(gap.what, -1)))
    told = outages(gaps) if about.is_silent else []
    checked = _checked(about, done, verdict_counts(data.Verification(claims=tuple(placed))), judged=judged)
    checked += [phrase("checked_mark", language, mark=data.DOUBT_SIGN)] * bool(doubted)
    blocks = [
        (head + body).strip(),
        *_changes(about.changes, language),
        *([] if is_written else _gaps([gap for gap in gaps if gap not in told], language, with_heading=True)),
        _method_note(about, done, checked, references.days()),
        *(_gaps(_untold(gaps), language, with_heading=False) if is_written else []),
        *references.further(done.sections, language),
        *references.listed(language),
    ]
    used = [key for c in placed for key in c.passages]
    used += [key for one in (*done.verification.problems, *done.disagreements) for key in one.passages]
    known = {key: passage for key in dict.fromkeys(used) if (passage := library.passage(key)) is not None}
    passages = {key: copy_fields(data.ReportPassage, passage) for key, passage in known.items()}
    of_sections = dict.fromkeys(
        [*(p.source for p in passages.values()), *(s for one in done.sections for s in one.sources)]
    )
    return copy_fields(
        data.Report,
        about,
        question=done.original,
        language=language,
        query_type=done.analysis.query_type,
        output_format=done.analysis.output_format,
        title=title,
        report="\n\n".join(blocks) + "\n",
        sections=tuple(map(_section, done.sections)),
        claims=tuple(placed),
        references=references.entries(),
        sources={s: made for s in of_sections if (made := _source(library, s)) is not None},
        passages=passages,
        gaps=gaps,
        assumptions=done.decision.assumptions,
        parts=done.verification.parts,
        reviews=done.reviews,
        problems=done.verification.problems,
        edits=done.edits,
        disagreements=done.disagreements,
        diff=number_citations(done.diff, references.number_of).text,
    )


def _insertions(text: str, claims: Sequence[data.Claim], doubted: Collection[str], library: Library) -> dict[int, str]:
    """Return insertions by text offset: marks of doubt, and escapes of literal signs."""
    inserted: dict[int, str] = {}
    ends = [citation.end for citation in citations(text)]
    for claim in claims:
        if claim.id in doubted:
            last = next(iter(ends[bisect_right(ends, claim.start) : bisect_right(ends, claim.end)][-1:]), None)
            inserted[last or end_of_words(text, claim.end)] = data.DOUBT_SIGN
        cited = (passage.text for key in claim.passages if (passage := library.passage(key)) is not None)
        marks = literal_marks(text[claim.start : claim.end], "\n".join(cited))
        inserted |= dict.fromkeys((claim.start + at for at in marks), "\\")
    return inserted


def _section(done: data.Section) -> data.ReportSection:
    findings = tuple(map(make_inert, done.key_findings))
    return copy_fields(data.ReportSection, done, notes=make_inert(done.content), key_findings=findings)


def _titled(done: Finished) -> tuple[str, str, list[data.Claim]]:
    found = _TITLE.match(done.text)
    if found is None:
        return done.brief.title, done.text, list(done.verification.claims)
    cut = found.end() + len(done.text[found.end() :]) - len(done.text[found.end() :].lstrip("\n"))
    moved = [
        c.model_copy(update={"start": c.start - cut, "end": c.end - cut})
        for c in done.verification.claims
        if c.start >= cut
    ]
    return plain_text(found[1]), done.text[cut:], moved


def _notices(about: Circumstances, done: Finished, language: str) -> str:
    """Return what a reader must know before the text; a writer says what it assumed."""
    lines: list[str] = []
    if done.decision.assumptions and not about.is_model:
        assumed = join_list(done.decision.assumptions, language)
        lines.append(f"*{phrase('assumptions', language)}{phrase('colon', language)}{assumed}*")
    if about.is_bundled and done.verification.claims and done.found_in != "library":
        lines.append(f"*{phrase('searched_places', language, places=phrase('place_bundled', language))}*")
    if done.found_in:
        lines.append(f"*{phrase(f'from_{done.found_in}', language, searches=about.ledger.searches)}*")
    if about.is_silent:
        why = (explain(gap, language) for gap in outages(about.gaps))
        told = join_sentences([phrase("finder_note", language), *why], language)
        lines.append(make_inert(" ".join(f"> {told}".split())))
    return "".join(f"{line}\n\n" for line in lines)


class _References:
    """Sources numbered in the order `text` first cites them, each with a quote.

    Where nobody wrote, `asked` is the question to quote for; a sentence must stand in `shown`, unless that is empty.
    """

    def __init__(self, library: Library, claims: Sequence[data.Claim], text: str, asked: str, shown: str) -> None:
        self._library = library
        self._asked = asked
        self._shown = " ".join(shown.split())
        self._numbers: dict[str, int] = {}
        self._passages: dict[str, dict[str, None]] = {}
        cited = [(claim.text, key) for claim in claims for key in claim.passages]
        self._first = {key.partition("p")[0]: (said, key) for said, key in cited[::-1]}
        for key in (*cited_ids(text), *(key for _, key in cited)):
            self.number_of(key)

    def number_of(self, key: str) -> int | None:
        """Return the number of a passage's or source id's source; None if there is none."""
        source = key.partition("p")[0]
        exists = self._library.passage(key) if "p" in key else self._library.source(key)
        if exists is None:
            return None
        number = self._numbers.setdefault(source, len(self._numbers) + 1)
        if "p" in key:
            self._passages.setdefault(source, {})[key] = None
        return number

    def entries(self) -> tuple[data.Reference, ...]:
        rows = ((number, self._library.source(key)) for key, number in self._numbers.items())
        return tuple(self._entry(number, source) for number, source in rows if source is not None)

    def _entry(self, number: int, source: data.Source) -> data.Reference:
        passages = tuple(self._passages.get(source.id, ()))
        quote = self._quote(source.id)
        return copy_fields(data.Reference, source, number=number, source=source.id, passages=passages, quote=quote)

    def _quote(self, source: str) -> str:
        """Return the source's sentence nearest to the first citing statement or question."""
        said, first = self._first.get(source, ("", ""))
        keys = self._passages.get(source, ()) if self._asked else (first,)
        passages = [passage for key in keys if (passage := self._library.passage(key)) is not None]
        terms = set(content_terms(self._asked or said))
        lines = (" ".join(text.split()) for passage in passages for text in _quotable(passage.text))
        told = (line for line in lines if not self._shown or line in self._shown)
        line = max(told, key=lambda text: len(terms & set(content_terms(text))), default="")
        return line if len(line) <= _QUOTED_CHARS else line[:_QUOTED_CHARS].rsplit(" ", 1)[0] + " …"

    def days(self) -> tuple[str, ...]:
        """Return the first and the last day on which a cited source was read, ISO 8601."""
        read = [s.retrieved_at[:10] for key in self._numbers if (s := self._library.snapshot(key)) is not None]
        return (min(read), max(read)) if read else ()

    def listed(self, language: str) -> list[str]:
        """Return the list of references as one block."""
        rows = [make_inert(self._row(entry, language)) for entry in self.entries()]
        return [f"## {phrase('references', language)}\n\n" + "\n".join(rows)] if rows else []

    def further(self, sections: Sequence[data.Section], language: str) -> list[str]:
        """Return the sources of the sections that the report does not cite, as one block."""
        keys = dict.fromkeys(key for one in sections for key in one.sources if key not in self._numbers)
        found = [source for key in keys if (source := self._library.source(key)) is not None]
        rows = [f"- {plain_text(s.title)} — {s.url if s.url.startswith('http') else s.location}" for s in found]
        return [make_inert("\n".join([f"**{phrase('further_sources', language)}**\n", *rows]))] if rows else []

    def _row(self, entry: data.Reference, language: str) -> str:
        pages = sorted({p.page for key in entry.passages if (p := self._library.passage(key)) is not None and p.page})
        told = dated_source(self._library, entry.source)
        facts = [entry.url if entry.url.startswith("http") else entry.location]
        facts += [phrase("page", language, page=", ".join(map(str, pages)))] * bool(pages)
        date = told.date or entry.published or ""
        facts += [phrase("published", language, date=date)] * bool(date)
        place = "".join(f"{' · ' if number else ' — '}{fact}" for number, fact in enumerate(filter(None, facts)))
        quote = f"\n   > {keep_literal(entry.quote)}" if entry.quote else ""
        return f"{entry.number}. **{keep_literal(plain_text(entry.title))}**{place}{quote}"


def _quotable(text: str) -> Iterator[str]:
    """Yield a passage's sentences of two words or more, then its table rows."""
    for said in (text[one.start : one.end] for one in sentences(text)):
        bracket = next((sign for sign in said if sign in "()[]（）"), "")
        if len(tokenize(said)) > 1 and bracket not in (")", "]", "）", said[0]):
            yield said
    for line, below in pairwise([*text.splitlines(), ""]):
        if line.startswith("| ") and line.strip("|- ") and not below.startswith("| ---"):
            yield line.strip("| ")


def _changes(changes: data.Changes, language: str) -> list[str]:
    named = {"remarks": changes.remarks, "added_sections": changes.added, "dropped_sections": changes.dropped}
    lines = [f"**{phrase(name, language)}:** {' · '.join(said)}" for name, said in named.items() if said]
    return [*lines, *([phrase("finished_early", language)] if changes.finished_early else [])]


def _untold(gaps: Sequence[data.Gap]) -> list[data.Gap]:
    """Return gaps that a writer's text leaves out, one per source of failed searches."""
    found: dict[object, data.Gap] = {}
    for number, gap in enumerate(gaps):
        if gap.what != data.COVERAGE and gap.source != PLACE and "review_open" not in gap.codes:
            is_search = gap.source and gap.what.startswith(f"{gap.source}: ")
            found.setdefault(gap.source if is_search else number, gap)
    return list(found.values())


def _gaps(gaps: Sequence[data.Gap], language: str, *, with_heading: bool) -> list[str]:
    """Return what could not be found or done, each once, under a heading or none."""
    if not gaps:
        return []
    told = ((name_subject(gap, language), explain(gap, language)) for gap in gaps)
    rows = dict.fromkeys(
        f"- {why}" if why.startswith((f"{what}:", f"{what} cannot")) else f"- {what}{phrase('colon', language)}{why}"
        for what, why in told
    )
    lines = list(rows)
    more = [phrase("more_gaps", language, count=len(lines) - _MOST_GAPS)] * (len(lines) > _MOST_GAPS)
    name = phrase("gaps", language)
    heading = f"## {name}\n\n" if with_heading else f"**{name}**\n\n"
    return [make_inert(heading + "\n".join([*lines[:_MOST_GAPS], *more]))]


def _checked(about: Circumstances, done: Finished, counted: VerdictCounts, *, judged: bool) -> list[str]:
    language, problems, ranker = done.question.language, len(done.verification.problems), about.reasoner.ranker
    if judged:
        told = [phrase("checked_statements", language, cited=counted.cited, **counted.model_dump())]
        is_revised = problems and about.workflow != "desk"
        return told + [phrase("checked_revised", language, problems=problems, edits=len(done.edits))] * bool(is_revised)
    if about.workflow in data.FOREIGN:
        return [phrase("checked_by_code", language, cited=counted.cited, problems=problems)]
    if about.reasoner.is_language_model:
        return [phrase("checked_by_nobody", language, cited=counted.cited)]
    cited = len({key for claim in done.verification.claims for key in claim.passages})
    return [phrase("checked_ranked" if ranker else "checked_nobody", language, cited=cited, ranker=ranker)]


def _method_note(about: Circumstances, done: Finished, checked: Sequence[str], days: Sequence[str]) -> str:
    reasoner, language, lines = about.reasoner, done.question.language, list(checked)
    if done.decision.assumptions and reasoner.is_language_model:
        assumed = join_list(done.decision.assumptions, language)
        lines.append(phrase("assumed_at_first", language, assumed=assumed))
    lines.append(phrase("cost", language, searches=about.ledger.searches, sources=about.ledger.fetches))
    if days:
        same = days[0] == days[1]
        lines.append(phrase("all_retrieved", language, date=days[0] if same else f"{days[0]} – {days[1]}"))
    models = ", ".join(dict.fromkeys(reasoner.models.values()))
    lines += [phrase("models_used", language, model=models, provider=reasoner.provider)] * bool(models)
    return f"## {phrase('checked', language)}\n\n" + join_sentences(lines, language)


def _source(library: Library, key: str) -> data.ReportSource | None:
    source, snapshot = library.source(key), library.snapshot(key)
    if source is None or snapshot is None:
        return None
    told = {"title": source.title, "url": source.url, "origin": source.origin, "published": source.published}
    return copy_fields(data.ReportSource, snapshot, **told)
