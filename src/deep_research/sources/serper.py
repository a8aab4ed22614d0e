"""Serper: Google's results (https://serper.dev)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, result
from deep_research.sources._api_answers import Place, failure, json_of
from deep_research.sources._fields import at, first, iso_date, objects, raw, text
from deep_research.sources._markup import line
from deep_research.sources._web import Page, WebOptions, found_pages, sited

NAME = "serper"
PURPOSE = "General web, news, scholar and patent search with Google's results."
NEEDS = "SERPER_API_KEY"
_PLACE = Place(NAME, NEEDS)
_BLOCKS = ("organic", "news", "places")
_OTHER_BLOCKS = ("videos", "images", "shopping")


class SerperOptions(WebOptions):
    """Options of Serper."""

    base_url: str = Field("https://google.serper.dev", description="Address of the API.")
    requests_per_second: float = Field(4.0, gt=0, le=100, description="Calls per second at most.")
    kind: Literal["search", "news", "scholar", "patents"] = Field("search", description="What to search.")


class SerperSource(ApiSource[SerperOptions]):
    """Searches with Google's index."""

    name = NAME
    purpose = PURPOSE
    needs = NEEDS
    options_type: ClassVar = SerperOptions

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        since = f"after:{options.since}" if options.since else ""
        until = f"before:{options.until}" if options.until else ""
        words = " ".join(part for part in (sited(query, options), since, until) if part)
        body = {"q": words, "num": min(limit, 100), "hl": options.language}
        return result(parse_search(await self._post(f"/{options.kind}", body)))

    def _headers(self) -> dict[str, str]:
        return super()._headers() | {"x-api-key": self._key()}


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the pages of a search, then those of the knowledge box and the answer box. Raises SourceError."""
    answer = json_of(response, _PLACE)
    known = {"searchParameters", "credits", *_BLOCKS}
    if not isinstance(answer, Mapping) or not (known & answer.keys()):
        raise failure(Unreadable, response, _PLACE, "the answer is no search result")
    pages = [_page(entry) for name in _BLOCKS for entry in objects(answer.get(name))]
    pages += [_page(entry) for entry in objects(answer.get("answerBox"))]
    pages = pages or [_page(entry) for name in _OTHER_BLOCKS for entry in objects(answer.get(name))]
    box = at(answer, "knowledgeGraph")
    if first(box, "descriptionLink"):
        pages.append(
            Page(title=first(box, "title"), url=first(box, "descriptionLink"), excerpt=first(box, "description"))
        )
    return found_pages(pages, NAME)


def _page(entry: Mapping[str, Any]) -> Page:
    authors = text(entry.get("inventor")) or text(entry.get("author"))
    return Page(
        title=line(raw(entry.get("title"))),
        url=first(entry, "link", "website"),
        excerpt=line(raw(entry.get("snippet")) or raw(entry.get("answer"))),
        published=iso_date(first(entry, "date", "publicationDate", "grantDate")) or iso_date(entry.get("year")),
        author=authors,
    )


build = SerperSource.build
COMPONENT = SerperSource
