"""What a run did when: its model calls, searches and pages as bars on a line of time, as text and as a drawing."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from deep_research.report.ledger import PaidCall
from deep_research.stores.run_store import RunStore, StoredCall

_BAR, _LABEL = 48, 44
_ROW, _LEFT, _WIDE = 16, 330, 900
_COLOURS = {"model": "#4466aa", "search": "#55885e", "read": "#aa8844"}


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
    journal = store.open_journal()
    try:
        rows = [row for call in journal.calls() if (row := _row(call)) is not None]
    finally:
        journal.close()
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
