"""A SearXNG instance of one's own (https://docs.searxng.org/dev/search_api.html)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from deep_research.data import Found, Gap, SearchResult
from deep_research.errors import Blocked, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, calls_at_once, rate, result
from deep_research.sources._api_answers import at, failure, iso_date, json_of, listed, objects, raw, score, text
from deep_research.sources._record_documents import line
from deep_research.sources._web import Page, WebOptions, found_pages, sited

_MAX_ENGINES = 10


class SearxngOptions(WebOptions):
    """Options of SearXNG."""

    base_url: str = Field("", description="Address of the instance; else SEARXNG_URL.")
    requests_per_second: float = rate(
        2.0, "As the instance's own limiter allows (docs.searxng.org/admin/searx.limiter.html).", most=100
    )
    burst: int = calls_at_once(10)
    categories: tuple[str, ...] = Field((), description="Categories, such as general, science, news, it.")
    engines: tuple[str, ...] = Field((), description="Only these engines.")


class SearxngSource(ApiSource[SearxngOptions]):
    """Searches through the instance; engines that did not answer are a gap."""

    name = "searxng"
    purpose = "General web search over many engines through an instance of one's own."
    needs = "SEARXNG_URL"

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: the address of the instance, as an option or a variable."""
        return "" if options.base_url else super().missing(options, keys)

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
        return result(parse_search(response), _gaps(json_of(response, type(self))))

    def _base(self) -> str:
        return self.options.base_url or self._keys.get("SEARXNG_URL", "").rstrip("/")


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the pages of a search and the infoboxes beside them, best first.

    Raises Blocked when the instance does not allow `format=json` (HTTP 403), Unreachable when no engine
    answered, Unreadable when the answer is no search result.
    """
    try:
        answer = json_of(response, SearxngSource)
    except Blocked as error:
        hint = "; the instance has to allow the format json in its settings.yml (search.formats)"
        raise replace(error, message=f"{error.message}{hint}") from None
    if not isinstance(answer, Mapping) or not isinstance(answer.get("results"), list):
        raise failure(Unreadable, response, SearxngSource, "the answer is no search result")
    entries = [*objects(answer["results"]), *map(_infobox, objects(answer.get("infoboxes")))]
    failed = listed(answer.get("unresponsive_engines"))
    if not entries and failed:
        raise failure(Unreachable, response, SearxngSource, f"no engine answered: {_engines(failed)}")
    return found_pages((_page(entry) for entry in entries), SearxngSource.name)


def _page(entry: Mapping[str, Any]) -> Page:
    published = text(entry.get("publishedDate")) or text(entry.get("pubdate"))
    return Page(
        title=line(raw(entry.get("title"))),
        url=text(entry.get("url")) or text(at(entry, "urls", 0, "url")),
        excerpt=line(raw(entry.get("content"))),
        published=iso_date(published),
        author=line(raw(entry.get("author"))),
        score=score(entry.get("score")),
    )


def _infobox(box: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "title": box.get("infobox"),
        "url": text(box.get("id")) or at(box, "urls", 0, "url"),
        "content": box.get("content"),
    }


def _gaps(answer: Any) -> list[Gap]:
    failed = listed(at(answer, "unresponsive_engines"))
    return [Gap(what="some engines of searxng", why=_engines(failed), source=SearxngSource.name)] if failed else []


def _engines(failed: list[Any]) -> str:
    return ", ".join(": ".join(text(part) for part in listed(one) if text(part)) for one in failed[:_MAX_ENGINES])
