"""The parts of a question: what it asks besides each other ("who started it, and in which year?")."""

import re

from deep_research.i18n.lexicon import any_word, languages

_JOINTS = {code: re.compile(any_word("asking.joint_patterns", code), re.IGNORECASE) for code in languages()}
_ASKS = {code: re.compile(any_word("asking.word_patterns", code), re.IGNORECASE) for code in languages()}


def question_parts(question: str, language: str) -> tuple[str, ...]:
    """Return the parts of `question` in order; the whole of it where it asks one thing only.

    A piece without a question word says something about the piece beside it and stays with that.
    """
    joint, asks = _JOINTS.get(language), _ASKS.get(language)
    if joint is None or asks is None:
        return (question,)
    pieces = [piece.strip() for piece in joint.split(question) if piece.strip()]
    parts: list[str] = []
    waiting = ""
    for piece in pieces:
        if asks.search(piece):
            parts.append(f"{waiting} {piece}".strip())
            waiting = ""
        elif parts:
            parts[-1] = f"{parts[-1]} {piece}"
        else:
            waiting = f"{waiting} {piece}".strip()
    return tuple(parts) if len(parts) > 1 else (question,)
