"""A fetched page, and the addresses it names, which may then be opened."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from claimcheck.text.cleaning import fold
from deep_research.errors import Blocked
from deep_research.fetch.addresses import Address, join_address, named_in_page, parse_address
from deep_research.text.page_noise import gives_orders, is_hidden

MAX_LINKS, _MOST_LINKED = 5_000, 2_000_000
"""Links of a page, and characters of all of them: a short one may stand below a long base."""
_HTML = ("text/html", "application/xhtml+xml")
_XML = ("application/xml", "text/xml", "application/rss+xml", "application/atom+xml")
_UNSEEN = frozenset("script style noscript template svg iframe object select textarea dialog".split())
_TOLD = frozenset(("alternate", "canonical", "next", "prev", "self", "related", "shortlink", "enclosure", "via"))
"""Relations of a `link` that lead to content; others load something (prefetch, stylesheet)."""
_FURNITURE = frozenset(("nav", "header", "footer", "aside"))
_MARKDOWN_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,200})\]\(<?([^\s()<>]{1,2000})")


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page; `url` is the requested, `final_url` the redirected address.

    `charset` is None where it must be guessed. `retrieved_at` is ISO 8601 in UTC: when the server gave or confirmed the
    body. `archived_url` is the dead address that an archived copy stands for.
    """

    url: str
    final_url: str
    status: int
    media_type: str
    charset: str | None
    body: bytes
    retrieved_at: str
    archived_url: str = ""


def links_of(page: Page) -> dict[str, str]:
    """Return a page's first 5,000 web addresses in order, each with its link words.

    A link of a menu, or of the head or foot of a page, has no words. What no visitor sees names nothing, nor does a link
    in an order to the reader. A PDF's text is for its reader to give (`KnownAddresses.add_page_text`).
    """
    if page.media_type in (*_HTML, *_XML):
        found = _of_markup(page)
    elif page.media_type.startswith(("text/", "application/json")):
        found = ((url, "") for url in named_in_page(page.body.decode(page.charset or "utf-8", "replace")))
    else:
        return {}
    return _bounded(found)


def links_in_markdown(url: str, text: str) -> dict[str, str]:
    """Return the addresses linked in the page's Markdown with words, as `links_of`."""
    return _bounded(_of_markdown(parse_address(url), text))


def _of_markdown(base: Address, text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        for found in () if gives_orders(line) else _MARKDOWN_LINK.finditer(line):
            with suppress(Blocked):
                yield join_address(base, found[2]).url, fold(found[1])


def _bounded(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    links: dict[str, str] = {}
    room = _MOST_LINKED
    for link, words in found:
        links[link] = links.get(link) or words
        room -= len(link) + len(words)
        if len(links) >= MAX_LINKS or room < 0:
            break
    return links


def _of_markup(page: Page) -> Iterator[tuple[str, str]]:
    root = _tree(page)
    if root is None:
        return
    base = parse_address(page.final_url)
    around: dict[Any, str | None] = {}
    for name, element in _visible(root):
        with suppress(Blocked):
            address = join_address(base, _reference(element, name, around))
            if name == "base":
                base = address
            else:
                yield address.url, _words(element) if name == "a" else ""


def _visible(root: Any) -> Iterator[tuple[str, Any]]:
    walk = import_module("lxml.etree").iterwalk(root, events=("start",))
    for _, element in walk:
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2].lower()
        if name in _UNSEEN or element.get("aria-hidden") == "true" or is_hidden(element.attrib):
            walk.skip_subtree()
        else:
            yield name, element


def _tree(page: Page) -> Any:
    etree = import_module("lxml.etree")  # heavy, without types, and only pages need it
    if page.media_type in _HTML:
        parser = etree.HTMLParser(encoding=page.charset, no_network=True, recover=True)
    else:
        parser = etree.XMLParser(no_network=True, recover=True, resolve_entities=False, load_dtd=False)
    try:
        return etree.fromstring(page.body, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None


def _reference(element: Any, name: str, around: dict[Any, str | None]) -> str:
    """Return an element's reference, "" for none; `around` keeps texts of paragraphs."""
    if name in ("a", "area", "base"):
        href = "" if name == "a" and _is_order(element, around) else element.get("href")
    elif name == "link":
        href = element.get("href") if _TOLD.issuperset((element.get("rel") or "").lower().split()) else ""
        href = href or element.text
    elif name in ("guid", "id"):
        href = element.text if (element.text or "").strip().startswith(("http://", "https://")) else ""
    else:
        return ""
    # A browser drops line breaks and tabs inside an address, and so must who reads what it links to.
    return re.sub(r"[\t\r\n]", "", href or "")


def _is_order(link: Any, around: dict[Any, str | None]) -> bool:
    """Tell whether a link or the text around it is an order to the reader."""
    parent = link.getparent()
    if parent not in around:  # read once, not once for each link in it
        # Around a link that stands in no paragraph is the whole page.
        around[parent] = None if parent is None else _short_text(parent)
    words = around[parent]
    return gives_orders((_short_text(link) or "") if words is None else words)


def _words(link: Any) -> str:
    around = (one.tag for one in link.iterancestors())
    return "" if not _FURNITURE.isdisjoint(around) else fold(_short_text(link) or "")[:200]


def _short_text(element: Any) -> str | None:
    """Return the text of an element, None for one longer than a paragraph."""
    text = ""
    for part in element.itertext():
        text += part
        if len(text) > 2_000:
            return None
    return text
