"""Brave web search (https://api-dashboard.search.brave.com/app/documentation/web-search)."""

from collections.abc import Iterator

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace
from deep_research.sources._api_answers import Record, object_of
from deep_research.sources._record_documents import line
from deep_research.sources._web import Page, WebOptions, found_pages, sited

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


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the pages in the order of `mixed.main`, then all of each block, so some twice. Raises SourceError."""
    answer = object_of(response, BraveSource, "web", "query", "mixed", "news")
    return found_pages((_page(entry) for entry in _ordered(answer)), BraveSource.name)


def _ordered(answer: Record) -> Iterator[Record]:
    blocks = {name: answer.records(name, "results") for name in _BLOCKS}
    for place in answer.records("mixed", "main"):
        entries, index = blocks.get(place.text("type"), []), place.number("index")
        yield from entries if index is None else entries[index : index + 1]
    for entries in blocks.values():
        yield from entries


def _page(entry: Record) -> Page:
    excerpts = [entry.raw("description") or entry.raw("answer"), *entry.texts("extra_snippets")]
    return Page(
        title=line(entry.raw("title") or entry.raw("question")),
        url=entry.text("url"),
        excerpt="\n\n".join(dict.fromkeys(words for excerpt in excerpts if (words := line(excerpt)))),
        published=entry.date("page_age") or entry.date("age"),
        author=entry.record("article", "author", 0).first("name"),
    )
