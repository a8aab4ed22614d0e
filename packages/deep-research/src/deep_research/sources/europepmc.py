"""Europe PMC: life-science literature, preprints included (https://europepmc.org/RestfulWebService)."""

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts
from deep_research.sources._api_answers import Record
from deep_research.sources._papers import Work

_DATES = ("firstPublicationDate", "electronicPublicationDate", "pubYear")


class _EuropePmcOptions(DatedOptions):
    open_access_only: bool = Field(False, description="Only papers whose full text is open.")


class EuropePmcSource(ApiSource[_EuropePmcOptions]):
    """Searches Europe PMC by relevance; retracted papers are left out."""

    name = "europepmc"
    purpose = "Life-science papers, preprints and patents with abstracts; open full texts."
    address = "https://www.ebi.ac.uk/europepmc/webservices/rest"
    pace = Pace(3.0, "No number is published (europepmc.org/RestfulWebService).", most=20)
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        period = self.options.period("AND FIRST_PDATE:[{since} TO {until}]", first="1800-01-01")
        is_open = "AND OPEN_ACCESS:y" if self.options.open_access_only else ""
        asked = join_parts(" ", f"({query})", 'AND NOT PUB_TYPE:"retracted publication"', period, is_open)
        params = {"query": asked, "format": "json", "resultType": "core"}
        params |= {"pageSize": str(min(limit, 100)), "cursorMark": "*"}
        return await self._found_in(parse_search, self._get("/search", params))


@EuropePmcSource.parser("resultList", "result", fields=("resultList", "hitCount"))
def parse_search(record: Record) -> Work:
    """Return a record of a search."""
    kind, own = record.text("source"), record.text("id")
    names = [
        author.full_name("firstName", "lastName") or author.first("fullName", "collectiveName")
        for author in record.records("authorList", "author")
    ]
    links = record.records("fullTextUrlList", "fullTextUrl")
    return Work(
        title=record.raw("title").removesuffix("."),
        doi=record.text("doi"),
        pmid=record.text("pmid") or (own if kind == "MED" else ""),
        pmcid=record.text("pmcid"),
        own=f"epmc:{kind}:{own}" if own else "",
        otherwise=f"https://europepmc.org/article/{kind}/{own}" if own else "",
        authors=names or record.text("authorString").removesuffix(".").split(", "),
        published=record.first_date(*_DATES),
        venue=record.first("journalTitle", "bookTitle", "journalInfo.journal.title"),
        abstract=record.raw("abstractText"),
        facts=(
            ("Type", "; ".join(record.texts("pubTypeList", "pubType"))),
            ("Cited by (Europe PMC)", record.number("citedByCount")),
        ),
        full_text=[one.text("url") for one in links if one.text("availabilityCode") in ("OA", "F")],
    )
