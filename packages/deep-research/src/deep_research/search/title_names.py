"""Names in a text, and the keys under which names and titles are looked up.

A name is a run of capitalised words (with the small words inside it), a katakana word, or what stands in title marks.
Without a model this is what links passages, as in the passage graphs of HippoRAG (Gutiérrez et al., 2024).
"""

import re
from functools import lru_cache, reduce

from claimcheck.language import CJK
from claimcheck.lexicon import compile_on_use, groups, words
from claimcheck.text.tokens import STOP_WORDS, content_terms, fold_diacritics, normalise

LONGEST_TITLE = 12  # words of it, or characters in a run without spaces
_UPPER = "".join(letter for letter in map(chr, range(ord("A"), 0x530)) if letter.isupper())
_INNER = rf"[^\W{CJK}]"
_CAPITAL = rf"(?:[{_UPPER}](?:(?:{_INNER}|['’.\-&])*{_INNER})?|\d(?:(?:{_INNER}|[.,\-])*{_INNER})?)"
_SMALL = r"(?:of|the|and|de|la|le|du|des|von|van|der|den|di|da|del|for|in|on|at|to|a|an|et|el|al|y|[&–-])"
_PHRASE = compile_on_use(rf"{_CAPITAL}(?:,? (?:{_SMALL} ){{0,2}}{_CAPITAL})*")
_BREAK = re.compile(r",| and | (?=(?:in|at|on|for|to) )")
_MARKED = re.compile(r"[《「『〈“]([^《》「」『』〈〉“”\n]{2,24})[》」』〉”]|([\u30a1-\u30fa\u30fb\u30fc]{3,})")
_WORD = re.compile(r"[^\W_]+")
_PIECE = compile_on_use(rf"[{CJK}]|[^\W_{CJK}]+")
_CJK_CHAR = re.compile(f"[{CJK}]")
_PARENTHESIS = re.compile(r"(?<!\s)\s*[(（][^()（）]*[)）]\s*")
_NUMBERING = re.compile(r"(?i)(?:(?:chapter|section|part|appendix) )?(?:[0-9]+|[a-z](?=\.))(?:\.[0-9]+)*\.? +")
HEADING = "#"  # what the keys of headings within a document begin with
_DASH = re.compile(r"(?<!\s)\s+[—–-]\s+")
_MONTHS = {text.split()[0] for listed in groups("months").values() for text in listed}
_NOT_NAMES = STOP_WORDS.union(words("stop_words.leading"), words("stop_words.weekdays"), _MONTHS)


def key(name: str) -> str:
    """Return a name's key: its words, case-folded, spaced in spaced scripts alone."""
    return reduce(_join, (word for word, _ in _words(name)), "")


@lru_cache(maxsize=500)
def title_keys(title: str) -> frozenset[str]:
    """Return a title's keys: whole, bare, and the part before a comma or dash."""
    bare = bare_title(title)
    head, *tail = _DASH.split(bare, maxsplit=1)
    keys = {key(title), key(bare), key(bare.partition(",")[0]), key(head) if tail else ""}
    return frozenset(k for k in keys if _is_name(k))


def bare_title(title: str) -> str:
    """Return a title without its numbering and what it has in parentheses."""
    bare = _PARENTHESIS.sub(" ", title).strip() or title
    numbered = _NUMBERING.match(bare)
    return bare[numbered.end() :] or bare if numbered else bare


@lru_cache(maxsize=20_000)
def heading_key(heading: str) -> str:
    """Return a heading's key, its terms without number and small words, or ""."""
    terms = content_terms(bare_title(heading))
    return HEADING + " ".join(terms) if terms else ""


def names(text: str) -> set[str]:
    """Return the keys of the names in `text`."""
    found = {k for phrase in _PHRASE.findall(text) for k in _keys(phrase)}
    if not text.isascii():
        found.update(k for marked, word in _MARKED.findall(text) if _is_name(k := key(marked or word)))
    return found


@lru_cache(maxsize=50_000)
def _keys(phrase: str) -> tuple[str, ...]:
    """Return the keys of the names in a run of capitalised words; cached."""
    found: list[str] = []
    for part in _BREAK.split(phrase):  # at commas and prepositions
        words = part.split()
        while len(words) > 1 and words[0].casefold() in _NOT_NAMES:
            words = words[1:]
        found.append(key(" ".join(words)))
    return tuple(k for k in found if _is_name(k))


def _is_name(k: str) -> bool:
    enough = 2 if _CJK_CHAR.match(k) else 3
    return len(k) >= enough and k not in _NOT_NAMES and not k.isdigit()


def phrases(text: str) -> list[str]:
    """Return the runs of capitalised words in `text`, with the small words inside."""
    return _PHRASE.findall(text)


def possible_titles(text: str) -> list[dict[str, int]]:
    """Return for each word the titles that may begin there: key to number of words.

    The longest is first. A single word counts where it is capitalised: "Brother" is a word of every text.
    """
    words = _words(text)
    places: list[dict[str, int]] = []
    for start in range(len(words)):
        keys: list[tuple[str, int]] = []
        k = ""
        for width, (word, _) in enumerate(words[start : start + LONGEST_TITLE], start=1):
            k = _join(k, word)
            if (width > 1 or words[start][1]) and _is_name(k):
                keys.append((k, width))
        places.append(dict(reversed(keys)))
    return places


def _join(text: str, word: str) -> str:
    """Append a word, after a space where both are of spaced scripts."""
    if not text:
        return word
    return f"{text} {word}" if not _CJK_CHAR.match(word) and not _CJK_CHAR.match(text[-1]) else text + word


def _words(text: str) -> list[tuple[str, bool]]:
    """Return a text's words, each CJK character one, and whether each is capitalised."""
    if text.isascii():
        return [(run.casefold(), not run[0].islower()) for run in _WORD.findall(text)]
    pieces = _PIECE.findall(text)
    return [(fold_diacritics(normalise(p)), not p[0].islower() and not _CJK_CHAR.match(p)) for p in pieces]
