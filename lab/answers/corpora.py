"""Find the documents of the questions on this machine and read them as paragraphs, without the program's own readers."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from pathlib import Path

import docx
import openpyxl
import pptx
import pypdfium2
from lxml import html

HERE = Path(__file__).resolve().parent
SHARE = Path("/usr/share")
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 "
    "h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody thead title tr ul".split()
)
SUFFIXES = frozenset(".html .htm .txt .md .csv .jsonl .docx .pptx .xlsx .pdf .rst".split())


@cache
def load_corpora() -> dict[str, dict[str, str]]:
    """Return corpora.toml."""
    return tomllib.loads((HERE / "corpora.toml").read_text("utf-8"))


def find_folder(corpus: str, scratch: Path) -> Path | None:
    """Return the folder to search; None if its package is not installed. Chosen or made files are put below `scratch`."""
    entry = load_corpora()[corpus]
    made = scratch / "corpora" / corpus
    if "generated" in entry:
        if not made.is_dir():
            subprocess.run([sys.executable, str(HERE / entry["generated"]), str(made)], check=True)
        return made
    source = SHARE / entry["folder"]
    if not source.is_dir():
        return None
    if "glob" not in entry:
        return source
    chosen = sorted(source.glob(entry["glob"]))
    if chosen and not made.is_dir():
        for path in chosen:
            target = made / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return made if chosen else None


def list_files(folder: Path) -> list[Path]:
    """Return the files whose text can be read here."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix.lower() in SUFFIXES)


def join_space(text: str) -> str:
    """Return `text` with each run of white space as one space."""
    return re.sub(r"\s+", " ", text).strip()


class _Page:
    """Walks an HTML tree: one paragraph per block, one per table row, its cells joined by " | "."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self.parts: list[str] = []

    def end_paragraph(self) -> None:
        text = join_space("".join(self.parts))
        if text:
            self.paragraphs.append(text)
        self.parts = []

    def walk(self, node: html.HtmlElement) -> None:
        if not isinstance(node.tag, str) or node.tag in {"script", "style"}:
            return
        if node.tag == "tr" and not any(True for _ in node.iterdescendants("table")):
            self.end_paragraph()
            cells = [join_space(" ".join(_texts(cell))) for cell in node if cell.tag in {"td", "th"}]
            self.parts = [" | ".join(cell for cell in cells if cell)]
            self.end_paragraph()
            return
        block = node.tag in BLOCKS or node.tag == "br"
        if block:
            self.end_paragraph()
        self.parts.append(node.text or "")
        for child in node:
            self.walk(child)
            self.parts.append(child.tail or "")
        if block:
            self.end_paragraph()


def _texts(cell: html.HtmlElement) -> list[str]:
    """Return the text of a table cell, one entry per block."""
    page = _Page()
    page.walk(cell)
    page.end_paragraph()
    return page.paragraphs


def _read_html(path: Path) -> list[str]:
    page = _Page()
    page.walk(html.fromstring(path.read_bytes(), parser=html.HTMLParser(encoding=_find_encoding(path))))
    page.end_paragraph()
    return page.paragraphs


def _find_encoding(path: Path) -> str:
    found = re.search(rb"charset=[\"']?([\w-]+)", path.read_bytes()[:2048])
    return found[1].decode() if found else "utf-8"


def _read_docx(path: Path) -> list[str]:
    out: list[str] = []
    for part in docx.Document(str(path)).iter_inner_content():
        if hasattr(part, "rows"):
            out += [" | ".join(cell.text for cell in row.cells) for row in part.rows]
        else:
            out.append(part.text)
    return out


def _read_pptx(path: Path) -> list[str]:
    return [
        paragraph.text
        for slide in pptx.Presentation(str(path)).slides
        for shape in slide.shapes
        if shape.has_text_frame
        for paragraph in shape.text_frame.paragraphs
    ]


def _read_xlsx(path: Path) -> list[str]:
    book = openpyxl.load_workbook(path, read_only=True)
    return [" | ".join(str(value) for value in row if value is not None) for sheet in book for row in sheet.values]


def _read_pdf(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path)
    return [document[number].get_textpage().get_text_range() for number in range(len(document))]


def _read_records(path: Path) -> list[str]:
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return [" | ".join(f"{key}: {value}" for key, value in row.items()) for row in rows]


def _read_text(path: Path) -> list[str]:
    return re.split(r"\n\s*\n|\n(?=\s*(?:[-*•|]|\d+[.)])\s?)", path.read_bytes().decode("utf-8", "replace"))


def read_paragraphs(path: Path) -> list[str]:
    """Return the paragraphs of a file; a row of a table or of a CSV file is one, its cells joined by " | "."""
    if path.suffix == ".csv":
        found = [" | ".join(row) for row in csv.reader(io.StringIO(path.read_text("utf-8")))]
    else:
        readers = {
            ".html": _read_html,
            ".htm": _read_html,
            ".docx": _read_docx,
            ".pptx": _read_pptx,
            ".xlsx": _read_xlsx,
            ".pdf": _read_pdf,
            ".jsonl": _read_records,
        }
        try:
            found = readers.get(path.suffix.lower(), _read_text)(path)
        except (ValueError, zipfile.BadZipFile, html.etree.ParserError):
            return []  # an empty page
    return [text for text in map(join_space, found) if text]
