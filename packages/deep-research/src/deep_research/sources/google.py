"""Google's results: by its own Programmable Search (https://developers.google.com/custom-search/v1), and by Serper
(https://serper.dev).
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, Pace, join_parts
from deep_research.sources._api_answers import Record
from deep_research.sources._web import Page, WebOptions, page_of, sited

_ENGINE = "GOOGLE_CSE_ID"
_DATES = ("article:published_time", "datepublished", "citation_publication_date", "og:updated_time", "date")
_BLOCKS = ("organic", "news", "places", "answerBox")


class _GoogleCseOptions(WebOptions):
    engine: str = Field("", description="Id of the search engine (cx); else GOOGLE_CSE_ID.")


class GoogleCseSource(ApiSource[_GoogleCseOptions]):
    """Searches with an engine that its owner has set up."""

    name = "google_cse"
    purpose = "General web search with Google's results over a search engine of one's own."
    address = "https://customsearch.googleapis.com"
    pace = Pace(
        1.0, "100 calls per day are free (developers.google.com/custom-search/v1/overview).", most=10, at_once=10
    )
    needs = "GOOGLE_API_KEY"
    also = (_ENGINE,)

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: a key, and the id of the engine."""
        engine = isinstance(options, _GoogleCseOptions) and options.engine
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
        return await self._found_in(parse_programmable_search, self._get("/customsearch/v1", params))


@GoogleCseSource.parser("items", fields=("items", "searchInformation", "kind"))
def parse_programmable_search(entry: Record) -> Page:
    """Return a page of a search; no `items` means nothing was found."""
    about = entry.record("pagemap", "metatags", 0)
    author = about.first("article:author_name", "citation_author", "author")
    page = page_of(entry, url="link", excerpt="snippet")
    return page._replace(published=about.first_date(*_DATES), author=author)


class _SerperOptions(WebOptions):
    kind: Literal["search", "news", "scholar", "patents"] = Field("search", description="What to search.")


class SerperSource(ApiSource[_SerperOptions]):
    """Searches with Google's index."""

    name = "serper"
    purpose = "General web, news, scholar and patent search with Google's results."
    address = "https://google.serper.dev"
    pace = Pace(4.0, "5 per second with the free credits (serper.dev).", most=100)
    needs = "SERPER_API_KEY"
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        since = f"after:{options.since}" if options.since else ""
        until = f"before:{options.until}" if options.until else ""
        body = {
            "q": join_parts(" ", sited(query, options), since, until),
            "num": min(limit, 100),
            "hl": options.language,
        }
        return await self._found_in(parse_search, self._post(f"/{options.kind}", body))


def _results(response: ApiResponse) -> list[Record]:
    """Return the results of all kinds, then the knowledge box."""
    answer = SerperSource.object_of(response, "searchParameters", "credits", *_BLOCKS)
    return [entry for name in (*_BLOCKS, "knowledgeGraph") for entry in answer.records(name)]


@SerperSource.parser(records=_results)
def parse_search(entry: Record) -> Page:
    """Return a page of a search, of the answer box or of the knowledge box."""
    return page_of(
        entry,
        url="link descriptionLink website",
        excerpt="snippet answer description",
        published="date publicationDate grantDate year",
        author="inventor author",
    )
