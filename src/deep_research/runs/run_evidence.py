"""Read what a run has gathered: its sources with date and standing, their snapshots and passages, its cost so far, and what
it did when, as bars on a line of time; and hand its report over in another format, with what the library adds to it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Literal, NamedTuple

from deep_research import registry
from deep_research.data import (
    Export,
    ExportInput,
    Ledger,
    Passage,
    PassageContext,
    Report,
    Snapshot,
    Source,
)
from deep_research.data.noun import Noun
from deep_research.errors import RunNotFound
from deep_research.ports import Library
from deep_research.report.ledger import PaidCall, ledger_of
from deep_research.safe_text import safe_noun
from deep_research.search.source_standing import dated_source
from deep_research.stores.run_store import RunStore, StoredCall

SourceKind = Literal["read", "all"]
_CONTEXT_CHARS = 600
"""So much of a snapshot is shown before and after a passage."""
_BAR, _LABEL = 48, 44
_ROW, _LEFT, _WIDE = 16, 330, 900
_COLOURS = {"model": "#4466aa", "search": "#55885e", "read": "#aa8844"}


class SourceFacts(Noun):
    """A source with what is known of its time and standing; `date` is the ISO date that it speaks of, "" unknown.

    `status` is what its own head says of it ("superseded", "rejected", "draft", …), `by` what replaced it. `read`
    says that a text of it is kept; `characters` is its length.
    """

    source: Source
    date: str = ""
    status: str = ""
    by: str = ""
    read: bool = False
    retrieved_at: str = ""
    media_type: str = ""
    sha256: str = ""
    characters: int = 0


class PassageInContext(Noun):
    """A passage with the text around it: `before`, `passage.text` and `after` follow each other in the snapshot.

    `is_current` is False when the page was read again later: what surrounds the passage is then not given.
    """

    passage: Passage
    facts: SourceFacts
    before: str = ""
    after: str = ""
    is_current: bool = True


def list_sources(store: RunStore, kind: SourceKind = "read") -> list[SourceFacts]:
    """Return the sources of a run in order of their ids: those that were read, or all that were found."""
    with closing(store.open_library()) as library:
        found = [_facts(library, source) for source in library.sources()]
    return [facts for facts in found if facts.read or kind == "all"]


def read_source(store: RunStore, source: str) -> tuple[SourceFacts, Snapshot | None]:
    """Return a source with its newest snapshot. Raises RunNotFound for an unknown id."""
    with closing(store.open_library()) as library:
        return _facts(library, _known(library, source)), library.snapshot(source)


def read_passage(store: RunStore, passage: str, *, around: int = 0) -> PassageInContext:
    """Return a passage with up to `around` characters on each side. Raises RunNotFound for an unknown id."""
    with closing(store.open_library()) as library:
        found = library.passage(passage)
        if found is None:
            raise RunNotFound(f"The run has no passage {passage!r}.", run_id=store.run_id)
        facts = _facts(library, _known(library, found.source))
        snapshot = library.snapshot(found.source)
    if snapshot is None or snapshot.sha256 != found.sha256:
        return PassageInContext(passage=found, facts=facts, is_current=False)
    return PassageInContext(
        passage=found,
        facts=facts,
        before=snapshot.text[max(0, found.start - around) : found.start],
        after=snapshot.text[found.end : found.end + around],
    )


def search_library(store: RunStore, query: str, *, limit: int) -> list[str]:
    """Return the ids of the passages of all that a run has read that answer a query best, best first."""
    with closing(store.open_library()) as library:
        return [hit.passage.id for hit in library.search(query, limit=limit)]


def cost_so_far(store: RunStore) -> Ledger:
    """Return what a run has cost until now, also while it goes on."""
    with closing(store.open_journal()) as journal:
        return ledger_of(journal, sources=0, seconds=store.load().seconds)


def _known(library: Library, source: str) -> Source:
    found = library.source(source)
    if found is None:
        raise RunNotFound(f"The run has no source {source!r}.", run_id="")
    return found


def _facts(library: Library, source: Source) -> SourceFacts:
    snapshot = library.snapshot(source.id)
    if snapshot is None:
        return SourceFacts(source=source, date=source.published or "")
    dated = dated_source(library, source.id)
    return SourceFacts(
        source=source,
        date=dated.date,
        status=dated.standing.status,
        by=dated.standing.by,
        read=True,
        retrieved_at=snapshot.retrieved_at,
        media_type=snapshot.media_type,
        sha256=snapshot.sha256,
        characters=len(snapshot.text),
    )


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
    with closing(store.open_library()) as library:
        sources = (library.source(reference.source) for reference in report.references)
        authors = {source.id: source.authors for source in sources if source is not None}
        texts = {key: library.snapshot(key) for key in {passage.source for passage in report.passages.values()}}
    contexts: dict[str, PassageContext] = {}
    for key, passage in report.passages.items():
        snapshot = texts[passage.source]
        if snapshot is not None and snapshot.text[passage.start : passage.end] == passage.text:
            contexts[key] = PassageContext(
                before=snapshot.text[max(0, passage.start - _CONTEXT_CHARS) : passage.start],
                after=snapshot.text[passage.end : passage.end + _CONTEXT_CHARS],
            )
    return ExportInput(report=report, authors=authors, contexts=contexts, font_folder=font_folder)


def _file_name(report: Report) -> str:
    """Return a file name without blanks or marks, of the title and the run's id."""
    title = re.sub(r"\W+", "-", report.title[:60]).strip("-_")
    return f"{title or 'report'}-{report.run_id}" if len(report.run_id) < 40 else title or "report"


class TimelineRow(NamedTuple):
    """One call: what it was, when it began and how long it took in seconds, what it cost."""

    kind: str
    label: str
    begin: float
    seconds: float
    tokens: int = 0
    usd: float | None = None


def timeline_of(store: RunStore) -> list[TimelineRow]:
    """Return the calls of a run in the order in which they began; seconds count from the first."""
    with closing(store.open_journal()) as journal:
        rows = [row for call in journal.calls() if (row := _row(call)) is not None]
    first = min((row.begin for row in rows), default=0.0)
    return sorted((row._replace(begin=row.begin - first) for row in rows), key=lambda row: row.begin)


def _row(call: StoredCall) -> TimelineRow | None:
    begin = call.at - call.seconds
    request, _, again = call.request.partition("\0")
    mark = " (again)" if again else ""
    if call.kind == "model":
        paid, asked = PaidCall.model_validate_json(call.answer), json.loads(request)
        usage = paid.answer.usage
        label = f"{asked['role']}: {', '.join(asked['models'])}{mark}"
        tokens = usage.prompt_tokens + usage.completion_tokens
        return TimelineRow("model", label, begin, call.seconds, tokens, paid.cost_usd)
    if call.kind == "search":
        told = json.loads(request)
        label = f"{told.get('place') or told.get('tool')}: {told.get('query') or told.get('arguments')}{mark}"
        return TimelineRow("search", label, begin, call.seconds)
    return TimelineRow("read", f"{request}{mark}", begin, call.seconds) if call.kind == "read" else None


def timeline_text(rows: Sequence[TimelineRow]) -> str:
    """Return the timeline as text, a call a line."""
    end = _end(rows)
    return "\n".join(_text_lines(rows, end)) if rows else "The run has made no calls yet."


def _text_lines(rows: Sequence[TimelineRow], end: float) -> Iterator[str]:
    for row in rows:
        before, length = int(_BAR * row.begin / end), max(1, round(_BAR * row.seconds / end))
        bar = f"{' ' * min(before, _BAR - 1)}{'█' * length}"[:_BAR]
        yield f"{row.begin:8.2f} {row.seconds:7.2f} s |{bar:<{_BAR}}| {row.kind:<6} {_short(row.label)}{_cost(row)}"
    tokens, usd = sum(row.tokens for row in rows), sum(row.usd or 0.0 for row in rows)
    busy = {kind: sum(row.seconds for row in rows if row.kind == kind) for kind in _COLOURS}
    told = ", ".join(f"{kind} {seconds:.1f} s" for kind, seconds in busy.items() if seconds)
    yield f"{len(rows)} calls in {end:.1f} s ({told}); {tokens:,} tokens, ${usd:.4f}"


def _cost(row: TimelineRow) -> str:
    return f"  {row.tokens:,} tokens" + (f", ${row.usd:.4f}" if row.usd else "") if row.tokens else ""


def _short(label: str) -> str:
    line = " ".join(label.split())
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"


def _end(rows: Sequence[TimelineRow]) -> float:
    return max((row.begin + row.seconds for row in rows), default=0.0) or 1.0


def timeline_svg(rows: Sequence[TimelineRow]) -> str:
    """Return the timeline as an SVG drawing that loads nothing."""
    end, height = _end(rows), _ROW * (len(rows) + 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDE + 20}" height="{height}" '
        'font-family="sans-serif" font-size="11">'
    ]
    for second in range(0, int(end) + 1, max(1, round(end / 10))):
        x = _LEFT + _WIDE * second / end
        parts.append(f'<path d="M{x:.1f} 12V{height}" stroke="#ddd"/><text x="{x:.1f}" y="10">{second} s</text>')
    for place, row in enumerate(rows, 1):
        y, x, wide = _ROW * place + 4, _LEFT + _WIDE * row.begin / end, max(1.0, _WIDE * row.seconds / end)
        told = escape(f"{row.kind} {row.label}: {row.seconds:.2f} s{_cost(row)}", quote=True)
        parts.append(f'<text x="4" y="{y + 10}">{escape(_short(row.label))}</text>')
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{_ROW - 4}" fill="{_COLOURS[row.kind]}">'
            f"<title>{told}</title></rect>"
        )
    return "\n".join([*parts, "</svg>\n"])
