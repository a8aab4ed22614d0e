"""Which sentence says what a thing is: the one that introduces it in a table, an abstract, a section."""

from collections.abc import Mapping, Sequence

from deep_research.i18n.language import detect
from deep_research.reasoners.extractive.excerpts import Excerpt
from deep_research.reasoners.extractive.sentence_quality import defines, is_conditional, is_entry
from deep_research.text.name_matching import Naming
from deep_research.text.tokens import content_terms

_FIRST_CHARS, _BESIDE_NAME = 700, 2


def what_it_is(
    subject: str, name: Naming, rated: Sequence[Excerpt], titles: Mapping[str, str], language: str
) -> Excerpt | None:
    """Return the sentence that says what `subject` is, in `language` where one does; None where no sentence does.

    It is one that defines it, else the first of the opening of its own document, else the best one that names
    it. `rated` is best first, `titles` are those of the sources by id.
    """
    native = [e for e in rated if detect(e.text, default=language) == language]
    for own in (native, [e for e in rated if e not in native]):
        if (found := _introducing(subject, name, own, titles)) is not None:
            return found
    return None


def begins_with(name: Naming, text: str) -> bool:
    """Whether a sentence names the thing within its first three words ("A ChainMap groups several …")."""
    return name.within(" ".join(text.split()[:3]))


def _introducing(subject: str, name: Naming, rated: Sequence[Excerpt], titles: Mapping[str, str]) -> Excerpt | None:
    rated = [e for e in rated if not is_conditional(e.text)]
    for says in (is_entry, defines):
        if defining := next((e for e in rated if says(subject, e.text)), None):
            return defining
    own = [e for e in rated if e.passage.start < _FIRST_CHARS and _is_titled(titles.get(e.passage.source, ""), name)]
    first = min(own, key=lambda e: (e.passage.start, e.passage.text.find(e.text)), default=None)
    return (
        first
        or next((e for e in rated if begins_with(name, e.text)), None)
        or next((e for e in rated if name.within(e.text)), None)
    )


def _is_titled(title: str, name: Naming) -> bool:
    """Whether a title is the name and little else ("git-merge(1)", "Hash Indexes")."""
    terms = frozenset(content_terms(title))
    return name.heads(terms) and len(terms - name.terms) <= _BESIDE_NAME
