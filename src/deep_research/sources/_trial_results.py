"""The posted results of a trial as sentences: outcomes by group, statistics, adverse events."""

from collections.abc import Iterator, Mapping
from typing import Any

from deep_research.sources._fields import at, number, objects, text

_MAX_OUTCOMES = 30
_MAX_MEASUREMENTS = 40
_HARMS = (("deaths", "all-cause deaths"), ("serious", "serious adverse events"), ("other", "other adverse events"))


def result_sections(results: Any) -> Iterator[tuple[str, str]]:
    """Yield the sections "Results: …" of a `resultsSection`; none when there are no results."""
    for outcome in objects(at(results, "outcomeMeasuresModule", "outcomeMeasures"))[:_MAX_OUTCOMES]:
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
