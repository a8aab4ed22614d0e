"""HTML and XHTML: documentation pages and web pages, main text only."""

from deep_research.data import Document
from deep_research.readers import _html_tree as tree
from deep_research.readers._html_meta import Metadata, metadata, page_title
from deep_research.readers._html_walk import write_blocks
from deep_research.text.cleaning import fold
from deep_research.text.light_markdown import DocumentBuilder

_TOO_LITTLE = 120
_LONGEST_NAME = 200


class HtmlReader:
    """Reads HTML: the main text with headings, lists, tables and code; no navigation, nothing hidden."""

    name = "html"
    suffixes = (".html", ".htm", ".xhtml", ".shtml")
    media_types = ("text/html", "application/xhtml+xml")

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the main text of a page, or all its visible text where no main text stands out.

        Raises Unreadable when `data` is no text. A page without any text gives an empty document.
        """
        root = tree.parse(data)
        about, title = metadata(root), page_title(root)
        heading = next((text for h1 in root.iter("h1") if (text := fold(tree.text_of(h1))) and text in title), "")
        builder = _blocks(root, title)
        if len(builder) < _TOO_LITTLE:
            root = tree.parse(data)
            tree.prune(root, furniture=False)
            everything = DocumentBuilder()
            write_blocks(root if (body := root.find(".//body")) is None else body, everything)
            builder = everything if len(everything) > 2 * len(builder) else builder
        if not len(builder):
            builder.paragraph(about.description)
        document = builder.document(media_type="text/html", published=about.published, authors=about.authors)
        return document.model_copy(update={"title": heading or _title(document, title, about) or name})


def _blocks(root: tree.Element, title: str) -> DocumentBuilder:
    tree.prune(root)
    builder = DocumentBuilder()
    main = tree.main_element(root)
    _promote_title(main, title)
    if line := _manual_name(root, main):
        builder.paragraph(line)
    write_blocks(main, builder)
    return builder


def _manual_name(root: tree.Element, main: tree.Element) -> str:
    """The line "name - what it is" below the heading NAME of a manual page that stands outside of its main text
    (AsciiDoc's pages), or ""."""
    heading = next((h for h in root.iter("h1", "h2") if fold(tree.text_of(h)).upper() == "NAME"), None)
    if heading is None or any(heading is inside for inside in main.iter("h1", "h2")):
        return ""
    line = next((fold(tree.text_of(p)) for p in heading.itersiblings("div", "p")), "")
    return line if " - " in line and len(line) <= _LONGEST_NAME else ""


def _promote_title(main: tree.Element, title: str) -> None:
    """A page without `h1` whose first heading is its title (DocBook) has that heading above all others."""
    first = next(main.iter("h1", "h2", "h3", "h4"), None)
    if first is None or first.tag == "h1" or next(main.iter("h1"), None) is not None:
        return
    heading = fold(tree.text_of(first))
    if heading and heading in title:
        first.tag = "h1"


def _title(document: Document, title: str, about: Metadata) -> str:
    """The top heading when the page's title repeats it (without the site's name), else what the head says."""
    top = [heading.title for heading in document.headings if heading.level == 1]
    if top and (not title or fold(top[0]).lower() in title.lower()):
        return top[0]
    return about.title or title or (top[0] if top else document.title)


COMPONENT = HtmlReader
