"""Hugging Face daily papers: what the community reads now (https://huggingface.co/docs/hub/api)."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import NotFound, SourceError, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, result
from deep_research.sources._api_answers import explanation, failure, json_of
from deep_research.sources._fields import at, first, iso_date, number, objects, raw, text
from deep_research.sources._listing import rank
from deep_research.sources._markup import line, paragraphs
from deep_research.sources._papers import Ids, Work, arxiv_id, found_work, full_text_of_arxiv, unstructured

_DAY = "%Y-%m-%d"


class HuggingFacePapersOptions(ApiOptions):
    """Options of Hugging Face daily papers."""

    base_url: str = Field("https://huggingface.co", description="Address of the site.")
    requests_per_second: float = Field(
        1.0, gt=0, le=2, description="500 calls in five minutes (huggingface.co/docs/hub/rate-limits)."
    )
    burst: int = Field(50, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")
    day: date | None = Field(None, description="Only the papers of this day; none are listed on weekends.")


class HuggingFacePapersSource(ApiSource[HuggingFacePapersOptions]):
    """Searches all papers that were ever listed; with the option `day`, ranks those of that day."""

    name = "huggingface_papers"
    purpose = "Recent machine-learning papers that the Hugging Face community discusses, with their code."

    async def _search(self, query: str, limit: int) -> SearchResult:
        if self.options.day is None:
            try:
                if found := parse_papers(await self._get("/api/papers/search", {"q": query})):
                    return result(found)
            except NotFound:
                pass  # a mirror without search still lists the papers of the day
        params = {"limit": 100, "date": f"{self.options.day:{_DAY}}" if self.options.day else ""}
        listed = parse_papers(await self._get("/api/daily_papers", params))
        return result(rank(query, listed)[:limit])


def parse_papers(response: ApiResponse) -> list[Found]:
    """Return the papers of a day or a search, in their order; weekends have none. Raises SourceError."""
    answer = json_of(response, HuggingFacePapersSource)
    if isinstance(answer, Mapping) and "error" in answer:
        raise failure(
            SourceError, response, HuggingFacePapersSource, f"the request was not accepted: {explanation(response)}"
        )
    if isinstance(answer, Mapping) and ("id" in answer or "paper" in answer):
        answer = [answer]
    if not isinstance(answer, list):
        raise failure(Unreadable, response, HuggingFacePapersSource, "the answer is no list of papers")
    return [found for entry in objects(answer) if (found := _paper(entry))]


def _paper(entry: Mapping[str, Any]) -> Found | None:
    """Most of a paper is in the inner object; what is missing there may be in the outer one."""
    inner = at(entry, "paper") if isinstance(at(entry, "paper"), Mapping) else entry
    own = text(inner.get("id"))
    paper = arxiv_id(own)
    if not own:
        return None
    names = (
        first(author, "name", "fullname")
        for author in objects(inner.get("authors"))
        if author.get("hidden") is not True
    )
    work = Work(
        title=line(raw(inner.get("title")) or raw(entry.get("title"))),
        ids=Ids(arxiv=paper, other="" if paper else f"hf:{own}"),
        url=f"https://huggingface.co/papers/{own}",
        authors=names,
        published=iso_date(text(inner.get("publishedAt"))) or iso_date(text(entry.get("publishedAt"))),
        sections=unstructured(paragraphs(raw(inner.get("summary")) or raw(entry.get("summary")))),
        facts=(
            ("Listed", iso_date(text(inner.get("submittedOnDailyAt")))),
            ("Organization", first(at(inner, "organization") or at(entry, "organization") or {}, "fullname", "name")),
            ("Upvotes on Hugging Face", number(inner.get("upvotes"))),
            ("Code", text(inner.get("githubRepo"))),
            ("Project page", text(inner.get("projectPage"))),
        ),
        full_text=full_text_of_arxiv(paper) if paper else (),
    )
    return found_work(work, HuggingFacePapersSource.name)
