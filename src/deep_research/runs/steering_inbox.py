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

MOST_SECTIONS = 20
"""How many sections a run may have, those of the user included."""
_LOOK_SECONDS = 0.5
_in_this_process: dict[Path, Callable[[], object]] = {}


def steer(folder: RunFolder, kind: str, said: str = "") -> Steer:
    """Keep what the user says to a run, and return it; a run that goes on takes it in at once.

    `kind` is `remark` (`said` is its text), `drop` (title or number of a section), `add` ("TITLE: what to look for")
    or `finish`. May be called from any process. Raises RunNotFound, StoreError, and ConfigError for what does not fit
    the run: a section that is not there, a run that is finished or whose report is being written.
    """
    wanted = _understood(folder, kind, fold(said))
    line = f"\n{wanted.model_dump_json()}\n".encode()
    try:
        file = os.open(folder.steering, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(file, line)
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        message = f"Cannot write {str(folder.steering)!r}: {error.strerror}. Check the disk."
        raise StoreError(message, path=str(folder.steering)) from error
    if (notice := _in_this_process.get(folder.path)) is not None:
        notice()
    return wanted


def sections_of(folder: RunFolder) -> list[str]:
    """Return the titles of a run's sections that the user has not dropped: the planned ones, then the added ones."""
    titles: dict[str, None] = {}
    for event in read_events(folder.events):
        if event.kind == "planned":
            titles |= dict.fromkeys(event.sections)
        elif event.kind == "section_started":
            titles[event.section] = None
    said = read_steers(folder.steering)
    titles |= dict.fromkeys(s.section for s in said if s.kind == "add")
    dropped = {s.section for s in said if s.kind == "drop"}
    return [title for title in titles if title not in dropped]


def _understood(folder: RunFolder, kind: str, said: str) -> Steer:
    record = folder.load()
    if record.status == "finished":
        raise _refused(f"The run {record.run_id} is finished: nothing can be changed any more.", said)
    if any(e.kind == "stage_started" and e.stage == "report" for e in read_events(folder.events)):
        raise _refused(f"Too late: the report of {record.run_id} is being written.", said)
    quick = Settings(**record.settings).workflow == "quick"
    if quick and kind != "finish":
        raise _refused("A quick question takes no remarks and has no sections: it can only be told to finish.", said)
    if not said and kind != "finish":
        raise _refused(f"Nothing was said: --{kind} needs a text.", said)
    fields: dict[str, str] = {}
    match kind:
        case "remark":
            fields = {"text": said}
        case "drop":
            fields = {"section": _existing(sections_of(folder), said)}
        case "add":
            fields = _new(sections_of(folder), said)
        case _:
            pass
    try:
        return Steer.model_validate({"kind": kind, "id": secrets.token_hex(6), **fields})
    except ValidationError as error:
        first = error.errors()[0]
        raise _refused(f"The {first['loc'][0]} does not fit: {first['msg'].lower()}.", said) from None


def _existing(titles: list[str], said: str) -> str:
    """The section of that title, number or unambiguous part of a title."""
    if not titles:
        raise _refused("The run has no sections yet: wait for its plan.", said)
    if len(titles) == 1:
        raise _refused(f"{titles[0]!r} is the only section: it cannot be dropped. --finish ends the research.", said)
    if said.isdecimal() and 1 <= int(said) <= len(titles):
        return titles[int(said) - 1]
    exact = [t for t in titles if t.casefold() == said.casefold()]
    found = exact or [t for t in titles if said.casefold() in t.casefold()]
    if len(found) == 1:
        return found[0]
    listed = "".join(f"\n  {number}. {title}" for number, title in enumerate(titles, 1))
    raise _refused(
        f"{said!r} is no section of the run" * (not found) or f"{said!r} fits several sections", said, listed
    )


def _new(titles: list[str], said: str) -> dict[str, str]:
    title, colon, text = said.partition(":")
    if not colon:
        title, _, text = said.partition("：")
    title, text = title.strip(), text.strip()
    if not title:
        raise _refused('A section to add needs a title: --add "TITLE: what to look for".', said)
    if title.casefold() in {t.casefold() for t in titles}:
        raise _refused(f"The run has a section {title!r} already.", said)
    if len(titles) >= MOST_SECTIONS:
        raise _refused(f"The run has {len(titles)} sections; at most {MOST_SECTIONS} are taken.", said)
    return {"section": title, "text": text}


def _refused(message: str, said: str, listed: str = "") -> ConfigError:
    return ConfigError(f"{message}{f'. It has:{listed}' if listed else ''}", setting="steer", value=said)


def read_steers(path: Path) -> list[Steer]:
    """Return what was said to a run, oldest first; a line that a crash has cut short is left out."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    said: list[Steer] = []
    for line in lines[:-1]:  # behind the last line break stands what is being written
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
