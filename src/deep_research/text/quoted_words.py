"""Whether what a reviewer quotes of a text still stands there: a check or a further attempt may have put it right since."""

import re

from deep_research.text.tokens import normalise

_QUOTED = re.compile(r"[“\"'‘「『《]([^”\"'’」』》\n]{4,200})[”\"'’」』》]")
_MARKS = re.compile(r"\[(?:s\d+p\d+|open)\]|[†*_]", re.IGNORECASE)
_LEAST_CHARS = 4


def still_said(remark: str, text: str) -> bool:
    """Tell whether the words that a remark quotes first stand in `text`, or it quotes none; a piece between omissions will do."""
    quoted = _QUOTED.findall(remark)
    if not quoted:
        return True
    said = plain_words(text)
    return any(piece in said for piece in _pieces(quoted[0]))


def plain_words(text: str) -> str:
    """Return a text without ids and marks, as it is compared."""
    return " ".join(normalise(_MARKS.sub("", text)).split())


def _pieces(words: str) -> list[str]:
    """Return what a quotation says between its omissions ("it was … and is")."""
    parts = (plain_words(part).strip(" .,;:") for part in re.split(r"…|\.\.\.", words))
    return [piece for piece in parts if len(piece) >= _LEAST_CHARS]
