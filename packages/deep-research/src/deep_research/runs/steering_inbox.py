"""The user's words to a run, kept in its folder for any process to give."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from pydantic import ValidationError

from claimcheck.text.cleaning import fold
from deep_research.data import Steer
from deep_research.errors import ConfigError, ResearchError
from deep_research.run_context.steering import Steering
from deep_research.settings import Settings, database_url
from deep_research.stores.event_log import EventLog
from deep_research.stores.open_stores import database
from deep_research.stores.run_store import RunStore

MAX_SECTIONS = 20  # sections that a run may have, those of the user included
MOST_INSTRUCTIONS = 100  # instructions of the user that a run takes
_in_this_process: dict[str, Callable[[], object]] = {}


def steer(store: RunStore, kind: str, text: str = "") -> Steer:
    """Keep a user's instruction and return it; a running run takes it in at once.

    `kind` is `remark` (`text` is what it says), `drop` (title or number of a section), `add` ("TITLE: what to look
    for") or `finish`. May be called from any process. Raises RunNotFound, StoreError, and ConfigError for what does
    not fit the run: an unknown section, a run that is finished or whose report is being written.
    """
    instruction = _read_instruction(store, kind, fold(text))
    _put(store, instruction)
    return instruction


def stop(store: RunStore) -> bool:
    """Dequeue a run or stop the process doing it; return whether it was there."""
    if database_url():
        with suppress(ConfigError):  # what offers the database is not installed: nothing is in a queue
            if database().queue.dequeue_run(store):
                return True
    is_going_on = store.is_held()
    if is_going_on:
        # Whoever has said all that may be said can still stop it.
        _put(store, Steer(kind="stop", text="", section="", id=secrets.token_hex(6)), 2 * MOST_INSTRUCTIONS)
    return is_going_on


def _put(store: RunStore, instruction: Steer, most: int = MOST_INSTRUCTIONS) -> None:
    if (count := len(store.read_steers())) >= most:
        raise _refused(f"The run has {count} instructions; it takes no more.", instruction.text[:80])
    store.add_steer(instruction)
    if (refresh := _in_this_process.get(store.place)) is not None:
        refresh()


def sections_of(store: RunStore) -> list[str]:
    """Return the titles of a run's sections not dropped: planned, then added ones."""
    titles: dict[str, None] = {}
    for event in store.read_events():
        if event.kind == "planned":
            titles = dict.fromkeys(event.sections)
        elif event.kind == "section_started":
            titles[event.section] = None
    instructions = store.read_steers()
    titles |= dict.fromkeys(s.section for s in instructions if s.kind == "add")
    dropped = {s.section for s in instructions if s.kind == "drop"}
    return [title for title in titles if title not in dropped]


def _read_instruction(store: RunStore, kind: str, text: str) -> Steer:
    record = store.load()
    if record.status == "finished":
        raise _refused(f"The run {record.run_id} is finished and cannot be changed any more.", text)
    if any(e.kind == "stage_started" and e.stage == "report" for e in store.read_events()):
        raise _refused(f"Too late: the report of {record.run_id} is being written.", text)
    quick = Settings(**record.settings).workflow == "quick"
    if quick and kind != "finish":
        raise _refused("A quick question takes no remarks and has no sections; only --finish applies.", text)
    if not text and kind != "finish":
        raise _refused(f"--{kind} needs a text.", text)
    fields: dict[str, str] = {}
    match kind:
        case "remark":
            fields = {"text": text}
        case "drop":
            fields = {"section": _find_section(sections_of(store), text)}
        case "add":
            fields = _new_section(sections_of(store), text)
    try:
        return Steer.model_validate({"kind": kind, "id": secrets.token_hex(6), **fields})
    except ValidationError as error:
        first = error.errors()[0]
        raise _refused(f"The {first['loc'][0]} does not fit: {first['msg'].lower()}.", text) from None


def _find_section(titles: list[str], text: str) -> str:
    if not titles:
        raise _refused("The run has no sections yet. Wait for its plan.", text)
    if len(titles) == 1:
        raise _refused(f"{titles[0]!r} is the only section and cannot be dropped. --finish ends the research.", text)
    if text.isdecimal() and 1 <= int(text) <= len(titles):
        return titles[int(text) - 1]
    exact = [t for t in titles if t.casefold() == text.casefold()]
    found = exact or [t for t in titles if text.casefold() in t.casefold()]
    if len(found) == 1:
        return found[0]
    listed = "".join(f"\n  {number}. {title}" for number, title in enumerate(titles, 1))
    why = f"{text!r} fits several sections" if found else f"The run has no section {text!r}"
    raise _refused(f"{why}. It has:{listed}", text)


def _new_section(titles: list[str], text: str) -> dict[str, str]:
    title, colon, wish = text.partition(":")
    if not colon:
        title, _, wish = text.partition("：")
    title, wish = title.strip(), wish.strip()
    if not title:
        raise _refused('A new section needs a title: --add "TITLE: what to look for".', text)
    if title.casefold() in {t.casefold() for t in titles}:
        raise _refused(f"The run already has a section {title!r}.", text)
    if len(titles) >= MAX_SECTIONS:
        raise _refused(f"The run has {len(titles)} sections; the limit is {MAX_SECTIONS}.", text)
    return {"section": title, "text": wish}


def _refused(message: str, text: str) -> ConfigError:
    return ConfigError(message, setting="steer", value=text)


class SteeringInbox:
    """The instructions in a run's folder, taken in by the process that does the run."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._said = list[Steer]()
        self._stops = 0
        """How often earlier sittings were told to stop."""

    def read(self) -> list[Steer]:
        """Return the instructions as they were last read, oldest first."""
        return [steer for steer in self._said if steer.kind != "stop"]

    def steering(self, log: EventLog) -> Steering:
        self._said = self._store.read_steers()
        self._stops = _count_stops(self._said)
        return Steering(self.read, log.emit, log.earlier)

    @asynccontextmanager
    async def watching(self, steering: Steering) -> AsyncIterator[None]:
        """Push what the inbox gets to `steering` inside the block; a stop cancels it."""
        steering.refresh()
        loop, sitting = asyncio.get_running_loop(), asyncio.current_task()
        watch = asyncio.create_task(self._watch(steering, sitting))
        _in_this_process[self._store.place] = lambda: loop.call_soon_threadsafe(self._look, steering, sitting)
        try:
            yield
            self._look(steering)
        finally:
            del _in_this_process[self._store.place]
            watch.cancel()

    async def _watch(self, steering: Steering, sitting: "asyncio.Task[object] | None") -> None:
        """Look for what other processes say, for as long as the run goes on."""
        while True:
            await asyncio.sleep(self._store.poll_seconds)
            # A database that is away is met again, and reported, by the step that goes on.
            with suppress(ResearchError):
                said = await asyncio.to_thread(self._store.read_steers)
                if len(said) > len(self._said):
                    self._take_in(said, steering, sitting)

    def _look(self, steering: Steering, sitting: "asyncio.Task[object] | None" = None) -> None:
        # A disk that is full is met again, and reported, by the step that goes on.
        with suppress(ResearchError):
            self._take_in(self._store.read_steers(), steering, sitting)

    def _take_in(self, said: list[Steer], steering: Steering, sitting: "asyncio.Task[object] | None") -> None:
        """Take in what was said; a stop that is new to this sitting cancels it."""
        self._said = said
        steering.refresh()
        stops = _count_stops(said)
        if sitting is not None and stops > self._stops:
            self._stops = stops
            sitting.cancel()


def _count_stops(said: list[Steer]) -> int:
    return sum(steer.kind == "stop" for steer in said)
