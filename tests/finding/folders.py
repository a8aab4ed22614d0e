"""Folders of real files in a library of their own, as the documents source reads them."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from claimcheck.language import detect
from deep_research.data import Assignment, Observation, Question, Section, Turn
from deep_research.finding.finder import is_foreign, rank_places, show_places
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.finding.places import PartPlaces
from deep_research.finding.question import read_question
from deep_research.ports import Library, Ranker
from deep_research.sources.documents import DocumentsSource
from deep_research.stores.sqlite_library import SqliteLibrary


@contextmanager
def library_of(folder: Path, files: Mapping[str, str | bytes]) -> Iterator[SqliteLibrary]:
    """Write files and give the library of the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    library = SqliteLibrary(folder.parent / f"{folder.name}.db")
    source = DocumentsSource([folder], library)
    asyncio.run(source.prepare(lambda *_: None))
    try:
        yield library
    finally:
        library.close()


async def researched(library: SqliteLibrary, text: str, ranker: Ranker | None = None) -> tuple[str, list[Section]]:
    """Return the report on a question and its sections, each researched by the finder's own searches of a library."""
    reasoner = FinderReasoner(ranker)
    question = Question(text=text, language=detect(text))
    decision, analysis = await reasoner.decide(question, rounds=0), await reasoner.analyze(question)
    brief = await reasoner.plan(question, analysis, decision, None, (), library)
    sections: list[Section] = []
    for section in brief.sections:
        turns: list[Turn] = []
        while not (move := await reasoner.next_move(section, brief, turns, library)).text:
            seen = [
                Observation(action=action.id, passages=_found(library, action.query.split("\n")))
                for action in move.actions
            ]
            turns.append(Turn(actions=move.actions, observations=tuple(seen)))
        passages = tuple(key for turn in turns for seen in turn.observations for key in seen.passages)
        sections.append(section.model_copy(update={"content": move.text, "passages": passages}))
    given = Assignment(question=question, analysis=analysis, brief=brief, sections=tuple(sections))
    return (await reasoner.write(given, (), library)).text, sections


def _found(library: SqliteLibrary, queries: list[str]) -> tuple[str, ...]:
    return tuple(hit.passage.id for query in queries for hit in library.search(query, limit=8))


class Found(NamedTuple):
    """What was found for a question; see `Asked.is_cut` and `is_foreign`."""

    parts: tuple[PartPlaces, ...]
    is_cut: bool
    is_foreign: bool


def find(question: str, language: str, library: Library) -> Found:
    """Return the places where a question may be answered, of all sources."""
    asked, spoken = read_question(question, language), detect(question, default=language)
    parts = tuple(show_places(rank_places(part, spoken, library), library) for part in asked.parts)
    return Found(parts, asked.is_cut, is_foreign(parts, spoken, library))
