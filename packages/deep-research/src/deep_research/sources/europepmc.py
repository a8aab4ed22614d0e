"""Europe PMC: life-science literature, preprints included (https://europepmc.org/RestfulWebService)."""

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts
from deep_research.sources._api_answers import Record, object_of
from deep_research.sources._papers import Ids, Work, doi, found_work, pmid
from deep_research.sources._record_documents import line, sections

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


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the records of a search. Raises SourceError."""
    answer = object_of(response, EuropePmcSource, "resultList", "hitCount")
    return [found for record in answer.records("resultList", "result") if (found := _record(record))]


def _record(record: Record) -> Found | None:
    kind, own = record.text("source"), record.text("id")
    pmcid, links = record.text("pmcid"), record.records("fullTextUrlList", "fullTextUrl")
    work = Work(
        title=record.line("title").removesuffix("."),
        ids=Ids(
            doi=doi(record.text("doi")),
            pmid=pmid(record.text("pmid")) or (pmid(own) if kind == "MED" else ""),
            pmcid=pmcid if pmcid.upper().startswith("PMC") else "",
            other=f"epmc:{kind}:{own}" if own else "",
        ),
        url="" if record.get("doi") or kind == "MED" or pmcid else f"https://europepmc.org/article/{kind}/{own}",
        authors=_authors(record),
        published=record.first_date(*_DATES),
        venue=line(record.first("journalTitle", "bookTitle") or record.text("journalInfo", "journal", "title")),
        sections=sections(record.raw("abstractText")),
        facts=(
            ("Type", "; ".join(record.texts("pubTypeList", "pubType"))),
            ("Cited by (Europe PMC)", record.number("citedByCount")),
        ),
        full_text=[one.text("url") for one in links if one.text("availabilityCode") in ("OA", "F")],
    )
    return found_work(work, EuropePmcSource.name)


def _authors(record: Record) -> tuple[str, ...]:
    names = [
        author.full_name("firstName", "lastName") or author.first("fullName", "collectiveName")
        for author in record.records("authorList", "author")
    ]
    return tuple(map(line, names or record.text("authorString").removesuffix(".").split(", ")))
