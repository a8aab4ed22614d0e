"""Sentences of light Markdown, the output of readers, with exact offsets.

Blocks come first: headings, list items, table rows and code are told apart from prose, so that a
sentence never runs across them; then prose is cut at sentence ends of any script. Every span is a
slice of the input: `text[start:end]`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal, NamedTuple

from claimcheck.language import CJK
from claimcheck.lexicon import any_word, entry, languages, words

BlockKind = Literal["prose", "heading", "item", "table", "code"]


class Block(NamedTuple):
    """A span of one kind: paragraph, heading, list item, table or code, or a part."""

    kind: BlockKind
    start: int
    end: int


FRONT_MATTER = re.compile(r"\A---\n(?:(?:[A-Za-z][\w -]*[:=]|-?[ \t])[^\n]*\n)+?---(?:\s+|\Z)")
_WIDE = re.compile(f"[{CJK}]")
_HEADING = re.compile(r"#{1,6} ")
ITEM_MARKER = re.compile(r"\s{0,12}(?:[-*+•]|(?P<number>\d{1,3})[.)])\s+")
_TABLE = re.compile(r"\s{0,3}\|")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")

# Ends of sentences: CJK full stops always; Latin ones when space and a new beginning follow.
_END = re.compile(rf"[。！？｡]+[”’」』）)\]]*|(?<![.!?…])[.!?…]+(?:\*\*|__|[\"'”’)\]])*(?=\s|$|[{CJK}])|[；;](?=\s*\n)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|ch|chap|art|para|Dr|Mr|Mrs|Ms|Prof|St|Fig|Figs|Eq|Eqs|Sec|Ref|Refs|No|Nos|Vol|pp|approx|resp"
    r"|Inc|Ltd|Co|Corp|Jr|Sr|dept|est|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|U\.S|U\.K|a\.m|p\.m)"
    r"|\b[A-Z]|\b[A-Z]\.[A-Z])\.$"
)
_NEVER_LAST = re.compile(r"(?:\b(?:e\.g|i\.e|vs|cf|Dr|Mr|Mrs|Ms|Prof|Fig|Figs|Eq|Eqs|Ref|Refs|Nos|Vol|pp|approx))\.$")
# A small letter begins a sentence only in a name that has a capital further on ("vLLM", "mRNA").
_BEGINNING = re.compile(rf"\s+[\"'“‘(\[*_]*(?:[A-Z0-9{CJK}“\"'`]|[a-z]{{1,3}}[A-Z])")
_NUMBERING = re.compile(rf"\d\.[{CJK}]")
"""How a list within a sentence is numbered where no spaces part words: 1.价格，2.质量."""
_DOTTED = [code for code in languages() if words("sentence.ordinal_before_patterns", code)]
_MONTHS = {m.capitalize() for code in _DOTTED for names in entry("months", code).values() for m in names.split()}
_ORDINAL = re.compile(rf"(?P<in_phrase>(?i:{any_word('sentence.ordinal_before_patterns')}) )?(?<![\d.,])\d{{1,2}}\.$")
_NOUN = re.compile(r"\s([A-ZÄÖÜ]\w+)")
"""What is written with a dot in German: "im 3. Quartal", "9. Oktober"."""
_NO_NOUN = frozenset(words("language.function_words") + words("stop_words.function"))
_CODE = re.compile(r"`(?! )[^`\n]{1,80}(?<! )`")


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of `text` in order, without blank lines and front matter."""
    kind: BlockKind | None = None
    start = end = 0
    in_code = False
    for line_start, line_end in _lines(text):
        line = text[line_start:line_end]
        if in_code:
            end = line_end
            if _FENCE.match(line):
                yield Block("code", start, end)
                kind, in_code = None, False
            continue
        found = _kind_of(line, kind)
        if kind is not None and (found is None or found != kind or found in ("heading", "item")):
            yield Block(kind, start, end)
            kind = None
        if found is None:
            continue
        if kind is None:
            kind, start = found, line_start
        end = line_end
        in_code = found == "code"
    if kind is not None:
        yield Block(kind, start, end)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    position = front.end() if (front := FRONT_MATTER.match(text)) else 0
    while position < len(text):
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop
        yield position, stop
        position = stop + 1


def _kind_of(line: str, previous: BlockKind | None) -> BlockKind | None:
    if line[:1].isalpha():  # most lines: no mark begins with a letter
        return "item" if previous == "item" else "prose"
    if not line.strip():
        return None
    if _FENCE.match(line):
        return "code"
    if _HEADING.match(line):
        return "heading"
    if _TABLE.match(line):
        return "table"
    if (marker := ITEM_MARKER.match(line)) is not None:
        # A number at the beginning of a wrapped line of prose is not a list, unless it begins one (as in CommonMark).
        return "prose" if previous == "prose" and marker["number"] not in (None, "1") else "item"
    return "item" if previous == "item" else "prose"


def sentences(text: str) -> list[Block]:
    """Return the sentences of prose and list items, without list markers, in order."""
    prose = (block for block in blocks(text) if block.kind in ("prose", "item"))
    return [sentence for block in prose for sentence in _split(text, block)]


_NUMBER_OF_STEP = re.compile(r"\s*(?:\*\*|__)\d{1,2}\.")
"""The number of a step in bold type, which opens its paragraph."""
_LONGEST_STEP = 60


def _split(text: str, block: Block) -> Iterator[Block]:
    start = block.start
    if block.kind == "item" and (marker := ITEM_MARKER.match(text, block.start, block.end)):
        start = marker.end()
    code = [found.span() for found in _CODE.finditer(text, start, block.end)] if "`" in text else ()
    begins = [begin for begin, _ in code]
    for match in _END.finditer(text, start, block.end):
        within = bisect_left(begins, match.start()) - 1
        if within >= 0 and match.start() < code[within][1]:
            continue  # "`name.<확장자>`" is one word
        if match.end() - start <= _LONGEST_STEP and _NUMBER_OF_STEP.fullmatch(text, start, match.end()):
            continue  # "**1. Lock it out.** Then …"
        if _ends_sentence(text, match, block.end):
            end = match.end()
            if text.startswith("**", end) and text.count("**", start, end) % 2:
                end += 2  # the bold type ends with its sentence
            yield from trimmed(text, block.kind, start, end)
            start = end
    yield from trimmed(text, block.kind, start, block.end)


def _ends_sentence(text: str, match: re.Match[str], block_end: int) -> bool:
    mark = match.group()[0]
    if mark not in ".…":
        return True
    if _NEVER_LAST.search(text, max(0, match.start() - 12), match.start() + 1):
        return False
    if match.end() >= block_end:
        return True
    if mark == "." and _NUMBERING.match(text, match.start() - 1):
        return False
    if text[match.end()] not in " \t\n\r" or _WIDE.match(text, match.start() - 1):
        return True
    follows = _BEGINNING.match(text, match.end(), min(block_end, match.end() + 12))
    return bool(follows) and not is_inner_dot(text, match.start() + 1)


def is_inner_dot(text: str, end: int) -> bool:
    """Return whether a dot at `end` belongs to an abbreviation or ordinal."""
    is_ordinal = text[end - 1 : end] == "." and text[end - 2].isdigit() and _is_ordinal(text, end)
    return is_ordinal or _ABBREVIATION.search(text, max(0, end - 13), end) is not None


def _is_ordinal(text: str, end: int) -> bool:
    """Tell whether a number with a dot is an ordinal: before a month, or in a phrase."""
    number, noun = _ORDINAL.search(text[max(0, end - 16) : end]), _NOUN.match(text, end)
    if number is None or noun is None:
        return False
    return noun[1] in _MONTHS or (number["in_phrase"] is not None and noun[1].lower() not in _NO_NOUN)


def trimmed(text: str, kind: BlockKind, start: int, end: int) -> Iterator[Block]:
    """Yield a block for a trimmed span of a text; nothing if it is blank."""
    start, end = trim_span(text, start, end)
    if end > start:
        yield Block(kind, start, end)


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch of a text without the white space at its ends."""
    begins = text[start:end].lstrip()
    return end - len(begins), end - len(begins) + len(begins.rstrip())
