"""Export the report of a run, with what its library adds."""

import re
from pathlib import Path

from deep_research import registry
from deep_research.data import Export, ExportFigure, ExportInput, ExportPoint, PassageContext, Report
from deep_research.report.figures import Figure, make_figures
from deep_research.safe_text import safe_noun
from deep_research.stores.run_store import RunStore

_CONTEXT_CHARS = 600
"""So much of a snapshot is shown before and after a passage."""


def export_report(store: RunStore, report: Report, to: str, *, font_folder: Path | None = None) -> Export:
    """Return a report of the run in `store` (its own, or that of a follow-up) in the format `to`.

    Raises ConfigError for an unknown format, and where something that the format needs is not installed.
    """
    exporter = registry.component("exporters", to)()
    given = safe_noun(_collect(store, report, str(font_folder or "")))
    name = f"{_file_name(report)}{exporter.suffix}"
    return Export(data=exporter.export(given), media_type=exporter.media_type, file_name=name)


def _collect(store: RunStore, report: Report, font_folder: str) -> ExportInput:
    """Return the report with the authors of its sources and the surroundings of its passages."""
    library = store.open_library()
    try:
        sources = (library.source(reference.source) for reference in report.references)
        authors = {source.id: source.authors for source in sources if source is not None}
        texts = {key: library.snapshot(key) for key in {passage.source for passage in report.passages.values()}}
    finally:
        library.close()
    contexts: dict[str, PassageContext] = {}
    for key, passage in report.passages.items():
        snapshot = texts[passage.source]
        if snapshot is not None and snapshot.text[passage.start : passage.end] == passage.text:
            contexts[key] = PassageContext(
                before=snapshot.text[max(0, passage.start - _CONTEXT_CHARS) : passage.start],
                after=snapshot.text[passage.end : passage.end + _CONTEXT_CHARS],
            )
    figures = tuple(_figure(figure) for figure in make_figures(report))
    return ExportInput(report=report, authors=authors, contexts=contexts, figures=figures, font_folder=font_folder)


def _figure(figure: Figure) -> ExportFigure:
    points = (ExportPoint(label=p.label, value=p.value, display=p.display, passages=p.passages) for p in figure.points)
    return ExportFigure(kind=figure.kind, title=figure.title, points=tuple(points))


def _file_name(report: Report) -> str:
    """Return a file name without blanks or marks, of the title and the run's id."""
    title = re.sub(r"\W+", "-", report.title[:60]).strip("-_")
    return f"{title or 'report'}-{report.run_id}" if len(report.run_id) < 40 else title or "report"
