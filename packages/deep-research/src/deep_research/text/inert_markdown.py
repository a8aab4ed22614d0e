"""Make Markdown inert when rendered: no HTML, images or links, even if quoted.

A report quotes strangers. An image in such a quotation would be loaded by whoever opens the report, a tag
would act in it, and a link could show one address and lead to another. The rules are those of CommonMark.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from deep_research.text.code_spans import code_spans, is_within
from deep_research.text.rewritten_text import RewrittenText

_LINE_END = re.compile(r"\r\n?")
# Kept are code blocks at the margin, and indented ones that are code whatever holds them. What holds a bar may be the
# head of a table to some programs and a fence to others: it is made neither.
_OPENING = re.compile(r"(`{3,})[^`|]*$|(~{3,})[^|]*$")
_INDENTED_BLOCK = re.compile(r"( +)(`{3,})[^`|]*$")
_MOST_LINES = 500
_INDENTED_OPENING = re.compile(r"^([\s>*+\d.)-]*)(?=~~~)")
_ACTIVE = re.compile(r"`|<[A-Za-z/!?]|!\[|\][(:]|~~~")
_RULE_SIGNS = " \t|:->*+.)0123456789"
"""What the rule below the head of a table may be made of, also inside a quotation or list item."""
_PIECE = re.compile(r"\\[!-/:-@\[-`{-~]|`+|.")
_TAG_NEXT = re.compile(r"[A-Za-z/!?]")

_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|(?<!_)_++(?!\w)")
_SIGNS = re.compile(r"[\W_]*")
_EDGES = r"\s\"“”„«»()\[\]{}<>|,;"
_MARKED = re.compile(rf"(?<![^{_EDGES}])[^{_EDGES}*_]*+[*_][^{_EDGES}]*")
_ESCAPED = re.compile(r"\\([\\*_<>\[\](!:`~])")


def as_read(markdown: str) -> str:
    """Return Markdown for reading unrendered, without its escaping backslashes."""
    code = code_spans(markdown)
    return _ESCAPED.sub(lambda found: found[0] if is_within(code, found.start()) else found[1], markdown)


def literal_marks(text: str, said: str) -> Iterator[int]:
    """Yield offsets for backslashes against emphasis in words of `said` ("*.log")."""
    code = code_spans(text)
    for word in _MARKED.finditer(text):
        plain = word[0].rstrip(".:!?'’")
        if _SIGNS.fullmatch(plain) is None and plain in said and not is_within(code, word.start()):
            yield from (word.start() + at for run in _EMPHASIS.finditer(plain) for at in range(*run.span()))


def keep_literal(quoted: str) -> str:
    """Return a stranger's title or sentence as Markdown without unintended emphasis."""
    marks = ((at, at, "\\") for at in literal_marks(quoted, quoted))
    return RewrittenText(quoted, [*marks]).text


def make_inert(markdown: str) -> str:
    """Return `markdown` with HTML, images, links and definitions as text; idempotent."""
    closing: re.Pattern[str] | None = None
    mark = ""
    lines: list[str] = []
    written = _LINE_END.sub("\n", markdown).split("\n")
    rows = _rows(written)
    end = -1
    for number, line in enumerate(written):
        inert = line
        if number > end and closing is None:
            if opening := _OPENING.match(line):
                mark = opening[1] or opening[2]
                closing = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*$")
            elif (end := _block_end(written, number)) <= number:
                inert = _line(line, is_row=number in rows)
        elif closing is not None and closing.match(line):
            closing = None
        lines.append(inert)
    # A block that nobody closed would take the rest of what follows along.
    return "\n".join(lines if closing is None else [*lines, mark])


def _block_end(lines: Sequence[str], start: int) -> int:
    """Return the end line of the indented code block at `start`; -1 if none is sure."""
    if opening := _INDENTED_BLOCK.match(lines[start]):
        indent, mark = opening.groups()
        stands_apart = not start or not lines[start - 1].strip()  # else a blank line may end the paragraph around it
        for number, line in enumerate(lines[start + 1 : start + _MOST_LINES], start + 1):
            if line.rstrip() == indent + mark:
                return number
            goes_on = line.startswith(indent) and mark not in line
            if not (goes_on if line.strip() else stands_apart):
                break
    return -1


def _rows(lines: list[str]) -> set[int]:
    """Return numbers of possible table rows, from above a rule to a blank line."""
    found: set[int] = set()
    is_inside = False
    for number, line in enumerate(lines):
        if "-" in line and not line.strip(_RULE_SIGNS) and number and "|" in lines[number - 1] + line:
            found.add(number - 1)
            is_inside = True
        is_inside = is_inside and bool(line.strip())
        found.update([number] * is_inside)
    return found


def _line(line: str, *, is_row: bool) -> str:
    if not _ACTIVE.search(line):
        return line
    pieces = _PIECE.findall(_INDENTED_OPENING.sub(r"\1\\", line))
    words = next((n for n, piece in enumerate(pieces) if piece.isalpha()), len(pieces))
    closings = _closings(pieces)
    bars = [n for n, piece in enumerate(pieces) if is_row and piece == "|"]
    done: list[str] = []
    at = 0
    while at < len(pieces):
        if pieces[at][0] != "`":
            done.append(_escaped(pieces, at, has_words=words < at))
            at += 1
        elif end := _span_end(closings.get(len(pieces[at]), ()), bars, at):
            done += pieces[at:end]
            at = end
        else:
            done.append("\\`" * len(pieces[at]))
            at += 1
    return "".join(done)


def _closings(pieces: list[str]) -> Mapping[int, Sequence[int]]:
    """Return by the length of runs of backticks, escaped or not, where they end."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    run = 0
    for at, piece in enumerate(pieces):
        run = run + len(piece) if piece[0] == "`" else int(piece == "\\`")
        if run and not (at + 1 < len(pieces) and pieces[at + 1][0] == "`"):
            found[run].append(at + 1)
    return found


def _span_end(closings: Sequence[int], bars: Sequence[int], start: int) -> int:
    """Return the index after the code span at `start`; 0 if none ends before a bar."""
    place, bar = bisect_right(closings, start + 1), bisect_right(bars, start)
    if place == len(closings) or (bar < len(bars) and bars[bar] < closings[place]):
        return 0
    return closings[place]


_CITES = re.compile(r"\[(?:\d{1,4}|s\d{1,6}(?:p\d{1,6})?)\Z")
"""What stands before the "]:" of a citation and a colon. No definition of a link has words before it on its line."""


def _escaped(pieces: list[str], at: int, *, has_words: bool) -> str:
    """Return a piece of a line, made inert; `has_words` tells of words before it."""
    piece, follows = pieces[at], "".join(pieces[at + 1 : at + 2])
    if piece == "<" and _TAG_NEXT.match(follows):
        return "\\<"
    if piece == "!" and follows == "[":
        return "\\!"
    if piece == "]" and follows == ":":
        return piece if has_words and _CITES.search("".join(pieces[max(0, at - 16) : at])) else "]\\"
    return "]\\" if piece == "]" and follows == "(" else piece
