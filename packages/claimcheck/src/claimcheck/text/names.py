"""Proper names and identifiers of a claim, compared with the evidence.

Names are runs of capitalised words, acronyms, words with digits or inner capitals (KRAS G12C,
GPT-4o, LangGraph), versions (Python 3.11) and titles in 《》. The first word of a sentence is no name
just because it is capitalised. In Chinese, Japanese and Korean sentences names are their Latin words
and titles: native names cannot be told from other words without a dictionary.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

from claimcheck.language import CJK, detect
from claimcheck.lexicon import any_word, words
from claimcheck.text.kept_readings import keep_readings
from claimcheck.text.measures import EXACT, MONTHS, WORDS, Quantity
from claimcheck.text.quantities import find_others, quantities
from claimcheck.text.tokens import STOP_WORDS, normalise


class Name(NamedTuple):
    """A name at `text[start:end]`; `strict` for identifiers, matched exactly."""

    text: str
    start: int
    end: int
    strict: bool


_TITLE = re.compile(r"《([^《》]{1,80})》|〈([^〈〉]{1,80})〉|『([^『』]{1,80})』")
_LATIN = "A-Za-zÀ-ɏ"
_WORD = re.compile(rf"[{_LATIN}0-9µμα-ωΑ-Ω](?:[{_LATIN}0-9α-ω+#_]|[-.'’&/](?=[{_LATIN}0-9]))*")
_CONNECTOR = re.compile(rf"{any_word('names.connectors')}\Z")
_FIRST_NAME = re.compile(rf"([A-Z][{_LATIN}.'’-]*) (?:{any_word('names.connectors')} )*$")
_INITIAL = re.compile(r"\.\s[A-Z]")
_NUMBERED = re.compile(
    r" (\d{1,2}(?:\.\d{1,2})?)(?=[\s,;:)]*(?:$|[.,;:)](?!\d)|\s(?:and|or|is|was|are|were|has|had|to|on|in|with|at|by|as|can|did|does|adds?|the|a)\b))"
)
_CODE_NUMBER = re.compile(
    _NUMBERED.pattern.replace(r"\d{1,2}(?:\.\d{1,2})?", r"(?!(?:19|20)\d\d(?!\d))\d{1,5}(?:\.\d{1,2})?")
)
"""After an identifier a longer number that is no year belongs to the name as well."""
_OTHER_SECTION = re.compile(any_word("statement.other_section_patterns"), re.IGNORECASE)
_BEFORE_NAME = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov|Rev|Hon|Mt|U\.S|U\.K|U\.N)\.\s$"
    r"|(?P<start>(?:^|[.!?。！？:：;；|•]|\n\s*[-*+]|\n)[\"'“”‘’(\[*_«「《\s]*$)"
)
"""What a sentence, cell or item begins behind; after the full stop of a title the word behind it is a name."""
_ARTICLES = frozenset(words("names.articles"))
"""Connectors that also stand behind a verb."""
_VERBAL = re.compile(r"[A-Z][a-z]+(?:ing|ed)\Z")
_HYPHENATED = re.compile(r"[A-Z][a-z]+(?:-[a-z]+)+\Z")
"""What a capital at the beginning of a sentence makes no name: Side-steps, Low-level."""
_NOT_NAMES = frozenset([*MONTHS, *WORDS, *STOP_WORDS, *words("stop_words.weekdays"), *words("stop_words.frame")])
_KEYWORDS = frozenset(word.upper() for word in words("names.keywords"))
"""Words of query languages and protocols, which in code are no names."""
_CODE_SPAN = re.compile(r"`[^`\n]+`")
_PERSONS_TITLES = frozenset(words("names.persons_titles"))
_MIXED = re.compile(r"[a-z0-9][A-Z]|[a-z]_[a-z]|[A-Z]{2}|[A-Za-z]\d|\d[A-Za-z]|[a-z]\.[a-z]{2,}")
_QUANTITY = re.compile(r"[~<>]?\d[\d.,]*(?:st|nd|rd|th|s|x|[a-zA-Zµμ]{1,4})?(?:-[a-z]+)*\Z")
_IS_VERSION = re.compile(
    r"(?=.{1,60}\Z)(?:(?P<v>v\.?)|versions? )?(?P<number>\d+(?:\.\d+)*?)(?P<zeros>(?<=\.\d)(?:\.0)+)?", re.IGNORECASE
)
_LAST_NUMBER = re.compile(r"(?<![\d.])\d+(?:\.\d+)+(?=\W*\Z)")
_ADDRESS = re.compile("[:/]")
_UNIT_LIKE = frozenset(EXACT) | frozenset(
    "KB MB GB TB PB GiB MiB TiB kHz MHz GHz Hz kW MW GW kWh USD EUR GBP RMB CNY KRW mL dL".split()
)


def is_ordinary(word: str) -> bool:
    """Return whether a capitalised word is a common word, month, weekday or number."""
    return word.lower() in _NOT_NAMES


@lru_cache(maxsize=4096)  # a text is asked for once for each claim that cites it
def names(text: str) -> tuple[Name, ...]:
    """Return the names of `text` in order, titles first where they nest."""
    found = [Name(next(g for g in m.groups() if g), m.start(), m.end(), True) for m in _TITLE.finditer(text)]
    spans = [(n.start, n.end) for n in found]
    language = detect(text)
    runs = _runs(text, capitals_are_names=language != "de")
    code = [span.span() for span in _CODE_SPAN.finditer(text)]
    keywords = (n for n in runs if n.text in _KEYWORDS and any(a <= n.start < b for a, b in code))
    spans += [(n.start, n.end) for n in keywords]
    found.extend(n for n in runs if not any(a <= n.start < b for a, b in spans))
    found.extend(v for v in _versions(text) if not any(n.start < v.end and v.start < n.end for n in found))
    return tuple(sorted(found, key=lambda n: n.start))


@lru_cache(maxsize=4096)
def amounts(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of `text` outside names ("Q 100") and "see section 2"."""
    named = [(n.start, n.end) for n in names(text) if re.search(r"\s\d", n.text)]
    named = sorted([*named, *(pointer.span() for pointer in _OTHER_SECTION.finditer(text))])
    starts = [start for start, _ in named]
    found = ((q, bisect_right(starts, q.start) - 1) for q in quantities(text))
    return tuple(q for q, last in found if last < 0 or q.start >= named[last][1])


def _versions(text: str) -> Iterator[Name]:
    """Yield versions outside quantities and names: version 1.55, tool@1.55, v.2."""
    for other in find_others(text):
        if _IS_VERSION.fullmatch(other[0]):
            yield Name(other[0], other.start(), other.end(), True)
        elif (number := _LAST_NUMBER.search(other[0])) and not _ADDRESS.search(other[0]):
            yield Name(number[0], other.start() + number.start(), other.start() + number.end(), True)


def _runs(text: str, *, capitals_are_names: bool) -> list[Name]:
    """Join neighbouring name words: New York, University of California, KRAS G12C."""
    found: list[Name] = []
    run: list[re.Match[str]] = []
    bridge: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        is_name = bool(word[0][0].isupper() or _MIXED.search(word[0]))
        is_name = is_name and not _QUANTITY.match(word[0]) and word[0] not in _UNIT_LIKE
        if run and text[(bridge or run)[-1].end() : word.start()] in (" ", "\u00a0"):
            if is_name:
                run, bridge = [*run, *bridge, word], []
                continue
            if not bridge and _CONNECTOR.match(word[0]):
                bridge = [word]
                continue
        if run:
            found += _make(text, run, capitals_are_names=capitals_are_names)
        run, bridge = [word] if is_name else [], []
    return found + (_make(text, run, capitals_are_names=capitals_are_names) if run else [])


def _make(text: str, run: list[re.Match[str]], *, capitals_are_names: bool) -> list[Name]:
    """Return the names in a run of words, without ordinary words at both ends."""
    starts_sentence = begins_sentence(text, run[0].start())
    while run and run[0][0].lower().removesuffix("'s") in _NOT_NAMES:
        run, starts_sentence = run[1:], False
    while run and run[-1][0].lower() in _NOT_NAMES:
        run = run[:-1]
    if starts_sentence and len(run) > 1:
        first, second = run[0][0], run[1][0]
        is_verb = (_VERBAL.match(first) and _is_identifier(second)) or (
            second in _ARTICLES and _is_identifier(run[2][0])
        )
        if is_verb or _HYPHENATED.match(first):
            run, starts_sentence = run[1:], False
    if starts_sentence and len(run) == 1 and not _MIXED.search(run[0][0]) and not _NUMBERED.match(text, run[0].end()):
        return []
    if not run or len(run[0][0]) == 1 == len(run):
        return []
    found: list[Name] = []
    for are_identifiers, group in groupby(run, key=lambda word: _is_identifier(word[0])):
        if not are_identifiers:
            found += filter(None, [_plain(text, list(group))])
            continue
        for word in group:
            number = _CODE_NUMBER.match(text, word.end())
            end = number.end() if number else word.end()
            found.append(Name(_singular(word[0]) + text[word.end() : end], word.start(), end, True))
    return [n for n in found if n.strict or capitals_are_names]


def begins_sentence(text: str, start: int) -> bool:
    """Tell whether a sentence, cell or item begins at `start`."""
    before = _BEFORE_NAME.search(text, start - 16, start)
    return before is not None and before.lastgroup == "start"


def _plain(text: str, words: list[re.Match[str]]) -> Name | None:
    own = [at for at, word in enumerate(words) if word[0][0].isupper() and word[0].lower() not in _NOT_NAMES]
    words = words[own[0] : own[-1] + 1] if own else []
    if len(words) > 1 and len(words[-1][0]) == 1 and _INITIAL.match(text, words[-1].end()):
        words = words[:-1]  # John F. Kennedy
    if not words:
        return None
    start, end = words[0].start(), words[-1].end()
    number = _NUMBERED.match(text, end)
    if number:
        return Name(text[start : number.end()], start, number.end(), True)
    return Name(_singular(text[start:end]), start, end, False)


def _is_identifier(word: str) -> bool:
    """Tell whether a word is a code: digits in letters, inner capitals, an acronym."""
    return bool(re.search(r"\d", word)) or bool(_MIXED.search(re.sub(r"['’]s$", "", word)))


def _singular(word: str) -> str:
    return re.sub(r"(?<=[A-Z0-9])s$|['’]s?$", "", word)


def missing_names(claim: str, evidence: str) -> list[Name]:
    """Return the names of `claim` missing in `evidence` (passage, title, headings).

    Accepted are differences of case, hyphens and possessives, an acronym for its expansion and the reverse, several
    names in one ("UNIQUE/CHECK"), a family name (unless another first name precedes it), an adjective for its country.
    """
    wanted = [name for name in names(claim) if len(name.text) <= _LONGEST]
    there = name_index(evidence) if wanted else NameIndex("")
    return [
        name
        for name in wanted
        if not there.has(name)
        and not ("/" in name.text and all(p and there.has(name._replace(text=p)) for p in name.text.split("/")))
    ]


_MEMBER = re.compile(r"(?:[A-Za-z_]\w*\.)+([A-Za-z_]\w{2,})(?:\(\))?")
"""A name of code with the module or class it belongs to: documentation leaves those out under their heading."""
_RELEASE = re.compile(r"(?=.{1,200}\Z)(?P<of>.*[A-Za-z][\w.+#-]*) (?P<number>\d+\.\d+)")
_VERSION_WORD = f"(?:{any_word('numbers.name_before_patterns')})"
_GAP = r"[\s\-‐‑–_./'’&:`*]*"
"""What may stand between the parts of a name: GPT-4, :pep:`793`, "name’_*rest*"."""
_VERSION = r"(?:versions?:?\s*)?"
"""What may stand before the number of one: Python-Version: 3.14."""
_INNER_CAPITAL = re.compile(r"(?<=[a-z]{2})(?=[A-Z])")


@lru_cache(maxsize=20_000)
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for a name's spellings: GPT-4, GPT 4 and GPT4, not GPT-4o.

    Also Llama 3, but not Llama 3.1; FreeDesktop as Free Desktop; v1.55.0 as 1.55, and version 1.55 as 1.55.2.
    """
    if version := _IS_VERSION.fullmatch(name):
        mark = r"(?:v(?:ersions?)?[\s.:]*)"
        if not (version["v"] and version["number"].isdigit()):  # "v2" is no other 2
            mark += "?"
        behind = r"(?:\.0)*" if version["zeros"] else r"(?:\.\d+)*"
        return re.compile(rf"(?<![a-z0-9])(?<!\d\.){mark}{re.escape(version['number'])}{behind}(?!\.?\d|[a-z])")
    pieces = re.findall(r"[^\W\d_]+|\d+(?:\.\d+)*|[+#]+", normalise(_INNER_CAPITAL.sub(" ", name)))
    body = f"{_GAP}{_VERSION}".join(map(re.escape, pieces))
    return re.compile(rf"(?<![a-z0-9])(?<!\d\.){body}(?:['’]?s)?(?![a-z0-9]|\.\d)")


_LONGEST = 200
"""Characters of a name: its pattern has a part for each change of letters and digits."""


def _is_form(word: str, other: str) -> bool:
    """Tell whether one word is another or a form of it: an adjective for its country."""
    stem = word[: max(5, len(word) - 2)]
    return word == other or (len(word) >= 5 and other.startswith(stem) and abs(len(other) - len(word)) <= 3)


class NameIndex:
    """Tells whether a text contains a name; its comparison forms are computed once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = normalise(text)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the text, lower case."""
        return frozenset(re.findall(r"[^\W_]+", self.plain))

    @cached_property
    def initials(self) -> str:
        """Return the initials of all words, with and then without stop words."""
        words = re.findall(rf"[{_LATIN}]+", self.plain)
        return "".join(w[0] for w in words) + "\n" + "".join(w[0] for w in words if w not in STOP_WORDS)

    def has(self, name: Name) -> bool:
        """Return whether `name` occurs in a form that `missing_names` accepts."""
        if not re.search(r"[\w]", name.text):
            return True
        if not name.text.isascii() and re.search(f"[{CJK}]", name.text):
            return "".join(normalise(name.text).split()) in "".join(self.plain.split())
        if _pattern(name.text).search(self.plain):
            return True
        if (member := _MEMBER.fullmatch(name.text)) is not None and _pattern(member[1]).search(self.plain):
            return True
        if (release := _RELEASE.fullmatch(name.text)) is not None and _pattern(release["of"]).search(self.plain):
            # The thing, and by itself the version: a page on Python says "New in version 3.8.".
            version = rf"(?i:{_VERSION_WORD})\s*{re.escape(release['number'])}(?!\.?\d)"
            if re.search(version, self.plain):
                return True
        if name.strict:
            inflected = rf"(?<!\w){re.escape(name.text)}(?:e?d|ing|e?s)(?!\w)"  # ATTACHed for ATTACH
            return self._has_expansion(name.text) or (name.text.isupper() and bool(re.search(inflected, self.text)))
        return self._has_parts(name.text) or self._has_acronym(name.text)

    def _has_expansion(self, name: str) -> bool:
        """Tell whether an acronym's words occur: RAG, retrieval-augmented generation."""
        letters = name.replace(".", "")
        return letters.isupper() and letters.isalpha() and 2 < len(letters) < 8 and letters.lower() in self.initials

    def _has_acronym(self, name: str) -> bool:
        words = [w for w in re.split(r"[\s-]+", name) if w]
        kept = "".join(w[0] for w in words if w.lower() not in STOP_WORDS).lower()
        whole = "".join(w[0] for w in words).lower()
        return len(kept) > 1 and bool({kept, whole} & self.words)

    def _has_parts(self, name: str) -> bool:
        """Tell whether the text has all words of a name, or its family name alone."""
        # A single capital tells one thing from another (vitamin C, hepatitis B); small letters do not.
        parts = re.findall(r"[^\W\d_]+", name)
        kept = (p for p in parts if (normalise(p) not in STOP_WORDS if len(p) > 1 else p.isupper()))
        words = [normalise(part) for part in kept]
        if all(any(_is_form(word, w) for w in self.words) for word in words) and self._has_together(words):
            return not re.search(r"[+#]", name)  # C++ is not C
        return self._alone(words[-1])

    def _has_together(self, words: list[str]) -> bool:
        """Tell whether all words of a name occur near each other, or the first alone."""
        if len(words) < 2 or re.search(rf"(?i:(?<!\w){re.escape(words[0])})(?![\w'’-]| [A-Z])", self.text):
            return True
        text = re.findall(r"[^\W_]+", self.plain)
        first, *others = ([at for at, w in enumerate(text) if _is_form(word, w)] for word in words)
        reach = len(words) + 1  # one word of another kind may stand between its parts

        def is_near(at: int, found: list[int]) -> bool:
            place = bisect_left(found, at - reach)
            return place < len(found) and found[place] <= at + reach

        return any(all(is_near(at, found) for found in others) for at in first)

    def _alone(self, family: str) -> bool:
        """Tell whether a family name occurs without a capitalised word before it."""
        for match in re.finditer(rf"(?i)(?<!\w){re.escape(family)}(?!\w)", self.text):
            before = _FIRST_NAME.search(self.text, match.start() - 30, match.start())
            if before is None or before[1].lower().strip(".") in _PERSONS_TITLES:
                return True
            if is_ordinary(before[1]) and begins_sentence(self.text, before.start()):
                return True  # "The Keller family"; "Will" is a first name where no sentence begins
        return False


@keep_readings(512)
def name_index(text: str) -> NameIndex:
    """Return the index of a text, cached for all claims that cite the passage."""
    return NameIndex(text)
