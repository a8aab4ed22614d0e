"""User instructions to a running run (remark, drop, add, finish), kept in its folder so that any process can give them."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from deep_research.data import Steer
from deep_research.errors import ConfigError, ResearchError, StoreError
from deep_research.events import SectionStarted, StageStarted, Steered
from deep_research.run_context.steering import Steering
from deep_research.settings import Settings
from deep_research.stores.event_log import EventLog, read_events
from deep_research.stores.run_folder import RunFolder
from deep_research.text.cleaning import fold

MAX_SECTIONS = 20
"""Sections that a run may have, those of the user included."""
_LOOK_SECONDS = 0.25
_in_this_process: dict[Path, Callable[[], object]] = {}


def steer(folder: RunFolder, kind: str, text: str = "") -> Steer:
    """Keep an instruction of the user to a run, and return it; a run that goes on takes it in at once.

    `kind` is `remark` (`text` is what it says), `drop` (title or number of a section), `add` ("TITLE: what to look
    for") or `finish`. May be called from any process. Raises RunNotFound, StoreError, and ConfigError for what does
    not fit the run: an unknown section, a run that is finished or whose report is being written.
    """
    instruction = _read_instruction(folder, kind, fold(text))
    line = f"\n{instruction.model_dump_json()}\n".encode()
    try:
        file = os.open(folder.steering, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, line)
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        message = f"Cannot write {str(folder.steering)!r}: {error.strerror}. Check the disk."
        raise StoreError(message, path=str(folder.steering)) from error
    if (refresh := _in_this_process.get(folder.path)) is not None:
        refresh()
    return instruction


def sections_of(folder: RunFolder) -> list[str]:
    """Return the titles of a run's sections that the user has not dropped: the planned ones, then the added ones."""
    titles: dict[str, None] = {}
    for event in read_events(folder.events):
        if event.kind == "planned":
            titles |= dict.fromkeys(event.sections)
        elif event.kind == "section_started":
            titles[event.section] = None
    instructions = read_steers(folder.steering)
    titles |= dict.fromkeys(s.section for s in instructions if s.kind == "add")
    dropped = {s.section for s in instructions if s.kind == "drop"}
    return [title for title in titles if title not in dropped]


def _read_instruction(folder: RunFolder, kind: str, text: str) -> Steer:
    """Return the instruction that a text means for a run. Raises ConfigError for one that does not fit."""
    record = folder.load()
    if record.status == "finished":
        raise _refused(f"The run {record.run_id} is finished and cannot be changed any more.", text)
    if any(e.kind == "stage_started" and e.stage == "report" for e in read_events(folder.events)):
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
            fields = {"section": _find_section(sections_of(folder), text)}
        case "add":
            fields = _new_section(sections_of(folder), text)
        case _:
            pass
    try:
        return Steer.model_validate({"kind": kind, "id": secrets.token_hex(6), **fields})
    except ValidationError as error:
        first = error.errors()[0]
        raise _refused(f"The {first['loc'][0]} does not fit: {first['msg'].lower()}.", text) from None


def _find_section(titles: list[str], text: str) -> str:
    """Return the section with that title, number or unambiguous part of a title."""
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


def read_steers(path: Path) -> list[Steer]:
    """Return the instructions to a run, oldest first; a line that a crash has cut short is left out."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    said: list[Steer] = []
    for line in lines[:-1]:  # what follows the last line break is still being written
        with suppress(ValidationError):
            said.append(Steer.model_validate_json(line))
    return said


class SteeringInbox:
    """The instructions in a run's folder, taken in by the process that carries the run out."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder, self._path = folder.path, folder.steering
        self._size, self._said = 0, list[Steer]()

    def read(self) -> list[Steer]:
        """Return all instructions so far, oldest first; the file is read again only when it has grown."""
        with suppress(FileNotFoundError):
            size = self._path.stat().st_size
            if size != self._size:
                self._said, self._size = read_steers(self._path), size
        return self._said

    def steering(self, log: EventLog) -> Steering:
        """Return the steering of the run; what an earlier sitting has taken in still holds."""
        steered = [e for e in log.earlier if isinstance(e, Steered)]
        return Steering(
            self.read,
            log.emit,
            told={e.steer for e in steered},
            late={e.steer for e in steered if e.late},
            begun={e.section for e in log.earlier if isinstance(e, SectionStarted)},
            closed=any(isinstance(e, StageStarted) and e.stage == "report" for e in log.earlier),
        )

    @asynccontextmanager
    async def watching(self, steering: Steering) -> AsyncIterator[None]:
        """Push to `steering`, inside the block, what is written to the inbox."""
        steering.refresh()
        loop = asyncio.get_running_loop()
        watch = asyncio.create_task(self._watch(steering))
        _in_this_process[self._folder] = lambda: loop.call_soon_threadsafe(_refresh, steering)
        try:
            yield
            steering.refresh()
        finally:
            del _in_this_process[self._folder]
            watch.cancel()

    async def _watch(self, steering: Steering) -> None:
        """Look for what other processes write, for as long as the run goes on."""
        while True:
            with suppress(FileNotFoundError):
                if self._path.stat().st_size != self._size:
                    _refresh(steering)
            await asyncio.sleep(_LOOK_SECONDS)


def _refresh(steering: Steering) -> None:
    # A disk that is full is met again, and reported, by the step that goes on.
    with suppress(ResearchError):
        steering.refresh()
