"""A SearXNG instance of one's own (https://docs.searxng.org/dev/search_api.html)."""

from dataclasses import replace
from typing import Any

from pydantic import Field

from deep_research.data import Found, Gap, SearchResult
from deep_research.errors import Blocked, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace, read_answer, result
from deep_research.sources._api_answers import Record, failure, iso_date, listed, object_of, text
from deep_research.sources._web import Page, WebOptions, found_pages, sited

_MAX_ENGINES = 10


class SearxngOptions(WebOptions):
    """Options of SearXNG."""

    base_url: str = Field("", description="Address of the instance; else SEARXNG_URL.")
    categories: tuple[str, ...] = Field((), description="Categories, such as general, science, news, it.")
    engines: tuple[str, ...] = Field((), description="Only these engines.")


class SearxngSource(ApiSource[SearxngOptions]):
    """Searches through the instance; engines that did not answer are a gap."""

    name = "searxng"
    purpose = "General web search over many engines through an instance of one's own."
    pace = Pace(
        2.0, "As the instance's own limiter allows (docs.searxng.org/admin/searx.limiter.html).", most=100, at_once=10
    )
    needs = "SEARXNG_URL"

    async def _search(self, query: str, limit: int) -> SearchResult:
        del limit  # an instance decides the number itself
        params = {
            "q": sited(query, self.options),
            "format": "json",
            "language": self.options.language,
            "categories": ",".join(self.options.categories),
            "engines": ",".join(self.options.engines),
        }
        response = await self._get("/search", params)
        return result(await read_answer(parse_search, response), _gaps(object_of(response, type(self), "results")))


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the pages of a search and the infoboxes beside them, best first.

    Raises Blocked when the instance does not allow `format=json` (HTTP 403), Unreachable when no engine
    answered, Unreadable when the answer is no search result.
    """
    try:
        answer = object_of(response, SearxngSource, "results")
    except (Blocked, Unreadable) as error:
        hint = "; the instance has to allow the format json in its settings.yml (search.formats)"
        raise replace(error, message=f"{error.message}{hint}") from None
    entries = [*answer.records("results"), *map(_infobox, answer.records("infoboxes"))]
    failed = listed(answer.get("unresponsive_engines"))
    if not entries and failed:
        raise failure(Unreachable, response, SearxngSource, f"no engine answered: {_engines(failed)}")
    return found_pages((_page(entry) for entry in entries), SearxngSource.name)


def _page(entry: Record) -> Page:
    published = entry.text("publishedDate") or entry.text("pubdate")
    return Page(
        title=entry.line("title"),
        url=entry.text("url") or entry.text("urls", 0, "url"),
        excerpt=entry.line("content"),
        published=iso_date(published),
        author=entry.line("author"),
        score=entry.score("score"),
    )


def _infobox(box: Record) -> Record:
    address = box.text("id") or box.get("urls", 0, "url")
    return Record({"title": box.get("infobox"), "url": address, "content": box.get("content")})


def _gaps(answer: Record) -> list[Gap]:
    failed = listed(answer.get("unresponsive_engines"))
    return [Gap(what="some engines of searxng", why=_engines(failed), source=SearxngSource.name)] if failed else []


def _engines(failed: list[Any]) -> str:
    return ", ".join(": ".join(text(part) for part in listed(one) if text(part)) for one in failed[:_MAX_ENGINES])
