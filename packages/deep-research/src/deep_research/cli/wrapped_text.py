"""Lines for a terminal, broken between words instead of within them."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

import click

from deep_research.safe_text import safe_text

_NARROWEST = 20


def echo_wrapped(text: str | Iterable[str], *, err: bool = False) -> None:
    """Print a text, or its lines, without terminal codes; what is longer than a terminal's row goes on below.

    There it begins as far in as the line did.
    """
    stream = sys.stderr if err else sys.stdout
    for line in safe_text(text).split("\n") if isinstance(text, str) else map(safe_text, text):
        for row in rows_of(line, stream):
            click.echo(row, err=err)


def rows_of(line: str, stream: TextIO) -> Iterator[str]:
    """Yield a line as the rows it takes on a stream: whole where that is no terminal."""
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    most = len(line) if line.isascii() else 2 * len(line)  # no character takes more than two columns
    if not stream.isatty() or most <= width:
        yield line
        return
    from rich.console import Console  # noqa: PLC0415 - only at a terminal
    from rich.text import Text  # noqa: PLC0415

    start = len(line) - len(line.lstrip(" "))
    indent = " " * min(start + 2, width // 4)
    rows = Text(line[start:]).wrap(Console(width=width), max(_NARROWEST // 2, width - max(start, len(indent))))
    for number, row in enumerate(rows):
        yield (indent if number else line[:start]) + row.plain.rstrip()
