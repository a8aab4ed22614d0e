"""Lines for a terminal, broken between words instead of within them."""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

import click

_NARROWEST = 20


def echo_wrapped(text: str | Iterable[str], *, err: bool = False) -> None:
    """Print a text, or its lines; at a terminal what is longer than a row goes on below, as far in as the line began."""
    stream = sys.stderr if err else sys.stdout
    for line in text.split("\n") if isinstance(text, str) else text:
        for row in _rows(line, stream):
            click.echo(row, err=err)


def _rows(line: str, stream: TextIO) -> Iterator[str]:
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    if not stream.isatty() or 2 * len(line) <= width:  # no character takes more than two columns
        yield line
        return
    from rich.cells import cell_len  # noqa: PLC0415 - only at a terminal

    from deep_research.i18n.language import HAN, KANA  # noqa: PLC0415

    start = len(line) - len(line.lstrip(" "))
    indent = " " * min(start + 2, width // 4)
    row = line[:start]
    # Chinese and Japanese may be broken between any two characters but before a mark.
    for piece in re.findall(rf"[{HAN}{KANA}][，。、；：？！）」』》”]*|[^\s{HAN}{KANA}]+|\s+", line[start:]):
        if cell_len(row) + cell_len(piece.rstrip()) > width and row.strip():
            yield row.rstrip()
            row = indent + piece.lstrip()
        else:
            row += piece
    yield row.rstrip()
