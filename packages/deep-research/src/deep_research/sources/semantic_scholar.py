"""Semantic Scholar: papers of all fields (https://api.semanticscholar.org/api-docs/graph)."""

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import NotFound
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace
from deep_research.sources._api_answers import Record, object_of
from deep_research.sources._papers import Ids, Work, arxiv_id, doi, found_work, pmid
from deep_research.sources._record_documents import line

_FIELDS = (
    "title,abstract,year,publicationDate,authors,venue,journal,externalIds,url,openAccessPdf,citationCount,"
    "publicationTypes,tldr"
)


class _SemanticScholarOptions(DatedOptions):
    fields_of_study: tuple[str, ...] = Field((), description="Only these fields, such as Medicine.")


class SemanticScholarSource(ApiSource[_SemanticScholarOptions]):
    """Searches papers; a query that is a DOI or arXiv id gives that paper."""

    name = "semantic_scholar"
    purpose = "Papers of all fields with abstracts, citation counts and open PDFs."
    address = "https://api.semanticscholar.org"
    pace = Pace(
        0.5, "One pool for all without a key, else 1 per second (www.semanticscholar.org/product/api).", most=10
    )
    also = ("SEMANTIC_SCHOLAR_API_KEY",)
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        ids = [f"ARXIV:{number}" for number in [arxiv_id(query)] if number] or [f"DOI:{d}" for d in [doi(query)] if d]
        if ids:
            return await self._found_in(parse_papers, self._get(f"/graph/v1/paper/{ids[0]}", {"fields": _FIELDS}))
        params = {
            "query": query.replace("-", " "),  # a hyphenated word finds nothing there
            "limit": min(limit, 100),
            "fields": _FIELDS,
            "publicationDateOrYear": self.options.period("{since}:{until}", first="", last=""),
            "fieldsOfStudy": ",".join(self.options.fields_of_study),
        }
        return await self._found_in(parse_papers, self._get("/graph/v1/paper/search", params))


def parse_papers(response: ApiResponse) -> list[Found]:
    """Return the papers of a search, which has no `data` when it is empty, or the one of an answer about one.

    An unknown paper is HTTP 404 and gives an empty list. Raises SourceError.
    """
    try:
        answer = object_of(response, SemanticScholarSource, "data", "total", "paperId", what="papers")
    except NotFound:
        return []
    papers = [answer] if "paperId" in answer else answer.records("data")
    return [found for paper in papers if (found := _paper(paper))]


def _paper(paper: Record) -> Found | None:
    own = paper.text("paperId")
    ids = Ids(
        doi=doi(paper.text("externalIds", "DOI")),
        arxiv=arxiv_id(paper.text("externalIds", "ArXiv")),
        pmid=pmid(paper.text("externalIds", "PubMed")),
        other=f"s2:{own}" if own else "",
    )
    address = paper.text("url") or (f"https://www.semanticscholar.org/paper/{own}" if own else "")
    work = Work(
        title=paper.line("title"),
        ids=ids,
        url="" if ids.doi or ids.arxiv else address,
        authors=[author.text("name") for author in paper.records("authors")],
        published=paper.date("publicationDate") or paper.date("year"),
        venue=line(paper.first("venue") or paper.text("journal", "name")),
        sections=[("", paper.paragraphs("abstract"))],
        facts=(
            ("Type", paper.texts("publicationTypes")),
            ("Cited by (Semantic Scholar)", paper.number("citationCount")),
        ),
        full_text=(paper.text("openAccessPdf", "url"),),
    )
    return found_work(work, SemanticScholarSource.name)
