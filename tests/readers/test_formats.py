import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from deep_research import registry
from deep_research.data import MOST_MARKS, Document, PageStart
from deep_research.errors import ConfigError, Unreadable
from deep_research.readers import data_files as _tables
from tests.readers.made_files import epub, message, zipped
from tests.readers.pdf_files import make_pdf


def read(data: bytes, name: str) -> Document:
    reader = registry.reader_for(name, data[:8192])
    assert reader is not None
    document = reader.read(data, name=name)
    for heading in document.headings:
        assert document.text[heading.start :].split("\n")[0] == f"{'#' * heading.level} {heading.title}"
    for page in document.pages:
        assert 0 <= page.start < len(document.text)
    return document


def make_docx() -> bytes:
    file = docx.Document()
    file.core_properties.title, file.core_properties.author = "Melting", "Ann; Bob"
    file.add_heading("Result", 1)
    file.add_paragraph("The sample melted at 120 °C.")
    file.add_paragraph("first", style="List Bullet")
    table = file.add_table(2, 2)
    for row, column, text in [(0, 0, "x"), (0, 1, "y"), (1, 0, "1"), (1, 1, "2")]:
        table.cell(row, column).text = text
    file.add_heading("Outlook", 2)
    return saved(file)


def make_pptx() -> bytes:
    file: Any = pptx.Presentation()
    slide = file.slides.add_slide(file.slide_layouts[1])
    slide.shapes.title.text = "Plan"
    slide.placeholders[1].text = "one\ntwo"
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    slide = file.slides.add_slide(file.slide_layouts[5])
    slide.shapes.title.text = "Figures"
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    for row, column, text in [(0, 0, "x"), (0, 1, "y"), (1, 0, "1"), (1, 1, "2")]:
        table.cell(row, column).text = text
    return saved(file)


def sheet(*rows: list[Any], title: str = "Sheet", **formats: str) -> bytes:
    """Return a workbook of one sheet; `formats` are those of cells, by their names."""
    file = openpyxl.Workbook()
    made = file.worksheets[0]
    made.title = title
    for row in rows:
        made.append(row)
    for cell, number_format in formats.items():
        made[cell].number_format = number_format
    file.create_sheet("Empty")
    return saved(file)


def make_xlsx(rows: int = 3) -> bytes:
    return sheet(["Country", "Total"], *([f"Country {n}", n * 1.5] for n in range(rows)), title="Sales")


def make_epub(*, missing: bool = False) -> bytes:
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'
    second = None if missing else page.format("<h1>Reading</h1><p>Books are wealth.</p>")
    return epub({"a.xhtml": page.format("<h1>Economy</h1><p>I went to the woods.</p>"), "b two.xhtml": second})


def saved(file: Any) -> bytes:
    buffer = io.BytesIO()
    file.save(buffer)
    return buffer.getvalue()


def test_docx():
    document = read(make_docx(), "a.docx")
    assert document.text == (
        "# Result\n\nThe sample melted at 120 °C.\n\n- first\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\n## Outlook"
    )
    assert (document.title, document.authors) == ("Melting", ("Ann", "Bob"))
    file = docx.Document()
    for title, level in (("Handbook", 0), ("Leave", 1), ("Travel", 1)):
        file.add_heading(title, level)
    assert read(saved(file), "a.docx").title == "Handbook"


_RUN = "<w:r><w:t>{}</w:t></w:r>"
_HINT, _CONTENTS = "<w:showingPlcHdr/>", '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'
_BOX = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
_TWICE = f"<mc:AlternateContent><mc:Choice>{_BOX}</mc:Choice><mc:Fallback>{_BOX}</mc:Fallback></mc:AlternateContent>"
_NOTE = '<w:footnoteReference w:id="2"/>'
_TABLE = "<w:tbl><w:tr>{}</w:tr></w:tbl>"
_CELL = f"<w:tc><w:p>{_RUN}</w:p></w:tc>"
_NESTED = _TABLE.format(_CELL.format("out").replace("</w:tc>", _TABLE.format(_CELL.format("in") * 2) + "<w:p/></w:tc>"))


def docx_with(body: str, *, note: str = "", header: str = "") -> bytes:
    """Return a document of this WordprocessingML, with `note` as its footnote 2."""
    names = " ".join(
        f'xmlns:{prefix}="http://schemas.openxmlformats.org/{name}/2006/{last}"'
        for prefix, name, last in (("w", "wordprocessingml", "main"), ("mc", "markup-compatibility", ""))
    )
    file = docx.Document()
    for element in parse_xml(f"<w:body {names}>{body}</w:body>"):
        file.element.body.sectPr.addprevious(element)
    if note:
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
        notes = f'<w:footnotes {names}><w:footnote w:id="2"><w:p>{_RUN.format(note)}</w:p></w:footnote></w:footnotes>'
        file.part.relate_to(Part(PackURI("/word/footnotes.xml"), "application/xml", notes.encode()), kind)
    if header:
        file.sections[0].header.paragraphs[0].text = header
    return saved(file)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p><w:del>{_RUN.format('old')}</w:del><w:ins>{_RUN.format('new')}</w:ins></w:p>", "new"),
        (f"<w:p><w:moveFrom>{_RUN.format('moved')}</w:moveFrom></w:p><w:p><w:moveTo>{_RUN.format('moved')}</w:moveTo></w:p>", "moved"),
        (f"<w:p><w:sdt><w:sdtContent>{_RUN.format('inline')}</w:sdtContent></w:sdt></w:p>", "inline"),
        (f"<w:p><w:sdt><w:sdtPr>{_HINT}</w:sdtPr><w:sdtContent>{_RUN.format('Click here')}</w:sdtContent></w:sdt></w:p>", ""),
        (f"<w:sdt><w:sdtPr>{_CONTENTS}</w:sdtPr><w:sdtContent><w:p>{_RUN.format('1 Use 7')}</w:p></w:sdtContent></w:sdt>", ""),
        (f"<w:p>{_RUN.format('a')}<w:fldSimple>{_RUN.format('b')}</w:fldSimple><w:smartTag>{_RUN.format('c')}</w:smartTag></w:p>", "abc"),
        ("<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/></w:r></w:p>", "a b\n\nc-"),
        (f"<w:p>{_RUN.format('around')}<w:r>{_TWICE}</w:r></w:p>", "around\n\nboxed"),
        (f"<w:p>{_RUN.format('said')}<w:r>{_NOTE}</w:r><w:r>{_NOTE}</w:r></w:p>", "said\n\nnoted"),
        (_NESTED, "| out |\n\n| in | in |"),
    ],
)  # fmt: skip
def test_docx_gives_all_words_with_its_changes_accepted(body: str, text: str):
    document = read(docx_with(body, note="noted"), "a.docx")
    assert (document.text, document.warnings) == (text, ())


MADE = ((make_docx, "a.docx"), (make_pptx, "a.pptx"), (make_xlsx, "a.xlsx"))


def _repacked(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        return zipped({each: change(each, whole.read(each)) for each in whole.namelist()})


def _as_strict(name: str, data: bytes) -> bytes:
    kind = rb"http://schemas\.openxmlformats\.org/(?!package)(\w+)/2006/(?!metadata)(\w+)"
    is_part = name.endswith((".xml", ".rels")) and not name.startswith("[")
    return re.sub(kind, rb"http://purl.oclc.org/ooxml/\1/\2", data) if is_part else data


def _without(target: str) -> Callable[[str, bytes], bytes]:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    lost = f'<Relationship Id="rId99" Type="{kind}" Target="{target}"/></Relationships>'.encode()
    holders = ("word/_rels/document.xml.rels", "ppt/slides/_rels/slide1.xml.rels")
    return lambda name, data: data.replace(b"</Relationships>", lost) if name in holders else data


def _of_kind(kind: bytes) -> Callable[[str, bytes], bytes]:
    plain = rb"openxmlformats-officedocument\.\w+\.(?:document|presentation)(?=\.main)"
    return lambda _name, data: re.sub(plain, kind, data)


@pytest.mark.parametrize(
    ("make", "name", "change"),
    [
        *((make, name, _as_strict) for make, name in MADE),
        (make_docx, "a.docx", _without("../NULL")),
        (make_pptx, "a.pptx", _without("media/gone.png")),
        (make_docx, "a.docm", _of_kind(b"ms-word.document.macroEnabled")),
        (make_pptx, "a.potx", _of_kind(b"openxmlformats-officedocument.presentationml.template")),
    ],
)
def test_what_is_strict_a_template_has_macros_or_lacks_a_part_is_read_as_any_other(
    make: Callable[[], bytes], name: str, change: Callable[[str, bytes], bytes]
):
    plain, changed = read(make(), name), read(_repacked(make(), change), name)
    assert (changed.text, changed.headings, changed.title) == (plain.text, plain.headings, plain.title)


def test_page_headers_of_docx_that_are_not_read_are_told():
    told = ("the headers and footers of its pages were not read",)
    assert read(docx_with("<w:p/>", header="Keeper: Olaf"), "a.docx").warnings == told


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (0.385, "0.0%", "38.5%"), (38.5, '0.0"%"', "38.5%"), (12.5, '#,##0.00 "EUR"', "12.50 EUR"),
        (-1234.5, "_-* #,##0.00\\ [$€-407]_-;-* #,##0.00\\ [$€-407]_-", "-1,234.50 €"), (-5, "_($* #,##0.00_);_($* (#,##0.00)", "-$5.00"),
        (2_500_000, '$#,##0.0,,"M"', "$2.5M"), (3.0, "General", "3"), (0.5, "# ?/?", "0.5"), (1e300, "0%", "1e+300"), (True, "0%", "True"),
        (3.0, "0.0" + "%" * 200, "3"),
    ],
)  # fmt: skip
def test_numbers_of_xlsx_stand_as_their_formats_show_them(value: float, number_format: str, shown: str):
    assert read(sheet(["Share", "x"], [value], A2=number_format), "a.xlsx").text.rsplit("\n", 1)[1] == f"| {shown} |  |"


def test_formulas_of_xlsx_without_a_stored_value_are_told():
    rows = (["Region", "Units", "Revenue"], ["North", 3, "=B2*2"], ["South", 4, "=B3*2"], ["Total", "=SUM(B2:B3)"])
    made = sheet(*rows, C4="0.0%")  # which has neither a value nor a formula
    told = "3 formulas of sheet 'Sheet' have no stored value: save it once in a spreadsheet program"
    assert read(made, "a.xlsx").warnings == (told,)
    assert read(make_xlsx(), "a.xlsx").warnings == ()


def test_pptx():
    document = read(make_pptx(), "a.pptx")
    assert document.text == (
        "## Plan\n\n- one\n- two\n\nSay it slowly.\n\n## Figures\n\n| x | y |\n| --- | --- |\n| 1 | 2 |"
    )
    assert [(page.start, page.number) for page in document.pages] == [(0, 1), (document.text.index("## Figures"), 2)]


def test_values_of_charts_are_tables():
    file: Any = pptx.Presentation()
    shares = CategoryChartData(number_format="0.0%")
    shares.categories = ["North", "South"]
    shares.add_series("2024", (0.385, None))
    shares.add_series("2025", (0.4, 1200))
    dated, points = CategoryChartData(), XyChartData()
    dated.categories = [date(2026, 3, 1)]
    dated.add_series("Trips", (12.0,))
    points.add_series("Depth").add_data_point(1.5, 7)
    shown = [
        (XL_CHART_TYPE.LINE, shares, "|  | 2024 | 2025 |\n| --- | --- | --- |\n| North | 38.5% | 40.0% |\n| South |  | 120000.0% |"),
        (XL_CHART_TYPE.LINE, dated, "|  | Trips |\n| --- | --- |\n| 2026-03-01 | 12 |"),
        (XL_CHART_TYPE.XY_SCATTER, points, "|  | Depth |\n| --- | --- |\n| 1.5 | 7 |"),
        (XL_CHART_TYPE.LINE, CategoryChartData(), ""),
    ]  # fmt: skip
    for kind, data, _ in shown:
        file.slides.add_slide(file.slide_layouts[6]).shapes.add_chart(kind, 0, 0, Inches(2), Inches(2), data)
    document = read(saved(file), "a.pptx")
    assert document.text == "\n\n".join(f"## Slide {n}\n\n{text}" for n, (_, _, text) in enumerate(shown, 1)).strip()
    assert document.warnings == ("a chart of slide 4 has no stored values",)


def test_merged_cells_of_a_sheet_repeat_down_the_rows_and_hidden_sheets_are_named_so():
    file = openpyxl.Workbook()
    first = file.worksheets[0]
    for row in (["Region", "Station", "State"], ["North", "Alta", "open"], [None, "Bodo"], ["South", "Oslo", "shut"]):
        first.append(row)
    for merged in ("A2:A3", "C2:C3", "D1:F1", "A6:B9"):
        first.merge_cells(merged)
    first["A6"] = "End"
    file.create_sheet("Costs").append(["Secret"])
    file.worksheets[1].sheet_state = "hidden"
    table = "| Region | Station | State |\n| --- | --- | --- |\n| North | Alta | open |\n| North | Bodo | open |\n"
    text = read(saved(file), "a.xlsx").text
    assert text == f"## Sheet\n\n{table}| South | Oslo | shut |\n| End |  |  |\n\n## Costs (hidden sheet)\n\n| Secret |"


@pytest.mark.parametrize(("make", "name"), [(docx.Document, "a.docx"), (pptx.Presentation, "a.pptx")])
def test_when_a_file_was_saved_is_no_date_of_what_it_says(make: Any, name: str):
    dated = make()
    dated.core_properties.created = dated.core_properties.modified = datetime(2026, 11, 12, tzinfo=UTC)
    assert read(saved(dated), name).published is None


def test_rows_of_a_large_sheet_name_their_columns():
    assert "- Country: Country 77; Total: 115.5\n" in read(make_xlsx(100), "a.xlsx").text


def test_rows_beyond_the_limit_are_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_tables, "MAX_ROWS", 50)
    document = read(make_xlsx(100), "a.xlsx")
    assert "Country 49;" in document.text
    assert "Country 50;" not in document.text
    assert document.warnings == ("only the first 50 rows of sheet 'Sales' were read",)


def test_csv_with_a_header_longer_than_is_looked_at_for_its_delimiter():
    names = [f"measure {number}" for number in range(3_000)]
    data = "\n".join(";".join(row) for row in (names, ["1,5"] * 3_000)).encode()
    assert "measure 2999: 1,5" in read(data, "t.csv").text


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_csv_with_any_delimiter(delimiter: str):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([["name", "note"], ["Größe", "a, b; c"], ["x", "two\nlines"]])
    text = read(out.getvalue().encode("cp1252"), "a.csv").text
    assert text == "| name | note |\n| --- | --- |\n| Größe | a, b; c |\n| x | two lines |"


def test_csv_without_header_keeps_every_row():
    text = read(b"".join(b"%d,%d.5\n" % (n, n) for n in range(60)), "a.csv").text
    assert text.startswith("- 0; 0.5\n- 1; 1.5")
    assert text.endswith("- 59; 59.5")


def test_json_lines_have_a_heading_for_each_record():
    records = [
        {"id": 1, "title": "서울", "text": "서울은 대한민국의 수도이다. " * 20, "tags": ["a", "b"]},
        {"id": 2, "meta": {"year": 2020}, "ok": True, "none": None},
    ]
    document = read("\n".join(json.dumps(record) for record in records).encode(), "a.jsonl")
    assert [heading.title for heading in document.headings] == ["서울", "2"]
    assert "## 서울\n\n- id: 1\n- tags: a, b\n\n서울은 대한민국의 수도이다. 서울은" in document.text
    assert document.text.endswith("## 2\n\n- meta.year: 2020\n- ok: true")


def test_json_with_one_list_of_records_and_broken_lines():
    data = json.dumps({"items": [{"name": "A", "size": 1}, {"name": "B", "size": 2}]}).encode()
    assert read(data, "a.json").text == "## A\n\n- size: 1\n\n## B\n\n- size: 2"
    broken = read(b'{"name": "A", "x": 1}\n{"name": \n', "a.jsonl")
    assert (broken.text, broken.warnings) == ("## A\n\n- x: 1", ("1 of 2 lines are no JSON",))


def test_deep_json_ends():
    with pytest.raises(Unreadable):
        read(b"[" * 100_000, "a.json")
    assert read(b'{"name": "x", "a":' + b'{"a":' * 200 + b"1" + b"}" * 201, "a.json").text.startswith("## x")


def test_too_many_records_are_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_tables, "MAX_RECORDS", 2)
    document = read(b'{"name": "x"}\n' * 3, "a.jsonl")
    assert len(document.headings) == 2
    assert document.warnings == ("only the first 2 records were read",)


def test_epub_in_reading_order_also_with_a_chapter_missing():
    document = read(make_epub(), "a.epub")
    assert document.text == "# Economy\n\nI went to the woods.\n\n# Reading\n\nBooks are wealth."
    assert (document.title, document.published, document.authors) == ("Walden", "1854-08-09", ("H. D. Thoreau",))
    torn = read(make_epub(missing=True), "a.epub")
    assert torn.text == "# Economy\n\nI went to the woods."
    assert torn.warnings == ("chapter b two.xhtml is missing or broken",)


@pytest.mark.parametrize(
    ("name", "data"), [("a.md", b"# Head\n\ntext"), ("a.pdf", make_pdf([["Head", "text"]])), ("notes", b"some text")]
)
def test_gzip_of_every_format(name: str, data: bytes):
    inside, packed = read(data, name), read(gzip.compress(data), f"{name}.gz")
    assert packed == inside
    assert "text" in packed.text


def test_what_follows_the_data_of_gzip_is_no_part_of_a_document():
    packed = gzip.compress(b"some words")
    assert read(packed + bytes(512), "notes.gz").text == "some words"
    with pytest.raises(Unreadable, match="something else follows"):
        read(packed + b"x" * 512, "notes.gz")


def test_headings_beyond_a_bound_are_text():
    document = registry.component("readers", "plain")().read(b"# a\n\n" * 20_100, name="a.md")
    assert len(document.headings) == 20_000
    assert document.text.count("a") == 20_100


def test_no_way_in_gives_a_document_more_marks_than_are_told_apart():
    markdown = b"# a\n\n" * 15_000
    mail = message("Many", attached=("a.md", markdown))
    mail.add_attachment(markdown, maintype="text", subtype="markdown", filename="b.md")
    document = registry.component("readers", "mail")().read(mail.as_bytes(), name="a.eml")
    assert len(document.headings) == MOST_MARKS
    assert document.text.count("\n# a") == 30_000
    pages = tuple(PageStart(start=0, number=number) for number in range(MOST_MARKS + 1))
    assert Document(text="a", pages=pages).pages == pages[:MOST_MARKS]


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.epub", "a.pdf", "a.txt.gz"])
@pytest.mark.parametrize("share", [0.01, 0.6, 0.99])
def test_truncated_files_are_unreadable_or_read_in_part(name: str, share: float):
    whole = {
        "a.docx": make_docx,
        "a.pptx": make_pptx,
        "a.xlsx": make_xlsx,
        "a.epub": make_epub,
        "a.pdf": lambda: make_pdf([["Some text"]]),
        "a.txt.gz": lambda: gzip.compress(bytes(range(32, 127)) * 10),
    }[name]()
    data = whole[: int(len(whole) * share)]
    reader = registry.reader_for(name, data[:8192])
    if reader is None:
        return
    try:
        document = reader.read(data, name=name)
    except Unreadable:
        return
    assert name == "a.pdf"  # PDFium repairs what it can
    assert "Some text" in document.text


@pytest.mark.parametrize(
    ("name", "first", "expected"),
    [
        ("page.html", b"<p>x", "html"),
        ("NOTES.Debian", b"hello", "plain"),
        ("index", b"\n<!DOCTYPE html><html>", "html"),
        ("paper.pdf", b"<!doctype html><html>Log in", "html"),
        ("page.html", b"%PDF-1.4", "pdf"),
        ("data", b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        (Path("folder.d/a.CSV"), b"a,b", "table"),
        ("image.html", b"\x89PNG\r\n", "picture"),
        ("program", b"\x7fELF\x02", None),
        ("unknown.bin", b"\x00\x01\x02\x03" * 100, None),
    ],
)
def test_reader_is_chosen_by_bytes_then_suffix_then_look(name: str | Path, first: bytes, expected: str | None):
    reader = registry.reader_for(name, first)
    assert (reader.name if reader else None) == expected


def test_registry_lists_components_and_refuses_others():
    assert {"html", "pdf", "plain"} <= set(registry.names("readers"))
    for name in registry.names("readers"):
        assert registry.component("readers", name).name == name
    with pytest.raises(ConfigError, match=r"there are: .*html"):
        registry.component("readers", "wordstar")
    with pytest.raises(ConfigError):
        registry.names("cars")
