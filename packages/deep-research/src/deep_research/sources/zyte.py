"""Article lists of chosen blogs and news sites through Zyte (https://docs.zyte.com/zyte-api/usage/extract)."""

from collections.abc import Sequence
from http import HTTPStatus

from pydantic import Field, field_validator

from deep_research.data import Found, Gap
from deep_research.errors import NotFound, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import Pace, basic, read_answer, web_addresses
from deep_research.sources._api_answers import Record, failure, object_of
from deep_research.sources._record_documents import line, with_record
from deep_research.sources._web import Page, WebOptions, found_pages
from deep_research.sources.feeds import ListingSource

_TEMPORARY = 520
_LEAST_PROBABILITY = 0.1
_BLOGS = (
    "https://www.anthropic.com/news",
    "https://openai.com/news/",
    "https://deepmind.google/discover/blog/",
    "https://research.google/blog/",
    "https://ai.meta.com/blog/",
    "https://www.microsoft.com/en-us/research/blog/",
    "https://blog.langchain.com/",
    "https://lilianweng.github.io/",
)


class _ZyteOptions(WebOptions):
    pages: tuple[str, ...] = Field(_BLOGS, min_length=1, max_length=50, description="Pages that list articles.")
    extract_from: str = Field("", pattern=r"^(httpResponseBody|browserHtml)?$", description="Cheaper, or a browser.")

    _are_web_addresses = field_validator("pages")(web_addresses)


class ZyteSource(ListingSource[_ZyteOptions]):
    """Ranks the articles that the pages list; reading one asks Zyte for the article."""

    name = "zyte"
    purpose = "Articles of chosen blogs and news sites, listed and read through Zyte."
    address = "https://api.zyte.com"
    pace = Pace(
        1.0, "120 calls per minute for new accounts (docs.zyte.com/zyte-api/usage/reference.html).", most=50, at_once=60
    )
    needs = "ZYTE_API_KEY"

    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        found, gaps = await self._side_by_side(self.options.pages, self._page, "a page of articles")
        return [one for one in found if self.options.covers(one.published)], gaps

    async def _page(self, address: str) -> list[Found]:
        return await read_answer(parse_article_list, await self._extract(address, "articleList"))

    async def _read(self, found: Found) -> Found:
        return await read_answer(parse_article, await self._extract(found.url, "article"))

    async def _extract(self, address: str, kind: str) -> ApiResponse:
        how = {"extractFrom": self.options.extract_from} if self.options.extract_from else None
        return await self._post("/v1/extract", {"url": address, kind: True, f"{kind}Options": how})

    def _headers(self) -> dict[str, str]:
        return super()._headers() | {"authorization": f"Basic {basic(f'{self._key()}:')}"}


def parse_article_list(response: ApiResponse) -> list[Found]:
    """Return the articles of a page in its order. Raises SourceError; what the page itself refused counts."""
    listed = _answer(response).record("articleList")
    if not listed:
        raise failure(Unreadable, response, ZyteSource, "the answer has no list of articles in it")
    entries = [entry for entry in listed.records("articles") if _is_article(entry)]
    return found_pages((_teaser(entry) for entry in entries), ZyteSource.name)


def parse_article(response: ApiResponse) -> Found:
    """Return one article with its text. Raises NotFound when the page is none, SourceError."""
    article = _answer(response).record("article")
    if not article:
        raise failure(Unreadable, response, ZyteSource, "the answer has no article in it")
    pages = found_pages([_teaser(article)], ZyteSource.name)
    if not _is_article(article) or not pages:
        raise failure(NotFound, response, ZyteSource, "the page is no article")
    found, body = pages[0], article.raw("articleBody")
    names = tuple(name for one in article.records("authors") if (name := one.first("name", "nameRaw")))
    found = found.model_copy(update={"document": None, "authors": names})
    if not body.strip():
        return found
    facts = [("Changed", article.date("dateModified"))]
    return with_record(found, facts=facts, sections=[("Text", body.replace("\n", "\n\n"))])


def _answer(response: ApiResponse) -> Record:
    """The JSON of an answer; the status of the page that was asked for is inside it."""
    if response.status == _TEMPORARY:
        raise failure(Unreachable, response, ZyteSource, "the page could not be loaded now (HTTP 520)")
    answer = object_of(response, ZyteSource)
    status = answer.number("statusCode")
    if status is not None and status >= HTTPStatus.BAD_REQUEST:
        kind = NotFound if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE) else Unreachable
        raise failure(kind, response, ZyteSource, f"the page answered HTTP {status}")
    return answer


def _is_article(entry: Record) -> bool:
    about = entry.record("metadata")
    return about.get("probability") is None or about.score("probability") >= _LEAST_PROBABILITY


def _teaser(entry: Record) -> Page:
    return Page(
        title=line(entry.raw("headline") or entry.raw("name")),
        url=entry.first("canonicalUrl", "url"),
        excerpt=line(entry.raw("description") or entry.raw("articleBody")),
        published=entry.first_date("datePublished", "datePublishedRaw"),
        author=entry.record("authors", 0).first("name", "nameRaw"),
    )
