"""Perplexity: the pages that its answers cite (https://docs.perplexity.ai). The answers themselves are no evidence."""

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace
from deep_research.sources._api_answers import Record
from deep_research.sources._web import Page, WebOptions, page_of


class _PerplexityOptions(WebOptions):
    model: str = Field("sonar", description="Model that searches.")


class PerplexitySource(ApiSource[_PerplexityOptions]):
    """Asks for an answer and keeps what it was made from."""

    name = "perplexity"
    purpose = "Pages that an answering engine found; its answers are left out."
    address = "https://api.perplexity.ai"
    pace = Pace(0.4, "50 calls per minute for new keys (docs.perplexity.ai/guides/usage-tiers).", most=20, at_once=25)
    needs = "PERPLEXITY_API_KEY"
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        domains = [*options.include_domains, *(f"-{domain}" for domain in options.exclude_domains)]
        body = {
            "model": options.model,
            "messages": [{"role": "user", "content": query}],
            "max_tokens": 64,
            "search_domain_filter": domains[:20],
            "search_after_date_filter": f"{options.since:%m/%d/%Y}" if options.since else "",
            "search_before_date_filter": f"{options.until:%m/%d/%Y}" if options.until else "",
        }
        return await self._found_in(parse_answer, self._post("/chat/completions", body))


def _pages(response: ApiResponse) -> list[Record]:
    """Return the pages that were searched, then those that are only cited."""
    answer = PerplexitySource.object_of(response, "choices", "citations", "search_results", what="citations")
    pages = answer.records("search_results")
    known = {page.text("url") for page in pages}
    return [*pages, *(Record({"url": url}) for url in answer.texts("citations") if url not in known)]


@PerplexitySource.parser(records=_pages)
def parse_answer(entry: Record) -> Page:
    """Return a page of an answer."""
    return page_of(entry, excerpt="snippet", published="date last_updated")
