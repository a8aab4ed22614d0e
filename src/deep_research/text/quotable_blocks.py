"""Blocks of a text that can be quoted alone: paragraphs, lists with their lead-in, table rows under their header.

The text is light Markdown as readers produce it. It is cut into atoms (a sentence, a table row, a piece of code),
and a block is a run of atoms: what is quoted is always a slice of the text at the atoms' offsets. No block crosses
a heading. A block never begins with a sentence that points back at one left out, and never ends before one that
points back at it ("However, …", "This form …"), where both stand in the same paragraph.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from deep_research.i18n.lexicon import any_word, words
from deep_research.text.contents_lists import without_contents
from deep_research.text.page_noise import gives_orders
from deep_research.text.sentences import ITEM_MARKER, Block, blocks, sentences
from deep_research.text.tokens import STOP_WORDS

AtomKind = Literal["prose", "item", "row", "header", "code"]
Kind = Literal["paragraph", "item", "list", "row", "table", "code", "run"]

PARAGRAPH_CHARS = 700
"""A longer paragraph is offered in runs of sentences of at most `RUN_CHARS`."""
RUN_CHARS = 560
SECTION_CHARS = 800
"""Neighbouring paragraphs, items, tables and code are offered together up to this length."""
LIST_CHARS = 900
"""Of a longer list only the first sentence of each outer item is quoted."""
_CAPTION_CHARS, _POINTER_CHARS, _NAME_CHARS = 160, 140, 60

_SEPARATOR = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_ENTRY_KEY = re.compile(r"[^:：\n]{1,80}[:：](?=\s|$|[^\x00-\x7f])")
_NAMED_ENTRY = re.compile(r"[\w.$-]+(?: ?\([^)\n]*\))?[:：]\s")
"""How an entry begins that tells of a name in code: a setting, a function, an option."""
_ENDS = re.compile(r"[.!?。！？]\W*$")
_LABEL = re.compile(
    r"[A-Za-z][\w'-]*(?: [\w'-]+){0,3}:|[A-Za-z][\w'-]*|[A-Za-z][\w'-]*(?: [\w'-]+)? [a-z][\w'-]*(?: [\w'-]+)?"
)
"""What stands above something else: one word, a word with a small one behind it, or what ends in a colon; names stay."""
_CAPTION = re.compile(r"[A-Z][a-z]+ (?:[A-Z]\.)?\d+[.-]\d+\. [^.]{1,80}")
"""What is said above a table: "Table 13.1. Transaction Isolation Levels"."""
_NUMBERED = re.compile(any_word("document.table_words") + r"\s?(?:[A-Z]\.)?\d+(?:[.-]\d+)*")
"""What a table is called by where it is spoken of: "Table 13.1", "表 3"."""
_NOTE_LABELS = frozenset(words("quoting.note_labels"))
_GOES_ON = re.compile(r"[;；](?:\s*(?:and|or))?\s*$")
"""What an item ends with that is a piece of the sentence its list makes."""
_LEADS_ON = re.compile(r"[:：]\s*$")


class Atom(NamedTuple):
    """The smallest thing that is quoted whole, at `text[start:end]`; `unit` numbers its paragraph, item or table.

    `depth` is the indentation of a list item; `numbered` says that its list is.
    """

    kind: AtomKind
    start: int
    end: int
    unit: int
    depth: int = 0
    numbered: bool = False


class QuotableBlock(NamedTuple):
    """A stretch of text that can stand alone: the numbers of its atoms, in order; a long list leaves some out."""

    kind: Kind
    atoms: tuple[int, ...]


class Outline(NamedTuple):
    """The atoms of a text, and which of them stand under the same heading (their numbers, section by section)."""

    text: str
    atoms: tuple[Atom, ...]
    sections: tuple[tuple[int, ...], ...]

    def of(self, number: int) -> str:
        """Return the text of an atom, white space folded unless it is code."""
        atom = self.atoms[number]
        text = self.text[atom.start : atom.end]
        return text if atom.kind == "code" else " ".join(text.split())

    def length(self, numbers: Sequence[int]) -> int:
        """Return how many characters these atoms have together."""
        return sum(self.atoms[n].end - self.atoms[n].start for n in numbers)


def outline(text: str) -> Outline:
    """Cut `text` into atoms."""
    atoms: list[Atom] = []
    sections: list[list[int]] = [[]]
    unit = 0
    found_blocks = list(blocks(text))
    for place, block in enumerate(found_blocks):
        if block.kind == "heading":
            sections.append([])
            continue
        found = list(_atoms(text, block, unit))
        if _is_caption(block, found_blocks[place + 1 : place + 2]):
            found = [Atom("prose", found[0].start, found[-1].end, unit)] if found else []
        if block.kind == "item" and found and not ITEM_MARKER.match(text, block.start) and atoms:
            # A wrapped line goes on with the item before it.
            last = atoms[-1]
            found = [atom._replace(unit=last.unit, depth=last.depth, numbered=last.numbered) for atom in found]
        sections[-1].extend(range(len(atoms), len(atoms) + len(found)))
        atoms.extend(found)
        unit += 1
    return Outline(text, tuple(atoms), tuple(tuple(section) for section in sections if section))


def _is_caption(block: Block, following: Sequence[Block]) -> bool:
    above = bool(following) and following[0].kind == "table"
    return above and block.kind == "prose" and block.end - block.start <= _CAPTION_CHARS


def _atoms(text: str, block: Block, unit: int) -> Iterator[Atom]:
    if block.kind == "table":
        yield from _rows(text, block, unit)
    elif block.kind == "code":
        yield Atom("code", block.start, block.end, unit)
    elif block.kind == "prose" and (lines := _key_lines(text, block)):
        yield from (Atom("prose", start, end, unit) for start, end in lines)
    else:
        marker = ITEM_MARKER.match(text, block.start, block.end) if block.kind == "item" else None
        depth = marker.group().find(marker.group().strip()) if marker else 0
        numbered = bool(marker and marker["number"])
        for found in sentences(text[block.start : block.end]):
            kind: AtomKind = "item" if block.kind == "item" else "prose"
            yield Atom(kind, block.start + found.start, block.start + found.end, unit, depth, numbered)


def _rows(text: str, block: Block, unit: int) -> Iterator[Atom]:
    position = block.start
    lines: list[tuple[int, int]] = []
    for line in text[block.start : block.end].split("\n"):
        lines.append((position, position + len(line)))
        position += len(line) + 1
    separator = next((n for n, (a, b) in enumerate(lines) if _SEPARATOR.match(text[a:b])), -1)
    for number, (start, end) in enumerate(lines):
        if number != separator and re.search(r"\w", text[start:end]):
            yield Atom("header" if number < separator else "row", start, end, unit)


def _key_lines(text: str, block: Block) -> list[tuple[int, int]]:
    """Return the lines of a paragraph if each is a key with its value ("Date: 5 March"), else none."""
    spans = [(m.start(), m.end()) for m in re.finditer(r"[^\n]*\S[^\n]*", text[block.start : block.end])]
    lines = [(block.start + start, block.start + end) for start, end in spans]
    keyed = all(_ENTRY_KEY.match(text[start:end]) for start, end in lines)
    return lines if len(lines) > 1 and keyed else []


def is_record(outlined: Outline, block: QuotableBlock) -> bool:
    """Return whether a block holds nothing but lines of a key with its value ("Published: 2022-11")."""
    return all(
        outlined.atoms[n].kind == "prose" and _ENTRY_KEY.match(outlined.of(n)) and not _ENDS.search(outlined.of(n))
        for n in block.atoms
    )


def quotable_blocks(outlined: Outline) -> list[QuotableBlock]:
    """Return what can be quoted of a text, each block once."""
    found: dict[tuple[int, ...], QuotableBlock] = {}
    for section in outlined.sections:
        units = [list(group) for _, group in groupby(section, key=lambda n: outlined.atoms[n].unit)]
        # A paragraph that orders its reader about is quoted in no part, nor are contents.
        texts = [_text_of(outlined, unit) for unit in units]
        units = [units[n] for n in without_contents(texts) if not gives_orders(texts[n])]
        units = [u for place, u in enumerate(units) if len(units) == 1 or not _is_stub(outlined, units, place)]
        for block in _of_section(outlined, units):
            found.setdefault(block.atoms, block)
    return list(found.values())


def _is_stub(outlined: Outline, units: Sequence[Sequence[int]], place: int) -> bool:
    """Return whether a paragraph is a label ("Note:", "Reference") or a caption without what it names behind it, or only says
    where something stands ("See Section 5 for details.")."""
    text = " ".join(_text_of(outlined, units[place]).split())
    if len(units[place]) == 1 and len(text) <= _POINTER_CHARS and (_POINTER.match(text) or text in _NOTE_LABELS):
        return True
    following = [outlined.atoms[unit[0]].kind for unit in units[place + 1 : place + 2]]
    if outlined.atoms[units[place][0]].kind != "prose" or not text.isascii() or following not in ([], ["prose"]):
        return False
    return _LABEL.fullmatch(text) is not None or _CAPTION.fullmatch(text) is not None


def _is_lead(outlined: Outline, units: Sequence[Sequence[int]], place: int) -> bool:
    """Return whether a paragraph only announces the one behind it ("It may be called in these ways:"), or is the caption of
    what follows: it is quoted with that."""
    unit = units[place]
    if len(unit) > 1 or outlined.atoms[unit[0]].kind != "prose":
        return False
    return announces(outlined.of(unit[0])) or _CAPTION.fullmatch(outlined.of(unit[0])) is not None


def _goes_on(outlined: Outline, units: Sequence[Sequence[int]], place: int) -> bool:
    """Return whether a paragraph goes on with a sentence that a piece of code or a table interrupts ("which prints 3.")."""
    first = outlined.atoms[units[place][0]]
    if not place or first.kind != "prose" or outlined.atoms[units[place - 1][0]].kind not in ("code", "row", "header"):
        return False
    return outlined.of(units[place][0]).split(" ", 1)[0] in STOP_WORDS


def _text_of(outlined: Outline, unit: Sequence[int]) -> str:
    return outlined.text[outlined.atoms[unit[0]].start : outlined.atoms[unit[-1]].end]


def _of_section(outlined: Outline, units: list[list[int]]) -> Iterator[QuotableBlock]:
    for place, unit in enumerate(units):
        first = outlined.atoms[unit[0]]
        if first.kind in ("row", "header"):
            yield from _of_table(outlined, units, place)
        elif first.kind == "code":
            yield QuotableBlock("code", (*_lead_in(outlined, units, place), *unit))
        elif first.kind == "item":
            yield from _of_item(outlined, units, place)
        elif not _goes_on(outlined, units, place) and not _is_lead(outlined, units, place):
            own = _without_lead(outlined, unit, units[place + 1 : place + 2])
            if entry := _entry_around(outlined, units, place):
                yield from (QuotableBlock("item", (*entry, *b.atoms)) for b in _of_prose(outlined, own, "item"))
            else:
                yield from _of_prose(outlined, own, "paragraph")
    yield from _lists(outlined, units)
    yield from _runs(outlined, units)


def _entry_around(outlined: Outline, units: Sequence[Sequence[int]], place: int) -> tuple[int, ...]:
    """Return how the entry of a list of names begins that a paragraph belongs to, being between it and the next entry: alone
    the paragraph would say it of nobody ("huge_page_size: …", "It is supported only on Linux.", "temp_buffers: …")."""
    above = next((u for u in reversed(units[:place]) if outlined.atoms[u[0]].kind not in ("prose", "code")), None)
    below = next((u for u in units[place + 1 :] if outlined.atoms[u[0]].kind not in ("prose", "code")), None)
    both = all(
        u and outlined.atoms[u[0]].kind == "item" and _NAMED_ENTRY.match(outlined.of(u[0])) for u in (above, below)
    )
    return (above[0],) if both and above and outlined.length(above[:1]) <= _CAPTION_CHARS else ()


def _of_prose(outlined: Outline, unit: Sequence[int], kind: Kind) -> Iterator[QuotableBlock]:
    """Return a paragraph or item, or its runs of sentences where it is long."""
    if not unit:
        return
    if outlined.length(unit) <= PARAGRAPH_CHARS:
        yield QuotableBlock(kind, tuple(unit))
        return
    reached = -1
    for first in range(len(unit)):
        last = first
        while last + 1 < len(unit) and outlined.length(unit[first : last + 2]) <= RUN_CHARS:
            last += 1
        if last > reached:
            reached = last
            yield QuotableBlock(kind, standing(outlined, unit[first : last + 1], unit))


def _is_title(outlined: Outline, unit: Sequence[int], following: Sequence[Sequence[int]]) -> bool:
    """Return whether an item is only the name of what the paragraph behind it tells ("- High-volume websites")."""
    told = bool(following) and outlined.atoms[following[0][0]].kind == "prose"
    return told and len(unit) == 1 and outlined.atoms[unit[0]].kind == "item" and not is_sentence(outlined.of(unit[0]))


def _without_lead(outlined: Outline, unit: list[int], following: Sequence[Sequence[int]]) -> list[int]:
    """Return a paragraph without its last sentence where that only announces what comes next ("The steps are:")."""
    is_followed = following and outlined.atoms[following[0][0]].kind != "prose"
    return unit[:-1] if is_followed and announces(outlined.of(unit[-1])) else unit


def standing(outlined: Outline, chosen: Sequence[int], within: Sequence[int]) -> tuple[int, ...]:
    """Return `chosen` (a run of `within`) lengthened until it neither points back nor is pointed back at."""
    first, last = within.index(chosen[0]), within.index(chosen[-1])
    while first > 0 and points_back(outlined.of(within[first])):
        first -= 1
    while last + 1 < len(within) and points_back(outlined.of(within[last + 1])):
        last += 1
    return tuple(within[first : last + 1])


def _of_item(outlined: Outline, units: list[list[int]], place: int) -> Iterator[QuotableBlock]:
    """Return an item by itself, or with the paragraph behind it that it only names, and with all the paragraphs, code and
    deeper items that belong to it."""
    own, end = units[place], _item_end(outlined, units, place)
    lead = () if _ENTRY_KEY.match(outlined.of(own[0])) else _list_lead(outlined, units, place)
    # The last of several names in a row ends a list; the paragraph behind it is not about it.
    is_last = place > 0 and outlined.atoms[units[place - 1][0]].kind == "item"
    if not is_last and _is_title(outlined, own, units[place + 1 : place + 2]):
        own = [*own, *units[place + 1]]
        place += 1
    if not _GOES_ON.search(outlined.of(own[-1])):
        yield from (QuotableBlock("item", (*lead, *block.atoms)) for block in _of_prose(outlined, own, "item"))
    more = [n for unit in units[place + 1 : end] for n in unit]
    if more and outlined.length([*own, *more]) <= SECTION_CHARS:
        yield QuotableBlock("item", (*lead, *own, *more))


def _list_lead(outlined: Outline, units: list[list[int]], place: int) -> tuple[int, ...]:
    """Return what announces the list of an item ("It is refused if:"), without which the item may say the opposite; nothing
    where that is long."""
    depth = outlined.atoms[units[place][0]].depth
    first = place
    while first and (before := outlined.atoms[units[first - 1][0]]).kind == "item" and before.depth >= depth:
        first -= 1
    lead = _lead_in(outlined, units, first)
    announced = lead and outlined.atoms[lead[-1]].kind == "prose" and announces(outlined.of(lead[-1]))
    return lead if announced and outlined.length(lead) <= _CAPTION_CHARS else ()


def _item_end(outlined: Outline, units: list[list[int]], place: int) -> int:
    """Where the next item of the same list begins, or where the list ends: what stands between belongs to the item."""
    depth = outlined.atoms[units[place][0]].depth
    end = place + 1
    for number in range(place + 1, len(units)):
        atom = outlined.atoms[units[number][0]]
        if atom.kind == "item" and atom.depth <= depth:
            return number if atom.depth == depth else end
        if atom.kind == "item":
            end = number + 1
    return end


def _lead_in(outlined: Outline, units: list[list[int]], place: int) -> tuple[int, ...]:
    """Return the sentence that announces what begins at `place`, with those that it points back at."""
    if place == 0:
        return ()
    before = units[place - 1]
    if outlined.atoms[before[-1]].kind not in ("prose", "item"):
        return ()
    if not announces(outlined.of(before[-1])) and outlined.atoms[before[-1]].kind == "item":
        return ()
    return standing(outlined, before[-1:], before)


def _lists(outlined: Outline, units: list[list[int]]) -> Iterator[QuotableBlock]:
    """Whole lists with their lead-in; of a long one the first sentence of each outer item."""
    place = 0
    while place < len(units):
        first = outlined.atoms[units[place][0]]
        if first.kind != "item":
            place += 1
            continue
        end, outer = place, []
        while end < len(units) and outlined.atoms[units[end][0]].kind == "item":
            if end > place and _begins_list(outlined, outlined.atoms[units[end][0]], first):
                break
            outer += [end] if outlined.atoms[units[end][0]].depth <= first.depth else []
            following = _item_end(outlined, units, end)
            if following > end + 1 and _is_lead(outlined, units, following - 1):
                end += 1  # what is announced behind it is another list
                break
            end = following if following < len(units) or end + 1 == len(units) else max(end + 1, following)
        lead = _lead_in(outlined, units, place)
        whole = [n for unit in units[place:end] for n in unit]
        if len(outer) > 1 and outlined.length(whole) <= LIST_CHARS:
            yield QuotableBlock("list", (*lead, *whole))
        elif len(outer) > 1:
            shortened = tuple(units[number][0] for number in outer)
            if outlined.length(shortened) <= 2 * LIST_CHARS:
                yield QuotableBlock("list", (*lead, *shortened))
        place = max(end, place + 1)


def _begins_list(outlined: Outline, item: Atom, first: Atom) -> bool:
    """Return whether an item belongs to another list than `first` before it: bullets and numbers, or the number 1 again."""
    if item.depth > first.depth:
        return False
    marker = outlined.text[outlined.text.rfind("\n", 0, item.start) + 1 : item.start].strip()
    return item.numbered != first.numbered or (item.numbered and marker.rstrip(".)") == "1")


def _of_table(outlined: Outline, units: list[list[int]], place: int) -> Iterator[QuotableBlock]:
    """Each row under the header, and a small table whole; both with the caption."""
    head = tuple(n for n in units[place] if outlined.atoms[n].kind == "header")
    rows = [n for n in units[place] if outlined.atoms[n].kind == "row"]
    caption = units[place - 1] if place else []
    said = caption and outlined.atoms[caption[0]].kind == "prose" and outlined.length(caption) <= _CAPTION_CHARS
    above = (*caption, *head) if said else head
    for row in rows:
        yield QuotableBlock("row", (*above, row))
    if len(rows) > 1 and outlined.length([*above, *rows]) <= SECTION_CHARS:
        yield QuotableBlock("table", (*above, *rows))


def _runs(outlined: Outline, units: list[list[int]]) -> Iterator[QuotableBlock]:
    """Neighbouring units of one section together, none beginning inside a list."""
    for place, unit in enumerate(units):
        kind = outlined.atoms[unit[0]].kind
        inside = kind == "item" and place and outlined.atoms[units[place - 1][0]].kind == "item"
        # Code says nothing without what announces it, which stands before it.
        if inside or (kind == "code" and place) or _goes_on(outlined, units, place):
            continue
        if kind == "prose" and _entry_around(outlined, units, place):
            continue
        end = place + 1
        while end < len(units) and outlined.length([n for u in units[place : end + 1] for n in u]) <= SECTION_CHARS:
            end += 1
        while end - place > 1 and _is_title(outlined, units[end - 1], units[end : end + 1]):
            end -= 1
        whole = [*units[place : end - 1], _without_lead(outlined, units[end - 1], units[end : end + 1])]
        chosen = whole_end(outlined, [n for u in whole for n in u])
        if end - place > 1 and chosen:
            yield QuotableBlock("run", standing(outlined, chosen, chosen))


def annotates(text: str) -> bool:
    """Return whether a paragraph only stands beside a text: since when a thing is there, where its code is, a footnote."""
    return _ANNOTATES.match(text) is not None


def with_told_titles(outlined: Outline, block: QuotableBlock, chars: int) -> QuotableBlock:
    """Return a list whose items are only names with the first sentence of what stands behind each ("- Websites" and what it
    says of them), as far as it has `chars` characters; any other block as it is."""
    section = next(s for s in outlined.sections if block.atoms[0] in s)
    units = [list(group) for _, group in groupby(section, key=lambda n: outlined.atoms[n].unit)]
    titles = [
        place
        for place, unit in enumerate(units[:-1])
        if unit[0] in block.atoms and _is_title(outlined, unit, units[place + 1 : place + 2])
    ]
    behind = [units[place + 1] for place in titles]
    told = [n for unit in behind if unit[0] not in block.atoms for n in standing(outlined, unit[:1], unit)]
    numbers = tuple(sorted({*block.atoms, *told}))
    # What follows the last item alone belongs to the whole list.
    return QuotableBlock(block.kind, numbers) if len(titles) > 1 and outlined.length(numbers) <= chars else block


def telling_units(outlined: Outline, units: Sequence[Sequence[int]], kept: Collection[int]) -> list[Sequence[int]]:
    """Return the paragraphs, items and tables around a quotation that tell something: none that says since when a thing is
    there, and no list of names that nothing announces, with its label; what holds one of the atoms `kept` stays."""
    bare: set[int] = set()
    for is_list, group in groupby(range(len(units)), key=lambda p: outlined.atoms[units[p][0]].kind == "item"):
        places = list(group)
        above = units[places[0] - 1] if places[0] else ()
        named = is_list and all(len(units[p]) == 1 and _is_name(outlined.of(units[p][0])) for p in places)
        if (
            named
            and not (above and announces(outlined.of(above[-1])))
            and not any(set(units[p]) & {*kept} for p in places)
        ):
            labelled = len(above) == 1 and _is_name(outlined.of(above[0])) and above[0] not in kept
            bare |= {*places, *([places[0] - 1] if labelled else [])}
    return [
        unit
        for place, unit in enumerate(units)
        if place not in bare and (set(unit) & {*kept} or not annotates(outlined.of(unit[0])))
    ]


def _is_name(text: str) -> bool:
    return not is_sentence(text) and not announces(text) and len(text) <= _NAME_CHARS


def whole_end(outlined: Outline, numbers: Sequence[int]) -> list[int]:
    """Return atoms without a last sentence that announces or names what is not among them ("The steps are:", "Table 8.1")."""
    kept = list(numbers)
    while kept and (announces(outlined.of(kept[-1])) or _CAPTION.fullmatch(outlined.of(kept[-1]))):
        kept.pop()
    return kept


_ANNOTATES = re.compile(r"[\s(（]*" + any_word("quoting.annotation_patterns") + r"|\[\d+\]\s", re.IGNORECASE)
_POINTER = re.compile(r"[\s(（]*" + any_word("quoting.pointer_patterns"), re.IGNORECASE)


def named_table(outlined: Outline, block: QuotableBlock, chars: int) -> QuotableBlock | None:
    """Return the table that a block speaks of by its number ("see Table 13.1"), where it stands under the same heading and
    has at most `chars` characters; None for none, or where the block has it."""
    section = next(s for s in outlined.sections if block.atoms[0] in s)
    named = {name for n in block.atoms for name in _NUMBERED.findall(outlined.of(n))}
    units = [list(group) for _, group in groupby(section, key=lambda n: outlined.atoms[n].unit)]
    for place, unit in enumerate(units):
        caption = _NUMBERED.match(outlined.of(units[place - 1][0])) if place else None
        if outlined.atoms[unit[0]].kind in ("header", "row") and caption and caption.group() in named:
            whole = (*units[place - 1], *unit)
            fits = outlined.length(whole) <= chars and set(whole).isdisjoint(block.atoms)
            return QuotableBlock("table", whole) if fits else None
    return None


_QUOTES = r"[\s\"'“‘(\[]*"
_POINTS_BACK = re.compile(_QUOTES + any_word("quoting.back_patterns"), re.IGNORECASE)
_TURNS = re.compile(_QUOTES + any_word("quoting.turn_patterns"), re.IGNORECASE)


def is_sentence(text: str) -> bool:
    """Return whether a text ends as a sentence does."""
    return _ENDS.search(text) is not None


def announces(sentence: str) -> bool:
    """Return whether a sentence ends in a colon: it says nothing without what comes next."""
    return _LEADS_ON.search(sentence) is not None


def points_back(sentence: str) -> bool:
    """Return whether a sentence begins with a word that points at something said before it ("This", "However")."""
    return _POINTS_BACK.match(sentence) is not None


def turns(sentence: str) -> bool:
    """Return whether a sentence limits or reverses what the one before it says ("However, …")."""
    return _TURNS.match(sentence) is not None
