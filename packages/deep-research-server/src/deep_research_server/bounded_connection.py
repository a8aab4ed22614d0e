"""Connections of strangers within bounds: a head has a deadline, and who waits longest makes room for who comes.

uvicorn waits for a head without end. A thousand half heads would take all the files that a process may open, and with
them every answer; here they end by themselves, and give way before.
"""

import asyncio
import sys

from h11 import LocalProtocolError
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""From the beginning of a connection, or the end of an answer, to the last line of the next head."""
STALLED_SECONDS = 30.0
"""Longest that a client takes nothing of an answer that waits for it."""
AT_ONCE = 100
"""Connections taken in one go; what waits beyond them waits in the system's queue."""
_MOST = 1_000
_OF_THE_FILES = 3
"""One in so many of the files that the process may open is a connection; runs need the others."""


def most_connections() -> int:
    """Return how many connections a server of this process holds at a time."""
    if sys.platform == "win32":
        return _MOST
    import resource  # noqa: PLC0415 - not on Windows

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if files == resource.RLIM_INFINITY else max(10, min(_MOST, files // _OF_THE_FILES))


class BoundedConnection(H11Protocol):
    """uvicorn's HTTP/1.1 connection with a deadline for heads, and for taking what is written.

    Beyond `limit_concurrency` connections, the one that has waited longest for its head, or takes nothing of its answer,
    is ended for each new one; where none waits, one whose body is still coming.
    """

    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """See asyncio.Protocol."""
        self._make_room()
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._disarm()
        self._end_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """See asyncio.Protocol: the client does not take what is written."""
        super().pause_writing()
        self._end_stall()
        self._stall = self.loop.call_later(STALLED_SECONDS, self._end)

    def resume_writing(self) -> None:
        """See asyncio.Protocol."""
        self._end_stall()
        super().resume_writing()

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; what the application makes of the request goes nowhere, and into no log."""
        try:
            super().send_400_response(msg)
        except LocalProtocolError:  # the request has its answer, or a part of it
            self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def handle_events(self) -> None:
        """Handle what has come; a complete head ends the waiting for it."""
        super().handle_events()
        if not self._is_idle:
            self._disarm()

    def on_response_complete(self) -> None:
        """Handle the end of an answer: the next head is waited for, unless it is there."""
        super().on_response_complete()
        if self._is_idle:
            self._await_head()

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _is_sending(self) -> bool:
        """Whether the body of a request is still to come, and nothing is answered yet."""
        return not self._is_idle and self.cycle.more_body and not self.cycle.response_started

    def _await_head(self) -> None:
        self._disarm()
        self._waits_since = self.loop.time()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._end)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        # It counts as gone at once: the loop tells of the loss later.
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        if self.limit_concurrency is None or len(self.connections) < self.limit_concurrency - 1:
            return
        there = [one for one in self.connections if isinstance(one, BoundedConnection)]
        waiting = [one for one in there if one._is_idle or one._stall] or [one for one in there if one._is_sending]
        if waiting:
            min(waiting, key=lambda one: one._waits_since)._end()
