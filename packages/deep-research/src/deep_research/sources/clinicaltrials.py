"""ClinicalTrials.gov: trials, results (https://clinicaltrials.gov/data-api/api)."""

import re
from collections.abc import Iterable, Iterator

from deep_research.data import Found, SearchResult
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts, read_answer
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import Fact, Item, distinct

_MAX_OUTCOMES = 30
_HARMS = (("deaths", "all-cause deaths"), ("serious", "serious adverse events"), ("other", "other adverse events"))


def result_sections(results: Record) -> Iterator[tuple[str, str]]:
    """Yield the sections "Results: …" of a `resultsSection`, none without results."""
    for outcome in results.records("outcomeMeasuresModule", "outcomeMeasures")[:_MAX_OUTCOMES]:
        if body := _outcome(outcome):
            kind = outcome.text("type").lower()
            yield f"Results: {outcome.text('title')}{f' ({kind} outcome)' if kind else ''}", body
    harms = "\n".join(_harms(results.record("adverseEventsModule")))
    if harms:
        yield "Results: adverse events", harms


def _outcome(outcome: Record) -> str:
    groups = {group.text("id"): group.text("title") or group.text("id") for group in outcome.records("groups")}
    counts = outcome.record("denoms", 0).records("counts")
    sizes = {count.text("groupId"): count.text("value") for count in counts}
    lines = [f"- {line}" for line in _measured(outcome, groups, sizes)][:40]
    lines += [f"- {line}" for analysis in outcome.records("analyses") if (line := _analysis(analysis))]
    frame = outcome.text("timeFrame")
    return "\n".join(([f"Time frame: {frame}"] if frame and lines else []) + lines)


def _measured(outcome: Record, groups: dict[str, str], sizes: dict[str, str]) -> Iterator[str]:
    unit, kind = outcome.text("unitOfMeasure"), outcome.text("paramType").replace("_", " ").lower()
    spread = outcome.text("dispersionType")
    for each in outcome.records("classes"):
        for category in each.records("categories"):
            label = join_parts(", ", each.text("title"), category.text("title"))
            for one in category.records("measurements"):
                group, value = one.text("groupId"), one.text("value")
                if not value:
                    continue
                size = f" (n = {sizes[group]})" if sizes.get(group) else ""
                head = f"{groups.get(group, group)}{size}{f', {label}' if label else ''}"
                yield f"{head}: {kind} {value} {unit}{_between(one, spread)}".replace(":  ", ": ")


def _between(measurement: Record, spread: str) -> str:
    low, high = measurement.text("lowerLimit"), measurement.text("upperLimit")
    if low or high:
        return f" ({spread or 'range'} {low} to {high})"
    deviation = measurement.text("spread")
    return f" ({spread or 'spread'} {deviation})" if deviation else ""


def _analysis(analysis: Record) -> str:
    value, chance, method = (analysis.text(field) for field in ("paramValue", "pValue", "statisticalMethod"))
    low, high, level = (analysis.text(field) for field in ("ciLowerLimit", "ciUpperLimit", "ciPctValue"))
    interval = f" ({level}% confidence interval {low} to {high})" if low and high else ""
    estimate = f"{analysis.text('paramType') or 'estimate'} {value}{interval}" if value else ""
    sign = "" if chance[:1] in "<>=≤≥" else "= "
    told = join_parts("; ", estimate, f"P {sign}{chance}" if chance else "")
    return f"{told} ({method})" if told and method else told


def _harms(module: Record) -> Iterator[str]:
    for group in module.records("eventGroups"):
        counts: list[str] = []
        for field, name in _HARMS:
            affected, at_risk = group.number(f"{field}NumAffected"), group.number(f"{field}NumAtRisk")
            if affected is not None and at_risk is not None:
                counts.append(f"{name} {affected} of {at_risk}")
        if counts:
            yield f"- {group.text('title') or group.text('id')}: {', '.join(counts)}"


class ClinicalTrialsSource(ApiSource[DatedOptions]):
    """A trial search by words or NCT number; the period limits the study's start."""

    name = "clinicaltrials"
    purpose = "Registered clinical trials: design, status, eligibility, outcomes and posted results."
    address = "https://clinicaltrials.gov/api/v2"
    pace = Pace(0.5, "About 50 per minute (clinicaltrials.gov/data-api/api).", most=10, at_once=20)
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {
            "query.term": query,
            "pageSize": min(limit, 100),
            "filter.advanced": self.options.period("AREA[StartDate]RANGE[{since},{until}]", first="MIN", last="MAX"),
        }
        return await self._found_in(parse_studies, self._get("/studies", params))

    async def _read(self, found: Found) -> list[Found]:
        return await read_answer(parse_studies, await self._get(f"/studies/{found.key.removeprefix('nct:')}"))


@ClinicalTrialsSource.parser("studies", fields=("studies", "protocolSection"), what="studies")
def parse_studies(study: Record) -> Item | None:
    """Return a trial of a search, or the one of an answer about one."""
    protocol = study.record("protocolSection")
    names, status = protocol.record("identificationModule"), protocol.record("statusModule")
    trial = names.text("nctId").upper()
    if not trial:
        return None
    dates = ("studyFirstPostDateStruct.date", "studyFirstSubmitDate", "startDateStruct.date")
    sections = [*_sections(protocol), *result_sections(study.record("resultsSection"))]
    return Item(
        key=f"nct:{trial}",
        title=names.first("briefTitle", "officialTitle", "acronym") or trial,
        url=f"https://clinicaltrials.gov/study/{trial}",
        about=protocol.raw("descriptionModule", "briefSummary"),
        published=status.first_date(*dates),
        authors=[protocol.text("sponsorCollaboratorsModule", "leadSponsor", "name")],
        facts=_facts(protocol, trial),
        sections=[(heading, text) for heading, text in sections if text.strip()],
        labels=("Sponsor", "Published"),
    )


def _facts(protocol: Record, trial: str) -> tuple[Fact, ...]:
    status, design = protocol.record("statusModule"), protocol.record("designModule")
    enrolled = design.number("enrollmentInfo", "count")
    kind = design.text("enrollmentInfo", "type").lower()
    helpers = protocol.records("sponsorCollaboratorsModule", "collaborators")
    places = protocol.records("contactsLocationsModule", "locations")
    return (
        ("Trial", trial),
        ("Official title", protocol.text("identificationModule", "officialTitle")),
        ("Status", _words(status.text("overallStatus"))),
        ("Why stopped", status.text("whyStopped")),
        ("Study type", _words(design.text("studyType"))),
        ("Phase", [_words(phase) for phase in design.texts("phases") if phase != "NA"]),
        ("Start", _date(status.record("startDateStruct"))),
        ("Primary completion", _date(status.record("primaryCompletionDateStruct"))),
        ("Completion", _date(status.record("completionDateStruct"))),
        ("Enrollment", f"{enrolled} participants{f' ({kind})' if kind else ''}" if enrolled is not None else ""),
        ("Collaborators", [one.text("name") for one in helpers]),
        ("Conditions", protocol.texts("conditionsModule", "conditions")),
        ("Allocation", _words(design.text("designInfo", "allocation"))),
        ("Model", _words(design.text("designInfo", "interventionModel"))),
        ("Masking", _words(design.text("designInfo", "maskingInfo", "masking"))),
        ("Ages", _ages(protocol.record("eligibilityModule"))),
        ("Sex", _words(protocol.text("eligibilityModule", "sex"))),
        ("Countries", distinct(place.text("country") for place in places)),
    )


def _sections(protocol: Record) -> Iterable[tuple[str, str]]:
    description = protocol.record("descriptionModule")
    yield "Summary", description.raw("briefSummary")
    yield "Description", description.raw("detailedDescription")
    arms = protocol.record("armsInterventionsModule")
    yield "Arms", _items(arms.records("armGroups"), "label", "type", "description")
    yield "Interventions", _items(arms.records("interventions"), "name", "type", "description")
    for kind in ("primary", "secondary"):
        outcomes = protocol.records("outcomesModule", f"{kind}Outcomes")
        yield f"{kind.capitalize()} outcomes", _items(outcomes, "measure", "timeFrame", "description")
    yield "Eligibility", protocol.raw("eligibilityModule", "eligibilityCriteria").replace("\\>", ">")


def _items(entries: list[Record], name: str, aside: str, description: str) -> str:
    lines: list[str] = []
    for entry in entries[:_MAX_OUTCOMES]:
        beside = _words(entry.text(aside))
        head = f"{entry.text(name)} ({beside})" if beside else entry.text(name)
        lines.append(join_parts(": ", head, entry.text(description)))
    return "\n".join(f"- {one}" for one in lines if one)


def _ages(eligibility: Record) -> str:
    low, high = eligibility.text("minimumAge"), eligibility.text("maximumAge")
    if low and high:
        return f"{low} to {high}"
    return f"{low} and older" if low else f"up to {high}" if high else ""


def _date(struct: Record) -> str:
    day, kind = struct.text("date"), struct.text("type").lower()
    return f"{day} ({kind})" if day and kind else day


def _words(code: str) -> str:
    """`ACTIVE_NOT_RECRUITING` → active not recruiting; what is not a code stays."""
    return re.sub(r"phase(?=\d)", "phase ", code.replace("_", " ").lower()) if code.isupper() else code
