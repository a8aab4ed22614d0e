"""Steering: what the user says during a run, and where steps take it in.

Instructions are pushed: a watcher of the inbox calls `refresh`, which replaces an immutable snapshot (`Steering.now`)
and wakes up what waits. Steps read the snapshot at their boundaries; long work is done `unless_stopped`, so that it
ends at once when the user drops its section or wants the report now. What was taken in is told as an event once, also
when the run is resumed.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from deep_research.data import Brief, Changes, Section, Steer, Turn
from deep_research.events import Event, SectionStarted, StageStarted, Steered

_T = TypeVar("_T")


class Interrupted(Exception):
    """The user dropped the section, or wants the report now."""


@dataclass(frozen=True)
class Instructions:
    """All that the user said in time, oldest first by kind; `finishing`: report now."""

    remarks: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    added: tuple[Section, ...] = ()
    finishing: bool = False

    def stops(self, title: str, *, finish_stops: bool) -> bool:
        """Return whether work on the section `title` is not wanted any more."""
        return title in self.dropped or (finish_stops and self.finishing)

    def kept(self, sections: Sequence[Section]) -> list[Section]:
        """Return the sections that the user still wants."""
        return [s for s in sections if s.title not in self.dropped]

    def added_to(self, sections: Sequence[Section] = ()) -> list[Section]:
        """Return added sections that are not among `sections`; none when it finishes."""
        known = {s.title for s in sections}
        return [] if self.finishing else [s for s in self.kept(self.added) if s.title not in known]

    def brief_with_remarks(self, brief: Brief) -> Brief:
        """Return the brief with the user's remarks."""
        return brief.model_copy(update={"remarks": self.remarks}) if self.remarks else brief

    def add_remarks(self, turns: Sequence[Turn]) -> list[Turn]:
        """Append a turn with remarks new to the conversation, which so only grows."""
        new = self.remarks[sum(len(turn.remarks) for turn in turns) :]
        return [*turns, Turn(actions=(), remarks=new)] if new else list(turns)

    def changes(self) -> Changes:
        """Return what the user has changed, for the report."""
        added = tuple(s.title for s in self.added)
        return Changes(remarks=self.remarks, dropped=self.dropped, added=added, finished_early=self.finishing)


class Steering:
    """Holds the instructions of the user to one run.

    `now` is what has been said so far. `read` returns everything said, oldest first; it is asked by `refresh` alone.
    What an earlier sitting has taken in, as its events say, still holds.
    """

    def __init__(
        self,
        read: Callable[[], Sequence[Steer]] = tuple,
        emit: Callable[[Event], None] = lambda _event: None,
        earlier: Sequence[Event] = (),
    ) -> None:
        self.now = Instructions()
        self._read, self._emit = read, emit
        steered = [event for event in earlier if isinstance(event, Steered)]
        self._told, self._late = {e.steer for e in steered}, {e.steer for e in steered if e.late}
        self._begun = {event.section for event in earlier if isinstance(event, SectionStarted)}
        self._closed = any(isinstance(event, StageStarted) and event.stage == "report" for event in earlier)
        self._known: dict[str, Steer] = {}
        self._changed = asyncio.Event()

    def close(self) -> None:
        """Take in the last instructions before the report; sections are too late now."""
        self.refresh(adds_are_late=True)
        self._closed = True

    def refresh(self, *, adds_are_late: bool = False) -> None:
        """Take in what was said since the last time, for a watcher of the inbox."""
        if not (new := [steer for steer in self._read() if steer.id not in self._known]):
            return
        self._known.update({steer.id: steer for steer in new})
        untold = [steer for steer in new if steer.id not in self._told]
        self._late.update(steer.id for steer in untold if self._closed or (adds_are_late and steer.kind == "add"))
        self._told.update(steer.id for steer in untold)
        in_time = [steer for steer in self._known.values() if steer.id not in self._late]
        self.now = Instructions(
            remarks=tuple(s.text for s in in_time if s.kind == "remark"),
            dropped=tuple(s.section for s in in_time if s.kind == "drop"),
            added=tuple(_section(s) for s in in_time if s.kind == "add"),
            finishing=any(s.kind == "finish" for s in in_time),
        )
        self._changed.set()
        self._changed = asyncio.Event()
        for s in untold:
            self._emit(Steered(steer=s.id, what=s.kind, section=s.section, text=s.text, late=s.id in self._late))

    def begin(self, *titles: str) -> None:
        """Note that researchers have taken these sections up."""
        self._begun.update(titles)

    def take_added(self) -> Section | None:
        """Return an added section that no researcher has begun, marked as begun, or None."""
        free = next((s for s in self.now.added_to() if s.title not in self._begun), None)
        if free is not None:
            self._begun.add(free.title)
        return free

    async def unless_stopped(self, title: str, work: Coroutine[Any, Any, _T], *, finish_stops: bool = True) -> _T:
        """Return the result of `work`.

        It is cancelled, or not begun, and Interrupted is raised, when the user drops the section `title` or wants the
        report now; with `finish_stops` False only when the section is dropped.
        """
        if self.now.stops(title, finish_stops=finish_stops):
            work.close()
            raise Interrupted(title)
        task = asyncio.ensure_future(work)
        try:
            while True:
                await self._done_or_changed(task)
                if task.done():
                    return await task
                if self.now.stops(title, finish_stops=finish_stops):
                    raise Interrupted(title)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def _done_or_changed(self, task: "asyncio.Future[Any]") -> None:
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait({task, changed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()


def _section(steer: Steer) -> Section:
    return Section(
        title=steer.section,
        subject=steer.section,
        description=steer.text,
        queries=tuple(dict.fromkeys(q for q in (steer.section, steer.text) if q)),
    )
