"""The words of a question, weighed by how rare they are in what was read: what an answer must speak of."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import log
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from deep_research.data import Passage
from deep_research.i18n.language import CJK, HANGUL, detect
from deep_research.i18n.lexicon import any_word, words
from deep_research.ports import Library
from deep_research.text.glossary import LANGUAGES, terms_in, translations
from deep_research.text.question_parts import decided
from deep_research.text.question_terms import Unit, joined_verbs, measures_asked, units_for
from deep_research.text.tokens import content_terms, without_particle

_PRIOR_PASSAGES = 50.0
"""Passages without the word that are assumed besides those read: in a small library no word is common."""
_SAMPLE = 600
LIGHT = 0.3
"""What a word weighs that a text need not say: of quantity ("the maximum number of"), or of every conversation."""
_UNSPACED = re.compile(f"[{CJK}]{{2,}}")
_JOINED = re.compile(r"\w[_.]\w")
_HANGUL = re.compile(f"[{HANGUL}]+")
_PLAIN_WORD = re.compile(r"(?<![\w.-])[a-z]{5,}(?![\w.-])")
_WORD = re.compile(r"[a-z]{4,}")
_LONG_WORD = 8
_LETTERS, _SHORT_FORM, _SHORTEST_ACRONYM, _LONGEST_FORM = (
    re.compile(r"[A-Za-z]+"),
    re.compile(r"\b[A-Za-z]{2,5}\b"),
    2,
    5,
)
_COMMON = frozenset(words("asking.measures") + words("asking.common"))
_INFLECTIONS = re.compile(any_word("asking.inflection_patterns"))
_COMMON_CHARACTERS = frozenset(words("asking.common_characters"))


class Word(NamedTuple):
    """One word of a question: its weight, the sets of index terms any of which says it, and the word as written.

    `light` words need not be said by what answers.
    """

    weight: float
    ways: tuple[frozenset[str], ...]
    text: str = ""
    light: bool = False

    def share(self, terms: Collection[str]) -> float:
        """Return how much of the word `terms` hold (0–1); less than half of a word is nothing."""
        best = max((sum(t in terms for t in way) / len(way) for way in self.ways), default=0.0)
        return best if best >= 0.5 else 0.0


@lru_cache(maxsize=20_000)
def terms_of(text: str) -> frozenset[str]:
    """Return the content terms of a text."""
    return frozenset(content_terms(text))


def says_each(words: Sequence[Word], text: str) -> bool:
    """Return whether a text says every one of `words`, the light ones as well."""
    terms = terms_of(text)
    return bool(words) and all(word.share(terms) for word in words)


class Vocabulary:
    """In how many passages of a library each term stands."""

    def __init__(self, library: Library, first: Sequence[Passage]) -> None:
        """Count in the passages of the sources of `first`, evenly spread over them where there are many."""
        sources = dict.fromkeys(p.source for p in first)
        most = max(20, _SAMPLE // max(1, len(sources)))
        counted: dict[str, Passage] = {p.id: p for p in first}
        for source in sources:
            passages = library.passages(source)
            step = max(1, len(passages) // most)
            counted.update({p.id: p for p in passages[::step]})
        self.passages = len(counted)
        self.titles = [known.title for source in sources if (known := library.source(source))]
        self.frequency: Counter[str] = Counter()
        self._texts = [f"{passage.heading}\n{passage.text}" for passage in counted.values()]
        for text in self._texts:
            self.frequency.update(terms_of(text))

    def weight(self, ways: Iterable[frozenset[str]]) -> float:
        """Return the inverse passage frequency of a word said in any of `ways`."""
        told = [way for way in ways if way]
        if not told:
            return log(self.passages + _PRIOR_PASSAGES)
        said = max(told, key=lambda way: min(self.frequency[term] for term in way))
        # What is several words elsewhere says as much as they do; pairs of characters are of one word.
        terms = said if all(term.isascii() for term in said) else [min(said, key=self.frequency.__getitem__)]
        return sum(log((self.passages + _PRIOR_PASSAGES) / (self.frequency[term] + 1)) for term in terms)

    def corrected(self, text: str) -> str:
        """Return `text` with words that stand nowhere spelled as the one word here that differs in one letter, or in
        two where they are long; names, and words of other scripts, stay as they are."""
        return _PLAIN_WORD.sub(lambda found: self._nearest(found.group()), text)

    def _nearest(self, word: str) -> str:
        (term, *more) = content_terms(word) or [""]
        if more or not term or self.frequency[term]:
            return word
        allowed = 2 if len(word) >= _LONG_WORD else 1
        spelled = [known for known in self.frequency if known[:1] == term[:1] and known.isalpha()]
        near = process.extractOne(term, spelled, scorer=OSA.distance, score_cutoff=allowed)
        if near is None:
            return word
        # In a short word another letter makes another word: "lease" is not "leave".
        changed = len(near[0]) == len(term) and sorted(near[0]) != sorted(term)
        return word if changed and len(term) < _LONG_WORD else self._form(near[0], word, allowed)

    def _form(self, term: str, word: str, most: int) -> str:
        """Return the word of the passages with that index term which differs from `word` in so many letters at most, or the
        term where it is a word; else `word` ("sever", the term of "severe" and "several", is not what "server" was to be)."""
        forms = [form for form in self._words if form[:2] == term[:2] and content_terms(form) == [term]]
        near = process.extractOne(word, forms, scorer=OSA.distance, score_cutoff=most)
        return near[0] if near is not None else term if term in self._words else word

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(found for text in self._texts for found in _WORD.findall(text.lower()))


def asked_words(question: str, language: str, passages: Sequence[Passage], vocabulary: Vocabulary) -> list[Word]:
    """Return the words of `question` that say what it is about, weighed; none where it has only words of every question."""
    found: list[Word] = []
    joined, degrees, verb = joined_verbs(question), measures_asked(question), decided(question).casefold()
    short = abbreviations(question, [*(p.heading for p in passages), *vocabulary.titles])
    for unit in units_for(question, language, passages):
        for text, spelled in _words_of(unit, vocabulary):
            if text.casefold() == verb:
                continue  # what weighs for or against says it of the thing
            measures = tuple(frozenset(content_terms(measure)) for measure in degrees.get(text.casefold(), ()))
            ways = measures or (*spelled, *short.get(text, ()))
            common = is_common(text.casefold()) and not _is_acronym(text)
            light = unit.worth < 1 or (common and not _is_joined(text, joined, vocabulary))
            light = (light and not measures) or _classifies(text, question)
            found.append(Word(vocabulary.weight(ways) * (LIGHT if light else 1.0), ways, text, light))
    if counted := tuple(frozenset(content_terms(measure)) for measure in degrees.get("many", ())):
        found.append(Word(vocabulary.weight(counted) * LIGHT / 2, counted, "many", light=True))
    # What was read was found by the names in the question, so that they seem common in it.
    telling = [word.weight for word in found if not word.light]
    least = sum(telling) / len(telling) if telling else 0.0
    return [w._replace(weight=max(w.weight, least)) if _is_acronym(w.text) else w for w in found]


def _classifies(word: str, question: str) -> bool:
    """Return whether a word only says what kind of thing the name before it is: "mode" in "WAL mode"."""
    if word.casefold() not in words("asking.kinds"):
        return False
    before = re.search(rf"(\S+)\s+{re.escape(word)}\b", question)
    return before is not None and (_is_acronym(before[1]) or is_identifier(before[1]))


def abbreviations(question: str, headings: Iterable[str]) -> dict[str, tuple[frozenset[str], ...]]:
    """Return for words of a question the index terms of their other form: both words of "garbage collector" are also said
    by "gc" where "gc — Garbage Collector interface" was read, "WAL" by the words of a heading "Write-Ahead Log"."""
    words_of = _LETTERS.findall(question)
    known: dict[str, list[frozenset[str]]] = defaultdict(list)
    found: dict[str, tuple[frozenset[str], ...]] = {}
    for heading in dict.fromkeys(part for path in headings for part in path.split(" > ")):
        for token in set(_SHORT_FORM.findall(heading)):
            known[token.casefold()].append(terms_of(heading))
        spelled = [word for word in _LETTERS.findall(heading) if len(word) > 1]
        initials = "".join(word[0] for word in spelled).upper()
        if initials in words_of and len(initials) > _SHORTEST_ACRONYM:
            found[initials] = tuple({*found.get(initials, ()), terms_of(" ".join(spelled))})
    for size in range(_LONGEST_FORM, 1, -1):
        for some in (words_of[n : n + size] for n in range(len(words_of) - size + 1)):
            initials = "".join(word[0] for word in some).casefold()
            stems = {term for word in some for term in content_terms(word)}
            term = next(iter(content_terms(initials)), "")
            if term and len(stems) > 1 and any(stems <= terms for terms in known[initials]):
                found.update(dict.fromkeys(some, (frozenset({term}),)))
    return found


def _is_joined(text: str, joined: Mapping[str, str], vocabulary: Vocabulary) -> bool:
    """Return whether a verb makes a noun with its particle that was read: "back" of "back up" says as much as "backup"."""
    return text in joined and any(vocabulary.frequency[term] for term in content_terms(joined[text]))


def _is_acronym(word: str) -> bool:
    """Return whether a word has capitals only ("VACUUM", "WAL")."""
    return word.isascii() and word.isupper() and len(word) > 1


def is_identifier(word: str) -> bool:
    """Return whether a word is written like a name in code ("work_mem", "os.path")."""
    return _JOINED.search(word) is not None


def is_common(word: str) -> bool:
    """Return whether a word, or the one it is a form of, is said in every conversation."""
    stem = _INFLECTIONS.sub("", word)
    return word in _COMMON or (stem != word and (stem in _COMMON or f"{stem}e" in _COMMON))


def _words_of(unit: Unit, vocabulary: Vocabulary) -> Iterator[tuple[str, tuple[frozenset[str], ...]]]:
    """Return the words of a unit with the ways to say each; a run of a script without spaces is cut into its words."""
    if unit.whole or not _UNSPACED.fullmatch(unit.text):
        # The parts of a name say it only where nothing has it whole: "maintenance_work_mem" is not "work_mem".
        whole = _JOINED.search(unit.text) and any(vocabulary.frequency[term] for term in unit.ways[0])
        yield unit.text, (unit.ways[0],) if whole else unit.ways
        return
    hangul = _HANGUL.fullmatch(unit.text) is not None
    pieces = _cut(without_particle(unit.text) if hangul else unit.text, vocabulary)
    kept = [piece for piece in pieces if len(piece) > 1 and not _COMMON_CHARACTERS.issuperset(piece)]
    if hangul and len(kept) > 1 and _known(kept[0], vocabulary):
        # What follows the stem of a Korean word, and stands nowhere, is its ending.
        kept = [kept[0], *(piece for piece in kept[1:] if _known(piece, vocabulary))]
    for piece in kept:
        ways = (frozenset(content_terms(piece)), *(_translated(piece, unit) if len(kept) > 1 else unit.ways[1:]))
        if ways[0]:
            yield piece, ways


def _translated(piece: str, unit: Unit) -> list[frozenset[str]]:
    """Return those of the translations of a run that are of one of its words."""
    language = detect(unit.text)
    terms = [term for term in terms_in(unit.text, language=language) if term in piece or piece in term]
    told = [t for term in terms for target in LANGUAGES for t in translations(term, source=language, target=target)]
    known = {frozenset(content_terms(each)) for each in told}
    return [way for way in unit.ways[1:] if way in known]


def _known(piece: str, vocabulary: Vocabulary) -> bool:
    return all(vocabulary.frequency[term] for term in content_terms(piece))


def _cut(run: str, vocabulary: Vocabulary) -> list[str]:
    """Cut a run of a script without spaces into words.

    Two characters that stand side by side in no passage are of different words, unless neither of them stands
    beside its other neighbour either: then they are a word that no passage has.
    """
    known = [vocabulary.frequency[run[i : i + 2]] > 0 for i in range(len(run) - 1)]
    pieces: list[str] = []
    start = 0
    for place, together in enumerate(known):
        alone = place == start and (place + 1 >= len(known) or not known[place + 1])
        if not together and not alone:
            pieces.append(run[start : place + 1])
            start = place + 1
    return [*pieces, run[start:]]
