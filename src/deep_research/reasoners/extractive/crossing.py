"""Questions in one language over documents in another: the question as the documents would put it."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from deep_research.data import Passage, QueryAnalysis, Question
from deep_research.text.glossary import translations
from deep_research.text.language import CJK, detect, is_cjk

_NATIVE = re.compile(f"[{CJK}]+")


class Asked(NamedTuple):
    """A question in the language of the documents found: its words, what it wants listed, that language."""

    text: str
    target: str
    language: str


def with_translations(query: str, language: str) -> str:
    """Return `query` with the English terms of a Chinese, Korean or Japanese one added.

    Documents are more often English than questions are; terms that no document has cost nothing.
    """
    if not is_cjk(detect(query, default=language)):
        return query
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
    """The Latin words of `text` (names, mostly) and the glossary's terms for the rest."""
    names = " ".join(_NATIVE.sub(" ", text).replace("？", " ").replace("，", " ").split())
    return " ".join([names, *translations(text, source=language, target="en")]).strip() or text
