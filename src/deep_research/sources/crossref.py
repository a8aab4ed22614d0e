"""Crossref: the register of DOIs (https://api.crossref.org/swagger-ui)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, rate, result
from deep_research.sources._api_answers import (
    at,
    distinct,
    failure,
    first,
    full_name,
    iso_date,
    json_of,
    number,
    objects,
    raw,
    score,
    text,
)
from deep_research.sources._papers import Ids, Work, doi, found_work, structured
from deep_research.sources._record_documents import line, sections

_FIELDS = (
    "DOI,title,subtitle,author,editor,abstract,container-title,published,published-online,published-print,issued,type,"
    "publisher,is-referenced-by-count,URL,link,score,volume,issue,page,update-to"
)
_DATES = ("published", "published-online", "published-print", "issued", "posted", "created")


class CrossrefOptions(DatedOptions):
    """Options of Crossref."""

    base_url: str = Field("https://api.crossref.org", description="Address of the API.")
    requests_per_second: float = rate(
        3.0,
        "By the pool, told in x-rate-limit-limit (www.crossref.org/documentation/retrieve-metadata/rest-api).",
        most=50,
    )
    types: tuple[str, ...] = Field((), description="Only these types, such as journal-article.")


class CrossrefSource(ApiSource[CrossrefOptions]):
    """Searches by words; a query that is a DOI gives that work."""

    name = "crossref"
    purpose = "The register of DOIs: journal articles, books and conference papers, with abstracts where publishers give them."
    also = ("CROSSREF_MAILTO",)

    async def _search(self, query: str, limit: int) -> SearchResult:
        mail = {"mailto": self._keys.get("CROSSREF_MAILTO", "")}
        if name := doi(query):
            return result(parse_works(await self._get("/works", {"filter": f"doi:{name}", "rows": 1} | mail)))
        params = {"query.bibliographic": query, "rows": min(limit, 100), "filter": _filter(self.options)}
        return result(parse_works(await self._get("/works", params | {"select": _FIELDS} | mail)))


def parse_works(response: ApiResponse) -> list[Found]:
    """Return the works of a list. Raises SourceError."""
    works = at(json_of(response, CrossrefSource), "message", "items")
    if not isinstance(works, list):
        raise failure(Unreadable, response, CrossrefSource, "the answer has no works in it")
    return [found for work in objects(works) if (found := _work(work))]


def _work(work: Mapping[str, Any]) -> Found | None:
    name = doi(text(work.get("DOI")))
    title = ": ".join(part for part in (line(raw(work.get("title"))), line(raw(work.get("subtitle")))) if part)
    made = Work(
        title=title,
        ids=Ids(doi=name),
        url="" if name else text(work.get("URL")),
        authors=_people(work.get("author")) or _people(work.get("editor")),
        published=next((day for field in _DATES if (day := iso_date(at(work, field, "date-parts")))), None),
        venue=line(raw(work.get("container-title")) or first(work, "publisher")),
        sections=structured(sections(raw(work.get("abstract")))),
        facts=(
            ("Type", text(work.get("type")).replace("-", " ")),
            ("Volume", text(work.get("volume"))),
            ("Pages", text(work.get("page"))),
            ("Cited by (Crossref)", number(work.get("is-referenced-by-count"))),
            ("Corrects or retracts", [text(entry.get("DOI")) for entry in objects(work.get("update-to"))]),
        ),
        full_text=_links(work),
        score=score(work.get("score")),
    )
    return found_work(made, CrossrefSource.name)


def _people(value: Any) -> tuple[str, ...]:
    return distinct(
        line(full_name(person, "given", "family") or first(person, "name", "literal")) for person in objects(value)
    )


def _links(work: Mapping[str, Any]) -> list[str]:
    """Addresses of texts that anybody may open; those for text mining want a subscription."""
    return [
        text(link.get("URL"))
        for link in objects(work.get("link"))
        if text(link.get("URL")) and text(link.get("intended-application")) != "text-mining"
    ]


def _filter(options: CrossrefOptions) -> str:
    parts = [
        f"from-pub-date:{options.since}" if options.since else "",
        f"until-pub-date:{options.until}" if options.until else "",
        *(f"type:{name}" for name in options.types),
    ]
    return ",".join(part for part in parts if part)
