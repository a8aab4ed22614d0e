"""The charts that a report holds, as figures to be drawn."""

from deep_research.data import Figure, Report
from deep_research.data.noun import copy_fields
from deep_research.verification.chart_points import INFO, read_charts

_FENCE = "`" * 12


def read_chart(text: str) -> Figure | None:
    """Return the figure that the text of a chart block describes; None where it cannot be drawn."""
    found = read_charts(f"{_FENCE}{INFO}\n{text}\n{_FENCE}")
    return None if not found or found[0].fault else copy_fields(Figure, found[0])


def charts_of(report: Report) -> dict[str, Figure]:
    """Return the figures of a report by the texts of their blocks."""
    blocks = (report.report[chart.start : chart.end].strip().split("\n") for chart in read_charts(report.report))
    texts = ("\n".join(lines[1:-1]).rstrip("\n") for lines in blocks)
    return {text: figure for text in texts if (figure := read_chart(text)) is not None}
