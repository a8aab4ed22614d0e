"""Index terms of any script, one function for indexing, matching and checking.

Spaced scripts give case-folded words without diacritics, English-stemmed; a compound (`GLP-1`,
`max_connections`, `node.js`) gives itself and its parts, so that either way of writing finds the
other. Runs without spaces (Chinese, Japanese, Thai …) give character bigrams, which need no
dictionary (CJKAnalyzer of Apache Lucene). Korean gives bigrams of its words without the particle.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import Stemmer

from claimcheck.language import CJK, HAN, HANGUL, KANA
from claimcheck.lexicon import any_word, compile_on_use
from claimcheck.lexicon import words as words_of
from claimcheck.text.normal_forms import normalized

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_GRAMS = HAN + KANA + _UNSPACED
_INDIC = "\u0900-\u0dff"  # whose vowel signs are no word characters to `re`
_LETTERS = rf"(?:[a-z0-9]++|[^\W_{_GRAMS}{HANGUL}]|[{_INDIC}])++"
_WORD = r"[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])|(?:(?<![\w.])\.(?=[a-z]))?{0}(?:[.'\-_+#&]{0})*+[+#]*+"
_TOKEN = compile_on_use(rf"[{HANGUL}]+|[{_GRAMS}]+|" + _WORD.format(_LETTERS))
_ASCII_TOKEN = re.compile(_WORD.format("[a-z0-9]++"), re.ASCII)
_APART = "".join(sign if sign.isalnum() or sign in ".'-_+#&," else " " for sign in map(chr, range(128))).lower()
"""A table for `str.translate`: capitals become small, what stands in no ASCII token becomes a space."""
_KNOWN_WORDS = 200_000
_LONGEST = 64  # what is longer (keys, encoded data) is no word; its beginning will do
_HANGUL = compile_on_use(f"[{HANGUL}]")
_GRAM = compile_on_use(f"[{_GRAMS}]")
_CJK_CHAR = re.compile(f"[{CJK}]")
_HAN = compile_on_use(f"[{HAN}]")
_JOINTS = re.compile(r"[.'\-_+#&]")
_CONTRACTION = re.compile(r"(.+?)(?:'(?:s|m|re|ve|ll|d)|n't)")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_INVISIBLE = (
    dict.fromkeys(map(chr, (0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)), "")
    | dict.fromkeys("‘’ʼ", "'")
    | dict.fromkeys("‐‑‒−", "-")
)
_TYPOGRAPHIC = _INVISIBLE | dict.fromkeys("“”„«»–—•→", " ")
_UNDECOMPOSED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})

STOP_WORDS = frozenset(words_of("stop_words.function"))
"""Words that tell nothing of what a text is about; the index leaves them out."""
_QUESTION_WORDS = compile_on_use(any_word("question.word_patterns"))
_PARTICLES = words_of("morphology.particles", "ko")
_FRAGILE = frozenset(words_of("morphology.fragile_particles", "ko"))
"""Particles that are as often the last syllable of a noun: taken off longer words only."""
_STEMMER = Stemmer.Stemmer("english")


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return _STEMMER.stemWord(word) if word.isalpha() else word


FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""The plain sign of each full-width one, for `str.translate`."""


def normalise(text: str) -> str:
    """Return `text` in NFKC, case-folded, without full-width forms and ligatures."""
    return normalized("NFKC", text).casefold()


def fold_diacritics(word: str) -> str:
    """Return a case-folded word without Latin and Greek diacritics (é → e)."""
    if word.isascii():
        return word
    kept: list[str] = []
    for sign in normalized("NFKD", word):
        # A mark on a Cyrillic or Indic letter makes another letter (и, й); on a Latin one it is dropped.
        if unicodedata.combining(sign) and kept and kept[-1] < "\u0400":
            continue
        kept.append(sign)
    return normalized("NFKC", "".join(kept)).translate(_UNDECOMPOSED)


def tokenize(text: str) -> list[str]:
    """Return the index terms of `text` in order, including stop words."""
    return _terms(_plain(text), _TERMS, questions=True)


def content_terms(text: str) -> list[str]:
    """Return the index terms without stop words and question words, in order."""
    return _terms(_plain(text), _CONTENT_TERMS, questions=False)


def _terms(plain: str, known: "_ChunkTerms", *, questions: bool) -> list[str]:
    terms: list[str] = []
    if plain.isascii():
        for chunk in plain.translate(_APART).split():
            terms += known[chunk]
        return terms
    for run in _split(plain, questions=questions):
        terms += known[run] if run.isascii() else _run_terms(run, stop_words=questions)
    return terms


def index_terms(text: str) -> list[str]:
    """Return `content_terms` plus single Han characters and whole Korean words."""
    return join_index_terms(text).split()


def join_index_terms(text: str) -> str:
    """Return `index_terms` separated by spaces, which no term holds."""
    plain = _plain(text)
    if plain.isascii():  # the short way through for most of what is ever indexed
        return " ".join(_terms(plain, _CONTENT_TERMS, questions=False))
    terms: list[str] = []
    for run in _split(plain, questions=False):
        if run.isascii():
            terms += _CONTENT_TERMS[run]
            continue
        terms.extend(_run_terms(run, stop_words=False))
        if len(run) > 1:
            if _HANGUL.match(run):
                terms.extend(word for word in [without_particle(run)] if len(word) > 2)
            elif _GRAM.match(run):
                terms.extend(_HAN.findall(run))
    return " ".join(terms)


class _ChunkTerms(dict[str, tuple[str, ...]]):
    """Cached terms of ASCII chunks, with or without stop words: nothing is as fast."""

    def __init__(self, *, stop_words: bool) -> None:
        super().__init__()
        self._stop_words = stop_words

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(self) >= _KNOWN_WORDS:
            self.clear()
        kept = 0 if self._stop_words else 1
        terms = tuple(term for run in _ASCII_TOKEN.findall(chunk) for term in _word_terms(run[:_LONGEST])[kept])
        if len(chunk) <= _LONGEST:
            self[chunk] = terms
        return terms


_TERMS, _CONTENT_TERMS = _ChunkTerms(stop_words=True), _ChunkTerms(stop_words=False)


def _plain(text: str) -> str:
    """Return `text` case-folded, with plain apostrophes and hyphens."""
    if text.isascii():
        return text.lower()
    plain = normalise(text)
    signs = set(_NON_ASCII.findall(plain))
    known = _INVISIBLE if signs - _TYPOGRAPHIC.keys() else _TYPOGRAPHIC
    for sign in signs & known.keys():
        plain = plain.replace(sign, known[sign])
    return plain


def _split(plain: str, *, questions: bool) -> list[str]:
    if not questions and _CJK_CHAR.search(plain):
        plain = _QUESTION_WORDS.sub(" ", plain)
    return _TOKEN.findall(plain)


def _run_terms(run: str, *, stop_words: bool) -> Sequence[str]:
    if _GRAM.match(run):
        return _bigrams(run)
    if _HANGUL.match(run):
        return _bigrams(without_particle(run))
    every, content = _word_terms(run[:_LONGEST])
    return every if stop_words else content


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=50_000)
def without_particle(word: str, particles: tuple[str, ...] = _PARTICLES) -> str:
    """Return a Korean word without its first fitting particle, other words unchanged."""
    for particle in particles:
        if word.endswith(particle):
            stem = word[: -len(particle)]
            if len(stem) >= (2 if particle in _FRAGILE else 1):
                return stem
    return word


@lru_cache(maxsize=200_000)
def _word_terms(run: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all terms of a word or compound, and those without stop words."""
    written = _written(fold_diacritics(run))
    return tuple(map(_stem, written)), tuple(_stem(word) for word in written if word not in STOP_WORDS)


def _written(word: str) -> list[str]:
    """Return a word, or a compound and its parts, before stemming."""
    if word[0].isdigit() and "," in word:
        return [word.replace(",", "")]
    if contraction := _CONTRACTION.fullmatch(word):
        return [contraction[1]]
    parts = [part for part in _JOINTS.split(word) if part]
    if len(parts) < 2 or word.replace(".", "").isdigit():
        bare = word.strip(".+#")
        return [word] if word == bare or len(bare) < 2 else [word, bare]
    return [word.replace("-", ""), *(part for part in parts if len(part) > 1 or part.isdigit())]
