"""Language of a text, detected from its script and its commonest words.

Chinese, Japanese and Korean are told apart by script (kana → Japanese, hangul → Korean, Han without
kana → Chinese), which needs no model and is right on single sentences; other scripts map to their
main language; Latin text is told apart by function words. A word that is common in the default language as well
("was", "die", "des", "los") says nothing: where no other speaks for a language, its rarer words decide.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import log10

from claimcheck import lexicon

HAN = "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
CJK = HAN + KANA + HANGUL

_SCRIPTS = {
    "zh": lexicon.compile_on_use(f"[{HAN}]"),
    "ja": re.compile(f"[{KANA}]"),
    "ko": lexicon.compile_on_use(f"[{HANGUL}]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
_WIDE = re.compile(f"[{CJK}]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]+")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
_WORD = re.compile(r"[^\W\d_]+")
_REMEMBERED = 2_000
_FUNCTION_SHARE = 0.08
"""Share of function words that tells a language; one "da" in a table of names does not."""
_LONG = 40
_CLEARLY = 1.25
"""How much more common the other words must be in the language: names are known in many."""
_COMMON = 4.0
"""Zipf value (base-10 logarithm of uses in a billion words) from which a word belongs to a language."""


def detect(text: str, *, default: str = "en") -> str:
    """Return the ISO 639-1 code of the language of `text`; `default` if undecidable.

    A quarter of the letters being CJK decides: "RAG 技术的最新进展有哪些" is Chinese.
    """
    # The same sentences and passages are asked for again and again; whole pages are not worth keeping.
    return _detect_again(text, default) if len(text) <= _REMEMBERED else _detect(text[:20_000], default)


def _detect(sample: str, default: str) -> str:
    if sample.isascii():
        return _detect_latin(sample, default)
    marked = "".join(_BEYOND_ASCII.findall(sample))  # no other script has letters in ASCII
    counts = {code: len(pattern.findall(marked)) for code, pattern in _SCRIPTS.items()}
    latin = sum(map(len, _LATIN.findall(sample)))
    cjk = counts["zh"] + counts["ja"] + counts["ko"]
    # A CJK character carries about as much as three Latin letters.
    if cjk and cjk * 3 >= latin * 0.34:
        if counts["ko"] >= max(counts["zh"], counts["ja"]):
            return "ko"
        # Japanese prose is at least a tenth kana; Chinese quoting a Japanese name is not.
        return "ja" if counts["ja"] * 10 >= counts["zh"] else "zh"
    other = max(("ru", "el", "ar", "he", "hi", "th"), key=lambda code: counts[code])
    if counts[other] > latin:
        return other
    return _detect_latin(sample, default) if latin else default


_detect_again = lru_cache(maxsize=4096)(_detect)


def _detect_latin(sample: str, default: str) -> str:
    words = _WORD.findall(sample.lower())
    scores = Counter(code for word in words for code in _function_words().get(word, ()))
    most = max(scores.values(), default=0)
    if most < _FUNCTION_SHARE * len(words) or most <= scores[default]:
        return default
    alike = sorted(code for code in scores if scores[code] == most)
    best = max(alike, key=lambda code: sum(zipf(word, code) for word in words)) if len(alike) > 1 else alike[0]
    return best if len(words) > _LONG or _speaks(best, default, words) else default


def _speaks(code: str, default: str, words: Sequence[str]) -> bool:
    """Return whether a short text is in `code`, not `default`, by word frequencies."""
    if not lexicon.words("language.function_words", default):
        return True
    own = [word for word in words if code in _function_words().get(word, ())]
    if any(zipf(word, default) < _COMMON for word in own):
        return True
    rest = [word for word in words if word not in own]
    told = sum(zipf(word, code) for word in rest)
    return told > _CLEARLY * sum(zipf(word, default) for word in rest)


def zipf(word: str, code: str) -> float:
    """Return the Zipf frequency of a word: log10 of uses per billion; 0 if unlisted."""
    share = _frequencies(code).get(word.casefold(), 0.0)
    return log10(share) + 9 if share else 0.0


@lru_cache(maxsize=8)
def _frequencies(code: str) -> Mapping[str, float]:
    """Return the share of each frequent word in a language; empty without a list."""
    from wordfreq import available_languages, get_frequency_dict  # noqa: PLC0415 - only for texts in doubt

    return get_frequency_dict(code, wordlist="small") if code in available_languages("small") else {}


@cache
def _function_words() -> dict[str, tuple[str, ...]]:
    """Return the Latin-script languages of each function word, from their lexica."""
    found: dict[str, tuple[str, ...]] = {}
    for code in lexicon.languages():
        for word in frozenset(lexicon.words("language.function_words", code)):
            found[word] = (*found.get(word, ()), code)
    return found


def language_name(code: str) -> str:
    """Return the language's own name, or the code where we have none."""
    return lexicon.entry("language.name", code) or code


def columns(text: str) -> int:
    """Return the width of `text` in monospaced columns, two for a CJK character."""
    return len(text) + len(_WIDE.findall(text))


def is_cjk(code: str) -> bool:
    """Return whether a language is written without word spaces or in mixed script."""
    return code in ("zh", "ja", "ko")
