"""Jina search and reader (https://jina.ai/reader): results with the text of their pages."""

from typing import Any
from urllib.parse import quote

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import NotFound
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace, read_answer
from deep_research.sources._api_answers import Record
from deep_research.sources._web import Page, WebOptions, page_of, sited


class _JinaOptions(WebOptions):
    reader_url: str = Field("https://r.jina.ai", description="Address of the reader.")


class JinaSource(ApiSource[_JinaOptions]):
    """Searches the web; reading a result asks Jina for the page."""

    name = "jina"
    purpose = "General web search that returns the pages as Markdown; reads single pages."
    address = "https://s.jina.ai"
    pace = Pace(
        0.33, "40 searches per minute or more, by the kind of key (jina.ai/contact-sales).", most=20, at_once=20
    )
    needs = "JINA_API_KEY"
    reads_pages = True
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        return await self._found_in(parse_pages, self._get(f"/{quote(sited(query, self.options), safe='')}"))

    async def _read(self, found: Found) -> Found | None:
        address = f"{self.options.reader_url.rstrip('/')}/{found.url}"
        pages = await read_answer(parse_pages, await self._client.request("GET", address, headers=self._headers()))
        return pages[0] if pages else None

    @classmethod
    def json_of(cls, response: ApiResponse) -> Any:
        """Return the JSON of an answer. Raises NotFound for a page that gave an error."""
        answer = super().json_of(response)
        if warning := Record(answer).line("data", "warning"):
            raise cls.failure(NotFound, response, f"the page could not be read: {warning[:200]}")
        return answer


@JinaSource.parser("data", fields=("data",))
def parse_pages(entry: Record) -> Page | None:
    """Return a page that was found or read, unless its site gave an error."""
    page = page_of(entry, excerpt="description", published="publishedTime date", text="content")
    return None if entry.text("warning") else page
