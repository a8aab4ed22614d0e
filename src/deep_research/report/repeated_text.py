"""What a report would say twice: paragraphs of an answer that its abstract has already, citations and workings said once
more."""

import itertools
import re

from deep_research.text.quotable_blocks import announces, points_back

_MARKS = re.compile(r"\s*(?:\[\d+\])+")
_ALONE = re.compile(r"(?:\[\d+\])+")
_LABEL_LINE = re.compile(r"^\*\*[^*\n]+\*\*\n")
_LABEL = re.compile(r"\*\*[^*\n]+\*\*")


def without_repeats(content: str, shown: str) -> str:
    """Return the Markdown of a section without what it begins with and `shown`, which stands above it, has word for word.

    The rest stays as it is, so that no step is missing among others; a paragraph stays that announces what follows it, or
    that the next one points back at. "" where nothing is left.
    """
    known = _said(shown)
    blocks = content.split("\n\n")
    end = next((n for n, block in enumerate(blocks) if not _LABEL.fullmatch(block) and _said(block) not in known), None)
    if end is None:
        return ""
    while end and (_LABEL.fullmatch(blocks[end - 1]) or _needs(blocks[end - 1], blocks[end])):
        end -= 1
    return "\n\n".join(blocks[end:])


def _needs(block: str, following: str) -> bool:
    is_code = following.startswith(("```", "|")) or _ALONE.fullmatch(following) is not None
    return is_code or announces(_MARKS.sub("", block)) or points_back(following)


def _said(text: str) -> str:
    """Return the words of a block, without the label right above them."""
    return " ".join(_MARKS.sub("", _LABEL_LINE.sub("", text)).split())


def without_lone_marks(content: str) -> str:
    """Return the Markdown of a section without the citation below a piece of code whose announcement cites the same."""
    blocks = content.split("\n\n")
    kept: list[str] = []
    above = ""  # what stands before the last piece of code, whose lines may be blank
    for block in blocks:
        if block.startswith("```"):
            above = kept[-1] if kept else ""
        if not (_ALONE.fullmatch(block) and kept and kept[-1].endswith("```") and above.endswith(block)):
            kept.append(block)
    return "\n\n".join(kept)


_ROW_MARKS = re.compile(r"((?:\s*\[\d+\])+)\s*\|\s*$")


def marks_in_heads(content: str) -> str:
    """Return Markdown in which a table whose rows all cite the same says so once, in its head."""
    lines = content.split("\n")
    for place, line in enumerate(lines):
        if not place or not _RULE.fullmatch(line) or not lines[place - 1].startswith("|"):
            continue
        rows = list(itertools.takewhile(lambda row: row.startswith("|"), lines[place + 1 :]))
        marks = {found[1].strip() if (found := _ROW_MARKS.search(row)) else "" for row in rows}
        if len(rows) < _FEWEST_ROWS or len(marks) != 1 or "" in marks or any(_cites_within(row) for row in rows):
            continue
        (same,) = marks
        lines[place - 1] = f"{lines[place - 1].rstrip().removesuffix('|').rstrip()} {same} |"
        lines[place + 1 : place + 1 + len(rows)] = [_ROW_MARKS.sub(" |", row) for row in rows]
    return "\n".join(lines)


def _cites_within(row: str) -> bool:
    return _MARKS.search(_ROW_MARKS.sub("", row)) is not None


_RULE = re.compile(r"\|(?:\s*:?-{3,}:?\s*\|)+\s*")
_FEWEST_ROWS = 2
