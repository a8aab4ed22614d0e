"""Google Programmable Search (https://developers.google.com/custom-search/v1)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, result
from deep_research.sources._api_answers import at, first, first_date, object_of, objects, raw, text
from deep_research.sources._record_documents import line
from deep_research.sources._web import Page, WebOptions, found_pages, sited

_ENGINE = "GOOGLE_CSE_ID"
_DATES = ("article:published_time", "datepublished", "citation_publication_date", "og:updated_time", "date")


class GoogleCseOptions(WebOptions):
    """Options of Google Programmable Search."""

    base_url: str = Field("https://customsearch.googleapis.com", description="Address of the API.")
    requests_per_second: float = Field(
        1.0, gt=0, le=10, description="100 calls per day are free (developers.google.com/custom-search/v1/overview)."
    )
    burst: int = Field(10, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")
    engine: str = Field("", description="Id of the search engine (cx); else GOOGLE_CSE_ID.")


class GoogleCseSource(ApiSource[GoogleCseOptions]):
    """Searches with an engine that its owner has set up."""

    name = "google_cse"
    purpose = "General web search with Google's results over a search engine of one's own."
    needs = "GOOGLE_API_KEY"
    also = (_ENGINE,)

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: a key, and the id of the engine."""
        engine = isinstance(options, GoogleCseOptions) and options.engine
        return super().missing(options, keys) or ("" if engine or keys.get(_ENGINE) else f"set {_ENGINE}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        params = {
            "q": sited(query, options),
            "num": min(limit, 10),
            "cx": options.engine or self._keys.get(_ENGINE, ""),
            "lr": f"lang_{options.language}" if options.language else "",
            "sort": f"date:r:{options.since:%Y%m%d}:{options.until:%Y%m%d}" if options.since and options.until else "",
            "key": self._key(),
        }
        return result(parse_search(await self._get("/customsearch/v1", params)))


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the pages of a search, best first; no `items` means nothing was found. Raises SourceError."""
    answer = object_of(response, GoogleCseSource, "items", "searchInformation", "kind")
    return found_pages((_page(entry) for entry in objects(answer.get("items"))), GoogleCseSource.name)


def _page(entry: Mapping[str, Any]) -> Page:
    about = at(entry, "pagemap", "metatags", 0) or {}
    return Page(
        title=line(raw(entry.get("title"))),
        url=text(entry.get("link")),
        excerpt=line(raw(entry.get("snippet"))),
        published=first_date(about, *_DATES),
        author=first(about, "article:author_name", "citation_author", "author"),
    )
