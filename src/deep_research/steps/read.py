"""Reading one source on purpose: by its id, from one of its passages on, or by an address that somebody has named."""

import asyncio
import re
from collections.abc import Iterable, Sequence

from deep_research.concurrency import side_by_side
from deep_research.data import Action, Brief, Observation, Passage, Section, Source
from deep_research.errors import Blocked, NotFound, SourceError
from deep_research.i18n.catalog import gap_of
from deep_research.ports import Pages
from deep_research.run_context.context import RunContext
from deep_research.steps.private_text import hold_back
from deep_research.text.token_count import OBSERVED_TOKENS, take_within_budget

PLACE = "pages"
"""Where sources come from that were opened by their address."""
_ID = re.compile(r"s\d+(?:p\d+)?")
_NAMED = 12
"""Passages taken of one page for a section."""
_RECORD_CHARS = 8_000
"""A paper's text that is shorter is its abstract; what it is about stands elsewhere."""


async def read(ctx: RunContext, action: Action, section: Section | None, brief: Brief | None) -> Observation:
    """Return the passages of what the action names: a source (s7), its text from a passage on (s7p3), or an address.

    Of a text that is longer than one observation, those that answer the section come first (`Reasoner.read_page`),
    and the others are named. What may not be opened is a plain answer; what fails is a gap.
    """
    wanted = action.query.strip("[]<>()\"'` ")
    try:
        source, start = await _named(ctx, wanted)
    except Blocked as refused:
        if refused.reason in ("", "robots"):
            return _failed(ctx, action, refused)
        return Observation(action=action.id, text=refused.message)
    except Exception as error:  # noqa: BLE001 - one page failing costs only itself
        return _failed(ctx, action, error)
    passages = await asyncio.to_thread(ctx.library.passages, source)
    if start:
        first = next((i for i, passage in enumerate(passages) if passage.id == start), 0)
        shown = _fitting(passages[first:])
    else:
        shown = await _answering(ctx, passages, section, brief)
    ids = tuple(passage.id for passage in shown)
    return Observation(action=action.id, passages=ids, found=1, text=_rest(passages, ids))


def _failed(ctx: RunContext, action: Action, error: Exception) -> Observation:
    gap = ctx.report_failure(action.query, error, source=PLACE)
    return Observation(action=action.id, failed=(PLACE,), failure=gap.why)


async def _named(ctx: RunContext, wanted: str) -> tuple[str, str]:
    """Return the source and the passage that an id or an address names; open an address. Raises SourceError."""
    if not _ID.fullmatch(wanted):
        return (await open_address(ctx, wanted)).id, ""
    source = await asyncio.to_thread(ctx.library.source, wanted.partition("p")[0])
    if source is None:
        raise Blocked(f"There is no source {wanted} in the library.", reason="unknown id")
    if await asyncio.to_thread(ctx.library.snapshot, source.id) is None:
        raise Blocked(f"{source.id} could not be read.", reason="no text")
    whole = source if "p" in wanted else await _whole(ctx, source)
    return whole.id, wanted if "p" in wanted else ""


def _fitting(passages: Sequence[Passage]) -> list[Passage]:
    """Return the first passages, as many as one observation holds."""
    return list(take_within_budget(((p, p.text) for p in passages), OBSERVED_TOKENS))


async def _answering(
    ctx: RunContext, passages: Sequence[Passage], section: Section | None, brief: Brief | None
) -> list[Passage]:
    """Return all of a short text; of a longer one what answers the section."""
    fitting = _fitting(passages)
    if len(fitting) == len(passages) or section is None or brief is None:
        return fitting
    known = {passage.id: passage for passage in passages}
    chosen = await ctx.reasoner.read_page(section, brief, passages, ctx.library)
    return [known[key] for key in dict.fromkeys(chosen) if key in known][:_NAMED] or fitting


def _rest(passages: Sequence[Passage], shown: Iterable[str]) -> str:
    """Return the passages that are not shown, as a line of ranges; each can be read on from."""
    chosen, runs = set(shown), list[list[str]]()
    for before, passage in zip((None, *passages), passages, strict=False):
        if passage.id in chosen:
            continue
        if runs and before is not None and before.id == runs[-1][-1]:
            runs[-1].append(passage.id)
        else:
            runs.append([passage.id])
    ranges = ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
    return f"Not shown, can be read by id: {ranges}" if ranges else ""


async def open_address(ctx: RunContext, url: str) -> Source:
    """Return the source at an address, fetched once in a run also when asked for twice at the same moment.

    An address under which something was read already gives that source. Raises Blocked for what nobody has named,
    SourceError for what cannot be read.
    """
    pages = _pages(ctx)
    key = pages.key(url)
    if known := await _read_before(ctx, key, url):
        return known

    if held := await hold_back(ctx, PLACE, url):
        raise Blocked(held.why, url=url, reason="private")

    async def fetch() -> str:
        found = await pages.open(url)
        if other := await _read_before(ctx, found.key, found.url):
            return other.id  # a redirect led to what is there
        if found.document is None:
            raise NotFound(f"{url} has no text.", url=url)
        source = await asyncio.to_thread(ctx.library.add_source, found)
        await ctx.snapshots.do((source.id, found.document))
        return source.id

    answer, _ = await ctx.journal.call("read", key, fetch)
    source = await asyncio.to_thread(ctx.library.source, answer)
    if source is None:
        raise NotFound(f"{url} was read and is not in the library any more.", url=url)
    return source


def _pages(ctx: RunContext) -> Pages:
    if ctx.pages is None:
        raise Blocked("This run opens no addresses; read takes the id of a source (s7).", reason="no web")
    return ctx.pages


async def _read_before(ctx: RunContext, key: str, url: str) -> Source | None:
    for source in await asyncio.to_thread(ctx.library.sources):
        if source.key == key or source.url == url:
            return source if await asyncio.to_thread(ctx.library.snapshot, source.id) is not None else None
    return None


async def _whole(ctx: RunContext, source: Source) -> Source:
    """Return the full text of a paper of which only the record is there, as a source of its own; else `source`."""
    text = await asyncio.to_thread(ctx.library.snapshot, source.id)
    if ctx.pages is None or not ctx.settings.read_full_papers or text is None or len(text.text) > _RECORD_CHARS:
        return source
    why = ""
    for address in ctx.pages.full_text(source):
        try:
            return await open_address(ctx, address)
        except SourceError as error:
            why = error.message
    if why:
        ctx.report_gap(gap_of(source.title, "only_abstract", source=source.origin, error=why))
    return source


async def read_addresses(ctx: RunContext, urls: Sequence[str]) -> list[Source]:
    """Read the pages that the user's question names, side by side; one that cannot be read is a gap."""

    async def one(url: str) -> Source | None:
        try:
            return await open_address(ctx, url)
        except Exception as error:  # noqa: BLE001 - see above
            ctx.report_failure(url, error, source=PLACE)
            return None

    found = await side_by_side(one(url) for url in urls)
    return list({source.id: source for source in found if source is not None}.values())
