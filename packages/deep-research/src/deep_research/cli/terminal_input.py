"""User input at the terminal: edited lines, answers, and lines to a running run."""

import asyncio
import codecs
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any

import click

from deep_research.api import Run
from deep_research.cli.wrapped_text import echo_wrapped
from deep_research.conversation.plan_outline import format_numbered, format_outline
from deep_research.conversation.replies import pick_options
from deep_research.data import Asked, Brief
from deep_research.errors import ResearchError
from deep_research.settings import editor_command

_HOW_TO_EDIT = (
    "<!-- Change, reorder, add or remove sections (## Title); text below a title says what to look for,\n"
    "     lines with - are searches. Save and close the editor; an empty file cancels the change. -->\n\n"
)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])")
_MOST = 4000  # characters of a line at most
HINT = "type to the run: a remark, /drop 2, /add Title: what, /finish"
_KINDS = {"/drop": "drop", "/add": "add", "/finish": "finish", "/remark": "remark"}


def read_line(prompt: str) -> str:
    """Return the next line of text, trimmed. Raises EOFError, KeyboardInterrupt."""
    # Bytes that are no UTF-8 come as lone surrogates instead of ending the program.
    with suppress(AttributeError, ValueError):
        sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    if sys.stdin.isatty() and sys.stdout.isatty():
        with suppress(ImportError):  # some platforms have neither GNU readline nor libedit
            import_module("readline")  # with it input() edits lines and remembers them
    while True:
        given = _raw_line(prompt)
        if not any("\ud800" <= c <= "\udfff" for c in given):
            return given.strip()
        echo_wrapped("That line was not text in UTF-8; please type it again.", err=True)


def _raw_line(prompt: str) -> str:
    if sys.stdout.isatty():
        return input(prompt)
    click.echo(prompt, nl=False, err=True)
    read = sys.stdin.readline()
    if not read:
        raise EOFError
    return read


def ask_user(asked: Asked) -> str:
    """Return the user's answer. Raises EOFError (Ctrl-D), KeyboardInterrupt (Ctrl-C)."""
    say_asked(asked)
    answer = None
    while answer is None:
        answer = _answer(asked, read_line("answer> "))
    return answer


def say_asked(asked: Asked) -> None:
    """Show a question of a run with its options, on standard error."""
    lines = ["", format_numbered(asked.brief), ""] if asked.brief is not None else [""]
    lines.append(asked.question)
    lines += [f"  {number}. {option}" for number, option in enumerate(asked.options, 1)]
    if sys.stdin.isatty():
        lines.append(_how(asked))
    echo_wrapped("\n".join(lines).split("\n"), err=True)


def _how(asked: Asked) -> str:
    if asked.kind == "review":
        return "(1 or Enter writes the report; numbers or titles of sections research them again; no: later)"
    if asked.kind == "plan":
        return "(a number, a change in words, /edit for your editor; Enter confirms; Ctrl-C stops)"
    number = "a number or " if asked.options else ""
    return f"({number}your own words; Enter starts with a best guess; Ctrl-C stops)"


def _answer(asked: Asked, line: str) -> str | None:
    """Return the answer in a line; None for a request for help or a failed edit."""
    if line == "/edit" and asked.brief is not None:
        return _edited(asked.brief)
    if line.startswith("/"):
        hint = "/edit opens the plan in your editor." if asked.brief is not None else "There are no commands here."
        echo_wrapped(f"{hint} {_how(asked)}", err=True)
        return None
    if asked.options and line.isdigit() and not 1 <= int(line) <= len(asked.options):
        echo_wrapped(f"There are the options 1 to {len(asked.options)}.", err=True)
        return None
    return pick_options(line, asked.options)


def _edited(brief: Brief) -> str | None:
    """Return the plan edited in `$VISUAL` or `$EDITOR`; None if unchanged (printed)."""
    if not (editor := editor_command()):
        echo_wrapped("No editor is named. Set EDITOR (or VISUAL), for example: export EDITOR=nano", err=True)
        return None
    before = _HOW_TO_EDIT + format_outline(brief)
    try:
        after = click.edit(before, editor=editor, extension=".md", require_save=False) or ""
    # ValueError: a file that is no text, unbalanced quotes
    except (click.ClickException, OSError, ValueError) as error:
        echo_wrapped(f"The editor did not work, nothing was changed: {error}", err=True)
        return None
    if not after.strip() or after == before:
        echo_wrapped("The plan was not changed. Confirm it with Enter.", err=True)
        return None
    return after


class TypedLine:
    """A line while it is typed; `text` is what it holds so far."""

    def __init__(self) -> None:
        self.text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._escape = ""

    def feed(self, data: bytes) -> Iterator[str]:
        """Process keys and yield each finished line; arrow and similar keys are ignored."""
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
def listening(*, on_line: Callable[[str], object], on_change: Callable[[str], object] | None = None) -> Iterator[None]:
    """Read the keyboard inside the block in an event loop; `on_line` gets each line.

    With `on_change`, which gets the line as it grows, the terminal echoes nothing. Where there is no terminal, or it
    belongs to another job, nothing is read.
    """
    if sys.platform == "win32" or not sys.stdin.isatty() or not _is_ours(file := sys.stdin.fileno()):
        yield
        return
    line, loop = TypedLine(), asyncio.get_running_loop()

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

    with _unechoed(loop, file) if on_change is not None else nullcontext():
        loop.add_reader(file, read)
        try:
            yield
        finally:
            loop.remove_reader(file)


def _is_ours(file: int) -> bool:
    """Tell whether our job owns the terminal; reading would stop a background job."""
    try:
        return os.tcgetpgrp(file) == os.getpgrp()
    except OSError:  # no terminal of a session: there are no jobs
        return True


@contextmanager
def _unechoed(loop: asyncio.AbstractEventLoop, file: int) -> Iterator[None]:
    """Turn off echo and line editing, not signals, in the block, also after Ctrl-Z."""
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


def pass_on(run: Run, line: str) -> str:
    """Pass a typed line to the run; return the reply: noted, or why it cannot be."""
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
