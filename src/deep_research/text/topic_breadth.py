"""Whether a bare topic is too wide to be researched as it stands, by how common its words are in ordinary language.

"Cancer" and "quantum computing" are said everywhere, "sotorasib" and "speculative decoding" are not: the frequencies
(wordfreq, from Wikipedia, subtitles, news, books and the web) tell them apart in every language without a list of
topics. A Chinese, Japanese or Korean term of the glossary is weighed as its English counterpart.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log10

from deep_research.i18n.language import CJK
from deep_research.i18n.lexicon import words as words_of
from deep_research.text.glossary import translations
from deep_research.text.tokens import STOP_WORDS, without_particle

_COMMON_ALONE, _COMMON_TOGETHER = 3.6, 4.0
"""Zipf frequency (base-10 logarithm per billion words) from which a word alone, or each of two, is common."""
_MOST_WORDS = 2
_LONGEST_PIECE = 6
_LONGEST_TOPIC = 200
_UNSEEN = -9.0
_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"[{CJK}]+|[^\W{CJK}]+(?:['’\-][^\W{CJK}]+)*")
_ASPECTS = frozenset([*words_of("reference.aspects"), *words_of("question.aspects")])
"""What is asked of a thing ("history"): beside another word it narrows a topic."""
_UNSPACED = ("zh", "ja")


def is_broad(topic: str, language: str) -> bool:
    """Return whether `topic` is one or two common words and nothing that narrows them: no name, code or rarer word."""
    said = _WORD.findall(topic) if len(topic) <= _LONGEST_TOPIC else []
    words = [word for word in said if word.casefold() not in STOP_WORDS]
    if not words or _has_name(said):
        return False
    english = translations(topic, source=language, target="en") if _CJK_RUN.search(topic) else []
    if english and _covers(topic, language, english[0]):
        return _are_common(english[0].split(), "en")
    if language in _UNSPACED and len(words) == 1:
        words = _cut(words[0], language)
    if language == "ko":
        words = [without_particle(word) for word in words]
    if len(words) > 1 and any(word.casefold() in _ASPECTS for word in words):
        return False
    return _are_common(words, language)


def _has_name(words: Sequence[str]) -> bool:
    """Return whether a word is written like a name: digits, capitals within, or Latin letters in another script.

    The first word of a message may have its capital from there.
    """
    if any(c.isdigit() or c.isupper() for place, word in enumerate(words) for c in (word[1:] if place == 0 else word)):
        return True
    return len({_CJK_RUN.match(word) is None for word in words}) > 1


def _covers(topic: str, language: str, english: str) -> bool:
    """Return whether a translation is that of the whole topic, not of a part of it."""
    back = translations(english, source="en", target=language)
    return any("".join(term.split()) == "".join(topic.split()) for term in back)


def _are_common(words: Sequence[str], language: str) -> bool:
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    least = _COMMON_ALONE if len(words) == 1 else _COMMON_TOGETHER
    return all(_zipf(word, language) >= least for word in words)


def _zipf(word: str, language: str) -> float:
    share = _frequencies(language).get(word.casefold(), 0.0)
    return log10(share) + 9 if share else 0.0


@lru_cache(maxsize=4)
def _frequencies(language: str) -> Mapping[str, float]:
    """Return the share of each frequent word of a language among all words; nothing for a language without a list."""
    from wordfreq import available_languages, get_frequency_dict  # noqa: PLC0415 - only where a topic stands alone

    return get_frequency_dict(language, wordlist="small") if language in available_languages("small") else {}


def _cut(run: str, language: str) -> list[str]:
    """Cut a run of a script without spaces into its likeliest words; a character in no word stands alone."""
    known = _frequencies(language)
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for end in range(1, len(run) + 1):
        ways = [
            (best[start][0] + (log10(share) if (share := known.get(run[start:end], 0.0)) else _UNSEEN), start)
            for start in range(max(0, end - _LONGEST_PIECE), end)
            if end - start == 1 or run[start:end] in known
        ]
        score, start = max(ways)
        best.append((score, [*best[start][1], run[start:end]]))
    return best[-1][1]
