"""Crossref: the register of DOIs (https://api.crossref.org/swagger-ui)."""

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts
from deep_research.sources._api_answers import Record, distinct, list_of
from deep_research.sources._papers import Ids, Work, doi, found_work
from deep_research.sources._record_documents import line, sections

_FIELDS = (
    "DOI,title,subtitle,author,editor,abstract,container-title,published,published-online,published-print,issued,type,"
    "publisher,is-referenced-by-count,URL,link,score,volume,issue,page,update-to"
)
_DATES = ("published", "published-online", "published-print", "issued", "posted", "created")


class _CrossrefOptions(DatedOptions):
    types: tuple[str, ...] = Field((), description="Only these types, such as journal-article.")


class CrossrefSource(ApiSource[_CrossrefOptions]):
    """Searches by words; a query that is a DOI gives that work."""

    name = "crossref"
    purpose = "The register of DOIs: journal articles, books and conference papers, with abstracts where publishers give them."
    address = "https://api.crossref.org"
    pace = Pace(
        3.0,
        "By the pool, told in x-rate-limit-limit (www.crossref.org/documentation/retrieve-metadata/rest-api).",
        most=50,
    )
    also = ("CROSSREF_MAILTO",)

    async def _search(self, query: str, limit: int) -> SearchResult:
        mail = {"mailto": self._keys.get("CROSSREF_MAILTO", "")}
        if name := doi(query):
            return await self._found_in(parse_works, self._get("/works", {"filter": f"doi:{name}", "rows": 1} | mail))
        options = self.options
        wanted = {"from-pub-date": options.since, "until-pub-date": options.until}
        filters = join_parts(
            ",", *(f"{name}:{day}" for name, day in wanted.items() if day), *(f"type:{name}" for name in options.types)
        )
        params = {"query.bibliographic": query, "rows": min(limit, 100), "filter": filters}
        return await self._found_in(parse_works, self._get("/works", params | {"select": _FIELDS} | mail))


def parse_works(response: ApiResponse) -> list[Found]:
    """Return the works of a list. Raises SourceError."""
    works = list_of(response, CrossrefSource, "message", "items", what="works")
    return [found for work in works if (found := _work(work))]


def _work(work: Record) -> Found | None:
    name, links = doi(work.text("DOI")), work.records("link")
    title = ": ".join(part for part in (work.line("title"), work.line("subtitle")) if part)
    made = Work(
        title=title,
        ids=Ids(doi=name),
        url="" if name else work.text("URL"),
        authors=_people(work.records("author")) or _people(work.records("editor")),
        published=next((day for field in _DATES if (day := work.date(field, "date-parts"))), None),
        venue=line(work.raw("container-title") or work.first("publisher")),
        sections=sections(work.raw("abstract")),
        facts=(
            ("Type", work.text("type").replace("-", " ")),
            ("Volume", work.text("volume")),
            ("Pages", work.text("page")),
            ("Cited by (Crossref)", work.number("is-referenced-by-count")),
            ("Corrects or retracts", [entry.text("DOI") for entry in work.records("update-to")]),
        ),
        # Texts that anybody may open; those for text mining want a subscription.
        full_text=[one.text("URL") for one in links if one.text("intended-application") != "text-mining"],
        score=work.score("score"),
    )
    return found_work(made, CrossrefSource.name)


def _people(persons: list[Record]) -> tuple[str, ...]:
    return distinct(line(person.full_name("given", "family") or person.first("name", "literal")) for person in persons)
