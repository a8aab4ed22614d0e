"""Split a question by its wording into parts and the things they compare.

A question that is too long is cut.
"""

import itertools
import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from claimcheck.language import detect
from claimcheck.lexicon import any_word, words
from claimcheck.text.sentences import is_inner_dot
from claimcheck.text.tokens import content_terms
from deep_research.data import QueryAnalysis
from deep_research.finding.words import COMMON, RUN, Word, read_words

MOST_TERMS = 60
"""Different terms of a question that are looked for; what stands behind them is left out, and this is said."""
MOST_PARTS = 7
_LONGEST = 2_000
"""Characters of a question that are read."""
_COMPARED = 300
"""Characters of the longest part in which things compared are looked for."""
_HARD = re.compile(r"[?？;；\n]+|(?<=[.!。！])\s+(?=\S)|(?:^|\s)\(?\d{1,2}[.)）、]\s+")


class Part(NamedTuple):
    """One part of a question: its words, context words and compared things.

    `context` are words before it that say what it is about. `told` is the context of the first part, whose words
    stand in no part.
    """

    text: str
    words: tuple[Word, ...]
    context: tuple[Word, ...] = ()
    things: tuple[str, ...] = ()
    told: tuple[Word, ...] = ()


class Asked(NamedTuple):
    """The parts of a question; `is_cut` where its end was left out."""

    parts: tuple[Part, ...]
    is_cut: bool = False


def read_question(question: str, language: str = "") -> Asked:
    """Split a question into parts; join pieces without own words to the previous one.

    What is told before anything is asked ("The disk is full. How …?") says what the question is about.
    """
    text = _beginning(question)
    language = detect(text, default=language or "en")
    hard = _HARD.sub(lambda cut: cut[0] if is_inner_dot(text, cut.start() + len(cut[0].rstrip())) else "\n", text)
    soft = (piece for one in hard.splitlines() for piece in _soft(language).split(one))
    pieces = [piece for one in soft if (piece := one.strip(" \t,，、"))]
    marked = [f"{piece}?" in text or f"{piece}？" in text for piece in pieces]
    questions = (n for n, piece in enumerate(pieces) if marked[n] or asks(piece) or compared(piece, language))
    first = next(questions, 0)
    told = [word for piece in pieces[:first] for word in read_words(piece, language)]
    found: list[Part] = []
    for more in pieces[first:]:
        piece, asked = more, read_words(more, language)
        has_own = any(word.worth > COMMON for word in asked)
        waits = bool(found) and not any(word.worth > COMMON for word in found[-1].words)
        if found and (waits or not has_own or len(found) >= MOST_PARTS):
            before = found.pop()
            piece, asked = f"{before.text} {piece}", _once([*before.words, *asked])
        about = _once([*told, *(found[0].words if found else ())])
        context = tuple(word for word in about if word.worth > COMMON and word not in asked)
        found.append(Part(piece, tuple(asked), context, compared(piece, language), () if found else context))
    return Asked(tuple(part for part in found if part.words), len(text) < len(question.rstrip()))


def _once(words: Iterable[Word]) -> list[Word]:
    return list({word.whole: word for word in words}.values())


def _beginning(question: str) -> str:
    """Return the beginning of a question up to so many different terms."""
    text = question[:_LONGEST]
    terms: set[str] = set()
    for run in RUN.finditer(text):
        new = dict.fromkeys(term for term in content_terms(run[0][:_LONGEST]) if term not in terms)
        if len(terms) + len(new) > MOST_TERMS:
            # A run without spaces is cut where the terms end, which are pairs of its signs.
            return text[: run.start() + (MOST_TERMS - len(terms) if len(new) > 2 else 0)]
        terms |= new.keys()
    return text


@cache
def _soft(language: str) -> re.Pattern[str]:
    """Return where a further question begins within a sentence (", and how …")."""
    return re.compile(any_word("finding.joint_patterns", language), re.IGNORECASE)


def compared(text: str, language: str) -> tuple[str, ...]:
    """Return the things that a question compares, in order; fewer than two are none."""
    line = text.strip(" ?？.。!！")
    if len(line) > _COMPARED:
        return ()
    for code in dict.fromkeys((language, "en")):
        for pattern in words("finding.compared_patterns", code):
            if (match := re.search(pattern, line, re.IGNORECASE)) is None:
                continue
            listed = match.groupdict().get("list") or ""
            both = [match["a"], match["b"]] if "a" in match.groupdict() and match["a"] else []
            things = both or re.split(any_word("finding.and_patterns", code), listed, flags=re.IGNORECASE)
            article = re.compile(any_word("finding.article_patterns", code), re.IGNORECASE)
            bare = (article.sub("", thing.strip(" \"'“”‘’「」,，、:：")).strip() for thing in things)
            named = [thing for thing in bare if read_words(thing, language)]
            if 1 < len(named) <= 6 and all(len(thing) <= 60 for thing in named):
                return tuple(dict.fromkeys(named))
    return _named_together(line, language)


def _named_together(line: str, language: str) -> tuple[str, ...]:
    """Return adjacent names of a list, such as "work_mem and maintenance_work_mem"."""
    pieces = re.split(any_word("finding.and_patterns", language), line, flags=re.IGNORECASE)
    for first, second in itertools.pairwise(pieces):
        names = [*first.split()[-1:], *(word.strip("?？,.;:") for word in second.split()[:1])]
        read = [read_words(name, language) for name in names]
        if len(names) == 2 and all(words and _CODED.search(name) for words, name in zip(read, names, strict=True)):
            return tuple(names)
    return ()


_CODED = re.compile(r"\w[_.\-/:]\w|\d|[a-z][A-Z]|^--?\w")
"""What a name has that no word of a language has."""


def analyze_question(question: str, language: str) -> QueryAnalysis:
    """Return a question's kind by its wording (contract row B3), and its parts."""
    parts = read_question(question, language).parts
    if any(part.things for part in parts):
        kind, form = "comparison", "table"
    elif re.search(any_word("finding.list_patterns"), question, re.IGNORECASE):
        kind, form = "list", "list"
    elif re.search(any_word("finding.deep_patterns"), question, re.IGNORECASE):
        kind, form = "deep_dive", "prose"
    else:
        kind, form = "general", "prose"
    return QueryAnalysis(
        query_type=kind,
        output_format=form,
        needs_discovery=kind == "list",
        discovery_target=question if kind == "list" else "",
        reasoning="Told by the wording of the question.",
        parts=tuple(part.text for part in parts),
    )


def is_plain_topic(text: str, language: str) -> bool:
    """Return whether a text only names a topic, with no question mark or request."""
    return "?" not in text and "？" not in text and not compared(text, language) and not asks(text)


_ASKING = ("list", "deep", "progress", "number", "steps", "asking")


def asks(text: str) -> bool:
    """Return whether a text has a word that asks."""
    kinds = (*(f"finding.{name}" for name in _ASKING), "question.word")
    return re.search("|".join(any_word(f"{kind}_patterns") for kind in kinds), text, re.IGNORECASE) is not None
