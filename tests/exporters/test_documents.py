"""PDF, Word, slides and HTML, opened by programs that know nothing of us."""

import io
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pypdfium2
import pytest
from docx.enum.table import WD_TABLE_DIRECTION
from lxml import etree, html

from deep_research import registry
from deep_research.errors import ConfigError
from deep_research.exporters import pdf_exporter
from deep_research.safe_text import safe_noun
from tests.support.made_reports import HOSTILE, OWN, SAID, SECOND, URL, exported, make_input

HEBREW = "מנוע אלפא מסתובב."
HEBREW_TABLE = "| מנוע | מהירות |\n|---|---|\n| אלפא | 3,000 |"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def pdf_text(data: bytes) -> str:
    document = pypdfium2.PdfDocument(data)
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def xml_of(data: bytes, part: str) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return etree.fromstring(archive.read(part))


def test_the_text_of_a_pdf_is_that_of_the_report() -> None:
    text = " ".join(pdf_text(exported("pdf")).split())
    for said in (SAID, SECOND, "Engines compared", "alpha = 3000", "4,500 rpm", "[1]", URL, "7 supported", "fourth"):
        assert said in text, said


def test_the_head_tells_how_many_statements_have_which_verdict() -> None:
    page = html.fromstring(exported("html"))
    counts = [" ".join(item.text_content().split()) for item in page.xpath("//*[@class='counts']/li")]
    assert counts == [
        "7 supported", "1 contradicted", "1 misleading", "1 unverified", "2 the author's own", "2 sources cited",
    ]  # fmt: skip
    rows = [row.get("data-verdict") for row in page.xpath("//tr[@data-verdict]")]
    assert len(rows) == 12
    assert rows.count("own") == 2


def test_what_is_not_confirmed_has_a_mark_that_says_why() -> None:
    page = html.fromstring(exported("html"))
    marks = [(mark.text, mark.get("title")) for mark in page.xpath("//span[contains(@class, 'doubt')]")]
    assert marks == [
        ("°", "misleading: The manual says that it must not be run below 5 °C."),
        ("°", "contradicted: The table says 85 kg."),
        ("°", "unverified: No passage speaks of countries."),
    ]
    text = " ".join(pdf_text(exported("pdf")).split())
    assert "contradicted: The table says 85 kg." in text
    notes = "".join(xml_of(exported("docx"), "word/footnotes.xml").itertext())
    assert "unverified: No passage speaks of countries." in notes


def test_what_the_verifier_found_and_what_was_changed_lies_folded_in_a_page() -> None:
    page = html.fromstring(exported("html"))
    (folded,) = page.xpath("//details[@class='verification']")
    assert folded.get("open") is None
    problems = [" ".join(item.text_content().split()) for item in folded.xpath(".//ol[@class='problems']/li")]
    assert len(problems) == 3
    assert problems[0].startswith("It can be run in any weather.")
    assert "misleading Its manual forbids cold." in problems[0]
    assert "[s1p3]" not in problems[0]
    assert "revised by the writer" in problems[1]
    edits = folded.xpath(".//ol[@class='edits']/li")
    assert [edit.xpath("./ins")[0].text.strip() for edit in edits] == [
        "The Beta engine turns at 4,500 rpm",
        "weather above 5 °C",
    ]
    assert "Not made" in edits[1].text_content()
    assert "Not made" not in edits[0].text_content()
    given = make_input()
    bare = given.report.model_copy(update={"problems": (), "edits": ()})
    made = registry.component("exporters", "html")().export(given.model_copy(update={"report": bare}))
    assert not html.fromstring(made).xpath("//details[@class='verification']")


def test_an_address_longer_than_a_pdf_can_link_is_printed() -> None:
    given = make_input()
    first, *others = given.report.references
    url = f"https://a.example/{'x' * 20_000}"
    report = given.report.model_copy(update={"references": (first.model_copy(update={"url": url}), *others)})
    made = registry.component("exporters", "pdf")().export(given.model_copy(update={"report": report}))
    assert "https://a.example/xxx" in "".join(pdf_text(made).split())


@pytest.fixture
def without_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    import typst  # noqa: PLC0415

    fonts = typst.Fonts
    monkeypatch.setattr("typst.Fonts", lambda **_given: fonts(include_system_fonts=False))


@pytest.mark.usefixtures("without_fonts")
def test_without_a_font_a_pdf_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"No font has the character '.'.*fonts-noto-cjk.*--fonts FOLDER") as caught:
        exported("pdf", "发动机", language="zh")
    assert caught.value.setting == "fonts"
    text = pdf_text(exported("pdf", "hi \N{PILE OF POO} there"))
    assert "hi ? there" in " ".join(text.split())


@pytest.mark.parametrize("letter", ["ำ", "ก"])  # of the first, typesetting makes two
@pytest.mark.usefixtures("without_fonts")
def test_a_letter_that_no_font_has_is_never_lost(letter: str) -> None:
    with pytest.raises(ConfigError, match=r"No font has the character '.'.*fonts-noto-core.*--fonts FOLDER"):
        exported("pdf", f"น{letter}", language="th")


FORMULAS = (r"\(a_{1} \, b\)", r"$\{x_1*2\} * y*$", "$$\\begin{matrix} a \\\\ c \\end{matrix}$$")


@pytest.mark.parametrize("name", ["pdf", "docx", "html"])
def test_a_formula_and_an_escaped_number_in_brackets_stand_in_every_layout_as_they_were_written(name: str) -> None:
    said = f"It is {' and '.join(FORMULAS)} there, for $5_000 and $6_000."
    data = exported(name, said)
    if name == "docx":
        text = "".join(xml_of(data, "word/document.xml").itertext())
    else:
        text = pdf_text(data) if name == "pdf" else html.fromstring(data.decode()).text_content()
    assert "".join(said.split()) in "".join(text.replace("\u200b", "").split())
    assert "Said of [1] and [99]." in " ".join(text.split())


def test_without_typst_a_pdf_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "typst", None)
    with pytest.raises(ConfigError, match=r"deep-research\[pdf\]"):
        pdf_exporter.PdfExporter().export(make_input())


def test_a_word_document_has_styles_footnotes_and_lists_of_their_own_numbers() -> None:
    data = exported("docx")
    document: Any = docx.Document(io.BytesIO(data))
    styles = [(p.style.name, p.text) for p in document.paragraphs]
    assert ("Title", "Engines compared") in styles
    assert ("Heading 1", "Alpha") in styles
    assert ("Heading 2", "Detail") in styles
    assert ("List Number", "fourth") in styles
    assert ("List Bullet 2", "The Beta engine weighs 90 kg°.") in styles
    notes = ["".join(note.itertext()).strip() for note in xml_of(data, "word/footnotes.xml").iter(f"{_WORD}footnote")]
    marks = list(xml_of(data, "word/document.xml").iter(f"{_WORD}footnoteReference"))
    assert len(notes) - 2 == len(marks) == 15  # two are Word's own lines
    assert notes[2].startswith("[1] Alpha manual, alpha.pdf, 2021-05, p. 3")
    assert SAID in notes[2]
    assert "See [1], p. 3" in notes
    assert document.tables[1].cell(1, 0).text == "Alpha"
    assert list(xml_of(data, "word/document.xml").iter(f"{_WORD}tblHeader"))
    assert document.core_properties.title == "Engines compared"


def test_slides_have_titles_points_tables_and_the_whole_text_in_their_notes() -> None:
    slides = list(pptx.Presentation(io.BytesIO(exported("pptx"))).slides)
    titles = [slide.shapes.title.text_frame.text for slide in slides]
    assert titles[:3] == ["Engines compared", "Engines compared", "Alpha"]
    assert titles[-1] == "References"
    points = [paragraph.text for paragraph in slides[2].placeholders[1].text_frame.paragraphs]
    assert points[0].startswith("The Alpha engine was built in 1999 by Rolf Maier. [1]")
    assert "Fill in the oil first. [1]" in points
    assert OWN not in " ".join(points)  # the second paragraph is in the notes
    assert OWN in slides[2].notes_slide.notes_text_frame.text
    assert any("Said of [1] and [99]." in slide.notes_slide.notes_text_frame.text for slide in slides)
    (table,) = [shape.table for slide in slides for shape in slide.shapes if shape.has_table]
    assert table.cell(2, 1).text == "4,500 rpm [2]"


def test_each_block_runs_the_way_of_its_first_letter() -> None:
    given = make_input(language="he", title="מנועים")
    text = given.report.report.replace("and [99].", f"and [99].\n\n{HEBREW}\n\n{HEBREW_TABLE}")
    given = safe_noun(given.model_copy(update={"report": given.report.model_copy(update={"report": text})}))
    made = {name: registry.component("exporters", name)().export(given) for name in ("docx", "pptx", "html", "pdf")}

    document: Any = docx.Document(io.BytesIO(made["docx"]))
    turned = [p.text for p in document.paragraphs if p._p.find(f"{_WORD}pPr/{_WORD}bidi") is not None]
    assert turned == ["מנועים", HEBREW]
    assert [table.table_direction for table in document.tables][-2:] == [None, WD_TABLE_DIRECTION.RTL]

    slides = list(pptx.Presentation(io.BytesIO(made["pptx"])).slides)
    lines = {p.text: p._p.pPr for s in slides for shape in s.placeholders for p in shape.text_frame.paragraphs}
    assert [lines[words].get("rtl") for words in ("מנועים", "Fill in the oil first. [1]")] == ["1", None]

    page = html.fromstring(made["html"].decode())
    blocks = page.xpath(
        "//h1 | //main/*[self::h2 or self::p or self::ul or self::ol[not(@class)]] | //div[@class='wide']/table"
    )
    assert len(blocks) > 9
    assert {block.get("dir") for block in blocks if not block.xpath("ancestor::details")} == {"auto"}

    texts = [(sheet.get_width(), sheet.get_textpage()) for sheet in pypdfium2.PdfDocument(made["pdf"])]
    for words, begins_right in (("מנועים", True), ("מסתובב", True), ("fourth", False)):
        width, shown, (start, _) = next((w, t, at) for w, t in texts if (at := t.search(words).get_next()))
        assert (shown.get_charbox(start)[2] > width / 2) == begins_right, words


def test_a_workbook_has_texts_and_no_formulas() -> None:
    for extra in ("", *HOSTILE):
        book = openpyxl.load_workbook(io.BytesIO(exported("xlsx", extra)))
        assert book.sheetnames == ["Summary", "Evidence", "Problems", "Edits", "References", "Parts", "Gaps"]
        cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
        assert not [cell for cell in cells if cell.data_type == "f"]
    evidence = openpyxl.load_workbook(io.BytesIO(exported("xlsx")))["Evidence"]
    assert evidence["C3"].value == SAID
    book = openpyxl.load_workbook(io.BytesIO(exported("xlsx")))
    summary = {row[0].value: row[1].value for row in book["Summary"].iter_rows()}
    verdicts = ("statements", "supported", "misleading", "contradicted", "unverified", "own")
    assert [summary[name] for name in verdicts] == [12, 7, 1, 1, 1, 2]
    assert [row[0].value for row in book["Problems"].iter_rows(min_row=2)] == ["misleading", "unsupported", "missing"]
    assert [row[2].value for row in book["Edits"].iter_rows(min_row=2)] == ["yes", "no"]


@pytest.mark.parametrize(
    ("name", "extra"), [("pdf", " ".join(HOSTILE)), *((name, extra) for name in ("docx", "pptx") for extra in HOSTILE)]
)
def test_hostile_texts_are_texts(name: str, extra: str) -> None:
    data = exported(name, extra)
    if name == "pdf":
        text = pdf_text(data)
        assert b"/JavaScript" not in data
        assert "root:" not in text
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {part: archive.read(part) for part in archive.namelist()}
        for part in (name for name in parts if name.endswith((".xml", ".rels"))):
            etree.fromstring(parts[part])
        links = b"".join(data for part, data in parts.items() if part.endswith(".rels"))
        assert b"javascript:" not in links
        assert b"tracker.example" not in links
        assert b"evil.example" not in links


@pytest.mark.parametrize("extra", HOSTILE)
def test_nothing_in_a_page_acts_loads_or_leads_elsewhere(extra: str) -> None:
    page = html.fromstring(exported("html", extra).decode())
    allowed = {
        "html", "head", "meta", "title", "style", "body", "div", "header", "p", "h1", "h2", "h3", "ul", "ol", "li", "b",
        "nav", "a", "main", "strong", "em", "code", "pre", "button", "table", "thead", "tbody", "tr", "th", "td",
        "details", "summary", "figure", "figcaption", "del", "ins", "svg", "rect", "input", "label", "span", "aside", "blockquote", "mark", "br",
    }  # fmt: skip
    assert {element.tag for element in page.iter()} <= allowed
    attributes = {name for element in page.iter() for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "style", "action")]
    assert {a.get("href") for a in page.iter("a") if not a.get("href").startswith("#")} <= {URL}
    assert "default-src 'none'" in page.xpath("//meta[@http-equiv]/@content")[0]


def test_charts_are_drawn_in_every_document_with_what_they_cite() -> None:
    page = html.fromstring(exported("html").decode())
    (bars,) = page.xpath("//figure")
    assert [rect.get("width") for rect in bars.xpath(".//rect")] == ["66.7", "100.0"]
    assert [button.text for button in bars.xpath(".//button")] == ["1", "2"]
    assert page.xpath("//pre/code[contains(text(), 'pie')]")  # what cannot be drawn stays as it was written
    text = " ".join(pdf_text(exported("pdf")).split())
    assert "Speed at full load" in text
    assert "4,500 rpm[2]" in text
    slides = pptx.Presentation(io.BytesIO(exported("pptx"))).slides
    (chart,) = [shape.chart for slide in slides for shape in slide.shapes if shape.has_chart]
    assert list(chart.plots[0].categories) == ["Beta", "Alpha"]
    assert list(chart.plots[0].series[0].values) == [4500, 3000]
    document: Any = docx.Document(io.BytesIO(exported("docx")))
    assert [cell.text for cell in document.tables[0].rows[0].cells] == ["Alpha", "3,000 rpm"]
    assert "| Beta | 4,500 rpm [2] |" in exported("markdown").decode()


def test_every_citation_of_a_page_opens_a_passage_in_its_context() -> None:
    page = html.fromstring(exported("html").decode())
    panels = {panel.get("id"): panel for panel in page.xpath("//aside[@popover]")}
    buttons = page.xpath("//main//p//button[@popovertarget]")
    assert len(buttons) >= 4
    assert {button.get("popovertarget") for button in page.xpath("//button[@popovertarget]")} == set(panels)
    first = panels[buttons[0].get("popovertarget")]
    assert "1999" not in first.text_content()  # the statement's own passage, not all of its source
    assert f"{SAID} {SECOND}" in first.xpath(".//mark")[0].text
    shown = first.xpath(".//blockquote")[0].text_content()
    assert shown.startswith("Before it.")
    assert "After it." in shown
    assert "p. 3" in first.text_content()
    assert "Beta turns" not in first.text_content()


def test_an_office_opens_documents_and_slides(tmp_path: Path) -> None:
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        pytest.skip("no LibreOffice on this machine (Debian: libreoffice-writer-nogui libreoffice-impress-nogui)")
    files = [tmp_path / f"{name}.{name}" for name in ("docx", "pptx")]
    for file in files:
        file.write_bytes(exported(file.stem, "发动机 & <b>"))
    command = [office, f"-env:UserInstallation=file://{tmp_path}/office", "--headless", "--convert-to", "pdf"]
    subprocess.run([*command, "--outdir", tmp_path, *files], check=True, capture_output=True, timeout=110)
    for file in files:
        text = " ".join(pdf_text(file.with_suffix(".pdf").read_bytes()).split())
        assert SAID in text
        assert "<b>" in text


@pytest.mark.process
def test_a_browser_opens_a_passage_without_a_network(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine (Debian: chromium)")
    file = tmp_path / "report.html"
    file.write_bytes(exported("html", HOSTILE[0]))
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright in this environment")
    with playwright.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(offline=True)
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        page.locator("main p button.cite").first.click()
        panel = page.locator("aside.panel:popover-open")
        assert SAID in panel.locator("mark").inner_text()
        page.keyboard.press("Escape")
        assert panel.count() == 0
        assert page.evaluate("getComputedStyle(document.querySelector('.sheet')).display") == "grid"
        opened.close()
    assert faults == []
    assert requests == [file.as_uri()]


@pytest.mark.parametrize("to", ["docx", "pptx", "pdf", "xlsx", "html"])
def test_a_table_may_be_wider_than_a_page(to: str) -> None:
    row = "|" + "|".join("a" * 200) + "|"
    assert exported(to, f"{row}\n{row.replace('a', '-')}\n{row}\n")
