"""Semantic Scholar: papers of all fields (https://api.semanticscholar.org/api-docs/graph)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import NotFound, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, rate, result
from deep_research.sources._api_answers import (
    at,
    failure,
    first,
    iso_date,
    json_of,
    listed,
    number,
    objects,
    score,
    text,
)
from deep_research.sources._papers import Ids, Work, arxiv_id, doi, found_work, pmid
from deep_research.sources._record_documents import line, paragraphs

_FIELDS = (
    "title,abstract,year,publicationDate,authors,venue,journal,externalIds,url,openAccessPdf,citationCount,"
    "publicationTypes,tldr"
)
_WRAPPED = ("citedPaper", "citingPaper", "paper")


class SemanticScholarOptions(DatedOptions):
    """Options of Semantic Scholar."""

    base_url: str = Field("https://api.semanticscholar.org", description="Address of the API.")
    requests_per_second: float = rate(
        0.5, "One pool for all without a key, else 1 per second (www.semanticscholar.org/product/api).", most=10
    )
    fields_of_study: tuple[str, ...] = Field((), description="Only these fields, such as Medicine.")


class SemanticScholarSource(ApiSource[SemanticScholarOptions]):
    """Searches papers; a query that is a DOI or arXiv id gives that paper."""

    name = "semantic_scholar"
    purpose = "Papers of all fields with abstracts, citation counts and open PDFs."
    also = ("SEMANTIC_SCHOLAR_API_KEY",)
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        ids = [f"ARXIV:{number}" for number in [arxiv_id(query)] if number] or [f"DOI:{d}" for d in [doi(query)] if d]
        if ids:
            return result(parse_papers(await self._get(f"/graph/v1/paper/{ids[0]}", {"fields": _FIELDS})))
        params = {
            "query": query.replace("-", " "),  # a hyphenated word finds nothing there
            "limit": min(limit, 100),
            "fields": _FIELDS,
            "publicationDateOrYear": self.options.period("{since}:{until}", first="", last=""),
            "fieldsOfStudy": ",".join(self.options.fields_of_study),
        }
        return result(parse_papers(await self._get("/graph/v1/paper/search", params)))


def parse_papers(response: ApiResponse) -> list[Found]:
    """Return the papers of a search, match, batch, reference or snippet answer, or of one paper.

    An empty search has no `data`, no match is HTTP 404: both give an empty list. Raises SourceError.
    """
    try:
        answer = json_of(response, SemanticScholarSource)
    except NotFound:
        return []
    if isinstance(answer, list):
        papers = objects(answer)
    elif not isinstance(answer, Mapping) or not ({"data", "total", "paperId", "recommendedPapers"} & answer.keys()):
        raise failure(Unreadable, response, SemanticScholarSource, "the answer has no papers in it")
    elif "paperId" in answer:
        papers = [answer]
    else:
        papers = objects(answer.get("data")) + objects(answer.get("recommendedPapers"))
    return [found for paper in papers if (found := _paper(paper))]


def _paper(entry: Mapping[str, Any]) -> Found | None:
    inner = next((entry[name] for name in _WRAPPED if isinstance(entry.get(name), Mapping)), entry)
    ids = Ids(
        doi=doi(text(at(inner, "externalIds", "DOI"))),
        arxiv=arxiv_id(text(at(inner, "externalIds", "ArXiv"))),
        pmid=pmid(text(at(inner, "externalIds", "PubMed"))),
        other=_own_id(inner),
    )
    address = text(inner.get("url")) or _address(inner)
    work = Work(
        title=line(text(inner.get("title"))),
        ids=ids,
        url="" if ids.doi or ids.arxiv else address,
        authors=_authors(inner),
        published=iso_date(inner.get("publicationDate")) or iso_date(inner.get("year")),
        venue=line(first(inner, "venue") or text(at(inner, "journal", "name"))),
        sections=_sections(entry, inner),
        facts=(
            ("Type", [text(kind) for kind in listed(inner.get("publicationTypes"))]),
            ("Cited by (Semantic Scholar)", number(inner.get("citationCount"))),
        ),
        full_text=(text(at(inner, "openAccessPdf", "url")),),
        score=score(entry.get("score")) or score(inner.get("matchScore")),
    )
    return found_work(work, SemanticScholarSource.name)


def _sections(entry: Mapping[str, Any], paper: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The abstract, or the snippet that was found. The service's own summary (tldr) is no evidence."""
    abstract = paragraphs(text(paper.get("abstract")))
    found = paragraphs(text(at(entry, "snippet", "text")))
    heading = text(at(entry, "snippet", "section")) or text(at(entry, "snippet", "snippetKind")).title() or "Excerpt"
    parts = (("Abstract", abstract), (heading, found if found not in abstract else ""))
    return tuple((name, body) for name, body in parts if body)


def _authors(paper: Mapping[str, Any]) -> list[str]:
    return [text(at(author, "name")) or text(author) for author in listed(paper.get("authors"))]


def _own_id(paper: Mapping[str, Any]) -> str:
    if own := text(paper.get("paperId")):
        return f"s2:{own}"
    corpus = first(paper, "corpusId") or text(at(paper, "externalIds", "CorpusId"))
    return f"s2:corpus:{corpus}" if corpus else ""


def _address(paper: Mapping[str, Any]) -> str:
    if own := text(paper.get("paperId")):
        return f"https://www.semanticscholar.org/paper/{own}"
    corpus = text(paper.get("corpusId"))
    return f"https://api.semanticscholar.org/CorpusID:{corpus}" if corpus else ""
