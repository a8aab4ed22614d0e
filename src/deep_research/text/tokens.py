"""Index terms of any script, one function for indexing, matching and checking.

Spaced scripts give case-folded, stemmed words; Chinese and Japanese runs give character bigrams
(which need no dictionary, see CJKAnalyzer of Apache Lucene); Korean gives its space-separated words
and their bigrams, because particles are glued to the noun.
"""

import re
import unicodedata
from functools import lru_cache

import Stemmer

from deep_research.text.language import HAN, HANGUL, KANA

_TOKEN = re.compile(rf"[{HANGUL}]+|[{HAN}{KANA}]+|[^\W_{HAN}{KANA}{HANGUL}]+(?:[.'’\-+#][^\W_{HAN}{KANA}{HANGUL}]+)*[+#]*")
_CJK_RUN = re.compile(rf"[{HAN}{KANA}{HANGUL}]")

STOP_WORDS = frozenset(
    "a about above after again against all also am an and any are as at be because been before being below between"
    " both but by can could did do does doing down during each etc few for from further had has have having he her"
    " here hers him his how i if in into is it its itself just me more most my no nor not now of off on once only or"
    " other our out over own please same she should so some such than that the their them then there these they this"
    " those through to too under until up us use used using very was we were what when where which while who whom"
    " why will with would you your".split()
)


@lru_cache(maxsize=1)
def _stemmer() -> "Stemmer.Stemmer":
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return _stemmer().stemWord(word)


def normalise(text: str) -> str:
    """Return `text` in NFKC, case-folded: full-width forms and ligatures become plain."""
    return unicodedata.normalize("NFKC", text).casefold()


def tokenize(text: str) -> list[str]:
    """Return the index terms of `text` in order, stop words included (callers decide)."""
    terms: list[str] = []
    for run in _TOKEN.findall(normalise(text)):
        if _CJK_RUN.match(run):
            terms.extend(_bigrams(run))
        else:
            terms.append(_stem(run))
    return terms


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def content_terms(text: str) -> list[str]:
    """Return the index terms without stop words, in order."""
    kept: list[str] = []
    for run in _TOKEN.findall(normalise(text)):
        if _CJK_RUN.match(run):
            kept.extend(_bigrams(run))
        elif run not in STOP_WORDS:
            kept.append(_stem(run))
    return kept
