"""Reference lists in foreign reports: their places, and the pages by number."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from claimcheck.lexicon import any_word
from deep_research.text.code_spans import is_within
from deep_research.text.raised_digits import RAISED_DIGITS, TO_PLAIN, TO_RAISED
from deep_research.verification.statements import is_reference_heading, plain_text

SCHEME = r"(?:https?|ftps?|file)://"
"""How addresses in a text begin; those that are not of the web are no less cited, and it is told that none is opened."""
HOST_IN_BRACKETS = r"(?:\[[\da-f:.%]{2,60}\])?+"
_URL = re.compile(
    rf"(?:{SCHEME}{HOST_IN_BRACKETS}|(?<![\w.@/])www\.)(?:(?<=\])|[^\s<>\[\]{{}}\"“”「」『』【】（）《》，。；、！？|`])"
    r"[^\s<>\[\]{}\"“”「」『』【】（）《》，。；、！？|`]*",
    re.IGNORECASE,
)
SOURCE_WORD = rf"(?:data )?{any_word('statement.citation_patterns')}"
_OPENS_EMPHASIS = re.compile(r"(?<![^\s*(（])_")
_ENTRY = re.compile(
    r"[ \t>]*(?:[-*+•][ \t]+)?(?:\*\*|__)?"
    r"(?:\\?\[\^?(?P<square>[\w.-]{1,40}|[^\[\]\n]{1,60}(?=\]:))\\?\](?P<defines>:)?|【(?P<lens>(?:\d{1,2}:)?\d{1,3})(?:†(?P<told>[^【】\n]{0,2000}))?】"
    r"|［(?P<wide>\d{1,3})］|(?P<dotted>\d{1,3})(?:[.)、．）:：]|(?=\s+https?://))|\^\[?(?P<caret>\d{1,3})\]?\^?"
    rf"|[(（](?P<round>\d{{1,3}})[)）]|(?P<sup>[{RAISED_DIGITS}]{{1,3}})|<sup>\[?(?P<raised>\d{{1,3}})\]?</sup>|\|[ \t]*\[?(?P<cell>\d{{1,3}})\]?[ \t]*\|)"
    r"(?:\*\*|__)?[.:：]?(?:\*\*|__)?[ \t]*(?P<said>[^\n]*)"
)
_WITHIN_TEXT = ("square", "lens", "wide", "caret", "sup", "raised")
"""Marks that begin entries also between paragraphs, without a heading."""
_NOTES = ("sup", "raised", "caret")
_CITED = re.compile(
    rf"(?<=[^\s|>*+•-])[ \t]*(?:(?:\\?\[\^?|【|［|\^\[?|<sup>\[?)(?P<name>\d{{1,2}}:\d{{1,3}}|\d{{1,3}})|(?P<sup>[{RAISED_DIGITS}]{{1,3}}))"
)
_LISTING = re.compile(rf"[ \t>]*[*_(（]{{0,3}}{SOURCE_WORD}[*_]{{0,2}}\s?[:：]", re.IGNORECASE)
_MEMBER = re.compile(r"(?=(?:\\?\[|【)\d{1,3}(?:\\?\]|†|】))")
_HEADING = re.compile(r"[ \t]{0,3}(?P<marks>#{1,6})[ \t]+(?P<title>[^\n]+)")
_BARE_HEADING = re.compile(
    r"[ \t]*+(?:\*\*|__)?(?P<title>[^\n*_|\[\]]{1,59}[^\s*_|\[\]:：])(?:\*\*|__)?[ \t]*+[:：]?(?:\*\*|__)?[ \t]*$"
)
_UNDERLINED = re.compile(r"[ \t]{0,3}(?:={2,}|-{2,})[ \t]*$")
_RULE = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}$|[ \t:|-]+$")
_NO_NAMES = ("said", "defines", "told")
_LEAST_ENTRIES, _LONGEST_HEADING = 2, 80


class ListedReference(NamedTuple):
    """An entry of a list: its name or number ("" for none), addresses and other text.

    `is_defined` where it is a definition of Markdown, by whose name alone a link may stand.
    """

    name: str
    urls: tuple[str, ...]
    title: str
    start: int
    is_defined: bool = False


@dataclass(frozen=True)
class ReferenceLists:
    """All entries of a report in order, and the stretches of text that they fill."""

    entries: tuple[ListedReference, ...]
    spans: tuple[tuple[int, int], ...]

    @cached_property
    def has_numbers(self) -> bool:
        """Whether any entry has a number."""
        return any(entry.name.isdigit() for entry in self.entries)

    @cached_property
    def _places(self) -> list[tuple[str, int, int]]:
        return sorted((entry.name, entry.start, number) for number, entry in enumerate(self.entries))

    def find(self, name: str, offset: int, *, is_raised: bool = False) -> ListedReference | None:
        """Return the entry of a name in the next list, else in the last list before.

        A mark that is raised means a note that begins with a raised number, where there are both.
        In a list without numbers it is that of a place: a DOCX file has them in its format, not in its text.
        """
        plain = name.strip().casefold()
        for key in (plain, plain.translate(TO_RAISED))[:: -1 if is_raised else 1]:
            after = bisect_right(self._places, (key, offset, len(self.entries)))
            for near in (*self._places[after : after + 1], *self._places[max(0, after - 1) : after]):
                if near[0] == key:
                    return self.entries[near[2]]
        place = int(name) if name.isdecimal() and not self.has_numbers else 0
        return self.entries[place - 1] if 0 < place <= len(self.entries) else None


def addresses(text: str) -> tuple[str, ...]:
    """Return the web addresses in a text, without the punctuation around them."""
    found: list[str] = []
    for match in _URL.finditer(text):
        url, end = match[0], len(match[0])
        surplus = url.count(")") - url.count("(")
        stops = stops_behind(text, match.start())
        while end and (url[end - 1] in stops or (url[end - 1] == ")" and surplus > 0)):
            surplus -= url[end - 1] == ")"
            end -= 1
        url = url[:end].split(")](")[0]
        found.append(url if "//" in url else f"https://{url}")
    return tuple(dict.fromkeys(found))


def stops_behind(text: str, start: int) -> str:
    """Return the punctuation that may follow an address at `start` in its sentence."""
    return ".,;:!?*'’_" if _OPENS_EMPHASIS.search(text, max(0, start - 200), start) else ".,;:!?*'’"


class _Line(NamedTuple):
    start: int
    end: int
    text: str


def read_lists(text: str, code: Sequence[tuple[int, int]]) -> ReferenceLists:
    """Return a report's reference lists outside `code`: headed, at its end, defined."""
    lines = [
        _Line(m.start(), m.end(), m[0])
        for m in re.finditer(r"[^\n]*(?:\n|\Z)", text)
        if m[0] and not is_within(code, m.start())
    ]
    marks = reversed(list(_CITED.finditer(text)))
    first_cited = {(mark["name"] or mark["sup"]).translate(TO_PLAIN): mark.start() for mark in marks}
    headed = list(_headed_regions(lines))
    covered = {number for first, last in headed for number in range(first, last)}
    found = _unheaded_regions(lines, first_cited, has_others=bool(headed))
    regions = [*headed, *(region for region in found if region[0] not in covered)]
    covered.update(number for first, last in regions for number in range(first, last))
    entries = [entry for first, last in regions for entry in _entries(lines[first:last])]
    spans = [(lines[first].start, lines[last - 1].end) for first, last in regions]
    for line in (line for number, line in enumerate(lines) if number not in covered):
        if told := list(_told_in_line(line, first_cited)):
            entries += told
            spans.append((line.start, line.end))
    return ReferenceLists(tuple(sorted(entries, key=lambda e: e.start)), tuple(sorted(spans)))


def _told_in_line(line: _Line, first_cited: Mapping[str, int]) -> Iterator[ListedReference]:
    """Yield entries of a single line: a definition, or "Sources: [1] …, [2] …"."""
    entry = _ENTRY.match(line.text)
    if entry and entry["square"] and entry["defines"]:
        yield from _entries([line])
    elif listing := _LISTING.match(line.text):
        listed = list(_entries([line._replace(text=line.text[listing.end() :])]))
        if all(one.urls and first_cited.get(one.name, line.start) < line.start for one in listed):
            yield from listed


def _headed_regions(lines: Sequence[_Line]) -> Iterator[tuple[int, int]]:
    """Yield the line ranges from each reference list's heading to the next heading."""
    told = ((number, *_heading(lines, number)) for number in range(len(lines)))
    headings = [*((number, level, title) for number, level, title in told if level), (len(lines), 0, "")]
    end = 0
    for place, (number, level, title) in enumerate(headings):
        if number >= end and is_reference_heading(title) and _has_entries(lines, number):
            end = next(other for other, depth, _ in islice(headings, place + 1, None) if depth <= level)
            yield number, end


def _heading(lines: Sequence[_Line], number: int) -> tuple[int, str]:
    """Return the level and title of a heading or list-like heading, else 0 and ""."""
    line = lines[number].text
    if (marked := _HEADING.match(line)) is not None:
        return len(marked["marks"]), plain_text(marked["title"].rstrip(" #\n"))
    bare = _BARE_HEADING.match(line.strip()) if len(line.strip()) <= _LONGEST_HEADING else None
    if bare is None or not is_reference_heading(bare["title"]):
        return 0, ""
    following = lines[number + 1].text if number + 1 < len(lines) else ""
    return (2 if _UNDERLINED.match(following) else 7), bare["title"]


def _has_entries(lines: Sequence[_Line], number: int) -> bool:
    """Tell whether a list follows a heading: an entry or address in its first lines."""
    following = [line.text for line in lines[number + 1 : number + 8] if line.text.strip()]
    return any(_ENTRY.match(line) or _URL.search(line) or re.match(r"\s*[-*+•] ", line) for line in following[:4])


def _unheaded_regions(
    lines: Sequence[_Line], first_cited: Mapping[str, int], *, has_others: bool
) -> Iterator[tuple[int, int]]:
    """Yield lists without a heading: lines that begin with a mark and have addresses."""
    first, names, addressed = -1, list[tuple[str, str]](), 0
    for number, line in enumerate([*(line.text for line in lines), "end"]):
        shown, is_end = line.strip(), number == len(lines)
        if not shown or _RULE.match(line.rstrip("\n")) or (first >= 0 and _URL.match(shown)):
            continue
        kind, name = _name_of(_ENTRY.match(line))
        has_address = _URL.search(line) is not None
        if name and (has_address or kind in ("square", "sup")):
            first = number if first < 0 else first
            addressed += has_address or kind == "sup"
            names.append((kind, name))
            continue
        if addressed:
            start = lines[first].start
            are_cited = all(k in _WITHIN_TEXT and first_cited.get(n, start) < start for k, n in names)
            if are_cited or (is_end and not has_others and addressed >= _LEAST_ENTRIES):
                yield first, number
        first, names, addressed = -1, [], 0


def _name_of(entry: re.Match[str] | None) -> tuple[str, str]:
    """Return the style of an entry's mark and its name; "" and "" for no entry."""
    found = entry.groupdict().items() if entry is not None else ()
    named = ((kind, said.translate(TO_PLAIN).casefold()) for kind, said in found if said and kind not in _NO_NAMES)
    return next(named, ("", ""))


def _parts(lines: Sequence[_Line]) -> Iterator[_Line]:
    """Yield the lines of a list, or the entries of lines with several, as in print."""
    for line in lines:
        parts = [part for part in _MEMBER.split(line.text) if part.strip()]
        is_several = len(parts) > 1 and all(_URL.search(part) for part in parts)
        yield from (_Line(line.start, line.end, part) for part in parts) if is_several else (line,)


def _entries(lines: Sequence[_Line]) -> Iterator[ListedReference]:
    """Yield the entries of a list; text without a mark continues the entry above."""
    name, said, start, is_defined = "", "", -1, False
    for line in _parts(lines):
        entry = _ENTRY.match(line.text)
        is_item = re.match(r"[ \t]*(?:[-*+•][ \t]|\[[^\]\n]{2,300}\]\()", line.text) is not None
        if entry is None and not is_item and said and line.text.strip() and not _HEADING.match(line.text):
            said += " " + line.text.strip()
            continue
        yield from _entry(name, said, start, is_defined=is_defined)
        name, said, start, is_defined = "", "", line.start, False
        if entry is not None:
            (kind, name), is_defined = _name_of(entry), bool(entry["defines"])
            name = name.translate(TO_RAISED) if kind in _NOTES else name
            # A link may be the number itself, or stand in its mark: [1](https://…), 【1†https://…】.
            said, told = entry["said"].strip(), entry["told"] or ""
            said = f"{said} {told}" if _URL.search(told) or not said else said
        elif is_item or (_URL.search(line.text) and not _HEADING.match(line.text)):
            said = line.text.strip()
    yield from _entry(name, said, start, is_defined=is_defined)


def _entry(name: str, said: str, start: int, *, is_defined: bool) -> Iterator[ListedReference]:
    if not said:
        return
    urls = addresses(said)
    title = plain_text(re.sub(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)", "]", said))
    title = " ".join(_URL.sub(" ", title).split()).strip(" -–—:：,.;|*[]()<>")
    yield ListedReference(name, urls, title, start, is_defined)
