"""Blogs and news sites by Zyte (https://docs.zyte.com/zyte-api/usage/extract)."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pydantic import Field, field_validator

from deep_research.data import Found, Gap
from deep_research.errors import NotFound, Unreachable
from deep_research.ports import ApiResponse
from deep_research.sources._api import Pace, basic, read_answer, web_addresses
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import Item, line
from deep_research.sources._web import Page, WebOptions, page_key, page_of, urlsplit_or_none
from deep_research.sources.feeds import ListingSource

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

    _are_web_addresses = field_validator("pages")(web_addresses)


class ZyteSource(ListingSource[_ZyteOptions]):
    """Ranks the articles that the pages list; reading one asks Zyte for the article."""

    name = "zyte"
    purpose = "Articles of chosen blogs and news sites, listed and read through Zyte."
    address = "https://api.zyte.com"
    pace = Pace(1.0, "120 calls per minute for new accounts (docs.zyte.com/zyte-api/usage/reference.html).", 50, 60)
    needs = "ZYTE_API_KEY"

    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        found, gaps = await self._side_by_side(self.options.pages, self._page, "a page of articles")
        return [one for one in found if self.options.covers(one.published)], gaps

    async def _page(self, address: str) -> list[Found]:
        return await read_answer(parse_article_list, await self._extract(address, "articleList"))

    async def _read(self, found: Found) -> list[Found]:
        return await read_answer(parse_article, await self._extract(found.url, "article"))

    async def _extract(self, address: str, kind: str) -> ApiResponse:
        return await self._post("/v1/extract", {"url": address, kind: True})

    @classmethod
    def json_of(cls, response: ApiResponse) -> Any:
        """Return the JSON of an answer, in which the page has a status of its own."""
        if response.status == 520:
            raise cls.failure(Unreachable, response, "the page could not be loaded now (HTTP 520)")
        answer = super().json_of(response)
        status = Record(answer).number("statusCode") or 0
        if status >= HTTPStatus.BAD_REQUEST:
            kind = NotFound if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE) else Unreachable
            raise cls.failure(kind, response, f"the page answered HTTP {status}")
        return answer

    def _headers(self) -> dict[str, str]:
        return super()._headers() | {"authorization": f"Basic {basic(f'{self._key()}:')}"}


@ZyteSource.parser("articleList", "articles", fields=("articleList",))
def parse_article_list(entry: Record) -> Page | None:
    """Return an article that a page lists."""
    if not _is_article(entry):
        return None
    return page_of(
        entry,
        title="headline name",
        url="canonicalUrl url",
        excerpt="description articleBody",
        published="datePublished datePublishedRaw",
        author="authors.0.name authors.0.nameRaw",
    )


@ZyteSource.parser("article", fields=("article",))
def parse_article(article: Record) -> Item | None:
    """Return one article with its text; none when the page is no article."""
    body, url = article.raw("articleBody"), article.first("canonicalUrl", "url")
    if not _is_article(article) or not urlsplit_or_none(url):
        return None
    return Item(
        key=page_key(url),
        title=line(article.first_raw("headline", "name")) or url,
        url=url,
        about=line(article.first_raw("description", "articleBody")),
        shown=500,
        published=article.first_date("datePublished", "datePublishedRaw"),
        authors=[one.first("name", "nameRaw") for one in article.records("authors")],
        facts=[("Changed", article.date("dateModified"))],
        sections=[("Text", body.replace("\n", "\n\n"))],
    )


def _is_article(entry: Record) -> bool:
    about = entry.record("metadata")
    return about.get("probability") is None or about.score("probability") >= 0.1
