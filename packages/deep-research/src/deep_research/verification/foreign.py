"""Foreign reports: their statements, and the pages cited in common styles.

A citation is a mark at a place, written in one of `_STYLES` or as a "Source: …" line, and an address: in the mark, or in
the list that names it (`references.py`). It becomes a citation of references, which have keys of their own (`r1`), an
address where one is given, and what their entry says.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from claimcheck.language import CJK
from claimcheck.lexicon import any_word, words
from deep_research.text.code_spans import code_spans, is_within
from deep_research.text.raised_digits import RAISED_DIGITS, TO_PLAIN, is_power
from deep_research.verification.citations import Citation, join_citations
from deep_research.verification.references import (
    HOST_IN_BRACKETS,
    SCHEME,
    SOURCE_WORD,
    ListedReference,
    addresses,
    read_lists,
    stops_behind,
)
from deep_research.verification.statements import Statement, split_statements

_MOST_IN_RANGE = 30
_PRIVATE = r"[\ue000-\uf8ff]"
_NUMBERS = r"\d{1,3}(?:\s?(?:[,，、;；&]|[-–—~～])\s?\^?\d{1,3}){0,30}"
_ADDRESS = r"(?:[^()\s<>]|\([^()\s<>]{0,200}\)){1,2000}+"
_TITLED = r">?(?:\s\"[^\"\n]{0,300}\")?\s?\)"
_FEW = r"\d{1,3}(?:[,–-]\d{1,3}){0,10}"
_SIGN = r"[^\s<>()\[\]{}\"“”「」『』【】（）《》，。；、！？|]"
_BEHIND_WORDS = r"[.,;:!?)\]”\"'%。，；：！？）」』]"
_STYLES = {
    "image": rf"!\[[^\[\]\n]{{0,300}}\]\({_ADDRESS}[^()\n]{{0,300}}+\)",
    "numbered_link": rf"(?<!\\)\[\\?\[?\s?\^?(?P<names>{_NUMBERS})\s?\\?\]?\]\(\s?<?(?P<at>{_ADDRESS}){_TITLED}",
    "link": rf"\[(?P<words>(?:[^\[\]\n]|\[[^\[\]\n]{{0,100}}\]){{1,300}})\]\(\s?<?(?P<at>(?:(?!mailto:|tel:)[a-z][a-z\d+.-]{{1,19}}:|www\.){_ADDRESS}){_TITLED}",
    "lens": rf"【\s?(?P<names>\d{{1,2}}:\d{{1,3}}|{_NUMBERS})\s?(?:†(?P<words>[^【】\n]{{0,2000}}))?】",
    "number": rf"(?<![=+@#$&~^])(?:\\?\[|［)\^?\s?(?P<names>{_NUMBERS})\s?(?:†(?P<words>[^\[\]\n]{{0,80}}))?(?:\\?\]|］)°?",
    "note": r"\[\^(?P<names>[\w.-]{1,40})\]",
    "reference": r"\[(?P<words>(?!\^)[^\[\]\n]{1,300})\](?:\[(?P<names>[^\[\]\n]{0,60})\])?(?!\()",
    "sup": r"<sup>\s?(?:<a\s[^<>]{0,2000}>)?\[?(?P<names>[\d\s,;–-]{1,60})\]?(?:</a>)?\s?</sup>",
    "raised": rf"(?<![{RAISED_DIGITS}])(?<![{RAISED_DIGITS}][.,])(?<=\w|{_BEHIND_WORDS})(?P<names>[{RAISED_DIGITS}]{{1,3}}(?:(?:[,˒，⁻–-]\s?|\s)[{RAISED_DIGITS}]{{1,3}}){{0,10}})(?![.,]?[{RAISED_DIGITS}])",
    "caret": rf"(?<=\w|{_BEHIND_WORDS}|[ *_])\^(?P<names>\[{_NUMBERS}\]|{_FEW})\^?(?![\w(])",
    "page": r"<a\s[^<>]{0,500}?href=[\"'](?P<at>https?://[^\"'<>\s]{1,2000})[\"'][^<>]{0,500}>(?P<words>[^<>]{0,300})</a>",
    "turn": r"\ue200(?P<names>cite[^\ue201]{0,200})\ue201",
    "bare": rf"<?(?P<at>(?:{SCHEME}{HOST_IN_BRACKETS}|(?<![\w.@/])www\.)(?:(?<=\])|{_SIGN}){_SIGN}*(?:\([^()\s]{{0,200}}\)[^\s<>()\[\]\"“”【】（），。；、|]*)*)>?",
}  # fmt: skip
"""How a mark is written, by style: `names` are those of entries of a list, `at` an address, `words` what it shows."""
_MARKER = re.compile(
    "|".join(f"(?P<{style}>{how.replace('(?P<', f'(?P<{style}_')})" for style, how in _STYLES.items()), re.IGNORECASE
)
_RAISED_STYLES = ("sup", "raised", "caret")
_NUMBER_BEHIND = re.compile(r"(?<=[\w.。，,;；！？!?)）”])\s?[\[【]\d{1,3}[\]】]")
_SOURCE_LINE = re.compile(
    rf"^[ \t>]*(?:[-*+][ \t]+)?[*_(（]{{0,3}}{SOURCE_WORD}[*_]{{0,2}}\s?[:：][*_]{{0,2}}(?P<said>[^\n]{{1,1000}})$",
    re.IGNORECASE | re.MULTILINE,
)
_BETWEEN = re.compile(rf"[\s,;，；、&|·/]{{0,4}}(?:{any_word('statement.citation_joints')}\s?)?")
_AROUND = (
    (re.compile(rf"\\?[(（【\[]\s?(?:{SOURCE_WORD}\s?[:：]?\s?)?$", re.IGNORECASE), re.compile(r"\s?\\?[)）】\]]")),
    (
        re.compile(rf"(?:\A|(?<=\n\n)|(?<=[.!?。！？…\"”’)）」』*_])|(?<=[.!?。！？…]\n))[ \t]*[*_]{{0,3}}{SOURCE_WORD}[*_]{{0,2}}\s?[:：]?[*_]{{0,2}}\s?$", re.I),
        re.compile(r"(?:(?<=[.。])|[ \t]{0,9}+(?:[.。;；]|(?=[*_]{0,3}[ \t]{0,9}(?:[\n|]|\Z))))[*_]{0,3}"),
    ),
)  # fmt: skip
"""What stands before and behind citations that belongs to them: brackets, or a source word where a sentence could begin."""
_BLANK = re.compile(r"\s*")
_STOP_BEFORE = re.compile(r"[.!?。！？…][\"”’)）」』*_]{0,3}[ \t]{0,3}$")
_BEHIND_LABEL = re.compile(r"[*_]{0,2}(?:[ \t.,;，；、]*(?:\Z|[\n(（\[|])|[.。](?!\w)|[ \t]+(?P<word>[A-ZÀ-Ý]\w*))")
_ORDINARY = frozenset(words("stop_words.function") + words("language.function_words"))
_WORD = re.compile(rf"[{CJK}]{{1,3}}|[^\W{CJK}]+")
_MOST_URLS = 20
_LONGEST_NAME = 3
"""Words of a link that can be the name of its source; what is longer says something."""


class _Mark(NamedTuple):
    """A mark in a text as it is written; see `_STYLES`."""

    style: str
    start: int
    end: int
    names: str
    at: str
    words: str


def _marks(text: str) -> Iterator[_Mark]:
    """Yield the marks of a text; a bare address ends before the sentence's stop."""
    for found in _MARKER.finditer(text):
        style, parts = found.lastgroup or "", found.groupdict("")
        names, at, words = (parts.get(f"{style}_{part}", "") for part in ("names", "at", "words"))
        start, end = found.span()
        if style == "bare" and found[0] == at and not _is_behind_stop(text, start):
            at = at.rstrip(stops_behind(text, start))
            end = start + len(at)
        yield _Mark(style, start, end, names, at, words)


class ForeignReference(NamedTuple):
    """A reference in a report: `url` or "", `title` by its entry or mark ("[9]")."""

    key: str
    url: str
    title: str = ""


class ForeignReport(NamedTuple):
    """A report as found; in `apart`, its lists of references, nothing is stated."""

    text: str
    citations: tuple[Citation, ...]
    references: tuple[ForeignReference, ...]
    apart: tuple[tuple[int, int], ...] = ()

    def statements(self) -> list[Statement]:
        """Return the statements of the report; `passages` are keys of references.

        A citation in a line of its own belongs to what stands above it, as far as that cites nothing itself; one behind
        the last stop of a paragraph or list item that has no other to all of it.
        """
        found = [s for s in split_statements(self.text, self.citations) if not is_within(self.apart, s.start)]
        starts, given = [statement.start for statement in found], -1
        for citation in self.citations:
            last = bisect_right(starts, citation.start) - 1
            if last < 0 or is_within(self.apart, citation.start):
                continue
            one = found[last]
            before = self.text[self.text.rfind("\n", 0, citation.start) + 1 : citation.start]
            is_below = not before.strip() and citation.start > one.block[0]
            is_last = not citation.kept and _BLANK.fullmatch(self.text, citation.end, max(citation.end, one.block[1]))
            if citation.start >= one.end or (is_below and is_last):
                above = _above(found, last, given)
            elif is_last and one.kind != "row" and _is_behind_stop(self.text, citation.start):
                above = _before(found, last)
            else:
                continue
            for place in above:
                found[place] = found[place]._replace(passages=citation.ids)
            given = last  # what stands above has the sources of that line, and is not looked through again
        return found


def _is_behind_stop(text: str, start: int) -> bool:
    return _STOP_BEFORE.search(text, max(0, start - 8), start) is not None


def _before(statements: Sequence[Statement], last: int) -> Sequence[int]:
    """Return the statements of a block before its last; none if one of them cites."""
    first = bisect_left(statements, statements[last].block, hi=last, key=lambda one: one.block)
    return () if any(one.passages for one in statements[first:last]) else range(first, last)


def _above(statements: Sequence[Statement], last: int, given: int) -> Iterator[int]:
    """Yield the statements above a source line: all of a table, list or paragraph."""
    block = statements[last]
    for place in range(last, given, -1):
        one = statements[place]
        is_beside = one.kind == block.kind != "sentence" and (one.header, one.where) == (block.header, block.where)
        if one.block != block.block and not is_beside:
            return
        if not one.passages:
            yield place


def read_report(text: str) -> ForeignReport:
    """Return what a report in Markdown or plain text states and cites."""
    return _Reading(text).report()


class _Reading:
    """Gives each thing that a report cites a key."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = code_spans(text)
        self.lists = read_lists(text, self.code)
        self.apart = tuple(sorted(self.lists.spans))
        self.keys: dict[tuple[str, str], str] = {}
        self.references: list[ForeignReference] = []

    def report(self) -> ForeignReport:
        """Return the report with its citations in order."""
        for listed in self.lists.entries:
            self._listed(listed)
        found = list(self._source_lines())
        taken = [(citation.start, citation.end) for citation in found]
        found += [c for c in self._markers() if not is_within(taken, c.start)]
        joined = join_citations(self.text, _parenthesised(self.text, sorted(found)))
        return ForeignReport(self.text, tuple(joined), tuple(self.references), self.apart)

    def _counts(self, offset: int) -> bool:
        return not is_within(self.apart, offset) and not is_within(self.code, offset)

    def _key(self, url: str, title: str) -> str:
        """Return the key of a reference, by its address or else by its title."""
        key = self.keys.setdefault((url, "" if url else title), f"r{len(self.references) + 1}")
        if len(self.keys) > len(self.references):
            self.references.append(ForeignReference(key, url, title))
        return key

    def _listed(self, listed: ListedReference) -> tuple[str, ...]:
        return tuple(self._key(url, listed.title) for url in listed.urls[:_MOST_URLS] or ("",))

    def _numbered(self, name: str, offset: int, told: str, *, is_raised: bool) -> tuple[str, ...]:
        """Return the references of a name: its entry, or one made of its mark."""
        listed = self.lists.find(name, offset, is_raised=is_raised)
        return self._listed(listed) if listed else (self._key("", f"[{re.sub(_PRIVATE, ' ', name)}] {told}".strip()),)

    def _source_lines(self) -> Iterator[Citation]:
        """Yield the lines that only name a source, by their links or else their words."""
        for line in _SOURCE_LINE.finditer(self.text):
            title = line["said"].strip(" *_()（）")
            if self._counts(line.start()) and re.search(r"\w", title):
                ids = [key for mark in _marks(line["said"]) for key in self._meant(mark, line.start())]
                yield Citation(line.start(), line.end(), tuple(dict.fromkeys(ids)) or (self._key("", title),))

    def _markers(self) -> Iterator[Citation]:
        for mark in _marks(self.text):
            if not self._counts(mark.start) or not self._is_citation(mark):
                continue
            if ids := self._meant(mark, mark.start):
                is_shown = mark.style in ("link", "page", "reference") and not self._is_label(mark)
                is_label = mark.style in ("link", "reference") and not is_shown
                has_stops = is_label and self.text[mark.end : mark.end + 1] in (".", "。")
                end = mark.end + (has_stops and _is_behind_stop(self.text, mark.start))
                yield Citation(mark.start, end, ids, mark.words if is_shown else "")

    def _is_citation(self, mark: _Mark) -> bool:
        """Tell whether a mark is a citation, not m², [2025] or an undefined link name."""
        match mark.style:
            case style if style in _RAISED_STYLES:
                names = _names_of(mark.names)
                before = self.text[max(0, mark.start - 12) : mark.start]
                return not is_power(before, names) and all(self.lists.find(name, mark.start) for name in names)
            case "number" | "lens":
                return bool(mark.words) or self._is_numbered
            case "reference":
                listed = self.lists.find(mark.names or mark.words, mark.start)
                return listed is not None and (bool(mark.names) or listed.is_defined)
        return mark.style != "image"

    @cached_property
    def _is_numbered(self) -> bool:
        """Tell whether bracketed numbers are the report's citations, even without a list."""
        behind = sum(self._counts(m.start()) for m in _NUMBER_BEHIND.finditer(self.text))
        return self.lists.has_numbers or behind >= (1 if self.lists.entries else 2)

    def _is_label(self, mark: _Mark) -> bool:
        """Tell whether a link only names the source of its or the preceding sentence."""
        if not _is_name(mark.words):
            return False
        is_word = re.fullmatch(SOURCE_WORD, mark.words.strip(), re.IGNORECASE)
        behind = _BEHIND_LABEL.match(self.text, mark.end)
        # A capital may go on with the name: "[Apache](…) Kafka"; that of a word like "The" begins a sentence.
        is_last = behind is not None and (not behind["word"] or behind["word"].lower() in _ORDINARY)
        return bool(is_word or (is_last and _is_behind_stop(self.text, mark.start)))

    def _meant(self, mark: _Mark, offset: int) -> tuple[str, ...]:
        """Return the keys of what a mark cites."""
        if found := addresses(mark.at or (mark.words if mark.style == "lens" else "")):
            return (self._key(found[0], mark.words if mark.at else ""),)
        if mark.style in ("link", "page", "bare", "image"):
            return (self._key(mark.at, mark.words),) if mark.style == "link" else ()
        is_named = mark.style in ("reference", "note", "turn")
        names = [mark.names or mark.words] if is_named else _names_of(mark.names)
        told = mark.words if mark.style in ("lens", "number") else ""
        found_each = (self._numbered(name, offset, told, is_raised=mark.style in _RAISED_STYLES) for name in names)
        return tuple(dict.fromkeys(key for keys in found_each for key in keys))


def _is_name(words: str) -> bool:
    """Tell whether a link's words are an address or a few words without a figure."""
    parts = _WORD.findall(words)
    is_short = len(parts) <= _LONGEST_NAME and not any(p.isdigit() and not re.match("(?:19|20)..$", p) for p in parts)
    return is_short or (words.isascii() and len(words.split()) == 1)


def _names_of(written: str) -> list[str]:
    """Return the numbers of `1, 3-5`, each by itself; `4:1` is a name."""
    written = written.translate(TO_PLAIN)
    if ":" in written:
        return [written]
    names: list[str] = []
    for first, last in re.findall(r"(\d{1,3})(?:\s?[-–—~～⁻]\s?\^?(\d{1,3}))?", written):
        begin, end = int(first), int(last or first)
        listed = range(begin, end + 1) if begin <= end <= begin + _MOST_IN_RANGE else (begin, end)
        names += [str(number) for number in listed]
    return names


def _parenthesised(text: str, found: Sequence[Citation]) -> Iterator[Citation]:
    """Yield the citations, those filling a bracket or sentence together as one."""
    position = 0
    while position < len(found):
        first, last = found[position], position
        around = ((opens.search(text, max(0, first.start - 24), first.start), closes) for opens, closes in _AROUND)
        opening, closes = next((pair for pair in around if pair[0]), (None, None))
        while opening and last + 1 < len(found) and _BETWEEN.fullmatch(text, found[last].end, found[last + 1].start):
            last += 1
        closing = closes.match(text, found[last].end) if closes else None
        is_title = opening is not None and any(map(str.isalpha, opening[0]))  # a source word stands before it
        if opening and closing and (is_title or all(_is_name(one.kept) for one in found[position : last + 1])):
            ids = tuple(dict.fromkeys(key for one in found[position : last + 1] for key in one.ids))
            yield Citation(opening.start(), closing.end(), ids)
            position = last + 1
        else:
            yield first
            position += 1
