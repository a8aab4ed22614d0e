"""Run functions on others' text in processes ended at a limit of time or memory.

A regular expression or a parser that a hostile text holds up also holds the interpreter: no thread goes on, no signal
is heard. In a process of its own it costs that call alone. Processes are started when they are first needed and kept.
"""

import asyncio
import atexit
import contextvars
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

from pydantic import TypeAdapter

from deep_research import errors
from deep_research.concurrency import FairThreads, bind_variable
from deep_research.errors import ResearchError, Stopped, WorkTooLarge
from deep_research.settings import bare_environment
from deep_research.worker_child import ASKS, FAILURE, LAST, RESULT, SIZE, Limits

_T = TypeVar("_T")
_P = ParamSpec("_P")
Function = Callable[..., Any] | str
"""A function of a module, or its name (`module:function`) where only the worker is to import it."""
_MODULE = "deep_research.worker_child"
_PROCESSES = max(2, min(4, os.cpu_count() or 2))
_START_SECONDS = 120.0
_MOMENT = 0.05
_PIECE, _PIECES_AHEAD = 1_000_000, 4
"""Bytes of an answer, which may hold a whole book, that are taken in one go, and how many such wait for who asked."""
_MOST_ANSWER = 500_000_000
_NOTHING_OFFERED: Mapping[str, Callable[..., Any]] = {}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class StopSwitch:
    """A switch that ends the calls under it, from any thread, and bars later ones."""

    def __init__(self) -> None:
        self.is_set = False
        self._workers: set[Worker] = set()
        self._lock = threading.Lock()

    def set(self) -> None:
        """End the calls at once."""
        with self._lock:
            self.is_set = True
            for worker in self._workers:
                worker.kill()

    def clear(self) -> None:
        """Let calls be made again."""
        self.is_set = False

    @contextmanager
    def watching(self, worker: "Worker") -> Iterator[None]:
        """Let the process be ended inside the block; raise Stopped if it is too late."""
        with self._lock:
            if self.is_set:
                raise Stopped("the work was stopped")
            self._workers.add(worker)
        try:
            yield
        finally:
            with self._lock:
                self._workers.discard(worker)

    def governing(self) -> AbstractContextManager[None]:
        """Have it govern the calls that this thread makes inside the block."""
        return bind_variable(_SWITCH, self)


_SWITCH: ContextVar[StopSwitch | None] = ContextVar("stop_switch", default=None)


class Worker:
    """A process that calls functions in turn, and writes files in `folder` alone."""

    def __init__(self, folder: str = "") -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-X", "utf8", "-P", "-m", _MODULE, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=bare_environment() | {"MALLOC_ARENA_MAX": "1"},  # else each thread reserves 64 MB of address space
        )
        self._pieces: queue.Queue[bytes] = queue.Queue(_PIECES_AHEAD)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._is_done = self._line(_START_SECONDS)[:1] == RESULT
        if not self._is_done:
            self.close()
            raise OSError("the process does not start")

    @property
    def is_usable(self) -> bool:
        """Tell whether it can take another call: it is alive and has answered the last."""
        return self._is_done and self._process.poll() is None

    def _listen(self) -> None:
        assert self._process.stdout
        for piece in iter(partial(self._process.stdout.readline, _PIECE), b""):
            self._pieces.put(piece)
        self._pieces.put(b"")

    def _piece(self, seconds: float) -> bytes:
        """Return the next part of a line; b"" if the process ended or exceeds `seconds`."""
        with suppress(queue.Empty):
            return self._pieces.get(timeout=max(0.0, seconds))
        return b""

    def _line(self, seconds: float, take_room: Callable[[], object] = lambda: None) -> bytes | bytearray:
        """Return the next whole line; b"" if the process ended or exceeds `seconds`."""
        line: bytes | bytearray = self._piece(seconds)
        if line and not line.endswith(b"\n"):
            take_room()
            line = bytearray(line)  # which grows in its place
            while not line.endswith(b"\n") and (piece := self._piece(seconds)) and len(line) <= _MOST_ANSWER:
                line += piece
        return line if line.endswith(b"\n") else b""

    def _send(self, value: Any) -> None:
        assert self._process.stdin
        data = pickle.dumps(value)
        with suppress(OSError):  # the process has ended: there will be no answer either
            self._process.stdin.write(len(data).to_bytes(SIZE) + data)
            self._process.stdin.flush()

    def send(self, function: Function, *args: Any, limits: Limits | None = None) -> None:
        """Ask for the result of a function; without `limits` it sets its own."""
        name = function if isinstance(function, str) else f"{function.__module__}:{function.__qualname__}"
        self._send((name, args, limits))

    def result(
        self,
        returns: Any,
        seconds: float,
        offered: Mapping[str, Callable[..., Any]] = _NOTHING_OFFERED,
        take_room: Callable[[], object] = lambda: None,
    ) -> Any:
        """Return the next result, checked as `returns`; its call may ask for `offered`.

        `take_room` is called before more of it than a piece is taken into memory; until then it stays with the process.

        Raises WorkTooLarge when the process has ended or takes longer than `seconds`, and what the function raised: an
        error of ours as itself, another one as ResearchError.
        """
        ends, self._is_done = time.monotonic() + seconds, False
        while (line := self._line(ends - time.monotonic(), take_room)) and line[:1] == ASKS:
            name, args, named = json.loads(line[2:])
            if name not in offered:
                break
            asked = time.monotonic()
            self._send(offered[name](*args, **named))
            ends += time.monotonic() - asked
        kind, is_last = line[:1], line[1:2] == LAST
        if not line or kind == ASKS:
            raise WorkTooLarge("it crashed, or took too much memory or time")
        text = str(memoryview(line)[2:], "utf-8", "surrogatepass")
        del line  # there is enough of a whole book in memory without it
        value = json.loads(text)
        del text
        self._is_done = not is_last
        if kind == RESULT:
            return _adapter(returns).validate_python(value)
        if kind == FAILURE:
            raise errors.rebuilt(getattr(errors, value[0], ResearchError), value[1])
        raise ResearchError(value)

    def kill(self) -> None:
        """End the process at once; who waits for its result hears that it has ended."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process and its thread."""
        self.kill()
        while self._listener.is_alive():  # it may be waiting for room
            self._piece(_MOMENT)
        self._process.communicate()


class _Pool:
    """The processes of this process that are idle, and the room for more."""

    def __init__(self) -> None:
        self.idle: list[Worker] = []
        self.room = threading.BoundedSemaphore(_PROCESSES)
        self.threads = FairThreads(_PROCESSES, "workers")

    @contextmanager
    def lent(self) -> Iterator[Worker]:
        with self.room:
            worker = self._taken()
            try:
                yield worker
            finally:
                if worker.is_usable:
                    self.idle.append(worker)
                else:
                    worker.close()

    def _taken(self) -> Worker:
        with suppress(IndexError):
            while not (worker := self.idle.pop()).is_usable:
                worker.close()
            return worker
        return Worker()

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()


_pools = [_Pool()]  # the last is in use; a process that was forked leaves those of its parent alone


@atexit.register
def _close() -> None:
    _pools[-1].close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _pools.append(_Pool()))


@contextmanager
def own_worker(folder: str = "") -> Iterator[Worker]:
    """Yield a `Worker` beside the pool for long work; this thread's switch ends it."""
    worker = Worker(folder)
    try:
        with (_SWITCH.get() or StopSwitch()).watching(worker):
            yield worker
    finally:
        worker.close()


def call_in_worker(
    function: Function,
    *args: Any,
    returns: type[_T],
    limits: Limits | float,
    offered: Mapping[str, Callable[..., Any]] = _NOTHING_OFFERED,
) -> _T:
    """Return what `function` returns in a worker; blocks until then.

    Arguments are pickled; the result goes through JSON and is checked to be a `returns`. A function that sets its own
    limits is given the seconds after which nobody waits any more.

    Raises WorkTooLarge at a limit, Stopped by the switch that governs this thread, what the function raises, and
    ResearchError where no process can be started.
    """
    switch = _SWITCH.get() or StopSwitch()
    try:
        with _pools[-1].lent() as worker, switch.watching(worker):
            set_here, seconds = (limits, limits.wall_seconds) if isinstance(limits, Limits) else (None, limits)
            worker.send(function, *args, limits=set_here)
            return worker.result(returns, seconds, offered)
    except OSError as error:
        raise ResearchError(f"no process could be started for it ({error})") from error
    except WorkTooLarge as error:
        if switch.is_set:
            raise Stopped("the work was stopped") from error
        raise


def start_ahead(function: Function, *args: Any) -> None:
    """Call a function in every process, to start it with imports ahead of its work."""
    for _ in range(_PROCESSES):
        _pools[-1].threads.submit(partial(call_in_worker, function, *args, returns=object, limits=_START_SECONDS))


async def in_worker_thread(work: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
    """Return `work(*args, **named)` from a thread; cancelling ends its worker calls.

    There are as many such threads as workers, so that what waits for a worker takes no thread from others; they give
    turns to owners.
    """
    switch, carried = StopSwitch(), contextvars.copy_context()
    carried.run(_SWITCH.set, switch)
    doing: asyncio.Future[_T] = asyncio.get_running_loop().run_in_executor(
        _pools[-1].threads, partial(carried.run, partial(work, *args, **named))
    )
    doing.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, also when nobody waits
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        switch.set()
        doing.cancel()
        raise
