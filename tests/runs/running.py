"""Runs for tests: through the public functions, with their events and their folder on disk."""

import asyncio
import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from deep_research.assembly.environment import Answer, RunEnvironment
from deep_research.data import Report
from deep_research.events import Event
from deep_research.runs.research_run import create_run, resume_run
from deep_research.settings import Settings
from deep_research.stores.run_folder import RunFolder
from tests.cli.terminal import Said

E = TypeVar("E")


@dataclass
class Ran:
    """A run, its report when it has one, and everything it said."""

    folder: RunFolder
    home: Path
    events: list[Event] = field(default_factory=list)
    finished: Report | None = None

    @property
    def report(self) -> Report:
        """The report of a finished run."""
        assert self.finished is not None
        return self.finished

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]


def begin(question: str, *, home: Path, docs: Sequence[Path] = (), **settings: Any) -> Ran:
    """Make a run without doing it."""
    values = {"allow_clarification": False, **settings}
    folder = create_run(question, Settings(**values), home=home, docs=[str(d) for d in docs])
    return Ran(folder, home)


def go_on(ran: Ran, *, answer: Answer | None = None, listener: Callable[[Event], None] | None = None) -> Ran:
    """Do what is left of a run."""

    def listen(event: Event) -> None:
        ran.events.append(event)
        if listener is not None:
            listener(event)

    ran.finished = asyncio.run(resume_run(ran.folder, RunEnvironment(ran.home, listener=listen, answer=answer)))
    return ran


def run(question: str, *, home: Path, docs: Sequence[Path] = (), **settings: Any) -> Ran:
    """Do a whole run; nothing is asked."""
    return go_on(begin(question, home=home, docs=docs, **settings))


def start(arguments: Sequence[str], **environment: object) -> "subprocess.Popen[bytes]":
    """Start the program; its variables are those of this one and these."""
    own = {**os.environ, **{name: str(value) for name, value in environment.items()}}  # noqa: TID251
    command = [sys.executable, "-m", "deep_research", *arguments]
    return subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def command(*arguments: str, **environment: str) -> Said:
    """Run the command line in this process, as `tests.cli.terminal.call` does in one of its own."""
    from deep_research.cli.main import run as run_command  # noqa: PLC0415

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        code = run_command([*arguments])
    return Said(code, out.getvalue(), err.getvalue())


def write_notes(folder: Path, **notes: str) -> Path:
    """Write a folder of Markdown notes, one per name, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


def engines(folder: Path) -> Path:
    """A small library about three kinds of engine that do not exist: enough for several sections."""
    return write_notes(
        folder,
        alpha="# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm. "
        "The Alpha engine was built in 1999 by Rolf Maier in Graz. Its advantage is that it runs without oil. "
        "The Alpha engine is best suited for small boats.\n",
        beta="# Beta engine\n\nThe Beta engine is a piston engine that turns at 4,500 rpm. "
        "The Beta engine was built in 2004 by Anna Holm in Bergen. Its disadvantage is a weight of 85 kg. "
        "The Beta engine is recommended for trucks.\n",
        gamma="# Gamma engine\n\nThe Gamma engine is a turbine engine that turns at 21,000 rpm. "
        "The Gamma engine was built in 2011 by Luis Prado in Porto. It is limited to clean fuel. "
        "The Gamma engine is used in aircraft.\n",
        kinds="# Kinds of engines\n\nThere are three kinds of engines: the Alpha engine, the Beta engine and the "
        "Gamma engine. The Alpha engine and the Beta engine differ in weight. "
        "The Gamma engine is faster than the Beta engine.\n",
    )
