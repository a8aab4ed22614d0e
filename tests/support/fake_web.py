"""A web of one's own for tests: many sites, feeds and APIs on one real local HTTP server, faults included.

    with FakeWeb() as web:
        web.site("news.test").page("/", "<p>Hello</p>").redirect("/old", "/")
        web.site("api.test").on("/search", [status(429, **{"retry-after": "3"}), json_answer({"hits": []})])
        fetcher = Fetcher(Transport(Guard(), resolver=web.dns, dial=web.dial), KnownAddresses(["http://news.test/"]))

In the same process, sites are reached by their names through `web.dns` and `web.dial`. From another
process (a command under test) they are at `web.base("news.test")`, an address on 127.0.0.1.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

from tests.support.dns import FakeDial, FakeDns
from tests.support.web_answers import Handler, SeenRequest, WebAnswer, feed, page, redirect, status
from tests.support.web_wire import Wire, read_request


class FakeSite:
    """One host. Every method returns the site, so that calls can be chained."""

    def __init__(self, host: str) -> None:
        """`host` is the name it answers to."""
        self.host = host
        self._routes: dict[tuple[str, str], list[WebAnswer] | Handler] = {}

    def on(self, path: str, answers: "WebAnswer | Sequence[WebAnswer] | Handler", *, method: str = "GET") -> "FakeSite":
        """Answer `path` (without query): always the same, one after the other with the last for good, or by a function."""
        if isinstance(answers, WebAnswer):
            answers = [answers]
        self._routes[method, path] = answers if callable(answers) else list(answers)
        return self

    def page(self, path: str, body: str | bytes, content_type: str = "text/html; charset=utf-8") -> "FakeSite":
        """Put a page at `path`."""
        return self.on(path, page(body, content_type))

    def redirect(self, path: str, location: str, code: int = 302) -> "FakeSite":
        """Send `path` on to `location`."""
        return self.on(path, redirect(location, code))

    def robots(self, text: str) -> "FakeSite":
        """Put a robots.txt."""
        return self.page("/robots.txt", text, "text/plain")

    def feed(self, path: str, entries: Sequence[tuple[str, str]], title: str = "Feed") -> "FakeSite":
        """Put an RSS feed of (title, link) at `path`."""
        return self.on(path, feed(entries, title))

    def answer(self, request: SeenRequest) -> WebAnswer | None:
        """Return what `request` gets, or None where nothing was put."""
        route = self._routes.get((request.method, request.path))
        if route is None:
            return None
        if callable(route):
            return route(request)
        return route.pop(0) if len(route) > 1 else route[0]


class FakeWeb:
    """The server. `otherwise` is the answer where nothing was put (404); `requests` are all that came. It runs in a thread of its own, so it serves sync and async tests and other processes."""

    def __init__(self) -> None:
        self.dns = FakeDns()
        self.requests: list[SeenRequest] = []
        self.sent: dict[int, float] = {}
        """When the answer to each of `requests` was given to the wire, by the identity of the request."""
        self.most_at_once = 0
        self.otherwise = status(404)
        self._sites: dict[str, FakeSite] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-web", daemon=True)
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._open = 0
        self.port = 0
        self.dial = FakeDial(0)

    def __enter__(self) -> "FakeWeb":
        """Start the server on a free port of 127.0.0.1."""
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        self.dial = FakeDial(self.port)
        return self

    def __exit__(self, *error: object) -> None:
        """Stop it and drop open connections."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def site(self, host: str) -> FakeSite:
        """Return the site of that name, made when first asked for; it has no robots.txt and no pages yet."""
        return self._sites.setdefault(host, FakeSite(host))

    def base(self, host: str) -> str:
        """Return the address of a site for programs that look names up in earnest: on 127.0.0.1, no trailing slash."""
        return f"http://127.0.0.1:{self.port}/@{host}"

    def count(self, host: str, path: str) -> int:
        """Return how often `path` (without query) of `host` was asked for."""
        return sum(1 for request in self.requests if (request.host, request.path) == (host, path))

    def _nothing(self, request: SeenRequest) -> WebAnswer:
        return status(404) if request.path == "/robots.txt" else self.otherwise

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0)

    async def _stop(self) -> None:
        # A connection that asyncio is just accepting is lost, and never closed, when its server closes now.
        await asyncio.sleep(0.01)
        self._server.close()
        for task, writer in list(self._connections.items()):
            task.cancel()
            writer.transport.abort()
        if self._connections:
            await asyncio.wait(self._connections)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._talk(Wire(reader, writer)))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    async def _talk(self, wire: Wire) -> None:
        try:
            while await self._serve(wire):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client went away
        finally:
            wire.end()

    async def _serve(self, wire: Wire) -> bool:
        """Answer one request; False when the connection ends."""
        request = await read_request(wire)
        if request is None:
            return False
        host, target = _site_of(request.host, request.target)
        request = replace(request, host=host, target=target)
        self.requests.append(request)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        try:
            site = self._sites.get(host)
            goes_on = await wire.send((site.answer(request) if site else None) or self._nothing(request))
            self.sent[id(request)] = time.monotonic()
            return goes_on
        finally:
            self._open -= 1


def _site_of(host: str, target: str) -> tuple[str, str]:
    """Return site and path: the Host header's, or those of `/@site/path` on the bare server."""
    if target.startswith("/@"):
        name, slash, rest = target[2:].partition("/")
        return name, f"{slash}{rest}" or "/"
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host, target
