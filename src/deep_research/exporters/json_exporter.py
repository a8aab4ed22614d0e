"""The whole result for programs; its schema is published in docs/result.schema.json."""

from deep_research.data import ExportInput


class JsonExporter:
    """Writes the result with all claims, verdicts, passages and gaps."""

    name = "json"
    suffix = ".json"
    media_type = "application/json"
    purpose = "the whole result for programs (docs/result.schema.json)"

    def export(self, given: ExportInput) -> bytes:
        """Return the result as JSON."""
        return given.report.model_dump_json(indent=1).encode() + b"\n"
