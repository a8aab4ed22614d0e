"""What a query asks for: its terms with their weights."""

import re

from deep_research.i18n.language import CJK, HAN, HANGUL
from deep_research.text.tokens import index_terms

_CJK = re.compile(f"[{CJK}]")
_HAN = re.compile(f"[{HAN}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_PARTICLE = re.compile("[のはをにがでとへもや的了是在和与與之]")

# A word of a spaced script is one term; a CJK word of n characters is n-1 bigrams and n characters.
# These weights make a CJK word of two or three characters count about as much as a word.
_BIGRAM = 0.35
_CHARACTER = 0.15
_ACROSS_A_PARTICLE = 0.15
_KANA_ENDING = 0.25

_ASKS_WHEN = re.compile("いつ|何[年月日時]|什么时候|什麼時候|何时|何時|哪年|哪一年|哪天|几[年月]|언제|몇 ?[년월]")
_DATE = re.compile("[0-9]+ ?[年月日時년월일]|世[紀纪]|세기")
_ASKS_HOW_MANY = re.compile("[何几幾몇] ?([人名歳岁살年月日時点回次番位個个种種本枚円元層层階字명개번])")
_ASKS_HOW_MUCH = re.compile("いくつ|いくら|何[%％]|ど(?:の|れ)?[くぐ]らい|多少|얼마")
_NUMBER = "[0-9一二三四五六七八九十百千万億亿兆만억]"


def query_terms(text: str) -> dict[str, float]:
    """Return the terms of a query with their weights; empty when it holds nothing but function words."""
    return {term: weight for term in index_terms(text) if (weight := _weight(term))}


def has_cjk(text: str) -> bool:
    """Whether any character of `text` is Chinese, Japanese or Korean."""
    return bool(_CJK.search(text))


def expected_answer(query: str) -> re.Pattern[str] | None:
    """Return what an answer must hold where the question word tells: a date, a number, a number of its unit.

    For Chinese, Japanese and Korean. None where it does not tell.
    """
    if _ASKS_WHEN.search(query):
        return _DATE
    if unit := _ASKS_HOW_MANY.search(query):
        return re.compile(f"{_NUMBER} ?[余約约多]?{unit[1]}")
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
