"""Open a source by id, from a passage on, at matching words, or by its address."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence

from deep_research.concurrency import side_by_side
from deep_research.data import Action, Observation, Passage, Source
from deep_research.errors import Blocked, NotFound, SourceError
from deep_research.i18n.catalog import gap_of
from deep_research.run_context.context import RunContext, current_position, section_worked_at
from deep_research.steps.private_text import hold_back
from deep_research.text.prompt_fencing import attribute
from deep_research.text.token_count import take_within_budget

PLACE = "pages"
"""Where sources come from that were opened by their address."""
_ID = re.compile(r"s\d+(?:p\d+)?")
LINKS = "links"
"""The kind of note that keeps what a page links to."""
_OPENED_TOKENS = 4_000
"""How much of a source is shown at once; less of a model with a small window."""
_MOST_HEADINGS, _MOST_PLACES = 40, 8
_RECORD_CHARS = 8_000
"""A paper's text that is shorter is its abstract; what it is about stands elsewhere."""


async def open_source(ctx: RunContext, action: Action) -> Observation:
    """Return passages of a source (s7), from a passage on (s7p3), or of an address.

    With words to find, the places of the source where they stand, the first time with its beginning. What may not be opened is a plain answer; what
    fails is a gap. A source that the run had opened before is free.
    """
    wanted = action.source
    try:
        source, start = await _named(ctx, wanted)
    except Blocked as refused:
        if refused.reason in ("", "robots"):
            return _failed(ctx, action, refused)
        return Observation(action=action.id, text=refused.message, free=True)
    except Exception as error:  # noqa: BLE001 - one page failing costs only itself
        return _failed(ctx, action, error)
    is_known = ctx.outside.opened.note(source, section_worked_at())
    passages = await asyncio.to_thread(ctx.library.passages, source)
    if action.query:
        shown, told = await _places(ctx, passages, source, action)
        if shown and not is_known and shown[0] != passages[0]:
            shown.insert(0, passages[0])  # what a text says of itself: title, status, date
    else:
        shown, told = _from_start(ctx, passages, start)
        told += "" if start or is_known else await asyncio.to_thread(_links, ctx, source)
    return Observation(
        action=action.id, passages=tuple(p.id for p in shown), found=1, text=told, free=is_known and bool(shown)
    )


def _from_start(ctx: RunContext, passages: Sequence[Passage], start: str) -> tuple[list[Passage], str]:
    """Return the passages from `start` on, and a note of where the text goes on.

    From the beginning the note also has the headings that follow.
    """
    first = next((i for i, passage in enumerate(passages) if passage.id == start), 0)
    budget = min(_OPENED_TOKENS, ctx.settings.max_context_tokens // 8)
    shown = list(take_within_budget(((p, p.text) for p in passages[first:]), budget))
    end = first + len(shown)
    if end >= len(passages):
        return shown, "That is the end of the text."
    told = f"It goes on at {passages[end].id}; the text has {len(passages)} passages."
    return shown, told if first else f"{told}\n{_outline(passages[end:])}".strip()


def _outline(passages: Sequence[Passage]) -> str:
    """Return the headings of the rest of a text with the passage that each begins at."""
    begun: dict[str, str] = {}
    for passage in passages:
        if passage.heading:
            begun.setdefault(passage.heading, passage.id)
    rows = [f"{key} {attribute(heading)}" for heading, key in begun.items()]
    step = max(1, -(-len(rows) // _MOST_HEADINGS))
    return f"Its further headings: {'; '.join(rows[::step])}" if rows else ""


def _links(ctx: RunContext, source: str) -> str:
    """Return the links of a source's page, one a line, the same after a crash."""
    noted = ctx.journal.notes(LINKS).get(source)
    page, pages = ctx.library.source(source), ctx.outside.pages
    if noted is None and page is not None and pages is not None and (found := pages.links(page.url)):
        rows = (f"- {attribute(words)} — {address}" for address, words in found.items())
        noted = "\n".join(("\nIt links to (open takes the address):", *rows))
        ctx.journal.note(LINKS, source, noted)
    return noted or ""


async def _places(
    ctx: RunContext, passages: Sequence[Passage], source: str, action: Action
) -> tuple[list[Passage], str]:
    """Return a source's passages matching words, in text order, or a note if none."""

    def look() -> list[str]:
        return [hit.passage.id for hit in ctx.library.search(action.query, limit=_MOST_PLACES, sources=(source,))]

    found = set(await seen_once(ctx, f"{action.id} {source} {action.query}", look))
    shown = [p for p in passages if p.id in found]
    return shown, "" if shown else f"Nothing in {source} has these words; open it to read it."


async def seen_once(ctx: RunContext, what: str, look: Callable[[], list[str]]) -> list[str]:
    """Return a library look-up at this place of the run, the same after a crash.

    The library grows while others work, and a conversation that is taken up must ask its model the same again.
    """

    async def make() -> str:
        return json.dumps(await asyncio.to_thread(look), ensure_ascii=False)

    answer, _ = await ctx.journal.call("library", f"{current_position()} {what}", make)
    return json.loads(answer)


def _failed(ctx: RunContext, action: Action, error: Exception) -> Observation:
    gap = ctx.report_failure(action.source, error, source=PLACE)
    return Observation(action=action.id, failed=(PLACE,), failure=gap.why, free=True)


async def _named(ctx: RunContext, wanted: str) -> tuple[str, str]:
    """Return the source and passage of an id or opened address; raise SourceError."""
    if not _ID.fullmatch(wanted):
        return (await open_address(ctx, wanted if "://" in wanted else f"https://{wanted}")).id, ""
    source = await asyncio.to_thread(ctx.library.source, wanted.partition("p")[0])
    if source is None:
        raise Blocked(f"There is no source {wanted} in the library.", reason="unknown id")
    if await asyncio.to_thread(ctx.library.snapshot, source.id) is None:
        raise Blocked(f"{source.id} could not be read.", reason="no text")
    whole = source if "p" in wanted else await _whole(ctx, source)
    return whole.id, wanted if "p" in wanted else ""


async def open_address(ctx: RunContext, url: str) -> Source:
    """Return the source at an address, fetched once per run even by parallel calls.

    An address under which something was read already gives that source. Raises Blocked for what nobody has named,
    SourceError for what cannot be read.
    """
    if (pages := ctx.outside.pages) is None:
        raise Blocked("This run opens no addresses; open takes the id of a source (s7).", reason="no web")
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
        await ctx.add_snapshot(source.id, found.document)
        return source.id

    answer, _ = await ctx.journal.call("read", key, fetch)
    source = await asyncio.to_thread(ctx.library.source, answer)
    if source is None:
        raise NotFound(f"{url} was read and is not in the library any more.", url=url)
    return source


async def _read_before(ctx: RunContext, key: str, url: str) -> Source | None:
    for source in await asyncio.to_thread(ctx.library.sources):
        if source.key == key or source.url == url:
            return source if await asyncio.to_thread(ctx.library.snapshot, source.id) is not None else None
    return None


async def _whole(ctx: RunContext, source: Source) -> Source:
    """Return a paper's full text as a new source for a bare record, else `source`."""
    text = await asyncio.to_thread(ctx.library.snapshot, source.id)
    if ctx.outside.pages is None or text is None or len(text.text) > _RECORD_CHARS:
        return source
    why = ""
    for address in ctx.outside.pages.full_text(source):
        try:
            return await open_address(ctx, address)
        except SourceError as error:
            why = error.message
    if why:
        ctx.report_gap(gap_of(source.title, "only_abstract", source=source.origin, error=why))
    return source


async def read_addresses(ctx: RunContext, urls: Sequence[str]) -> list[Source]:
    """Read the pages named in the question in parallel; an unreadable one is a gap."""

    async def one(url: str) -> Source | None:
        try:
            return await open_address(ctx, url)
        except Exception as error:  # noqa: BLE001 - see above
            ctx.report_failure(url, error, source=PLACE)
            return None

    found = await side_by_side(one(url) for url in urls)
    return list({source.id: source for source in found if source is not None}.values())
