"""Tables of contents, indexes and menus: lists of names without own content."""

import re
from collections.abc import Sequence

_FEWEST_LINES = 6
_LONGEST_LINE = 70
_SENTENCE_END = re.compile(r"[.!?;:\u3002\uff01\uff1f\uff1b\uff1a…]\W*$")
_NUMBERED = re.compile(r"\s*(?:[-*+•]\s+)?(?:\d+(?:\.\d+)+\.?|\d+\.|[^\W\d_A-Za-z]\s?\d+)\s+\S")
_HOLDS_DATA = re.compile(r"[|=<>{}$\uff0c]|^\s*#|\w: |\uff1a|\d\s?[%°]|^\s*+(?:[-*+•]\s++)?\S+ [–—-] ")
"""Rows of tables, settings, code, definitions: short lines that say something."""
_NUMBERED_INSIDE = re.compile(r"[,、，;]\s*(?:(?:[A-Z]|\d+)\.\d+(?:\.\d+)*\.?|\d{1,3}\.)\s+\S")
_SECTION_NUMBER = re.compile(r"\s*(?:[-*+•]\s+)?\d+(?:\.\d+)+\.?\s+\S")


def is_contents_line(text: str) -> bool:
    """Return whether a line lists numbered headings, as in "13.2. Isolation"."""
    return len(_NUMBERED_INSIDE.findall(text)) + bool(_SECTION_NUMBER.match(text)) > 1


def is_contents_list(text: str) -> bool:
    """Tell whether a passage is a contents list, index or menu, not prose or data."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < _FEWEST_LINES:
        return _is_head(lines)
    numbered = sum(bool(_NUMBERED.match(line)) for line in lines)
    names = sum(len(line) <= _LONGEST_LINE and not _SENTENCE_END.search(line) for line in lines)
    data = sum(bool(_HOLDS_DATA.search(line)) for line in lines)
    are_numbered = numbered >= 0.6 * len(lines) and names >= 0.8 * len(lines)
    return are_numbered or (names >= 0.9 * len(lines) and data <= 0.2 * len(lines))


def _is_head(lines: Sequence[str]) -> bool:
    """Return whether lines are only a page head: its title, menu and chapter title."""
    titles = {line.lstrip("# ").strip() for line in lines}
    is_short = all(len(line) <= _LONGEST_LINE for line in lines)
    return len(lines) > 2 and lines[0].startswith("#") and is_short and 2 * len(titles) <= len(lines)
