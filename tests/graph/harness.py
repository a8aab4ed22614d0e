"""The real graph over places and reasoners of a test's own: no part of the program is replaced."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from langgraph.types import Command

from claimcheck.language import detect
from claimcheck.text.tokens import content_terms
from deep_research.data import (
    Brief,
    Document,
    Found,
    Gap,
    Move,
    Observation,
    Question,
    Report,
    SearchResult,
    Section,
    Turn,
)
from deep_research.events import Event, GapFound
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.graph.run_graph import open_checkpoints
from deep_research.graph.workflows import compile_workflow
from deep_research.ports import Library, Progress, Reasoner, SearchPlace
from deep_research.run_context.context import Outside, RunContext
from deep_research.settings import Settings
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.support.unkept_log import unkept_log

E = TypeVar("E")
ENGINES = {
    "alpha": "# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm. "
    "The Alpha engine was built in 1999 by Rolf Maier in Graz. The Alpha engine is best suited for small boats.",
    "beta": "# Beta engine\n\nThe Beta engine is a piston engine that turns at 4,500 rpm. "
    "The Beta engine was built in 2004 by Anna Holm in Bergen. The Beta engine is recommended for trucks.",
    "gamma": "# Gamma engine\n\nThe Gamma engine is a turbine engine that turns at 21,000 rpm. "
    "The Gamma engine was built in 2011 by Luis Prado in Porto. The Gamma engine is used in aircraft.",
}


class Shelf:
    """A place that holds a few texts: finds those that share a term with the query, and counts what it is asked."""

    def __init__(self, name: str = "shelf", **texts: str) -> None:
        self.name = name
        self.purpose = f"Texts on the {name}."
        self.texts = texts
        self.asked: Counter[str] = Counter()

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        return ()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        self.asked[query] += 1
        wanted = set(content_terms(query))
        hits = [key for key, text in self.texts.items() if wanted & set(content_terms(text))]
        return SearchResult(found=tuple(self._found(key) for key in hits[:limit]))

    def _found(self, key: str) -> Found:
        title = self.texts[key].splitlines()[0].removeprefix("# ")
        return Found(key=f"{self.name}:{key}", title=title, origin=self.name, location=key)

    async def read(self, found: Found) -> Document:
        return Document(text=self.texts[found.key.removeprefix(f"{self.name}:")], title=found.title)

    async def close(self) -> None:
        return


class Meeting(Shelf):
    """Answers only when `parties` searches are asked at the same time; where titles are named, these alone wait."""

    def __init__(self, parties: int, *titles: str, **texts: str) -> None:
        super().__init__(**texts)
        self._titles, self._barrier = titles, asyncio.Barrier(parties)

    async def search(self, query: str, *, limit: int) -> SearchResult:
        if not self._titles or query in self._titles:
            async with asyncio.timeout(20):
                await self._barrier.wait()
        return await super().search(query, limit=limit)


class Broken(Shelf):
    """A place whose searches fail with an error of one's choice."""

    def __init__(self, error: Exception, name: str = "broken") -> None:
        super().__init__(name)
        self._error = error

    async def search(self, query: str, *, limit: int) -> SearchResult:
        self.asked[query] += 1
        raise self._error


class Planner(FinderReasoner):
    """Plans the sections it is told to, so that a test knows what to expect; all else is done without a model."""

    def __init__(self, *titles: str) -> None:
        super().__init__()
        self.titles = titles
        self.plans = 0
        self.turns: dict[tuple[str, int], Sequence[Turn]] = {}

    async def plan(self, question: Question, *args: Any, **kwargs: Any) -> Brief:
        self.plans += 1
        sections = tuple(Section(title=t, subject=t, queries=(t,)) for t in self.titles)
        return Brief(title=question.text, objective=question.text, language=question.language, sections=sections)

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        self.turns[section.title, section.attempts] = tuple(turns)
        return await super().next_move(section, brief, turns, library)


class Fragile(Planner):
    """Its researcher of "Beta engine" fails, at a stage and with an error of one's choice."""

    def __init__(self, *given: Any, stage: str, error: Exception) -> None:
        super().__init__(*given)
        self._stage, self._error = stage, error

    async def next_move(self, section: Section, *args: Any) -> Move:
        self._fail("next_move", section)
        return await super().next_move(section, *args)

    async def take_notes(self, section: Section, *args: Any) -> str:
        self._fail("take_notes", section)
        return await super().take_notes(section, *args)

    def _fail(self, stage: str, section: Section) -> None:
        if (stage, section.title) == (self._stage, "Beta engine"):
            raise self._error


@dataclass
class Trace:
    """What a graph did: which nodes ended in which order, what it said, what it ended with."""

    nodes: list[str] = field(default_factory=list)
    updates: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    interrupts: list[Any] = field(default_factory=list)

    @property
    def report(self) -> Report:
        return self.state["report"]

    @property
    def failures(self) -> list[GapFound]:
        """The gaps that the research met, without what the report says of weak sections."""
        return [e for e in self.of(GapFound) if e.codes not in (("section_empty",), ("review_open",))]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def observations(self) -> list[Observation]:
        turns = [turn for name, update in self.updates if name == "tools" for turn in update.get("turns", [])]
        return [seen for turn in turns for seen in turn.observations]


class Bench:
    """A graph with its library, journal and checkpoints in a folder; use as an async context."""

    def __init__(self, folder: Path, *places: SearchPlace, reasoner: Reasoner | None = None, **settings: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._stack = folder, AsyncExitStack()
        self.trace = Trace()
        self.library = SqliteLibrary(folder / "library.db")
        self.journal = SqliteJournal(folder / "journal.db")
        made = Settings(**{"allow_clarification": False, **settings})
        self.context = RunContext(
            run_id="run",
            settings=made,
            reasoner=reasoner or FinderReasoner(),
            library=self.library,
            journal=self.journal,
            log=unkept_log(self.trace.events.append),
            outside=Outside(places=tuple(places)),
        )

    async def __aenter__(self) -> "Bench":
        saver = await self._stack.enter_async_context(open_checkpoints(self._folder / "checkpoints.db"))
        self._graph = compile_workflow(self.context.settings.workflow, saver)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()
        self.journal.close()
        self.library.close()

    async def ask(self, question: str, **state: Any) -> Trace:
        """Run the graph from the start."""
        given = {
            "messages": [],
            "original_query": question,
            "question": Question(text=question, language=detect(question)),
            "sections": [],
        }
        return await self._run({**given, **state})

    async def answer(self, text: str) -> Trace:
        """Go on from an interrupt."""
        return await self._run(Command(resume=text))

    async def _run(self, given: Any) -> Trace:
        config: Any = {"configurable": {"thread_id": "run"}, "recursion_limit": 200}
        self.trace.interrupts = []
        async for _path, update in self._graph.astream(
            given, config, context=self.context, stream_mode="updates", subgraphs=True
        ):
            for node, change in update.items():
                if node == "__interrupt__":
                    self.trace.interrupts.extend(one.value for one in change)
                    continue
                self.trace.nodes.append(node)
                self.trace.updates.append((node, change or {}))
        self.trace.state = (await self._graph.aget_state(config)).values
        return self.trace


def ask(folder: Path, question: str, *places: SearchPlace, reasoner: Reasoner | None = None, **settings: Any) -> Trace:
    """Ask a question of the whole graph over these places."""

    async def work() -> Trace:
        async with Bench(folder, *places, reasoner=reasoner, **settings) as bench:
            return await bench.ask(question)

    return asyncio.run(work())
