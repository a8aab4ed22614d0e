"""Build the stretch shown whole, and the one line shown of another place."""

import re
from collections.abc import Iterable, Sequence

from claimcheck.language import columns
from deep_research.data import Passage
from deep_research.finding.places import Piece, Place, Stretch
from deep_research.finding.ranking import Best
from deep_research.finding.text_units import Section, Span, Unit
from deep_research.finding.words import Word, coverage

ENOUGH, MOST = 500, 1_400
"""Columns up to which what follows under the same heading is shown too, and beyond which only a part is shown."""
STEPS = 3_000
"""Columns up to which steps and code are shown whole."""
LINE = 220
_NUMBERED = re.compile(r"\s*\(?\d{1,3}[.)]")
_SPACE = re.compile(r"\s+")
_FENCE = re.compile(r"(?:(?<!\s)\s++)?(?:```+|~~~+)\s*")
_HEADING = re.compile(r"\s*(?:#{1,6} |\Z)")
_MARK = re.compile(r"^(?:#{1,6}|[-*+•]|>)\s+|^\|\s*|(?:(?<!\s)\s++)?\|$")


def make_stretch(best: Best, words: Sequence[Word], location: str = "") -> Stretch:
    """Return the best unit whole, with its neighbours under the heading while short."""
    section = best.section
    spans = _spans(section, best.unit, words)
    shown = sum(columns(section.text[start:end]) for start, end in spans)
    at = section.units.index(best.unit)
    for unit in section.units[at + 1 :]:
        more = columns(section.text[unit.start : unit.end])
        if spans[-1][1] < section.units[at].end or shown >= ENOUGH or shown + more > MOST:
            break
        spans.append((unit.start, unit.end))
        shown += more
        at += 1
    for unit in reversed(section.units[: section.units.index(best.unit)]):
        more = columns(section.text[unit.start : unit.end])
        if shown + more > ENOUGH:
            break
        spans.insert(0, (unit.start, unit.end))
        shown += more
    before = section.text[: spans[0][0]].rstrip().rpartition("\n")[2]
    pieces = (
        Piece(start=a, end=b, text=section.text[a:b], passages=tuple(p.id for p in _within(section, a, b)))
        for a, b in _joined(spans, section.text)
    )
    return Stretch(
        source=section.source,
        title=best.candidate.title,
        where=section.where,
        pieces=tuple(pieces),
        has_before=before != "" and _HEADING.match(before) is None,
        has_after=_HEADING.match(section.text, spans[-1][1]) is None,
        location=location,
        pages=tuple(dict.fromkeys(p.page for p in _within(section, spans[0][0], spans[-1][1]) if p.page)),
    )


def _spans(section: Section, unit: Unit, words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return the spans shown of a unit: all, or lead and best parts of a long one."""
    size = columns(section.text[unit.start : unit.end])
    is_steps = unit.kind == "code" or (unit.kind == "item" and _NUMBERED.match(section.text, unit.parts[0].start))
    if size <= (STEPS if is_steps else MOST) or len(unit.parts) < 2:
        return [(unit.start, unit.end)]
    lead = [(span.start, span.end) for span in unit.lead]
    above = frozenset[str]().union(*(span.terms for span in unit.lead))
    order = sorted(range(len(unit.parts)), key=lambda n: (-coverage(words, unit.parts[n].terms, above, 0.5), n))
    chosen: set[int] = set()
    left = MOST - sum(columns(section.text[start:end]) for start, end in lead)
    for number in _around(order, len(unit.parts)) if unit.kind != "table" else order:
        size = columns(section.text[unit.parts[number].start : unit.parts[number].end])
        if chosen and size > left:
            break
        chosen.add(number)
        left -= size
    return [*lead, *((unit.parts[n].start, unit.parts[n].end) for n in sorted(chosen))]


def _around(order: Sequence[int], count: int) -> Iterable[int]:
    """Return the best part, then those behind and before it in turn: text reads on."""
    best = order[0]
    steps = [best, *(n for step in range(1, count) for n in (best + step, best - step // 2 if step % 2 == 0 else -1))]
    return dict.fromkeys(n for n in steps if 0 <= n < count)


def _joined(spans: Iterable[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Return spans with those joined between which there is nothing but space."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _within(section: Section, start: int, end: int) -> list[Passage]:
    return [p for p in section.passages if p.start < end and start < p.end]


def make_place(best: Best, words: Sequence[Word], location: str = "") -> Place:
    """Return a place with one line of text around the words.

    Its passage is the one in which the best part begins.
    """
    section, start = best.section, (best.part or best.unit).start
    passage = next((p for p in section.passages if p.start <= start < p.end), best.candidate.passage)
    return Place(
        passage=passage.id,
        source=passage.source,
        title=best.candidate.title,
        where=passage.heading,
        line=_line(best.section.text, best.unit, best.part, words),
        location=location,
        pages=(passage.page,) if passage.page else (),
    )


def _line(text: str, unit: Unit, part: Span | None, words: Sequence[Word]) -> str:
    span = part or (unit.parts[0] if unit.parts else Span(unit.start, unit.end, frozenset()))
    line = _on_one_line(text, [span])
    led = _on_one_line(text, [*unit.lead[-1:], span])
    if unit.kind != "table" and columns(led) <= LINE:
        line = led
    follows = [one for one in unit.parts if one.start >= span.end]
    if unit.kind == "prose" and follows and columns(line) < LINE // 2:
        line = f"{line} {_on_one_line(text, follows[:1])}"
    return cut_line(line, words)


def _on_one_line(text: str, spans: Sequence[Span]) -> str:
    """Join slices of a text on one line without markup; "…" marks omissions."""
    pieces = [text[start:end] for start, end in _joined(((one.start, one.end) for one in spans), text)]
    return " … ".join(_MARK.sub("", _SPACE.sub(" ", _FENCE.sub(" ", piece)).strip()) for piece in pieces)


def cut_line(line: str, words: Sequence[Word]) -> str:
    """Cut a line to `LINE` columns with as many of the words as fit; "…" marks cuts."""
    if columns(line) <= LINE:
        return line
    room = LINE if columns(line) < 1.3 * len(line) else LINE // 2
    lowered = line.casefold()
    first = min((at for word in words if (at := lowered.find(word.text.casefold()[:5])) >= 0), default=0)
    start = max(0, min(first - room // 5, len(line) - room))
    if start and " " in line[start : start + 15]:
        start = line.index(" ", start) + 1
    end = min(len(line), start + room)
    if end < len(line) and " " in line[end - 15 : end]:
        end = line.rindex(" ", end - 15, end)
    return f"{'… ' if start else ''}{line[start:end].strip()}{' …' if end < len(line) else ''}"
