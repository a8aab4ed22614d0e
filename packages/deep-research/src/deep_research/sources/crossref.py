"""Crossref: the register of DOIs (https://api.crossref.org/swagger-ui)."""

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts
from deep_research.sources._api_answers import Record
from deep_research.sources._papers import Work, doi

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


def _people(persons: list[Record]) -> list[str]:
    return [person.full_name("given", "family") or person.first("name", "literal") for person in persons]


@CrossrefSource.parser("message", "items", what="works")
def parse_works(work: Record) -> Work:
    """Return a work of a list."""
    links = work.records("link")
    return Work(
        title=join_parts(": ", work.raw("title"), work.raw("subtitle")),
        doi=work.text("DOI"),
        otherwise=work.text("URL"),
        authors=_people(work.records("author")) or _people(work.records("editor")),
        published=next((day for field in _DATES if (day := work.date(field, "date-parts"))), None),
        venue=work.first_raw("container-title", "publisher"),
        abstract=work.raw("abstract"),
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
