"""Jina search and reader (https://jina.ai/reader): results with the text of their pages."""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import NotFound, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace, read_answer
from deep_research.sources._api_answers import Record, failure, json_of, judge
from deep_research.sources._record_documents import line
from deep_research.sources._web import Page, WebOptions, found_pages, sited


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
        return await self._found_in(parse_search, self._get(f"/{quote(sited(query, self.options), safe='')}"))

    async def _read(self, found: Found) -> Found | None:
        address = f"{self.options.reader_url.rstrip('/')}/{found.url}"
        pages = await read_answer(parse_reader, await self._client.request("GET", address, headers=self._headers()))
        return pages[0] if pages else None


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the pages of a search; pages whose site answered with an error are left out. Raises SourceError."""
    pages = [page for page in _data(response).records() if not page.text("warning")]
    return found_pages(map(_page, pages), JinaSource.name)


def parse_reader(response: ApiResponse) -> list[Found]:
    """Return the one page of a reader's answer. Raises NotFound for a warning in it (the page's own error), SourceError."""
    page = _data(response)
    if warning := page.text("warning"):
        raise failure(NotFound, response, JinaSource, f"the page could not be read: {line(warning)[:200]}")
    return found_pages([_page(page)], JinaSource.name)


def _data(response: ApiResponse) -> Record:
    answer = Record(json_of(response, JinaSource))
    code = answer.number("code") or 0
    if code >= HTTPStatus.BAD_REQUEST:
        judge(response._replace(status=min(code, 599)), JinaSource)
    if not isinstance(answer.get("data"), list | Mapping):
        raise failure(Unreadable, response, JinaSource, "the answer has no data in it")
    return answer.record("data")


def _page(entry: Record) -> Page:
    return Page(
        title=entry.line("title"),
        url=entry.text("url"),
        excerpt=entry.line("description"),
        published=entry.first_date("publishedTime", "date"),
        text=entry.raw("content"),
    )
