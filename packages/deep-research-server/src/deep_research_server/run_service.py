"""The runs of a server: start, answer, cancel, resume; a bounded number at once."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from deep_research import api
from deep_research.api import Run
from deep_research.concurrency import Turns
from deep_research.data import Asked, FollowUp, Message
from deep_research.errors import ConfigError, LimitReached, ResearchError, RunBusy, RunNotFound
from deep_research.events import Event, event_adapter
from deep_research.settings import BUDGETS, Settings, load_settings
from deep_research_server.access_tokens import AccessTokens, owner_home
from deep_research_server.awaited_runs import MARK_CHARS, marked_runs, request_key, requests_in, run_asked_in
from deep_research_server.event_feeds import EventFeeds
from deep_research_server.fair_turns import make_answer
from deep_research_server.uploads import UploadLimit

MOST_KEPT_RUNS, MOST_KEPT_BYTES = 2_000, 20_000_000_000
"""What an owner keeps; who deletes nothing begins nothing more."""
MOST_WAITING = 100
"""Runs of an owner that wait, beside as many as may go on at a time."""
_log = logging.getLogger(__name__)
_STOP_SECONDS = 20.0
_LEFT_SECONDS = 15.0
"""So long a run goes on that its client has left: one whose time limit cut it off asks again at once."""
_NO_EVENT = 10**9
"""A number that no event has: after it there is nothing to read but the end."""
_Key = tuple[Path, str]
_Work = Callable[[Callable[[Event], None]], Coroutine[Any, Any, object]]


class ServerOptions(NamedTuple):
    """A server's options; `home` is the state folder, `queued` runs are for workers."""

    home: Path
    tokens: AccessTokens | None = None
    max_runs: int = 4
    queued: bool = False
    uploads: UploadLimit = UploadLimit()


class RunService:
    """Carries out the runs of all owners in this process, `max_runs` at a time."""

    is_queued = False

    def __init__(self, options: ServerOptions) -> None:
        self.options, self.home, self.feeds, tokens = options, options.home, EventFeeds(), options.tokens
        self._turns = turns_of_runs(options.max_runs, lambda: tokens is not None and tokens.has_several_owners())
        self._most = options.max_runs + MOST_WAITING
        self._tasks: dict[_Key, asyncio.Task[None]] = {}
        self._beginning = defaultdict[Path, asyncio.Lock](asyncio.Lock)
        """One for each owner: nobody waits for what another one begins."""
        self._attended = Counter[_Key]()
        self._leaving: dict[_Key, asyncio.Task[None]] = {}
        self._stopping: set[_Key] = set()

    def home_of(self, owner: str) -> Path:
        """Return the state folder of an owner."""
        return owner_home(self.home, owner)

    async def open(self, owner: str, run_id: str) -> Run:
        """Return an owner's run by full id. Raises RunNotFound, also for another owner's."""
        return await asyncio.to_thread(api.open_run, run_id, home=self.home_of(owner), is_whole=True)

    async def start(
        self,
        owner: str,
        question: str,
        settings: Settings,
        *,
        docs: Sequence[Path] = (),
        history: Sequence[Message] = (),
        is_awaited: bool = False,
        wanted_id: str = "",
    ) -> tuple[Run, bool]:
        """Create and begin a run for a question, for a waiting client; see `begin`."""
        work = partial(api.start_run, question, settings, docs=docs, history=history, home=self.home_of(owner))
        awaited = request_key(owner, question, settings, docs, history) if is_awaited else ""
        return await self.begin(owner, partial(asyncio.to_thread, work), wanted_id=wanted_id, awaited=awaited)

    async def begin(
        self, owner: str, make: Callable[..., Awaitable[Run]], *, wanted_id: str = "", awaited: str = ""
    ) -> tuple[Run, bool]:
        """Begin with the run that `make(wanted_id=…)` makes; say whether it is new.

        `wanted_id` is that of an idempotency key: a second request with it returns the run of the first. `awaited` stands
        for a request whose client waits until `hand_over`: it goes on with the run that the same one was cut off from.
        Raises ConfigError, also where the key was used for another request; LimitReached; RunBusy where another process
        carries out the run that was cut off.
        """
        home = self.home_of(owner)
        async with self._beginning[home]:  # what is refused must not have been made
            if wanted_id and (made := await asyncio.to_thread(_made_before, home, wanted_id)) is not None:
                return made, False
            # Another one is made only where none is awaited, so it can be the newest alone.
            begun = (await asyncio.to_thread(marked_runs, home, [awaited]))[:1] if awaited else []
            if (cut := await asyncio.to_thread(run_asked_in, begun, (), awaited)) is not None:
                await self._take_up(cut)
                self._expect_client(cut)
                return cut, False
            await self._check_capacity(home)
            await self._check_room(home)
            wanted_id = wanted_id or (api.dated_id(awaited[:MARK_CHARS]) if awaited else "")
            run = await make(wanted_id=wanted_id)
            if awaited:
                await asyncio.to_thread(run.note_awaited, awaited)
            await self.carry_out(run)
            if awaited:
                self._expect_client(run)
        return run, True

    async def go_on(
        self,
        owner: str,
        said: str,
        settings: Settings,
        history: Sequence[Message],
        *,
        is_awaited: bool,
        asked_by: Run | None = None,
    ) -> Run | None:
        """Continue the run whose question ends `history`, with the user's reply `said`.

        It is `asked_by`, or one that was begun for an earlier message of the conversation; None where no run waits.
        """
        home, key = self.home_of(owner), request_key(owner, said, settings, (), history)
        async with self._beginning[home]:
            begun = [] if asked_by else requests_in(owner, settings, history)
            runs = [asked_by] if asked_by else await asyncio.to_thread(marked_runs, home, begun)
            run = await asyncio.to_thread(run_asked_in, runs, history, key)
            if run is None:
                return None
            if run.record.status != "waiting":  # the client was cut off after its answer
                await self._take_up(run)
            else:
                if is_awaited:
                    await asyncio.to_thread(run.note_awaited, key)
                await self.carry_out(run, said)
            if is_awaited:
                self._expect_client(run)
        return run

    async def _take_up(self, run: Run) -> None:
        """Continue an interrupted run, unless it is active or has a report."""
        key = _key(run)
        self._stay(key)
        if key in self._stopping:
            await self.wait(run)
        if await asyncio.to_thread(lambda: run.has_report or self.is_active(run)):
            return
        if await asyncio.to_thread(lambda: run.is_running):
            message = f"Another process carries the run {run.id} out for the same request: ask again when it has ended."
            raise RunBusy(message, run_id=run.id)
        record = await asyncio.to_thread(lambda: run.record)
        if record.status == "failed":  # once: what fails again would do so for ever
            await asyncio.to_thread(run.note_awaited, "")
        await self.carry_out(run)

    async def hand_over(self, run: Run) -> None:
        """Note that the waiting client was told the outcome."""
        if (await asyncio.to_thread(lambda: run.record)).status not in ("stopped", "failed"):
            await asyncio.to_thread(run.note_awaited, "")

    @asynccontextmanager
    async def room_for_one(self, home: Path) -> AsyncIterator[None]:
        """Block the owner's other starts while a run is made. Raises LimitReached."""
        async with self._beginning[home]:
            await self._check_room(home)
            yield

    async def _check_room(self, home: Path, *, runs: int = 1) -> None:
        """Raise LimitReached if an owner has no room for `runs` more."""
        if home == self.home:  # the user of this machine
            return
        kept = await asyncio.to_thread(api.kept_runs, home=home)
        if kept.runs + runs > MOST_KEPT_RUNS or kept.bytes >= MOST_KEPT_BYTES:
            message = (
                f"You keep {kept.runs:,} runs ({kept.bytes / 1e6:,.0f} MB), and there is room for {MOST_KEPT_RUNS:,} "
                f"({MOST_KEPT_BYTES / 1e6:,.0f} MB): delete runs on the page or with DELETE /api/v1/runs/ID, then ask again."
            )
            raise LimitReached(message, kind="kept", limit=MOST_KEPT_RUNS)

    def has_task(self, home: Path, run_id: str) -> bool:
        """Return whether this process carries the run out, or will in its turn."""
        return (home, run_id) in self._tasks

    def is_active(self, run: Run) -> bool:
        """Return whether the run is carried out, or will be in its turn; may block."""
        return _key(run) in self._tasks

    async def carry_out(self, run: Run, answer: str | None = None) -> None:
        """Do the rest of a run, from the user's `answer` if it waits. Raises RunBusy."""
        await self._check_capacity(run.home)
        self._stay(_key(run))
        await self._begin(run, answer)

    async def _begin(self, run: Run, answer: str | None) -> None:
        answers = [answer] if answer is not None else []

        def reply(_asked: Asked) -> str | None:
            return answers.pop() if answers else None

        self._launch(run, lambda listener: run.carry_out(listener=listener, answer=reply))

    async def follow_up(self, run: Run, question: str, settings: dict[str, Any]) -> FollowUp:
        """Begin with a question; raise RunBusy, RunNotFound, ConfigError, LimitReached."""
        await self._check_capacity(run.home)
        if self._stay(_key(run)):  # asked again: it goes on where it was
            await self.cancel(run)
        async with self._beginning[run.home]:  # what is refused must not have been written down
            if await asyncio.to_thread(self.is_active, run):
                raise RunBusy(f"The run {run.id} is going on already.", run_id=run.id)
            await self._check_room(run.home, runs=0)
            made = await asyncio.to_thread(lambda: run.note_follow_up(question, **settings))
            await self._answer(run, made)
        return made

    async def _answer(self, run: Run, made: FollowUp) -> None:
        self._launch(run, lambda listener: run.follow_up(made.question, listener=listener), made.number)

    async def cancel(self, run: Run) -> None:
        """Stop a run in any process, or remove it from the queue; its state is kept."""
        key = _key(run)
        self._stopping.add(key)
        try:
            if (task := self._tasks.get(key)) is not None:
                task.cancel()
                await asyncio.wait([task], timeout=_STOP_SECONDS)
            elif await asyncio.to_thread(run.stop):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.wait(run), _STOP_SECONDS)
        finally:
            self._stopping.discard(key)

    async def delete(self, run: Run) -> None:
        """Stop a run, and delete it with everything that only it needed. Raises RunBusy."""
        if await asyncio.to_thread(self.is_active, run):
            await self.cancel(run)
        if (await make_answer(api.delete_runs, [run.id], home=run.home)).busy:
            raise RunBusy("Another program carries the run out; stop it there.", run_id=run.id)

    @contextmanager
    def attend(self, run: Run) -> Iterator[None]:
        """Stop the run soon after the block is interrupted, unless somebody attends it."""
        key = _key(run)
        self._stay(key)
        self._attended[key] += 1
        ended = False
        try:
            yield
            ended = True
        finally:
            self._attended[key] -= 1
            if not self._attended[key]:
                del self._attended[key]
                if not ended:
                    self._expect_client(run)

    def _expect_client(self, run: Run) -> None:
        """Stop a run soon whose client waits for it, unless somebody attends it."""
        key = _key(run)
        if not self._attended[key] and key not in self._leaving:
            self._leaving[key] = asyncio.create_task(self._stop_left(run))

    def _stay(self, key: _Key) -> bool:
        """Let a run go on that would be stopped soon; say whether it would have been."""
        leaving = self._leaving.pop(key, None)
        return leaving is not None and leaving.cancel()

    async def _stop_left(self, run: Run) -> None:
        await asyncio.sleep(_LEFT_SECONDS)
        del self._leaving[_key(run)]
        await self.cancel(run)

    async def wait(self, run: Run) -> None:
        """Wait until the run has ended, or waits for an answer."""
        if (task := self._tasks.get(_key(run))) is not None:
            await asyncio.wait([task])

    async def watch(self, run: Run, follow_up: int = 0) -> AsyncGenerator[Event | None, None]:
        """Yield a run's or follow-up's events to its end, attended; None when idle."""
        with self.attend(run):
            async for line in self.feeds.follow(run.tail_events(follow_up), 0, lambda: self.is_active(run)):
                yield event_adapter.validate_json(line) if line is not None else None

    async def close(self) -> None:
        """Stop everything; each run can be taken up again."""
        tasks = [task for task in self._tasks.values() if task.cancel()]
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)

    async def _taken(self, home: Path) -> int:
        """Return how many runs of an owner go on or wait."""
        return sum(1 for of, _ in self._tasks if of == home)

    async def _check_capacity(self, home: Path) -> None:
        """Raise LimitReached where no more runs of an owner are taken."""
        taken = await self._taken(home)
        if taken >= self._most:
            message = f"{taken} of your runs go on or wait already; try again when one has ended."
            raise LimitReached(message, kind="runs", limit=self._most)

    def _launch(self, run: Run, work: _Work, part: int = 0) -> None:
        key = _key(run)
        if key in self._tasks:
            raise RunBusy(f"The run {run.id} is going on already.", run_id=run.id)
        place = run.tail_events(part).place
        task = asyncio.create_task(self._work(place, run, work))
        self._tasks[key] = task
        task.add_done_callback(lambda _task: self._ended(key, place))

    def _ended(self, key: _Key, place: str) -> None:
        self._tasks.pop(key, None)
        self.feeds.forget(place)
        self.feeds.notify()

    async def _work(self, place: str, run: Run, work: _Work) -> None:
        async with self._turns.turn_of(str(run.home)):
            try:
                await work(lambda event: self.feeds.take(place, event))
            except ResearchError as error:  # the record says it
                _log.info("The run %s ended without a report: %s", run.id, error.message)
            except Exception:  # noqa: BLE001 - one run that fails must not end the server
                _log.exception("The run %s failed.", run.id)


class QueuedRunService(RunService):
    """Lets the database's workers carry out the runs and answer follow-ups."""

    is_queued = True

    def is_active(self, run: Run) -> bool:
        """See `RunService.is_active`: asks the database."""
        return super().is_active(run) or run.is_queued

    async def _begin(self, run: Run, answer: str | None) -> None:
        # No text of a database holds a NUL.
        said = answer.replace("\0", "") if answer is not None else None
        await asyncio.to_thread(run.enqueue, may_ask=True, answer=said)
        self.feeds.notify()

    async def _answer(self, run: Run, made: FollowUp) -> None:
        await asyncio.to_thread(run.enqueue)
        self.feeds.notify()

    async def wait(self, run: Run) -> None:
        """See `RunService.wait`."""
        async for _ in self.feeds.follow(run.tail_events(), _NO_EVENT, lambda: self.is_active(run)):
            pass

    async def _taken(self, home: Path) -> int:
        return (await asyncio.to_thread(api.queue_state, home=home)).runs


def _key(run: Run) -> _Key:
    return run.home, run.id


def turns_of_runs(most: int, is_shared: Callable[[], bool]) -> Turns:
    """Return turns of which several owners leave the last one to who has no run."""
    return Turns(most, lambda _owner, has, free: not has or free > 1 or not is_shared())


def make_run_service(options: ServerOptions) -> RunService:
    """Return the run service: the database's workers if `queued`, else this process."""
    return (QueuedRunService if options.queued else RunService)(options)


def within_budgets(settings: Settings) -> Settings:
    """Return a client's settings. Raises ConfigError for a budget above the server's."""
    own = load_settings()
    for name in BUDGETS:
        most, wanted = getattr(own, name), getattr(settings, name)
        if most is not None and (wanted is None or wanted > most):
            raise ConfigError(f"This server allows a {name} of {most:,} at most.", setting=name, value=wanted)
    return settings


def _made_before(home: Path, wanted: str) -> Run | None:
    """Return the run of an idempotency key. Raises ConfigError for another request."""
    try:
        made = api.open_run(wanted.partition("-")[0] + "-", home=home)
    except RunNotFound:
        return None
    if made.id != wanted:
        message = "This Idempotency-Key was used for another request."
        raise ConfigError(message, setting="Idempotency-Key", reason="reused")
    return made
