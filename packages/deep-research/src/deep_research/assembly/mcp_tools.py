"""A run's MCP tools: connected in parallel, offered to models, searched by all."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from deep_research.assembly.environment import Job, OpenTools, RunEnvironment
from deep_research.assembly.giving_up import GivingUp
from deep_research.assembly.mcp_listing import connection_to, variables_of
from deep_research.assembly.own_objects import OwnObjects
from deep_research.concurrency import in_background, side_by_side
from deep_research.data import Document, Found, Gap, SearchResult, ToolSpec
from deep_research.data.outside_tools import OfferedTool, ToolAnswer
from deep_research.errors import Blocked, NotFound, SourceError, Unreadable, WorkTooLarge
from deep_research.fetch.addresses import KnownAddresses, named_in_page, urls_in
from deep_research.fetch.fetched_page import MAX_LINKS
from deep_research.mcp.tool_answers import strings_in
from deep_research.mcp.tool_offers import chosen, offers, query_argument
from deep_research.mcp.tool_results import Call, sources_in
from deep_research.ports import Journal, Library, SearchPlace
from deep_research.reading_child import limits_of
from deep_research.settings import Settings, load_settings
from deep_research.worker_pool import call_in_worker, in_worker_thread

if TYPE_CHECKING:
    from deep_research.mcp.langchain_tools import GivenTools
    from deep_research.mcp.mcp_connection import McpConnection

    Server = McpConnection | GivenTools
    """Where tools are: a connection to an MCP server, or tools that a program handed in."""

_ADDRESS_ARGUMENTS = ("url", "uri", "link", "href", "website", "site", "domain", "host", "hostname", "endpoint")
_ADDRESS_SIGN = re.compile(r"[.:/\\%\u3002\uff0e\uff61]")
_BEGINS_LIKE_ADDRESS = re.compile(r"https?:|[a-z][a-z\d+.-]+:[/\\]|[/\\]{2}|www\.", re.IGNORECASE)


class NamedAddresses:
    """Addresses named by the question, the library and tool answers; thread-safe."""

    def __init__(self, question: str, library: Library) -> None:
        self._known = [KnownAddresses(urls_in(question) if "http" in question.lower() else ())]
        self._library = library
        self._looked: set[str] = set()
        self._lock = threading.Lock()

    def share(self, addresses: KnownAddresses) -> None:
        """Share addresses with `addresses`, in both directions."""
        self._known.append(addresses)

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise Blocked for an argument's web address named by no user, source or page."""
        wanted = [url for name, value in arguments.items() for url in _addresses(name, value)]
        if unknown := [url for url in wanted if not self._is_known(url)]:
            self._look()
            if unknown := [url for url in unknown if not self._is_known(url)]:
                message = f"Nobody has named the address {unknown[0][:200]!r}: no user, no source and no page."
                raise Blocked(message, url=unknown[0])

    def learn(self, read: "_Read") -> None:
        for known in self._known:
            known.add(*read.given)
            known.add_linked(*read.named)

    def _is_known(self, url: str) -> bool:
        return any(url in known for known in self._known)

    def _look(self) -> None:
        """Take in what the run's other sources name; each is looked at once."""
        with self._lock:
            for source in self._library.sources():
                if source.id not in self._looked and (kept := self._library.snapshot(source.id)) is not None:
                    self._looked.add(source.id)
                    self._known[0].add_page_text(kept.text)
                self._known[0].add(source.url)


class _Read(NamedTuple):
    result: SearchResult
    given: tuple[str, ...]
    named: tuple[str, ...]


def read_answer(answer: ToolAnswer, server: str, tool: str, arguments: str) -> _Read:
    """Return the sources and addresses in a tool's hostile answer; for a worker."""
    result = sources_in(answer, Call(server, tool, arguments))
    texts = [*(part.text for part in answer.parts), *strings_in(answer.structured)]
    named = dict.fromkeys(url for text in texts for url in named_in_page(text))
    given = (*(found.url for found in result.found), *(part.url for part in answer.parts))
    return _Read(result, given, tuple(islice(named, MAX_LINKS)))


def _addresses(name: str, value: Any) -> Iterator[str]:
    """Yield the web addresses in an argument, read as leniently as a client would.

    Tabs and line ends are ignored. Where the argument's name stands for an address, or its value begins like one,
    the whole value counts.
    """
    if isinstance(value, Mapping):
        for inner, part in value.items():
            yield from _addresses(str(inner), part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _addresses(name, part)
    elif isinstance(value, str):
        text = re.sub(r"[\t\r\n]", "", value).strip()
        last = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)[-1:] or [name]
        is_address = last[0].lower().removesuffix("s") in _ADDRESS_ARGUMENTS and _ADDRESS_SIGN.search(text)
        if is_address or _BEGINS_LIKE_ADDRESS.match(text):
            whole = text if is_address else text.split(maxsplit=1)[0]
            yield whole if "://" in whole[:12] else f"https://{whole}"
        yield from urls_in(text)


HACKER_NEWS = ("hackernews", "hn")  # names of a server that replaces the source `hackernews`
_PROGRAM = "program"  # the origin of tools that a program hands in
_MOST_PLACES = 3  # tools of one server that are searched


@asynccontextmanager
async def open_tools(
    job: Job, environment: RunEnvironment, *, journal: Journal, library: Library
) -> AsyncIterator[OpenTools]:
    """Yield the tools of a run's servers by today's settings, and the program's own.

    A server that does not come up is a gap. At the end of the block every session is closed and every program that
    was started is gone. Raises ConfigError for settings and tools that cannot be used.
    """
    from deep_research.reasoners.model import conversation  # noqa: PLC0415 - only with tools

    wanted = job.record.mcp_servers if environment.places is None else ()
    servers = environment.mcp_servers
    if servers is None:
        servers = load_settings().mcp_servers if wanted else {}
    values = variables_of({name: servers[name] for name in wanted if name in servers})
    opened, gaps = list["Server"](), list[Gap]()
    for name in wanted:
        if name not in servers:
            gaps.append(_gap(name, "it is not among the settings any more"))
        elif why := servers[name].missing(values):
            gaps.append(_gap(name, f"it is not ready: {why}"))
        else:
            opened.append(connection_to(name, servers[name], values, job.settings))
    opened += _given(environment.own)
    known = NamedAddresses(job.question, library)
    try:
        named = {name: server.tools for name, server in servers.items()}
        rows = await side_by_side(_listed(server, journal, named.get(server.name, ())) for server in opened)
        gaps += [gap for _, of_server in rows for gap in of_server]
        listed = {server.name: offered for server, (offered, _) in zip(opened, rows, strict=True)}
        by_name = {(server.name, tool.name): (server, tool) for server in opened for tool in listed[server.name]}
        ours = (*conversation.research_tools((), opens_addresses=True), *conversation.supervisor_tools())
        made = offers(listed, {spec.name for spec in ours})
        tools = [PaidTool(o.spec, *by_name[o.server, o.tool], journal, known) for o in made]
        places = _places(tools, job.settings)
        yield OpenTools(
            tools={tool.name: tool for tool in tools},
            places=tuple(places),
            gaps=tuple(gaps),
            replaced=frozenset(place.name for place in places if place.name == HACKER_NEWS[0]),
            share=known.share,
        )
    finally:
        await side_by_side(server.close() for server in opened)


class PaidTool:
    """A tool whose calls go through the journal, with what it answers as sources."""

    def __init__(
        self, spec: ToolSpec, server: "Server", tool: OfferedTool, journal: Journal, known: "NamedAddresses"
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.server = server.name
        self.offered = tool
        self._server = server
        self._journal = journal
        self._known = known
        self._giving_up = GivingUp()

    async def call(self, arguments: Mapping[str, Any]) -> SearchResult:
        await asyncio.to_thread(self._known.check, arguments)
        return await self._giving_up.ask(lambda: self._call(arguments))

    async def _call(self, arguments: Mapping[str, Any]) -> SearchResult:
        said = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        asked = json.dumps({"server": self.server, "tool": self.offered.name, "arguments": said}, ensure_ascii=False)

        async def make() -> str:
            return (await self._server.call(self.offered.name, arguments)).model_dump_json()

        text, _ = await self._journal.call("tool", asked, make)
        answer = ToolAnswer.model_validate_json(text)
        about, limits = (self.server, self.offered.name, said), limits_of(len(text))
        try:
            read = await in_worker_thread(call_in_worker, read_answer, answer, *about, returns=_Read, limits=limits)
        except WorkTooLarge as error:
            raise Unreadable(f"What it answered was not read: {error.message}.", source=self.server) from error
        await in_background(self._known.learn, read)
        return read.result

    async def read(self, found: Found) -> Document:
        """See `ports.OutsideTool.read`: what a tool brings it brings with its text."""
        raise NotFound(f"{self.server} knows only the address of {found.title!r}.", url=found.url)


class ToolPlace(SearchPlace):
    """A tool that takes a search, as a place to search (`ports.SearchPlace`)."""

    def __init__(self, name: str, purpose: str, tool: PaidTool, argument: str) -> None:
        self.name, self.purpose, self._tool, self._argument = name, purpose, tool, argument

    async def search(self, query: str, *, limit: int) -> SearchResult:
        result = await self._tool.call({self._argument: query})
        return result.model_copy(update={"found": result.found[:limit]})

    async def read(self, found: Found) -> Document:
        return await self._tool.read(found)


def _given(own: OwnObjects) -> "list[Server]":
    from deep_research.mcp.langchain_tools import GivenTools  # noqa: PLC0415 - only with such tools

    named = {HACKER_NEWS[0]: ("hn_mcp_tools", own.hn_tools), _PROGRAM: ("tools", own.tools)}
    return [GivenTools(name, tools, argument=argument) for name, (argument, tools) in named.items() if tools]


async def _listed(server: "Server", journal: Journal, wanted: Sequence[str]) -> tuple[Sequence[OfferedTool], list[Gap]]:
    """Return a server's chosen tools as of the run's start, and gaps for absent ones."""
    gaps: list[Gap] = []
    failed: SourceError | None = None
    live: Sequence[OfferedTool] = ()
    try:
        live = await server.open()
    except SourceError as error:
        failed = error
        gaps.append(Gap(what=server.name, why=error.message, source=f"mcp:{server.name}"))

    async def make() -> str:
        if failed is not None:
            raise failed
        return json.dumps([tool.model_dump() for tool in live])

    try:
        text, _ = await journal.call("mcp_tools", server.name, make)
    except SourceError:
        text = "[]"
    kept, notes = chosen([OfferedTool.model_validate(tool) for tool in json.loads(text)], wanted)
    return kept, [*gaps, *(_gap(server.name, note) for note in notes)]


def _places(tools: Sequence[PaidTool], settings: Settings) -> list[SearchPlace]:
    """Return the query tools as search places; one may replace `hackernews`."""
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
        from deep_research.sources.hackernews import HackerNewsSource  # noqa: PLC0415 - only with that server

        return HackerNewsSource.purpose
    return f"What the tool {tool.name} of the server {tool.server} finds."


def _gap(name: str, why: str) -> Gap:
    return Gap(what=name, why=f"The MCP server {name!r}: {why}.", source=f"mcp:{name}")
