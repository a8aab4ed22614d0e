"""Lines for a terminal, broken between words instead of within them."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import TextIO

import click

_NARROWEST = 20


def echo_wrapped(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines; at a terminal what is longer than a row goes on below, as far in as the line began."""
    stream = sys.stderr if err else sys.stdout
    for line in lines:
        for row in _rows(line, stream):
            click.echo(row, err=err)


def _rows(line: str, stream: TextIO) -> Iterator[str]:
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    if not stream.isatty() or len(line) <= width:
        yield line
        return
    indent = " " * min(len(line) - len(line.lstrip(" ")) + 2, width // 4)
    yield from textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )
