"""Europe PMC: life-science literature, preprints included (https://europepmc.org/RestfulWebService)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, result
from deep_research.sources._api_answers import Place, failure, json_of
from deep_research.sources._fields import at, first, iso_date, number, objects, raw, text
from deep_research.sources._markup import line, sections
from deep_research.sources._papers import Ids, Work, doi, found_work, pmid, structured

NAME = "europepmc"
PURPOSE = "Life-science papers, preprints and patents with abstracts; open full texts."
NEEDS = None
_PLACE = Place(NAME)
_DATES = ("firstPublicationDate", "electronicPublicationDate", "pubYear")


class EuropePmcOptions(DatedOptions):
    """Options of Europe PMC."""

    base_url: str = Field("https://www.ebi.ac.uk/europepmc/webservices/rest", description="Address of the API.")
    requests_per_second: float = Field(3.0, gt=0, le=20, description="Calls per second at most.")
    open_access_only: bool = Field(False, description="Only papers whose full text is open.")


class EuropePmcSource(ApiSource[EuropePmcOptions]):
    """Searches Europe PMC by relevance; retracted papers are left out."""

    name = NAME
    purpose = PURPOSE
    options_type: ClassVar = EuropePmcOptions
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"query": _query(query, self.options), "format": "json", "resultType": "core"}
        params |= {"pageSize": str(min(limit, 100)), "cursorMark": "*"}
        return result(parse_search(await self._get("/search", params)))


def parse_search(response: ApiResponse) -> list[Found]:
    """Return the records of a search, whatever their resultType. Raises SourceError."""
    answer = json_of(response, _PLACE)
    if not isinstance(answer, Mapping) or not ({"resultList", "hitCount"} & answer.keys()):
        raise failure(Unreadable, response, _PLACE, "the answer has no results in it")
    return [found for record in objects(at(answer, "resultList", "result")) if (found := _record(record))]


def _record(record: Mapping[str, Any]) -> Found | None:
    kind, own = text(record.get("source")), text(record.get("id"))
    pmcid = text(record.get("pmcid"))
    work = Work(
        title=line(raw(record.get("title"))).removesuffix("."),
        ids=Ids(
            doi=doi(text(record.get("doi"))),
            pmid=pmid(text(record.get("pmid"))) or (pmid(own) if kind == "MED" else ""),
            pmcid=pmcid if pmcid.upper().startswith("PMC") else "",
            other=f"epmc:{kind}:{own}" if own else "",
        ),
        url="" if record.get("doi") or kind == "MED" or pmcid else f"https://europepmc.org/article/{kind}/{own}",
        authors=_authors(record),
        published=next((day for field in _DATES if (day := iso_date(record.get(field)))), None),
        venue=line(first(record, "journalTitle", "bookTitle") or text(at(record, "journalInfo", "journal", "title"))),
        sections=structured(sections(raw(record.get("abstractText")))),
        facts=(
            ("Type", _kinds(record)),
            ("Cited by (Europe PMC)", number(record.get("citedByCount"))),
        ),
        full_text=_full_text(record),
    )
    return found_work(work, NAME)


def _authors(record: Mapping[str, Any]) -> tuple[str, ...]:
    listed = objects(at(record, "authorList", "author"))
    names = [
        " ".join(part for part in (text(a.get("firstName")), text(a.get("lastName"))) if part)
        or first(a, "fullName", "collectiveName")
        for a in listed
    ]
    names = names or text(record.get("authorString")).removesuffix(".").split(", ")
    return tuple(dict.fromkeys(line(name) for name in names if name))


def _kinds(record: Mapping[str, Any]) -> str:
    kinds = at(record, "pubTypeList", "pubType") or record.get("pubType")
    return "; ".join(text(kind) for kind in kinds if text(kind)) if isinstance(kinds, list) else text(kinds)


def _full_text(record: Mapping[str, Any]) -> tuple[str, ...]:
    links = objects(at(record, "fullTextUrlList", "fullTextUrl"))
    opened = (text(link.get("url")) for link in links if text(link.get("availabilityCode")) in ("OA", "F"))
    return tuple(dict.fromkeys(address for address in opened if address))


def _query(query: str, options: EuropePmcOptions) -> str:
    parts = [f"({query})", 'AND NOT PUB_TYPE:"retracted publication"']
    if options.since or options.until:
        parts.append(f"AND FIRST_PDATE:[{options.since or '1800-01-01'} TO {options.until or '2100-12-31'}]")
    if options.open_access_only:
        parts.append("AND OPEN_ACCESS:y")
    return " ".join(parts)


build = EuropePmcSource.build
COMPONENT = EuropePmcSource
