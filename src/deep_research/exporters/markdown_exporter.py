"""The report as it is kept."""

from deep_research.data import ExportInput


class MarkdownExporter:
    """Writes the report's own Markdown; it has neither HTML nor images nor links."""

    name = "markdown"
    suffix = ".md"
    media_type = "text/markdown; charset=utf-8"
    purpose = "the report as text, with numbered references"

    def export(self, given: ExportInput) -> bytes:
        """Return the Markdown."""
        return given.report.report.encode()
