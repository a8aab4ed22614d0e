"""One node of the research by itself, for debugging (contract row B12): its prompt, its answer and its cost."""

import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from claimcheck.language import detect
from deep_research.assembly.reasoner_choice import key_variables, open_reasoner, resolve_provider
from deep_research.data import Assignment, Brief, Decision, Gap, ModelRequest, QueryAnalysis, Question, Role, Section
from deep_research.errors import ConfigError, ModelError
from deep_research.ports import Library, Reasoner
from deep_research.report.ledger import PaidCall
from deep_research.runs.refresh import state_of
from deep_research.settings import Settings, load_keys
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.run_store import RunStore
from deep_research.stores.sqlite_library import SqliteLibrary


class StepResult(NamedTuple):
    """What a step asked, what it answered, what it cost and what failed."""

    requests: list[tuple[Role, ModelRequest]]
    answer: Any
    calls: list[PaidCall]
    gaps: list[Gap]

    def as_json(self) -> str:
        """Return the answer as JSON."""
        return json.dumps(to_jsonable_python(self.answer), ensure_ascii=False, indent=1)


async def run_step(
    name: str, question: str, settings: Settings, *, home: Path, store: RunStore | None = None
) -> StepResult:
    """Do one node for a question, or with the state and library of an earlier run (`store`).

    Raises ConfigError for an unknown node or provider, and a missing key.
    """
    state: dict[str, Any] = dict(await state_of(store)) if store is not None else {}
    library: Library = store.open_library() if store is not None else SqliteLibrary(":memory:")
    asked = state.get("question") or Question(text=question, language=detect(question))
    keys = load_keys(key_variables())
    settings = settings.model_copy(update={"model_provider": resolve_provider(settings, keys)})
    requests: list[tuple[Role, ModelRequest]] = []
    gaps: list[Gap] = []
    journal = SqliteJournal(":memory:")
    opened = open_reasoner(
        settings,
        keys,
        journal=journal,
        home=home,
        on_gap=gaps.append,
        watch=lambda request, role: requests.append((role, request)),
    )
    answer: Any = None
    try:
        answer = await _thought(name, opened.reasoner, asked, state, library)
    except ModelError as error:
        gaps.append(Gap(what=name, why=error.message))
    finally:
        await opened.close()
        library.close()
    calls = [PaidCall.model_validate_json(text) for text in journal.answers("model")]
    journal.close()
    return StepResult(requests, answer, calls, gaps)


def _thought(name: str, by: Reasoner, asked: Question, state: dict[str, Any], library: Library) -> Awaitable[Any]:
    """Return the thought of a node; what the state lacks is made up from the question."""
    analysis = state.get("analysis") or QueryAnalysis(query_type="general", output_format="prose")
    decision = state.get("decision") or Decision(next_action="START_RESEARCH", confidence=1.0)
    section = Section(title=asked.text, description=asked.text, queries=(asked.text,), attempts=1)
    sections = list(state.get("sections", [])) or [section]
    plan = Brief(title=asked.text, objective=asked.text, language=asked.language, sections=tuple(sections))
    brief = state.get("brief") or plan
    turns = state.get("conversations", {}).get(sections[0].title, [])
    passages = [p for s in sections for key in s.passages if (p := library.passage(key)) is not None]
    ids = tuple(p.id for p in passages)
    given = Assignment(question=asked, analysis=analysis, brief=brief, sections=tuple(sections), passages=ids)
    thoughts = {
        "clarify": lambda: by.decide(asked, rounds=0),
        "analyze": lambda: by.analyze(asked),
        "discover": lambda: by.entities(asked, analysis, passages, library),
        "plan_sections": lambda: by.plan(asked, analysis, decision, state.get("discovery"), passages, library),
        "researcher": lambda: by.next_move(sections[0], brief, turns, library),
        "compress_output": lambda: by.take_notes(sections[0], brief, turns, library),
        "review_section": lambda: by.review_section(sections[0], brief),
        "review": lambda: by.review(brief, sections),
        "supervisor": lambda: by.delegate(brief, sections, [], library),
        "final_report": lambda: by.write(given, [], library),
    }
    if name not in thoughts:
        raise ConfigError(f"There is no step {name!r}. Steps: {', '.join(thoughts)}.", setting="step", value=name)
    return thoughts[name]()
