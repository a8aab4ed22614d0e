"""The report as it is kept: its Markdown, and the whole result for programs."""

from deep_research.data import ExportInput
from deep_research.verification.chart_points import with_tables


class MarkdownExporter:
    """Writes the report's Markdown, charts as tables, no HTML, images or links."""

    name = "markdown"
    suffix = ".md"
    media_type = "text/markdown; charset=utf-8"
    purpose = "the report as text, with numbered references"

    def export(self, given: ExportInput) -> bytes:
        return with_tables(given.report.report, given.report).encode()


class JsonExporter:
    """Writes the result with all claims, verdicts, passages and gaps."""

    name = "json"
    suffix = ".json"
    media_type = "application/json"
    purpose = "the whole result for programs (docs/result.schema.json)"

    def export(self, given: ExportInput) -> bytes:
        return given.report.model_dump_json(indent=1).encode() + b"\n"
