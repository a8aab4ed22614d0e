"""Read the words of a question, and measure how much of them a text has."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import log
from typing import NamedTuple

from claimcheck.language import CJK, HAN, HANGUL, zipf
from claimcheck.lexicon import any_of, any_word, compile_on_use, words
from claimcheck.text.tokens import STOP_WORDS, content_terms, fold_diacritics, index_terms, normalise, without_particle

NAME, PLAIN, COMMON = 2.0, 1.0, 0.3
"""What a word is worth that is written like a name, any other, and one that is said in every conversation."""
_ENOUGH = 0.5
"""Share of the pairs of signs of a word without spaces from which a text has it."""
_BASE, _RARE = 0.5, 0.3
"""What a word weighs that all texts have, and the share of its rarity that counts of a common word."""
RUN = compile_on_use(rf"[{CJK}]+|[^\W{CJK}]+(?:(?:[.'’\-_+#&/\u200c]|(?<=\d),(?=\d))[^\W{CJK}]+)*[+#]*")
_GRAMMAR = 5.8
"""Zipf frequency from which a sign that stands alone is no topic ("那", "그")."""
CJK_SIGN = compile_on_use(f"[{CJK}]")
_UNPARTED = compile_on_use(f"[{CJK}\u0900-\u109f\u1780-\u17ff]")
"""Signs of Chinese and its like, of Thai and its like, and of India, whose vowels take a word apart."""
_HANGUL_SIGN, _HAN_SIGN = re.compile(f"[{HANGUL}]"), re.compile(f"[{HAN}]")
_COMMON_TERMS = frozenset(content_terms(" ".join((*words("finding.common"), *words("question.furniture")))))
_LETTER, _ENDINGS = rf"[^\W\d_{CJK}]", "(?:es?|e?n|s|y|ies)"
_ENDING = re.compile(rf"(?<=\w{{3}}){_ENDINGS}$")
_JOINT = re.compile(r"[.'’\-_+#&/]")


class Word(NamedTuple):
    """A word with its index terms, its worth, and whether it is a name.

    `whole` or all of `parts` are the terms of a compound; a name has a capital within a sentence.
    """

    text: str
    whole: frozenset[str]
    parts: frozenset[str]
    worth: float
    is_name: bool = False

    def share(self, terms: frozenset[str]) -> float:
        """Return the share (0–1) of the word found in `terms`; below 0.5 it counts as 0."""
        if self.whole & terms if len(self.whole) == 1 else self.whole <= terms:
            return 1.0
        if not self.parts:
            return 0.0
        share = len(self.parts & terms) / len(self.parts)
        return share if share >= _ENOUGH else 0.0

    def stands_in(self, terms: frozenset[str], text: str) -> bool:
        """Return whether a text has the word; match names whole but for a plural ending.

        "fast" is not Fastly.
        """
        if self.share(terms) >= 1.0 and self.is_name and self.text.isalpha():
            stem = re.escape(fold_diacritics(normalise(_ENDING.sub("", self.text))))
            whole = f"(?<!{_LETTER}){stem}{_ENDINGS}?(?!{_LETTER})"
            return re.search(whole, fold_diacritics(normalise(text))) is not None
        return self.share(terms) >= 1.0 or stands_in(self.text, text)


def terms_of(text: str) -> frozenset[str]:
    """Return the index terms of a text, with single Han characters as terms as well."""
    return frozenset(index_terms(text))


@cache
def _furniture(language: str) -> re.Pattern[str]:
    listed = [word for word in words("finding.common", language) if len(word) > 1] if language == "zh" else []
    return re.compile(f"{any_word('question.furniture_patterns', language)}|{any_of(listed)}")


def read_words(text: str, language: str) -> list[Word]:
    """Return the distinct content words of a question, in order."""
    found: dict[frozenset[str], Word] = {}
    for place, run in enumerate(_runs(text, language)):
        terms = content_terms(run)
        if not terms:
            continue
        if CJK_SIGN.match(run):
            # A Korean word has its stem in front and its endings, which its other forms do not have, behind.
            parts = frozenset(terms[: len(terms) // 2 + 1] if _HANGUL_SIGN.match(run) else terms)
            made = Word(run, frozenset(terms), parts, COMMON if frozenset(terms) <= _COMMON_TERMS else PLAIN)
        else:
            parts = frozenset(term for part in _JOINT.split(run) for term in content_terms(part))
            whole = frozenset(terms) - parts or frozenset(terms)
            is_name = run[0].isupper() and not text.lstrip(" \"'“‘(").startswith(run)
            worth = _worth(run, terms, first=place == 0)
            made = Word(run, whole, parts if whole != parts else frozenset(), worth, is_name)
        found.setdefault(frozenset(terms), made)
    return list(found.values())


def _runs(text: str, language: str) -> Iterator[str]:
    """Yield the words of a text; in unspaced scripts, the runs between stock words."""
    runs = RUN.findall(_furniture(language).sub(" ", text) if CJK_SIGN.search(text) else text)
    for run in runs:
        word = without_particle(run) if _HANGUL_SIGN.match(run) else run
        # One sign is mostly left of an ending; where it is all there is ("암"), and as a Japanese stem, it may be a word.
        is_stem = len(runs) == 1 or (language == "ja" and _HAN_SIGN.match(word))
        is_rest = len(word) == 1 and CJK_SIGN.match(word) and (not is_stem or zipf(word, language) >= _GRAMMAR)
        if word.casefold() not in STOP_WORDS and not is_rest:
            yield word


def _worth(run: str, terms: Sequence[str], *, first: bool) -> float:
    # The first word of a sentence has its capital from there.
    if any(sign.isdigit() or sign.isupper() or sign in "_./" for sign in (run[1:] if first else run)):
        return NAME
    return COMMON if frozenset(terms) <= _COMMON_TERMS else PLAIN


def weigh(asked: Sequence[Word], said: Sequence[frozenset[str]]) -> list[Word]:
    """Weight words by how few of the texts with the terms `said` have them.

    The product's name stands on every page of its manual. A common word stays light however rare it is.
    """
    total = len(said) + 1
    counts = [sum(1 for terms in said if word.share(terms)) for word in asked]
    return [
        word._replace(worth=word.worth * (_BASE + (1.0 if word.worth > COMMON else _RARE) * log(total / (count + 1))))
        if count
        else word
        for word, count in zip(asked, counts, strict=True)
    ]


def coverage(
    asked: Sequence[Word], terms: frozenset[str], beside: frozenset[str] = frozenset(), less: float = 0
) -> float:
    """Return the share (0–1) of the words' worth found in `terms`.

    Words found only in `beside` count `less`.
    """
    total = sum(word.worth for word in asked)
    if not total:
        return 0.0
    held = (word.worth * max(word.share(terms), less * word.share(beside) if less else 0.0) for word in asked)
    return sum(held) / total


def is_run(text: str) -> bool:
    """Return whether a text's script lacks clear word breaks (CJK, Thai, Indic)."""
    return _UNPARTED.match(text) is not None


def stands_in(word: str, text: str) -> bool:
    """Return whether a word stands in a text whole, as it is written.

    "ttl" does not stand in "bottleneck", but "2.53" stands in "v2.53".
    """
    wanted = normalise(word)
    first, last = (r"\d" if sign.isdigit() else r"[^\W\d_]" for sign in (wanted[0], wanted[-1]))
    whole = f"(?<!{first}){re.escape(wanted)}(?!{last})"
    return any(wanted in form and re.search(whole, form) for form in (text.casefold(), normalise(text)))


def has_all(asked: Iterable[Word], terms: frozenset[str]) -> bool:
    """Return whether a text's terms have every word, names like "work_mem" whole.

    The parts of such names stand in other names too.
    """
    return all(word.whole <= terms if "_" in word.text else word.share(terms) >= 1.0 for word in asked)
