"""Source code, settings files and notebooks: text whose lines count."""

import json
import re
from collections.abc import Iterator
from typing import Any

from claimcheck.text.cleaning import clean
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._decode import decode
from deep_research.readers._markdown import write_markdown
from deep_research.text.document_builder import DocumentBuilder

_LONGEST = 400  # characters of a line, on average, beyond which nobody wrote it by hand
_PIECE = 1_500  # characters from which a new piece begins at the next definition
_TOP = re.compile(r"\n\n(?=\S)")


class CodeReader:
    """Reads source code and settings as they stand, cut between definitions."""

    name = "code"
    suffixes = tuple(
        ".py .pyi .js .mjs .cjs .jsx .ts .tsx .c .h .cc .cpp .cxx .hpp .cs .java .kt .scala .groovy .go .rs .rb .php .pl .pm"
        " .lua .r .jl .m .swift .dart .hs .ml .ex .exs .erl .clj .lisp .el .f90 .f .pas .vb .sql .sh .bash .zsh .fish .ps1"
        " .bat .cmd .css .scss .less .vue .yaml .yml .toml .ini .cfg .conf .properties .env .tf .proto .graphql .mk .cmake"
        " .gradle .dockerfile .diff .patch".split()
    )
    media_types = ("text/x-source",)

    def read(self, data: bytes, *, name: str) -> Document:
        text, builder = clean(decode(data)), DocumentBuilder()
        if len(text) > _LONGEST * (text.count("\n") + 1):
            raise Unreadable("code that a program wrote for programs: its lines have no end")
        for piece in _pieces(text):
            builder.code(piece)
        return builder.document(title=name, media_type=self.media_types[0])


def _pieces(text: str) -> Iterator[str]:
    begun = 0
    for gap in _TOP.finditer(text):
        if gap.end() - begun >= _PIECE:
            yield text[begun : gap.start()]
            begun = gap.end()
    yield text[begun:]


class NotebookReader:
    """A reader of Jupyter notebooks (nbformat 3 and 4): texts, code and output."""

    name = "notebook"
    suffixes = (".ipynb",)
    media_types = ("application/x-ipynb+json",)

    def read(self, data: bytes, *, name: str) -> Document:
        try:
            book = json.loads(decode(data))
            cells = list(book["cells"] if "cells" in book else book["worksheets"][0]["cells"])
        except (ValueError, RecursionError, LookupError, TypeError) as error:
            raise Unreadable("no Jupyter notebook") from error
        builder, pictures = DocumentBuilder(), 0
        for cell in (cell for cell in cells if isinstance(cell, dict)):
            source = _text(cell.get("source", cell.get("input")))
            if cell.get("cell_type") == "code":
                builder.code(source)
                for said in _outputs(cell, builder):
                    pictures += any(kind.startswith(("image/", "png", "jpeg")) for kind in said)
                    builder.code(clean(_text(said.get("text/plain", said.get("text")))))
            elif cell.get("cell_type") == "heading":
                level = str(cell.get("level"))[:1]
                builder.heading(int(level) if level.isdecimal() else 1, source)
            else:
                write_markdown(clean(source), builder)
        if pictures:
            builder.warn(f"{pictures} of its outputs are pictures, which are not read")
        return builder.document(name=name, media_type=self.media_types[0])


def _outputs(cell: dict[str, Any], builder: DocumentBuilder) -> Iterator[dict[str, Any]]:
    outputs = cell.get("outputs") or []
    for output in outputs if isinstance(outputs, list) else [outputs]:
        said = (output.get("data") or output) if isinstance(output, dict) else output
        if isinstance(said, dict):
            yield said
        else:
            builder.warn("an output of a form that no notebook has was not read")


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
