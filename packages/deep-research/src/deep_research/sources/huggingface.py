"""Hugging Face (https://huggingface.co/docs/hub/api): posts, models and papers."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar

from pydantic import Field

from deep_research.data import Found, Gap, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, DatedOptions, Pace, read_answer, result
from deep_research.sources._api_answers import Record
from deep_research.sources._papers import Work, arxiv_id, full_text_of_arxiv
from deep_research.sources._record_documents import Item
from deep_research.sources.feeds import ListingSource, best, entries


class HuggingFaceBlogSource(ListingSource[DatedOptions]):
    """Ranks the posts of the feed by their titles; the posts themselves are pages."""

    name = "huggingface_blog"
    purpose = "Posts of the Hugging Face blog on models, libraries and methods."
    address = "https://huggingface.co"
    headers: ClassVar = {"accept": "application/rss+xml, application/xml;q=0.9"}

    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        posts = await read_answer(parse_feed, await self._get("/blog/feed.xml"))
        return [post for post in posts if self.options.covers(post.published)], []


def parse_feed(response: ApiResponse) -> list[Found]:
    """Return the posts of the feed, newest first; raise SourceError."""
    return entries(response, HuggingFaceBlogSource)


class HuggingFaceModelsSource(ApiSource[ApiOptions]):
    """Searches models by words in their names."""

    name = "huggingface_models"
    purpose = "Models on the Hugging Face Hub with task, downloads, likes and licence."
    address = "https://huggingface.co"
    pace = Pace(1.0, "500 calls in five minutes (huggingface.co/docs/hub/rate-limits).", most=2, at_once=50)
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"search": query, "sort": "downloads", "direction": -1, "limit": min(limit, 100)}
        return await self._found_in(parse_models, self._get("/api/models", params))


@HuggingFaceModelsSource.parser(what="models")
def parse_models(entry: Record) -> Item:
    """Return a model of a list."""
    name = entry.first("id", "modelId")
    facts = (
        ("Task", entry.text("pipeline_tag")),
        ("Library", entry.text("library_name")),
        ("Downloads", entry.number("downloads")),
        ("Likes", entry.number("likes")),
        ("Last change", entry.date("lastModified")),
        ("Tags", entry.texts("tags")[:30]),
    )
    return Item(
        key=f"hf-model:{name}",
        title=name,
        url=f"https://huggingface.co/{name}",
        published=entry.date("createdAt"),
        authors=[entry.text("author") or name.rpartition("/")[0]],
        about="; ".join(f"{label}: {value}" for label, value in facts[:4] if value),
        score=entry.score("trendingScore"),
        facts=facts,
    )


class _HuggingFacePapersOptions(ApiOptions):
    day: date | None = Field(None, description="Only the papers of this day; none are listed on weekends.")


class HuggingFacePapersSource(ApiSource[_HuggingFacePapersOptions]):
    """A search of all papers ever listed, or a ranking of the papers of one `day`."""

    name = "huggingface_papers"
    purpose = "Recent machine-learning papers that the Hugging Face community discusses, with their code."
    address = "https://huggingface.co"
    pace = Pace(1.0, "500 calls in five minutes (huggingface.co/docs/hub/rate-limits).", most=2, at_once=50)

    async def _search(self, query: str, limit: int) -> SearchResult:
        if self.options.day is None:
            return await self._found_in(parse_papers, self._get("/api/papers/search", {"q": query}))
        asked = {"limit": 100, "date": f"{self.options.day}"}
        listed = await read_answer(parse_papers, await self._get("/api/daily_papers", asked))
        return result(await best(query, listed, limit))


@HuggingFacePapersSource.parser(what="papers")
def parse_papers(entry: Record) -> Work | None:
    """Return a paper; what its inner object lacks may be in the outer one."""
    inner = entry.record("paper") or entry
    own = inner.text("id")
    paper = arxiv_id(own)
    if not own:
        return None
    authors = [author for author in inner.records("authors") if author.get("hidden") is not True]
    return Work(
        title=inner.raw("title") or entry.raw("title"),
        arxiv=paper,
        own=f"hf:{own}",
        url=f"https://huggingface.co/papers/{own}",
        authors=[author.first("name", "fullname") for author in authors],
        published=inner.date("publishedAt") or entry.date("publishedAt"),
        abstract=inner.raw("summary") or entry.raw("summary"),
        facts=(
            ("Listed", inner.date("submittedOnDailyAt")),
            ("Organization", inner.first("organization.fullname", "organization.name")),
            ("Upvotes on Hugging Face", inner.number("upvotes")),
            ("Code", inner.text("githubRepo")),
            ("Project page", inner.text("projectPage")),
        ),
        full_text=full_text_of_arxiv(paper) if paper else (),
    )
