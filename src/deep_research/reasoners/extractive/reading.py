"""Reading a page for a section without a model: its passages by the words of the section."""

from collections.abc import Sequence

from deep_research.data import Brief, Passage, Section
from deep_research.ports import Library
from deep_research.reasoners.extractive.crossing import with_translations
from deep_research.reasoners.extractive.topic import without_furniture

_MOST = 40


def read_page(section: Section, brief: Brief, passages: Sequence[Passage], library: Library) -> list[str]:
    """Return the ids of the passages that answer the section, best first; all, in order, where none has its words."""
    asked = without_furniture(" ".join([section.subject or section.title, section.description, *section.queries]))
    query = with_translations(asked, brief.language)
    sources = tuple(dict.fromkeys(passage.source for passage in passages))
    there = {passage.id for passage in passages}
    hits = library.search(query, limit=_MOST, sources=sources) if passages else ()
    return [hit.passage.id for hit in hits if hit.passage.id in there] or [passage.id for passage in passages]
