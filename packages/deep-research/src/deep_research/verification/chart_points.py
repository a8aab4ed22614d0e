"""Charts in a report: fenced `chart` blocks, read and checked against passages.

A block is a JSON object: `{"kind": "bar" | "line", "title": …, "unit": …, "points": [{"label": …, "value": 12.5,
"id": "s3p4"}]}`.
"""

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from deep_research.data import DOUBT_SIGN, Figure, FigurePoint, Report
from deep_research.text.code_spans import fenced_blocks
from deep_research.text.inert_markdown import as_read, make_inert
from deep_research.text.model_json import parse_object
from deep_research.verification.citations import cited_ids
from deep_research.verification.figures import missing_figures

INFO = "chart"
_LONG_FENCE = "`" * 12
MOST_POINTS = 60
_SHOWN, _SIGNIFICANT = 60, 12


class Chart(NamedTuple):
    """A chart at `text[start:end]`, fence included; `fault` is why it has no figure."""

    start: int
    end: int
    figure: Figure | None = None
    fault: str = ""

    @property
    def points(self) -> tuple[FigurePoint, ...]:
        """Its points, none where it cannot be drawn."""
        return self.figure.points if self.figure else ()


def read_charts(text: str) -> list[Chart]:
    """Return the charts of a report in order, those that cannot be drawn as well."""
    return [_read(text, start, end) for start, end, info in fenced_blocks(text) if info.split()[:1] == [INFO]]


def _read(text: str, start: int, end: int) -> Chart:
    lines = text[start:end].strip().split("\n")
    body = "\n".join(line for line in lines[1:] if not re.fullmatch(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*", line))
    given = parse_object(body)
    if given is None:
        return Chart(start, end, fault="the chart is no JSON object")
    kind, listed = given.get("kind"), given.get("points")
    if kind not in ("bar", "line"):
        return Chart(start, end, fault='the kind of the chart is neither "bar" nor "line"')
    if not isinstance(listed, list) or not 1 < len(listed) <= MOST_POINTS:
        return Chart(start, end, fault=f"the chart has no list of 2 to {MOST_POINTS} points")
    title, unit = _line(given.get("title")), _line(given.get("unit"))
    points: list[FigurePoint] = []
    for number, given in enumerate(listed, 1):
        if (point := _point(given, unit)) is None:
            return Chart(start, end, fault=f"point {number} of the chart has no label or no number as its value")
        points.append(point)
    return Chart(start, end, Figure(kind=kind, title=title, unit=unit, points=tuple(points)))


def read_chart(text: str) -> Figure | None:
    """Return the figure described by a chart block; None if it cannot be drawn."""
    found = read_charts(f"{_LONG_FENCE}{INFO}\n{text}\n{_LONG_FENCE}")
    return found[0].figure if found else None


def charts_of(text: str) -> dict[str, Figure]:
    """Return the figures of a report by the texts of their blocks."""
    blocks = ((text[chart.start : chart.end].strip().split("\n"), chart.figure) for chart in read_charts(text))
    return {"\n".join(lines[1:-1]).rstrip("\n"): figure for lines, figure in blocks if figure is not None}


def _line(value: object) -> str:
    return " ".join(value.split())[:200] if isinstance(value, str) else ""


def _point(given: Any, unit: str) -> FigurePoint | None:
    """Return a point, None where it has no label or no finite number."""
    if not isinstance(given, dict):
        return None
    label, written = given.get("label"), given.get("value")
    label = str(label) if isinstance(label, int | float) and not isinstance(label, bool) else _line(label)
    if not label or isinstance(written, bool) or not isinstance(written, int | float | str):
        return None
    try:
        value = float(str(written).replace(",", ""))
    except ValueError:
        return None
    ids = given.get("id") or given.get("ids") or ""
    said = " ".join(f"[{key}]" for key in ids if isinstance(key, str)) if isinstance(ids, list) else f"[{ids}]"
    shown = f"{value:,.{_SIGNIFICANT}g}"
    display = f"{shown}{unit}" if unit == "%" else f"{shown} {unit}".rstrip()
    return FigurePoint(label=label, value=value, display=display, passages=cited_ids(said)) if isfinite(value) else None


def with_tables(text: str, report: Report | None = None, *, is_rendered: bool = True) -> str:
    """Return Markdown with tables in place of charts; unescaped if not `is_rendered`.

    The numbers of the references of a `report` stand behind the values that cite them, and a sign behind values that
    are not in their passages.
    """
    numbers = {one.source: one.number for one in report.references} if report is not None else {}
    for chart in reversed(read_charts(text)):
        if figure := chart.figure:
            rows = [(figure.title, figure.unit), ("---", "---"), *((p.label, p.display) for p in figure.points)]
            cells = [[make_inert(said).replace("|", r"\|") for said in row] for row in rows]
            for row, point in zip(cells[2:], figure.points, strict=True):
                cited = {numbers.get(key.partition("p")[0], 0) for key in point.passages} - {0}
                row[1] += "".join(f" [{number}]" for number in sorted(cited))
                row[1] += DOUBT_SIGN if report is not None and is_doubtful(point, report) else ""
            table = "\n".join(f"| {label} | {value} |" for label, value in cells)
            text = f"{text[: chart.start]}{table}{text[chart.end :]}"
    return text if is_rendered else as_read(text)


def chart_problems(chart: Chart, passages: Mapping[str, str | None]) -> list[str]:
    """Return a chart's problems in words; a passage that does not exist is None."""
    return [chart.fault] if chart.fault else [p for point in chart.points for p in _problems(point, passages)]


def is_doubtful(point: FigurePoint, report: Report) -> bool:
    """Return whether a point's value is not in its passages, or none is named."""
    if any("p" not in key for key in point.passages):  # of a whole source the report holds no text
        return False
    known = [(key, one) for key in point.passages if (one := report.passages.get(key)) is not None]
    titles = {one.source: f"{one.title}\n{one.location}\n{one.url}" for one in report.references}
    return any(_problems(point, {key: f"{titles.get(p.source, '')}\n{p.heading}\n{p.text}" for key, p in known}))


def _problems(point: FigurePoint, passages: Mapping[str, str | None]) -> Iterator[str]:
    name = f"the point “{point.label[:_SHOWN]}” of the chart"
    texts = [text for key in point.passages if (text := passages.get(key)) is not None]
    yield from (f"{name} cites {key}, which does not exist" for key in point.passages if passages.get(key) is None)
    if not point.passages:
        yield f"{name} names no passage"
    elif texts and missing_figures(point.display, texts):
        yield f"the value {point.display} of {name} is not in its passage"
