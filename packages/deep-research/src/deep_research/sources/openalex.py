"""OpenAlex: scholarly works of all fields (https://docs.openalex.org)."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.sources._api import ApiSource, DatedOptions, Pace
from deep_research.sources._api_answers import Record
from deep_research.sources._papers import Work, arxiv_id, doi

_MAX_POSITION = 20_000
_FIELDS = (
    "id,doi,title,display_name,publication_date,publication_year,ids,language,primary_location,locations,type,"
    "open_access,best_oa_location,authorships,cited_by_count,is_retracted,abstract_inverted_index,relevance_score"
)
_OPEN_TEXTS = ("best_oa_location.pdf_url", "open_access.oa_url", "primary_location.pdf_url")


class _OpenAlexOptions(DatedOptions):
    language: str = Field("", pattern=r"^([a-z]{2})?$", description="Only works in this language, such as en.")
    types: tuple[str, ...] = Field((), description="Only these types, such as article or review.")


class OpenAlexSource(ApiSource[_OpenAlexOptions]):
    """Searches titles, abstracts and full texts; a query that is a DOI gives that work."""

    name = "openalex"
    purpose = "Scholarly works of all fields with abstracts, citations and open-access links."
    address = "https://api.openalex.org"
    pace = Pace(10.0, "100 per second (developers.openalex.org/api-reference/authentication).", most=100, at_once=10)
    also = ("OPENALEX_API_KEY", "OPENALEX_MAILTO")

    async def _search(self, query: str, limit: int) -> SearchResult:
        keys = self._keys
        own = {"api_key": keys.get("OPENALEX_API_KEY", ""), "mailto": keys.get("OPENALEX_MAILTO", "")}
        if name := doi(query):
            params = {"filter": f"doi:{name}", "per_page": 1}
        else:
            plain = " ".join(re.split(r"[\s,|]+", query)).strip()  # commas and pipes are operators there
            options = self.options
            wanted = {"from_publication_date": options.since, "to_publication_date": options.until}
            wanted |= {"language": options.language, "type": "|".join(options.types)}
            filters = ",".join(f"{name}:{value}" for name, value in wanted.items() if value)
            params = {"search": plain, "per_page": min(limit, 200), "filter": filters, "select": _FIELDS}
        return await self._found_in(parse_works, self._get("/works", params | own))


def abstract(index: Any) -> str:
    """Return the text of an inverted index {word: [positions]}; "" when there is none."""
    if not isinstance(index, Mapping):
        return ""
    placed: dict[int, str] = {}
    for word, positions in index.items():
        for position in Record(positions).items():
            where = Record(position).number()
            if where is not None and 0 <= where <= _MAX_POSITION:
                placed.setdefault(where, str(word))
    return " ".join(placed[where] for where in sorted(placed))


@OpenAlexSource.parser("results", what="works")
def parse_works(work: Record) -> Work:
    """Return a work of a list."""
    places = [*work.records("primary_location"), *work.records("locations")]
    addresses = [place.text("landing_page_url") for place in places]
    papers = (arxiv_id(address) for address in addresses if "arxiv.org" in address)
    pmcid = work.text("ids", "pmcid").rstrip("/").rsplit("/", 1)[-1]
    return Work(
        title=work.first("title", "display_name"),
        doi=work.first("doi", "ids.doi"),
        arxiv=next(filter(None, papers), ""),
        pmid=work.text("ids", "pmid"),
        pmcid=f"PMC{pmcid}" if pmcid.isdecimal() else pmcid,
        own=work.text("id"),
        otherwise=next(filter(None, addresses), work.text("id")),
        authors=[one.first("author.display_name", "raw_author_name") for one in work.records("authorships")],
        published=work.first_date("publication_date", "publication_year"),
        venue=work.raw("primary_location", "source", "display_name"),
        abstract=abstract(work.get("abstract_inverted_index")),
        facts=(
            ("Type", work.text("type")),
            ("Cited by (OpenAlex)", work.number("cited_by_count")),
            ("Retracted", work.get("is_retracted") is True),
        ),
        full_text=[work.first(name) for name in _OPEN_TEXTS],
        score=work.score("relevance_score"),
    )
