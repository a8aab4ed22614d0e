"""Unpaywall: where a paper can be read for free (https://unpaywall.org/products/api)."""

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.sources._api import ApiOptions, ApiSource, Pace
from deep_research.sources._api_answers import Record
from deep_research.sources._papers import Work, doi


class _UnpaywallOptions(ApiOptions):
    open_access_only: bool = Field(True, description="Only papers that have an open copy.")


class UnpaywallSource(ApiSource[_UnpaywallOptions]):
    """Finds open copies; the address of a result is that of the copy."""

    name = "unpaywall"
    purpose = "Open copies of papers, by DOI or words of the title."
    address = "https://api.unpaywall.org"
    pace = Pace(1.0, "100,000 calls per day (unpaywall.org/products/api).", most=10, at_once=10)
    needs = "UNPAYWALL_EMAIL"
    nothing_is_404 = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        path, params = "/v2/search", {"query": query, "is_oa": "true" if self.options.open_access_only else ""}
        if name := doi(query):
            path, params = f"/v2/{name}", {}
        return await self._found_in(parse_works, self._get(path, params | {"email": self._key()}))


@UnpaywallSource.parser("results", fields=("results", "doi"), what="papers")
def parse_works(entry: Record) -> Work:
    """Return a paper of a search, or the one of an answer about a DOI."""
    paper = entry.record("response") or entry
    people = paper.records("z_authors")
    return Work(
        title=paper.raw("title"),
        doi=paper.text("doi"),
        url=paper.record("best_oa_location").first("url_for_pdf", "url", "url_for_landing_page"),
        authors=[one.first("raw_author_name") or one.full_name("given", "family") for one in people],
        published=paper.first_date("published_date", "year"),
        venue=paper.raw("journal_name"),
        score=entry.score("score"),
    )
