"""Understanding a question without a model: what it is about, of which kind, in which form to answer (row B3)."""

import re
from typing import NamedTuple

from deep_research.data import OutputFormat, QueryAnalysis, QueryType
from deep_research.i18n.language import detect
from deep_research.i18n.lexicon import any_word, entry, words
from deep_research.text.question_parts import asks_something, question_parts
from deep_research.text.tokens import content_terms


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(any_word(f"analysis.{name}_patterns"), re.IGNORECASE)


_COMPARISON, _PROGRESS, _LIST, _DEEP, _SECOND_CLAUSE, _TABLE = map(
    _pattern, ("comparison", "progress", "list", "deep", "second_clause", "table")
)
_FACETS, _FIELD, _ARTICLE = map(_pattern, ("facet", "field", "article"))
_TOPIC_ALONE = 8
"""More content terms than this say more than a topic."""
_MOST_SUBJECTS, _LONGEST = 6, 60
_VERSUS = re.compile(r"\s*,?\s+(?:vs\.?|versus)\s+|,\s", re.IGNORECASE)
_TARGET_EDGES = " 、,，" + "".join(words("analysis.target_edges"))
_QUOTES = " \"'“”‘’「」『』"


class Topic(NamedTuple):
    """What a comparison names: its subjects, the field they share, the points to compare them in."""

    subjects: tuple[str, ...] = ()
    field: str = ""
    facets: tuple[str, ...] = ()


def says_what_is_wanted(text: str) -> bool:
    """Return whether a question says more than a topic: that it wants progress, a list, a comparison, an explanation."""
    asked = any(pattern.search(text) for pattern in (_COMPARISON, _PROGRESS, _LIST, _DEEP, _TABLE))
    return asked or bool(re.search(r"[?？]", text)) or len(content_terms(text)) > _TOPIC_ALONE


def wants_latest(text: str) -> bool:
    """Return whether a question asks for the latest state of something."""
    return _PROGRESS.search(text) is not None


def analyze(text: str) -> QueryAnalysis:
    """Tell comparison, list, deep dive and general questions apart by their wording."""
    kind, reason = _query_type(text)
    return QueryAnalysis(
        query_type=kind,
        output_format=_output_format(text, kind),
        needs_discovery=kind == "list",
        discovery_target=discovery_target(text) if kind == "list" else "",
        reasoning=reason,
        subjects=topic_of(text).subjects if kind == "comparison" else (),
        parts=question_parts(text, detect(text)).parts,
    )


def _query_type(text: str) -> tuple[QueryType, str]:
    if match := _COMPARISON.search(text):
        return "comparison", f"The wording “{match.group().strip()}” asks for a comparison."
    listing = _LIST.search(text)
    if listing and not (_PROGRESS.search(text) and not text.isascii()):
        return "list", f"The wording “{listing.group().strip()[:60]}” asks for a list."
    if match := _DEEP.search(text):
        return "deep_dive", f"The wording “{match.group().strip()}” asks for depth on one subject."
    return "general", "No wording that asks for a list, a comparison or one subject in depth."


def _output_format(text: str, kind: QueryType) -> OutputFormat:
    if kind == "comparison" or _TABLE.search(text):
        return "table"
    if kind == "list":
        return "table" if _SECOND_CLAUSE.search(text) else "list"
    return "prose"


def topic_of(text: str) -> Topic:
    """Return what a comparison names; nothing where fewer than two things are named."""
    line = text.strip().rstrip("?？。.!！ ")
    for language in dict.fromkeys((detect(line), "en")):
        for pattern in entry("analysis.compared_patterns", language) or ():
            match = re.search(pattern, line, re.IGNORECASE)
            if match and len((found := _topic(match, language)).subjects) > 1:
                return found
    return Topic()


def _topic(match: re.Match[str], language: str) -> Topic:
    groups = match.groupdict()
    points_named: list[str] = []
    field = groups.get("field") or ""
    separator = re.compile(any_word("analysis.separator_patterns", language), re.IGNORECASE)
    if groups.get("a"):
        things, facets = [groups["a"], groups["b"]], ""
    else:
        listed, *rest = _FACETS.split(groups["list"], maxsplit=1)
        facets = rest[0] if rest else ""
        versus = _VERSUS.split(listed)
        parts = versus if len(versus) > 2 else separator.split(listed)
        things = [part for part in parts if part.strip(_QUOTES) and not asks_something(part)]
    of = re.compile(any_word("analysis.of_patterns", language)) if entry("analysis.of_patterns", language) else None
    if of and not facets and len(things) > 1 and not of.search(things[0]):
        # "A and B's cost and speed": what stands behind the last of the things are points.
        last = next((n for n, thing in enumerate(things) if of.search(thing)), len(things))
        whose = of.split(things[last], maxsplit=1) if last < len(things) else []
        if len(whose) > 1 and all(map(str.strip, whose)):
            things, points_named = [*things[:last], whose[0]], [whose[1], *things[last + 1 :]]
    if things and (tail := _FIELD.search(things[-1])):
        things[-1], field = things[-1][: tail.start()], field or things[-1][tail.end() :]
    inside = [m for p in entry("analysis.inside_patterns", language) or () for t in things[:1] if (m := re.match(p, t))]
    if inside:
        things, field = [inside[0]["thing"], *things[1:]], field or inside[0]["field"]
    cleaned = [_ARTICLE.sub("", thing.strip(_QUOTES)).strip(_QUOTES) for thing in things]
    kept = tuple(dict.fromkeys(thing for thing in cleaned if thing and len(thing) <= _LONGEST))
    points = tuple(part.strip(_QUOTES) for part in [*points_named, *separator.split(facets)] if part.strip(_QUOTES))
    return Topic(kept[:_MOST_SUBJECTS], field.strip(), points)


def discovery_target(text: str) -> str:
    """Return the noun phrase a list question asks for ("index types"), or the question itself."""
    line = text.strip().rstrip("?？。.!！ ")
    language = detect(line)
    if cut := entry("analysis.target_cut_patterns", language):
        return re.sub("|".join(cut), "", line).strip(_TARGET_EDGES) or line
    match = re.match(any_word("analysis.target_patterns"), line, re.IGNORECASE)
    target = (match["target"] if match else line).strip()
    # "List …" and "Name …" are followed by nothing but what is wanted.
    plural = re.match(any_word("analysis.plural_patterns"), target) if line.casefold().startswith("wh") else None
    return plural["target"] if plural else target
