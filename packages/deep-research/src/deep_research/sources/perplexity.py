"""Perplexity: the pages that its answers cite (https://docs.perplexity.ai). The answers themselves are no evidence."""

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace
from deep_research.sources._api_answers import Record, object_of
from deep_research.sources._web import Page, WebOptions, found_pages


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


def parse_answer(response: ApiResponse) -> list[Found]:
    """Return the pages of an answer. Raises SourceError."""
    answer = object_of(response, PerplexitySource, "choices", "citations", "search_results", what="citations")
    pages = [_page(entry) for entry in answer.records("search_results")]
    known = {page.url for page in pages}
    pages += [Page(title="", url=address) for address in answer.texts("citations") if address not in known]
    return found_pages(pages, PerplexitySource.name)


def _page(entry: Record) -> Page:
    return Page(
        title=entry.line("title"),
        url=entry.first("url"),
        excerpt=entry.line("snippet"),
        published=entry.first_date("date", "last_updated"),
    )
