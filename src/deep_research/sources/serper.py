"""Serper: Google's results (https://serper.dev)."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, result
from deep_research.sources._api_answers import at, first, iso_date, object_of, objects, raw, text
from deep_research.sources._record_documents import line
from deep_research.sources._web import Page, WebOptions, found_pages, sited

_BLOCKS = ("organic", "news", "places")
_OTHER_BLOCKS = ("videos", "images", "shopping")


class SerperOptions(WebOptions):
    """Options of Serper."""

    base_url: str = Field("https://google.serper.dev", description="Address of the API.")
    requests_per_second: float = Field(
        4.0, gt=0, le=100, description="5 per second with the free credits (serper.dev)."
    )
    kind: Literal["search", "news", "scholar", "patents"] = Field("search", description="What to search.")


class SerperSource(ApiSource[SerperOptions]):
    """Searches with Google's index."""

    name = "serper"
    purpose = "General web, news, scholar and patent search with Google's results."
    needs = "SERPER_API_KEY"
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        since = f"after:{options.since}" if options.since else ""
        until = f"before:{options.until}" if options.until else ""
        words = " ".join(part for part in (sited(query, options), since, until) if part)
        body = {"q": words, "num": min(limit, 100), "hl": options.language}
        return result(parse_search(await self._post(f"/{options.kind}", body)))


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the pages of a search, then those of the knowledge box and the answer box. Raises SourceError."""
    answer = object_of(response, SerperSource, "searchParameters", "credits", *_BLOCKS)
    pages = [_page(entry) for name in _BLOCKS for entry in objects(answer.get(name))]
    pages += [_page(entry) for entry in objects(answer.get("answerBox"))]
    pages = pages or [_page(entry) for name in _OTHER_BLOCKS for entry in objects(answer.get(name))]
    box = at(answer, "knowledgeGraph")
    if first(box, "descriptionLink"):
        pages.append(
            Page(title=first(box, "title"), url=first(box, "descriptionLink"), excerpt=first(box, "description"))
        )
    return found_pages(pages, SerperSource.name)


def _page(entry: Mapping[str, Any]) -> Page:
    authors = text(entry.get("inventor")) or text(entry.get("author"))
    return Page(
        title=line(raw(entry.get("title"))),
        url=first(entry, "link", "website"),
        excerpt=line(raw(entry.get("snippet")) or raw(entry.get("answer"))),
        published=iso_date(first(entry, "date", "publicationDate", "grantDate")) or iso_date(entry.get("year")),
        author=authors,
    )
