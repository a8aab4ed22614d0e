"""Find and rank the places of a library that may answer a question.

The work is bounded: `MOST_TERMS` terms of a question, `CANDIDATES` passages for each of at most `MOST_PARTS` parts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from claimcheck.language import detect, is_cjk
from claimcheck.lexicon import words as words_of
from deep_research.data import Passage, PassageHit
from deep_research.finding.places import PartPlaces, Place, Stretch, shown_passages
from deep_research.finding.question import Part
from deep_research.finding.ranking import Best, Candidate, best_unit, judge_passage, kind_wanted
from deep_research.finding.stretches import make_place, make_stretch
from deep_research.finding.text_units import Texts
from deep_research.finding.words import CJK_SIGN, COMMON, Word, has_all, is_run, read_words, stands_in, terms_of, weigh
from deep_research.ports import Library
from deep_research.text.near_duplicates import shingles

CANDIDATES, LOOKED_AT = 60, 40
"""Passages that a search brings for a part, and how many of the best have their text cut into units."""
PLACES = 10
_OF_ONE = 4
"""Places of one source among them."""
_BOTH = 1.5
"""What a place gains that has all the things compared."""
_OTHER_LANGUAGE = 0.6
"""What a place is worth in another language where the reader's own is there too."""
_UNSTRUCTURED = 0.8
"""What a place is worth in a format without headings, lists and tables where others are there too."""
_PLAIN = frozenset(("application/pdf", "text/plain"))
_SCANNED = 4_000_000
"""Characters that are looked through for a passage that has all words."""
_SHINGLE, _READ = 4, 6_000
_LONG = 1_400
"""Characters of a list or table beyond which only a part of it is shown."""
_SAME = 0.7
"""Share of the runs of four terms from which a text was shown before."""


class Thing(NamedTuple):
    """A thing that a part compares: its words, and the places ranked by them."""

    words: tuple[Word, ...]
    places: tuple[Best, ...]


class Ranked(NamedTuple):
    """A question part with ranked places, weighted words, and the things it compares.

    `ordering` are sources of which something is not shown, see `PartPlaces`.
    """

    part: Part
    places: tuple[Best, ...]
    words: tuple[Word, ...]
    things: tuple[Thing, ...] = ()
    ordering: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """Return the texts of the places, as a ranker compares them."""
        return [best.section.text[best.unit.start : best.unit.end] for best in self.places]

    def reordered(self, scores: Sequence[float]) -> "Ranked":
        """Return the part ordered by a ranker's `scores`; unchanged if numbers differ."""
        if len(scores) != len(self.places):
            return self
        order = sorted(range(len(scores)), key=lambda number: -scores[number])
        return self._replace(places=tuple(self.places[number] for number in order))


class Shown:
    """Remembers shown text by runs of four terms, despite other cuts or line wraps.

    The same book lies in a folder as HTML, PDF and plain text, and pages repeat each other.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._units: set[tuple[str, int]] = set()

    def add(self, best: Best) -> bool:
        """Add a new place's text and return True, else False; long lists count by item."""
        unit = best.unit
        part = best.part if best.part is not None else unit
        whole = unit if unit.end - unit.start <= _LONG else part
        key = (best.section.source, whole.start)
        new = shingles(best.section.text[part.start : part.end][:_READ], _SHINGLE)
        if key in self._units or (new and len(new & self._seen) >= _SAME * len(new)):
            return False
        self._units.add(key)
        self._seen |= shingles(best.section.text[whole.start : whole.end][:_READ], _SHINGLE)
        return True


def rank_places(part: Part, language: str, library: Library, sources: Sequence[str] = ()) -> Ranked:
    """Return the places for one part of a question, best first."""
    hits = _search(part, library, sources)
    said = [terms_of(_text(hit.title, hit.passage)) for hit in hits]
    words, context = weigh(part.words, said), weigh(part.context, said)
    texts = Texts(library)
    ranked = _in_reader_language(_rank(part.text, hits, words, context, texts), language)
    worth = {word.whole: word.worth for word in words}
    read = [read_words(thing, language) for thing in part.things]
    named = [tuple(word._replace(worth=worth.get(word.whole, word.worth)) for word in own) for own in read]
    rest = [word for word in words if all(word.whole != other.whole for thing in named for other in thing)]
    things = [Thing(own, tuple(_rank(part.text, hits, [*own, *rest], context, texts))) for own in named]
    if things:  # what has all the things compared comes first
        said = [one.candidate.terms | one.candidate.above for one in ranked]
        worths = [
            one.worth + _BOTH * all(has_all(own, terms) for own in named)
            for one, terms in zip(ranked, said, strict=True)
        ]
        ranked = [ranked[n] for n in sorted(range(len(ranked)), key=lambda n: -worths[n])]
    return Ranked(part, tuple(ranked), tuple(words), tuple(things), tuple(texts.ordering))


def show_places(ranked: Ranked, library: Library, sources: Sequence[str] = ()) -> PartPlaces:
    """Return a part's display: the best place whole, others, and words found apart."""
    part, words = ranked.part, ranked.words
    asked = [word for word in part.words if word.worth > COMMON] or list(part.words)
    named = [word for word in asked if not is_run(word.text)]  # what is a word of other scripts, nobody knows
    shown = Shown()
    stretches = _stretches(ranked, shown, library)
    said = [one.candidate.terms | one.candidate.above for one in ranked.places]
    texts = [_text(one.title, one.passage) for one, *_ in ranked.places] + list(map(_shown_text, stretches))
    together, missing, complete = _together(part, named, _all_texts(texts, library, sources))
    own = [word for word in named if word.text not in missing]
    runs = [word for word in asked if is_run(word.text) and any(map(word.share, said))]
    return PartPlaces(
        text=part.text,
        words=tuple(word.text for word in named),
        missing=missing,
        together=together,
        is_complete=complete,
        is_covered=any(has_all(asked, terms) for terms in said),
        ordering=tuple(source.title for source in map(library.source, ranked.ordering) if source is not None),
        stretches=tuple(
            stretch.model_copy(update={"is_own": has_all(own, terms) and all(word.share(terms) for word in runs)})
            for stretch, terms in ((stretch, terms_of(_shown_text(stretch))) for stretch in stretches)
        ),
        places=_places(ranked.places, words, shown, library),
    )


def _search(part: Part, library: Library, sources: Sequence[str]) -> list[PassageHit]:
    """Return the hits for a part: for its whole, and for each thing it compares."""
    context = " ".join(word.text for word in part.context)
    query = f"{part.text} {context}".strip()
    found = list(library.search(query, limit=CANDIDATES, sources=sources))
    best = found[0].score if found else 1.0
    known = {hit.passage.id for hit in found}
    for thing in part.things:
        of_thing = library.search(thing, limit=CANDIDATES // 3, sources=sources)
        scale = best / of_thing[0].score if of_thing else 1.0
        new = [hit for hit in of_thing if hit.passage.id not in known]
        known.update(hit.passage.id for hit in new)
        found += [hit.model_copy(update={"score": 0.6 * scale * hit.score}) for hit in new]
    return found


def _rank(
    text: str, hits: Sequence[PassageHit], words: Sequence[Word], context: Sequence[Word], texts: Texts
) -> list[Best]:
    top = max((hit.score for hit in hits), default=1.0) or 1.0
    judged = [judge_passage(hit.passage, hit.title, hit.score / top, words, context) for hit in hits]
    best: list[Candidate] = sorted(judged, key=lambda candidate: -candidate.worth)[:LOOKED_AT]
    wanted = kind_wanted(text, words)
    found = [one for candidate in best if (one := best_unit(candidate, texts, words, context, wanted)) is not None]
    plain = {one.section.source for one in found if texts.media_type(one.section.source) in _PLAIN}
    if len(plain) < len({one.section.source for one in found}):
        found = [
            one._replace(worth=one.worth * (_UNSTRUCTURED if one.section.source in plain else 1.0)) for one in found
        ]
    return sorted(found, key=lambda one: -one.worth)


def _in_reader_language(ranked: Sequence[Best], language: str) -> list[Best]:
    """Return places re-sorted, those in the reader's language before translations."""
    is_own = [detect(one.candidate.passage.text, default=language) == language for one in ranked]
    less = _OTHER_LANGUAGE if any(is_own) else 1.0
    scaled = (one._replace(worth=one.worth * (1.0 if own else less)) for one, own in zip(ranked, is_own, strict=True))
    return sorted(scaled, key=lambda one: -one.worth)


def _stretches(ranked: Ranked, shown: Shown, library: Library) -> list[Stretch]:
    """Return the best place whole, and the best place of each thing compared."""
    stretches: list[Stretch] = []
    for best in ranked.places[:1]:
        shown.add(best)
        stretches.append(make_stretch(best, ranked.words, _location(library, best)))
    for thing in ranked.things:
        best = next((one for one in thing.places if has_all(thing.words, one.terms)), None)
        if best is not None and shown.add(best):
            stretches.append(make_stretch(best, thing.words, _location(library, best)))
    return stretches


def _places(ranked: Iterable[Best], words: Sequence[Word], shown: Shown, library: Library) -> tuple[Place, ...]:
    of_source: Counter[str] = Counter()
    found: list[Place] = []
    for best in ranked:
        source = best.candidate.passage.source
        if of_source[source] < _OF_ONE and shown.add(best):
            of_source[source] += 1
            found.append(make_place(best, words, _location(library, best)))
        if len(found) == PLACES:
            break
    return tuple(found)


def _location(library: Library, best: Best) -> str:
    source = library.source(best.candidate.passage.source)
    return source.location or source.url if source is not None else ""


def _shown_text(stretch: Stretch) -> str:
    return "\n".join((stretch.title, stretch.where, *(one.text for one in stretch.pieces)))


def _text(title: str, passage: Passage) -> str:
    return f"{title}\n{passage.heading}\n{passage.text}"


def _all_texts(shown: Iterable[str], library: Library, sources: Sequence[str]) -> Iterator[str | None]:
    """Yield the texts `shown`, then all passages of the sources; None once too many."""
    yield from shown
    left = _SCANNED
    for source in library.sources() if not sources else filter(None, map(library.source, sources)):
        for passage in library.passages(source.id):
            left -= len(passage.text)
            yield _text(source.title, passage) if left >= 0 else None


def _together(part: Part, named: Sequence[Word], texts: Iterable[str | None]) -> tuple[bool, tuple[str, ...], bool]:
    """Return whether one passage has all words, the words in none, and completeness.

    The first concerns `named`, the second the words of the part; the last is whether all texts were read for that.

    Where none has one that counts, the common ones that none has are told with it, but what only asks ("how many").
    """
    wanted = dict.fromkeys([*(word for word in part.told if not is_run(word.text)), *named])
    asking = words_of("question.furniture")
    common = [word for word in part.words if not is_run(word.text) and word.text.casefold() not in asking]
    together, held, written = False, set[str](), set[str]()
    for text in texts:
        if text is None:
            return together, (), False
        terms = terms_of(text)
        has = {word.text for word in [*wanted, *common] if word.stands_in(terms, text)}
        if all(word.text in has for word in wanted):
            return True, (), True
        together = together or all(word.text in has for word in named)
        held |= has
        written |= {word for word in has - written if stands_in(word, text)}
    missing = [word for word in dict.fromkeys([*wanted, *common]) if word.text not in held]
    if any(word in wanted for word in missing):
        return together, tuple(word.text for word in missing), True
    return together or any(word.text not in written for word in named), (), True


def is_foreign(parts: Sequence[PartPlaces], language: str, library: Library) -> bool:
    """Return whether most passages shown are in another language.

    For Chinese, Japanese and Korean only their own characters count.
    """
    shown = [passage.text for key in shown_passages(parts) if (passage := library.passage(key)) is not None]
    default, said = ("", ["".join(CJK_SIGN.findall(text)) for text in shown]) if is_cjk(language) else (language, shown)
    return 2 * sum(detect(text, default=default) != language for text in said) > len(shown)
