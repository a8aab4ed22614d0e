"""Open pages: allowed, guarded, rate-limited, bounded, once per run, or archived.

A host's robots.txt (RFC 9309) is fetched once in a run, and obeyed.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from math import inf
from urllib.parse import quote

from protego import Protego

from deep_research.concurrency import SYSTEM_CLOCK, Clock, Flights, in_background, keep_soon, noting_answers
from deep_research.errors import Blocked, NotFound, RateLimited, ResearchError, SourceError, Unreachable, Unreadable
from deep_research.fetch.addresses import Address, KnownAddresses, join_address, parse_address, refuse
from deep_research.fetch.fetch_policies import MAX_REDIRECTS, FetchLimits, HostPace, with_retries
from deep_research.fetch.fetched_page import Page, links_of
from deep_research.fetch.http_cache import AnswerStore, Stored, may_be_kept, refreshed
from deep_research.fetch.transport import PRODUCT, Answer, Transport
from deep_research.protocol.http_semantics import error_kind, requested_wait, status_meaning
from deep_research.protocol.media_type import charset_of, media_type_of
from deep_research.reading_child import limits_of
from deep_research.worker_pool import call_in_worker, in_worker_thread

MOST_LINKS = 15  # of a page that who opens it is shown
ROBOTS_BYTES = 524_288  # what is parsed of a robots.txt at least and at most (RFC 9309, 2.5: 500 KiB)
_AGENT = re.compile(r"^[ \t]*user(?:-| ?)agent[ \t:][ \t:]*([^\s/#]*)[^\n\r]*", re.IGNORECASE | re.MULTILINE)
MAX_CRAWL_DELAY = 10.0  # seconds that are obeyed; more would stop a run for one host
_COPY = re.compile(r"(/web/\d{4,14})(?:[a-z]{2}_)?/")
_REASONS = {
    401: "it asks for a login",
    402: "it asks for payment",
    403: "it refuses this program",
    404: "the page does not exist",
    410: "the page is gone for good",
    429: "it asks to wait",
    451: "it is withheld for legal reasons",
    503: "it is overloaded or under maintenance",
}
_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,application/xml;q=0.8,text/plain;q=0.8,*/*;q=0.5"


def parse_robots(body: bytes) -> Protego:
    """Return the rules of a robots.txt, ignoring versions of agents. Never fails.

    All other programs are one: Protego keeps each rule once for every program that its group names.
    """
    return Protego.parse(_AGENT.sub(_own_or_other, body[:ROBOTS_BYTES].decode("utf-8-sig", "replace")))


def _own_or_other(line: re.Match[str]) -> str:
    name = line[1].lower().rstrip("*") or line[1]
    return f"User-agent: {name if name in ('*', PRODUCT) else 'another'}"


ALLOW_ALL = parse_robots(b"")


class RobotsGate:
    """Checks pages against the robots.txt of their hosts."""

    def __init__(self, ask: Callable[[Address], Awaitable[Stored]], pace: HostPace) -> None:
        self._ask, self._pace = ask, pace
        self._rules: dict[str, Protego] = {}
        self._flights: Flights[Protego] = Flights()

    async def check(self, address: Address) -> None:
        """Raise Blocked for a forbidden page, Unreachable for unread rules (RFC 9309)."""
        if (rules := self._rules.get(address.origin)) is None:
            rules = await self._flights.run(address.origin, lambda: self._load(address))
            self._rules[address.origin] = rules
            if delay := rules.crawl_delay(PRODUCT):
                self._pace.slow_down(address.authority, min(delay, MAX_CRAWL_DELAY))
        # Off the loop, and cut: each rule is looked for in all of an address.
        if not await asyncio.to_thread(rules.can_fetch, address.url[:2_000], PRODUCT):
            refuse(address.url, "robots", "the host's robots.txt asks programs not to")

    async def _load(self, address: Address) -> Protego:
        at = Address(address.scheme, address.host, address.port, "/robots.txt")
        moved = False
        try:
            for _ in range(MAX_REDIRECTS + 1):
                answer = (await self._ask(at)).answer
                if not answer.is_redirect:
                    return await asyncio.to_thread(parse_robots, answer.body)
                moved = True
                at = join_address(at, answer.headers["location"])
        except (Unreachable, RateLimited) as error:
            if error.reason == "tls" and not moved:
                raise replace(error, url=address.url) from error
            message = f"{address.url} is not opened: its host's robots.txt could not be read ({error.message})"
            raise replace(error, message=message, url=address.url, reason="robots") from error
        except SourceError as error:
            # Where the guard refuses the host itself, it refuses the page; where rules moved to, only the rules.
            if isinstance(error, Blocked) and error.reason and not moved:
                raise
        return ALLOW_ALL  # 4xx, no text, redirects without end or to where nobody may go


def archive_copy_address(body: bytes, address: Address) -> Address:
    """Return the copy's address. Raises NotFound for none, Unreadable if not JSON."""
    try:
        closest = json.loads(body)["archived_snapshots"].get("closest") or {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"The archive's answer about {address.url} cannot be read."
        raise Unreadable(message, url=address.url) from error
    url = closest.get("url") if isinstance(closest, dict) and closest.get("available") else None
    if not isinstance(url, str) or not str(closest.get("status", "200")).startswith("2"):
        raise NotFound(f"There is no archived copy of {address.url}.", url=address.url)
    url = re.sub(r"^http://web\.archive\.org", "https://web.archive.org", url)
    return parse_address(_COPY.sub(r"\1id_/", url, count=1))


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """What of fetching the user may set."""

    limits: FetchLimits = field(default_factory=FetchLimits)
    obey_robots: bool = True
    run_began: float = inf  # seconds since 1970: what the cache was given since then is not asked for again


@dataclass(eq=False)
class Fetcher:
    """The pages of one run; a failed page counts as answered, and is not retried.

    `known` is the run's own; transport, pace and cache are a process's.
    """

    transport: Transport
    known: KnownAddresses
    options: FetchOptions = field(default_factory=FetchOptions)
    pace: HostPace = field(default_factory=HostPace)
    cache: AnswerStore | None = None
    clock: Clock = SYSTEM_CLOCK

    def __post_init__(self) -> None:
        """Begin with no page asked for."""
        self._run = AnswerStore()
        self._failures: dict[str, SourceError] = {}
        self._links: dict[str, Mapping[str, str]] = {}
        self._flights: Flights[Stored] = Flights()
        self._robots = RobotsGate(self._once, self.pace)

    async def fetch(self, url: str) -> Page:
        """Return the page at `url`, following redirects; its links may then be opened.

        Raises Blocked (the guard, robots.txt, an address nobody named, 401, 403), NotFound (404, 410, no such host),
        RateLimited (429 and waiting too long), Unreadable (size, damage) or Unreachable (no answer in time, too slow, too
        many redirects), with url, rule or status.
        """
        address = parse_address(url)
        self.known.check(address)
        try:
            page = await self._follow(address, robots=self.options.obey_robots)
        except SourceError as error:
            if error.reason not in ("size", "tls"):
                raise
            remedy = f"To have {address.url} read, download it and name it with --docs."
            raise replace(error, message=f"{error.message} {remedy}") from error
        await in_background(self.learn, url, page.final_url, await in_worker_thread(_linked, page))
        return page

    def learn(self, url: str, final_url: str, links: Mapping[str, str]) -> None:
        """Register a page's links; call it off the event loop, as it may take seconds."""
        self.known.add(final_url)
        self.known.add_linked(*links)
        told = ((link, words) for link, words in links.items() if words and link != final_url and self._opens(link))
        self._links[url] = self._links[final_url] = dict(islice(told, MOST_LINKS))

    def links(self, url: str) -> Mapping[str, str]:
        """Return the first openable links in a page of this run: link words by address."""
        return self._links.get(url, {})

    def _opens(self, url: str) -> bool:
        with suppress(Blocked):
            self.transport.check(parse_address(url))
            return url in self.known
        return False

    async def archived(self, url: str) -> Page:
        """Return a dead page's copy (Wayback Machine); raise NotFound, else as `fetch`."""
        address = parse_address(url)
        self.known.check(address)
        query = parse_address(f"https://archive.org/wayback/available?url={quote(address.url, safe='')}")
        # The archive is asked on purpose, as a source is: its robots.txt is about crawling it.
        answer = await self._follow(query, robots=False)
        copy = archive_copy_address(answer.body, address)
        page = await self._follow(copy, robots=False)
        return replace(page, url=address.url, archived_url=address.url)

    async def close(self) -> None:
        await asyncio.to_thread(self._run.close)

    async def _follow(self, address: Address, *, robots: bool) -> Page:
        asked, seen = address, {address.url}
        how = f"more than {MAX_REDIRECTS} times"
        for _ in range(MAX_REDIRECTS + 1):
            self.transport.check(address)
            if robots:
                await self._robots.check(address)
            stored = await self._once(address)
            if not stored.answer.is_redirect:
                return await asyncio.to_thread(_page, asked, stored)
            address = join_address(address, stored.answer.headers["location"])
            if address.url in seen:
                how = f"in a circle (over {address.url})"
                break
            seen.add(address.url)
        raise Unreachable(f"{asked.url} redirects {how}.", url=asked.url, reason="redirects")

    async def _once(self, address: Address) -> Stored:
        return await self._flights.run(address.url, lambda: self._remembered(address))

    async def _remembered(self, address: Address) -> Stored:
        if failure := self._failures.get(address.url):
            raise replace(failure) from failure
        if stored := await asyncio.to_thread(self._run.get, address.url, now=self._now()):
            return stored
        try:
            stored = await self._cached(address)
        except SourceError as error:
            # Who asked us to wait may be asked again: its own waiting time stands guard before it.
            if not isinstance(error, RateLimited):
                self._failures[address.url] = error
            raise
        await asyncio.to_thread(self._run.put, stored.answer, at=stored.at)
        return stored

    async def _cached(self, address: Address) -> Stored:
        kept = await asyncio.to_thread(self.cache.get, address.url, now=self._now()) if self.cache else None
        if kept and (kept.is_fresh(self._now()) or kept.at >= self.options.run_began):
            return kept
        keeping: list[Future[bool]] = []
        with noting_answers(Answer, lambda answer: keeping.extend(self._keep(answer))):
            answer = await self._ask(address, kept.validators if kept else {})
        if kept and answer.status == 304:
            answer = replace(kept.answer, headers={**kept.answer.headers, **refreshed(answer.headers)})
            keeping.extend(self._keep(answer))
        for one in keeping:
            await asyncio.shield(asyncio.wrap_future(one))
        return Stored(answer, self._now())

    def _keep(self, answer: Answer) -> "Iterator[Future[bool]]":
        """Store an answer in this thread; where another process writes, in a new one."""
        if self.cache and may_be_kept(answer) and not self.cache.put(answer, at=self._now(), patience=0.1):
            yield keep_soon(partial(self.cache.put, answer, at=self._now()))

    async def _ask(self, address: Address, validators: Mapping[str, str]) -> Answer:
        limits, rules = self.options.limits, address.target == "/robots.txt"
        limits = replace(limits, max_bytes=ROBOTS_BYTES) if rules else limits

        async def attempt() -> Answer:
            headers = {"Accept": _ACCEPT, **validators}
            async with self.pace.turn(address.authority):
                answer = await self.transport.send(address, headers=headers, limits=limits, cut=rules)
            if error := _error_of(answer, self._now(), conditional=bool(validators)):
                raise error
            return answer

        return await with_retries(attempt, self.clock, partial(self.pace.hold, address.authority))

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _linked(page: Page) -> dict[str, str]:
    """Return a page's link addresses, read in a worker; none if the page crashes it."""
    with suppress(ResearchError):
        return call_in_worker(links_of, page, returns=dict[str, str], limits=limits_of(len(page.body), "html"))
    return {}


def _error_of(answer: Answer, now: float, *, conditional: bool) -> SourceError | None:
    """Return the error an answer stands for; None for a page, a redirect or a 304."""
    status, url = answer.status, answer.address.url
    if status in (200, 203) or answer.is_redirect or (conditional and status == 304):
        return None
    meaning = status_meaning(status, answer.headers)
    wait = requested_wait(answer.headers, now) if meaning == "wait" else None
    message = f"{url}: {_REASONS.get(status, 'no page came back')} (HTTP {status})."
    return error_kind(meaning, refused=Blocked)(message, url=url, status=status, retry_after=wait)


def _page(asked: Address, stored: Stored) -> Page:
    answer = stored.answer
    said = answer.headers.get("content-type", "")
    return Page(
        url=asked.url,
        final_url=answer.address.url,
        status=answer.status,
        media_type=media_type_of(answer.body, said),
        charset=charset_of(answer.body, said),
        body=answer.body,
        retrieved_at=datetime.fromtimestamp(stored.at, UTC).isoformat(timespec="seconds"),
    )
