"""Steering: what the user says while a run goes on, and where the steps take it in.

A step asks at its boundaries; long work is done `unless_stopped`, so that it ends at once when the user drops its
section or wants the report now. What was taken in is told as an event once, also when the run is taken up again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, TypeVar

from deep_research.data import Brief, Changes, Section, Steer, Turn
from deep_research.events import Event, Steered
from deep_research.i18n.catalog import phrase

_T = TypeVar("_T")


class Interrupted(Exception):
    """The user dropped the section, or wants the report now."""


class Steering:
    """What the user has said to one run.

    `poll` returns everything said so far, oldest first; it is asked at each boundary, so it must be quick.
    `told` are the ids whose event is kept already, `late` those that came when nothing could be changed any more,
    `begun` the titles of the sections that a researcher has taken up, `closed` whether the report is under way.
    """

    def __init__(
        self,
        poll: Callable[[], Sequence[Steer]] = tuple,
        emit: Callable[[Event], None] = lambda _event: None,
        *,
        told: Collection[str] = (),
        late: Collection[str] = (),
        begun: Collection[str] = (),
        closed: bool = False,
    ) -> None:
        self._poll, self._emit = poll, emit
        self._told, self._late = set(told), set(late)
        self._begun, self._closed = set(begun), closed
        self._known: dict[str, Steer] = {}
        self._changed = asyncio.Event()

    def notice(self) -> None:
        """Take in what was said since the last time, and wake up what waits for it."""
        for steer in self._poll():
            if steer.id not in self._known:
                self._known[steer.id] = steer
                self._take_in(steer)

    def _take_in(self, steer: Steer) -> None:
        if steer.id not in self._told:
            self._told.add(steer.id)
            if self._closed:
                self._late.add(steer.id)
            self._emit(
                Steered(
                    steer=steer.id, what=steer.kind, section=steer.section, text=steer.text, late=steer.id in self._late
                )
            )
        self._changed.set()
        self._changed = asyncio.Event()

    def _said(self, kind: str) -> list[Steer]:
        self.notice()
        return [s for s in self._known.values() if s.kind == kind and s.id not in self._late]

    def close(self) -> None:
        """From here on nothing can be changed: the report is written. What comes now is told to be too late."""
        self.notice()
        self._closed = True

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user has remarked, oldest first."""
        return tuple(s.text for s in self._said("remark"))

    @property
    def finishing(self) -> bool:
        """Whether the user wants the report now."""
        return bool(self._said("finish"))

    def is_dropped(self, title: str) -> bool:
        """Whether the user does not want the section any more."""
        return any(s.section == title for s in self._said("drop"))

    def kept(self, sections: Sequence[Section]) -> list[Section]:
        """Return the sections that the user still wants."""
        return [s for s in sections if not self.is_dropped(s.title)]

    def added(self, sections: Sequence[Section] = ()) -> list[Section]:
        """Return the sections that the user has added and that are not among `sections`; none when it finishes."""
        known = {s.title for s in sections}
        if self.finishing:
            return []
        return [_section(s) for s in self._said("add") if s.section not in known and not self.is_dropped(s.section)]

    def take_added(self) -> Section | None:
        """Return an added section that nobody has taken up, and give it to whoever asks; None where there is none."""
        free = next((s for s in self.added() if s.title not in self._begun), None)
        if free is not None:
            self.begin(free.title)
        return free

    def begin(self, title: str) -> None:
        """Note that a researcher has taken the section up."""
        self._begun.add(title)

    def so_far(self) -> Changes:
        """Return what the user has changed."""
        return Changes(
            remarks=self.remarks,
            dropped=tuple(s.section for s in self._said("drop")),
            added=tuple(s.section for s in self._said("add")),
            finished_early=self.finishing,
        )

    async def unless_stopped(self, title: str, make: Callable[[], Awaitable[_T]], *, finish_stops: bool = True) -> _T:
        """Return the result of the work that `make` begins.

        It is cancelled, or not begun, and Interrupted is raised, when the user drops the section `title` or wants the
        report now; with `finish_stops` False only when the section is dropped.
        """
        self._stop(title, finish_stops)
        task = asyncio.ensure_future(make())
        try:
            while True:
                await self._done_or_changed(task)
                if task.done():
                    return await task
                self._stop(title, finish_stops)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    def _stop(self, title: str, finish_stops: bool) -> None:
        if self.is_dropped(title) or (finish_stops and self.finishing):
            raise Interrupted(title)

    async def _done_or_changed(self, task: "asyncio.Future[Any]") -> None:
        """Wait until the task is done, or the user has said something."""
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait({task, changed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()

    def briefed(self, brief: Brief) -> Brief:
        """Return the brief with the user's remarks so far."""
        return brief.model_copy(update={"remarks": self.remarks}) if self.remarks else brief

    def heard(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return the turns, with a turn of those remarks behind them that do not stand in them yet.

        Kept with the turns they stay where they were heard, so that a conversation only grows, also when the run is
        taken up again.
        """
        new = self.remarks[sum(len(turn.remarks) for turn in turns) :]
        return [*turns, Turn(actions=(), remarks=new)] if new else list(turns)


def _section(steer: Steer) -> Section:
    return Section(
        title=steer.section,
        subject=steer.section,
        description=steer.text,
        queries=tuple(dict.fromkeys(q for q in (steer.section, steer.text) if q)),
    )


def told_changes(changes: Changes, language: str) -> list[str]:
    """Return what a report says about the user's changes: a line for each kind that there was."""
    lists = {"remarks": changes.remarks, "added_sections": changes.added, "dropped_sections": changes.dropped}
    lines = [f"**{phrase(name, language)}:** {' · '.join(said)}" for name, said in lists.items() if said]
    return [*lines, phrase("finished_early", language)] if changes.finished_early else lines
