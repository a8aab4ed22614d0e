"""A report that somebody else wrote, made ready to be verified: its citations become passages of stored snapshots."""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from deep_research.concurrency import side_by_side
from deep_research.data import Action, Found, Source
from deep_research.errors import Blocked, SourceError, Unreachable
from deep_research.i18n.catalog import gap_of
from deep_research.ports import Library
from deep_research.run_context.context import RunContext, reason_of
from deep_research.steps import search
from deep_research.steps.open_source import PLACE, open_address
from deep_research.text.cleaning import shorten
from deep_research.text.code_spans import is_within
from deep_research.text.inert_markdown import make_inert
from deep_research.text.rewritten_text import RewrittenText
from deep_research.verification.citations import Citation, cite_ids
from deep_research.verification.foreign import ForeignReport, read_report
from deep_research.verification.statements import Statement, plain_text

MOST_SOURCES = 300
"""Pages of one report that are opened."""
_MOST_SEARCHED = 20
"""Pages that cannot be opened and are looked for by a search, which may cost money."""
_MOST_SECONDS = 900.0
"""How long the pages of one report are opened; then the rest is left."""
_AT_ONCE = 16
_PASSAGES = 3
"""Passages that a statement is held against, of all the sources that it cites."""
_FROM_DOCUMENTS = 4
_TITLE = re.compile(r"^#{1,2} +(.+?) *#*$", re.MULTILINE)
_TITLE_CHARS = 150
_RAISED = re.compile(r"<sup>(\d{1,3})</sup>")
"""What is raised and cites nothing: m²."""
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class CitedReport(NamedTuple):
    """A report whose citations are ids of passages; `unread` are sources (ids) that could not be read, and why."""

    text: str
    unread: Mapping[str, str]


def report_title(text: str) -> str:
    """Return the title of a report: its first heading, or its first line."""
    found = _TITLE.search(text)
    line = found[1] if found else next((line for line in text.splitlines() if line.strip()), "")
    return shorten(plain_text(line), _TITLE_CHARS) or "Report"


async def cite_passages(ctx: RunContext, text: str, *, by_documents: bool) -> CitedReport:
    """Return a report with the passages of the pages it cites, or `by_documents` with those of the user's documents.

    A page that cannot be read stays cited as a whole, and is a gap.
    """
    report, statements = await asyncio.to_thread(_read, text)
    sources: Mapping[str, Source] = {}
    unread: Mapping[str, str] = {}
    if by_documents:
        found = await _from_documents(ctx, statements)
    else:
        sources, unread = await _open_sources(ctx, report)
        found = await asyncio.to_thread(_best_passages, ctx.library, statements, sources)
    return CitedReport(await asyncio.to_thread(_rewritten, report, statements, found, sources), unread)


def _read(text: str) -> tuple[ForeignReport, list[Statement]]:
    report = read_report(text)
    return report, report.statements()


async def _open_sources(ctx: RunContext, report: ForeignReport) -> tuple[dict[str, Source], dict[str, str]]:
    """Return the sources of references by key, and why some of them (by source id) could not be read."""
    cited = {key for citation in report.citations for key in citation.ids}
    wanted = [r for r in report.references if r.key in cited and r.url.startswith("http")]
    sources: dict[str, Source] = {}
    unread: dict[str, str] = {}
    busy, searches = asyncio.Semaphore(_AT_ONCE), iter(range(_MOST_SEARCHED))
    until = ctx.elapsed() + _MOST_SECONDS

    async def read(key: str, url: str, title: str) -> None:
        async with busy:
            try:
                if ctx.elapsed() > until:
                    raise Unreachable(f"{url} was not opened: the report's other pages took too long.", url=url)
                sources[key] = await _opened(ctx, url, title, searches)
            except Exception as error:  # noqa: BLE001 - one page failing costs only itself
                why = error.message if isinstance(error, Blocked) else reason_of(error, url)
                ctx.report_failure(url, error, source=PLACE)
                known = await asyncio.to_thread(ctx.library.add_source, _unread(url, title))
                sources[key], unread[known.id] = known, why

    await side_by_side(read(r.key, r.url, r.title) for r in wanted[:MOST_SOURCES])
    if rest := wanted[MOST_SOURCES:]:
        left = ctx.report_gap(
            gap_of("links", "links_left", source=PLACE, count=f"{len(rest):,}", limit=str(MOST_SOURCES))
        )
        known = await asyncio.to_thread(_add_unread, ctx.library, [_unread(r.url, r.title) for r in rest])
        sources.update(zip((r.key for r in rest), known, strict=True))
        unread.update((source.id, left.why) for source in known)
    return sources, unread


def _add_unread(library: Library, found: Sequence[Found]) -> list[Source]:
    with library.batch():
        return [library.add_source(one) for one in found]


async def _opened(ctx: RunContext, url: str, title: str, searches: Iterator[int]) -> Source:
    """Return the source at an address; where the page itself cannot be had, as a search place knows it.

    Each item of `searches` is one that may still be made.
    """
    try:
        return await open_address(ctx, url)
    except SourceError as error:
        is_refused = isinstance(error, Blocked) and error.reason != "robots"
        if is_refused or not any(p.name != PLACE for p in ctx.places) or next(searches, None) is None:
            raise
        words = title or url.rsplit("/", 1)[-1].replace("-", " ")
        await search.perform(ctx, [Action(id=f"u{url}", name="search", query=words[:200])])
        for source in await asyncio.to_thread(ctx.library.sources):
            if source.url == url and await asyncio.to_thread(ctx.library.is_read, source.id):
                return source
        raise


def _unread(url: str, title: str) -> Found:
    return Found(key=url, title=title or url, url=url, origin=PLACE)


def _best_passages(
    library: Library, statements: Sequence[Statement], sources: Mapping[str, Source]
) -> list[tuple[Statement, tuple[str, ...]]]:
    """Return for each statement that cites a page the passages of it that come nearest; an unread page as a whole."""
    found: list[tuple[Statement, tuple[str, ...]]] = []
    for statement in statements:
        ids = list(dict.fromkeys(sources[key].id for key in statement.passages if key in sources))
        readable = [key for key in ids if library.is_read(key)]
        near = _nearest(library, statement.text, readable)
        missing = [key for key in ids if key not in readable]
        if near or missing:
            found.append((statement, (*near, *missing)))
    return found


def _nearest(library: Library, text: str, sources: Sequence[str]) -> list[str]:
    """Return the passages of sources that come nearest to a text: the best of each, and of all together the first."""
    if not sources:
        return []
    best = [hit.passage.id for key in sources for hit in library.search(text, limit=1, sources=[key])]
    near = [hit.passage.id for hit in library.search(text, limit=_PASSAGES, sources=sources)]
    some = [p.id for key in sources for p in library.passages(key)[:_PASSAGES]]
    return list(dict.fromkeys([*best, *near] or some))[: max(_PASSAGES, len(best))]


async def _from_documents(ctx: RunContext, statements: Sequence[Statement]) -> list[tuple[Statement, tuple[str, ...]]]:
    """Return for each statement the passages of the user's documents that come nearest."""
    busy = asyncio.Semaphore(_AT_ONCE)

    async def look(number: int, statement: Statement) -> tuple[Statement, tuple[str, ...]]:
        async with busy:
            action = Action(id=f"d{number}", name="search", query=statement.text[:400], source="documents")
            (seen,) = await search.perform(ctx, [action])
            return statement, seen.passages[:_FROM_DOCUMENTS]

    wanted = [s for s in statements if s.passages] or list(statements)
    return [row for row in await side_by_side(look(n, s) for n, s in enumerate(wanted)) if row[1]]


def _rewritten(
    report: ForeignReport,
    statements: Sequence[Statement],
    found: Sequence[tuple[Statement, tuple[str, ...]]],
    sources: Mapping[str, Source],
) -> str:
    """Return the text of a report with ids in place of its own marks, and without its list of references.

    Each mark becomes the ids of its own sources; what no mark stands for goes to the end of its statement.
    """
    spans: list[tuple[int, int, str]] = [(start, end, "") for start, end in report.apart]
    left = {statement.start: list(keys) for statement, keys in found}
    starts = [s.start for s in statements]
    for citation in report.citations:
        if is_within(report.apart, citation.start):
            continue
        place = bisect_right(starts, citation.start) - 1
        home = statements[place] if place >= 0 and citation.start < statements[place].end else None
        if home is None or home.start in left:
            own = {sources[key].id for key in citation.ids if key in sources}
            rest = left[home.start] if home else []
            ids = [key for key in rest if not sources or key.partition("p")[0] in own]
            spans.append(_in_place(report.text, citation, ids))
            rest[:] = [key for key in rest if key not in ids]
    ends = ((_end_of(s, report.text), cite_ids(left[s.start])) for s, _ in found if left[s.start])
    spans += [(end, end, f" {ids}") for end, ids in ends]
    apart: list[tuple[int, int, str]] = []
    for span in sorted(set(spans)):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    text = _RAISED.sub(lambda raised: raised[1].translate(_SUPERSCRIPT), RewrittenText(report.text, apart).text)
    return make_inert(text.strip())


def _in_place(text: str, citation: Citation, ids: Sequence[str]) -> tuple[int, int, str]:
    """Return the stretch that a citation takes, and what takes its place."""
    start = citation.start
    while start and not citation.kept and text[start - 1] in " \t":
        start -= 1
    cited = cite_ids(ids) if ids else ""
    if citation.kept:
        return start, citation.end, f"{citation.kept} {cited}".rstrip()
    return start, citation.end, f" {cited}" if cited else ""


def _end_of(statement: Statement, text: str) -> int:
    """Return where ids are added to a statement: in a row of a table before the sign that closes its last cell."""
    if statement.kind != "row" or not text[: statement.end].endswith("|"):
        return statement.end
    return len(text[: statement.end - 1].rstrip())
