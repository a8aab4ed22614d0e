"""The wire to a model server: JSON posts, SSE and JSON lines over httpx."""

import asyncio
import json
import ssl
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from deep_research.address_credentials import basic_authorization, proxy_for
from deep_research.protocol.bounded_transport import AnswerLimits, bounded_transport

if TYPE_CHECKING:
    import httpx

    from deep_research.data import Usage

_BYTES_OF_A_TOKEN, _LEAST_OF_AN_ANSWER, _USUAL_TOKENS = 64, 2**20, 32_768
"""An answer may have so many bytes for each token asked for (the usual ones where no number is sent), and a megabyte."""
_FRAMES, _MOST_OF_ANY = 16, 64 * 2**20
"""A stream may be so many times as long, because around each token is an event of its own; none is longer than this."""
_SILENCES, _LEAST_SECONDS = 30, 600.0
"""An answer may take so many of the longest silences, and this long where they are short."""
_WORDLESS, _LEAST_WORDLESS = 2, 300.0
"""The same of a stream that sends comments alone, as gateways do while a model is waited for."""

_CONNECT_SECONDS = 10.0
_WRITE_SECONDS = 60.0
_LEAST_BYTES_PER_SECOND = 20
"""The slowest models send more, comments that keep a connection open send less."""


WHOLE: dict[str, Any] = {"whole": True}
"""See `HttpWire.stream`."""


class WireFailure(Exception):
    """An untranslated wire failure: an HTTP status with its body, or a `reason`.

    Reasons: `timeout`, `connection` (refused, reset, no such host), `cut` (broken off in the middle),
    `garbled` (no JSON), `address` (the base address or key cannot be sent). `usage` is what the answer that is thrown
    away has cost, where it said so.
    """

    def __init__(
        self, reason: str, *, status: int = 0, headers: Mapping[str, str] | None = None, body: Any = None
    ) -> None:
        super().__init__(f"{reason} {status or ''} {body if body is not None else ''}".strip()[:500])
        self.reason = reason
        self.status = status
        self.headers = headers or {}
        self.body = body
        self.usage: Usage | None = None


_tls = cache(ssl.create_default_context)


def load_httpx() -> Any:
    """Import and return httpx without its command line, which loads 70 more modules."""
    if "httpx" not in sys.modules:
        sys.modules.setdefault("httpx._main", cast("Any", None))
    return import_module("httpx")


class HttpWire:
    """A wire over one httpx client, made when it is first used."""

    def __init__(self, base_url: str, headers: Mapping[str, str], *, timeout_seconds: float, proxy: str = "") -> None:
        """Set the wire up; `timeout_seconds` is the longest silence, not answer.

        A server of this machine needs no `proxy`.
        """
        address, _, self._query = base_url.partition("?")  # Azure's addresses carry their api-version
        self.base_url = address.rstrip("/").removesuffix("/chat/completions").removesuffix("/v1/messages").rstrip("/")
        path = self.base_url.partition("://")[2].partition("/")[2]
        self.paths: tuple[str, ...] = ("",)
        if path in ("", "openai"):  # beginnings of paths to try: people leave the version out
            self.paths = ("", "/v1", *(("/openai/v1",) if not path else ()))
        self._headers = {"content-type": "application/json", **headers, **basic_authorization(self.base_url)}
        self._proxy = proxy_for(self.base_url, proxy)
        self._timeout = timeout_seconds
        self._client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def _open(self) -> "httpx.AsyncClient":
        """Return the client, made in a thread so as not to block the event loop."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make)
        return self._client

    def _make(self) -> "httpx.AsyncClient":
        httpx = load_httpx()
        silence = httpx.Timeout(self._timeout, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS, pool=None)
        # How many requests are in flight is decided by limits.py, not by the pool.
        pool = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        verify = _tls() if self.base_url.startswith("https:") else False
        limits = AnswerLimits(_MOST_OF_ANY, max(_LEAST_SECONDS, _SILENCES * self._timeout))
        transport = bounded_transport(httpx, limits, limits=pool, verify=verify, proxy=self._proxy, trust_env=False)
        return httpx.AsyncClient(headers=self._headers, timeout=silence, transport=transport)

    async def post(self, path: str, body: dict[str, Any], *, most: int = 0) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Return the JSON answer and its headers; raise WireFailure.

        The answer has `most` bytes at most, by default as many as `body` asks for.
        """
        received = bytearray()
        headers: Mapping[str, str] = {}
        async with aclosing(self._pieces(path, body, most or most_bytes(body))) as pieces:
            async for sent, piece in pieces:
                headers = sent
                received += piece
        data = _parsed(bytes(received))
        if not isinstance(data, dict):
            raise WireFailure("garbled", status=200, headers=headers, body=data)
        return data, headers

    async def stream(self, path: str, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Yield the JSON events of a stream, to be closed; raise WireFailure on failure.

        The stream is server-sent events, or lines of JSON.

        The end mark of OpenAI's streams is `{"done": "[DONE]"}`. `WHOLE` is the last of a stream that has come to its end
        as HTTP tells it; without a length and without chunks, a torn connection looks the same.
        """
        lines, last = Lines(most_bytes(body)), time.monotonic()
        headers: Mapping[str, str] = {}
        async with aclosing(self._pieces(path, body, _FRAMES * most_bytes(body))) as pieces:
            async for sent, piece in pieces:
                headers = sent
                for event in lines.feed(piece):
                    yield event
                    last = time.monotonic()
                if (seconds := time.monotonic() - last) > max(_LEAST_WORDLESS, _WORDLESS * self._timeout):
                    raise WireFailure("timeout", body=f"nothing but comments for {seconds:.0f} s")
        for event in lines.feed(b"\n\n"):
            yield event
        if "content-length" in headers or "chunked" in headers.get("transfer-encoding", "").lower():
            yield WHOLE

    async def _pieces(
        self, path: str, body: dict[str, Any], most: int
    ) -> AsyncGenerator[tuple[Mapping[str, str], bytes]]:
        """Yield a good answer's body, up to `most` bytes; every failure is a WireFailure."""
        client = await self._open()
        import httpx  # noqa: PLC0415

        started = False
        # Halves of signs, which broken pages contain, cannot be sent and become "?".
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        try:
            async with AsyncExitStack() as stack:
                # A server that sends its head byte by byte is as good as silent.
                async with asyncio.timeout(self._timeout + _CONNECT_SECONDS):
                    response = await self._begun(client, path, content, stack)
                headers = {name.lower(): value for name, value in response.headers.items()}
                if response.status_code >= 300:
                    async with asyncio.timeout(self._timeout):
                        raw = await response.aread()
                    raise WireFailure("", status=response.status_code, headers=headers, body=_parsed(raw))
                received, begun = 0, time.monotonic()
                async for piece in response.aiter_bytes():
                    started = True
                    received += len(piece)
                    check_length(received, most)
                    seconds = time.monotonic() - begun
                    if seconds > self._timeout and received < seconds * _LEAST_BYTES_PER_SECOND:  # it drips
                        raise WireFailure("timeout", body=f"{received} bytes in {seconds:.0f} s")
                    yield headers, piece
        except TimeoutError as error:
            raise WireFailure("timeout", body="a head or an error that does not end") from error
        except httpx.TimeoutException as error:
            raise WireFailure("timeout", body=type(error).__name__) from error
        except httpx.StreamError as error:  # too long, or damaged
            raise WireFailure("garbled", status=200, body=str(error)) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeEncodeError) as error:
            raise WireFailure("address", body=type(error).__name__) from error
        except httpx.HTTPError as error:
            raise WireFailure("cut" if started else "connection", body=str(error) or type(error).__name__) from error

    async def _begun(
        self, client: "httpx.AsyncClient", path: str, content: bytes, stack: AsyncExitStack
    ) -> "httpx.Response":
        """Send a request and return the answer's head; retry once on a closed connection.

        The server may have closed the idle connection.
        """
        import httpx  # noqa: PLC0415

        url = f"{self.base_url}{path}{'?' * bool(self._query)}{self._query}"
        try:
            return await stack.enter_async_context(client.stream("POST", url, content=content))
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
            return await stack.enter_async_context(client.stream("POST", url, content=content))

    async def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def most_bytes(body: Mapping[str, Any]) -> int:
    """Return the most bytes of an answer, by the tokens a request of any vendor asks."""
    asked = body.get("max_completion_tokens") or body.get("max_tokens") or body.get("options", {}).get("num_predict")
    return max(_LEAST_OF_AN_ANSWER, _BYTES_OF_A_TOKEN * (asked or _USUAL_TOKENS))


def check_length(length: int, most: int) -> None:
    """Raise WireFailure for an answer that is longer than `most`."""
    if length > most:
        raise WireFailure("garbled", status=200, body=f"an answer of more than {most:,} bytes")


@contextmanager
def in_form() -> Iterator[None]:
    """Turn errors from reading JSON of the wrong shape into WireFailure."""
    try:
        yield
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise WireFailure("garbled", status=200, body=f"{type(error).__name__}: {error}"[:200]) from error


def _parsed(raw: bytes) -> Any:
    """Return JSON, or the beginning of a text that is none."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw[:500].decode("utf-8", "replace")


class Lines:
    """A parser from a stream's bytes, however they are split, to its JSON events.

    Server-sent events (WHATWG HTML, 9.2) with comments, ids and data over several lines; or a JSON
    object on each line. Lines end at LF or CR LF only: U+2028 may stand inside a JSON string.
    """

    def __init__(self, most: int) -> None:
        """Begin before the first; no event has more than `most` bytes."""
        self._most, self._length, self._held = most, 0, 0
        self._rest: list[bytes] = []
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """Return the events complete now; raise WireFailure for one not JSON or too long."""
        self._length += len(piece)
        check_length(self._length, self._most)
        self._rest.append(piece)
        if b"\n" not in piece:  # pieces may be of one byte: what came before is not looked at for each
            return []
        *whole, rest = b"".join(self._rest).split(b"\n")
        self._rest = [rest]
        events: list[dict[str, Any]] = []
        for raw in whole:
            line = raw.removesuffix(b"\r").decode("utf-8", "replace")
            if line.startswith(("{", "data:")):
                events += self._data_events(line.removeprefix("data:").strip())
            elif not line and self._data:
                if not isinstance(event := _parsed("\n".join(self._data).encode()), dict):
                    raise WireFailure("garbled", status=200, body=event)
                events.append(event)
                self._data, self._held = [], 0
        self._length = len(rest) + self._held
        return events

    def _data_events(self, said: str) -> list[dict[str, Any]]:
        """Return the event of a line; hold a possible beginning until a blank line.

        Servers send comments, `null` and words in data as well: what begins no object says nothing of the answer.
        """
        if not self._data:
            if said == "[DONE]":
                return [{"done": said}]
            if not said.startswith("{"):
                return []
            with suppress(ValueError, RecursionError):
                return [json.loads(said)]
        self._data.append(said)
        self._held += len(said) + 1
        return []
