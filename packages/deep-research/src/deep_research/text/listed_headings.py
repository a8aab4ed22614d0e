"""Headings of unmarked text (of search services), by the contents list above."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

_FEWEST = 4  # entries of the shortest list of contents
_BEGINNING = 400  # lines at the beginning among which it stands, and its length at most
_MISSES = 2  # lines in a row within a list of contents that name no heading: a label, a part that was not sent
_LONGEST, _LONGEST_LINE = 90, 360  # characters of a heading, and of a line that names one and its page behind dots
_TOLD = 40  # characters of a line below a heading that says something
_MOSTLY = 0.6  # of the headings have text below: a menu that stands in two places is no list of contents
_REACH = 3  # a third of the text is above the last heading: else a chapter's list was taken for that of the book
_MENU, _MENU_LINES = 60, 6  # how long the lines before the contents are, and how many, that are a menu
_NUMBER = re.compile(r"(?P<number>\d++(?:\.\d++)*+)\.?\s++(?=\S)")
_BULLET = re.compile(r"^[-*+•►▸]\s*")
_BEHIND = re.compile(
    r"(?<![.\s])\s*+(?:\.\s*+){3,}+\d*+$|(?:(?<!\s)\s++)?\[[^\]]{1,10}\]$|Toggle .{1,80} subsection$", re.IGNORECASE
)
_MARKED = re.compile(r"^#{1,6} \S", re.MULTILINE)
_ENDS = re.compile(r"[.!?:;,。！？：；，、]$")


class ListedHeadings(NamedTuple):
    """Line numbers of a contents list and menu to skip, and heading levels by line."""

    skipped: frozenset[int]
    levels: dict[int, int]


_NONE = ListedHeadings(frozenset(), {})


def listed_headings(lines: Sequence[str]) -> ListedHeadings:
    """Return the headings named in the contents list at the beginning of a text.

    They come in its order, each on a line of its own further down, with text below most of them.
    """
    told = [n for n, line in enumerate(lines) if line.strip()]
    keys = [_key(lines[n]) for n in told]
    places: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        if key:
            places[key].append(place)
    for begin in range(min(_BEGINNING, len(told))):
        found = _numbered(_contents(begin, keys, places), [lines[n] for n in told])
        if len(found) < _FEWEST:
            continue
        entries, headings = zip(*found, strict=True)
        if headings[0] > entries[-1] and headings[-1] * _REACH > len(told) and _have_text(headings, told, lines):
            return _skipping(told, entries, headings, lines)
    return _NONE


def with_marked_headings(text: str) -> str:
    """Mark the headings of a contents list in Markdown without any; remove the list."""
    lines = text.split("\n")
    found = listed_headings(lines) if not _MARKED.search(text) else _NONE
    return "\n".join(
        f"{'#' * found.levels[n]} {line.strip()}\n" if n in found.levels else line
        for n, line in enumerate(lines)
        if n not in found.skipped
    )


def _contents(begin: int, keys: Sequence[str], places: dict[str, list[int]]) -> list[tuple[int, int]]:
    """Return the entries of a contents list from `begin` on, with their headings."""
    found: list[tuple[int, int]] = []
    last, misses = begin, 0
    for place in range(begin, min(begin + _BEGINNING, len(keys))):
        if found and place >= found[0][1]:
            break
        others = places.get(keys[place], [])
        behind = bisect_right(others, max(last, place))
        if behind < len(others):
            heading = others[behind]
            found.append((place, heading))
            last, misses = heading, 0
        elif not found or misses == _MISSES or not keys[place]:
            break
        else:
            misses += 1
    return found


def _numbered(found: list[tuple[int, int]], told: Sequence[str]) -> list[tuple[int, int]]:
    """Return the numbered entries if most have numbers; the others are of the menu."""
    numbered = [pair for pair in found if _NUMBER.match(_BULLET.sub("", told[pair[0]].strip()))]
    return numbered if len(numbered) >= _MOSTLY * len(found) else found


def _have_text(headings: Sequence[int], told: Sequence[int], lines: Sequence[str]) -> bool:
    bounds = zip(headings, [*headings[1:], len(told)], strict=True)
    below = [any(len(lines[told[n]].strip()) >= _TOLD for n in range(first + 1, end)) for first, end in bounds]
    return sum(below) >= _MOSTLY * len(below)


def _skipping(
    told: Sequence[int], entries: Sequence[int], headings: Sequence[int], lines: Sequence[str]
) -> ListedHeadings:
    above = range(entries[0])
    menu = [n for n in above if len(lines[told[n]].strip()) <= _MENU and not _ENDS.search(lines[told[n]].strip())]
    end = entries[-1] + 1
    while end < headings[0] and _NUMBER.match(_BULLET.sub("", lines[told[end]].strip())) and _key(lines[told[end]]):
        end += 1  # of a text that was sent in part
    label = above[-1:] if len(above) > 1 and above[-1] in menu else ()  # its name ("Contents")
    skipped = {*range(entries[0], end), *(menu if len(menu) >= _MENU_LINES else label)}
    # In a list with numbers they tell the depth, also where the headings themselves have none.
    numbers = [_NUMBER.match(_BULLET.sub("", lines[told[entry]].strip())) for entry in entries]
    depths = [number["number"].count(".") + 1 if number else 1 for number in numbers]
    levels = {told[heading]: depth + 1 for depth, heading in zip(depths, headings, strict=True)}
    return ListedHeadings(frozenset(told[n] for n in skipped), levels)


def _key(line: str) -> str:
    """Return the heading name in a line, without number and marks; "" for no name."""
    line = line.strip()
    if len(line) > _LONGEST_LINE:
        return ""
    plain = _BEHIND.sub("", _BEHIND.sub("", _BULLET.sub("", line)))
    plain = plain[number.end() :] if (number := _NUMBER.match(plain)) else plain
    name = " ".join(plain.casefold().split())
    return name if 1 < len(name) <= _LONGEST and not _ENDS.search(name) else ""
