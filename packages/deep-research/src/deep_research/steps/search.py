"""Turn one action into library passages, once per run, errors never as evidence."""

import asyncio
import json
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from claimcheck.language import columns
from claimcheck.text.cleaning import shorten
from deep_research.concurrency import Backlog, side_by_side
from deep_research.data import LIBRARY, Action, Found, Gap, Observation, PassageHit, SearchRecord, SearchResult, Source
from deep_research.data.noun import copy_fields
from deep_research.errors import ConfigError, LimitReached, SourceError
from deep_research.events import Searched
from deep_research.i18n.catalog import gap_of
from deep_research.ports import Library, OutsideTool, SearchPlace
from deep_research.run_context.context import RunContext, reason_of, section_worked_at
from deep_research.run_context.telemetry import span
from deep_research.steps.open_source import PLACE, open_source, seen_once
from deep_research.steps.private_text import hold_back
from deep_research.text.contents_lists import is_contents_list

_PASSAGES_PER_SOURCE = 2
_FLOOR, _OF_A_LIST = 0.5, 0.3
"""Share of the best score that a passage must reach; what a table of contents or an index is worth beside prose."""
_STUB = 60
"""Columns of a passage that is a heading without its text."""
_TOLD_CHARS = 120
_RESULTS = 8
"""Documents taken from one search: the first page of a search engine; what comes later seldom answers."""
_AT_ONCE = 3
"""Places asked at the same time, in order of trust."""
_ENOUGH_FOUND = 3
"""Results with which the less trusted places are not asked."""
_IN_HAND: defaultdict[str, Backlog] = defaultdict(partial(Backlog, 4_000_000, 50_000))
"""By place, the characters of pages that came with its results and are not stored yet, of all runs of the process."""
_OWN = ("documents", PLACE, "mcp:")


async def perform(ctx: RunContext, actions: Sequence[Action]) -> list[Observation]:
    """Return the observations of `actions` in order; all run in parallel, fail alone.

    What is to be opened is opened behind the searches of the same turn, which may be what names its address.
    """
    seen: dict[int, Observation] = {}
    for opens in (False, True):
        now = [n for n, action in enumerate(actions) if (action.name == "open") is opens]
        seen |= zip(now, await side_by_side(_perform(ctx, actions[n]) for n in now), strict=True)
    return [seen[n] for n in range(len(actions))]


def is_free(ctx: RunContext, action: Action) -> bool:
    """Return whether an action only opens known sources or searches the library."""
    known = action.name == "open" and ctx.outside.opened.has(action.source.partition("p")[0])
    return known or (action.name == "search" and action.source == LIBRARY)


def _why(error: Exception, what: str) -> str:
    """Return the reason for a place's failure; raise errors of other causes.

    A place with wrong settings costs only itself.
    """
    if isinstance(error, LimitReached):
        raise error
    return error.message if isinstance(error, ConfigError) else reason_of(error, what)


async def _perform(ctx: RunContext, action: Action) -> Observation:
    if action.name == "search":
        return await _search(ctx, action)
    if action.name == "open":
        return await _open(ctx, action)
    if action.name == "call_tool":
        return await _use_tool(ctx, action)
    return Observation(action=action.id)


async def _open(ctx: RunContext, action: Action) -> Observation:
    """Open a source, also by a place and its id there ("arxiv:2401.00001")."""
    name, _, own = action.source.partition(":")
    key = await asyncio.to_thread(_keyed, ctx.library, action.source)
    place = next((p for p in ctx.outside.places if p.name == name.lower() and own.strip()), None)
    if not key and place is not None:
        asked = action.model_copy(update={"query": own.strip()})
        seen = await _search_place(ctx, place, asked)
        found = {passage.partition("p")[0] for passage in seen.passages}
        key = await asyncio.to_thread(_keyed, ctx.library, action.source) or (found.pop() if len(found) == 1 else "")
        if not key:
            return seen
    return await open_source(ctx, action.model_copy(update={"source": key or action.source}))


def _keyed(library: Library, named: str) -> str:
    """Return the id of the source with this key, prefix optional; "" for none."""
    wanted = f":{named.casefold()}"
    return next((s.id for s in library.sources() if f":{s.key.casefold()}".endswith(wanted)), "")


async def _search(ctx: RunContext, action: Action) -> Observation:
    """Make the queries of one action side by side, and merge what they bring."""
    queries = [query for line in action.query.split("\n") if (query := line.strip())]
    if action.source == LIBRARY:
        return await _recall(ctx, action, queries)
    if not (places := [p for p in ctx.outside.places if action.source in ("", p.name)]):
        return _unknown_place(ctx, action)
    results = await side_by_side(_search_one(ctx, places, action, query) for query in queries)
    # What colleagues have opened since is told as it was when the search was first made.
    news_for = ctx.outside.opened.news_for
    (told,) = await seen_once(ctx, f"news {action.id}", lambda: [news_for(section_worked_at(), ctx.library)])
    found = _merged(action, results, text=told)
    if found.failed and not found.passages:  # what the run has read before is there all the same
        found = found.model_copy(update={"passages": (await _recall(ctx, action, queries)).passages})
    return found


def _merged(action: Action, results: Sequence[Observation], *, text: str = "") -> Observation:
    """Return the results of several searches as one observation, with a note `text`."""
    return Observation(
        action=action.id,
        passages=tuple(_interleave([list(r.passages) for r in results])),
        found=sum(r.found for r in results),
        new=sum(r.new for r in results),
        failed=tuple(dict.fromkeys(name for r in results for name in r.failed)),
        failure=next((r.failure for r in results if r.failure), ""),
        text=text,
    )


async def _recall(ctx: RunContext, action: Action, queries: Sequence[str]) -> Observation:
    """Search in what the run has read so far; it is free."""

    def look() -> list[str]:
        return _interleave([[hit.passage.id for hit in ctx.library.search(q, limit=_RESULTS)] for q in queries])

    found = await seen_once(ctx, f"{action.id} {action.query}", look)
    return Observation(action=action.id, passages=tuple(found), found=len(found), free=True)


async def _search_one(ctx: RunContext, places: Sequence[SearchPlace], action: Action, query: str) -> Observation:
    """Ask the places in order of trust until enough was found.

    What the user has named, documents, pages and MCP servers, is always asked with the first.
    """
    asked = action.model_copy(update={"query": query})
    results: list[Observation] = []
    own = [p for p in places if p.name.startswith(_OWN)]
    others = [p for p in places if not p.name.startswith(_OWN)]
    for first in range(0, max(1, len(others)), _AT_ONCE):
        tier = [*(own if first == 0 else ()), *others[first : first + _AT_ONCE]]
        results += await side_by_side(_search_place(ctx, place, asked) for place in tier)
        if sum(r.found for r in results) >= _ENOUGH_FOUND:
            break
    return _merged(action, results)


def _unknown_place(ctx: RunContext, action: Action) -> Observation:
    gap = ctx.report_gap(gap_of(action.query, "unknown_place", source=action.source, name=action.source))
    return Observation(action=action.id, failed=(action.source,), failure=gap.why)


def _interleave(rows: list[list[str]]) -> list[str]:
    """Merge the ranked results of several places, rank by rank, each id once."""
    longest = max((len(row) for row in rows), default=0)
    return list(dict.fromkeys(row[i] for i in range(longest) for row in rows if i < len(row)))


async def _search_place(ctx: RunContext, place: SearchPlace, action: Action) -> Observation:
    if place.name != PLACE and (held := await hold_back(ctx, place.name, action.query)):
        return Observation(action=action.id, failed=(place.name,), failure=held.why)
    request = json.dumps({"place": place.name, "query": action.query, "limit": _RESULTS}, ensure_ascii=False)
    return await _ask(ctx, place, request, lambda: place.search(action.query, limit=_RESULTS), action)


async def _use_tool(ctx: RunContext, action: Action) -> Observation:
    """Call an external tool; what it brings goes the way of every result."""
    if (tool := ctx.outside.tools.get(action.source)) is None:
        return _unknown_place(ctx, action)
    arguments = json.loads(action.query)
    # Its server names it, and may name it as a place of the user is named, where nothing is held back.
    if held := await hold_back(ctx, f"tool:{tool.name}", json.dumps(arguments, ensure_ascii=False)):
        return Observation(action=action.id, failed=(tool.name,), failure=held.why)
    request = json.dumps({"tool": tool.name, "arguments": arguments}, ensure_ascii=False, sort_keys=True)
    words = " ".join(value for value in arguments.values() if isinstance(value, str)) or tool.name
    query = action.model_copy(update={"query": words})
    return await _ask(ctx, tool, request, lambda: tool.call(arguments), query)


async def _ask(
    ctx: RunContext,
    place: SearchPlace | OutsideTool,
    request: str,
    ask: Callable[[], Awaitable[SearchResult]],
    action: Action,
) -> Observation:
    """Ask once per run, store and log results; choose passages by `action.query`."""

    async def make() -> str:
        async with _IN_HAND[place.name].taken_in() as measured:
            results = [await ask()]
            documents = (one.document for one in results[0].found if one.document is not None)
            measured(sum(len(one.page_text) for one in results[0].found) + sum(len(one.text) for one in documents))
            return (await _take_in(ctx, place, results.pop(), action.query)).model_dump_json()

    try:
        with span("search", deep_research__source=place.name):
            answer, reused = await ctx.journal.call("search", request, make)
    except Exception as error:  # noqa: BLE001 - one place failing costs only itself, also when it has a defect
        why = _why(error, place.name)
        # A place that was given up fails the same way each time: that is one gap.
        if isinstance(error, SourceError) and error.given_up:
            gap = gap_of(place.name, "given_up", source=place.name, error=why)
        else:
            gap = Gap(what=f"{place.name}: {shorten(action.query, _TOLD_CHARS)}", why=why, source=place.name)
        ctx.report_gap(gap)
        return Observation(action=action.id, failed=(place.name,), failure=gap.why)
    record = SearchRecord.model_validate_json(answer)
    for gap in record.gaps:  # also of a search that was begun ahead, or made before the run was interrupted
        ctx.report_gap(gap)
    section, new = section_worked_at(), 0 if reused else record.new
    ctx.emit(
        Searched(section=section, source=place.name, query=action.query, found=record.found, new=new, reused=reused)
    )
    failed, failure = tuple(dict.fromkeys(gap.what for gap in record.gaps)), record.gaps[0].why if record.gaps else ""
    return copy_fields(Observation, record, action=action.id, failed=failed, failure=failure)


async def _take_in(ctx: RunContext, place: SearchPlace | OutsideTool, result: SearchResult, query: str) -> SearchRecord:
    """Store results in the library; record answering passages, best first, and gaps."""
    sources, new = await asyncio.to_thread(add_sources, ctx.library, result.found)
    unread = await asyncio.to_thread(lambda: {one.id for one in sources if not ctx.library.is_read(one.id)})

    async def keep(found: Found, source: Source) -> Gap | None:
        try:
            await _read_result(ctx, place, found, source)
        except Exception as error:  # noqa: BLE001 - see above
            return Gap(what=found.title or found.key, why=_why(error, place.name), source=place.name)
        return None

    first = {source.id: (found, source) for found, source in [*zip(result.found, sources, strict=True)][::-1]}
    reading = {key: keep(*one) for key, one in [*first.items()][::-1] if key in unread}
    # Without the texts: each goes when its page is stored, for many searches may be under way.
    plain = [found.model_copy(update={"page_text": "", "document": None}) for found in result.found]
    results, gaps, usage = list(zip(plain, sources, strict=True)), result.gaps, result.usage
    del result
    failed = dict(zip(reading, await side_by_side(reading.values()), strict=True))
    there = [(found, source) for found, source in results if failed.get(source.id) is None]
    rows = await asyncio.to_thread(_answering, ctx.library, there, query) if there else []
    return SearchRecord(
        passages=tuple(_interleave(_relevant(rows))),
        found=len(rows),
        new=new,
        gaps=(*gaps, *(gap for gap in failed.values() if gap is not None)),
        usage=usage,
    )


def add_sources(library: Library, found: Sequence[Found]) -> tuple[list[Source], int]:
    """Return the sources of results and the number of new ones, in one transaction.

    So parallel searches count each source once.
    """
    with library.batch():
        known = {source.key for source in library.sources()}
        return [library.add_source(one) for one in found], len({one.key for one in found} - known)


_Kept = list[tuple[str, float]]
"""Passages of one result that answer a search, each with its score; it is 0 where nothing was compared."""


def _relevant(rows: Sequence[_Kept]) -> list[list[str]]:
    """Return the passages of each result near the best score of all, if any.

    An engine always fills its page, and a page always has a best passage.
    """
    floor = _FLOOR * max((score for row in rows for _, score in row if math.isfinite(score)), default=0.0)
    return [[key for key, score in row if score >= floor] for row in rows]


async def _read_result(ctx: RunContext, place: SearchPlace | OutsideTool, found: Found, source: Source) -> None:
    """Read a result once per run, even if several researchers or places find it."""

    async def fetch() -> str:
        document = found.document if found.document and not found.excerpt else await place.read(found)
        await ctx.add_snapshot(source.id, document)
        return source.id

    await ctx.journal.call("read", source.key, fetch)


def _answering(library: Library, results: Sequence[tuple[Found, Source]], query: str) -> list[_Kept]:
    """Return for each result its passages that answer `query`, best first."""
    compared = [source.id for found, source in results if not found.spans]
    hits = {key: library.search(query, limit=_PASSAGES_PER_SOURCE, sources=[key]) for key in compared}
    return [_kept(library, found, source, hits.get(source.id, ())) for found, source in results]


def _kept(library: Library, found: Found, source: Source, hits: Sequence[PassageHit]) -> _Kept:
    if not found.spans and hits:
        worth = ((h, _OF_A_LIST if _says_little(h.passage.text) else 1) for h in hits)
        return sorted(((h.passage.id, h.score * share) for h, share in worth), key=lambda kept: -kept[1])
    passages = library.passages(source.id)
    if not found.spans:
        return [(p.id, 0.0) for p in passages[:1]]
    # Those that overlap the found spans, in the order of the spans.
    at_spans = (p.id for span in found.spans for p in passages if p.start < span.end and span.start < p.end)
    return [(key, math.inf) for key in dict.fromkeys(at_spans)][:_PASSAGES_PER_SOURCE]


def _says_little(text: str) -> bool:
    """Tell whether a passage is a mere title or a list of names."""
    return columns(text.strip()) < _STUB or is_contents_list(text)
