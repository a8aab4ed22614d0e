"""Lengths of what a model writes around the sections, held by code: what is far too long is cut at a sentence."""

import re

from deep_research.reasoners.model.prompt_views import range_of

_IDS = r"\[s\d+p\d+(?:\s*[,;]\s*s\d+p\d+)*\]"
_CITED = re.compile(_IDS)
_LATIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/=<>+-]*")
_END = re.compile(rf"[.!?。！？](?:\s*{_IDS})*(?=\s|$)|\n(?=\n)")
_TOLERANCE = 4 / 3
_HALF = 0.5


def length_in(text: str, language: str) -> int:
    """Return how long a text is, ids not counted: words, or characters where a language is measured by them; a word in
    Latin letters is then as long as a word of that language."""
    plain = _CITED.sub("", text)
    if not range_of("answer", "standard", language).in_characters:
        return len(plain.split())
    return len(re.sub(r"\s", "", _LATIN_WORD.sub("00", plain)))


def within_length(text: str, kind: str, depth: str, language: str) -> str:
    """Return a text without its last sentences where it is more than a third too long."""
    most = range_of(kind, depth, language).most * _TOLERANCE
    if length_in(text, language) <= most:
        return text
    ends = [found.end() for found in _END.finditer(text)]
    fitting = [end for end in ends if length_in(text[:end], language) <= most]
    return text[: fitting[-1]].rstrip() if fitting else text


def is_too_short(text: str, kind: str, depth: str, language: str, *, of: str) -> bool:
    """Return whether a text has less than half of the least length though `of`, what it sums up, has four times that."""
    least = range_of(kind, depth, language).least
    return length_in(text, language) < _HALF * least and length_in(of, language) >= 4 * least
