"""Wikipedia in any language, through the Action API (https://www.mediawiki.org/wiki/API:Main_page)."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pydantic import Field

from claimcheck.language import detect
from claimcheck.lexicon import words
from deep_research.data import Document, Found, SearchResult
from deep_research.errors import Blocked, SourceError
from deep_research.ports import ApiResponse
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import ApiOptions, ApiSource, Pace, read_answer, result
from deep_research.sources._api_answers import Declaration, Record, failure, limited, object_of, parser
from deep_research.text.document_builder import DocumentBuilder

_HEADING = re.compile(r"^(={2,6})([^\n]+?)\1[^\S\n]*$", re.MULTILINE)
_WAITING = ("maxlag", "ratelimited")


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

    async def _read(self, found: Found) -> Found | None:
        parts = found.key.split(":", 2)
        if len(parts) != 3 or parts[0] != self.name:
            return None
        params = {"prop": "extracts|info", "explaintext": 1, "inprop": "url", "redirects": 1, "titles": parts[2]}
        response = await self._query(parts[1], params)
        pages = await read_answer(parse_pages, response, parts[1])
        return next((page for page in pages if page.document), None)

    async def _query(self, language: str, params: Mapping[str, str | int]) -> ApiResponse:
        given = {"action": "query", "format": "json", "formatversion": 2, "utf8": 1} | dict(params)
        address = f"{self.options.base_url.replace('{language}', language)}/w/api.php"
        return await self._client.request("GET", address, params=given, headers=self._headers())


def _answer(response: ApiResponse, source: type[Declaration], *fields: str) -> Record:
    answer = object_of(response, source, *fields, "batchcomplete", "error", what="pages")
    if error := answer.record("error"):
        code, why = error.text("code"), error.line("info")
        if code in _WAITING:
            raise limited(response, source)
        kind = Blocked if "blocked" in code else SourceError
        raise failure(kind, response, source, f"the request was not accepted: {why[:200]}")
    return answer


@parser(WikipediaSource, "query", "search", answer=_answer)
def parse_search(entry: Record, language: str = "en") -> Found | None:
    """Return an article of `list=search`."""
    return _found(entry, language, snippet=_writing.snippet(entry.line("snippet")), published=entry.date("timestamp"))


@parser(WikipediaSource, "query", "pages", answer=_answer)
def parse_pages(entry: Record, language: str = "en") -> Found | None:
    """Return a page of a query by title, with its text; missing ones are left out."""
    if entry.get("missing") or entry.get("invalid"):
        return None
    body, changed = entry.raw("extract"), entry.date("touched")
    read = _article(entry.text("title"), body, changed) if body.strip() else None
    return _found(entry, language, snippet=_writing.snippet(body), published=changed, document=read)


def _found(entry: Record, language: str, **more: Any) -> Found | None:
    title = entry.text("title")
    if not title:
        return None
    named = f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"
    key, origin = f"{WikipediaSource.name}:{language}:{title}", WikipediaSource.name
    return Found(key=key, title=title, url=entry.text("fullurl") or named, origin=origin, **more)


def _article(title: str, body: str, published: str | None) -> Document:
    """The text with its headings; lists of references and links at the end are left out."""
    builder = DocumentBuilder()
    builder.heading(1, title)
    pieces = _HEADING.split(body)
    _writing.write_text(builder, pieces[0].replace("\n", "\n\n"))
    skipped = 0
    for marks, heading, text_below in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        level, heading = len(marks), heading.strip()  # noqa: PLW2901
        if skipped and level > skipped:
            continue
        skipped = level if heading.lower() in words("document.apparatus") else 0
        if not skipped:
            builder.heading(level, heading)
            _writing.write_text(builder, text_below.replace("\n", "\n\n"))
    return builder.document(title=title, media_type="text/markdown", published=published)
