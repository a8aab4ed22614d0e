"""A small bilingual glossary: search terms of one language in another, without a model.

The terms stand in `glossary_terms.tsv`: one row per idea, one column per language, variants separated
by `|` with the usual one first. Terms are found leftmost-longest, as dictionary segmenters do; where
several rows share a surface, those that name it first win.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from deep_research.i18n.language import HAN, HANGUL, KANA
from deep_research.i18n.lexicon import any_word, compile_on_use, words

LANGUAGES = ("en", "zh", "ko", "ja")
"""The languages of the glossary, in the order of its columns."""

MAX_VARIANTS = 3
"""At most this many variants of a term are returned: more of them drown the query."""

MAX_CHARS = 4000
"""Only the beginning of a text is looked at: a query is a question, not a document."""

_HAN_CHAR = compile_on_use(f"[{HAN}]")
_LETTER = compile_on_use(f"[{HAN}{KANA}]")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]")
_HANGUL_CHAR = compile_on_use(f"[{HANGUL}]")
_LATIN = re.compile("[a-z0-9]")
_WORDS = re.compile(r"[a-z0-9]+(?:[.'’+#]+[a-z0-9]+)*[+#]*")
# Words that may stand beside a noun of one character without being a part of it.
_FUNCTION_CHARS = frozenset("".join(words("morphology.function_signs")))
_PARTICLE = compile_on_use(f"{any_word('morphology.after_noun_patterns')}(?![{HANGUL}])")


class _Match(NamedTuple):
    start: int
    end: int
    rows: tuple[int, ...]


class _Surfaces(NamedTuple):
    """The terms of one language: surface to row numbers, and how long the terms get that begin alike.

    Terms that begin alike share their first character, or in English their first word.
    """

    rows: dict[str, tuple[int, ...]]
    longest: dict[str, int]


def translations(text: str, *, source: str, target: str) -> list[str]:
    """Return the terms of `target` for the glossary terms in `text`, in order, none twice.

    `source` and `target` are ISO 639-1 codes; a language the glossary does not have gives nothing.
    English names inside a Chinese, Japanese or Korean text are translated too.
    """
    if source == target or source not in LANGUAGES or target not in LANGUAGES:
        return []
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARS]).casefold()
    matches = list(_find(plain, source))
    if "en" not in (source, target):
        matches = sorted([*matches, *_find(plain, "en")])
    column = LANGUAGES.index(target)
    rows = (row for match in matches for row in match.rows)
    return list(dict.fromkeys(term for row in rows for term in _rows()[row][column].split("|")[:MAX_VARIANTS]))


def terms_in(text: str, *, language: str) -> list[str]:
    """Return the glossary terms of `language` in `text` as they stand there, in order."""
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARS]).casefold()
    return [plain[match.start : match.end] for match in _find(plain, language)]


@lru_cache(maxsize=1)
def _rows() -> tuple[list[str], ...]:
    """Return one row per idea, one cell per language, variants not yet split (most are never asked for)."""
    lines = files("deep_research.text").joinpath("glossary_terms.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(line.split("\t") for line in lines[1:])


@lru_cache(maxsize=len(LANGUAGES))
def _surfaces(language: str) -> _Surfaces:
    column = LANGUAGES.index(language)
    ranked: dict[str, list[tuple[int, int]]] = {}
    longest: dict[str, int] = {}
    for number, row in enumerate(_rows()):
        for rank, term in enumerate(row[column].split("|")):
            for key in _keys(term, language):
                ranked.setdefault(key, []).append((rank, number))
                head, length = _head(key, language)
                longest[head] = max(length, longest.get(head, 0))
    return _Surfaces({key: _first_named(entries) for key, entries in ranked.items()}, longest)


def _first_named(entries: list[tuple[int, int]]) -> tuple[int, ...]:
    best = min(rank for rank, _ in entries)
    return tuple(dict.fromkeys(number for rank, number in entries if rank == best))


def _head(key: str, language: str) -> tuple[str, int]:
    if language == "en":
        words = key.split(" ")
        return words[0], len(words)
    return key[:1], len(key)


def _keys(term: str, language: str) -> Iterable[str]:
    plain = unicodedata.normalize("NFKC", term).casefold()
    if language == "en":
        return (" ".join(_lemma(word) for word in _WORDS.findall(plain)),)
    # Korean compounds are written with and without spaces.
    return {plain, plain.replace(" ", "")}


def _lemma(word: str) -> str:
    """Return the singular of an English noun. A stemmer goes too far: it takes `decoder` and `decoding` for one."""
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    for ending, singular in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", "")):
        if word.endswith(ending):
            return word[: -len(ending)] + singular
    return word


def _find(plain: str, language: str) -> Iterator[_Match]:
    surfaces = _surfaces(language)
    return _find_words(plain, surfaces) if language == "en" else _find_surfaces(plain, surfaces)


def _find_words(plain: str, surfaces: _Surfaces) -> Iterator[_Match]:
    """Match word by word; plurals and hyphens make no difference."""
    words = [(match.start(), match.end(), _lemma(match.group())) for match in _WORDS.finditer(plain)]
    position = 0
    while position < len(words):
        for length in range(surfaces.longest.get(words[position][2], 0), 0, -1):
            key = " ".join(lemma for *_, lemma in words[position : position + length])
            if key in surfaces.rows:
                start, end = words[position][0], words[min(position + length, len(words)) - 1][1]
                yield _Match(start, end, surfaces.rows[key])
                position += length - 1
                break
        position += 1


def _find_surfaces(plain: str, surfaces: _Surfaces) -> Iterator[_Match]:
    """Match by the longest surface at each place where a term may begin."""
    position = previous_end = 0
    while position < len(plain):
        end = _longest(plain, position, surfaces, after_term=position == previous_end > 0)
        if end > position:
            yield _Match(position, end, surfaces.rows[plain[position:end]])
            previous_end = end
        position = max(end, position + 1)


def _longest(plain: str, start: int, surfaces: _Surfaces, *, after_term: bool) -> int:
    """Return where the longest term at `start` ends, or `start` when there is none."""
    if not after_term and _inside_word(plain, start):
        return start
    for end in range(min(len(plain), start + surfaces.longest.get(plain[start], 0)), start, -1):
        if plain[start:end] in surfaces.rows and _whole(plain, start, end, surfaces):
            return end
    return start


def _inside_word(plain: str, start: int) -> bool:
    """Return whether `start` lies inside a Korean, katakana or Latin word: terms begin where words do."""
    if start == 0:
        return False
    pair = plain[start - 1], plain[start]
    return any(all(kind.match(char) for char in pair) for kind in (_HANGUL_CHAR, _KATAKANA, _LATIN))


def _whole(plain: str, start: int, end: int, surfaces: _Surfaces) -> bool:
    """Return whether the term is a word of its own here and not a part of an unknown one."""
    before, after = plain[start - 1 : start], plain[end : end + 1]
    last = plain[end - 1]
    if end - start == 1 and _HANGUL_CHAR.match(last):
        return not _HANGUL_CHAR.match(before) and bool(_PARTICLE.match(plain, end))
    if end - start == 1 and _LETTER.match(last):
        free_before = not _HAN_CHAR.match(before) or before in _FUNCTION_CHARS
        return free_before and (not _LETTER.match(after) or after in _FUNCTION_CHARS)
    if _KATAKANA.match(last) and _KATAKANA.match(after):
        return any(
            plain[end:stop] in surfaces.rows for stop in range(end + 2, end + surfaces.longest.get(after, 0) + 1)
        )
    return not (_LATIN.match(last) and _LATIN.match(after))
