"""Charts of a report as exports and the page draw them; `verification/charts.py` reads and checks the blocks."""

from deep_research.data import Figure, FigurePoint, Report
from deep_research.verification.charts import INFO, Chart, read_charts

_SIGNIFICANT = 12


def read_chart(text: str) -> Figure | None:
    """Return the figure that the text inside a chart block describes; None where it cannot be drawn."""
    charts = read_charts(f"```{INFO}\n{text}\n```")
    return _figure(charts[0]) if charts and not charts[0].fault else None


def charts_of(report: Report) -> dict[str, Figure]:
    """Return the figures of a report by the texts of their blocks."""
    found: dict[str, Figure] = {}
    for chart in read_charts(report.report):
        _, _, inside = report.report[chart.start : chart.end].partition("\n")
        text = inside.rstrip().rpartition("\n")[0]
        if not chart.fault:
            found[text] = _figure(chart)
    return found


def _figure(chart: Chart) -> Figure:
    points = (
        FigurePoint(
            label=p.label, value=float(p.value), display=_displayed(float(p.value), chart.unit), passages=p.passages
        )
        for p in chart.points
    )
    return Figure(kind=chart.kind, title=chart.title, unit=chart.unit, points=tuple(points))


def _displayed(value: float, unit: str) -> str:
    """Return a number as people read it, with its unit."""
    shown = f"{value:,.{_SIGNIFICANT}g}"
    return f"{shown}{unit}" if unit == "%" else f"{shown} {unit}".rstrip()
