"""What a question is about, as units that a passage can cover; also across languages."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import NamedTuple

from deep_research.data import Passage, QueryAnalysis, Question
from deep_research.i18n.language import CJK, detect, is_cjk
from deep_research.i18n.lexicon import any_word, compile_on_use, table, words
from deep_research.text.glossary import terms_in, translations
from deep_research.text.tokens import STOP_WORDS, content_terms, without_particle

_ENOUGH = 0.5
_MOST_UNITS = 8.0
"""A long question need not be covered whole: beyond this worth, half of this worth is enough."""
_NAME, _PLAIN, _ASPECT = 2.0, 1.0, 0.4
_UNSEEN = 2.0
"""A word that no passage found has is what the question is really about: it weighs double in what is missing."""
_FURNITURE = frozenset(content_terms(" ".join(words("question.furniture"))))
_ASPECTS = frozenset(content_terms(" ".join(words("question.aspects"))))
_CJK_FURNITURE = compile_on_use(any_word("question.furniture_patterns"))
_RUN = compile_on_use(rf"[{CJK}]+|[^\W{CJK}]+(?:[.'’\-_+#&][^\W{CJK}]+)*[+#]*")
_CJK_RUN = re.compile(f"[{CJK}]")
_ALIKE = {
    frozenset(content_terms(word)): [frozenset(content_terms(other)) for other in row.split() if other != word]
    for row in words("question.alike")
    for word in row.split()
}
_ALIKE |= {
    frozenset(content_terms(word)): [frozenset(content_terms(other)) for other in row.split()]
    for word, row in table("question.told_by").items()
}
"""Other words for the same: documents speak of benefits where a question speaks of advantages."""
_OTHER_WORDS = {word: row.split()[:3] for row in words("question.alike", "en") for word in row.split()[:3]}
"""The three most usual of them, to search for."""
_WINDOW = 3
_JOINT = 2


_TWO_WORDS = re.compile(r"\b(?=([a-z]{3,})[ -]([a-z]{3,})\b)")
"""Two neighbouring words, overlapping with the next two."""
_HOW = re.compile(r"\bhow ([a-z]+)\b", re.IGNORECASE)
_PARTICLED = re.compile(any_word("question.particle_patterns"))


class Unit(NamedTuple):
    """One thing a question names: what it is worth, the sets of terms any of which says it, and its own words."""

    worth: float
    ways: tuple[frozenset[str], ...]
    text: str = ""
    whole: bool = False
    """Whether it is one word of a script without spaces that no document is in."""

    def share(self, terms: frozenset[str]) -> float:
        """Return how much of the unit `terms` cover (0–1); half a word of a script without spaces is no word, and
        a lone digit or letter is no half of a name ("1" of "GLP-1")."""
        best = max((len(way & terms) / len(way) for way in self.ways if _tells(way & terms, way)), default=0.0)
        return best if best >= _ENOUGH else 0.0


def _tells(said: frozenset[str], way: frozenset[str]) -> bool:
    return said == way or any(len(term) > 1 and not term.isdigit() for term in said)


def units(question: str, language: str, others: Iterable[str] = (), *, foreign: bool = False) -> list[Unit]:
    """Return the units of `question`; `others` are the languages of documents in which it may be answered too.

    `foreign` says that hardly any document is in the question's language: a word that cannot be translated
    then tells little beside a name, for no document could say it.
    """
    named = foreign and any(_worth(run, frozenset(content_terms(run)), first=False) == _NAME for run in _runs(question))
    targets = [other for other in dict.fromkeys(others) if other != language]
    found: dict[frozenset[str], Unit] = {}
    runs, joined = list(_runs(question)), joined_words(question)
    known: list[str] = []
    if foreign:
        # Nothing tells where its words end but the glossary, and what that does not have no document could say.
        known = terms_in(question, language=language)
        pieces = [piece for term in known for piece in term.split()]
        runs = [*known, *(run for run in runs if not any(piece in run for piece in pieces))]
    for place, run in enumerate(runs):
        own = frozenset(content_terms(run))
        if own and own not in found and (worth := _worth(run, own, first=place == 0)):
            # A compound is said by itself or by its parts: "GLP-1" is "glp1", or "glp" and "1".
            parts = frozenset(t for part in re.split(r"[.'’\-_+#&]", run) for t in content_terms(part))
            whole = own - parts
            ways = [whole, parts] if whole and parts else [own]
            translated = [frozenset(content_terms(t)) for t in _translated(runs, place, language, targets)]
            if named and not translated and _CJK_RUN.match(run):
                worth *= _ASPECT
            ways += translated
            ways += [frozenset(content_terms(word)) for word in joined.get(run, ())]
            ways += _ALIKE.get(own, [])
            found[own] = Unit(worth, tuple(way for way in ways if way), run, run in known)
    return list(found.values())


def joined_verbs(question: str) -> dict[str, str]:
    """Return the verbs of a question that have a particle, each with the noun that both make: "backup" for "back up"."""
    return {found["verb"]: found["verb"] + found["particle"] for found in _PARTICLED.finditer(question)}


def joined_words(question: str) -> dict[str, tuple[str, ...]]:
    """Return for words of a question what they make with the word beside them, as documents may write it: both words of
    "thread safe" are said by "threadsafe"; the verb of "back up" by "backup"."""
    found: dict[str, tuple[str, ...]] = {verb: (noun,) for verb, noun in joined_verbs(question).items()}
    for pair in _TWO_WORDS.finditer(question):
        one, other = pair.groups()
        if one not in STOP_WORDS and other not in STOP_WORDS:
            for word in (one, other):
                found[word] = (*found.get(word, ()), one + other)
    return found


def measures_asked(question: str) -> dict[str, tuple[str, ...]]:
    """Return for the words of degree that a question asks for what tells that degree: "size" for "large" of "how large"."""
    said = table("asking.degrees")
    found = (match[1].casefold() for match in _HOW.finditer(question))
    return {word: tuple(said[word].split()) for word in found if word in said}


def _runs(question: str) -> Iterator[str]:
    """Yield the words of a question that are no stop words; runs of scripts without spaces apart at question words."""
    for run in _RUN.findall(_CJK_FURNITURE.sub(" ", question) if _CJK_RUN.search(question) else question):
        if run.casefold() not in STOP_WORDS and (len(run) > 1 or not _CJK_RUN.match(run)):
            yield run


def _worth(run: str, terms: frozenset[str], *, first: bool) -> float:
    if terms <= _FURNITURE:
        return 0.0
    if terms <= _ASPECTS:
        return _ASPECT
    # The first word of a sentence has its capital from there.
    name = any(c.isdigit() or c.isupper() for c in (run[1:] if first else run))
    return _NAME if name else _PLAIN


def _translated(runs: Sequence[str], place: int, language: str, targets: Sequence[str]) -> Iterator[str]:
    """Yield the translations of a word, also as a part of a longer term ("speculative decoding")."""
    run = runs[place]
    for target in targets:
        if _CJK_RUN.match(run):
            yield from translations(run, source=language, target=target)
        elif language == "en":
            for start in range(max(0, place - _WINDOW + 1), place + 1):
                for end in range(place + 1, min(len(runs), start + _WINDOW) + 1):
                    yield from _only_whole(runs[start:end], target)


def _only_whole(words: Sequence[str], target: str) -> list[str]:
    """Return the translations of these words together, without those of a part of them."""
    whole = translations(" ".join(words), source="en", target=target)
    if len(words) == 1:
        return whole
    parts = {t for part in (words[1:], words[:-1]) for t in translations(" ".join(part), source="en", target=target)}
    return [t for t in whole if t not in parts]


def coverage(asked: Sequence[Unit], terms: frozenset[str]) -> float:
    """Return the share (0–1) of the worth of the units that `terms` cover."""
    total = sum(unit.worth for unit in asked)
    return sum(unit.worth * unit.share(terms) for unit in asked) / total if total else 1.0


def specific(asked: Sequence[Unit], said: Sequence[frozenset[str]]) -> list[Unit]:
    """Return the units weighed by how few of the passages with the terms `said` have them.

    In a manual the product's name stands on every page: it tells nothing about which page answers. An
    aspect ("internally") stays light however rare it is.
    """
    total = len(said) + 1
    found = [sum(1 for terms in said if unit.share(terms)) for unit in asked]
    return [
        unit._replace(worth=unit.worth * (0.2 + (log(total / (count + 1)) if unit.worth > _ASPECT else 0.3)))
        if count
        else unit
        for unit, count in zip(asked, found, strict=True)
    ]


def is_furniture(word: str) -> bool:
    """Return whether every question uses this word, whatever it is about."""
    terms = set(content_terms(word))
    return bool(terms) and terms <= _FURNITURE


def without_furniture(question: str, *, alone: bool = False) -> str:
    """Return an English question without the words that every question uses, which a document may have for
    something else ("Explain how …" finds the page of the command EXPLAIN); others as they are.

    `alone` gives "" for a text that has no other words; without it, such a text is returned whole.
    """
    if _CJK_RUN.search(question):
        return question
    kept = [
        word for word in question.split() if not set(content_terms(word)) or not set(content_terms(word)) <= _FURNITURE
    ]
    return " ".join(kept) if alone or any(content_terms(word) for word in kept) else question


def passage_terms(passage: Passage, title: str) -> frozenset[str]:
    """Return the terms of a passage with those of its headings and of the title of its document."""
    return frozenset(content_terms(f"{title}\n{passage.heading}\n{passage.text}"))


def units_for(question: str, language: str, passages: Sequence[Passage]) -> list[Unit]:
    """Return the units of `question`, translated into the languages that `passages` are in."""
    own = detect(question, default=language)
    found = [detect(p.text, default=own) for p in passages[:20]]
    foreign = is_cjk(own) and found.count(own) * 5 < len(found)
    return units(question, own, [other for other in found if is_cjk(other) or is_cjk(own)], foreign=foreign)


def is_answered(asked: Sequence[Unit], said: Sequence[frozenset[str]]) -> bool:
    """Return whether one of the passages with the terms `said` covers at least half of what is asked.

    It must be one passage: scattered words of a question stand in every large collection. What no
    passage has weighs double among what is missing, so that a question about penguins is not answered
    by "survive" and "winter". A question without units is about nothing in particular: true.
    """
    present = frozenset[str]().union(*said)
    total = sum(u.worth * (1.0 if u.share(present) else _UNSEEN) for u in asked)
    best = max((sum(u.worth * u.share(terms) for u in asked) for terms in said), default=0.0)
    return best >= _ENOUGH * min(total, _MOST_UNITS)


def topic_words(question: str) -> str:
    """Return the words of `question` that name what it is about, without those that every question uses; may be ""."""
    worth = (
        (run, _worth(run, frozenset(content_terms(run)), first=place == 0)) for place, run in enumerate(_runs(question))
    )
    return " ".join(run for run, value in worth if value >= _PLAIN)


def topic_phrase(question: str) -> str:
    """Return the words of `question` that name its topic as they stand there ("inhibitors of KRAS G12C"); may be "".

    In a language without spaces, or where no stretch of words stands out, they are the `topic_words`.
    """
    if _CJK_RUN.search(question):
        return _phrase_without_spaces(question)
    stretches = sorted(_stretches(question), key=lambda pair: -pair[0])
    if not stretches or (len(stretches) > 1 and stretches[0][0] < 2 * stretches[1][0]):
        return topic_words(question)
    return stretches[0][1]


def _phrase_without_spaces(question: str) -> str:
    """Return the topic words that stand beside each other as they stand, the others joined by a space."""
    aspects = words("reference.aspects")
    stems = [without_particle(word) for word in topic_words(question).split()]
    said, end = "", -1
    for stem in (stem for stem in stems if stem not in aspects):
        place = question.find(stem, max(end, 0))
        joint = question[end:place] if 0 <= end <= place <= end + _JOINT and said else " "
        said, end = f"{said}{joint}{stem}" if said else stem, place + len(stem)
    return said


def _stretches(question: str) -> Iterator[tuple[float, str]]:
    """Yield the stretches of topic words, joined by "of" and the like, with what their words are worth."""
    start, end, total = -1, -1, 0.0
    for place, match in enumerate(_RUN.finditer(question)):
        run = match[0]
        worth = 0.0 if run.casefold() in STOP_WORDS else _worth(run, frozenset(content_terms(run)), first=place == 0)
        if worth >= _PLAIN:
            start, end, total = (match.start() if start < 0 else start), match.end(), total + worth
        elif start >= 0 and run.casefold() not in words("reference.connectors", "en"):
            yield total, question[start:end]
            start, total = -1, 0.0
    if start >= 0:
        yield total, question[start:end]


_CODE = re.compile(r"(?<![A-Za-z0-9_.\-/])[A-Z]{3,16}\d{1,6}[A-Z]?(?![A-Za-z0-9_/-])")


def codes(text: str) -> tuple[str, ...]:
    """Return the codes of `text`, each once, in order: three capitals or more, then digits."""
    return tuple(dict.fromkeys(_CODE.findall(text)))


_NATIVE = compile_on_use(f"[{CJK}]+")


class Asked(NamedTuple):
    """A question in the language of the documents found: its words, what it wants listed, that language."""

    text: str
    target: str
    language: str


def with_translations(query: str, language: str) -> str:
    """Return `query` with the English terms of a Chinese, Korean or Japanese one added, and the nouns of an English one's
    verbs with particles.

    Documents are more often English than questions are; terms that no document has cost nothing.
    """
    if not is_cjk(detect(query, default=language)):
        alike = [other for word in query.casefold().split() for other in _OTHER_WORDS.get(word.strip("?,.:;"), ())]
        return " ".join([query, *joined_verbs(query).values(), *alike])
    added = [t for t in translations(query, source=language, target="en") if t.casefold() not in query.casefold()]
    return " ".join([query, *added]) if added else query


def asked_of(question: Question, analysis: QueryAnalysis, passages: Sequence[Passage]) -> Asked:
    """Return the question in the language that most of `passages` are in, as far as the glossary reaches."""
    found = Counter(detect(p.text, default=question.language) for p in passages[:20])
    main = found.most_common(1)[0][0] if found else question.language
    if main == question.language or not (is_cjk(question.language) and main == "en"):
        return Asked(question.text, analysis.discovery_target, question.language)
    return Asked(
        _in_english(question.text, question.language), _in_english(analysis.discovery_target, question.language), main
    )


def _in_english(text: str, language: str) -> str:
    """Return the Latin words of `text` (names, mostly) and the glossary's terms for the rest."""
    names = " ".join(_NATIVE.sub(" ", text).replace("？", " ").replace("，", " ").split())
    return " ".join([names, *translations(text, source=language, target="en")]).strip() or text
