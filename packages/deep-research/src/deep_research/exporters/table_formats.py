"""The evidence table as CSV and workbook, a row per statement and cited passage."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from deep_research.data import ExportInput
from deep_research.exporters.reference_formats import entries_of, web_address
from deep_research.i18n.catalog import explain
from deep_research.report.counts import verdict_counts

COLUMNS = (
    "claim_id", "where", "statement", "kind", "verdict", "reason", "problems", "reference", "source", "title", "place",
    "published", "retrieved", "passage_id", "page", "heading", "passage", "start", "end", "sha256",
)  # fmt: skip

Cell = str | int
_FORMULA = re.compile(
    r"(^|[;|\t\r\n])(?=[\"'\u200b\ufeff]*+(?:[^\S\t\r\n][\"'\u200b\ufeff]*+)*+[=+\-@＝＋－＠])|^(?=[\t\r\n])"
)
"""Where a cell begins that a spreadsheet would calculate, also where it separates cells by other signs than a comma."""
_WIDTHS = {"title": 36, "where": 22, "reason": 28, "place": 32, "heading": 24, "problems": 40}
_WIDTHS |= dict.fromkeys(("statement", "quote", "problem", "evidence"), 60)
_WIDTHS |= dict.fromkeys(("passage", "old", "new"), 80)
_USUAL_WIDTH, _LONGEST_CELL, _REPEATED = 13, 32_767, 1_000


def rows_of(given: ExportInput) -> Sequence[tuple[Cell, ...]]:
    """Return rows in statement order; a long statement stands whole in its first."""
    report = given.report
    numbers = {reference.source: reference for reference in report.references}
    problems: dict[str, list[str]] = {}
    for problem in report.problems:
        problems.setdefault(problem.claim, []).append(f"{problem.problem} ({problem.outcome})")
    rows: list[tuple[Cell, ...]] = []
    for claim in report.claims:
        reason = explain(claim.verdict, report.language)
        said = (claim.id, claim.where, claim.text, claim.kind, claim.verdict.kind, reason,
                "\n".join(problems.get(claim.id, ())))  # fmt: skip
        found = [(key, passage) for key in claim.passages if (passage := report.passages.get(key))]
        for key, passage in found:
            reference, source = numbers.get(passage.source), report.sources.get(passage.source)
            place = (web_address(reference.url) or reference.location) if reference else ""
            rows.append((
                *said, reference.number if reference else "", passage.source, source.title if source else "", place,
                (source.published if source else "") or "", source.retrieved_at if source else "", key,
                passage.page or "", passage.heading, passage.text, passage.start, passage.end,
                source.sha256 if source else "",
            ))  # fmt: skip
            said = tuple(part if len(part) <= _REPEATED else f"{part[:_REPEATED]}…" for part in said)
        if not found:
            rows.append((*said, *[""] * (len(COLUMNS) - len(said))))
    return rows


class CsvExporter:
    """Writes UTF-8 with a byte order mark, by which spreadsheets know it.

    What a spreadsheet would calculate is preceded by an apostrophe, as OWASP advises for CSV.
    """

    name = "csv"
    suffix = ".csv"
    media_type = "text/csv; charset=utf-8"
    purpose = "the evidence: a row for each statement and passage"

    def export(self, given: ExportInput) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for row in rows_of(given):
            writer.writerow(_FORMULA.sub(r"\1'", cell) if isinstance(cell, str) else cell for cell in row)
        return text.getvalue().encode("utf-8-sig")


class XlsxExporter:
    """Writes statements with passages, findings and changes, references and gaps."""

    name = "xlsx"
    suffix = ".xlsx"
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    purpose = "the evidence, problems, references and a summary as a workbook"

    def export(self, given: ExportInput) -> bytes:
        """Return the workbook; every text in it is a text, never a formula."""
        from openpyxl import Workbook  # noqa: PLC0415 - heavy

        book: Any = Workbook()
        summary = book.active
        summary.title = "Summary"
        _fill(summary, ("what", "value"), _summary(given))
        _fill(book.create_sheet("Evidence"), COLUMNS, rows_of(given))
        problems = [
            (p.kind, p.quote, p.problem, p.evidence, ", ".join(p.passages), p.claim, p.by, p.outcome, p.reply)
            for p in given.report.problems
        ]
        columns = ("kind", "quote", "problem", "evidence", "passages", "claim_id", "by", "outcome", "reply")
        _fill(book.create_sheet("Problems"), columns, problems)
        edits = [(e.old, e.new, "yes" if e.applied else "no") for e in given.report.edits if e.old]
        _fill(book.create_sheet("Edits"), ("old", "new", "applied"), edits)
        references = [
            (e.number, e.title, "; ".join(p.sorted_name for p in e.authors), e.published,
             e.retrieved, e.url or e.location, e.doi, e.arxiv)
            for e in entries_of(given)
        ]  # fmt: skip
        columns = ("number", "title", "authors", "published", "retrieved", "place", "doi", "arxiv")
        _fill(book.create_sheet("References"), columns, references)
        parts = [(part.text, part.answered, ", ".join(part.where)) for part in given.report.parts]
        _fill(book.create_sheet("Parts"), ("part", "answered", "where"), parts)
        gaps = [(gap.what, gap.why, gap.source) for gap in given.report.gaps]
        _fill(book.create_sheet("Gaps"), ("what", "why", "source"), gaps)
        saved = io.BytesIO()
        book.save(saved)
        return saved.getvalue()


def _summary(given: ExportInput) -> Iterable[tuple[Cell, ...]]:
    report, counts = given.report, verdict_counts(given.report)
    yield from (("title", report.title), ("question", report.question), ("run", report.run_id))
    yield from (("language", report.language), ("workflow", report.workflow))
    models = ", ".join(sorted(set(report.reasoner.models.values())))
    yield "reasoner", " ".join(part for part in (report.reasoner.kind, report.reasoner.provider, models) if part)
    yield "statements", counts.total
    yield from ((verdict, number) for verdict, number in counts if verdict != "total")
    yield from (("sources cited", len(report.references)), ("searches", report.ledger.searches))
    yield from (("sources read", report.ledger.fetches), ("model calls", report.ledger.model_calls))
    usd = report.ledger.cost_usd
    yield from (("seconds", f"{report.ledger.seconds:.1f}"), ("US dollars", "unknown" if usd is None else f"{usd:.4f}"))


def _fill(sheet: Any, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE  # noqa: PLC0415
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415

    for number, row in enumerate((columns, *rows), 1):
        for place, value in enumerate(row, 1):
            cell = sheet.cell(number, place)
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            if isinstance(value, int):
                cell.value = value
            elif value:
                cell.value = ILLEGAL_CHARACTERS_RE.sub("", value)[:_LONGEST_CELL]
                cell.data_type = "s"  # a text that begins with = stays one
            if number == 1:
                cell.font = Font(bold=True)
    for place, name in enumerate(columns, 1):
        width = 60 if columns[0] in ("what", "part") and place == 2 else _WIDTHS.get(name, _USUAL_WIDTH)
        sheet.column_dimensions[get_column_letter(place)].width = width
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
