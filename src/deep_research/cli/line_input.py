"""Reading a line at the terminal: with editing and history where readline is there, and nothing that is not text."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import cast

import click

_REMEMBERED = 1000


class Prompt:
    """Asks for lines. `history` is the file that remembers them; None for none."""

    def __init__(self, *, history: Path | None = None, words: Sequence[str] = ()) -> None:
        """`words` are completed with the tab key."""
        self._history, self._words = history, words
        self._readline = _readline() if sys.stdin.isatty() and sys.stdout.isatty() else None
        if self._readline is not None and history is not None:
            self._readline.set_history_length(_REMEMBERED)
            with suppress(OSError, UnicodeDecodeError):
                self._readline.read_history_file(history)

    def _prepare(self, readline: ModuleType) -> None:
        """Make readline ours: another prompt may have had it since."""
        readline.set_auto_history(self._history is not None)
        readline.set_completer_delims(" ")
        readline.set_completer(self._complete)
        readline.parse_and_bind("tab: complete")

    def _complete(self, text: str, state: int) -> str | None:
        fitting = [word for word in self._words if text and word.startswith(text)]
        return fitting[state] if state < len(fitting) else None

    def line(self, prompt: str = "> ") -> str:
        """Return the next line as text, its ends trimmed; asks again for one that is not text.

        Raises EOFError at Ctrl-D (or the end of the input), KeyboardInterrupt at Ctrl-C.
        """
        while True:
            given = self._raw(prompt)
            if not any("\ud800" <= c <= "\udfff" for c in given):
                return given.strip()
            click.echo("That line was not text in UTF-8; please type it again.", err=True)

    def _raw(self, prompt: str) -> str:
        # Bytes that are no UTF-8 come as lone surrogates instead of ending the program.
        with suppress(AttributeError, ValueError):
            sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
        if self._readline is not None:
            self._prepare(self._readline)
        if sys.stdout.isatty():
            return input(prompt)
        click.echo(prompt, nl=False, err=True)
        read = sys.stdin.readline()
        if not read:
            raise EOFError
        return read

    def close(self) -> None:
        """Write the history down; a disk that refuses costs the history alone."""
        if self._readline is None or self._history is None:
            return
        with suppress(OSError):
            self._history.parent.mkdir(parents=True, exist_ok=True)
            self._history.touch(mode=0o600)
            self._readline.write_history_file(self._history)


def _readline() -> ModuleType | None:
    """The module of GNU readline or libedit; it is not there on every platform."""
    try:
        import readline  # noqa: PLC0415 - it changes how input() reads
    except ImportError:
        return None
    return cast(ModuleType, readline)
