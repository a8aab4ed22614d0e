"""Marks in a report's Markdown where its statements begin and end, so that they are found again in what a parser makes of it.

The marks are signs of punctuation that no living script has: next to punctuation CommonMark begins and ends emphasis as
without them.
"""

import re
from collections.abc import Sequence

from deep_research.data import Claim

OPEN, CLOSE = "\U00010a50", "\U00010a51"
_NONE = str.maketrans(dict.fromkeys((OPEN, CLOSE)))
_HARMLESS = str.maketrans(dict.fromkeys((OPEN, CLOSE), "\ufffd"))
_BEFORE = re.compile(r"(?:[\s>|]|#{1,6}[ \t]|[*+-][ \t]|\d{1,9}[.)][ \t])*")
"""What makes a line a block, and is no word of its statement."""
_AFTER = " \t\n|"
_FENCES = ("```", "~~~")


def mark_claims(markdown: str, claims: Sequence[Claim]) -> tuple[str, list[Claim]]:
    """Return a Markdown text with a mark at the beginning and the end of each statement, and the statements in this order.

    A statement that has no place in the text, or a place within another's, is left out.
    """
    text = markdown.translate(_HARMLESS)
    parts: list[str] = []
    marked: list[Claim] = []
    at = 0
    for claim in sorted(claims, key=lambda claim: claim.start):
        begun = _BEFORE.match(text, claim.start, claim.end)
        start = begun.end() if begun else claim.start
        end = start + len(text[start : claim.end].rstrip(_AFTER))
        if start < at or end <= start or text.startswith(_FENCES, start):
            continue
        parts += [text[at:start], OPEN, text[start:end], CLOSE]
        marked.append(claim)
        at = end
    return "".join([*parts, text[at:]]), marked


def without_marks(text: str) -> str:
    """Return a text without the marks of statements."""
    return text.translate(_NONE)
