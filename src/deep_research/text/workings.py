"""Workings of figures: "68 (= 8 × 1024 ÷ 120)", told apart from the sentences that they stand in."""

import re

_IN_BRACKETS = r"\((?:[^()\n]|\([^()\n]*\))*\)"
_WORKING = re.compile(
    rf"(-?(?<!\d)(?<!\d[.,])\d[\d.,]*[^\d()（）|*\n]{{0,24}}?) ?[(（]= ((?:[^()（）\n]|{_IN_BRACKETS})*)[)）]"
)
RECKONED = "⁼"
"""Stands behind a figure that was reckoned, where the working is told apart and the sentence has the number of a source."""
_BESIDE_NO_NUMBER = re.compile(rf"(?<=\S){RECKONED}(?!(?:[^\[.!?。！？|\n]|[.!?](?=\S))*\[s?\d)")
"""The mark in a sentence, or cell, in which no number of a source follows: it is read as the report's own as it is."""


def workings_apart(text: str, *, is_own: bool = False) -> tuple[str, list[str]]:
    """Return a report with a mark in place of each working ("67 % (= 2 ÷ 3)", "67 %（= 2 ÷ 3）"), and the workings ("67 % = 2 ÷
    3"), each once, with its assumptions where one of them tells these: within a sentence they are in the reader's way.

    Where a sentence without a number `is_own` only figures beside the number of a source are marked.
    """
    told: dict[str, None] = {}

    def marked(found: re.Match[str]) -> str:
        told[f"{found[1].strip()} = {found[2]}"] = None
        return f"{found[1].rstrip()}{RECKONED}"

    shown = _BESIDE_NO_NUMBER.sub("", _WORKING.sub(marked, text)) if is_own else _WORKING.sub(marked, text)
    return shown, [each for each in told if not any(other.startswith(f"{each};") for other in told)]
