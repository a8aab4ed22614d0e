"""Wikipedia in any language (https://www.mediawiki.org/wiki/API:Main_page)."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from pydantic import Field

from claimcheck.language import detect
from claimcheck.lexicon import words
from deep_research.data import Document, Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, Pace, read_answer, result
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import UNSHOWN, Item, write_text
from deep_research.text.document_builder import DocumentBuilder

_HEADING = re.compile(r"^(={2,6})([^\n]+?)\1[^\S\n]*$", re.MULTILINE)
_FIELDS = ("query", "batchcomplete")


class _WikipediaOptions(ApiOptions):
    language: str = Field("", pattern=r"^([a-z][a-z-]{1,11})?$", description="Edition; empty: that of the question.")


class WikipediaSource(ApiSource[_WikipediaOptions]):
    """Searches one edition; articles are read whole."""

    name = "wikipedia"
    purpose = "Encyclopedia articles in the language of the question; background rather than latest results."
    address = "https://{language}.wikipedia.org"
    pace = Pace(2.0, "One call after another (www.mediawiki.org/wiki/API:Etiquette).", most=20)

    async def _search(self, query: str, limit: int) -> SearchResult:
        language = self.options.language or self.asked_in or detect(query)
        found = await self._searched(query, limit, language)
        if not found and language != detect(query) and not self.options.language:
            # A model may ask an edition in another language than its own.
            found = await self._searched(query, limit, detect(query))
        return result(found)

    async def _searched(self, query: str, limit: int, language: str) -> list[Found]:
        params = {"list": "search", "srsearch": query, "srlimit": min(limit, 50), "srprop": "snippet|timestamp"}
        response = await self._query(language, params)
        return await read_answer(parse_search, response, language)

    async def _read(self, found: Found) -> list[Found]:
        parts = found.key.split(":", 2)
        if len(parts) != 3 or parts[0] != self.name:
            return []
        params = {"prop": "extracts|info", "explaintext": 1, "inprop": "url", "redirects": 1, "titles": parts[2]}
        return await read_answer(parse_pages, await self._query(parts[1], params), parts[1])

    async def _query(self, language: str, params: Mapping[str, str | int]) -> ApiResponse:
        given = {"action": "query", "format": "json", "formatversion": 2, "utf8": 1} | dict(params)
        address = f"{self.options.base_url.replace('{language}', language)}/w/api.php"
        return await self._client.request("GET", address, params=given, headers=self._headers())


@WikipediaSource.parser("query", "search", fields=_FIELDS, what="pages")
def parse_search(entry: Record, language: str = "en") -> Item:
    """Return an article of `list=search`."""
    return _item(entry, language, entry.line("snippet"), entry.date("timestamp"))


@WikipediaSource.parser("query", "pages", fields=_FIELDS, what="pages")
def parse_pages(entry: Record, language: str = "en") -> Item | None:
    """Return a page of a query by title, with its text; missing ones are left out."""
    if entry.get("missing") or entry.get("invalid"):
        return None
    body = entry.raw("extract")
    item = _item(entry, language, body, entry.date("touched"))
    return item._replace(body=_article(body) if body.strip() else None, labels=UNSHOWN)


def _item(entry: Record, language: str, about: str, published: str | None) -> Item:
    title = entry.text("title")
    named = f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"
    key = f"{WikipediaSource.name}:{language}:{title}"
    return Item(key, title, entry.text("fullurl") or named, about, published=published)


def _article(body: str) -> Document:
    builder = DocumentBuilder()
    pieces = _HEADING.split(body)
    write_text(builder, pieces[0].replace("\n", "\n\n"))
    skipped = 0
    for marks, heading, text_below in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        level, heading = len(marks), heading.strip()  # noqa: PLW2901
        if skipped and level > skipped:
            continue
        skipped = level if heading.lower() in words("document.apparatus") else 0
        if not skipped:
            builder.heading(level, heading)
            write_text(builder, text_below.replace("\n", "\n\n"))
    return builder.document(title="", media_type="text/markdown")
