"""The report as a Word document: styles, lists, tables, a footnote per citation."""

from deep_research.data import ExportInput


class DocxExporter:
    """Writes a document with Word's styles for headings, lists, quotations and code."""

    name = "docx"
    suffix = ".docx"
    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    purpose = "a Word document with styles and a footnote for each citation"

    def export(self, given: ExportInput) -> bytes:
        from deep_research.exporters._word_report import WordReport  # noqa: PLC0415 - heavy

        return WordReport(given).write()
