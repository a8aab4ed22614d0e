"""Whether a text names a thing: by all terms of its name, in the question's language or in translation."""

import re
from typing import NamedTuple

from deep_research.i18n.language import detect
from deep_research.text.glossary import LANGUAGES, translations
from deep_research.text.tokens import content_terms

_LONG = 4
_LONGEST_NAME = 200


class Way(NamedTuple):
    """One way to say a name: its terms, a pattern of the name where it is Latin, and how many words it has."""

    terms: frozenset[str]
    pattern: re.Pattern[str] | None
    words: int = 1


class Naming(NamedTuple):
    """All ways to say one name."""

    ways: tuple[Way, ...] = ()

    def place(self, text: str) -> int:
        """Return where `text` names the thing: an offset, or -1 where it does not.

        A Latin name must stand by itself ("GiST" is not named in "SP-GiST"), its words near each
        other; only a long one may be scattered.
        """
        terms = set(content_terms(text))
        places: list[int] = []
        for way in self.ways:
            if not way.terms <= terms:
                continue
            found = way.pattern.search(text) if way.pattern else None
            if found:
                places.append(found.start())
            elif way.pattern is None or way.words >= _LONG:
                places.append(_first(way.terms, text))
        return min(places, default=-1)

    def within(self, text: str) -> bool:
        """Return whether `text` names the thing."""
        return self.place(text) >= 0


def _first(terms: frozenset[str], text: str) -> int:
    """Where the first of the terms begins."""
    runs = (m.start() for m in re.finditer(r"[^\W_]{2}", text) if terms & set(content_terms(m.group())))
    if (place := next(runs, -1)) >= 0:
        return place
    words = (m.start() for m in re.finditer(r"\S+", text) if terms & set(content_terms(m.group())))
    return next(words, 0)


def naming(name: str, language: str = "") -> Naming:
    """Return the ways to say `name`: as it is, and as the glossary says it in other languages."""
    own = language or detect(name)
    said = [name, *(t for target in LANGUAGES if target != own for t in translations(name, source=own, target=target))]
    # A translation of a part ("attention" of "multi-query attention") would name something else.
    whole = [name, *(t for t in said[1:] if len(translations(t, source="en", target=own)) > 0 and _whole(name, t, own))]
    ways = [
        Way(terms, name_pattern(text), len(text.split())) for text in whole if (terms := frozenset(content_terms(text)))
    ]
    return Naming(tuple(dict.fromkeys(ways)))


def _whole(name: str, translated: str, language: str) -> bool:
    """Return whether a translation is one of the whole name: translated back, it gives all of its letters."""
    back = translations(translated, source=detect(translated), target=language)
    plain = re.sub(r"\W", "", name.casefold())
    return any(re.sub(r"\W", "", term.casefold()) == plain for term in back)


def name_pattern(name: str) -> re.Pattern[str] | None:
    """Return a pattern of a Latin name that stands by itself, its words at most two others apart
    ("multi-query and grouped-query attention"), with endings; None for other scripts."""
    words = re.findall(r"[\w.+#'’-]+", name) if len(name) <= _LONGEST_NAME else []
    if not words or not name.isascii():
        return None
    stems = [re.escape(w.removesuffix("s") if len(w) > 3 else w) + r"\w{0,3}" for w in words]
    if len(words) == 1:
        stems = [re.escape(words[0]) + "(?:e?s)?(?![A-Za-z0-9_+])"]
    between = r"(?:[\s/-]+[\w-]+){0,2}?[\s/-]+"
    return re.compile(r"(?<![A-Za-z0-9_-])" + between.join(stems), re.IGNORECASE)
