"""Workings of figures: "68 (= 8 × 1024 ÷ 120)", told apart from the sentences that they stand in."""

import re

_WORKING = re.compile(r"(-?\d[\d.,]*[^\d()（）|*\n]{0,24}?) ?[(（]= ((?:[^()（）\n]|\([^()\n]*\))*)[)）]")
RECKONED = "⁼"
"""Stands behind a figure that was reckoned, where the working is told apart."""


def workings_apart(text: str) -> tuple[str, list[str]]:
    """Return a report with a mark in place of each working ("67 % (= 2 ÷ 3)", "67 %（= 2 ÷ 3）"), and the workings ("67 % = 2 ÷
    3"), each once, with its assumptions where one of them tells these: within a sentence they are in the reader's way."""
    told: dict[str, None] = {}

    def marked(found: re.Match[str]) -> str:
        told[f"{found[1].strip()} = {found[2]}"] = None
        return f"{found[1].rstrip()}{RECKONED}"

    shown = _WORKING.sub(marked, text)
    return shown, [each for each in told if not any(other.startswith(f"{each};") for other in told)]
