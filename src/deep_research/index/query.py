"""What a query asks for: its terms with their weights."""

import re

from deep_research.text.language import CJK, HAN, HANGUL, KANA
from deep_research.text.tokens import index_terms

_CJK = re.compile(f"[{CJK}]")
_HAN = re.compile(f"[{HAN}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_PARTICLE = re.compile("[のはをにがでとへもや的了是在和与與之]")
_KANA = re.compile(f"[{KANA}]")

# A word of a spaced script is one term; a CJK word of n characters is n-1 bigrams and n characters.
# These weights make a CJK word of two or three characters count about as much as a word.
_BIGRAM = 0.35
_CHARACTER = 0.15
_ACROSS_A_PARTICLE = 0.15
_KANA_ENDING = 0.25


def query_terms(text: str) -> dict[str, float]:
    """Return the terms of a query with their weights; empty when it holds nothing but function words."""
    return {term: weight for term in index_terms(text) if (weight := _weight(term))}


def has_cjk(text: str) -> bool:
    """Whether any character of `text` is Chinese, Japanese or Korean."""
    return bool(_CJK.search(text))


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
