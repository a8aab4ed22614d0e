"""Blocks as draft Markdown: verbatim sentences, items, rows and code, each with the id of the passage it stands in."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby

from deep_research.reasoners.extractive.block_ranking import Candidate, Region
from deep_research.text.cleaning import plain_heading
from deep_research.text.quotable_blocks import announces, standing
from deep_research.text.sentences import ITEM_MARKER
from deep_research.verification.citations import cite_ids

_LABEL_CHARS, _LABEL_WORDS = 78, 8


def quoted(candidates: Sequence[Candidate], *, below: str = "", labelled: bool = True) -> str:
    """Return blocks as draft Markdown in this order, each below a label that says where it stands.

    The label is left out where the heading `below` which they stand says it. Blocks of one place are joined in the order of the text, so that rows of a table share their header.
    """
    parts: list[str] = []
    last = plain_heading(below).casefold()
    places: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        places[candidate.region.source, candidate.heading].append(candidate)
    for same in places.values():
        label = label_of(same[0])
        parts += [f"**{label}**"] if labelled and label and label.casefold() != last else []
        last = label.casefold()
        atoms = {}
        for candidate in same:
            atoms.update({(id(candidate.region), n): (candidate.region, n) for n in candidate.block.atoms})
        for region, numbers in _by_region(list(atoms.values())):
            parts += _atoms(region, numbers)
    return "\n\n".join(parts)


def first_sentence(candidate: Candidate) -> str:
    """Return the first sentence of a block with its citation; "" where it begins with something else."""
    return cited_sentences(candidate, 1)


def cited_sentences(candidate: Candidate, chars: int, begins: Callable[[str], bool] = bool) -> str:
    """Return sentences of a block on one line, from the first that `begins` lets through: as many as fit into `chars`
    but at least one, each with its citation; "" where there is none, or it is something else than a sentence."""
    region, outlined = candidate.region, candidate.region.outline
    chosen: list[str] = []
    last = 0
    numbers = candidate.block.atoms
    numbers = [n for n in numbers if not _is_caption(region, n)]
    start = next((i for i, n in enumerate(numbers) if begins(outlined.of(n))), len(numbers))
    for number in standing(outlined, numbers[start:], numbers) if start < len(numbers) else ():
        text = outlined.of(number)
        if outlined.atoms[number].kind not in ("prose", "item") or "|" in text:
            break
        if chosen and number != last + 1:
            break  # what was left out between them would make them one false quotation
        if chosen and len(" ".join([*chosen, text])) > chars:
            break
        last = number
        chosen.append(f"{text} {_ids(region, number)}")
    while chosen and announces(outlined.of(last)):
        chosen.pop()
        last -= 1
    return " ".join(chosen)


def _is_caption(region: Region, atom: int) -> bool:
    """Return whether an atom stands right above a table: it names that, and says nothing by itself."""
    following = region.outline.atoms[atom + 1 : atom + 2]
    return region.outline.atoms[atom].kind == "prose" and any(each.kind in ("header", "row") for each in following)


def _by_region(atoms: Sequence[tuple[Region, int]]) -> list[tuple[Region, list[int]]]:
    found: dict[int, tuple[Region, list[int]]] = {}
    for region, number in atoms:
        found.setdefault(id(region), (region, []))[1].append(number)
    return [(region, sorted(numbers)) for region, numbers in found.values()]


def label_of(candidate: Candidate) -> str:
    """Return where a block stands, in few words: its nearest heading, or the title of its document."""
    path = [part for part in candidate.heading.split(" > ") if part]
    label = plain_heading((path or [candidate.region.title])[-1])
    words = " ".join(label.replace("*", "").split()).split(" ")[:_LABEL_WORDS]
    while len(words) > 1 and len(" ".join(words)) > _LABEL_CHARS:
        words.pop()
    return " ".join(words)[:_LABEL_CHARS].rstrip(" .:：,，")


def _atoms(region: Region, numbers: Sequence[int]) -> list[str]:
    """Return the atoms of one region as Markdown blocks: paragraphs, lists, tables, code."""
    blocks: list[str] = []
    atoms = region.outline.atoms
    previous = ""
    for _, group in groupby(numbers, key=lambda n: atoms[n].unit):
        unit = list(group)
        kind = atoms[unit[0]].kind
        if kind in ("header", "row"):
            text = _table(region, unit)
        elif kind == "code":
            text = f"{region.outline.of(unit[0])}\n\n{_ids(region, unit[0])}"
        else:
            text = _flowing(region, unit)
            text = f"{_marker(region, unit[0])}{text}" if kind == "item" else text
        if kind == "item" and previous == "item":
            blocks[-1] += f"\n{text}"
        else:
            blocks.append(text)
        previous = kind
    return blocks


def _flowing(region: Region, unit: Sequence[int]) -> str:
    """Sentences that follow each other, cited once for each passage."""
    ids = [_ids(region, n) for n in unit]
    said = [region.outline.of(n) for n in unit]
    last = [i + 1 == len(unit) or ids[i] != ids[i + 1] for i in range(len(unit))]
    return " ".join(f"{text} {key}" if end else text for text, key, end in zip(said, ids, last, strict=True))


def _ids(region: Region, atom: int) -> str:
    return cite_ids([region.passage(atom).id])


def _marker(region: Region, atom: int) -> str:
    """Return the marker of the item that begins with this atom, indented; a bullet where it begins elsewhere."""
    found = region.outline.atoms[atom]
    line = region.outline.text.rfind("\n", 0, found.start) + 1
    marker = ITEM_MARKER.fullmatch(region.outline.text, line, found.start)
    return marker.group().lstrip("\n") if marker else "- "


def _table(region: Region, unit: Sequence[int]) -> str:
    """Return the header and rows of a table; a row cites behind its last cell, which makes it one claim, and the passage of
    the header too where that is another one."""
    atoms = region.outline.atoms
    every = [n for n in range(len(atoms)) if atoms[n].unit == atoms[unit[0]].unit]
    heads = [n for n in every if atoms[n].kind == "header"][:1]
    header = [region.outline.of(n) for n in heads]
    rows = [n for n in unit if atoms[n].kind == "row"]
    columns = _columns(region.outline.of((heads or rows or unit)[0]))
    head = header or [f"|{' |' * columns}"]
    above = [region.passage(n).id for n in heads]
    cited = [cite_ids(list(dict.fromkeys([region.passage(n).id, *above]))) for n in rows]
    told = (f"{region.outline.of(n)} {ids}" for n, ids in zip(rows, cited, strict=True))
    return "\n".join([*head, f"|{' --- |' * columns}", *told])


def _columns(row: str) -> int:
    return max(1, len(re.findall(r"(?<!\\)\|", row)) - 1)
