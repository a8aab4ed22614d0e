"""Granted US patents through PatentsView (https://search.patentsview.org/docs); the service may move or end."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import SourceError
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, result
from deep_research.sources._api_answers import explanation, failure, json_of, list_of
from deep_research.sources._fields import first, full_name, iso_date, number, objects, raw, text, texts
from deep_research.sources._markup import line, paragraphs
from deep_research.sources._patents import Patent, found_patent

_FIELDS = (
    "patent_id", "patent_title", "patent_abstract", "patent_date", "patent_type", "inventors", "assignees",
    "patent_num_times_cited_by_us_patents", "patent_earliest_application_date",
)  # fmt: skip


class PatentsViewOptions(DatedOptions):
    """Options of the search; the period is that of the grant."""

    base_url: str = Field("https://search.patentsview.org", description="Address of the API.")
    requests_per_second: float = Field(
        0.35, gt=0, le=1, description="45 calls per minute (search.patentsview.org/docs)."
    )
    burst: int = Field(22, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")


class PatentsViewSource(ApiSource[PatentsViewOptions]):
    """Searches titles and abstracts of granted US patents."""

    name = "patents_patentsview"
    purpose = "Granted US patents since 1976 with abstracts, assignees and citations."
    needs = "PATENTSVIEW_API_KEY"
    narrow = True
    key_header = ("x-api-key", "{}")

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


def parse_patents(response: ApiResponse) -> list[Found]:
    """Return the patents of a search; none found gives an empty list. Raises SourceError."""
    answer = json_of(response, PatentsViewSource)
    if isinstance(answer, Mapping) and answer.get("error") is True:
        raise failure(
            SourceError, response, PatentsViewSource, f"the request was not accepted: {explanation(response)}"
        )
    entries = list_of(response, PatentsViewSource, "patents", what="patents")
    return [found for entry in entries if (found := _patent(entry))]


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
        PatentsViewSource.name,
    )


def _people(value: Any, given: str, family: str) -> list[str]:
    return [first(one, "assignee_organization") or full_name(one, given, family) for one in objects(value)]
