"""Brave web search (https://api-dashboard.search.brave.com/app/documentation/web-search)."""

from collections.abc import Iterator

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import distinct, line
from deep_research.sources._web import Page, WebOptions, page_of, sited

_BLOCKS = ("web", "news", "discussions", "faq")


class _BraveOptions(WebOptions):
    country: str = Field("", pattern=r"^([A-Z]{2})?$", description="Country of the results, such as US.")


class BraveSource(ApiSource[_BraveOptions]):
    """Searches the web and the news in it."""

    name = "brave"
    purpose = "General web search with an index of its own."
    address = "https://api.search.brave.com"
    pace = Pace(0.9, "1 per second with an older free key, 50 with others (api-dashboard.search.brave.com).", most=50)
    needs = "BRAVE_API_KEY"
    key_header = ("x-subscription-token", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        params = {
            "q": sited(query, options),
            "count": min(limit, 20),
            "search_lang": options.language,
            "country": options.country,
            "freshness": options.period("{since}to{until}"),
            "extra_snippets": "true",
        }
        return await self._found_in(parse_search, self._get("/res/v1/web/search", params))


def _ordered(response: ApiResponse) -> Iterator[Record]:
    """Yield entries in the order of `mixed.main`, then all blocks, so some twice."""
    answer = BraveSource.object_of(response, "web", "query", "mixed", "news")
    blocks = {name: answer.records(name, "results") for name in _BLOCKS}
    for place in answer.records("mixed", "main"):
        entries, index = blocks.get(place.text("type"), []), place.number("index")
        yield from entries if index is None else entries[index : index + 1]
    for entries in blocks.values():
        yield from entries


@BraveSource.parser(records=_ordered)
def parse_search(entry: Record) -> Page:
    """Return a page of a search."""
    excerpts = distinct(map(line, [entry.first_raw("description", "answer"), *entry.texts("extra_snippets")]))
    page = page_of(entry, title="title question", published="page_age age", author="article.author.0.name")
    return page._replace(excerpt="\n\n".join(excerpts))
