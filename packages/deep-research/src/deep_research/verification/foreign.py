"""Reports that somebody else wrote: their statements, and the pages that these cite in the styles people meet.

Links in the text, `[1]` with a list at the end, footnotes `[^1]`, superscripts, `【1†source】`, links by reference
(`[text][1]`), "Source: …" lines, and bare addresses. A marker becomes a citation of references, which have keys of
their own (`r1`), an address where one is given, and what their entry says.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from claimcheck.lexicon import any_word
from claimcheck.text.measures import ALIASES
from deep_research.text.code_spans import code_spans, is_within
from deep_research.verification.citations import Citation, as_one
from deep_research.verification.references import (
    RAISED,
    SUPERSCRIPT,
    ListedReference,
    ReferenceLists,
    addresses,
    read_lists,
)
from deep_research.verification.statements import Statement, split_statements

_MOST_IN_RANGE = 30
_NUMBERS = r"\d{1,3}(?:\s?(?:[,，、;；&]|[-–—~～])\s?\^?\d{1,3}){0,30}"
_ADDRESS = r"(?:[^()\s<>]|\([^()\s<>]{0,200}\)){1,2000}"
_MARKER = re.compile(
    rf"(?P<image>!\[[^\[\]\n]{{0,300}}\]\({_ADDRESS}[^()\n]{{0,300}}\))"
    rf"|\[\[?\s?\^?(?P<linked>{_NUMBERS})\s?\]?\]\(\s?<?(?P<at>{_ADDRESS})>?(?:\s\"[^\"\n]{{0,300}}\")?\s?\)"
    rf"|\[(?P<text>(?:[^\[\]\n]|\[[^\[\]\n]{{0,100}}\]){{1,300}})\]\(\s?<?(?P<url>(?:https?://|www\.){_ADDRESS})>?(?:\s\"[^\"\n]{{0,300}}\")?\s?\)"
    r"|\[(?P<words>(?!\^?\d{1,3}\])[^\[\]\n]{1,300})\]\[(?P<key>[^\[\]\n]{0,60})\]"
    rf"|(?P<numbered>(?<![=+@#$&~])(?:\\?\[|【|［)\^?\s?(?P<numbers>{_NUMBERS})\s?(?:†[^\[\]【】\n]{{0,80}})?(?:\\?\]|】|］))"
    r"|\[\^(?P<note>[\w.-]{1,40})\]"
    r"|<sup>\s?(?:<a\s[^<>]{0,2000}>)?\[?(?P<raised>[\d\s,;–-]{1,60})\]?(?:</a>)?\s?</sup>"
    rf"|(?P<sup>(?<=[^\W\d]|[.,;:!?)\]”\"'。，；：！？）」』])[{SUPERSCRIPT}]{{1,3}}(?:[,˒，⁻⁻–-]?[{SUPERSCRIPT}]{{1,3}}){{0,10}})"
    r"|<a\s[^<>]{0,500}?href=[\"'](?P<href>https?://[^\"'<>\s]{1,2000})[\"'][^<>]{0,500}>(?P<shown>[^<>]{0,300})</a>"
    r"|\ue200cite(?P<turn>[^\ue201]{0,200})\ue201"
    r"|<?(?P<bare>(?:https?://|(?<![\w.@/])www\.)[^\s<>()\[\]{}\"“”「」『』【】（）《》，。；、！？|]+(?:\([^()\s]{0,200}\)[^\s<>()\[\]\"“”【】（），。；、|]*)*)>?",
    re.IGNORECASE,
)
_NUMBER_BEHIND = re.compile(r"(?<=[\w.。，,;；！？!?)）”])\s?[\[【]\d{1,3}[\]】]")
_SOURCE_WORD = rf"(?:data )?{any_word('statement.citation_patterns')}"
_SOURCE_LINE = re.compile(
    rf"^[ \t>]*(?:[-*+][ \t]+)?[*_(（]{{0,3}}{_SOURCE_WORD}[*_]{{0,2}}\s?[:：][*_]{{0,2}}(?P<said>[^\n]{{1,1000}})$",
    re.IGNORECASE | re.MULTILINE,
)
_BETWEEN = re.compile(rf"[\s,;，；、&|·/]{{0,4}}(?:{any_word('statement.citation_joints')}\s?)?")
_AROUND = (
    (re.compile(rf"[(（【\[]\s?(?:{_SOURCE_WORD}\s?[:：]?\s?)?$", re.IGNORECASE), re.compile(r"\s?[)）】\]]")),
    (
        re.compile(rf"(?:\A|(?<=\n\n)|(?<=[.!?。！？…\"”’)）」』*_])|(?<=[.!?。！？…]\n))[ \t]*[*_]{{0,3}}{_SOURCE_WORD}[*_]{{0,2}}\s?[:：]?[*_]{{0,2}}\s?$", re.I),
        re.compile(r"(?:(?<=[.。])|[ \t]{0,9}+(?:[.。;；]|(?=[*_]{0,3}[ \t]{0,9}(?:[\n|]|\Z))))[*_]{0,3}"),
    ),
)  # fmt: skip
"""What stands before and behind citations that belongs to them: brackets, or a source word where a sentence could begin."""
_JOINT = re.compile(r"[ \t]{0,3}[,;、，；]?[ \t]{0,3}")
_STOP_BEFORE = re.compile(r"[.!?。！？…][\"”’)）」』*_]{0,3}[ \t]{0,3}$")


class ForeignReference(NamedTuple):
    """Something that a report cites: `url` is "" where none is given, `title` what its entry in the list says."""

    key: str
    url: str
    title: str = ""


class ForeignReport(NamedTuple):
    """A report as it was found, with the references that each of its citations names.

    `apart` are the stretches of its lists of references, which state nothing.
    """

    text: str
    citations: tuple[Citation, ...]
    references: tuple[ForeignReference, ...]
    apart: tuple[tuple[int, int], ...] = ()

    def statements(self) -> list[Statement]:
        """Return the statements of the report; `passages` are keys of references.

        A citation in a line of its own belongs to what stands above it, as far as that cites nothing itself.
        """
        found = [s for s in split_statements(self.text, self.citations) if not is_within(self.apart, s.start)]
        starts = [statement.start for statement in found]
        owned = {key for s in found for key in _places(s, self.citations)}
        for number, citation in enumerate(self.citations):
            last = bisect_right(starts, citation.start) - 1
            if number in owned or last < 0 or is_within(self.apart, citation.start):
                continue
            for place in _above(found, last):
                found[place] = found[place]._replace(passages=citation.ids)
        return found


def _places(statement: Statement, citations: Sequence[Citation]) -> Iterator[int]:
    """Yield the numbers of the citations that stand within a statement."""
    place = bisect_right(citations, (statement.start,))
    while place < len(citations) and citations[place].start < statement.end:
        yield place
        place += 1


def _above(statements: Sequence[Statement], last: int) -> Iterator[int]:
    """Yield the statements of the block that a line of sources stands under: all rows of a table, a whole paragraph."""
    place, block = last, statements[last]
    while place >= 0:
        one = statements[place]
        is_same_table = one.kind == block.kind == "row" and one.header == block.header
        if one.block != block.block and not is_same_table:
            return
        if not one.passages:
            yield place
        place -= 1


def read_report(text: str) -> ForeignReport:
    """Return what a report in Markdown or plain text states and cites."""
    return _Reading(text).report()


class _Reading:
    """Reads one report; gives each thing it cites a key."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = code_spans(text)
        self.lists: ReferenceLists = read_lists(text, self.code)
        self.keys: dict[tuple[str, str], str] = {}
        self.references: list[ForeignReference] = []

    def report(self) -> ForeignReport:
        """Return the report with its citations in order."""
        for listed in self.lists.entries:
            self._listed(listed)
        lines = [(m.start(), m.end(), m["said"]) for m in _SOURCE_LINE.finditer(self.text) if self._counts(m.start())]
        found = list(self._source_lines(lines))
        taken = [(citation.start, citation.end) for citation in found]
        found += [c for c in self._markers() if not is_within(taken, c.start)]
        joined = _joined(self.text, _parenthesised(self.text, sorted(found)))
        return ForeignReport(self.text, tuple(joined), tuple(self.references), self.lists.spans)

    def _counts(self, offset: int) -> bool:
        return not is_within(self.lists.spans, offset) and not is_within(self.code, offset)

    def _key(self, url: str, title: str) -> str:
        """Return the key of a reference, by its address or else by its title."""
        identity = (url, "" if url else title)
        if identity not in self.keys:
            self.keys[identity] = f"r{len(self.references) + 1}"
            self.references.append(ForeignReference(self.keys[identity], url, title))
        return self.keys[identity]

    def _listed(self, listed: ListedReference) -> tuple[str, ...]:
        return tuple(self._key(url, listed.title) for url in listed.urls or ("",))

    def _numbered(self, name: str, offset: int) -> tuple[str, ...]:
        """Return what a number or name in brackets stands for: its entry, or a reference that nothing is known of."""
        listed = self.lists.find(name, offset)
        return self._listed(listed) if listed else (self._key("", f"[{name}]"),)

    def _source_lines(self, lines: Sequence[tuple[int, int, str]]) -> Iterator[Citation]:
        """Yield the lines that name a source and nothing else, by the links in them or else by what they say."""
        for start, end, said in lines:
            ids = [key for marker in _MARKER.finditer(said) for key in self._meant(marker, start)]
            title = said.strip(" *_()（）")
            if re.search(r"\w", title):
                yield Citation(start, end, tuple(dict.fromkeys(ids)) or (self._key("", title),))

    def _markers(self) -> Iterator[Citation]:
        for marker in _MARKER.finditer(self.text):
            if not self._counts(marker.start()) or marker["image"] or self._is_no_citation(marker):
                continue
            if ids := self._meant(marker, marker.start()):
                kept = marker["text"] or marker["shown"] or marker["words"] or ""
                yield Citation(marker.start(), marker.end(), ids, "" if self._is_label(marker) else kept)

    def _is_no_citation(self, marker: re.Match[str]) -> bool:
        """Tell whether what looks like a marker is none: m², [2025], a link by a name that nothing defines."""
        if marker["sup"]:
            word = re.search(r"[^\W\d_]+$", self.text[max(0, marker.start() - 12) : marker.start()])
            return bool(word and word[0].lower() in ALIASES) or not self._all_listed(marker["sup"].translate(RAISED))
        if marker["raised"] or marker["note"]:
            return marker["note"] is None and not self._all_listed(marker["raised"])
        if marker["numbered"]:
            return not self._is_numbered
        if marker["words"] is not None:
            return self.lists.find(marker["key"] or marker["words"], marker.start()) is None
        return False

    def _all_listed(self, numbers: str) -> bool:
        return all(self.lists.find(name, 0) for name in _names_of(numbers))

    @cached_property
    def _is_numbered(self) -> bool:
        """Whether numbers in brackets are this report's way to cite, though it has no list of them."""
        behind = sum(self._counts(m.start()) for m in _NUMBER_BEHIND.finditer(self.text))
        return self.lists.has_numbers or behind >= (1 if self.lists.entries else 2)

    def _is_label(self, marker: re.Match[str]) -> bool:
        """Tell whether a link only names the source of its sentence, or of the sentence before it."""
        if not (marker["url"] or marker["href"]):
            return False
        if re.fullmatch(_SOURCE_WORD, (marker["text"] or marker["shown"] or "").strip(), re.IGNORECASE):
            return True
        behind = self.text[marker.end() : marker.end() + 4].lstrip(" \t.,;，；、")
        is_last = not behind or behind[0] in "\n[(（|"
        return is_last and _STOP_BEFORE.search(self.text, max(0, marker.start() - 8), marker.start()) is not None

    def _meant(self, marker: re.Match[str], offset: int) -> tuple[str, ...]:
        """Return the keys of what a marker cites."""
        if url := marker["url"] or marker["href"] or marker["bare"]:
            return tuple(self._key(address, marker["text"] or marker["shown"] or "") for address in addresses(url)[:1])
        if marker["linked"]:
            if found := addresses(marker["at"]):
                return (self._key(found[0], ""),)
            names = _names_of(marker["linked"])
        elif marker["words"] is not None:
            names = [marker["key"] or marker["words"]]
        elif marker["turn"] is not None:
            names = ["cite" + re.sub(r"[\ue000-\uf8ff]", " ", marker["turn"])]
        elif marker["note"]:
            names = [marker["note"]]
        else:
            written = marker["numbers"] or marker["raised"] or (marker["sup"] or "").translate(RAISED)
            names = _names_of(written)
        return tuple(dict.fromkeys(key for name in names for key in self._numbered(name, offset)))


def _names_of(written: str) -> list[str]:
    """Return the numbers of `1, 3-5`, each by itself."""
    names: list[str] = []
    for first, last in re.findall(r"(\d{1,3})(?:\s?[-–—~～⁻]\s?\^?(\d{1,3}))?", written):
        begin, end = int(first), int(last or first)
        listed = range(begin, end + 1) if begin <= end <= begin + _MOST_IN_RANGE else (begin, end)
        names += [str(number) for number in listed]
    return names


def _parenthesised(text: str, found: Sequence[Citation]) -> Iterator[Citation]:
    """Yield the citations; those that fill a pair of brackets or a sentence together are one, all of it included."""
    position = 0
    while position < len(found):
        first, last = found[position], position
        around = ((opens.search(text, max(0, first.start - 24), first.start), closes) for opens, closes in _AROUND)
        opening, closes = next((pair for pair in around if pair[0]), (None, None))
        while opening and last + 1 < len(found) and _BETWEEN.fullmatch(text, found[last].end, found[last + 1].start):
            last += 1
        closing = closes.match(text, found[last].end) if closes else None
        if opening and closing:
            ids = tuple(dict.fromkeys(key for one in found[position : last + 1] for key in one.ids))
            yield Citation(opening.start(), closing.end(), ids)
            position = last + 1
        else:
            yield first
            position += 1


def _joined(text: str, found: Iterator[Citation]) -> list[Citation]:
    """Return the citations with those that stand side by side as one."""
    groups: list[list[Citation]] = []
    for one in found:
        before = groups[-1][-1] if groups else one
        if groups and not one.kept and not before.kept and _JOINT.fullmatch(text, before.end, one.start):
            groups[-1].append(one)
        else:
            groups.append([one])
    return [as_one(group) for group in groups]
