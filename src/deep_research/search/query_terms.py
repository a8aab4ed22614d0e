"""What a query asks for: its terms with their weights."""

import re

from deep_research.i18n.language import CJK, HAN, HANGUL
from deep_research.i18n.lexicon import any_word, groups, table, words
from deep_research.text.tokens import index_terms

_CJK = re.compile(f"[{CJK}]")
_HAN = re.compile(f"[{HAN}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_PARTICLE = re.compile(f"[{''.join(words('morphology.particle_signs'))}]")

# A word of a spaced script is one term; a CJK word of n characters is n-1 bigrams and n characters.
# These weights make a CJK word of two or three characters count about as much as a word.
_BIGRAM = 0.35
_CHARACTER = 0.15
_ACROSS_A_PARTICLE = 0.15
_KANA_ENDING = 0.25

_ASKS_WHEN = re.compile(any_word("question.when_patterns"))
_DATE = re.compile(any_word("question.date_patterns"))
_ASKS_HOW_MANY = re.compile(f"{any_word('question.how_many')} ?({any_word('question.counters')})")
_ASKS_HOW_MUCH = re.compile(any_word("question.how_much_patterns"))
_SIGNS = (
    *table("numerals.digits"),
    *(name for listed in groups("scales").values() for text in listed for name in text.split()),
)
_NUMBER = f"[0-9{''.join(sign for sign in _SIGNS if len(sign) == 1)}]"
_ABOUT = any_word("question.approximately")


def query_terms(text: str) -> dict[str, float]:
    """Return the terms of a query with their weights; empty when it holds nothing but function words."""
    return {term: weight for term in index_terms(text) if (weight := _weight(term))}


def has_cjk(text: str) -> bool:
    """Return whether any character of `text` is Chinese, Japanese or Korean."""
    return bool(_CJK.search(text))


def expected_answer(query: str) -> re.Pattern[str] | None:
    """Return what an answer must hold where the question word tells: a date, a number, a number of its unit.

    For Chinese, Japanese and Korean. None where it does not tell.
    """
    if _ASKS_WHEN.search(query):
        return _DATE
    if unit := _ASKS_HOW_MANY.search(query):
        return re.compile(f"{_NUMBER} ?{_ABOUT}?{unit[1]}")
    return re.compile("[0-9]") if _ASKS_HOW_MUCH.search(query) else None


def _weight(term: str) -> float:
    if not _CJK.match(term):
        return 1.0
    if len(term) == 1:
        return _CHARACTER if _HAN.match(term) else 0.0
    if _HANGUL.match(term):
        return _BIGRAM
    if _PARTICLE.search(term):
        return _ACROSS_A_PARTICLE
    return _KANA_ENDING if _HIRAGANA.search(term) else _BIGRAM
