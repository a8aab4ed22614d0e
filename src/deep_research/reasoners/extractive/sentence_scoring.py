"""How well sentences serve a section: its terms, its subject, and what other sections are for."""

from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple

from deep_research.data import Passage
from deep_research.reasoners.extractive import sentence_quality as quotable
from deep_research.text.name_matching import NOBODY, Naming
from deep_research.text.tokens import content_terms
from deep_research.verification.numbers import quantities

Role = Literal["subject", "survey", "direct", "choosing", "theme"]
"""What a section is for: one subject of several; all of them; them against each other; when to use which; a theme."""


_WITH_FIGURES = 1.6
"""How much more a sentence with a number is worth to a question that asks for one."""
_OPENING = 1500
"""Characters at the beginning of a document, where it says what its subject is, often without naming it."""


class About(NamedTuple):
    """What a passage stands under: the terms of its document's title, of its headings, and the title itself."""

    title_terms: frozenset[str]
    terms: frozenset[str]
    title: str
    opening: bool = False

    @classmethod
    def of(cls, passage: Passage, title: str) -> "About":
        """Read title and headings."""
        own = frozenset(content_terms(title))
        return cls(own, own | frozenset(content_terms(passage.heading)), title, passage.start < _OPENING)


@dataclass(frozen=True)
class Wish:
    """What is looked for.

    `weights` are index terms with their worth; `subject` is what must be named; `context` the terms that
    say in which sense ("index" for the subject "Hash"); `siblings` the subjects of other sections, whose
    sentences belong there; `advice` prefers sentences that say when to use something; `changes` says that
    news are wanted, which otherwise count little; `compared` that another section holds the sentences
    about several subjects; `figures` that a number is asked for.
    """

    weights: dict[str, float]
    subject: Naming = NOBODY
    context: frozenset[str] = frozenset()
    siblings: tuple[Naming, ...] = ()
    language: str = "en"
    advice: bool = False
    changes: bool = False
    role: Role = "theme"
    compared: bool = False
    figures: bool = False


def weigh(*worths: tuple[str, float]) -> dict[str, float]:
    """Return the index terms of texts, each with the highest worth of a text it stands in."""
    weights: dict[str, float] = {}
    for text, worth in worths:
        for term in content_terms(text):
            weights[term] = max(weights.get(term, 0.0), worth)
    return weights


def rate(chosen: tuple[str, ...], terms: frozenset[str], wish: Wish, weights: dict[str, float], about: About) -> float:
    """Return how well sentences with these terms serve `wish`, given what their document is `about`; 0: not at all."""
    text = " ".join(chosen)
    matched = sum(weight for term, weight in weights.items() if term in terms)
    implied = sum(weight for term, weight in weights.items() if term in about.terms and term not in terms)
    if matched == 0 and not implied:
        return 0.0
    score = (matched + 0.4 * implied) / (sqrt(len(terms)) + 3.0)
    score *= _fit(terms, text, wish, about) * quotable.worth_as_prose(text)
    if wish.advice and quotable.advises(text):
        score *= 1.25
    if wish.figures:
        score *= _WITH_FIGURES if quantities(text) else 1.0
    if not wish.changes:
        score *= 0.35 if quotable.tells_news(text) else 1.0
        score *= 0.5 if quotable.is_change_note(about.title) else 1.0
    # Several leaning sentences read worse than one that stands alone.
    return score * (1.0, 0.9, 0.75)[len(chosen) - 1]


def _fit(terms: frozenset[str], text: str, wish: Wish, about: About) -> float:
    """How well a sentence keeps to what the section is for, in the sense that is asked for."""
    fit = _in_sense(terms, wish, about)
    if wish.role == "subject":
        return fit * _about_subject(terms, text, wish, about)
    named = sum(sibling.within(text) for sibling in wish.siblings)
    if wish.role == "direct":
        # What helps to choose has a section of its own.
        return fit * (0.0 if named < 2 else 0.5 if quotable.recommends(text) else 1.0)
    if wish.role == "choosing":
        return fit * (0.0 if not named or not quotable.recommends(text) else min(named, 2))
    if wish.role == "survey":
        # A survey of all subjects likes the sentences that name many of them; what names one belongs to that one.
        return fit * (1.0, 0.6, 1.3, 1.8)[min(named, 3)]
    return fit


def _in_sense(terms: frozenset[str], wish: Wish, about: About) -> float:
    if not wish.context:
        return 1.0
    titled = bool(wish.subject.ways) and wish.subject.heads(about.title_terms)
    known = wish.context & (terms | about.terms)
    mostly = 3 * len(wish.context & about.terms) >= 2 * len(wish.context)
    return 1.35 if mostly else 1.0 if known or titled else 0.3


def _about_subject(terms: frozenset[str], text: str, wish: Wish, about: About) -> float:
    place, headed = wish.subject.place(text), wish.subject.heads(about.terms)
    if place < 0 and not headed:
        return 0.25 if wish.subject.touches(terms) else 0.0
    opens = 0 <= place < len(" ".join(text.split()[:7]))
    fit = 1.5 if opens else 1.0 if place >= 0 else 0.8
    if opens and quotable.is_a(text):
        fit *= 1.4
    if 0 <= place < len(" ".join(text.split()[:3])):
        fit *= 1.25
    titled = wish.subject.heads(about.title_terms)
    fit *= 1.8 if titled else 1.3 if headed else 1.0
    if titled and about.opening and place < 0:
        fit *= 1.8
    others = [found for sibling in wish.siblings if (found := sibling.place(text)) >= 0]
    if any(place < 0 or found < place for found in others):
        fit *= 0.4
    if others and wish.compared:
        fit *= 0.5
    return fit * (1.0, 0.85, 0.6, 0.4)[min(len(others), 3)]
