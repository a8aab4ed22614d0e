"""What lies in people's folders beside documents of an office: notebooks, mail, OpenDocument, RTF, Org, LaTeX, code."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import docx
import pytest
from PIL import Image, ImageDraw, ImageFont

from deep_research import registry
from deep_research.errors import Unreadable
from deep_research.text import document_builder
from tests.readers.made_files import message, open_document
from tests.readers.test_formats import read, saved


def test_a_notebook_has_its_texts_its_code_and_what_was_printed():
    cells = [
        {"cell_type": "markdown", "source": ["# Churn\n", "of the *pilot*"]},
        {"cell_type": "code", "source": "a = 1\nprint(a)", "outputs": [{"output_type": "stream", "text": ["4.2 %\n"]}]},
        {"cell_type": "code", "source": "b", "outputs": [{"data": {"image/png": "x", "text/plain": "<Figure>"}}]},
    ]
    document = read(json.dumps({"nbformat": 4, "cells": cells}).encode(), "a.ipynb")
    assert document.text.startswith("# Churn\n\nof the pilot\n\n```\na = 1\nprint(a)\n```\n\n```\n4.2 %\n```")
    assert (document.title, document.warnings) == ("Churn", ("1 of its outputs are pictures, which are not read",))
    cells[2]["outputs"] = ["x", {"data": 5}, {"text": "kept"}]
    cells.append({"cell_type": "heading", "level": "x", "source": "End"})
    document = read(json.dumps({"nbformat": 3, "cells": cells}).encode(), "a.ipynb")
    assert document.text.endswith("```\nkept\n```\n\n# End")
    assert document.warnings == ("an output of a form that no notebook has was not read",)
    for broken in (b"{}", b"[1]", b'{"cells": 3}', b"{"):
        with pytest.raises(Unreadable):
            registry.component("readers", "notebook")().read(broken, name="a.ipynb")


def test_a_message_is_decoded_and_its_attachment_is_a_document_of_its_own():
    document = read(message("Größe", attached=("plan.csv", b"a,b\n1,2\n")).as_bytes(), "a.eml")
    mail, plan = document.split()
    assert (mail.title, mail.published, mail.authors) == ("Größe", "2026-11-12", ("Jörg Müller",))
    assert mail.text.endswith("Über Größe.\n\nFrom Monday on all is new.")
    assert "- From: Jörg Müller <j@example.com>\n- To: Ann <a@example.com>" in mail.text
    assert (plan.title, plan.text) == ("plan.csv (Größe)", "| a | b |\n| --- | --- |\n| 1 | 2 |")
    assert document.warnings == ("attachment scan.png: a picture, which is not read inside a message",)


def test_a_file_has_a_bounded_number_of_documents_and_what_was_left_out_is_told_once(monkeypatch: pytest.MonkeyPatch):
    told = f"only the first {document_builder.MOST_PARTS} messages and attached files were read"
    monkeypatch.setattr(document_builder, "MOST_PARTS", 50)
    archive = b"".join(b"From a Thu Nov 12 2026\nSubject: %d\n\nText.\n\n" % number for number in range(52))
    document = read(message("Files", attached=("old.mbox", archive)).as_bytes(), "a.eml")
    assert len(document.split()) == 50
    assert [warning for warning in document.warnings if "png" not in warning] == [told]


def test_what_cannot_be_read_is_named_and_beyond_some_hundreds_counted():
    mail = message("Sounds")
    for number in range(250):
        mail.add_attachment(b"RIFF", maintype="audio", subtype="wav", filename=f"{number}.wav")
    warnings = read(mail.as_bytes(), "a.eml").warnings
    assert warnings[0] == "attachment 0.wav: of a format that is not read"
    assert (len(warnings), warnings[-1]) == (201, "50 more things in it could not be read")


def test_a_message_within_a_message_and_one_of_another_encoding():
    outer = message("Forwarded")
    outer.add_attachment(message("Inner"))
    assert [one.title for one in read(outer.as_bytes(), "a.eml").split()] == ["Forwarded", "Inner"]
    plain = "Subject: x\nContent-Type: text/plain; charset=no-such\n\nThe offer f\xfcr Jim stands.".encode("cp1252")
    assert "The offer für Jim stands." in read(plain, "b.eml").text


def test_open_document_text():
    body = (
        '<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h text:outline-level="2">Prices</text:h>'
        "<text:p>Two<text:s/>words<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p>"
        "</text:note-body></text:note></text:p><text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
        "<text:p>deeper</text:p></text:list-item></text:list></text:list-item></text:list><table:table><table:table-row>"
        "<table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell><text:p>y</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    document = read(open_document("text", body), "a.odt")
    assert document.text == "## Prices\n\nTwo words\n\nA note.\n\n- one\n  - deeper\n\n| x | y |"


def test_what_stands_within_a_box_or_cell_is_written_once():
    box, cell = ("<draw:frame><draw:text-box>", "</draw:text-box></draw:frame>"), "table:table-cell"
    nested = f"<text:p>x{box[0]}" * 40 + "<text:p>y</text:p>" + f"{box[1]}</text:p>" * 40
    assert read(open_document("text", nested), "a.odt").text == "x\n\n" * 40 + "y"
    row = f"<table:table><table:table-row><{cell}>", f"</{cell}></table:table-row></table:table>"
    assert read(open_document("text", row[0] * 40 + "<text:p>y</text:p>" + row[1] * 40), "a.odt").text == "| y |"


@pytest.mark.parametrize("kind", ["html", "odt", "docx"])
def test_columns_that_are_left_out_are_told(kind: str):
    names = [f"c{number}" for number in range(61)]
    word = docx.Document()
    for cell, name in zip(word.add_table(1, 61).rows[0].cells, names, strict=True):
        cell.text = name
    cells = "".join(f"<table:table-cell><text:p>{name}</text:p></table:table-cell>" for name in names)
    row = "".join(f"<td>{name}</td>" for name in names)
    data = {
        "html": f"<p>Words.</p><table><tr>{row}</tr><tr>{row}</tr></table>".encode(),
        "odt": open_document("text", f"<table:table><table:table-row>{cells}</table:table-row></table:table>"),
        "docx": saved(word),
    }[kind]
    document = read(data, f"a.{kind}")
    assert "c59" in document.text
    assert "c60" not in document.text
    assert document.warnings == (document_builder.TOO_WIDE,)


def test_open_document_sheets_are_as_they_are_shown():
    cell = '<table:table-cell office:value="36000"><text:p>36,000.00</text:p></table:table-cell>'
    empty = '<table:table-cell table:number-columns-repeated="16380"/>'
    rows = (
        f"<table:table-row>{cell.replace('36,000.00', 'Budget')}{cell.replace('36,000.00', 'Year')}{empty}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="2">{cell}{cell}{empty}</table:table-row>'
        f'<table:table-row table:number-rows-repeated="1048573">{empty}</table:table-row>'
    )
    document = read(open_document("spreadsheet", f'<table:table table:name="Plan">{rows}</table:table>'), "a.ods")
    row = "\n| 36,000.00 | 36,000.00 |"
    assert document.text == f"## Plan\n\n| Budget | Year |\n| --- | --- |{row}{row}"


def test_open_document_slides_are_pages():
    page = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Plan</text:p></draw:text-box></draw:frame>'
        "<draw:frame><draw:text-box><text:p>Beta in May</text:p></draw:text-box></draw:frame></draw:page>"
    )
    document = read(open_document("presentation", page * 2), "a.odp")
    assert document.text == "## Plan\n\nBeta in May\n\n## Plan\n\nBeta in May"
    assert [page.number for page in document.pages] == [1, 2]


@pytest.mark.parametrize("name", ["a.odt", "a.ods"])
def test_open_document_that_is_encrypted_or_broken_is_said_so(name: str):
    with pytest.raises(Unreadable, match="password"):
        read(open_document("text", "", encrypted=True), name)
    with pytest.raises(Unreadable, match="broken"):
        read(open_document("text", "<text:p>"), name)


def test_rtf():
    text = (
        r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fnil\fcharset134 SimSun;}}{\stylesheet{\s1\b heading 1;}}"
        r"{\info{\title Plan}}{\header top of all pages}\pard\s1 Pri{\b ces}\par\pard\f1 \'ce\'d2\f0 \uc1\u8364 ?5\par"
        r"\pard{\listtext\bullet\tab}{one}\par\pard\intbl a\cell b\cell\row\pard\intbl 1\cell 2\cell\row\pard"
        r"{\field{\*\fldinst HYPERLINK x}{\fldrslt a link}} \{end\}\par}"
    )
    document = read(text.encode(), "a.rtf")
    assert document.text == "# Prices\n\n我€5\n\n- one\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\na link {end}"
    assert document.title == "Plan"
    assert read(text.replace(r"{\title Plan}", "").encode(), "a.rtf").title == "Prices"
    changed = r"{\rtf1 Rent{\deleted  100}{\revised\revdttm-2015295488  250}{\v  in secret} euros {\v\v0 a month}.\par}"
    assert read(changed.encode(), "a.rtf").text == "Rent 250 euros a month."


def test_org():
    text = (
        "#+TITLE: On call\n* Rota :ops:\n| Week | Who |\n|------+-----|\n| 49 | Nadia |\n** TODO Down\n:PROPERTIES:\n:ID: 7\n"
        ":END:\n1. Page the [[https://x.test][person]]\n   on call.\n2. Fail over.\n#+BEGIN_SRC sh\n* run\n#+END_SRC\n# hidden\n"
        "Then /rest/.\n"
    )
    document = read(text.encode(), "a.org")
    assert document.text == (
        "# Rota\n\n| Week | Who |\n| --- | --- |\n| 49 | Nadia |\n\n## Down\n\n1. Page the person on call.\n2. Fail over.\n\n"
        "```\n* run\n```\n\nThen rest."
    )
    assert document.title == "On call"


MAN = r""".\" Copyright of somebody
.de Vb
.ft CW
..
.ie \n(.g .ds Aq \(aq
.el \{\
.ds Aq '
hidden
.\}
.TH KILLALL 1 2021\-01\-11 psmisc "User Commands"
.ad l
.SH NAME
killall \- kill \fIprocesses\fP by name\" hidden
.SH "SEE ALSO" \(bu NOTES
.IP "\fB\-o\fP, \fB\-\-older\-than\fP" 4
Match only older
.BR processes (7).
.TP
.B \-q
.TP
.B \-\-quiet
Do not \[lq]complain\[rq].
.PP
Since=
.RS 4
A definition.
.RE
.sp
.RS 4
.ie n \{\
\h'-04'\(bu\h'+03'\c
.\}
.el \{\
.IP \(bu 2.3
.\}
A bullet.
.RE
.SS
Code
.nf
 one  \e
\&.two
.fi
"""


def test_a_manual_page_is_read_without_the_marks_of_roff():
    document = read(MAN.encode(), "link.1")
    assert (document.title, document.published, document.media_type) == ("killall(1)", "2021-01-11", "text/troff")
    assert document.text == (
        "# killall(1)\n\n## NAME\n\nkillall - kill processes by name\n\n## SEE ALSO • NOTES\n\n"
        "- -o, --older-than: Match only older processes(7).\n- -q, --quiet: Do not “complain”.\n- Since=: A definition.\n"
        "- A bullet.\n\n### Code\n\n```\n one  \\\n.two\n```"
    )
    assert read(gzip.compress(MAN.encode()), "link.1.gz").title == "killall(1)"


def test_mdoc():
    text = (
        ".Dd March 2, 2020\n.Dt PUMP 8\n.Os\n.Sh NAME\n.Nm pump\n.Nd moves water\n.Sh SYNOPSIS\n.Nm\n.Op Fl v Ar level\n"
        ".Ar\n.Sh OPTIONS\n.Bl -tag -width x\n.It Fl v , Fl Fl verbose Ns = Ns Ar n\nSays more, see\n.Xr flow 5 .\n.El\n"
    )
    assert read(text.encode(), "pump.8").text == (
        "# pump(8)\n\n## NAME\n\npump - moves water\n\n## SYNOPSIS\n\npump [-v level] file ...\n\n## OPTIONS\n\n"
        "- -v, --verbose=n: Says more, see flow(5)."
    )


def test_latex():
    text = (
        '\\documentclass{article}\\title{Heat \\emph{loss}}\\author{A. Weber \\and G\\"odel}\\begin{document}\\maketitle\n'
        "\\section{Method}\\label{s}\nWe lost 3.4\\,\\% % never\nof heat~\\cite{w24}; $\\pm 0.2$ K, cr\\^eme, gar\\c{c}on.\n"
        "\\begin{itemize}\n\\item One\n\\item Two\n\\end{itemize}\n\\begin{table}\\caption{By wall}\n\\begin{tabular}{lr}\\hline\n"
        "Wall & W \\\\ \\hline\nNorth & 1\\,200 \\\\\n\\end{tabular}\\end{table}\n\\begin{verbatim}\n% kept\n\\end{verbatim}\n\\end{document}"
    )
    document = read(text.encode(), "a.tex")
    assert document.text == (
        "A. Weber, Gödel\n\n## Method\n\nWe lost 3.4 % of heat; $\\pm 0.2$ K, crême, garçon.\n\n- One\n- Two\n\nBy wall\n\n"
        "| Wall | W |\n| --- | --- |\n| North | 1 200 |\n\n```\n% kept\n```"
    )
    assert (document.title, document.authors) == ("Heat loss", ("A. Weber", "Gödel"))


def test_code_keeps_its_lines_and_what_a_program_wrote_for_programs_is_none():
    assert read(b"limit: 3\nname: x\n", "a.yaml").text == "```\nlimit: 3\nname: x\n```"
    body = "\n".join(f"    x = {number}" for number in range(200))
    pieces = read(f"def a():\n{body}\n\n\ndef b():\n    pass\n".encode(), "a.py").text
    assert pieces.endswith("\n```\n\n```\ndef b():\n    pass\n```")
    with pytest.raises(Unreadable, match="programs"):
        read(b"var a=1;" * 5000, "jquery.min.js")


def test_the_page_on_formats_names_them_all():
    page = Path("docs/formats.md").read_text("utf-8")
    code = set(registry.component("readers", "code").suffixes)
    assert [suffix for suffix in registry.suffixes() if suffix not in code and f"`{suffix}`" not in page] == []
    named = set(re.findall(r"`(\.\w+)`", page.partition("**Pictures")[0]))
    assert named <= set(registry.suffixes())


_OCR = """
import sys
from deep_research import registry
sys.stdout.reconfigure(encoding="utf-8")
from deep_research.isolated_reading import read_bytes
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    document = read_bytes(registry.reader_for(path, data[:8192]), data, name=path)
    print(document.text)
    assert "OCR" in document.warnings[-1], document.warnings
"""


@pytest.mark.skipif(not registry.reads_pictures(), reason="the extra `ocr` is not installed")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_text_in_pictures_and_scanned_pages_is_read_in_a_worker(tmp_path: Path, language: str):
    lines = {
        "en": ["The notice period is six months.", "Rent: 4,250.00 EUR"],
        "zh": ["押金为三个月租金。", "共计 97,500 元"],
    }
    fonts = [f for f in Path("/usr/share/fonts").rglob("*") if f.suffix in (".ttf", ".ttc", ".otf") and "CJK" in f.name]
    if not fonts:
        pytest.skip("no font with Chinese")
    image = Image.new("RGB", (1240, 600), (250, 250, 250))
    ImageDraw.Draw(image).multiline_text(
        (100, 100), "\n\n".join(lines[language]), fill=20, font=ImageFont.truetype(fonts[0], 32)
    )
    image.save(tmp_path / "a.png")
    image.save(tmp_path / "b.pdf", resolution=150)
    run = [sys.executable, "-c", _OCR, str(tmp_path / "a.png"), str(tmp_path / "b.pdf")]
    said = subprocess.run(run, capture_output=True, check=True).stdout.decode()
    for line in lines[language]:
        assert said.replace(" ", "").count(line.replace(" ", "")) == 2


def test_a_line_of_a_letter_that_begins_with_from_begins_no_letter() -> None:
    archive = b"From a@b.de Thu Nov 12 09:00:00 2026\nSubject: Parcels\n\nHello.\n\nFrom 24 March on, a parcel waits.\n"
    (letter,) = read(archive, "service.mbox").split()
    assert "From 24 March on, a parcel waits." in letter.text
