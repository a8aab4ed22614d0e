"""Files that were made to crash, hang or swell their reader; `python -m tests.readers.hostile_files` tries them all."""

import gzip
import json
import resource
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from deep_research.errors import Unreadable
from deep_research.isolated_reading import RejectedDocuments, read_bytes
from deep_research.registry import reader_for
from tests.readers.made_files import epub, open_document, zipped

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "application/vnd.openxmlformats-officedocument."


def _office(kinds: dict[str, str], parts: dict[str, str | bytes]) -> bytes:
    """Return an office file of these parts, of which the first is its main one; `kinds` are those of parts by name."""
    listed = "".join(f'<Override PartName="/{n}" ContentType="{_MAIN}{kind}+xml"/>' for n, kind in kinds.items())
    return zipped({
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType='
        f'"application/xml"/>{listed}</Types>',
        "_rels/.rels": _relations(officeDocument=next(iter(parts))),
        **parts,
    })  # fmt: skip


def _relations(**targets: str) -> str:
    """Return the part that names others by the kinds of relation, as r1, r2 and so on."""
    listed = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), 1)
    )
    return f'<Relationships xmlns="{_RELS}">{listed}</Relationships>'


def docx(inner: str, *, head: str = "") -> bytes:
    """Return a Word document with this body."""
    body = f"{head}<w:document {_W}><w:body>{inner}</w:body></w:document>"
    return _word(body)


def _word(body: str | bytes) -> bytes:
    return _office({"word/document.xml": "wordprocessingml.document.main"}, {"word/document.xml": body})


def xlsx(rows: str, *, strings: str = "", sheets: int = 1) -> bytes:
    """Return a workbook whose sheets are all the same part."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    listed = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="r1"/>' for n in range(1, sheets + 1))
    book = f'<workbook xmlns="{main}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>'
    return _office(
        {"xl/workbook.xml": "spreadsheetml.sheet.main"},
        {
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": _relations(
                worksheet="worksheets/sheet1.xml", sharedStrings="sharedStrings.xml"
            ),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
            "xl/sharedStrings.xml": f'<sst xmlns="{main}">{strings}</sst>',
        },
    )


def pptx(tree: str) -> bytes:
    """Return a presentation of one slide with these shapes."""
    p = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="' + _OFFICE + '"'
    a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    slides = '<p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst>'
    shown = f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{tree}</p:spTree></p:cSld>"
    main, slide = "ppt/presentation.xml", "ppt/slides/slide1.xml"
    kinds = {main: "presentationml.presentation.main", slide: "presentationml.slide"}
    parts: dict[str, str | bytes] = {
        main: f"<p:presentation {p}>{slides}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(slide="slides/slide1.xml"),
        slide: f"<p:sld {p} {a}>{shown}</p:sld>",
    }
    return _office(kinds, parts)


def zeros(size: int) -> bytes:
    """Return a zlib stream of `size` zeros, made without making them."""
    block = 1 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(b"\0" * block) + packer.flush(zlib.Z_FULL_FLUSH)
    count = max(1, size // block)
    checksum = ((count * block % 65521) << 16) | 1
    return b"\x78\xda" + piece * count + b"\x03\x00" + checksum.to_bytes(4, "big")


def pdf(content: bytes, *, filters: str = "", resources: str = "", objects: tuple[bytes, ...] = (), kids: str = "3 0 R",
        count: int = 1, box: str = "0 0 612 792") -> bytes:  # fmt: skip
    """Return a PDF of one page with this content stream; `objects` follow from number 6."""
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {count}>>".encode(),
        f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>{resources}>>>>".encode(),
        f"<</Length {len(content)}{filters}>>stream\n".encode() + content + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *objects,
    ]
    out, places = b"%PDF-1.5\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + part + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}trailer<</Size {len(parts) + 1}/Root 1 0 R>>\n"
    return out + f"{end}startxref\n{len(out)}\n%%EOF".encode()


def _form(body: bytes, inner: int | None) -> bytes:
    resources = f"/Resources<</Font<</F 5 0 R>>/XObject<</X {inner} 0 R>>>>" if inner else ""
    return (
        f"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]{resources}/Length {len(body)}>>stream\n".encode()
        + body
        + b"\nendstream"
    )


_TEXT = b"BT /F 12 Tf 50 700 Td (A plain sentence on a page.) Tj ET "
_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "laugh">'
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + "]>"
)
_OUTSIDE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
_P = "<w:p><w:r><w:t>A sentence of a document that is written here.</w:t></w:r></w:p>"
_HTML_END = "</body></html>"


def _cells(count: int, attributes: str = "") -> str:
    return f"<w:tbl><w:tr>{f'<w:tc>{attributes}{_P}</w:tc>' * count}</w:tr></w:tbl>"


def _pdf_links(count: int) -> bytes:
    area = "<</Subtype/Link/Rect[0 650 600 740]/A<</S/URI/URI(http://a.test/%d)>>>>"
    return b"[" + "".join(area % number for number in range(count)).encode() + b"]"


def _pdfs() -> Iterator[tuple[str, Callable[[], bytes]]]:
    flate = "/Filter[/FlateDecode/FlateDecode]"
    yield "flate-in-flate.pdf", lambda: pdf(zlib.compress(zeros(3_000_000_000), 9), filters=flate)
    yield "flate.pdf", lambda: pdf(zeros(2_000_000_000), filters="/Filter/FlateDecode")
    yield "operators.pdf", lambda: pdf(zlib.compress(_TEXT * 400_000, 9), filters="/Filter/FlateDecode")
    yield "one-line.pdf", lambda: pdf(b"BT /F 1 Tf (" + b"a b " * 500_000 + b") Tj ET")
    yield "brackets.pdf", lambda: pdf(b"[" * 2_000_000)
    yield "dictionaries.pdf", lambda: pdf(_TEXT, objects=(b"<</A" * 500_000,))
    forms = (*(_form(b"/X Do " * 10, number + 7) for number in range(9)), _form(_TEXT, None))
    yield "forms.pdf", lambda: pdf(b"/X Do", resources="/XObject<</X 6 0 R>>", objects=forms)
    yield "form-loop.pdf", lambda: pdf(b"/X Do", resources="/XObject<</X 6 0 R>>", objects=(_form(b"/X Do /X Do", 6),))
    links = _pdf_links(100_000)
    yield "links.pdf", lambda: pdf(_TEXT * 200, objects=(links,), resources="/A<<>>>>/Annots 6 0 R/B<<")
    yield "page-loop.pdf", lambda: pdf(_TEXT, kids="2 0 R 3 0 R", count=1_000_000)
    yield "same-page.pdf", lambda: pdf(_TEXT, kids="3 0 R " * 300_000, count=300_000)
    yield "count.pdf", lambda: pdf(_TEXT, count=2_000_000_000)
    yield "box.pdf", lambda: pdf(_TEXT, box="0 0 1e30 1e30")
    yield "cut.pdf", lambda: pdf(_TEXT)[:300]
    yield "no-table.pdf", lambda: b"%PDF-1.7\n" + b"1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]>>endobj\n" * 50_000
    yield "garbage.pdf", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 4000


def _office_files() -> Iterator[tuple[str, Callable[[], bytes]]]:
    span = '<w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr>'
    yield "gridspan.docx", lambda: docx(_cells(2, span))
    yield "spans.docx", lambda: docx(_cells(200, '<w:tcPr><w:gridSpan w:val="60000"/></w:tcPr>') * 20)
    yield (
        "before.docx",
        lambda: docx(
            f'<w:tbl><w:tr><w:trPr><w:gridBefore w:val="2000000000"/></w:trPr><w:tc>{_P}</w:tc></w:tr></w:tbl>'
        ),
    )
    merged = f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{_P}</w:tc></w:tr>"
    yield "merged.docx", lambda: docx(f"<w:tbl>{merged * 30_000}</w:tbl>")
    yield "tables.docx", lambda: docx("<w:tbl><w:tr><w:tc>" * 3_000 + _P + "</w:tc></w:tr></w:tbl>" * 3_000)
    yield "deep.docx", lambda: docx("<w:p>" * 200_000)
    yield "cells.docx", lambda: docx(_cells(60_000))
    yield "laughs.docx", lambda: docx("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>", head=_LAUGHS)
    yield "outside.docx", lambda: docx("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>", head=_OUTSIDE)
    yield "paragraphs.docx", lambda: docx(_P * 800_000)
    yield "long.docx", lambda: docx(f"<w:p><w:r><w:t>{'word ' * 12_000_000}</w:t></w:r></w:p>")
    level = '<w:pPr><w:numPr><w:ilvl w:val="2000000000"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    yield "level.docx", lambda: docx(f"<w:p>{level}<w:r><w:t>An item of a list.</w:t></w:r></w:p>")
    yield "bomb.docx", lambda: _word(b" " * 190_000_000)
    cell = '<c r="A{row}" t="inlineStr"><is><t>A value</t></is></c>'
    yield "row.xlsx", lambda: xlsx(f'<row r="2000000000">{cell.format(row=2_000_000_000)}</row>')
    yield (
        "rows.xlsx",
        lambda: xlsx(
            "".join(f'<row r="{n * 9_000_000}">{cell.format(row=n * 9_000_000)}</row>' for n in range(1, 200))
        ),
    )
    yield "column.xlsx", lambda: xlsx('<row r="1"><c r="ZZZZZZ1" t="n"><v>1</v></c></row>' * 1000)
    strings = f"<si><t>{'string ' * 150_000}</t></si>"
    yield "string.xlsx", lambda: xlsx('<row><c t="s"><v>0</v></c></row>' * 40_000, strings=strings)
    yield "sheets.xlsx", lambda: xlsx('<row><c t="n"><v>1</v></c></row>' * 5_000, sheets=5_000)
    yield "bomb.xlsx", lambda: xlsx('<row><c t="n"><v>1</v></c></row>' * 2_000_000)
    yield "number.xlsx", lambda: xlsx(f'<row><c t="n"><v>{"9" * 2_000_000}</v></c></row>')
    group = "<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>"
    yield "groups.pptx", lambda: pptx(group * 100_000)
    yield "closed-groups.pptx", lambda: pptx(group * 2_000 + "</p:grpSp>" * 2_000)
    paragraph = "<a:p><a:r><a:t>Text on a slide</a:t></a:r></a:p>"
    yield (
        "text.pptx",
        lambda: pptx(
            '<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>'
            f"{paragraph * 500_000}</p:txBody></p:sp>"
        ),
    )
    yield "not-a-zip.docx", lambda: b"PK\x03\x04" + b"\xff" * 50_000


def _books() -> Iterator[tuple[str, Callable[[], bytes]]]:
    page = "<html><body><p>A sentence of a chapter in a book.</p></body></html>"

    def book(chapter: str | bytes, *, times: int = 1, head: str = "") -> bytes:
        return epub({"c.xhtml": chapter}, times=times, head=head)

    yield "spine.epub", lambda: book(page, times=20_000)
    yield "long-spine.epub", lambda: book(page.replace("<p>", "<p>" + "A long chapter. " * 5_000), times=20_000)
    yield "deep.epub", lambda: book("<html><body>" + "<div>" * 300_000)
    yield "bomb.epub", lambda: book(b"<html><body><p>" + b"word " * 12_000_000)
    yield "elements.epub", lambda: book(b"<html><body>" + b"<p>a</p>" * 7_000_000)
    yield "laughs.epub", lambda: book(page, head=_LAUGHS)
    yield "outside.epub", lambda: book(_OUTSIDE + "<html><body><p>&x;</p></body></html>")


def _pages() -> Iterator[tuple[str, Callable[[], bytes]]]:
    def page(body: str) -> Callable[[], bytes]:
        return f"<html><head><title>T</title></head><body>{body}{_HTML_END}".encode

    yield "deep.html", page("<div>" * 500_000)
    yield (
        "spans.html",
        page("<table>" + "<tr>" + '<td colspan="1000000000" rowspan="1000000000">x</td>' * 300 + "</table>"),
    )
    yield "tables.html", page("<table><tr><td>" * 20_000 + "x")
    yield "lists.html", page("<ul><li>" * 50_000 + "x")
    yield "links.html", page("<a href='http://x.example/'>A link</a> " * 100_000)
    yield "bold.html", page("<b>" * 100_000 + "x" * 100_000)
    yield "attributes.html", page("<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">x</p>")
    yield "long.html", page("<p>" + "word " * 1_000_000)
    yield "items.html", page("<ul>" + "<li>An item of a list</li>" * 200_000 + "</ul>")
    yield "rows.html", page("<table>" + "<tr><td>a</td><td>b</td></tr>" * 100_000 + "</table>")
    yield "code.html", page("<pre>" + "<span>x\n</span>" * 200_000 + "</pre>")
    yield "open.html", page("<p><i><b><a><u>" * 50_000)
    yield "comments.html", page("<!--" * 500_000)
    yield "entities.html", page("&amp;&#x10ffff;&nbsp;" * 200_000)
    yield "heads.html", page("<h1>Title</h1>" * 100_000)
    yield "meta.html", page("<meta name=author content='A person'>" * 200_000)
    linked = '{"a":' * 90_000
    yield "linked.html", page(f'<script type="application/ld+json">{linked}</script><p>Text.</p>')


def _texts() -> Iterator[tuple[str, Callable[[], bytes]]]:
    size = 900_000
    yield "brackets.json", lambda: b"[" * size
    yield "objects.json", lambda: b'{"a":' * (size // 5)
    yield "number.json", lambda: b"9" * size
    yield "numbers.json", lambda: b"[" + b"1e999," * (size // 6) + b"1]"
    yield "keys.json", lambda: json.dumps({f"k{n}": n for n in range(60_000)}).encode()
    yield "lists.jsonl", lambda: b'{"a": [[[[[[[[1]]]]]]]]}\n' * (size // 25)
    yield "quotes.csv", lambda: b'"' * size
    yield "columns.csv", lambda: b"a," * (size // 2)
    yield "rows.csv", lambda: b"a,b\n" * (size // 4)
    for name, piece in (
        ("spaces", " "), ("lines", "\n"), ("hashes", "#"), ("hash-lines", "# \n"), ("quotes", "> "), ("pipes", "|"),
        ("pipe-lines", "|a|b|\n"), ("fences", "```\n"), ("tildes", "~"), ("stars", "*"), ("bullets", "- a\n"),
        ("nested", "  - a\n"), ("brackets", "["), ("links", "[a]("), ("angles", "<"), ("backslashes", "\\"),
        ("dots", "."), ("sentences", "A. "), ("digits", "1,"), ("underscores", "_a"), ("letters", "a"),
        ("words", "word "), ("marks", "a\u0301\u0302\u0303"), ("han", "\u6c49"), ("rtl", "\u202eab"), ("colons", ":a:"),
        ("dashes", "---\n"), ("equals", "a\n=\n"), ("directives", ".. a::\n"), ("backticks", "`a"), ("tags", "<a "),
    ):  # fmt: skip
        for suffix in ("md", "rst", "txt"):
            yield f"{name}.{suffix}", lambda piece=piece: (piece * (size // len(piece.encode())))[:size].encode()


def _packed() -> Iterator[tuple[str, Callable[[], bytes]]]:
    def member(stream: bytes) -> bytes:
        # A zlib stream without its head and checksum is what gzip holds; the wrong checksum comes last.
        return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + stream[2:-4] + b"\0" * 8

    yield "zeros.txt.gz", lambda: member(zeros(1_500_000_000))
    yield "text.txt.gz", lambda: gzip.compress(b"word " * 30_000_000, 6)
    yield "twice.txt.gz", lambda: gzip.compress(gzip.compress(b"x"))
    yield "members.txt.gz", lambda: gzip.compress(b"a") * 60_000
    yield "bomb.pdf.gz", lambda: gzip.compress(pdf(zlib.compress(zeros(1_000_000_000)), filters="/Filter[/FlateDecode/FlateDecode]"))  # fmt: skip
    yield "cut.txt.gz", lambda: gzip.compress(b"word " * 1000)[:50]


def _more() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield mail, OpenDocument, RTF, Org, LaTeX, notebooks and code."""
    yield "bomb.odt", lambda: zipped({"content.xml": b"0" * 300_000_000})
    yield "tags.odt", lambda: open_document("text", "<text:p>x</text:p>" * 3_000_000)
    yield "deep.odt", lambda: open_document("text", "<text:span>" * 100_000)
    yield "nested.eml", lambda: b"Subject: s\nContent-Type: message/rfc822\n\n" * 400 + b"Subject: deep\n\nbody\n"
    yield (
        "parts.eml",
        lambda: b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3_000)),
    )
    yield "headers.eml", lambda: b"To: " + b"a@b, " * 100_000 + b"\n\nbody"
    yield "from.mbox", lambda: b"From x 2020\nA: b\n\n\n" * 100_000
    for name, start, piece in (
        ("braces.rtf", b"{\\rtf1 ", b"{"),
        ("fonts.rtf", b"{\\rtf1", b"{\\f1 \\x"),
        ("styles.rtf", b"{\\rtf1", b"{\\s1 "),
        ("arguments.tex", b"", b"\\section{"),
        ("tables.tex", b"", b"\\begin{tabular}{"),
        ("formulas.tex", b"$", b"$x "),
        ("marks.org", b"", b"*a "),
        ("links.org", b"", b"[["),
        ("terms.man", b".TH a 1\n", b".TP\nx\n"),
        ("groups.man", b".TH a 1\n", b".if x \\{\\\n"),
        ("quotes.man", b".TH a 1\n.B ", b'"" \\h\''),
        ("cells.ipynb", b'{"cells":', b"["),
        ("gaps.py", b"", b"\n \n"),
    ):
        yield name, lambda start=start, piece=piece: start + piece * 300_000


@cache
def corpus() -> dict[str, Callable[[], bytes]]:
    """Return what makes each hostile file, by its name."""
    return dict([*_pdfs(), *_office_files(), *_books(), *_pages(), *_texts(), *_packed(), *_more()])


class Outcome(NamedTuple):
    """What became of a file, with the seconds it took and the most memory of a child so far, in megabytes."""

    said: str
    seconds: float
    megabytes: int


def read(name: str, data: bytes) -> Outcome:
    """Read a file as the program does that meets it for the first time."""
    begun = time.monotonic()
    reader = reader_for(name, data[:8192])
    try:
        text = read_bytes(reader, data, name=name, rejected=RejectedDocuments()).text if reader else ""
        said = f"{len(text):,} characters"
    except Unreadable as error:
        said = error.message
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000
    return Outcome(said, time.monotonic() - begun, most)


def main(names: list[str]) -> None:
    """Read the files whose names contain one of `names`, or all, and print what became of them."""
    for name, make in corpus().items():
        if not names or any(part in name for part in names):
            data = make()
            outcome = read(name, data)
            print(
                f"{name:24}{len(data):>10}{outcome.seconds:7.1f} s{outcome.megabytes:5} MB  {outcome.said}", flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
