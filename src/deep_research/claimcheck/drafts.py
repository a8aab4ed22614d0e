"""Drafts in Markdown: read into cited sentences, and written again without what did not pass.

Reading knows prose, list items, table cells and code; writing gives every kept sentence its ids back and
leaves no empty list, table or heading.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from deep_research.claimcheck.citations import (
    OPEN_MARK,
    CitedSentence,
    cite_ids,
    cut_cited,
    groups,
    lift,
    without_links,
)
from deep_research.i18n.language import columns
from deep_research.i18n.lexicon import any_word
from deep_research.text.sentences import Block, blocks

_WIDE_STOP_GAP = re.compile(r"(?<=[。！？]) (?=[^\s\[])")
_MARKER = re.compile(r"(?:\s*>\s?)*\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?")
_QUOTE_MARKS = re.compile(r"(?<=\n)[ \t]*(?:>[ \t]?)+")
_SEPARATOR = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_BAR, _LAST_BAR = re.compile(r"(?<!\\)\|"), re.compile(r"(?<!\\)\|$")
_LABEL_WORDS, _LABEL_CHARS = 8, 80
_BOLD = re.compile(r"(?:\*\*[^*]+\*\*|__[^_]+__)[:：]?")
_ROW_IDS = re.compile(r"\|\s*((?:\[s\d{1,7}p\d{1,7}\])+)\s*$")
"""Ids behind the last bar of a row: the row is one claim."""
_LED = 6
"""How many ids of a table or list its introduction may rest on."""
_SHOWN = ("code", "table", "item")
_SHORTEST = 8
"""Letters of the shortest sentence that is known by its words."""
_SHOWS_BELOW = re.compile(any_word("quoting.below_patterns"), re.IGNORECASE)
_EMPTY_CELL = "—"
_FEW_CELLS = 2
"""A row of a name and one statement is that statement, with the name as its context."""
_ARROW = re.compile(r"\s*(?:→|->|=>|⇒)\s*")
_ARROW_INSIDE = re.compile(r"(?:(?<=[.!。！\]])|(?<=[.!。！]\*\*))\s*→\s+")
"""Where in a paragraph the writer's own conclusion begins; behind a question an arrow leads to its answer."""
_LEAD_CHARS = 52
_TITLE_WORDS, _TITLE_WIDE = 3, 7
_STOPS = (".", "!", "?", "。", "！", "？")
_DIGITS = re.compile(r"\d")
_MARKED = re.compile(r"†\W*$")
_MARK_AFTER_STOP = re.compile(r"\s*([.!?。！？][\"'”’」』）)]*)[ \t]*(†|\[open\])", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\{(k\d{1,3})\}")
"""Where the result of a computation belongs."""


@dataclass(frozen=True)
class _Part:
    """A block of a draft: `frame` is text kept as it is, `lines` are rows of literals and sentence numbers."""

    kind: Literal["heading", "label", "prose", "item", "table", "code"]
    frame: str = ""
    level: int = 0
    lines: tuple[tuple[str | int, ...], ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its sentences, in order."""
        return tuple(number for line in self.lines for number in line if isinstance(number, int))


@dataclass
class Draft:
    """A draft as read: its sentences in order, and the structure to write it again."""

    sentences: list[CitedSentence] = field(default_factory=list)
    _parts: list[_Part] = field(default_factory=list)
    _closing: set[int] = field(default_factory=set)
    """The numbers of the conclusions that close a paragraph of facts."""

    def render(self, kept: Mapping[int, tuple[str, Sequence[str]] | None] | None = None) -> str:
        """Write the draft again. `kept` maps the number of a sentence to its new text and ids, or to None to cut it;
        sentences it does not mention stay as they are."""
        changes = kept or {}

        def written(number: int) -> str | None:
            sentence = self.sentences[number]
            change = changes.get(number, (sentence.text, sentence.passages))
            if change is None or not change[0].strip():
                return None
            if sentence.role == "limit":
                return _with_open_mark(change[0])
            mark = "→ " if number in self._closing else ""
            if change[0] == sentence.text and sentence.kind != "code":
                return mark + sentence.cited_as(change[1])
            worded = change[0]
            if _BOLD.fullmatch(sentence.raw) and not worded.startswith(("**", "__")):
                worded = f"**{worded}**"  # what opened its paragraph still does
            text, citation = mark + worded, cite_ids(change[1])
            gap = "\n\n" if sentence.kind == "code" else " "
            return f"{text}{gap}{citation}" if citation else text

        cut = self._announcing_nothing(written)
        done = [
            (part, text)
            for part in self._parts
            if (text := _write(part, lambda number: None if number in cut else written(number))) is not None
        ]
        return _join(_without_holes(self._parts, _without_shells(done)))

    def _announcing_nothing(self, written: Callable[[int], str | None]) -> set[int]:
        """Return the sentences that lead to code, a table or a list ("Together:") of which nothing is there any more, and the
        bold ones that open a paragraph of which nothing else is."""
        found: set[int] = set()
        for place, part in enumerate(self._parts):
            if part.kind != "prose" or not part.numbers:
                continue
            shown = list(itertools.takewhile(lambda p: p.kind in _SHOWN, self._parts[place + 1 :]))
            told = [number for each in shown for number in each.numbers]
            first, *others = part.numbers
            opening = self.sentences[first].raw
            if (
                others
                and _BOLD.fullmatch(opening)
                and not any(map(str.isdigit, opening))
                and not any(map(written, others))
            ):
                found.add(first)  # a figure is a statement by itself
            lead = self.sentences[part.numbers[-1]].text.rstrip()
            is_lead = lead.endswith((":", "：")) or _SHOWS_BELOW.search(lead) is not None
            if told and is_lead and all(written(number) is None for number in told):
                found.add(part.numbers[-1])
        return found

    def lead_of(self, number: int) -> str:
        """Return what a sentence stands under: a heading or label, and the words that open its paragraph or list."""
        heading = label = opened = ""
        for part in self._parts:
            if part.kind in ("heading", "label"):
                text = part.frame.strip("#*_ ")
                heading, label, opened = (text, "", "") if part.kind == "heading" else (heading, text, "")
            own = part.numbers
            if part.kind == "prose":
                label = "" if label.endswith((":", "：")) else label  # what it announces ends with its list
                opens = bool(own) and self.sentences[own[0]].raw.startswith(("**", "__"))
                opened = self.sentences[own[0]].text.strip("*_ ") if opens else part.frame.strip("*_→ ")
                opened = "" if opens and number == own[0] else opened
            if number in own:
                run_in = _MARKER.sub("", part.frame, count=1).strip("*_→ ") if part.kind == "item" else ""
                return " > ".join(dict.fromkeys(text for text in (heading, label, opened, run_in) if text))
            if part.kind == "prose" and own and (last := self.sentences[own[-1]].text).endswith((":", "：")):
                opened = f"{opened} {last}".strip()
        return ""

    def paragraph_of(self, number: int) -> tuple[int, ...]:
        """Return the sentences of the paragraph or list item that a sentence is part of; none where it is a cell or code."""
        flowing = (part.numbers for part in self._parts if part.kind in ("prose", "item"))
        return next((numbers for numbers in flowing if number in numbers), ())

    def numbered_lists(self) -> list[list[tuple[int, ...]]]:
        """Return the numbered lists, each as the sentences of its items."""
        found: list[list[tuple[int, ...]]] = []
        is_inside = False
        for part in self._parts:
            if part.kind != "item":
                is_inside = False
            elif _NUMBERED.match(part.frame):
                if not is_inside:
                    found.append([])
                is_inside = True
                found[-1].append(part.numbers)
        return found


def _write(part: _Part, written: Callable[[int], str | None]) -> str | None:
    if part.kind in ("heading", "label"):
        return part.frame
    if part.kind == "table":
        return _write_table(part, written)
    kept = [text for number in part.numbers if (text := written(number))]
    return part.frame + _WIDE_STOP_GAP.sub("", " ".join(kept)) if kept else None


def _write_table(part: _Part, written: Callable[[int], str | None]) -> str | None:
    """Cut cells become a dash; rows without a kept claim go, and so does a table without rows."""
    rows: list[str] = []
    body = 0
    for number, line in enumerate(part.lines):
        cells = [cell if isinstance(cell, str) else written(cell) for cell in line]
        claims = [text for cell, text in zip(line, cells, strict=True) if isinstance(cell, int)]
        head = number < part.level
        if not head and claims and not any(claims):
            continue
        body += not head
        rows.append(f"| {' | '.join(_EMPTY_CELL if cell is None else cell for cell in cells)} |")
    return "\n".join(rows) if body else None


def _without_shells(done: list[tuple[_Part, str]]) -> list[tuple[_Part, str]]:
    """Leave out headings and labels that nothing follows."""
    kept: list[tuple[_Part, str]] = []
    for part, text in reversed(done):
        following = kept[-1][0] if kept else None
        if part.kind == "label" and (following is None or following.kind in ("heading", "label")):
            continue
        higher = following is not None and following.kind == "heading" and following.level <= part.level
        if part.kind == "heading" and (following is None or higher):
            continue
        kept.append((part, text))
    return kept[::-1]


_NUMBERED = re.compile(r"(\s*)(\d{1,3})([.)]\s+)")


def _without_holes(parts: Sequence[_Part], done: list[tuple[_Part, str]]) -> list[tuple[_Part, str]]:
    """Number the items of each list anew where some of its items were cut."""
    number: dict[str, int] = {}
    left = {id(part) for part, _ in done}
    new: dict[int, str] = {}
    for part in parts:
        match = _NUMBERED.match(part.frame)
        if part.kind != "item":
            number.clear()
        elif match is not None:
            place = number.setdefault(match[1], int(match[2]))
            if id(part) in left:
                new[id(part)] = f"{match[1]}{place}{match[3]}"
                number[match[1]] = place + 1
    return [(part, new[id(part)] + text[len(part.frame) :] if id(part) in new else text) for part, text in done]


def _join(done: list[tuple[_Part, str]]) -> str:
    out = ""
    previous: _Part | None = None
    for part, text in done:
        tight = part.kind == "item" and previous is not None and previous.kind in ("item", "label")
        out += ("" if previous is None else "\n" if tight else "\n\n") + text
        previous = part
    return out


def _with_open_mark(text: str) -> str:
    """Return a sentence with its mark, before the full stop."""
    return re.sub(r"([.!?。！？]?[\"'”’」』）)]*)\s*$", r" [open]\1", text, count=1)


def settle_marks(text: str) -> str:
    """Return a draft with the marks † and [open] before the full stop, so that they stay with their sentence."""
    return _MARK_AFTER_STOP.sub(r" \2\1", text)


def without_id_columns(text: str) -> str:
    """Return a draft whose tables have no column for the ids alone: a row's ids end its last cell."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if not place or not _SEPARATOR.match("|".join(_cells(line))) or "|" not in lines[place - 1]:
            continue
        rows = list(itertools.takewhile(lambda row: row.lstrip().startswith("|"), lines[place + 1 :]))
        tables = [_cells(row) for row in (lines[place - 1], line, *rows)]
        width = len(tables[0])
        if width < _LEAST_COLUMNS or any(len(cells) != width for cells in tables) or not _is_for_ids(tables[2:]):
            continue
        joined = [[*cells[:-2], f"{cells[-2].rstrip()} {cells[-1].strip()} "] for cells in tables[2:]]
        short = [f"|{'|'.join(cells)}|" for cells in (tables[0][:-1], tables[1][:-1], *joined)]
        lines[place - 1 : place + 1 + len(rows)] = short
    return "\n".join(lines)


def _is_for_ids(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the last cell of each row holds ids and nothing else."""
    last = [row[-1] for row in rows]
    return bool(rows) and all(any(groups(cell)) and not _plain_cell(cell).strip() for cell in last)


_LEAST_COLUMNS = 3


@lru_cache(maxsize=64)
def parse_draft(text: str, *, own_rows: bool = False) -> Draft:
    """Read a draft, which nothing changes: several steps read the same one.

    Headings, labels ("**Benefits**", "It offers:" before a list), a table's header row and its first column are no claims unless
    they cite; all other text is, cited or not. With `own_rows` a row that cites nothing is a thought of the writer's own, whole.
    """
    draft = Draft()
    found = list(blocks(text))
    own_list, lead = False, tuple[str, ...]()
    for number, block in enumerate(found):
        following = found[number + 1].kind if number + 1 < len(found) else None
        if block.kind == "heading":
            _read_heading(draft, text, block)
        elif block.kind == "table":
            first = len(draft.sentences)
            _read_table(draft, text, block, own_rows=own_rows)
            if own_list:
                draft.sentences[first:] = [_as_own(s, lead) for s in draft.sentences[first:]]
            own_list = False
        elif block.kind == "code":
            _add(draft, _Part("code", lines=((len(draft.sentences),),)), [_code(text, block)])
        else:
            first = len(draft.sentences)
            _read_flow(draft, text, block, following)
            is_item = block.kind == "item"
            if own_list and is_item:
                is_step = _NUMBERED.match(draft._parts[-1].frame) is not None if draft._parts else False
                draft.sentences[first:] = [_as_own(s, lead, is_step=is_step) for s in draft.sentences[first:]]
            if not is_item:
                own_list, lead = _opens_own_list(draft), _lead_ids(draft)
    _found_leads(draft)
    return draft


def without_sentences(text: str, said: Sequence[str]) -> str:
    """Return a draft without the sentences that stand in one of `said`, be it with ids, marks and a reason."""
    named = [_plain(each) for each in said]
    draft = parse_draft(text)
    gone = [
        number
        for number, sentence in enumerate(draft.sentences)
        if len(own := _plain(sentence.text)) >= _SHORTEST and any(own in each for each in named)
    ]
    return draft.render(dict.fromkeys(gone)) if gone else text


def _plain(text: str) -> str:
    """Return the letters and digits of a text without its citations."""
    return "".join(re.findall(r"\w", lift(OPEN_MARK.sub("", text))[0]))


def _opens_own_list(draft: Draft) -> bool:
    """Return whether the last part read announces a list of the writer's own ("→ In this order:"), with ids or without."""
    if not draft._parts:
        return False
    last = draft._parts[-1]
    if last.kind == "label":
        return _ARROW.match(last.frame) is not None
    said = [draft.sentences[number] for number in last.numbers]
    return last.kind == "prose" and bool(said) and said[-1].role == "inference" and said[-1].text.endswith((":", "："))


def _as_own(sentence: CitedSentence, lead: tuple[str, ...], *, is_step: bool = False) -> CitedSentence:
    """Return a point or cell below a lead of the writer's own as one too, which rests on what the lead cites; what cites
    something itself below a lead that does is a fact, but for the step of a runbook, which says what to do."""
    is_own = sentence.role == "fact" and (is_step or not (lead and sentence.passages))
    return sentence._replace(role="inference", near=sentence.near or lead) if is_own else sentence


def _lead_ids(draft: Draft) -> tuple[str, ...]:
    """Return what the last part read cites: what a list that it announces rests on."""
    numbers = draft._parts[-1].numbers if draft._parts else ()
    return tuple(dict.fromkeys(key for number in numbers for key in draft.sentences[number].passages))


def _found_leads(draft: Draft) -> None:
    """Let what stands before a table or list without ids rest on what that cites, be it a paragraph or its last sentence, and
    any other conclusion without ids on what the paragraph before it cites."""
    numbers = [part.numbers for part in draft._parts]
    for place, part in enumerate(draft._parts):
        own = [draft.sentences[number] for number in numbers[place]]
        is_cited = any(s.passages or s.near for s in own)
        if part.kind != "prose" or not own or (is_cited and own[-1].passages):
            continue
        if place + 1 == len(draft._parts) or draft._parts[place + 1].kind not in ("table", "item"):
            if is_cited:
                continue
            if opened := _opened_by(draft, place, numbers):
                for number in numbers[place]:
                    if draft.sentences[number].role == "fact":
                        draft.sentences[number] = draft.sentences[number]._replace(near=opened, role="inference")
                continue
            explains_code = place > 0 and draft._parts[place - 1].kind == "code"
            ids = dict.fromkeys(key for s in _before(draft, place, numbers) for key in (s.passages or s.near))
            for number in numbers[place]:
                if draft.sentences[number].role == "inference" or (
                    explains_code and draft.sentences[number].role == "fact"
                ):
                    draft.sentences[number] = draft.sentences[number]._replace(near=tuple(ids)[:_LED])
            continue
        listed = itertools.takewhile(
            lambda at: draft._parts[at].kind in ("table", "item"), range(place + 1, len(numbers))
        )
        ids = dict.fromkeys(key for at in listed for number in numbers[at] for key in draft.sentences[number].passages)
        for number in numbers[place][-1:] if is_cited else numbers[place]:
            if draft.sentences[number].role in ("fact", "inference"):
                draft.sentences[number] = draft.sentences[number]._replace(near=tuple(ids)[:_LED])


def _before(draft: Draft, place: int, numbers: Sequence[Sequence[int]]) -> list[CitedSentence]:
    """Return the sentences of the part before a place; of code those of what leads to it as well."""
    found: list[CitedSentence] = []
    for at in range(place - 1, -1, -1):
        found += (draft.sentences[number] for number in numbers[at])
        if draft._parts[at].kind != "code":
            break
    return found


def _opened_by(draft: Draft, place: int, numbers: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Return the ids of what a paragraph opens that stands first under its heading: it sums up what follows."""
    if place and draft._parts[place - 1].kind != "heading":
        return ()
    following = itertools.takewhile(lambda at: draft._parts[at].kind != "heading", range(place + 1, len(numbers)))
    ids = dict.fromkeys(key for at in following for number in numbers[at] for key in draft.sentences[number].passages)
    return tuple(ids)[:_LED]


def _add(draft: Draft, part: _Part, sentences_: Sequence[CitedSentence]) -> None:
    draft.sentences.extend(sentences_)
    draft._parts.append(part)


def _code(text: str, block: Block) -> CitedSentence:
    raw = text[block.start : block.end]
    return CitedSentence(raw, (), block.start, block.end, "code", raw)


def _read_heading(draft: Draft, text: str, block: Block) -> None:
    line = text[block.start : block.end]
    level = len(line) - len(line.lstrip("#"))
    for start, end, _ids in reversed(list(groups(line))):
        line = line[:start] + line[end:]
    draft._parts.append(_Part("heading", without_links(line), level))


def _read_flow(draft: Draft, text: str, block: Block, following: str | None) -> None:
    """A paragraph or list item: its sentences, or a label, or citations that belong to what stands before."""
    raw = text[block.start : block.end]
    marker = _MARKER.match(raw)
    head = marker.end() if marker else 0
    # The marks of a quotation's further lines become spaces, so that offsets stay those of the draft.
    body = _QUOTE_MARKS.sub(lambda marks: " " * len(marks[0]), raw[head:])
    if _BOLD.fullmatch(body.strip()) and len(body) <= _LABEL_CHARS:
        draft._parts.append(_Part("label", raw.strip()))
        return
    kind: Literal["item", "prose"] = "item" if block.kind == "item" else "prose"
    if arrow := _ARROW.match(body):
        if following == "item" and body.rstrip().endswith((":", "：")) and not any(groups(body)):
            draft._parts.append(_Part("label", raw.strip()))
            return
        first, own = len(draft.sentences), _own(body[arrow.end() :], block)
        if not own:
            return  # an arrow alone says nothing
        frame = raw[:head] + ("→ " if own[0].role == "inference" else "")
        _add(draft, _Part(kind, frame, 0, (tuple(range(first, first + len(own))),)), own)
        return
    closing: list[CitedSentence] = []
    if inside := _ARROW_INSIDE.search(body):
        closing = _own(body[inside.end() :], block)
        body = body[: inside.start()]
    found = [_with_role(s) for s in cut_cited(body, block.start + head, kind)]
    if not found:
        _cite_before(draft, [key for _s, _e, ids in groups(body) for key in ids])
        return
    if len(found) == 1 and _is_label(found[0], following):
        draft._parts.append(_Part("label", raw[:head] + found[0].text))
        return
    frame = raw[:head]
    if len(found) + len(closing) > 1 and not found[0].passages and _BOLD.fullmatch(found[0].raw):
        led, frame = _with_lead([*found, *closing], frame)
        found = led[: len(led) - len(closing)]
    if kind == "item" and (led := _lead_in(draft)):
        found = [s if s.near else s._replace(near=led) for s in found]
    if closing and closing[0].role == "inference":
        draft._closing.add(len(draft.sentences) + len(found))
        if not closing[0].passages:
            ids = dict.fromkeys(key for s in found for key in s.passages)
            closing[0] = closing[0]._replace(near=tuple(ids)[:_LED])
    found += closing
    first = len(draft.sentences)
    _add(draft, _Part(kind, frame, lines=(tuple(range(first, first + len(found))),)), found)


def _lead_in(draft: Draft) -> tuple[str, ...]:
    """Return the ids of the sentence that announces the list being read ("It offers: [s1p2]")."""
    for part in reversed(draft._parts):
        if part.kind == "item":
            continue
        last = draft.sentences[part.numbers[-1]] if part.kind == "prose" else None
        return last.passages if last is not None and last.text.endswith((":", "：")) else ()
    return ()


def _own(body: str, block: Block) -> list[CitedSentence]:
    """Return what is the writer's own to the end of a paragraph: a conclusion as one claim, all its ids are its premises;
    behind it what is general knowledge (†)."""
    said = [_with_role(s) for s in cut_cited(settle_marks(body), block.start, "prose")]
    own = list(itertools.dropwhile(lambda s: s.role == "background", reversed(said)))[::-1]
    general = [s._replace(passages=(), near=()) for s in said[len(own) :]]
    if not own:
        return general
    ids = tuple(dict.fromkeys(key for s in own for key in s.passages))
    text = " ".join(" ".join(s.text for s in own).split())
    return [CitedSentence(text, ids, block.start, block.end, "prose", text, role="inference"), *general]


def _with_role(sentence: CitedSentence) -> CitedSentence:
    if OPEN_MARK.search(sentence.text) and sentence.passages:
        # It says something after a source as well: that is judged, with all that it says.
        return sentence._replace(text=OPEN_MARK.sub("", sentence.text), raw=OPEN_MARK.sub("", sentence.raw), marks=())
    if OPEN_MARK.search(sentence.text):
        return sentence._replace(text=OPEN_MARK.sub("", sentence.text), role="limit", passages=(), marks=())
    if _MARKED.search(sentence.text):
        return sentence._replace(role="background")
    return _reckoned(sentence)


def _reckoned(sentence: CitedSentence) -> CitedSentence:
    return sentence._replace(role="computed") if PLACEHOLDER.search(sentence.text) else sentence


def _with_lead(found: list[CitedSentence], frame: str) -> tuple[list[CitedSentence], str]:
    """Return a paragraph's sentences and frame when it opens with a bold lead: a few words are no statement; a
    sentence is one that sums up what follows, and rests on all of it."""
    lead, *rest = found
    if columns(lead.text) <= _LEAD_CHARS and not _DIGITS.search(lead.text) and not _says_something(lead.text):
        return rest, f"{frame}{lead.raw} "
    ids = tuple(dict.fromkeys(key for sentence in rest for key in sentence.passages))
    for role in ("limit", "background"):
        if not ids and all(sentence.role == role for sentence in rest):
            return [lead._replace(role=role, passages=(), near=()), *rest], frame
    return [lead._replace(near=ids, role="inference"), *rest], frame


def _says_something(lead: str) -> bool:
    """Return whether a short lead is a sentence ("Running work cannot be cancelled.") rather than a title ("Limits.")."""
    words = lead.split()
    wide = columns(lead) - len(lead)
    return lead.rstrip("*_ ").endswith(_STOPS) and (len(words) > _TITLE_WORDS or wide > _TITLE_WIDE)


def _cite_before(draft: Draft, ids: Sequence[str]) -> None:
    """Citations on a line of their own belong to the sentence before."""
    if draft.sentences and ids:
        last = draft.sentences[-1]
        draft.sentences[-1] = last._replace(passages=tuple(dict.fromkeys([*last.passages, *ids])))


def _is_label(sentence: CitedSentence, following: str | None) -> bool:
    text = sentence.text.strip()
    if sentence.passages or len(text) > _LABEL_CHARS or len(text.split()) > _LABEL_WORDS:
        return False
    return text.endswith((":", "：")) and following in ("item", "table", "code")


def _read_table(draft: Draft, text: str, block: Block, *, own_rows: bool) -> None:
    lines: list[tuple[str | int, ...]] = []
    rows: list[tuple[int, str]] = []
    position = block.start
    for line in text[block.start : block.end].split("\n"):
        rows.append((position, line))
        position += len(line) + 1
    head = next((i for i, (_at, line) in enumerate(rows, 1) if _SEPARATOR.match("|".join(_cells(line)))), 0)
    header = [_plain_cell(cell) for cell in _cells(rows[0][1])] if head == 2 else []
    for number, (at, line) in enumerate(rows):
        cells = _cells(line)
        if number >= head and (row := _whole_row(line, at, header, own_rows=own_rows)):
            lines.append((len(draft.sentences),))
            draft.sentences.append(row)
            continue
        lines.append(tuple(_read_row(draft, at, cells, header, is_head=number < head)))
    draft._parts.append(_Part("table", level=head, lines=tuple(lines)))


def _whole_row(line: str, at: int, header: Sequence[str], *, own_rows: bool) -> CitedSentence | None:
    """Return a row that cites once, at its end, as one claim under the headings of its columns; else None. With `own_rows` one
    that cites nothing and tells something behind its first cell is one as well.

    Its text is its cells as they stand, without the outer bars.
    """
    cells = _cells(line)
    cited = [number for number, cell in enumerate(cells) if any(groups(cell))]
    told = [number for number, cell in enumerate(cells) if re.search(r"\w", _plain_cell(cell))]
    filled = {
        *told,
        *(number for number in cited if _plain_cell(cells[number]).strip()),
    }  # a dash with ids says something
    behind = _ROW_IDS.search(line)
    if own_rows and not cited:
        if not told[1:] or any(_MARKED.search(cell) for cell in cells):
            return None
        raw = re.sub(r"(?:\s*\|)+\s*$", "", line.strip().removeprefix("|")).strip()
        about = " | ".join(name for name in header if name)
        own = _reckoned(CitedSentence(raw, (), at, at + len(line), "cell", raw, context=about))
        return own if own.role == "computed" else own._replace(role="inference")
    if not behind and (len(cited) != 1 or len(filled) <= _FEW_CELLS or cited[0] < told[-1]):
        return None
    bare, _places, citations = lift(line)
    ids = tuple(dict.fromkeys(key for _at, keys, _end in citations for key in keys))
    raw = re.sub(r"(?:\s*\|)+\s*$", "", bare.strip().removeprefix("|")).strip()
    if len(header) == len(cells) and cited == [len(cells) - 1] and not _plain_cell(cells[-1]).strip():
        raw += " |"  # a column of its own for the ids
    about = " | ".join(name for name in header if name)
    return _reckoned(CitedSentence(raw, ids, at, at + len(line), "cell", raw, context=about))


_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.])")


def without_general_cells(row: str) -> tuple[str, list[str]]:
    """Return a row with a dash in place of its cells of general knowledge (†), and these cells.

    A version in its first cell goes with them: it is what they are about ("the same, 3.14 | an error †").
    """
    cells = _BAR.split(row)
    general = [cell.strip() for cell in cells if _MARKED.search(cell)]
    if len(cells) < 2 or not general:
        return row, []
    cells[0] = _VERSION.sub(_EMPTY_CELL, cells[0])
    return "|".join(f" {_EMPTY_CELL} " if _MARKED.search(cell) else cell for cell in cells), general


def _cells(line: str) -> list[str]:
    return _BAR.split(_LAST_BAR.sub("", line.strip().removeprefix("|")))


def _plain_cell(cell: str) -> str:
    for start, end, _ids in reversed(list(groups(cell))):
        cell = cell[:start] + cell[end:]
    return re.sub(r"[*`]|(?<!\w)_+|_+(?!\w)", "", without_links(cell))


def _read_row(draft: Draft, at: int, cells: list[str], header: list[str], *, is_head: bool) -> Iterator[str | int]:
    """The cells of a row: literals, or the numbers of the sentences they became."""
    ids_of = [tuple(dict.fromkeys(key for _s, _e, ids in groups(cell) for key in ids)) for cell in cells]
    row_ids = tuple(dict.fromkeys(key for ids in ids_of for key in ids))
    subject = _plain_cell(cells[0]) if cells else ""
    # A first column names what the others speak of; alone it is a statement like any other.
    names_row = any(re.search(r"\w", _plain_cell(cell)) for cell in cells[1:]) or bool(row_ids)
    end = at + sum(len(cell) + 1 for cell in cells)
    for column, (cell, ids) in enumerate(zip(cells, ids_of, strict=True)):
        clean = lift(cell)[0].strip()
        text = without_links(clean)
        if not re.search(r"\w", text) or (not ids and (is_head or (column == 0 and names_row))):
            # A column that only holds ids has given them to its row.
            yield text
            continue
        about = " ".join(filter(None, (subject if column else "", *header[column : column + 1])))
        read = CitedSentence(text, ids, at, end, "cell", clean, row_ids, about)
        is_general = _MARKED.search(text) and not ids
        draft.sentences.append(read._replace(role="background", near=()) if is_general else _reckoned(read))
        yield len(draft.sentences) - 1
