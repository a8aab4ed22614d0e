"""Codes: names such as STATUS6 or XYZ123 that nobody can guess the meaning of, told from words by their form."""

import re

_CODE = re.compile(r"(?<![A-Za-z0-9_.\-/])[A-Z]{3,16}\d{1,6}[A-Z]?(?![A-Za-z0-9_/-])")


def codes(text: str) -> tuple[str, ...]:
    """Return the codes of `text`, each once, in order: three capitals or more, then digits."""
    return tuple(dict.fromkeys(_CODE.findall(text)))
