"""Time and concurrency: a replaceable clock, parallel coroutines, shared flights."""

import asyncio
import contextvars
import gc
import os
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from queue import Queue
from typing import Any, Generic, NamedTuple, TypeVar

_T = TypeVar("_T")


class Clock:
    """The computer's clock; a test puts one of its own in its place."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def now(self) -> datetime:
        """Return the date and time, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


SYSTEM_CLOCK = Clock()


class Rate(NamedTuple):
    """A request rate: a token bucket of `burst`, gaining `per_second` (0: no limit)."""

    per_second: float = 0.0
    burst: int = 1


OWNER = ContextVar("owner", default="")  # whose request it is that is answered, "" for the user of this machine
_MOST_OF_ONE = 4  # half of the connections that a process has to a database


class Turns:
    """Gives out at most `most` turns, the next one to the owner with the fewest.

    `may` tells whether an owner who has so many may have one of so many that are free. Usable from all threads.
    """

    def __init__(self, most: int, may: Callable[[str, int, int], bool]) -> None:
        self._most, self._may = most, may
        self._changing = threading.Lock()
        self._running = Counter[str]()
        self._waiting: dict[str, deque[Callable[[], bool]]] = {}

    def ask(self, owner: str, begin: Callable[[], bool]) -> None:
        """Queue `begin`, which says whether it takes the turn, to be ended by `end`."""
        with self._changing:
            self._waiting.setdefault(owner, deque()).append(begin)
            self._hand_out()

    def end(self, owner: str) -> None:
        """Give back a turn of an owner."""
        with self._changing:
            self._running[owner] -= 1
            self._hand_out()

    @asynccontextmanager
    async def turn_of(self, owner: str) -> AsyncIterator[None]:
        """Wait for a turn of an owner, and hold it for the block."""
        coming = Future[None]()
        self.ask(owner, lambda: coming.set_running_or_notify_cancel() and coming.set_result(None) is None)
        try:
            if not coming.done():
                await asyncio.wrap_future(coming)
            yield
        finally:
            if not coming.cancel():  # also where it came at the moment at which nobody waited any more
                self.end(owner)

    def _hand_out(self) -> None:
        while (free := self._most - self._running.total()) > 0:
            may = [owner for owner in self._waiting if self._may(owner, self._running[owner], free)]
            if not may:
                return
            owner = min(may, key=lambda one: self._running[one])
            queue = self._waiting.pop(owner)
            begin = queue.popleft()
            if queue:
                self._waiting[owner] = queue  # behind the others
            self._running[owner] += begin()


class FairThreads(ThreadPoolExecutor):
    """Threads for one kind of work, shared: of another owner's at most half and four."""

    def __init__(self, most: int, name: str) -> None:
        super().__init__(most, thread_name_prefix=name)
        most_of_one = max(1, min(most // 2, _MOST_OF_ONE))
        self._turns = Turns(most, lambda owner, has, _free: not owner or has < most_of_one)
        self._coming = set[Future[Any]]()

    async def do(self, work: Callable[..., _T], *about: Any, **named: Any) -> _T:
        """Return `work(*about, **named)`, done in one of the threads in its turn."""
        doing = partial(contextvars.copy_context().run, work, *about, **named)
        return await asyncio.get_running_loop().run_in_executor(self, doing)

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> "Future[_T]":
        """Have a function called in its owner's turn."""
        coming: Future[_T] = Future()
        owner, work, begin = OWNER.get(), partial(fn, *args, **kwargs), super().submit
        self._coming.add(coming)
        coming.add_done_callback(self._coming.discard)
        self._turns.ask(owner, lambda: not coming.cancelled() and bool(begin(self._do, owner, coming, work)))
        return coming

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin nothing more; what waits is not done."""
        for coming in list(self._coming):
            coming.cancel()
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _do(self, owner: str, coming: "Future[Any]", work: Callable[[], Any]) -> None:
        try:
            if coming.set_running_or_notify_cancel():
                coming.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is handed on to who waits for the result
            coming.set_exception(error)
        finally:
            self._turns.end(owner)


def share_threads() -> None:
    """Have the running event loop's default threads shared fairly among owners."""
    most = min(32, (os.cpu_count() or 1) + 4)
    asyncio.get_running_loop().set_default_executor(FairThreads(most, "requests"))


in_background = FairThreads(1, "background").do
"""Return `work(*about, **named)`, done in the one thread that all such work shares, in turns of its owners.

Threads that compute take the interpreter from each other: with several, an event loop waits for all of them.
"""
in_export = FairThreads(2, "exports").do
"""Return `work(*about, **named)`, done in a thread for files of reports: a huge one takes minutes."""


@asynccontextmanager
async def held_beside(holding: AbstractContextManager[object]) -> AsyncIterator[None]:
    """Enter and exit a blocking context (a lock) in threads, also when cancelled."""

    def leave() -> "asyncio.Future[bool | None]":
        return asyncio.ensure_future(asyncio.to_thread(holding.__exit__, None, None, None))

    entering = asyncio.ensure_future(asyncio.to_thread(holding.__enter__))
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(lambda done: done.cancelled() or done.exception() or leave())
        raise
    try:
        yield
    finally:
        await asyncio.shield(leave())


COMPUTING = threading.Lock()
"""Held by a thread of an event loop while it computes for long and waits for nothing: beside it only `in_background` does."""
_KEEPING = ThreadPoolExecutor(8, thread_name_prefix="keeping")


def keep_soon(work: Callable[..., _T], *about: Any) -> "Future[_T]":
    """Start `work(*about)` at once, in a thread for writes that must not be lost."""
    return _KEEPING.submit(work, *about)


class ShortCollections:
    """Keeps the garbage collector off what was there before, while work goes on.

    To walk all modules of the process takes it a tenth of a second, in which no event loop goes on, and to walk what
    fifty runs hold half a second, for nothing to collect: that is done ten times less often, and the young are looked
    through after `_YOUNG` new objects. Once the last block ends all is as before. Nothing is changed in a program that
    freezes objects itself.
    """

    _YOUNG = 10_000

    def __init__(self) -> None:
        self._blocks, self._frozen = 0, False
        self._thresholds = (0, 0, 0)
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        """Begin to spare what is there."""
        with self._lock:
            self._blocks += 1
            if self._blocks == 1 and not gc.get_freeze_count():
                gc.freeze()
                self._frozen = True
                self._thresholds = young, middle, old = gc.get_threshold()
                gc.set_threshold(max(young, self._YOUNG) if young else 0, middle, 10 * old)

    def __exit__(self, *_: object) -> None:
        """Let everything be walked again where no other block goes on."""
        with self._lock:
            self._blocks -= 1
            if not self._blocks and self._frozen:
                gc.unfreeze()
                gc.set_threshold(*self._thresholds)
                self._frozen = False


SHORT_COLLECTIONS = ShortCollections()  # those of this process; a run is a block, once its modules are loaded


async def side_by_side(work: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Return results in order; raise the first error as itself, and cancel the rest."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [task.result() for task in tasks]


class Flights(Generic[_T]):
    """Work in progress by key, in its own task, cancelled when nobody waits any more."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[_T]] = {}
        self._waiting: dict[str, int] = {}

    async def run(self, key: str, make: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result or error of `make()`, or of the same work in progress."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(make())
            task.add_done_callback(lambda done: self._landed(key, done))
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]
                if not task.done():
                    self._tasks.pop(key, None)
                    task.cancel()

    def _landed(self, key: str, task: "asyncio.Task[_T]") -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled():
            task.exception()  # seen, also when every waiter has gone


class Backlog:
    """Lets work in, first come first, while what is unfinished is at most `most`."""

    def __init__(self, most: int, expected: int) -> None:
        """Begin empty; `expected` is the assumed size of work until one is measured."""
        self._most, self._expected, self._held = most, expected, 0
        self._waiting = deque[Future[int]]()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def taken_in(self) -> AsyncIterator[Callable[[int], None]]:
        """Wait for room and count work in the block; yield a callback for its size."""
        coming, size = Future[int](), 0
        self._count(0, coming)
        try:
            size = coming.result() if coming.done() else await asyncio.wrap_future(coming)

            def measured(found: int) -> None:
                nonlocal size
                before, size = size, max(1, found)
                self._expected = size
                self._count(size - before)

            yield measured
        finally:
            if not coming.cancel():  # also where it was let in at the moment at which nobody waited any more
                self._count(-(size or coming.result()))

    def _count(self, more: int, *new: "Future[int]") -> None:
        """Add to the held size and admit waiting work that fits, at the expected size."""
        with self._lock:
            self._held += more
            self._waiting.extend(new)
            while self._waiting and self._held <= self._most:
                coming = self._waiting.popleft()
                if coming.set_running_or_notify_cancel():
                    self._held += self._expected
                    coming.set_result(self._expected)


class LoopThread:
    """An event loop in its own thread, started at first use; a fork starts its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop, which runs."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True).start()
            return self._loop


_CALLERS = LoopThread("deep-research")  # of this process, for code that is not asynchronous
_WIRES = LoopThread("deep-research-wires")  # of this process, for exchanges with servers


async def on_wires(exchange: Coroutine[Any, Any, _T]) -> _T:
    """Return the result of an exchange, taken in at once in a thread of its own."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(exchange, _WIRES.loop()))


_NOTE: ContextVar[tuple[type[Any], Callable[[Any], object]] | None] = ContextVar("note_answer", default=None)


@contextmanager
def bind_variable(variable: ContextVar[_T], value: _T) -> Iterator[None]:
    """Give a variable of the context a value inside the block."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def noting_answers(kind: type[_T], note: Callable[[_T], object]) -> AbstractContextManager[None]:
    """Call `note` for each answer of a kind in the block, in its thread, before use."""
    return bind_variable(_NOTE, (kind, note))


def note_answer(answer: object) -> None:
    """Tell of an answer that is there, where it is wanted (`noting_answers`)."""
    wanted = _NOTE.get()
    if wanted is not None and isinstance(answer, wanted[0]):
        wanted[1](answer)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def run_now(make: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Return what a coroutine returns, for code that is not asynchronous.

    All such calls share one event loop in a thread of its own: they work where a loop runs already (Jupyter), and a
    chat model that is handed over keeps its connections from call to call. An interrupt (Ctrl-C) cancels the coroutine.
    """

    done = threading.Event()

    async def work() -> _T:
        try:
            return await make()
        finally:
            done.set()

    loop = _CALLERS.loop()
    if _running_loop() is loop:  # a function that a run calls begins another one
        with ThreadPoolExecutor(1) as beside:
            return beside.submit(contextvars.copy_context().run, asyncio.run, work()).result()
    ended = asyncio.run_coroutine_threadsafe(work(), loop)
    try:
        # An interrupt that the system gives to another thread reaches this one only when it wakes.
        while not wait([ended], _WAKES_SECONDS).done:
            pass
        return ended.result()
    except KeyboardInterrupt:
        ended.cancel()
        done.wait(_STOPPING_SECONDS)
        raise


_STOPPING_SECONDS, _WAKES_SECONDS = 30.0, 0.5


def stream_now(make: Callable[[], AsyncIterator[_T]]) -> Iterator[_T]:
    """Yield an asynchronous iterator's values synchronously; see `run_now`."""
    parts: Queue[tuple[Any, BaseException | None, bool]] = Queue()

    async def pump() -> None:
        stream, error = make(), None
        try:
            async for part in stream:
                parts.put((part, None, False))
        except BaseException as raised:  # noqa: BLE001 - raised again where it is waited for
            error = raised
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
            parts.put((None, error, True))

    pumping = asyncio.run_coroutine_threadsafe(pump(), _CALLERS.loop())
    try:
        while True:
            part, error, is_end = parts.get()
            if error is not None:
                raise error
            if is_end:
                return
            yield part
    finally:
        pumping.cancel()
