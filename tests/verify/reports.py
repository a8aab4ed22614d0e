"""Reports that somebody else wrote, in every format they come in, and a web of two engines that they cite."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import docx
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml.ns import nsdecls, qn
from docx.oxml.parser import OxmlElement

from tests.readers.pdf_files import make_pdf
from tests.support.fake_web import FakeWeb

ALPHA = (
    "<p>The Alpha engine is a rotary engine that turns at 3,000 rpm. It was built in 1999 by Rolf Maier in Graz. Its "
    "advantage is that it runs without oil, which makes it cheap to keep and simple to repair.</p>"
)
BETA = (
    "<p>The Beta engine is a piston engine that turns at 4,500 rpm. The Beta engine was built in 2004 by Anna Holm in "
    "Bergen. Its disadvantage is a weight of 85 kg. The Beta engine is recommended for trucks.</p>"
)


@contextmanager
def engines_web() -> Iterator[tuple[FakeWeb, str]]:
    """Serve pages about two engines; give the web and the address of its site."""
    with FakeWeb() as web:
        site = web.site("engines.test")
        site.page("/alpha", page("Alpha engine", ALPHA)).page("/beta", page("Beta engine", BETA))
        yield web, web.base("engines.test")


def page(title: str, body: str) -> str:
    """A page of the web."""
    return f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{body}</article></body></html>"


def markdown(base: str) -> str:
    """A report with a wrong number, a made-up quotation, a dead link and a right statement."""
    return f"""# Engines compared

The Alpha engine turns at 3,500 rpm [1]. It was built in 1999 in Graz ([source]({base}/alpha)).
One expert says it is "the best engine that was ever built" [1].

The Beta engine weighs 85 kg [2]. Both are sold in Peru [3]. Taken together, the Alpha engine is the simpler one.

## Sources

1. [Alpha]({base}/alpha)
2. Beta: {base}/beta
3. Gone: {base}/gone
"""


def html(base: str) -> str:
    """The same claims as a page with raised numbers."""
    return page(
        "Engines compared",
        '<p>The Alpha engine turns at 3,500 rpm.<sup><a href="#r1">1</a></sup> It needs 5 m<sup>2</sup> of room.</p>'
        f'<p>The Beta engine weighs 85 kg (<a href="{base}/beta">Beta engine</a>), says its maker.</p>'
        "<script>fetch('http://127.0.0.1:9/')</script><h2>References</h2>"
        f'<ol><li id="r1">Alpha engine, <a href="{base}/alpha">{base}/alpha</a></li></ol>',
    )


def printed(base: str) -> bytes:
    """The same claims as a PDF file, whose links stand behind its words, one of them over two lines."""
    lines = ["The Alpha engine turns at 3,500 rpm (source).", "The Beta engine weighs 85 kg (its", "maker)."]
    places = {"257 757 290 771": "alpha", "226 743 282 757": "beta", "71 729 104 743": "beta"}
    return make_pdf(
        [[*lines, ("Engines compared", 72, 790, 20)]],
        links=[(place, f"{base}/{path}") for place, path in places.items()],
    )


def word(base: str) -> bytes:
    """The same claims as a DOCX file: a link in the text, and numbers of a list that the format numbers."""
    file = docx.Document()
    file.add_heading("Engines compared", 0)
    paragraph = file.add_paragraph("The Alpha engine turns at 3,500 rpm ")
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), file.part.relate_to(f"{base}/alpha", RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run, words = OxmlElement("w:r"), OxmlElement("w:t")
    words.text = "source"
    run.append(words)
    link.append(run)
    paragraph._p.append(link)
    paragraph.add_run(". The Beta engine weighs 85 kg [1].")
    paragraph.add_run(" It was built in 2004")
    paragraph.add_run("1").font.superscript = True
    paragraph.add_run(" in Bergen")
    mark = OxmlElement("w:endnoteReference")
    mark.set(qn("w:id"), "1")
    paragraph.add_run()._r.append(mark)
    paragraph.add_run(".")
    notes = f'<w:endnotes {nsdecls("w")}><w:endnote w:id="1"><w:p><w:r><w:t>{base}/beta</w:t></w:r></w:p></w:endnote></w:endnotes>'
    part = Part(PackURI("/word/endnotes.xml"), CONTENT_TYPE.WML_ENDNOTES, notes.encode(), file.part.package)
    file.part.relate_to(part, RELATIONSHIP_TYPE.ENDNOTES)
    file.add_heading("References", 1)
    file.add_paragraph(f"The Beta engine {base}/beta", style="List Number")
    made = io.BytesIO()
    file.save(made)
    return made.getvalue()
