"""The addresses that a fetched page names: what may be opened after it was read."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from deep_research.errors import Blocked
from deep_research.fetch.addresses import Address, join_address, parse_address
from deep_research.fetch.known import urls_in
from deep_research.fetch.page import Page

MAX_LINKS = 5_000
_HTML = ("text/html", "application/xhtml+xml")
_XML = ("application/xml", "text/xml", "application/rss+xml", "application/atom+xml")
_TEXT = ("text/", "application/json")


def links_of(page: Page) -> list[str]:
    """Return the web addresses a page names, in order, without repeats, at most 5,000.

    Of HTML and feeds these are the links, of other text the addresses written in it; a PDF's text is
    for its reader to give (`KnownAddresses.add_text`). Comments and scripts name nothing.
    """
    if page.media_type in (*_HTML, *_XML):
        found = _of_markup(page)
    elif page.media_type.startswith(_TEXT):
        found = iter(urls_in(page.body.decode(page.charset or "utf-8", "replace")))
    else:
        return []
    links: dict[str, None] = {}
    for link in found:
        links[link] = None
        if len(links) >= MAX_LINKS:
            break
    return list(links)


def _of_markup(page: Page) -> Iterator[str]:
    root = _tree(page)
    if root is None:
        return
    base = parse_address(page.final_url)
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2].lower()
        reference = _reference(element, name)
        address = _joined(base, reference) if reference else None
        if address and name == "base":
            base = address
        elif address:
            yield address.url


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


def _reference(element: Any, name: str) -> str:
    if name in ("a", "area", "link", "base"):
        href = element.get("href") or (element.text if name == "link" else "")
    elif name in ("guid", "id"):
        href = element.text if (element.text or "").strip().startswith(("http://", "https://")) else ""
    else:
        return ""
    # A browser drops line breaks and tabs inside an address, and so must who reads what it links to.
    return re.sub(r"[\t\r\n]", "", href or "")


def _joined(base: Address, reference: str) -> Address | None:
    try:
        return join_address(base, reference)
    except Blocked:
        return None
