"""Where a server listens, and connections of strangers within bounds.

The port is open before its address is shown, so that what is shown can be reached. A head has a deadline, and who waits
longest makes room for who comes: uvicorn waits for a head without end. A thousand half heads would take all the files
that a process may open, and with them every answer; here they end by themselves, and give way before.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from deep_research.errors import ConfigError

HEAD_SECONDS = 10.0
"""From the beginning of a connection, or the end of an answer, to the last line of the next head."""
STALLED_SECONDS = 30.0
"""Longest that a client takes nothing of an answer that waits for it."""
_AT_ONCE = 100
"""Connections taken in one go; what waits beyond them waits in the system's queue."""
_EVENTS_AT_ONCE = 64
"""Parts of requests of one connection that are handled before others have their turn."""
_MOST_LINES = 200
"""Lines of a head or trailer; h11 takes 30 ms for 15,000."""
_MOST = 1_000
_OF_THE_FILES = 3
"""One in so many of the files that the process may open is a connection; runs need the others."""


def _most_connections() -> int:
    """Return how many connections a server of this process holds at a time."""
    if sys.platform == "win32":
        return _MOST
    import resource  # noqa: PLC0415 - not on Windows

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if files == resource.RLIM_INFINITY else max(10, min(_MOST, files // _OF_THE_FILES))


class _ShortHeads(ReceiveBuffer):
    """The unread bytes of a connection; a head or trailer of many lines is refused."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """See ReceiveBuffer. Raises h11.RemoteProtocolError."""
        lines = super().maybe_extract_lines()
        if lines is not None and len(lines) > _MOST_LINES:
            raise h11.RemoteProtocolError("too many headers", error_status_hint=431)
        return lines


class _PacedParser(h11.Connection):
    """h11's parser limited to `left` events; a one-byte chunk is an event as well."""

    left = 0

    def __init__(self) -> None:
        super().__init__(h11.SERVER)
        self._receive_buffer = _ShortHeads()

    def next_event(self) -> Any:
        """See h11.Connection."""
        if not self.left:
            return h11.NEED_DATA
        self.left -= 1
        return super().next_event()


class _HeldBack(FlowControl):
    """Flow control that reads nothing more while whole requests wait to be handled."""

    def __init__(self, transport: asyncio.Transport, parser: h11.Connection) -> None:
        super().__init__(transport)
        self._parser = parser

    def resume_reading(self) -> None:
        """See FlowControl."""
        if not (self._parser.their_state is h11.DONE and self._parser.trailing_data[0]):
            super().resume_reading()


class BoundedConnection(H11Protocol):
    """uvicorn's HTTP/1.1 connection with deadlines for request heads and for writing.

    Each new one beyond `limit_concurrency` ends the one that has waited longest for its head, answer or body.
    """

    _waits_since = 0.0

    def __init__(self, config: uvicorn.Config, *given: Any, **named: Any) -> None:
        """See H11Protocol."""
        super().__init__(config, *given, **named)
        self.conn: _PacedParser = _PacedParser()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """See asyncio.Protocol."""
        self._timers: dict[str, asyncio.TimerHandle] = {}
        """What ends it: a `head` that does not come, a `stall` of who takes nothing."""
        self._make_room()
        super().connection_made(transport)
        self.flow = _HeldBack(transport, self.conn)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._disarm("head")
        self._disarm("stall")
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """See asyncio.Protocol: the client does not take what is written."""
        super().pause_writing()
        self._arm("stall", STALLED_SECONDS)

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        self._disarm("stall")
        super().resume_writing()
        self._go_on()

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with 400, and drop the application's response and log."""
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # the request has its answer, or a part of it
            self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def handle_events(self) -> None:
        """Handle received data a part at a time; a complete head ends its deadline."""
        if self.flow.write_paused and self._is_idle:
            self.flow.pause_reading()
            return
        self.conn.left = _EVENTS_AT_ONCE
        super().handle_events()
        if not self._is_idle:
            self._disarm("head")
        if not self.conn.left:
            self.flow.pause_reading()
            self.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self.handle_events()

    def on_response_complete(self) -> None:
        """Handle the end of an answer: the next head is waited for, unless it is there."""
        super().on_response_complete()
        if self._is_idle:
            self._await_head()
            if not self.flow.write_paused:
                self.flow.resume_reading()  # for the rest of a head

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        self._waits_since = self.loop.time()
        self._arm("head", HEAD_SECONDS)

    def _arm(self, name: str, seconds: float) -> None:
        self._disarm(name)
        self._timers[name] = self.loop.call_later(seconds, self._end)

    def _disarm(self, name: str) -> None:
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()

    def _end(self) -> None:
        # It counts as gone at once: the loop tells of the loss later.
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        if self.limit_concurrency is None or len(self.connections) < self.limit_concurrency - 1:
            return
        there = [one for one in self.connections if isinstance(one, BoundedConnection)]
        waiting = [one for one in there if one._is_idle or "stall" in one._timers]
        # No one that is left is idle: one whose body is still coming, and that nothing is answered yet.
        waiting = waiting or [one for one in there if one.cycle.more_body and not one.cycle.response_started]
        if waiting:
            min(waiting, key=lambda one: one._waits_since)._end()


def run_app(app: Any, *, host: str, port: int, on_listening: Callable[[str], None]) -> None:
    """Serve the ASGI application until the process is asked to stop.

    `on_listening` is told the address, such as "http://127.0.0.1:8000", once connections are taken; `port` 0 is any
    free one. Raises ConfigError where nothing can listen there.
    """
    with _listener(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        on_listening(f"http://{shown}:{listener.getsockname()[1]}")
        uvicorn.Server(server_config(app)).run([listener])


def server_config(app: Any, **settings: Any) -> uvicorn.Config:
    """Return how uvicorn serves the application; `settings` are its own."""
    own = {
        "http": BoundedConnection,
        "ws": "none",
        "limit_concurrency": _most_connections(),
        "backlog": _AT_ONCE,
        "log_level": "error",  # what strangers send is no news
        "server_header": False,
        "timeout_graceful_shutdown": 5,
    }
    return uvicorn.Config(app, **own | settings)


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        errno = error.errno or 0  # `create_server` tells the address in the text once more
        reason = os.strerror(errno) if errno > 0 else error.strerror or str(error)
        message = f"Nothing can listen at {host}, port {port}: {reason}. Choose another with --host and --port."
        raise ConfigError(message, setting="port", value=port, reason=reason) from error
