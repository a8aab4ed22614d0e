"""Charts of a report: fenced blocks of JSON named `chart`, which the writer adds and code has checked.

{"kind": "bar", "title": "Speed", "unit": "rpm", "points": [{"label": "Alpha", "value": 3000, "id": "s1p2"}]}
"""

import re
from math import isfinite
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictFloat, StrictInt, StringConstraints, ValidationError

from deep_research.data import Figure, FigurePoint, Report

INFO = "chart"
"""What stands behind the fence of a chart."""
_BLOCK = re.compile(
    rf"^ {{0,3}}(?P<fence>`{{3,}}|~{{3,}})[ \t]*{INFO}[ \t]*\n(?P<text>.*?)^ {{0,3}}(?P=fence)", re.M | re.S
)
_SIGNIFICANT = 12
_Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class _Point(BaseModel):
    label: Annotated[_Line, Field(min_length=1)]
    value: StrictInt | StrictFloat
    id: str = ""


class _Chart(BaseModel):
    kind: Literal["bar", "line"]
    title: _Line = ""
    unit: _Line = ""
    points: Annotated[list[_Point], Field(min_length=2, max_length=40)]


def read_chart(text: str) -> Figure | None:
    """Return the figure that the text of a chart block describes; None where it is not of that form."""
    try:
        given = _Chart.model_validate_json(text)
    except (ValidationError, RecursionError):
        return None
    if not all(isfinite(point.value) for point in given.points):
        return None
    points = tuple(
        FigurePoint(
            label=point.label,
            value=point.value,
            display=_displayed(point.value, given.unit),
            passages=(point.id,) if point.id else (),
        )
        for point in given.points
    )
    return Figure(kind=given.kind, title=given.title, unit=given.unit, points=points)


def charts_of(report: Report) -> dict[str, Figure]:
    """Return the figures of a report by the texts of their blocks."""
    texts = (block["text"].rstrip("\n") for block in _BLOCK.finditer(report.report))
    return {text: figure for text in texts if (figure := read_chart(text)) is not None}


def _displayed(value: float, unit: str) -> str:
    """Return a number as people read it, with its unit."""
    shown = f"{value:,.{_SIGNIFICANT}g}"
    return f"{shown}{unit}" if unit == "%" else f"{shown} {unit}".rstrip()
