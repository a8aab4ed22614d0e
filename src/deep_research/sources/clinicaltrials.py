"""ClinicalTrials.gov: registered trials with their posted results (https://clinicaltrials.gov/data-api/api)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Document, Found, SearchResult
from deep_research.errors import NotFound
from deep_research.ports import ApiResponse
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import ApiSource, DatedOptions, calls_at_once, rate, result, snippet
from deep_research.sources._api_answers import (
    at,
    distinct,
    first,
    first_date,
    number,
    object_of,
    objects,
    raw,
    text,
    texts,
)

_MAX_OUTCOMES_TRIAL_RESULTS = 30
_MAX_MEASUREMENTS = 40
_HARMS = (("deaths", "all-cause deaths"), ("serious", "serious adverse events"), ("other", "other adverse events"))


def result_sections(results: Any) -> Iterator[tuple[str, str]]:
    """Yield the sections "Results: …" of a `resultsSection`; none when there are no results."""
    for outcome in objects(at(results, "outcomeMeasuresModule", "outcomeMeasures"))[:_MAX_OUTCOMES_TRIAL_RESULTS]:
        if body := _outcome(outcome):
            kind = text(outcome.get("type")).lower()
            yield f"Results: {text(outcome.get('title'))}{f' ({kind} outcome)' if kind else ''}", body
    harms = "\n".join(_harms(at(results, "adverseEventsModule")))
    if harms:
        yield "Results: adverse events", harms


def _outcome(outcome: Mapping[str, Any]) -> str:
    groups = _names(outcome.get("groups"))
    sizes = {
        text(count.get("groupId")): text(count.get("value"))
        for denominator in objects(outcome.get("denoms"))[:1]
        for count in objects(denominator.get("counts"))
    }
    lines = [f"- {line}" for line in _measured(outcome, groups, sizes)][:_MAX_MEASUREMENTS]
    lines += [f"- {line}" for analysis in objects(outcome.get("analyses")) if (line := _analysis(analysis))]
    frame = text(outcome.get("timeFrame"))
    return "\n".join(([f"Time frame: {frame}"] if frame and lines else []) + lines)


def _measured(outcome: Mapping[str, Any], groups: dict[str, str], sizes: dict[str, str]) -> Iterator[str]:
    unit, kind = text(outcome.get("unitOfMeasure")), text(outcome.get("paramType")).replace("_", " ").lower()
    spread = text(outcome.get("dispersionType"))
    for each in objects(outcome.get("classes")):
        for category in objects(each.get("categories")):
            label = ", ".join(name for name in (text(each.get("title")), text(category.get("title"))) if name)
            for one in objects(category.get("measurements")):
                group, value = text(one.get("groupId")), text(one.get("value"))
                if not value:
                    continue
                size = f" (n = {sizes[group]})" if sizes.get(group) else ""
                head = f"{groups.get(group, group)}{size}{f', {label}' if label else ''}"
                yield f"{head}: {kind} {value} {unit}{_between(one, spread)}".replace(":  ", ": ")


def _between(measurement: Mapping[str, Any], spread: str) -> str:
    low, high = text(measurement.get("lowerLimit")), text(measurement.get("upperLimit"))
    if low or high:
        return f" ({spread or 'range'} {low} to {high})"
    deviation = text(measurement.get("spread"))
    return f" ({spread or 'spread'} {deviation})" if deviation else ""


def _analysis(analysis: Mapping[str, Any]) -> str:
    parts: list[str] = []
    if value := text(analysis.get("paramValue")):
        low, high = text(analysis.get("ciLowerLimit")), text(analysis.get("ciUpperLimit"))
        level = text(analysis.get("ciPctValue"))
        interval = f" ({level}% confidence interval {low} to {high})" if low and high else ""
        parts.append(f"{text(analysis.get('paramType')) or 'estimate'} {value}{interval}")
    if chance := text(analysis.get("pValue")):
        sign = "" if chance[:1] in "<>=≤≥" else "= "
        parts.append(f"P {sign}{chance}")
    method = text(analysis.get("statisticalMethod"))
    return f"{'; '.join(parts)}{f' ({method})' if method else ''}" if parts else ""


def _harms(module: Any) -> Iterator[str]:
    for group in objects(at(module, "eventGroups")):
        counts: list[str] = []
        for field, name in _HARMS:
            affected = number(group.get(f"{field}NumAffected"))
            at_risk = number(group.get(f"{field}NumAtRisk"))
            if affected is not None and at_risk is not None:
                counts.append(f"{name} {affected} of {at_risk}")
        if counts:
            yield f"- {text(group.get('title')) or text(group.get('id'))}: {', '.join(counts)}"


def _names(groups: Any) -> dict[str, str]:
    return {text(group.get("id")): text(group.get("title")) or text(group.get("id")) for group in objects(groups)}


_MAX_OUTCOMES = 30


class ClinicalTrialsOptions(DatedOptions):
    """Options of ClinicalTrials.gov; the period is that of the study's start."""

    base_url: str = Field("https://clinicaltrials.gov/api/v2", description="Address of the API.")
    requests_per_second: float = rate(0.5, "About 50 per minute (clinicaltrials.gov/data-api/api).", most=10)
    burst: int = calls_at_once(20)
    statuses: tuple[str, ...] = Field((), description="Only these states, such as RECRUITING.")


class ClinicalTrialsSource(ApiSource[ClinicalTrialsOptions]):
    """Searches trials; an NCT number finds that trial."""

    name = "clinicaltrials"
    purpose = "Registered clinical trials: design, status, eligibility, outcomes and posted results."
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {
            "query.term": query,
            "pageSize": min(limit, 100),
            "filter.overallStatus": ",".join(self.options.statuses),
            "filter.advanced": self.options.period("AREA[StartDate]RANGE[{since},{until}]", first="MIN", last="MAX"),
        }
        return result(parse_studies(await self._get("/studies", params)))

    async def _read(self, found: Found) -> Document:
        studies = parse_studies(await self._get(f"/studies/{found.key.removeprefix('nct:')}"))
        if not studies or studies[0].document is None:
            raise NotFound(f"{self.name} has no record of {found.key}", source=self.name, url=found.url)
        return studies[0].document


def parse_studies(response: ApiResponse) -> list[Found]:
    """Return the trials of a search, or the one trial of an answer about one. Raises SourceError."""
    answer = object_of(response, ClinicalTrialsSource, "studies", "protocolSection", what="studies")
    studies = objects(answer["studies"]) if "studies" in answer else [answer]
    return [found for study in studies if (found := _study(study))]


def _study(study: Mapping[str, Any]) -> Found | None:
    protocol = at(study, "protocolSection")
    names = at(protocol, "identificationModule")
    trial = text(at(names, "nctId")).upper()
    title = first(names, "briefTitle", "officialTitle", "acronym") or trial
    if not trial:
        return None
    status = at(protocol, "statusModule")
    published = (
        first_date(at(status, "studyFirstPostDateStruct"), "date")
        or first_date(status, "studyFirstSubmitDate")
        or first_date(at(status, "startDateStruct"), "date")
    )
    sponsor = text(at(protocol, "sponsorCollaboratorsModule", "leadSponsor", "name"))
    summary = raw(at(protocol, "descriptionModule", "briefSummary"))
    return Found(
        key=f"nct:{trial}",
        title=title,
        url=f"https://clinicaltrials.gov/study/{trial}",
        origin=ClinicalTrialsSource.name,
        published=published,
        authors=(sponsor,) if sponsor else (),
        snippet=snippet(summary),
        document=_writing.document(
            title,
            published=published,
            facts=_facts(protocol, trial),
            sections=[*_sections(protocol), *result_sections(at(study, "resultsSection"))],
        ),
    )


def _facts(protocol: Any, trial: str) -> tuple[_writing.Fact, ...]:
    status, design = at(protocol, "statusModule"), at(protocol, "designModule")
    enrolled = number(at(design, "enrollmentInfo", "count"))
    kind = text(at(design, "enrollmentInfo", "type")).lower()
    sponsors, places = at(protocol, "sponsorCollaboratorsModule"), at(protocol, "contactsLocationsModule", "locations")
    return (
        ("Trial", trial),
        ("Official title", text(at(protocol, "identificationModule", "officialTitle"))),
        ("Status", _words(text(at(status, "overallStatus")))),
        ("Why stopped", text(at(status, "whyStopped"))),
        ("Study type", _words(text(at(design, "studyType")))),
        ("Phase", [_words(phase) for phase in texts(at(design, "phases")) if phase != "NA"]),
        ("Start", _date(at(status, "startDateStruct"))),
        ("Primary completion", _date(at(status, "primaryCompletionDateStruct"))),
        ("Completion", _date(at(status, "completionDateStruct"))),
        ("Enrollment", f"{enrolled} participants{f' ({kind})' if kind else ''}" if enrolled is not None else ""),
        ("Sponsor", text(at(sponsors, "leadSponsor", "name"))),
        ("Collaborators", [text(one.get("name")) for one in objects(at(sponsors, "collaborators"))]),
        ("Conditions", texts(at(protocol, "conditionsModule", "conditions"))),
        ("Allocation", _words(text(at(design, "designInfo", "allocation")))),
        ("Model", _words(text(at(design, "designInfo", "interventionModel")))),
        ("Masking", _words(text(at(design, "designInfo", "maskingInfo", "masking")))),
        ("Ages", _ages(at(protocol, "eligibilityModule"))),
        ("Sex", _words(text(at(protocol, "eligibilityModule", "sex")))),
        ("Countries", list(distinct(text(place.get("country")) for place in objects(places)))),
    )


def _sections(protocol: Any) -> Iterable[tuple[str, str]]:
    description = at(protocol, "descriptionModule")
    yield "Summary", raw(at(description, "briefSummary"))
    yield "Description", raw(at(description, "detailedDescription"))
    arms = at(protocol, "armsInterventionsModule")
    yield "Arms", _items(at(arms, "armGroups"), "label", "type", "description")
    yield "Interventions", _items(at(arms, "interventions"), "name", "type", "description")
    outcomes = at(protocol, "outcomesModule")
    yield "Primary outcomes", _items(at(outcomes, "primaryOutcomes"), "measure", "timeFrame", "description")
    yield "Secondary outcomes", _items(at(outcomes, "secondaryOutcomes"), "measure", "timeFrame", "description")
    yield "Eligibility", raw(at(protocol, "eligibilityModule", "eligibilityCriteria")).replace("\\>", ">")


def _items(value: Any, name: str, aside: str, description: str) -> str:
    lines: list[str] = []
    for entry in objects(value)[:_MAX_OUTCOMES]:
        beside = text(entry.get(aside))
        beside = _words(beside) if aside == "type" else beside
        head = f"{text(entry.get(name))} ({beside})" if beside else text(entry.get(name))
        lines.append(": ".join(part for part in (head, text(entry.get(description))) if part))
    return "\n".join(f"- {one}" for one in lines if one)


def _ages(eligibility: Any) -> str:
    low, high = text(at(eligibility, "minimumAge")), text(at(eligibility, "maximumAge"))
    if low and high:
        return f"{low} to {high}"
    return f"{low} and older" if low else f"up to {high}" if high else ""


def _date(struct: Any) -> str:
    day, kind = text(at(struct, "date")), text(at(struct, "type")).lower()
    return f"{day} ({kind})" if day and kind else day


def _words(code: str) -> str:
    """`ACTIVE_NOT_RECRUITING` → active not recruiting; what is not a code stays."""
    return re.sub(r"phase(?=\d)", "phase ", code.replace("_", " ").lower()) if code.isupper() else code
