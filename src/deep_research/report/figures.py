"""Figures of a report, drawn from verified numbers alone: what is compared has one unit and is said in one way."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from deep_research.data import Claim, Report
from deep_research.data.noun import Noun
from deep_research.verification.numbers import quantities
from deep_research.verification.units import CALENDAR, Quantity

_LEAST_BARS, _LEAST_DATES, _MOST_POINTS, _ALIKE = 2, 3, 20, 0.5
_YEARS = range(1500, 2101)
_LABEL_CHARS, _EVENT_CHARS = 60, 180
_KINDS_OF_THEIR_OWN = frozenset({*CALENDAR, "decade", "ordinal", "clock"})
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BETWEEN_CJK = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff…]) (?=[\u3040-\u30ff\u3400-\u9fff…])")
_CITATION = re.compile(r"\s*\[(?:\d+|s\d+p\d+)\]")


class Point(Noun):
    """A number of a figure with the claim that states it and the passages it cites.

    `value` of a date is its year; `at` is the year of a value that changes (0: none).
    """

    label: str
    value: float
    at: int = 0
    display: str
    claim: str
    passages: tuple[str, ...]


class Figure(Noun):
    """Numbers that can be compared (`bar`), one number over the years (`line`), or dated events (`timeline`)."""

    kind: Literal["bar", "line", "timeline"]
    title: str
    unit: str = ""
    points: tuple[Point, ...]


class _Stated(NamedTuple):
    """A claim that states one amount, with the words around it: those say what is measured, and of which thing."""

    claim: Claim
    amount: Quantity
    words: tuple[str, ...]

    @property
    def display(self) -> str:
        """The amount with its unit as it stands in the claim."""
        shown = self.claim.text[self.amount.start : self.amount.end].strip()
        return shown if self.amount.unit else f"{shown} {_unit_of(self.claim.text, self.amount)}"


def make_figures(report: Report) -> tuple[Figure, ...]:
    """Return the figures that a report's supported facts and computations allow; most reports allow few or none."""
    claims = {c.text: c for c in report.claims if c.stands and c.kind in ("fact", "computed") and c.passages}
    return (*_bars(list(claims.values())), *_timeline(list(claims.values())))


def _bars(claims: Sequence[Claim]) -> Iterator[Figure]:
    by_unit: dict[str, list[_Stated]] = defaultdict(list)
    for claim in claims:
        amounts = [q for q in quantities(claim.text) if q.unit not in _KINDS_OF_THEIR_OWN]
        if len(amounts) == 1 and not amounts[0].bound and (unit := _unit_of(claim.text, amounts[0])):
            by_unit[unit].append(_Stated(claim, amounts[0], _words(claim.text, amounts[0])))
    for unit, stated in by_unit.items():
        for group in _said_alike(stated):
            if course := _line(group, unit):
                yield course
                continue
            labels = _labels(group)
            if len(set(labels)) == len(group) >= _LEAST_BARS:
                yield _bar(group, labels, unit)


def _unit_of(text: str, amount: Quantity) -> str:
    """Return the unit of an amount; what is counted stands behind a plain number."""
    found = _WORD.match(text[amount.end :].lstrip()) if not amount.unit else None
    return found[0] if found else amount.unit


def _words(text: str, amount: Quantity) -> tuple[str, ...]:
    return _words_of(f"{text[: amount.start]} {text[amount.end :]}")


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_CITATION.sub("", text)))


def _said_alike(stated: Sequence[_Stated]) -> list[list[_Stated]]:
    """Return the groups of claims that share most of their words with the first of their group."""
    groups: list[list[_Stated]] = []
    for one in stated:
        own = {word.casefold() for word in one.words}
        for group in groups:
            first = {word.casefold() for word in group[0].words}
            if len(own & first) >= _ALIKE * len(own | first):
                if not any(_restates(one, other) for other in group):
                    group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _restates(one: _Stated, other: _Stated) -> bool:
    """Return whether two claims give the same amount from the same passage: a figure shows it once."""
    return one.amount.value == other.amount.value and not set(one.claim.passages).isdisjoint(other.claim.passages)


def _labels(group: Sequence[_Stated]) -> list[str]:
    """Return what each claim is about: the words that not all of the group have, names before others."""
    counts = Counter(word for one in group for word in set(one.words))
    labels: list[str] = []
    for one in group:
        own = [word for word in dict.fromkeys(one.words) if counts[word] < len(group)]
        names = [word for word in own if not word[0].islower()]
        labels.append(" ".join(names or own)[:_LABEL_CHARS])
    return labels if all(labels) else []


def _line(group: Sequence[_Stated], unit: str) -> Figure | None:
    """Return the course of one number over the years: claims in the same words, each with a year of its own."""
    years = [_years(one.claim.text) for one in group]
    points = {
        own[0]: Point(
            label=str(own[0]),
            value=float(one.amount.value),
            at=own[0],
            display=one.display,
            claim=one.claim.id,
            passages=one.claim.passages,
        )
        for one, own in zip(group, years, strict=True)
        if len(own) == 1
    }
    same_words = len({frozenset(word.casefold() for word in one.words) for one in group}) == 1
    if not same_words or not _LEAST_DATES <= len(points) == len(group):
        return None
    return Figure(kind="line", title=_title(group), unit=unit, points=tuple(points[year] for year in sorted(points)))


def _years(text: str) -> list[int]:
    return [year for q in quantities(text) if q.unit in CALENDAR and (year := _year(q)) in _YEARS]


def _title(group: Sequence[_Stated]) -> str:
    """Return the words that all of a group have, in their order; "…" stands for what differs."""
    text, amount = group[0].claim.text, group[0].amount
    said = [*_words_of(text[: amount.start]), "…", *_words_of(text[amount.end :])]
    words = [w if all(w in one.words for one in group) else "…" for w in said]
    title = " ".join(w for w, before in zip(words, ["…", *words], strict=False) if w != before or w != "…")
    title = _BETWEEN_CJK.sub("", title.removesuffix(" …"))
    return title[:1].upper() + title[1:]


def _bar(group: Sequence[_Stated], labels: Sequence[str], unit: str) -> Figure:
    points = [
        Point(
            label=label,
            value=float(one.amount.value),
            display=one.display,
            claim=one.claim.id,
            passages=one.claim.passages,
        )
        for one, label in zip(group, labels, strict=True)
    ]
    points.sort(key=lambda point: -point.value)
    return Figure(kind="bar", title=_title(group), unit=unit, points=tuple(points[:_MOST_POINTS]))


def _timeline(claims: Sequence[Claim]) -> Iterator[Figure]:
    points: list[Point] = []
    for claim in claims:
        dated = [q for q in quantities(claim.text) if q.unit in CALENDAR]
        if len(dated) != 1 or (year := _year(dated[0])) not in _YEARS or len(claim.text) > _EVENT_CHARS:
            continue
        shown = claim.text[dated[0].start : dated[0].end].strip()
        points.append(
            Point(label=claim.text, value=year, display=shown, claim=claim.id, passages=claim.passages),
        )
    if len({point.value for point in points}) >= _LEAST_DATES:
        points.sort(key=lambda point: point.value)
        yield Figure(kind="timeline", title="", points=tuple(points[:_MOST_POINTS]))


def _year(quantity: Quantity) -> int:
    digits = int(quantity.value)
    return {"yearmonth": digits // 100, "date": digits // 10_000}.get(quantity.unit, digits)
