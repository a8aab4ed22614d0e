"""What is read for a question, and its parts: the words that each must find, and those around it."""

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple

from deep_research.conversation.coreference import without_request
from deep_research.data import Passage
from deep_research.i18n.language import detect, is_cjk
from deep_research.i18n.lexicon import any_word
from deep_research.i18n.lexicon import words as word_list
from deep_research.ports import Library
from deep_research.reasoners.extractive.asked_words import LIGHT, Vocabulary, Word, asked_words, is_identifier
from deep_research.reasoners.extractive.block_ranking import (
    Region,
    named,
    regions,
    weigh,
)
from deep_research.reasoners.extractive.question_analysis import topic_of
from deep_research.text.question_parts import (
    Ending,
    Shape,
    answer_shape,
    asks_for_choice,
    claimed_ending,
    is_aspect,
    messages_in,
    question_parts,
    says_ending,
    turned_down,
    with_topics,
)
from deep_research.text.question_terms import topic_words, with_translations
from deep_research.text.tokens import content_terms

CHOOSES = re.compile(any_word("headings.choosing_patterns"), re.IGNORECASE)
NAMED = 0.9
"""Share of the weight of a name that a sentence must say to speak of it."""
_FOREIGN_SHARE = 0.2
"""Which share of what was found must be in the language of the reader for that to be enough."""
_HITS, _HITS_OF_PART, _RELATED = 30, 15, 3
"""How many passages are read for a question, and beside them for each of its parts; up to how many parts one says what
another is about."""
_BESIDE, _MOST_BESIDE = 0.45, 5.0
"""What a word weighs that stands in another part of the question, or in a sentence beside it; and how much all of them
may weigh where those of the part itself weigh less."""
_TOPIC = 0.5
"""What a word of a topic weighs where a part asks for an aspect of it."""
Order = Mapping[str, Mapping[str, float]]
"""By the text of a part: how well blocks answer it, each by its text with its headings, as a ranker says."""
NO_ORDER: Order = MappingProxyType({})


class Part(NamedTuple):
    """A part of a question: the words it must find, those around it, and what kind of block answers it."""

    text: str
    own: tuple[Word, ...]
    beside: tuple[Word, ...]
    shape: Shape
    against: tuple[Word, ...] = ()
    """The words of what is not asked about but turned down ("instead of a client/server database")."""
    is_choice: bool = False
    """Whether it asks when something is to be used."""
    is_situation: bool = False
    """Whether only the sentences beside the question name something: of a situation a text need not speak whole."""
    topic: tuple[Word, ...] = ()
    """The words of what a part asks more of ("which one is faster"): what answers must be about it."""
    unsaid: str = ""
    """What the question takes for granted and nothing that was read says."""

    @property
    def is_dated(self) -> bool:
        """Whether the part itself names a year or version."""
        return any(sign.isdigit() for word in self.own for sign in word.text)

    @property
    def words(self) -> tuple[Word, ...]:
        """All words, the own first."""
        return (*self.own, *self.beside)


class Reading(NamedTuple):
    """What was found for a question: the passages, the text around them, and how rare each word is in it."""

    hits: tuple[Passage, ...]
    regions: tuple[Region, ...]
    vocabulary: Vocabulary
    language: str
    order: Order = NO_ORDER

    def words(self, text: str) -> list[Word]:
        """Return the words of a text that say what it is about, weighed."""
        if not content_terms(without_request(text)):
            return []
        spelled = self.vocabulary.corrected(text)
        return asked_words(spelled, self.language, self.hits, self.vocabulary)


def read_around(
    query: str, language: str, passages: Sequence[Passage], library: Library, *, first: Sequence[Passage] = ()
) -> Reading:
    """Return what `passages` and one search over all sources have for `query`; that search gives the order, behind `first`."""
    hits = _readable_hits(query, language, passages, library)
    vocabulary = Vocabulary(library, hits)
    if (spelled := vocabulary.corrected(query)) != query:
        hits = _readable_hits(spelled, language, passages, library)
    asked = question_parts(query, detect(query, default=language))
    topics = with_topics(asked)
    parts = asked.parts
    if len(parts) <= _RELATED:
        # The sides of what is told in two places, and what asks for an aspect of what is named elsewhere.
        parts = tuple(part for part in parts if part not in query or topics[part])
    if parts:
        # A search for all of them finds what speaks of some.
        queries = [with_translations(f"{part} {topics[part]}".strip(), language) for part in parts]
        found = [_hits(each, (), library)[:_HITS_OF_PART] for each in queries]
        by_part = [p for same in zip_longest(*found) for p in same if p is not None]
        hits = (*hits[:_HITS_OF_PART], *by_part, *hits[_HITS_OF_PART:])
    if ending := claimed_ending(query):
        # Where nothing says that it ended, what it is corrects the question.
        first = [*first, *_hits(with_translations(ending.thing, language), (), library)[: _HITS // 2]]
    if asks_for_choice(query):
        told = _hits(f"{topic_words(query)} {' '.join(word_list('asking.choosing', language))}", (), library)
        first = [*first, *_on_choosing([*hits[: _HITS // 2], *told[: _HITS // 3]], library)]
    for message in messages_in(query):
        # Words of every text find nothing by themselves; together they are one message.
        said = [p for p in _hits(message, (), library) if says_message(p.text, (message,))]
        first = [*first, *said[:_HITS_OF_PART]]
    if answer_shape(query) == "definition":
        hits = (*hits, *_openings(asked_words(query, language, hits, vocabulary), hits, library))
    hits = tuple({p.id: p for p in [*first, *hits]}.values())
    return Reading(hits, tuple(regions(hits, library)), vocabulary, detect(query, default=language))


def _openings(asked: Sequence[Word], hits: Sequence[Passage], library: Library) -> list[Passage]:
    """Return what the documents of `hits` begin with whose title names all that is asked: there they say what it is."""
    telling = [word for word in asked if not word.light]
    sources = {p.source: library.source(p.source) for p in hits}
    titled = [key for key, source in sources.items() if source and telling and named(source.title, telling) == 1.0]
    return [p for key in titled for n in (1, 2) if (p := library.passage(f"{key}p{n}")) is not None]


def _on_choosing(hits: Sequence[Passage], library: Library) -> list[Passage]:
    """Return what stands in the documents of `hits` below headings that say when something is used."""
    found = [p for source in dict.fromkeys(p.source for p in hits) for p in library.passages(source)]
    return [p for p in found if CHOOSES.search(p.heading.rsplit(" > ", 1)[-1])][:_HITS]


def _readable_hits(query: str, language: str, passages: Sequence[Passage], library: Library) -> tuple[Passage, ...]:
    """Return the passages for `query`, asked with its translations where hardly any is in its language."""
    own = detect(query, default=language)
    if is_cjk(own):
        hits = _hits(query, passages, library)
        if sum(detect(p.text, default=own) == own for p in hits) > _FOREIGN_SHARE * len(hits):
            return hits
    return _hits(with_translations(query, language), passages, library)


def _hits(query: str, passages: Sequence[Passage], library: Library) -> tuple[Passage, ...]:
    searched = [hit.passage for hit in library.search(query, limit=_HITS)]
    return tuple({p.id: p for p in [*searched, *passages]}.values())[:_HITS]


def parts_of(question: str, reading: Reading) -> list[Part]:
    """Return the parts of a question that name something; what names nothing belongs to the parts beside it.

    A comparison asks for what says something of all its subjects, and for each of them.
    """
    if ending := _unsaid_ending(question, reading):
        return [_correction(question, ending, reading)]
    asked = question_parts(question, reading.language)
    topics = with_topics(asked)
    said = [(text, _of_aspect(text, topic, reading)) for text, topic in topics.items()]
    context = reading.words(asked.context)
    every = [word for _, words in said for word in words] + context
    naming = [(text, words) for text, words in said if any(not word.light for word in words)]
    subjects = topic_of(question).subjects
    if len(subjects) > 1 and len(naming) < 2:
        alone = [part_of(subject, reading.words(subject), every, "definition") for subject in subjects]
        return [part_of(question, every, ()), *(part for part in alone if part.own)]
    if len(naming) == 1 and len(names := [w for w in naming[0][1] if is_identifier(w.text)]) > 1:
        # "What are the defaults of a_b and c_d?" asks as many things as it names.
        common = [word for word in naming[0][1] if word not in names]
        naming = [(name.text, [name, *common]) for name in names]
    if not naming:
        return [part_of(question, every, ())._replace(is_situation=bool(asked.context))] if every else []
    if len(naming) > _RELATED:
        # Of many parts most have nothing to do with each other; one that names nothing asks more of that before it.
        asked_on = _asked_on(said, [text for text, _ in naming])
        parts = [part_of(text, words, asked_on[text]) for text, words in naming]
    else:
        parts = [
            part_of(text, words, [w for other, ws in said if other != text for w in ws] + context)
            for text, words in naming
        ]
    found = [_weighed_against(part, reading) for part in parts]
    return [part._replace(topic=tuple(reading.words(topics.get(part.text, "")))) for part in found]


def _of_aspect(text: str, topic: str, reading: Reading) -> list[Word]:
    """Return the words of a part, with those of its topic where it names only an aspect: both must be spoken of, the aspect
    before all."""
    own = reading.words(text)
    if not topic or not all(word.light or is_aspect(word.text) for word in own):
        return own
    aspects = [w._replace(light=False, weight=w.weight / (LIGHT if w.light else 1.0)) for w in own if is_aspect(w.text)]
    around = reading.words(topic) if aspects else []
    return [*aspects, *(word._replace(weight=word.weight * _TOPIC) for word in around)] or own


def _asked_on(said: Sequence[tuple[str, list[Word]]], naming: Sequence[str]) -> dict[str, list[Word]]:
    """Return for each part that names something the words of those behind it that name nothing ("and what are its limits?")."""
    found: dict[str, list[Word]] = {text: [] for text in naming}
    last = naming[0]
    for text, words in said:
        last = text if text in found else last
        found[last] += words if text not in found else []
    return found


def _unsaid_ending(question: str, reading: Reading) -> Ending | None:
    """Return what a question takes to have ended where the documents speak of it and nothing that was read says that."""
    ending = claimed_ending(question)
    words = reading.words(ending.thing) if ending else []
    total = weigh(words, [1.0] * len(words))
    if not total:
        return None
    stems = {term for way in max(words).ways for term in way}
    known = False
    for region in reading.regions:
        for number in range(len(region.outline.atoms)):
            if weigh(words, region.share(number, words)) >= NAMED * total:
                known = True
                if says_ending(region.outline.of(number), stems):
                    return None
    return ending if known else None


def _correction(question: str, ending: Ending, reading: Reading) -> Part:
    """Return the part that tells what a thing is of which a question says that it ended."""
    part = part_of(ending.thing, reading.words(ending.thing), (), "definition")
    return part._replace(text=question, unsaid=f"{ending.verb} {ending.thing}")


def part_of(text: str, words: Sequence[Word], beside: Sequence[Word], shape: Shape | None = None) -> Part:
    """Return a part that must find `words`, and gains by those `beside` it."""
    own = {word.ways: word for word in words}
    near = {word.ways: word for word in beside if word.ways not in own}
    # However many there are, they do not drown what is asked.
    most = max(_MOST_BESIDE, sum(word.weight for word in words))
    scale = min(_BESIDE, most / (sum(word.weight for word in near.values()) or 1.0))
    others = {ways: word._replace(weight=word.weight * scale) for ways, word in near.items()}
    return Part(text, tuple(own.values()), tuple(others.values()), shape or answer_shape(text))


def _weighed_against(part: Part, reading: Reading) -> Part:
    """Return a part without the words of what it turns down, which then stand beside it, unless it has no others."""
    against = reading.words(turned_down(part.text))
    ways = {word.ways for word in against}
    own = [word for word in part.own if word.ways not in ways]
    if any(not word.light for word in own) and len(own) < len(part.own):
        part = part_of(part.text, own, [*against, *part.beside], part.shape)._replace(against=tuple(against))
    is_choice = asks_for_choice(part.text)
    return part._replace(is_choice=is_choice, shape="list" if is_choice else part.shape)


def says_message(text: str, messages: Sequence[str]) -> bool:
    """Return whether a text has one of these messages word for word."""
    plain = " ".join(text.casefold().split())
    return any(message in plain for message in messages)
