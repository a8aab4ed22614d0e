"""Read lines typed while a run goes on, without disturbing the progress table, and pass them to the run."""

import asyncio
import codecs
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from deep_research.api import Run
from deep_research.errors import ResearchError

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])")
_MOST = 4000
"""Characters of a line at most."""


class TypedLine:
    """A line while it is typed; `text` is what it holds so far."""

    def __init__(self) -> None:
        self.text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._escape = ""

    def feed(self, data: bytes) -> Iterator[str]:
        """Take keys in and give each finished line; arrow keys and the like are passed over."""
        for key in self._decoder.decode(data):
            if self._escape or key == "\x1b":
                self._escape += key
                if _ESCAPE.fullmatch(self._escape):
                    self._escape = ""
            elif key in "\r\n":
                finished, self.text = self.text, ""
                yield finished
            else:
                self.text = self._edited(key)

    def _edited(self, key: str) -> str:
        if key in "\x7f\x08":
            return self.text[:-1]
        if key == "\x15":  # Ctrl-U
            return ""
        if key == "\x17":  # Ctrl-W
            return self.text.rstrip().rpartition(" ")[0]
        return (self.text + key)[:_MOST] if key.isprintable() else self.text


@contextmanager
def listening(
    loop: asyncio.AbstractEventLoop,
    *,
    on_line: Callable[[str], object],
    on_change: Callable[[str], object] | None = None,
) -> Iterator[None]:
    """Read the keyboard inside the block: `on_line` gets each line. Must be entered in the running `loop`.

    With `on_change`, which gets the line as it grows, the terminal echoes nothing. Where there is no terminal, or it
    belongs to another job, nothing is read.
    """
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    file = sys.stdin.fileno()
    if not _is_ours(file):
        yield
        return
    line = TypedLine()

    def read() -> None:
        if not _is_ours(file):
            return
        data = os.read(file, 4096)
        if not data:  # the terminal is gone
            loop.remove_reader(file)
        for finished in line.feed(data):
            if finished.strip():
                on_line(finished.strip())
        if on_change is not None:
            on_change(line.text)

    with _unechoed(loop, file) if on_change is not None else _as_it_is():
        loop.add_reader(file, read)
        try:
            yield
        finally:
            loop.remove_reader(file)


def _is_ours(file: int) -> bool:
    """Whether the terminal takes our words: another job of the shell would be stopped for reading it."""
    try:
        return os.tcgetpgrp(file) == os.getpgrp()
    except OSError:  # no terminal of a session: there are no jobs
        return True


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


@contextmanager
def _unechoed(loop: asyncio.AbstractEventLoop, file: int) -> Iterator[None]:
    """Neither echo nor line editing inside the block, again after Ctrl-Z and `fg`; signals as always."""
    import termios  # noqa: PLC0415 - not on every platform

    before: list[Any] = termios.tcgetattr(file)
    changed = [*before[:3], before[3] & ~(termios.ICANON | termios.ECHO), *before[4:]]

    def set_up() -> None:
        if _is_ours(file):
            termios.tcsetattr(file, termios.TCSADRAIN, changed)

    set_up()
    loop.add_signal_handler(signal.SIGCONT, set_up)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGCONT)
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(file, termios.TCSADRAIN, before)


HINT = "type to the run: a remark, /drop 2, /add Title: what, /finish"
_KINDS = {"/drop": "drop", "/add": "add", "/finish": "finish", "/remark": "remark"}


def pass_on(run: Run, line: str) -> str:
    """Give a typed line to the run, and return the message for the user: that it was noted, or why it cannot be."""
    name, _, words = line.partition(" ")
    kind = _KINDS.get(name.lower()) if line.startswith("/") else "remark"
    if kind is None:
        return f"There is no {name[:40]!r} while a run goes on; {HINT}. Ctrl-C stops the run."
    if kind == "drop" and not words.strip():
        return "Use: /drop NUMBER or /drop TITLE."
    try:
        noted = run.steer(kind, words if line.startswith("/") else line)
    except ResearchError as error:
        return error.message
    return "Noted: " + " ".join(part for part in (noted.kind, noted.section, noted.text) if part)
