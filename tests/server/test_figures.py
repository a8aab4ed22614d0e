"""Figures are made of verified numbers that can be compared, and of nothing else."""

from typing import Any

import pytest

from deep_research.data import Claim, Report, Verdict
from deep_research.report.figures import make_figures
from tests.server.conftest import Finished

SPEEDS = (
    ("c1", "The Alpha engine turns at 3,000 rpm."),
    ("c2", "The Beta engine turns at 4,500 rpm."),
    ("c3", "The Gamma engine turns at 21,000 rpm."),
)
BUILT = (
    ("c4", "The Alpha engine was built in 1999 by Rolf Maier."),
    ("c5", "The Beta engine was built in 2004 by Anna Holm."),
    ("c6", "The Gamma engine was built in 2011 by Luis Prado."),
)


def claim(key: str, text: str, **changes: Any) -> Claim:
    values: dict[str, Any] = {"section": "", "passages": ("s1p1",), "verdict": Verdict(kind="supported", reason="")}
    return Claim(id=key, text=text, **{**values, **changes})


@pytest.fixture
def report(finished: Finished) -> Report:
    return Report.model_validate(finished.report)


def test_numbers_of_one_unit_that_are_said_in_one_way_become_bars(report: Report) -> None:
    made = make_figures(report.model_copy(update={"claims": tuple(claim(*said) for said in SPEEDS)}))
    (figure,) = made
    assert (figure.kind, figure.title, len(figure.points)) == ("bar", "The … engine turns at … rpm", 3)
    assert [(p.label, p.value, p.claim) for p in figure.points] == [
        ("Gamma", 21_000, "c3"),
        ("Beta", 4_500, "c2"),
        ("Alpha", 3_000, "c1"),
    ]
    assert all(point.passages == ("s1p1",) for point in figure.points)


def test_dated_events_become_a_timeline_in_order(report: Report) -> None:
    claims = tuple(claim(*said) for said in reversed(BUILT))
    (figure,) = make_figures(report.model_copy(update={"claims": claims}))
    assert figure.kind == "timeline"
    assert [(point.value, point.display) for point in figure.points] == [(1999, "1999"), (2004, "2004"), (2011, "2011")]


def test_one_number_over_the_years_becomes_a_line(report: Report) -> None:
    texts = [f"In {year}, Graz sold {n:,} kg of engines." for year, n in ((2012, 400), (2010, 250), (2011, 320))]
    claims = tuple(claim(f"c{n}", text) for n, text in enumerate(texts))
    line = make_figures(report.model_copy(update={"claims": claims}))[0]
    assert (line.kind, line.unit) == ("line", "kg")
    assert [(point.at, point.value) for point in line.points] == [(2010, 250), (2011, 320), (2012, 400)]


@pytest.mark.parametrize(
    ("changes"),
    [
        {"verdict": Verdict(kind="unverified", reason="")},
        {"verdict": Verdict(kind="contradicted", reason="")},
        {"passages": ()},
        {"kind": "inference"},
        {"kind": "background"},
    ],
)
def test_what_is_no_verified_number_is_not_drawn(report: Report, changes: dict[str, Any]) -> None:
    claims = tuple(claim(key, text, **changes) for key, text in (*SPEEDS, *BUILT))
    assert make_figures(report.model_copy(update={"claims": claims})) == ()


def test_numbers_of_other_units_or_about_other_matters_are_not_compared(report: Report) -> None:
    texts = ("The Alpha engine turns at 3,000 rpm.", "The Beta engine weighs 85 kg.", "Sales of trucks rose by 12 %.")
    claims = tuple(claim(f"c{n}", text) for n, text in enumerate(texts))
    assert make_figures(report.model_copy(update={"claims": claims})) == ()


def test_each_point_of_a_served_figure_is_a_number_of_its_claim(finished: Finished) -> None:
    figures = finished.http.get(f"/api/v1/runs/{finished.run_id}/figures").json()
    assert figures
    claims = {one["id"]: one for one in finished.report["claims"]}
    for point in (point for figure in figures for point in figure["points"]):
        assert point["display"] in claims[point["claim"]]["text"]
        assert point["passages"] == claims[point["claim"]]["passages"]
