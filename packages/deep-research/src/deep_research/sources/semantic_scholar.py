"""Semantic Scholar: papers of all fields (https://api.semanticscholar.org/api-docs/graph)."""

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.sources._api import ApiSource, DatedOptions, Pace
from deep_research.sources._api_answers import Record
from deep_research.sources._papers import Work, arxiv_id, doi

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
    nothing_is_404 = True

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


@SemanticScholarSource.parser("data", fields=("data", "total", "paperId"), what="papers")
def parse_papers(paper: Record) -> Work:
    """Return one of the papers of a search, or the one that was asked for."""
    own = paper.text("paperId")
    return Work(
        title=paper.raw("title"),
        doi=paper.text("externalIds", "DOI"),
        arxiv=paper.text("externalIds", "ArXiv"),
        pmid=paper.text("externalIds", "PubMed"),
        own=f"s2:{own}" if own else "",
        otherwise=paper.text("url") or (f"https://www.semanticscholar.org/paper/{own}" if own else ""),
        authors=[author.text("name") for author in paper.records("authors")],
        published=paper.first_date("publicationDate", "year"),
        venue=paper.first("venue", "journal.name"),
        abstract=paper.raw("abstract"),
        facts=(
            ("Type", paper.texts("publicationTypes")),
            ("Cited by (Semantic Scholar)", paper.number("citationCount")),
        ),
        full_text=[paper.text("openAccessPdf", "url")],
    )
