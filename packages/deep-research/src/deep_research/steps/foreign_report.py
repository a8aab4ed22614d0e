"""Prepare a foreign report to be verified: cite passages of stored snapshots."""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from urllib.parse import unquote

from claimcheck.text.cleaning import shorten
from deep_research.concurrency import side_by_side
from deep_research.data import Action, Assignment, Brief, Found, QueryAnalysis, Question, Source
from deep_research.errors import Blocked, SourceError, Unreachable
from deep_research.events import Progress
from deep_research.i18n.catalog import gap_of
from deep_research.ports import Library
from deep_research.run_context.context import RunContext
from deep_research.steps import search
from deep_research.steps.open_source import PLACE, open_address
from deep_research.text.code_spans import is_within
from deep_research.text.inert_markdown import make_inert
from deep_research.text.raised_digits import TO_RAISED
from deep_research.text.rewritten_text import RewrittenText
from deep_research.verification.citations import Citation, cite_ids, cited_ids
from deep_research.verification.foreign import ForeignReport, read_report
from deep_research.verification.statements import Statement, end_of_words, plain_text
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker, in_worker_thread

MOST_SOURCES = 300
"""Pages of one report that are opened."""
_MOST_SEARCHED = 20
"""Pages that cannot be opened and are looked for by a search, which may cost money."""
_MOST_SECONDS = 900.0
"""How long the pages of one report are opened; then the rest is left."""
_AT_ONCE = 16
_PASSAGES = 3
"""Passages that a statement is held against, of all the sources that it cites."""
_MOST_CITED = 20
"""References of one statement that are looked at."""
_FROM_DOCUMENTS = 4
"""Passages that a statement which cites nothing is held against, of all documents."""
_LEAST_NAME = 3
"""A name of a document or page that is no longer tells nothing."""
_TITLE = re.compile(r"^#{1,2} ++(.*[^ #\n])[ #]*$", re.MULTILINE)
_TITLE_CHARS = 150
_RAISED = re.compile(r"<sup>(\d{1,3})</sup>")
"""What is raised and cites nothing: m²."""
_Cited = tuple[Statement, Mapping[str, Sequence[str]]]
"""A statement, and for each reference that it cites the passages that it is held against; by "" where it cites none."""
_MOST_SECONDS_OF_ONE = 120.0
"""For one page with its redirects, their robots.txt and its archived copy."""
_LONGEST_QUERY = 2_000
_MOST_HERE, _LIMITS = 50_000, Limits(memory=1_000_000_000, cpu_seconds=60.0)
"""A longer report is read in a worker."""


def report_title(text: str) -> str:
    """Return the title of a report: its first heading, or its first line."""
    found = _TITLE.search(text)
    line = found[1] if found else next((line for line in text.splitlines() if line.strip()), "")
    return shorten(plain_text(line), _TITLE_CHARS) or "Report"


def assignment_of(question: Question, title: str, text: str, library: Library) -> Assignment:
    """Return what a verifier is given of a report that cites passages."""
    return Assignment(
        question=question,
        analysis=QueryAnalysis(query_type="general", output_format="prose"),
        brief=Brief(title=title, objective=question.text, question=question.text, language=question.language),
        sections=(),
        passages=tuple(key for key in cited_ids(text) if library.passage(key) is not None),
    )


async def cite_passages(ctx: RunContext, text: str, *, by_documents: bool) -> tuple[str, Mapping[str, str]]:
    """Return a report citing passages of its pages, or of the user's documents.

    A page that cannot be read stays cited as a whole, and is a gap; the second part says by source (id) why it was not.
    """
    if len(text) > _MOST_HERE:  # one expression over all of it holds the interpreter
        name = "deep_research.verification.foreign:read_report"
        report = await in_worker_thread(call_in_worker, name, text, returns=ForeignReport, limits=_LIMITS)
    else:
        report = await asyncio.to_thread(read_report, text)
    statements = await asyncio.to_thread(report.statements)
    unread: Mapping[str, str] = {}
    if by_documents:
        found = await _from_documents(ctx, report, statements)
    else:
        sources, unread = await _open_sources(ctx, report)
        stopped = Event()
        try:
            found = await asyncio.to_thread(_best_passages, ctx.library, statements, sources, stopped)
        finally:
            stopped.set()  # a thread is not ended from outside
    return await asyncio.to_thread(_rewritten, report, statements, found), unread


async def _open_sources(ctx: RunContext, report: ForeignReport) -> tuple[dict[str, Source], dict[str, str]]:
    """Return the sources by reference key, and reasons for unread ones by source id."""
    cited = {key for citation in report.citations for key in citation.ids}
    named = [r for r in report.references if r.key in cited]
    wanted = [r for r in named if r.url]
    sources: dict[str, Source] = {}
    unread: dict[str, str] = {}
    busy, searches = asyncio.Semaphore(_AT_ONCE), iter(range(_MOST_SEARCHED))
    until = ctx.log.seconds + _MOST_SECONDS

    async def read(key: str, url: str, title: str) -> None:
        async with busy:
            try:
                if ctx.log.seconds > until:
                    raise Unreachable(f"{url} was not opened: the report's other pages took too long.", url=url)
                async with asyncio.timeout(_MOST_SECONDS_OF_ONE):
                    sources[key] = await _opened(ctx, url, title, searches)
            except Exception as raised:  # noqa: BLE001 - one page failing costs only itself
                slow = Unreachable(f"{url} was given up after {_MOST_SECONDS_OF_ONE:.0f} s.", url=url)
                error = slow if isinstance(raised, TimeoutError) else raised
                gap = ctx.report_failure(url, error, source=PLACE)
                sources[key] = await asyncio.to_thread(ctx.library.add_source, _unread(url, title))
                unread[sources[key].id] = gap.why
            ctx.emit(Progress(what="pages opened", done=len(sources), total=min(len(wanted), MOST_SOURCES)))

    await side_by_side(read(r.key, r.url, r.title) for r in wanted[:MOST_SOURCES])
    lost = [
        (r, gap_of(r.title, "no_entry" if r.title.startswith("[") else "no_address", source=PLACE))
        for r in named
        if not r.url
    ]
    for _, gap in lost[:MOST_SOURCES]:
        ctx.report_gap(gap)
    if count := max(0, len(wanted) - MOST_SOURCES):
        left = ctx.report_gap(gap_of("links", "links_left", source=PLACE, count=f"{count:,}", limit=str(MOST_SOURCES)))
        lost += [(r, left) for r in wanted[MOST_SOURCES:]]
    known, _ = await asyncio.to_thread(search.add_sources, ctx.library, [_unread(r.url, r.title) for r, _ in lost])
    sources.update(zip((r.key for r, _ in lost), known, strict=True))
    unread.update((source.id, gap.why) for source, (_, gap) in zip(known, lost, strict=True))
    return sources, unread


async def _opened(ctx: RunContext, url: str, title: str, searches: Iterator[int]) -> Source:
    """Return the source at an address, or a search result for it if the page fails.

    Each item of `searches` is one that may still be made.
    """
    try:
        return await open_address(ctx, url)
    except SourceError as error:
        words = title or url.rsplit("/", 1)[-1].replace("-", " ")
        is_final = len(words) <= _LEAST_NAME or (isinstance(error, Blocked) and error.reason != "robots")
        if is_final or not any(p.name != PLACE for p in ctx.outside.places) or next(searches, None) is None:
            raise
        await search.perform(ctx, [Action(id=f"u{url}", name="search", query=words[:200])])
        for source in await asyncio.to_thread(ctx.library.sources):
            if source.url == url and await asyncio.to_thread(ctx.library.is_read, source.id):
                return source
        raise


def _unread(url: str, title: str) -> Found:
    return Found(key=url or title, title=title or url, url=url, origin=PLACE)


def _best_passages(
    library: Library, statements: Sequence[Statement], sources: Mapping[str, Source], stopped: Event
) -> list[_Cited]:
    """Return the citing statements, each with its pages' nearest passages.

    An unread page is cited as a whole.
    """
    found: list[_Cited] = []
    for statement in statements:
        if stopped.is_set():
            break
        ids = {key: sources[key].id for key in statement.passages[:_MOST_CITED] if key in sources}
        readable = [key for key in dict.fromkeys(ids.values()) if library.is_read(key)]
        near = _nearest(library, statement.text[:_LONGEST_QUERY], readable)
        if ids:
            found.append((statement, {key: _of_source(near, i) if i in readable else [i] for key, i in ids.items()}))
    return found


def _of_source(passages: Sequence[str], source: str) -> list[str]:
    return [key for key in passages if key.partition("p")[0] == source]


def _nearest(library: Library, text: str, sources: Sequence[str]) -> list[str]:
    """Return the passages nearest to a text: the best per source, then overall."""
    if not sources:
        return []
    best = [hit.passage.id for key in sources for hit in library.search(text, limit=1, sources=[key])]
    near = [hit.passage.id for hit in library.search(text, limit=_PASSAGES, sources=sources)]
    found = [*best, *near] or [p.id for key in sources for p in library.passages(key)[:_PASSAGES]]
    return list(dict.fromkeys(found))[: max(_PASSAGES, len(best))]


async def _from_documents(ctx: RunContext, report: ForeignReport, statements: Sequence[Statement]) -> list[_Cited]:
    """Return the statements with the nearest passages of the user's documents.

    A reference is the document that it names, else the nearest that the statement's others do not name.
    """
    busy = asyncio.Semaphore(_AT_ONCE)

    async def look(number: int, statement: Statement) -> tuple[str, ...]:
        async with busy:
            action = Action(id=f"d{number}", name="search", query=statement.text[:400], source="documents")
            (seen,) = await search.perform(ctx, [action])
            return seen.passages

    wanted = [s for s in statements if s.passages] or list(statements)
    hits = await side_by_side(look(n, s) for n, s in enumerate(wanted))
    named = await asyncio.to_thread(_named_documents, ctx.library, report)

    def rows() -> list[_Cited]:
        found = ((s, _of_documents(ctx.library, s, near, named)) for s, near in zip(wanted, hits, strict=True))
        return [(s, row) for s, row in found if row]

    return await asyncio.to_thread(rows)


def _named_documents(library: Library, report: ForeignReport) -> dict[str, str]:
    """Return the ids of documents named by references (title or file name), by key."""
    known = [(name.casefold(), one.id) for one in library.sources() for name in (one.title, Path(one.location).name)]
    known.sort(key=lambda row: -len(row[0]))
    told = {r.key: f"{r.title} {unquote(r.url)}".casefold() for r in report.references}
    named = {
        key: next((i for name, i in known if len(name) > _LEAST_NAME and name in said), "")
        for key, said in told.items()
    }
    return {key: source for key, source in named.items() if source}


def _of_documents(
    library: Library, statement: Statement, near: Sequence[str], named: Mapping[str, str]
) -> dict[str, Sequence[str]]:
    """Return the passages for each reference of a statement.

    `near` are the nearest passages of all documents, best first.
    """
    if not statement.passages:
        return {"": near[:_FROM_DOCUMENTS]} if near else {}
    cited = statement.passages[:_MOST_CITED]
    own = {key: named[key] for key in cited if key in named}
    others = [i for i in dict.fromkeys(key.partition("p")[0] for key in near) if i not in own.values()]
    own |= dict(zip((key for key in cited if key not in own), others, strict=False))
    of_source = {i: _of_source(near, i)[:_PASSAGES] or _nearest(library, statement.text, [i]) for i in {*own.values()}}
    return {key: of_source[i] for key in cited if (i := own.get(key, "")) and of_source[i]}


def _rewritten(report: ForeignReport, statements: Sequence[Statement], found: Sequence[_Cited]) -> str:
    """Return a report with ids in place of its marks, without its reference list.

    Each mark becomes the ids of its own sources; what no mark stands for goes to the end of its statement.
    """
    spans: list[tuple[int, int, str]] = [(start, end, "") for start, end in report.apart]
    rows = {statement.start: passages for statement, passages in found}
    left = {start: list(dict.fromkeys(key for ids in row.values() for key in ids)) for start, row in rows.items()}
    starts = [s.start for s in statements]
    for citation in report.citations:
        if is_within(report.apart, citation.start):
            continue
        place = bisect_right(starts, citation.start) - 1
        home = statements[place].start if place >= 0 and citation.start < statements[place].end else None
        if home is None or home in rows:
            own = rows[home] if home is not None else {}
            ids = [passage for key in citation.ids for passage in own.get(key, ())]
            spans.append(_in_place(report.text, citation, list(dict.fromkeys(ids))[: _MOST_CITED * _PASSAGES]))
            if home is not None:
                left[home] = [key for key in left[home] if key not in ids]
    ends = ((end_of_words(report.text, s.end), cite_ids(left[s.start])) for s, _ in found if left[s.start])
    spans += [(end, end, f" {ids}") for end, ids in ends]
    apart: list[tuple[int, int, str]] = []
    for span in sorted(set(spans)):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    text = _RAISED.sub(lambda raised: raised[1].translate(TO_RAISED), RewrittenText(report.text, apart).text)
    return make_inert(text.strip())


def _in_place(text: str, citation: Citation, ids: Sequence[str]) -> tuple[int, int, str]:
    """Return the stretch that a citation takes, and what takes its place."""
    start = citation.start
    while start and not citation.kept and text[start - 1] in " \t":
        start -= 1
    return start, citation.end, f"{citation.kept} {cite_ids(ids)}".rstrip()
