"""US patent applications through the USPTO's Open Data Portal (https://data.uspto.gov/apis)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import NotFound, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, result
from deep_research.sources._api_answers import failure, json_of
from deep_research.sources._fields import at, distinct, first, iso_date, listed, objects, text, texts
from deep_research.sources._patents import Patent, found_patent, patent_key, patent_url

_BAGS = ("patentFileWrapperDataBag", "patentBag", "petitionDecisionDataBag", "patentdata")
_MAX_CODES = 12


class UsptoOptions(DatedOptions):
    """Options of the application search; the period is that of the filing."""

    base_url: str = Field("https://api.uspto.gov", description="Address of the API.")
    requests_per_second: float = Field(
        0.9, gt=0, le=1, description="60 calls per minute, one at a time (data.uspto.gov/apis/api-rate-limits)."
    )


class UsptoSource(ApiSource[UsptoOptions]):
    """Searches US applications by words in their records."""

    name = "patents_uspto"
    purpose = "US patent applications and grants: applicants, inventors, dates, status."
    needs = "USPTO_API_KEY"
    narrow = True
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {
            "q": " AND ".join(query.split()) if '"' not in query and ":" not in query else query,
            "offset": 0,
            "limit": min(limit, 100),
            "rangeFilters": self.options.period("applicationMetaData.filingDate {since}:{until}", first="1900-01-01"),
        }
        return result(parse_applications(await self._get("/api/v1/patent/applications/search", params)))


def parse_applications(response: ApiResponse) -> list[Found]:
    """Return the applications of a search in today's or the 2024 form, or the petitions of one.

    Nothing found is HTTP 404 and gives an empty list. Raises SourceError.
    """
    try:
        answer = json_of(response, UsptoSource)
    except NotFound:
        return []
    if not isinstance(answer, Mapping) or not ({"count", *_BAGS} & answer.keys()):
        raise failure(Unreadable, response, UsptoSource, "the answer has no applications in it")
    entries = next((objects(answer[name]) for name in _BAGS if name in answer), [])
    return [found for entry in entries if (found := _application(entry))]


def _application(entry: Mapping[str, Any]) -> Found | None:
    application = first(entry, "applicationNumberText", "patentApplicationNumber")
    inner = at(entry, "applicationMetaData")
    about = inner if isinstance(inner, Mapping) else entry
    grant, publication = first(about, "patentNumber"), first(about, "earliestPublicationNumber")
    number = f"US{grant.removeprefix('US')}" if grant else publication
    if not application and not number:
        return None
    published = iso_date(first(about, "grantDate")) if grant else iso_date(first(about, "earliestPublicationDate"))
    return found_patent(
        Patent(
            number=number or f"US application {application}",
            title=text(about.get("inventionTitle")),
            key=patent_key(number) if number else f"patent:US-application:{application}",
            url=patent_url(number) if number else f"https://patentcenter.uspto.gov/applications/{application}",
            inventors=_people(about.get("inventorBag"), "inventorNameText") or texts(about.get("firstInventorName")),
            applicants=_people(about.get("applicantBag"), "applicantNameText")
            or texts(about.get("firstApplicantName")),
            published=published,
            facts=_facts(about, application),
        ),
        UsptoSource.name,
    )


def _facts(about: Mapping[str, Any], application: str) -> tuple[tuple[str, object], ...]:
    values = (
        ("Filed", iso_date(first(about, "filingDate", "effectiveFilingDate"))),
        ("Granted", iso_date(first(about, "grantDate"))),
        ("Status", text(about.get("applicationStatusDescriptionText"))),
        ("Status since", iso_date(first(about, "applicationStatusDate"))),
        ("Type", text(about.get("applicationTypeLabelName"))),
        ("Classes", [" ".join(code.split()) for code in texts(about.get("cpcClassificationBag"))[:_MAX_CODES]]),
        ("Petition decided", iso_date(first(about, "decisionDate"))),
        ("Petition about", texts(about.get("petitionIssueConsideredTextBag"))),
    )
    known = tuple((name, value) for name, value in values if value)
    return (("Application", application), *known) if known else ()


def _people(value: Any, name: str) -> tuple[str, ...]:
    return distinct(first(one, name, "nameLineOneText") or text(one) for one in listed(value))
