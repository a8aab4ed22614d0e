"""Each point of a writer's chart is held against its passage."""

import json

import pytest

from deep_research.data import Reference, ReportPassage
from deep_research.verification.chart_points import chart_problems, read_charts, with_tables
from tests.support.made_reports import make_report

PASSAGES = {"s1p1": "Coal fell to 12.5 % in 2024; 1,200 GWh.", "s1p2": "In 2025 it was 9 percent."}


def _chart(**changed: object) -> str:
    points = [{"label": "2024", "value": 12.5, "id": "s1p1"}, {"label": 2025, "value": "9", "id": "[s1p2]"}]
    given = {"kind": "line", "title": "Coal", "unit": "%", "points": points} | changed
    return f"Text [s1p1].\n\n```chart\n{json.dumps(given)}\n```\n\nMore.\n"


def test_a_right_chart_is_read_and_drawn() -> None:
    text = _chart()
    (chart,) = read_charts(text)
    assert text[chart.start : chart.end].startswith("```chart")
    assert text[chart.end :] == "\n\nMore.\n"
    assert chart_problems(chart, PASSAGES) == []
    figure = chart.figure
    assert figure is not None
    assert (figure.kind, figure.title, figure.unit) == ("line", "Coal", "%")
    assert [(point.label, float(point.value), point.passages) for point in figure.points] == [
        ("2024", 12.5, ("s1p1",)),
        ("2025", 9.0, ("s1p2",)),
    ]


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        (
            [{"label": "a", "value": 13.5, "id": "s1p1"}],
            "the value 13.5% of the point “a” of the chart is not in its passage",
        ),
        ([{"label": "a", "value": 12.5, "id": "s9p9"}], "the point “a” of the chart cites s9p9, which does not exist"),
        ([{"label": "a", "value": 12.5}], "the point “a” of the chart names no passage"),
        (
            [{"label": "a", "value": "many", "id": "s1p1"}],
            "point 2 of the chart has no label or no number as its value",
        ),
    ],
)
def test_a_wrong_point_is_told(points: list[object], problem: str) -> None:
    right = {"label": "2024", "value": 12.5, "id": "s1p1"}
    (chart,) = read_charts(_chart(points=[right, *points]))
    assert chart_problems(chart, PASSAGES) == [problem]


@pytest.mark.parametrize(
    "changed", [{"kind": "pie"}, {"points": []}, {"points": "x"}, {"points": [{"label": "a", "value": 1}] * 61}]
)
def test_what_cannot_be_drawn_says_why(changed: dict[str, object]) -> None:
    (chart,) = read_charts(_chart(**changed))
    assert chart_problems(chart, PASSAGES) == [chart.fault] != [""]
    assert chart.figure is None


def test_a_block_that_is_no_json_is_told_and_other_code_is_none() -> None:
    text = "```chart\nnot json\n```\n```json\n{}\n```\n"
    assert [chart.fault for chart in read_charts(text)] == ["the chart is no JSON object"]


def test_a_value_in_another_unit_is_told() -> None:
    (chart,) = read_charts(_chart(unit="dollars", points=[{"label": "a", "value": 1200, "id": "s1p1"}] * 2))
    assert chart_problems(chart, {"s1p1": "It costs €1,200."})
    assert not chart_problems(chart, {"s1p1": "It costs $1,200."})


def test_where_nothing_draws_it_a_chart_is_a_table() -> None:
    points = [{"label": "a | b", "value": 1200, "id": "s1p1"}, {"label": "<b>c</b>", "value": 3, "id": "s1p1"}]
    cited = [Reference(number=7, source="s1", title="Coal", passages=("s1p1",))]
    told = ReportPassage(source="s1", text="It turns at 1,200 rpm.", start=0, end=22, page=None, heading="")
    report = make_report().model_copy(update={"references": cited, "passages": {"s1p1": told}})
    shown = with_tables(_chart(unit="rpm", points=points), report)
    assert "| a \\| b | 1,200 rpm [7] |" in shown
    assert "| 3 rpm [7]° |" in shown, "what is not in its passage is marked"
    assert "| \\<b>c" in shown, "what a label says acts nowhere"
    assert "json" not in shown
    assert "{" not in shown
    assert shown.startswith("Text [s1p1].\n\n| Coal | rpm |\n| --- | --- |\n")
    assert shown.endswith("|\n\nMore.\n")
    assert with_tables("```chart\nno json\n```\n") == "```chart\nno json\n```\n"
