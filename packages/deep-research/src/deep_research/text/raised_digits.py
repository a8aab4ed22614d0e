"""Tell raised digits that cite, as in "Graz¹", from powers, as in "m²"."""

import re
from collections.abc import Sequence

RAISED_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
TO_RAISED = str.maketrans("0123456789", RAISED_DIGITS)
TO_PLAIN = str.maketrans(RAISED_DIGITS, "0123456789")
_POWER = re.compile(r"(?:(?<![\d.,])(?:2|10)|(?<![^\W\d_])(?:[a-zα-ω]|[kcdmµn]m|mi|ft))$", re.IGNORECASE)
"""What is raised to a power: 10⁶, m², x². A number from ten on, and a power of ten but the second and third, is a mark behind letters."""


def is_power(before: str, names: Sequence[str]) -> bool:
    """Return whether raised numbers after the text `before` are a power, not a mark."""
    return bool(_POWER.search(before)) and (before[-1].isdigit() or list(names[:1]) in (["2"], ["3"]))
