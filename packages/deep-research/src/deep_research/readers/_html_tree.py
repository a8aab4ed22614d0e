"""Parse HTML of any depth to a tree, pruned of what is not the page's own text."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from claimcheck.text.cleaning import fold, plain_heading
from deep_research.errors import Unreadable
from deep_research.readers._decode import decode
from deep_research.readers._markdown import image_words, is_trail
from deep_research.text.page_noise import is_hidden

Element = Any  # lxml.etree._Element

_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*+=\s*+["']?\s*+([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]+)""")
_XHTML = re.compile(r"^\s*(?:<\?xml|<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML)|<html[^>]{0,200}xmlns=", re.IGNORECASE)
_HEADING_TAG = re.compile(r"<(?P<end>/?)h(?P<level>[1-6])\b", re.IGNORECASE)
_ANY_TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)\s*>|<[!/a-z][^>]*>", re.IGNORECASE | re.DOTALL)

_NEVER_TEXT = frozenset(
    "script style noscript template svg canvas iframe object embed applet audio video map select option button"
    " input textarea datalist dialog menu rp rt link meta base colgroup col frameset noframes".split()
)
_FURNITURE_ROLES = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar tablist tooltip"
    " directory".split()
)
# Whole class names and ids that say "not the text of this page": Sphinx, DocBook, Doxygen, MediaWiki and
# what the wide web calls its navigation. A name that merely contains such a word is not enough.
_FURNITURE_NAME = re.compile(
    r"(?:(?:site|page|global|main|top|bottom|left|right|mobile|sphinx|local|wiki|article|post|blog|primary|secondary)"
    r"[-_]?)?(?:nav|navbar|navigation|navheader|navfooter|navmenu|sidebar|side-bar|sidenav|footer|menu|breadcrumbs?"
    r"|masthead|topbar|toc|contents-local|pagination|pager|social|share|sharing|sharebar|newsletter|subscribe"
    r"|cookies?|consent|gdpr|advert|advertisements?|ads?|adsense|banner-ad|popup|modal|comments?-?(?:area|section)"
    r"|disqus|ambox|vector-dropdown|interlanguage|related-?(?:posts|links|articles|content|stories)?|recommended|recommendations|sponsored|promo|skip-?links?"
    r"|headerlink|id_link|viewcode-link|mw-editsection|mw-jump-link|catlinks|navbox|printfooter|noprint|reflist-nav"
    r"|sr-only|visually-hidden|screen-reader-text|linenos|linenodiv|lineno|copybutton|backlink|fn-backref|edit-page"
    r"|prev-next(?:-area)?|toctree-l[2-9]|anchorjs-link|hash-link|anchor)"
    r"(?:[-_](?:wrapper|container|inner|list|links|content|box|section|area|menu|bar|widget|top|bottom))?$"
)
_NEVER_FURNITURE = frozenset("html body main article pre code h1 h2 h3 h4 h5 h6".split())
_SECTIONS = frozenset("section sect1 sect2 sect3 sect4 sect5 refsect1 refsect2 chapter".split())
_KEEP_ASIDE = frozenset(
    "footnote footnote-list admonition note tip warning caution important sidebar-content topic".split()
)
_LISTS, _LINES = frozenset(("ul", "ol", "dl", "div")), frozenset(("p", "div", "center"))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_FEWEST_ENTRIES, _MOSTLY, _LABEL, _NUMBER = 3, 0.8, 30, 8
"""Links to headings that make a page's contents, their share of a list, characters of a label above and a number before."""
_FEW_PARTS, _BESIDE = 50, 2_000  # elements beside an image and their characters, which may say its words
_DIGITS = 9
_UNSETTABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in the text of XML
_ROOT_NAMES = frozenset(
    "main-content maincontent content bodycontent mw-content-text docs-content doccontent article-body"
    " articlebody post-content entry-content article-content page-content body".split()
)


def lxml_etree() -> Any:
    """Return `lxml.etree`, imported when first needed; it carries no types."""
    return import_module("lxml.etree")


def parse(data: bytes) -> Element:
    """Return the root of an HTML or XHTML page; raise Unreadable when there is none."""
    named = _XML_ENCODING.search(data[:200]) or _CHARSET.search(data[:4096])
    declared = named[1].decode("ascii", "replace") if named else ""
    text = decode(data, declared=declared).replace("\0", "")
    root = None
    if _XHTML.search(text[:1000]):  # by the rules of XML `<a id="x"/>` is empty
        with suppress(ValueError):
            root = parse_xml(_XML_DECLARATION.sub("", text.lstrip("\ufeff")).encode("utf-8", "replace"))
    root = _parse_html(text) if root is None else root
    if root is None:  # deeper than the parser allows: nesting means nothing there, the text does
        root = _parse_html("<p>" + _ANY_TAG.sub("<br><br>", text).replace("<br><br>", "</p><p>"))
    if root is None:
        raise Unreadable("no HTML in it")
    return root


def parse_xml(data: bytes) -> Element:
    """Return an XML file's root, without namespaces; raise ValueError if malformed.

    Entities are not expanded and nothing is fetched.
    """
    etree = lxml_etree()
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from error
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname.lower()
    return root


def _parse_html(text: str) -> Element | None:
    etree = lxml_etree()
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(_with_closed_headings(text).encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    too_deep = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return None if too_deep else root


def _with_closed_headings(text: str) -> str:
    """Make the end tag of any heading close the open one, as the HTML Standard does."""
    level = ""

    def closing(tag: re.Match[str]) -> str:
        nonlocal level
        if not tag["end"]:
            level = tag["level"]
            return tag[0]
        opened, level = level, ""
        return f"</h{opened or tag['level']}"

    return _HEADING_TAG.sub(closing, text)


def text_of(element: Element) -> str:
    """Return all text below `element`, unfolded."""
    return _string()(element)


@cache
def _string() -> Any:
    return lxml_etree().XPath("string()", smart_strings=False)


def text_length(element: Element) -> int:
    """Return the number of characters below `element`, runs of white space as one."""
    return len(" ".join(text_of(element).split()))


def names_of(element: Element) -> list[str]:
    """Return the classes and the id of an element, lower case."""
    return f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()


def number_in(text: str) -> int:
    """Return the whole number in an attribute, or 1 if it is none of use."""
    return int(text) if text.isdecimal() and len(text) < _DIGITS else 1


def drop(element: Element) -> None:
    """Take an element out of its tree; the text after it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = _UNSETTABLE.sub("", (before.tail or "") + element.tail)
        else:
            parent.text = _UNSETTABLE.sub("", (parent.text or "") + element.tail)
        element.tail = None
    parent.remove(element)


def prune(root: Element, *, furniture: bool = True) -> None:
    """Drop scripts, forms and hidden elements; with `furniture`, navigation as well."""
    whole = text_length(root)
    for element in list(_topmost(root, _is_invisible)):
        drop(element)
    for image in list(root.iter("img")):  # its words in its place, unless its link or its caption says them as well
        around = next(image.iterancestors("a", "figure"), None)
        beside = text_of(around)[:_BESIDE] if around is not None and len(around) <= _FEW_PARTS else ""
        if shown := image_words(image.attrib, fold(beside)):
            image.tag, image.text = "span", f" {_UNSETTABLE.sub('', shown)} "
    if not furniture:
        return
    contents = _lists_of_headings(root)
    found = list(_topmost(root, lambda element: _is_furniture(element) or element in contents))
    kept = _wrapped_article(root, found)
    for element in found:
        # A page that wraps its whole text in something called "sidebar" still has that text.
        if (text_length(element) * 2 < whole and element is not kept) or element.tag == "nav":
            drop(element)


def _lists_of_headings(root: Element) -> set[Element]:
    """Return lists that are a page's contents: little but links to its headings."""
    links = [a for a in root.iter("a") if (a.get("href") or "").startswith("#")]
    if len(links) < _FEWEST_ENTRIES:
        return set()
    headings = {plain_heading(fold(text_of(heading))) for heading in root.iter(*_HEADINGS)}
    linked: dict[Element, list[int]] = {}
    for link in links:
        paragraph = next(link.iterancestors("p"), link)
        is_in_sentence = text_length(paragraph) > text_length(link) + _NUMBER
        if plain_heading(fold(text_of(link))) in headings and not is_in_sentence:
            for around in link.iterancestors(*_LISTS):
                linked.setdefault(around, []).append(text_length(link))
    return {
        element
        for element, lengths in linked.items()
        if len(lengths) >= _FEWEST_ENTRIES
        and (length := text_length(element)) <= max(sum(lengths) / _MOSTLY, sum(lengths) + _LABEL)
        and not any(len(linked.get(c, ())) == len(lengths) and text_length(c) + _LABEL < length for c in element)
    }


def _wrapped_article(root: Element, furniture: Sequence[Element]) -> Element | None:
    """Return the element named as furniture ("sponsored") that wraps the article."""
    headed = [element for element in furniture if next(element.iter("h1"), None) is not None]
    if not headed:
        return None
    longest = max(headed, key=text_length)
    left = text_length(root) - sum(map(text_length, furniture))
    return longest if text_length(longest) > left else None


def _topmost(root: Element, wanted: Any) -> Iterator[Element]:
    """Yield matching elements, none inside another that matches."""
    walk = lxml_etree().iterwalk(root, events=("start",))
    for _, element in walk:
        # A tag that was never closed can put the whole page inside a button.
        if wanted(element) and next(element.iterdescendants("main", "article"), None) is None:
            walk.skip_subtree()
            yield element


def _is_invisible(element: Element) -> bool:
    return element.tag not in ("html", "body") and (element.tag in _NEVER_TEXT or is_hidden(element.attrib))


def _is_furniture(element: Element) -> bool:
    tag = element.tag
    if tag in _NEVER_FURNITURE:
        return False
    if tag == "nav" or (element.get("role") or "").lower() in _FURNITURE_ROLES:
        return True
    if tag == "aside":
        return not _KEEP_ASIDE.intersection(names_of(element))
    if tag in ("header", "footer"):  # an article's own header holds its title; a page's does not
        return next(element.iterancestors("article", "main", "section", "blockquote"), None) is None
    if tag == "sup" and "#" in "".join(a.get("href") or "" for a in element.iter("a")) and text_length(element) <= 6:
        return True
    # What is around a dialog is hidden from screen readers too: `prune` keeps it, being most of the page.
    if element.get("aria-hidden") == "true":
        return True
    if tag in _LINES and len(element) > 1 and all(child.tag == "a" for child in element):
        return is_trail([element.text or "", *(link.tail or "" for link in element)])
    classes, identifier = element.get("class") or "", element.get("id") or ""
    is_named = bool(classes or identifier) and _names_furniture(tag, classes, identifier)
    return is_named and not _is_box_in_text(element)


def _is_box_in_text(element: Element) -> bool:
    """Return whether a "sidebar" stands in a section, as boxes of DocBook books do."""
    if (element.get("class") or "").lower() != "sidebar":
        return False
    return any(_SECTIONS.intersection(names_of(around)) for around in element.iterancestors("div", "section"))


@lru_cache(maxsize=10_000)
def _names_furniture(tag: str, classes: str, identifier: str) -> bool:
    names = classes.lower().split()
    # The id of a section is made from its heading: "Comments" may be what the page is about.
    if tag != "section" and not _SECTIONS.intersection([*names, *identifier.lower().split()]):
        names += identifier.lower().split()
    return any(_FURNITURE_NAME.match(name) for name in names)


def main_element(root: Element) -> Element:
    """Return the element with the page's main text; the body when none stands out."""
    body = next(root.iter("body"), root)
    enough = max(200, text_length(body) * 0.4)
    for tag in ("main", "article"):
        longest = max(body.iter(tag), key=text_length, default=None)
        if longest is not None and text_length(longest) >= enough:
            return _named_content(longest, enough)
    return _named_content(body, enough)


def _named_content(element: Element, enough: float) -> Element:
    """Return the first inner element named as content with enough text, or `element`."""
    for candidate in element.iterdescendants("div", "section", "td"):
        named = candidate.get("role") == "main" or _ROOT_NAMES.intersection(names_of(candidate))
        if named and text_length(candidate) >= max(enough, 0.6 * text_length(element)):
            return candidate
    return element
