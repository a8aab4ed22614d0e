"""Lines for a terminal, broken between words instead of within them."""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

import click

from deep_research.safe_text import safe_text

_NARROWEST = 20


def echo_wrapped(text: str | Iterable[str], *, err: bool = False) -> None:
    """Print text or lines without terminal codes, wrapped and indented for it."""
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
    from rich.cells import cell_len  # noqa: PLC0415 - only at a terminal

    from claimcheck.language import HAN, KANA  # noqa: PLC0415

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


_LIST_COLUMNS = 72  # columns from which what is explained stands beside the explanation, not above it


class HelpFormatter(click.HelpFormatter):
    """A help formatter for terminals of any width, which wraps examples as well."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        narrow = max(_NARROWEST, columns - 2) if width is None and columns < _LIST_COLUMNS else width
        super().__init__(indent_increment, narrow, max_width)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write terms with explanations, on separate rows if the terminal is narrow."""
        super().write_dl(rows, col_max if self.width >= _LIST_COLUMNS - 2 else 4, col_spacing)

    def getvalue(self) -> str:
        """Return the help, its examples and exit codes wrapped as well."""
        return "\n".join(row for line in super().getvalue().split("\n") for row in rows_of(line, sys.stdout))
