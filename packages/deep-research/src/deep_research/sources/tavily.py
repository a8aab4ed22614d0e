"""Tavily web search (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

from typing import Literal

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.sources._api import ApiSource, Pace, read_answer
from deep_research.sources._api_answers import Record
from deep_research.sources._web import Page, WebOptions, page_key, page_of


class _TavilyOptions(WebOptions):
    depth: Literal["basic", "advanced"] = Field("basic", description="advanced costs two credits.")
    topic: Literal["general", "news", "finance"] = Field("general", description="What kind of pages.")
    whole_pages: bool = Field(True, description="Ask for the text of the pages with the results.")


class TavilySource(ApiSource[_TavilyOptions]):
    """Searches the web; the pages come with the results, or are asked for many at a time."""

    name = "tavily"
    purpose = "General web search that returns excerpts of the pages, and whole pages on request."
    address = "https://api.tavily.com"
    pace = Pace(
        0.8,
        "100 calls per minute for a development key, 1,000 for others (docs.tavily.com/documentation/rate-limits).",
        most=20,
        at_once=50,
    )
    needs = "TAVILY_API_KEY"
    reads_pages = True
    max_query_chars = 390
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        body = {
            "query": query,
            "max_results": min(limit, 20),
            "search_depth": options.depth,
            "topic": options.topic,
            "include_domains": list(options.include_domains),
            "exclude_domains": list(options.exclude_domains),
            "start_date": f"{options.since or ''}",
            "end_date": f"{options.until or ''}",
            "include_raw_content": "markdown" if options.whole_pages else None,
        }
        return await self._found_in(parse_search, self._post("/search", body))

    async def _read(self, found: Found) -> Found | None:
        response = await self._post("/extract", {"urls": [found.url], "format": "markdown"})
        pages = await read_answer(parse_extract, response)
        told = {"title": found.title, "published": found.published}
        return next((page.model_copy(update=told) for page in pages if page.key == page_key(found.url)), None)


@TavilySource.parser("results")
def parse_search(entry: Record) -> Page:
    """Return a page of a search; the engine's own `answer` is no evidence."""
    return page_of(entry, published="published_date", text="raw_content")._replace(excerpt=entry.raw("content"))


@TavilySource.parser("results")
def parse_extract(entry: Record) -> Page | None:
    """Return a page of an extraction; what failed is not there."""
    return page_of(entry, text="raw_content") if entry.text("raw_content") else None
