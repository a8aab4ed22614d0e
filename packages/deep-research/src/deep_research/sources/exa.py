"""Exa web search by meaning (https://docs.exa.ai/reference/search)."""

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.sources._api import ApiSource, Pace, read_answer, result
from deep_research.sources._api_answers import Record
from deep_research.sources._web import Page, WebOptions, page_of


class _ExaOptions(WebOptions):
    text_chars: int = Field(20_000, ge=0, le=200_000, description="Text per page, characters; 0: none.")
    category: str = Field("", description="Kind of pages, such as research paper, news, github.")


class ExaSource(ApiSource[_ExaOptions]):
    """Searches the web; the text of the pages comes with the results."""

    name = "exa"
    purpose = "General web search by meaning, with the text of the pages."
    address = "https://api.exa.ai"
    pace = Pace(5.0, "10 searches per second (exa.ai/docs/reference/rate-limits).", most=50, at_once=5)
    needs = "EXA_API_KEY"
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        body = {
            "query": query,
            "numResults": min(limit, 25),
            "category": options.category,
            "includeDomains": list(options.include_domains),
            "excludeDomains": list(options.exclude_domains),
            "startPublishedDate": f"{options.since}T00:00:00.000Z" if options.since else "",
            "endPublishedDate": f"{options.until}T23:59:59.999Z" if options.until else "",
            "contents": {"text": {"maxCharacters": options.text_chars}} if options.text_chars else None,
        }
        found = await read_answer(parse_search, await self._post("/search", body))
        return result(one.model_copy(update={"excerpt": 0 < options.text_chars <= len(one.page_text)}) for one in found)


@ExaSource.parser("results")
def parse_search(entry: Record) -> Page:
    """Return a page of a search."""
    return page_of(entry, url="url id", published="publishedDate", author="author", text="text")
