"""The addresses that may be opened: those that a user, a source or a page already read has named."""

import re
import threading
from collections.abc import Iterable
from contextlib import suppress

from deep_research.errors import Blocked
from deep_research.fetch.addresses import Address, parse_address, refuse
from deep_research.text.page_noise import without_orders

_IN_TEXT = re.compile(r"https?://[^\s<>\"'`\\^{}|\x00-\x1f、。，；！？「」『』【】《》“”]+", re.IGNORECASE)
_TRAILING = ".,;:!?*_~…。，、；：！？）」』】》”’"
_PAIRS = {")": "(", "]": "[", "}": "{"}


class KnownAddresses:
    """A growing set of addresses, compared in their one spelling; safe across threads.

    http and https of the same address count as one, and so do `/path` and `/path/`: who names one
    names the other, and neither difference can carry anything out.
    """

    def __init__(self, urls: Iterable[str] = ()) -> None:
        """Start with `urls`."""
        self._keys: set[str] = set()
        self._linked: set[str] = set()
        self._hosts: set[str] = set()
        self._lock = threading.Lock()
        self.add(*urls)

    def add(self, *urls: str) -> None:
        """Take in addresses that a user or a source named, with their hosts; what is no web address is left out."""
        found = _read(urls)
        with self._lock:
            self._keys |= {_key(address) for address in found}
            self._hosts |= {_site(address) for address in found}

    def add_linked(self, *urls: str) -> None:
        """Take in addresses that a page which was read links to."""
        found = _read(urls)
        with self._lock:
            self._linked |= {_key(address) for address in found}

    def add_page_text(self, text: str) -> None:
        """Take in every address written in the text of a page or record, save those in orders to its reader."""
        self.add_linked(*named_in_page(text))

    def __contains__(self, url: str) -> bool:
        """Whether the address was named."""
        return any(self._holds(address) for address in _read([url]))

    def __len__(self) -> int:
        """How many addresses are known."""
        return len(self._keys | self._linked)

    def check(self, address: Address) -> None:
        """Raise Blocked when nobody named the address."""
        if not self._holds(address):
            refuse(address.url, "not named", "neither the user nor a source nor a page that was read has named it")

    def _holds(self, address: Address) -> bool:
        key = _key(address)
        with self._lock:
            if key in self._keys:
                return True
            return key in self._linked and ("?" not in address.target or _site(address) in self._hosts)


def urls_in(text: str) -> list[str]:
    """Return the web addresses written in a text, in order, without the punctuation that follows them."""
    return [_trimmed(match.group()) for match in _IN_TEXT.finditer(text)]


def named_in_page(text: str) -> list[str]:
    """Return the web addresses written in the text of a page, without those in orders to its reader."""
    if "://" not in text:
        return []
    # Whether a line gives orders is dear to tell, and few lines name an address.
    return urls_in(without_orders("\n".join(line for line in text.split("\n") if "://" in line)))


def _trimmed(url: str) -> str:
    while url and (url[-1] in _TRAILING or _unpaired(url)):
        url = url[:-1]
    return url


def _unpaired(url: str) -> bool:
    opening = _PAIRS.get(url[-1])
    return opening is not None and url.count(url[-1]) > url.count(opening)


def _read(urls: Iterable[str]) -> list[Address]:
    found: list[Address] = []
    for url in urls:
        with suppress(Blocked):
            found.append(parse_address(url))
    return found


def _site(address: Address) -> str:
    return address.host.removeprefix("www.")


def _key(address: Address) -> str:
    port = "" if address.port in (80, 443) else f":{address.port}"
    path, mark, query = address.target.partition("?")
    return f"{address.host}{port}{path.rstrip('/')}{mark}{query}"
