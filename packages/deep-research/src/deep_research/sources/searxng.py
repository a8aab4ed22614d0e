"""A SearXNG instance of one's own (https://docs.searxng.org/dev/search_api.html)."""

from dataclasses import replace

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.errors import Blocked, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace, read_answer, result
from deep_research.sources._api_answers import Record
from deep_research.sources._web import Page, WebOptions, page_of, sited

_MAX_ENGINES = 10


class _SearxngOptions(WebOptions):
    base_url: str = Field("", description="Address of the instance; else SEARXNG_URL.")
    categories: tuple[str, ...] = Field((), description="Categories, such as general, science, news, it.")
    engines: tuple[str, ...] = Field((), description="Only these engines.")


class SearxngSource(ApiSource[_SearxngOptions]):
    """Searches through the instance; engines that did not answer are a gap."""

    name = "searxng"
    purpose = "General web search over many engines through an instance of one's own."
    pace = Pace(
        2.0, "As the instance's own limiter allows (docs.searxng.org/admin/searx.limiter.html).", most=100, at_once=10
    )
    needs = "SEARXNG_URL"

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {
            "q": sited(query, self.options),
            "format": "json",
            "language": self.options.language,
            "categories": ",".join(self.options.categories),
            "engines": ",".join(self.options.engines),
        }
        response = await self._get("/search", params)
        found = await read_answer(parse_search, response)
        failed = _failed_engines(self.object_of(response, "results"))
        return result(found, [self._gap("some engines of searxng", failed)] if failed else [])


def _entries(response: ApiResponse) -> list[Record]:
    """Return the pages of a search and the infoboxes beside them.

    Raises Blocked when the instance does not allow `format=json` (HTTP 403), Unreachable when no engine
    answered, Unreadable when the answer is no search result.
    """
    try:
        answer = SearxngSource.object_of(response, "results")
    except (Blocked, Unreadable) as error:
        hint = "; the instance has to allow the format json in its settings.yml (search.formats)"
        raise replace(error, message=f"{error.message}{hint}") from None
    entries = [*answer.records("results"), *answer.records("infoboxes")]
    if not entries and (failed := _failed_engines(answer)):
        raise SearxngSource.failure(Unreachable, response, f"no engine answered: {failed}")
    return entries


@SearxngSource.parser(records=_entries)
def parse_search(entry: Record) -> Page:
    """Return a page of a search, or an infobox."""
    titles, urls, dates = "title infobox", "url id urls.0.url", "publishedDate pubdate"
    return page_of(entry, title=titles, url=urls, excerpt="content", published=dates, author="author")


def _failed_engines(answer: Record) -> str:
    failed = answer.items("unresponsive_engines")[:_MAX_ENGINES]
    return ", ".join(": ".join(Record(one).texts()) for one in failed)
