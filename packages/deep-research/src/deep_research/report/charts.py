"""The charts that a report holds, as figures to be drawn."""

from deep_research.data import Figure, Report
from deep_research.data.noun import copy_fields
from deep_research.text.inert_markdown import as_read, make_inert
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


def with_tables(text: str, *, is_rendered: bool = True) -> str:
    """Return Markdown with a table in place of each chart, for where nothing draws it; unescaped if not `is_rendered`."""
    for chart in reversed(read_charts(text)):
        if not chart.fault:
            rows = [(chart.title, chart.unit), ("---", "---"), *((p.label, p.display) for p in chart.points)]
            cells = ([make_inert(said).replace("|", r"\|") for said in row] for row in rows)
            table = "\n".join(f"| {label} | {value} |" for label, value in cells)
            text = f"{text[: chart.start]}{table}{text[chart.end :]}"
    return text if is_rendered else as_read(text)
