"""Granted US patents through PatentsView (https://search.patentsview.org/docs); the service may move or end."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import SourceError, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, result
from deep_research.sources._api_answers import Place, explanation, failure, json_of
from deep_research.sources._fields import first, iso_date, number, objects, raw, text, texts
from deep_research.sources._markup import line, paragraphs
from deep_research.sources._patents import Patent, found_patent

NAME = "patents_patentsview"
PURPOSE = "Granted US patents since 1976 with abstracts, assignees and citations."
NEEDS = "PATENTSVIEW_API_KEY"
_PLACE = Place(NAME, NEEDS)
_FIELDS = (
    "patent_id", "patent_title", "patent_abstract", "patent_date", "patent_type", "inventors", "assignees",
    "patent_num_times_cited_by_us_patents", "patent_earliest_application_date",
)  # fmt: skip


class PatentsViewOptions(DatedOptions):
    """Options of the search; the period is that of the grant."""

    base_url: str = Field("https://search.patentsview.org", description="Address of the API.")
    requests_per_second: float = Field(0.7, gt=0, le=1, description="45 calls per minute are allowed.")


class PatentsViewSource(ApiSource[PatentsViewOptions]):
    """Searches titles and abstracts of granted US patents."""

    name = NAME
    purpose = PURPOSE
    needs = NEEDS
    options_type: ClassVar = PatentsViewOptions
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        wanted: list[object] = [{"_or": [{"_text_all": {name: query}} for name in ("patent_title", "patent_abstract")]}]
        if self.options.since:
            wanted.append({"_gte": {"patent_date": f"{self.options.since}"}})
        if self.options.until:
            wanted.append({"_lte": {"patent_date": f"{self.options.until}"}})
        params = {
            "q": json.dumps({"_and": wanted}),
            "f": json.dumps(_FIELDS),
            "o": json.dumps({"size": min(limit, 100)}),
        }
        return result(parse_patents(await self._get("/api/v1/patent/", params)))

    def _headers(self) -> dict[str, str]:
        return super()._headers() | {"x-api-key": self._key()}


def parse_patents(response: ApiResponse) -> list[Found]:
    """Return the patents of a search; none found gives an empty list. Raises SourceError."""
    answer = json_of(response, _PLACE)
    if isinstance(answer, Mapping) and answer.get("error") is True:
        raise failure(SourceError, response, _PLACE, f"the request was not accepted: {explanation(response)}")
    if not isinstance(answer, Mapping) or not isinstance(answer.get("patents"), list):
        raise failure(Unreadable, response, _PLACE, "the answer has no patents in it")
    return [found for entry in objects(answer["patents"]) if (found := _patent(entry))]


def _patent(entry: Mapping[str, Any]) -> Found | None:
    own = text(entry.get("patent_id"))
    if not own:
        return None
    return found_patent(
        Patent(
            number=f"US{own}",
            title=line(raw(entry.get("patent_title"))),
            inventors=_people(entry.get("inventors"), "inventor_name_first", "inventor_name_last"),
            applicants=_people(
                entry.get("assignees"), "assignee_individual_name_first", "assignee_individual_name_last"
            ),
            published=iso_date(text(entry.get("patent_date"))),
            abstract=paragraphs(raw(entry.get("patent_abstract"))),
            facts=(
                ("Type", text(entry.get("patent_type"))),
                ("Filed", iso_date(text(entry.get("patent_earliest_application_date")))),
                ("Cited by US patents", number(entry.get("patent_num_times_cited_by_us_patents"))),
                ("Classes", texts([one.get("cpc_group_id") for one in objects(entry.get("cpc_current"))])[:12]),
                ("Withdrawn", entry.get("withdrawn") is True),
            ),
        ),
        NAME,
    )


def _people(value: Any, given: str, family: str) -> tuple[str, ...]:
    names = (
        first(one, "assignee_organization") or f"{text(one.get(given))} {text(one.get(family))}".strip()
        for one in objects(value)
    )
    return tuple(dict.fromkeys(name for name in names if name))


build = PatentsViewSource.build
COMPONENT = PatentsViewSource
