"""Bocha (博查) web search, strong on Chinese pages (https://open.bochaai.com)."""

from deep_research.data import SearchResult
from deep_research.sources._api import ApiSource, Pace
from deep_research.sources._api_answers import Record
from deep_research.sources._web import LEAST_EXCERPT, Page, WebOptions, page_of

_SUMMARY_CHARS = 60


class BochaSource(ApiSource[WebOptions]):
    """Searches the web with summaries of the pages."""

    name = "bocha"
    purpose = "General web search, strong on Chinese pages."
    address = "https://api.bochaai.com"
    pace = Pace(2.0, "By what has been paid in so far (open.bochaai.com).", most=50)
    needs = "BOCHA_API_KEY"
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        body = {
            "query": query,
            "summary": True,
            "count": min(limit, 50),
            "freshness": options.period("{since}..{until}") or "noLimit",
            "include": "|".join(options.include_domains),
            "exclude": "|".join(options.exclude_domains),
        }
        return await self._found_in(parse_search, self._post("/v1/web-search", body))


@BochaSource.parser("data", "webPages", "value", fields=("data",))
def parse_search(entry: Record) -> Page:
    """Return a page of a search."""
    # The "last crawled" of this service is the day of publication.
    page = page_of(entry, title="name", url="url displayUrl", published="datePublished dateLastCrawled")
    summary, short = entry.raw("summary"), entry.raw("snippet")
    # What it calls a summary is text of the page, made to be read in its place.
    least = _SUMMARY_CHARS if len(summary) >= _SUMMARY_CHARS else LEAST_EXCERPT
    return page._replace(excerpt=max(summary, short, key=len), least=least)
