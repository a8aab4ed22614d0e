"""The table of evidence: one row for each statement and each passage that it cites."""

from collections import Counter
from collections.abc import Sequence

from deep_research.data import Claim, ExportInput, Report, VerdictKind
from deep_research.exporters._bibliography import web_address
from deep_research.i18n.catalog import explain

COLUMNS = (
    "claim_id", "section", "statement", "kind", "verdict", "reason", "confidence", "flags", "premises", "reference",
    "source", "title", "place", "published", "retrieved", "passage_id", "page", "heading", "passage", "start", "end",
    "sha256",
)  # fmt: skip

Cell = str | int
VERDICTS: tuple[VerdictKind, ...] = ("supported", "unverified", "contradicted")


def rows_of(given: ExportInput) -> Sequence[tuple[Cell, ...]]:
    """Return the rows in the order of the statements; one without a passage has a row too. None is ""."""
    report = given.report
    numbers = {reference.source: reference for reference in report.references}
    rows: list[tuple[Cell, ...]] = []
    for claim in report.claims:
        said = _statement(claim, report)
        found = [(key, passage) for key in claim.passages if (passage := report.passages.get(key))]
        for key, passage in found:
            reference, source = numbers.get(passage.source), report.sources.get(passage.source)
            place = (web_address(reference.url) or reference.location) if reference else ""
            rows.append(
                (
                    *said,
                    reference.number if reference else "",
                    passage.source,
                    source.title if source else "",
                    place,
                    (source.published if source else "") or "",
                    source.retrieved_at if source else "",
                    key,
                    passage.page or "",
                    passage.heading,
                    passage.text,
                    passage.start,
                    passage.end,
                    source.sha256 if source else "",
                )
            )
        if not found:
            rows.append((*said, *[""] * (len(COLUMNS) - len(said))))
    return rows


def count_verdicts(report: Report) -> Counter[VerdictKind]:
    """Count the statements of a report by their verdicts."""
    return Counter(claim.verdict.kind for claim in report.claims)


def _statement(claim: Claim, report: Report) -> tuple[Cell, ...]:
    return (
        claim.id,
        claim.section,
        claim.text,
        claim.kind,
        claim.verdict.kind,
        explain(claim.verdict, report.language),
        claim.confidence.level if claim.confidence else "",
        ", ".join(claim.flags),
        ", ".join(claim.premises),
    )
