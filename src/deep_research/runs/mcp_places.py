"""The tools of a run's MCP servers: connected to side by side, offered to the model, searched by every reasoner.

Which servers there are comes from the settings in force today; a run's record holds their names alone. What a tool
lists and answers is in the journal before it is used, so that a run that is taken up asks for nothing twice.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from deep_research.concurrency import side_by_side
from deep_research.data import Document, Found, Gap, SearchResult, ToolSpec
from deep_research.data.tools import McpServer, OfferedTool, ToolAnswer
from deep_research.errors import ConfigError, NotFound, SourceError
from deep_research.ports import Journal, Library, Progress, SearchPlace
from deep_research.runs.folder import RunRecord
from deep_research.settings import Settings, load_keys, load_settings

if TYPE_CHECKING:
    from deep_research.fetch.known import KnownAddresses
    from deep_research.runs.named_addresses import NamedAddresses

HACKER_NEWS = ("hackernews", "hn")
"""What a server is called that stands in for the source `hackernews`."""
_MOST_PLACES = 3
"""Tools of one server that are searched."""
_MASK = "…"


class Server(Protocol):
    """Where tools are: a connection to an MCP server, or tools that a program handed in."""

    name: str

    async def open(self) -> tuple[OfferedTool, ...]:
        """Return the tools. Raises SourceError."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Return what a tool answers. Raises SourceError."""
        ...

    async def close(self) -> None:
        """Let go."""
        ...


class Outside(NamedTuple):
    """What a program brings along: `servers` by name (None: those of the settings in force), tools for Hacker News."""

    servers: Mapping[str, McpServer] | None = None
    hn_tools: Sequence[Any] = ()


NOTHING_BROUGHT = Outside()


class OutsideTools:
    """What the servers of a sitting offer: `tools` by the name a model calls them, `places` to search, `gaps`."""

    def __init__(
        self,
        tools: Mapping[str, "PaidTool"],
        places: Sequence[SearchPlace],
        gaps: Sequence[Gap],
        known: "NamedAddresses | None" = None,
    ) -> None:
        self._known = known
        self.tools = dict(tools)
        self.places = tuple(places)
        self.gaps = tuple(gaps)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return tuple(tool.spec for tool in self.tools.values())

    def share(self, addresses: "KnownAddresses") -> None:
        """Let what the tools name be opened by the way out to the web, and the other way round."""
        if self._known is not None:
            self._known.share(addresses)

    @property
    def replaced(self) -> frozenset[str]:
        """The sources that a server stands in for."""
        return frozenset(place.name for place in self.places if place.name == HACKER_NEWS[0])


def check_installed(settings: Settings) -> None:
    """Raise ConfigError when there are MCP servers and the SDK is not installed."""
    if settings.mcp_servers and find_spec("mcp") is None:
        message = "MCP servers need the package mcp: pip install 'deep-research[mcp]'."
        raise ConfigError(message, setting="mcp_servers", value=sorted(settings.mcp_servers))


@asynccontextmanager
async def open_tools(
    record: RunRecord, settings: Settings, outside: Outside, *, journal: Journal, library: Library
) -> AsyncIterator[OutsideTools]:
    """Give the tools of a run's servers, as the settings have them today, and of what a program brings along.

    A server that does not come up is a gap. At the end of the block every session is closed and every program that
    was started is gone. Raises ConfigError for settings and tools that cannot be used.
    """
    servers = outside.servers
    if servers is None:
        servers = load_settings().mcp_servers if record.mcp_servers else {}
    names = [name for name in record.mcp_servers if name in servers]
    gaps = [_gap(name, "it is not among the settings any more") for name in record.mcp_servers if name not in servers]
    if not names and not outside.hn_tools:
        yield OutsideTools({}, (), gaps)
        return
    from deep_research.runs.named_addresses import NamedAddresses  # noqa: PLC0415 - only with tools of others

    ready, unready = _servers({name: servers[name] for name in names}, settings)
    opened = [*ready, *_given(outside.hn_tools)]
    known = NamedAddresses(record.question, library)
    try:
        lists = await side_by_side(_listed(server, journal) for server in opened)
        listed, more = _chosen(opened, lists, servers)
        tools = _paid(listed, {server.name: server for server in opened}, journal, known)
        places = _places(tools, settings)
        yield OutsideTools({tool.name: tool for tool in tools}, places, [*gaps, *unready, *more], known)
    finally:
        await side_by_side(server.close() for server in opened)


class PaidTool:
    """A tool whose calls go through the journal, with what it answers as sources."""

    def __init__(
        self, spec: ToolSpec, server: Server, tool: OfferedTool, journal: Journal, known: "NamedAddresses"
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.server = server.name
        self.offered = tool
        self._server = server
        self._journal = journal
        self._known = known

    async def call(self, arguments: Mapping[str, Any]) -> SearchResult:
        """See `ports.OutsideTool.call`."""
        from deep_research.tools.results import Call, sources_in  # noqa: PLC0415 - only with a server

        await asyncio.to_thread(self._known.check, arguments)
        said = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        asked = json.dumps({"server": self.server, "tool": self.offered.name, "arguments": said}, ensure_ascii=False)

        async def make() -> str:
            return (await self._server.call(self.offered.name, arguments)).model_dump_json()

        text, _ = await self._journal.call("tool", asked, make)
        answer = ToolAnswer.model_validate_json(text)
        result = await asyncio.to_thread(sources_in, answer, Call(self.server, self.offered.name, said))
        self._known.learn(result, answer)
        return result

    async def read(self, found: Found) -> Document:
        """See `ports.OutsideTool.read`: what a tool brings it brings with its text."""
        raise NotFound(f"{self.server} knows only the address of {found.title!r}.", url=found.url)


class ToolPlace:
    """A tool that takes a search, as a place to search (`ports.SearchPlace`)."""

    def __init__(self, name: str, purpose: str, tool: PaidTool, argument: str) -> None:
        self.name = name
        self.purpose = purpose
        self._tool = tool
        self._argument = argument

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        """See `ports.SearchPlace.prepare`; the server has answered already."""
        del progress
        return []

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """See `ports.SearchPlace.search`."""
        result = await self._tool.call({self._argument: query})
        return result.model_copy(update={"found": result.found[:limit]})

    async def read(self, found: Found) -> Document:
        """See `ports.SearchPlace.read`."""
        return await self._tool.read(found)

    async def close(self) -> None:
        """See `ports.SearchPlace.close`; the session is the run's."""


def _servers(servers: Mapping[str, McpServer], settings: Settings) -> tuple[list[Server], list[Gap]]:
    """The connections, not yet open, and a gap for each server that lacks a variable."""
    if not servers:
        return [], []
    from deep_research.tools.connection import McpConnection  # noqa: PLC0415 - only with a server

    values = load_keys({name for server in servers.values() for name in server.variables})
    ready: list[Server] = []
    gaps: list[Gap] = []
    for name, server in servers.items():
        if missing := server.missing(values):
            gaps.append(_gap(name, f"it is not ready: {missing}"))
            continue
        hide = masking(server.secrets(values))
        ready.append(McpConnection(name, server.filled(values), proxy=settings.proxy, hide=hide))
    return ready, gaps


def masking(secrets: frozenset[str]) -> Callable[[str], str]:
    """Return what replaces these secrets in a text, the longest first."""
    ordered = sorted(secrets, key=len, reverse=True)

    def hide(text: str) -> str:
        for secret in ordered:
            text = text.replace(secret, _MASK)
        return text

    return hide


def _given(tools: Sequence[Any]) -> list[Server]:
    from deep_research.tools.langchain import GivenTools  # noqa: PLC0415 - only with such tools

    return [GivenTools(HACKER_NEWS[0], tools)] if tools else []


async def _listed(server: Server, journal: Journal) -> tuple[Sequence[OfferedTool], Gap | None]:
    """The tools of a server as the run's first sitting found them, and the gap of one that did not come up today."""
    gap: Gap | None = None
    failed: SourceError | None = None
    live: Sequence[OfferedTool] = ()
    try:
        live = await server.open()
    except SourceError as error:
        failed, gap = error, Gap(what=server.name, why=error.message, source=f"mcp:{server.name}")

    async def make() -> str:
        if failed is not None:
            raise failed
        return json.dumps([tool.model_dump() for tool in live])

    try:
        text, _ = await journal.call("mcp_tools", server.name, make)
    except SourceError:
        return (), gap
    return [OfferedTool.model_validate(tool) for tool in json.loads(text)], gap


def _chosen(
    servers: Sequence[Server],
    lists: Sequence[tuple[Sequence[OfferedTool], Gap | None]],
    settings: Mapping[str, McpServer],
) -> tuple[dict[str, Sequence[OfferedTool]], list[Gap]]:
    from deep_research.tools.offers import chosen  # noqa: PLC0415 - only with a server

    listed: dict[str, Sequence[OfferedTool]] = {}
    gaps: list[Gap] = []
    for server, (tools, gap) in zip(servers, lists, strict=True):
        kept, notes = chosen(tools, settings[server.name].tools if server.name in settings else ())
        listed[server.name] = kept
        gaps += [*([gap] if gap else []), *(_gap(server.name, note) for note in notes)]
    return listed, gaps


def _paid(
    listed: Mapping[str, Sequence[OfferedTool]],
    servers: Mapping[str, Server],
    journal: Journal,
    known: "NamedAddresses",
) -> list[PaidTool]:
    from deep_research.reasoners.model import conversation, supervising  # noqa: PLC0415 - only with a server
    from deep_research.tools.offers import offers  # noqa: PLC0415

    ours = {spec.name for spec in (*conversation.tools((), opens_addresses=True), *supervising.TOOLS)}
    by_name = {(server, tool.name): tool for server, tools in listed.items() for tool in tools}
    made = offers(listed, ours)
    return [PaidTool(o.spec, servers[o.server], by_name[o.server, o.tool], journal, known) for o in made]


def _places(tools: Sequence[PaidTool], settings: Settings) -> list[SearchPlace]:
    """The tools that take a search, as places; `hackernews` is what stands in for that source."""
    from deep_research.tools.offers import query_argument  # noqa: PLC0415 - only with a server

    named = str(settings.source_options.get(HACKER_NEWS[0], {}).get("mcp_server", ""))
    searched: dict[str, list[tuple[PaidTool, str]]] = {}
    for tool in tools:
        if (argument := query_argument(tool.spec.parameters)) and not tool.offered.changes:
            searched.setdefault(tool.server, []).append((tool, argument))
    news = next((name for name in (named, *HACKER_NEWS) if name in searched), "")
    places: list[SearchPlace] = []
    for server, rows in searched.items():
        for number, (tool, argument) in enumerate(rows[:_MOST_PLACES]):
            name = f"mcp:{server}" if len(rows) == 1 else f"mcp:{server}:{tool.offered.name}"
            if server == news and not number:
                name = HACKER_NEWS[0]
            places.append(ToolPlace(name, _purpose(name, tool), tool, argument))
    return places


def _purpose(name: str, tool: PaidTool) -> str:
    if name == HACKER_NEWS[0]:
        from deep_research.sources.hackernews import PURPOSE  # noqa: PLC0415 - only with that server

        return PURPOSE
    return f"What the tool {tool.name} of the server {tool.server} finds."


def _gap(name: str, why: str) -> Gap:
    return Gap(what=name, why=f"The MCP server {name!r}: {why}.", source=f"mcp:{name}")
