"""Counts of statements and charts of a report: made in one place, shown everywhere."""

import json

import pytest

from deep_research.data import Verification
from deep_research.report.counts import verdict_counts
from deep_research.verification.chart_points import charts_of, read_chart
from tests.support.made_reports import make_report

POINTS = [{"label": "Alpha", "value": 3000, "id": "s1p2"}, {"label": "Beta", "value": 4500.5}]


def chart(**changes: object) -> str:
    return json.dumps({"kind": "bar", "title": "Speed", "unit": "rpm", "points": POINTS, **changes})


def test_statements_are_counted_by_their_verdicts() -> None:
    report = make_report()
    counts = verdict_counts(report)
    assert counts.model_dump() == {
        "total": 12, "supported": 7, "misleading": 1, "contradicted": 1, "unverified": 1, "own": 2,
    }  # fmt: skip
    assert counts.cited == 10
    assert verdict_counts(Verification(claims=report.claims)) == counts
    assert verdict_counts(Verification()).total == 0


def test_the_charts_of_a_report_are_found_by_their_blocks() -> None:
    ((text, figure),) = charts_of(make_report().report).items()
    assert f"```chart\n{text}\n```" in make_report().report
    assert (figure.kind, figure.title, figure.unit) == ("bar", "Speed at full load", "rpm")
    assert [(p.label, p.value, p.display, p.passages) for p in figure.points] == [
        ("Alpha", 3000, "3,000 rpm", ("s1p2",)),
        ("Beta", 4500, "4,500 rpm", ("s2p1",)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", chart(kind="pie"), chart(points=[]), chart(points=POINTS[:1]),
        chart(points=[{"label": "a", "value": "many"}] * 2), chart().replace("3000", "NaN"), "[" * 10_000,
    ],
)  # fmt: skip
def test_what_is_no_chart_is_not_drawn(text: str) -> None:
    assert read_chart(text) is None
