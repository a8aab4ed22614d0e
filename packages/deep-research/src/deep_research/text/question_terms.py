"""Words implied or asked for by a question beyond its own, and its codes."""

import re

from claimcheck.lexicon import any_word, table
from claimcheck.text.tokens import STOP_WORDS

_TWO_WORDS = re.compile(r"\b(?=([a-z]{3,})[ -]([a-z]{3,})\b)")
_HOW = re.compile(r"\bhow ([a-z]+)\b", re.IGNORECASE)
_PARTICLED = re.compile(any_word("question.particle_patterns"))
_CODE = re.compile(r"(?<![A-Za-z0-9_.\-/])[A-Z]{3,16}\d{1,6}[A-Z]?(?![A-Za-z0-9_/-])")


def joined_words(question: str) -> dict[str, tuple[str, ...]]:
    """Return compounds of neighbouring words in a question, by word.

    Documents may write both words of "thread safe" as "threadsafe", and the verb of "back up" as "backup".
    """
    verbs = _PARTICLED.finditer(question)
    found = {verb["verb"]: {verb["verb"] + verb["particle"]: None} for verb in verbs}
    for pair in _TWO_WORDS.finditer(question):
        one, other = pair.groups()
        if one not in STOP_WORDS and other not in STOP_WORDS:
            for word in (one, other):
                found.setdefault(word, {})[one + other] = None
    return {word: tuple(joined) for word, joined in found.items()}


def measures_asked(question: str) -> dict[str, tuple[str, ...]]:
    """Return the measures by degree word asked: "size" for "large" of "how large"."""
    said = table("question.degrees")
    found = (match[1].casefold() for match in _HOW.finditer(question))
    return {word: tuple(said[word].split()) for word in found if word in said}


def codes(text: str) -> tuple[str, ...]:
    """Return the codes of `text` in order, each once: 3+ capitals, then digits."""
    return tuple(dict.fromkeys(_CODE.findall(text)))
