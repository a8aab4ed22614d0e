"""The way out of one process: built once from settings, shared by its runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deep_research.concurrency import SYSTEM_CLOCK, Clock, Rate
from deep_research.fetch.address_guard import Guard
from deep_research.fetch.addresses import KnownAddresses, parse_address
from deep_research.fetch.fetch_policies import paces_of
from deep_research.fetch.guarded_network import Dial, Resolver, system_dial, system_resolve
from deep_research.fetch.http_cache import AnswerStore
from deep_research.fetch.page_fetcher import Fetcher, FetchOptions
from deep_research.fetch.transport import Transport, user_agent
from deep_research.fetch.web_api import API_LIMITS, WebApiClient
from deep_research.ports import SharedLimits


@dataclass(frozen=True, slots=True)
class WebOptions:
    """What the user may set about the way out.

    `base_addresses` are those of the settings of sources: their hosts may be internal, for API calls only. `api_rates`
    are by host (with its port where one is written). `cache` is the file of the page cache. `silence_seconds` is how long
    an API may stay silent (pages: `fetch.limits`). `shared` are the limits that hold for other processes too.
    """

    contact: str = ""
    allowed_internal_hosts: tuple[str, ...] = ()
    base_addresses: tuple[str, ...] = ()
    proxy: str = ""
    cache: Path | None = None
    api_rates: tuple[tuple[str, Rate], ...] = ()
    silence_seconds: float = API_LIMITS.read_seconds
    fetch: FetchOptions = field(default_factory=FetchOptions)
    shared: SharedLimits | None = None


class Web:
    """Pages and APIs over separate connections; no page can reach API addresses."""

    def __init__(
        self,
        options: WebOptions | None = None,
        *,
        resolver: Resolver = system_resolve,
        dial: Dial = system_dial,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Open the cache, no connections yet. Raises ConfigError and StoreError."""
        self._options = options = options or WebOptions()
        self._clock = clock
        agent = user_agent(options.contact)

        def transport(allowed: Sequence[str]) -> Transport:
            guard, proxy = Guard(allowed), options.proxy
            return Transport(guard, resolver=resolver, dial=dial, clock=clock, proxy=proxy, agent=agent)

        self.pages = transport(options.allowed_internal_hosts)
        opened = [_opened(base) for base in options.base_addresses]
        self._pace, pace_of_apis = paces_of(dial, clock, options.shared)
        limits = API_LIMITS.within(options.silence_seconds)
        apis = transport((*options.allowed_internal_hosts, *opened))
        rates = dict(options.api_rates)
        self.api = WebApiClient(apis, pace_of_apis, rates, limits, clock)
        self._cache = AnswerStore(options.cache) if options.cache is not None else None

    def fetcher(self, known: KnownAddresses) -> Fetcher:
        """Return the fetcher of one run, which may open what `known` holds."""
        options, clock = self._options.fetch, self._clock
        return Fetcher(self.pages, known, options=options, pace=self._pace, cache=self._cache, clock=clock)

    async def close(self) -> None:
        await self.pages.close()
        await self.api.close()
        if self._cache is not None:
            self._cache.close()


def _opened(base: str) -> str:
    address = parse_address(base)
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"
