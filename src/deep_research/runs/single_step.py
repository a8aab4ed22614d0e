"""One step by itself: with inputs from a file, from an earlier run, or from an example; to see and to repair it."""

import inspect
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deep_research.assembly.reasoner_choice import key_variables, model_reasoner, open_reasoner, resolve_provider
from deep_research.data import (
    Brief,
    Claim,
    Decision,
    Discovery,
    Document,
    Found,
    Gap,
    ModelAnswer,
    ModelRequest,
    Passage,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Role,
    Section,
    Verdict,
)
from deep_research.errors import ConfigError, ModelError
from deep_research.i18n.language import detect
from deep_research.ports import Library, Reasoner
from deep_research.report.ledger import PaidCall
from deep_research.runs.branches import state_of
from deep_research.settings import Settings, load_keys
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.run_store import RunStore
from deep_research.stores.sqlite_library import SqliteLibrary

_EXAMPLE = {
    "question": "How does speculative decoding work?",
    "passages": [
        {
            "title": "Speculative decoding",
            "text": "In speculative decoding a small model drafts several tokens. The large model checks all of them in one pass.",
        },
        {
            "title": "Measurements",
            "text": "Speculative decoding made T5-XXL 2 to 3 times faster with the same outputs.",
        },
    ],
}


class PassageInput(BaseModel):
    """A text to be cited; it becomes passage `s1p1`, `s2p1`, … in order."""

    model_config = ConfigDict(extra="forbid")

    text: str
    title: str = ""


class StepInputs(BaseModel):
    """What steps take. Of a file in JSON; what a step does not need may be missing."""

    model_config = ConfigDict(extra="forbid")

    question: Question | str = ""
    decision: Decision | None = None
    analysis: QueryAnalysis | None = None
    discovery: Discovery | None = None
    brief: Brief | None = None
    section: str = Field("", description="title of the section that research and write_section are about")
    sections: list[Section] = Field(default_factory=list)
    claims: list[Claim] = Field(default_factory=list)
    passages: list[PassageInput | str] = Field(default_factory=list)


class Material(NamedTuple):
    """The inputs of a step as nouns, and the library they cite."""

    question: Question
    decision: Decision
    analysis: QueryAnalysis
    discovery: Discovery | None
    brief: Brief
    section: Section
    sections: tuple[Section, ...]
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]
    library: Library


class StepResult(NamedTuple):
    """What a step asked, what it answered, what it cost and what failed."""

    requests: list[tuple[Role, ModelRequest]]
    answer: Any
    calls: list[PaidCall]
    gaps: list[Gap]

    def as_json(self) -> str:
        """Return the answer as JSON."""
        return json.dumps(_plain(self.answer), ensure_ascii=False, indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def read_inputs(path: Path | None) -> Material:
    """Return the inputs in a file of JSON, or an example. Raises ConfigError for one that does not fit."""
    if path is None:
        return material(StepInputs.model_validate(_EXAMPLE))
    try:
        return material(StepInputs.model_validate_json(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f"Cannot read {str(path)!r}: {error.strerror or error}.", setting="input") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ConfigError(f"{str(path)!r}: {place}: {first['msg'].lower()}.", setting="input") from None


def material(given: StepInputs) -> Material:
    """Return `given` with what is missing made up from the rest."""
    question = given.question
    if isinstance(question, str):
        question = Question(text=question, language=detect(question))
    library = SqliteLibrary(":memory:")
    for number, one in enumerate(given.passages, 1):
        row = PassageInput(text=one) if isinstance(one, str) else one
        found = Found(key=f"input:{number}", title=row.title or f"Passage {number}", origin="input")
        source = library.add_source(found)
        library.add_snapshot(source.id, Document(text=row.text, title=found.title), retrieved_at="")
    passages = tuple(p for source in library.sources() for p in library.passages(source.id))
    sections = given.sections or list(given.brief.sections if given.brief else ())
    return _complete(given, question, sections, passages, library)


def _complete(
    given: StepInputs, question: Question, sections: list[Section], passages: tuple[Passage, ...], library: Library
) -> Material:
    named = next((s for s in sections if s.title == given.section), None) or (sections[0] if sections else None)
    if given.section and (named is None or named.title != given.section):
        named = Section(title=given.section)
    said = f"{passages[0].text} [{passages[0].id}]" if passages else ""
    section = named or Section(title=question.text or "The section", description=question.text, content=said)
    ids = tuple(p.id for p in passages[:1])
    example = Claim(id="c1", section=section.title, text=passages[0].text, passages=ids, verdict=_OPEN) if ids else None
    brief = given.brief or Brief(title=question.text, objective=question.text, language=question.language)
    return Material(
        question=question,
        decision=given.decision or Decision(next_action="START_RESEARCH", confidence=1.0),
        analysis=given.analysis or QueryAnalysis(query_type="general", output_format="prose"),
        discovery=given.discovery,
        brief=brief if brief.sections else brief.model_copy(update={"sections": tuple(sections) or (section,)}),
        section=section,
        sections=tuple(sections) or (section,),
        claims=tuple(given.claims) or ((example,) if example else ()),
        passages=passages,
        library=library,
    )


_OPEN = Verdict(kind="unverified", reason="not judged yet")


async def inputs_of_run(store: RunStore, section: str) -> Material:
    """Return the inputs as an earlier run had them at its end. Raises ConfigError when it had not planned yet."""
    record, state = store.load(), await state_of(store)
    claims = [claim for group in state.get("claims", {}).values() for claim in group]
    sections = list(state.get("sections", []))
    if section and section not in [s.title for s in sections]:
        message = f"The run has no section {section!r}. It has: {', '.join(s.title for s in sections) or 'none'}."
        raise ConfigError(message, setting="section", value=section)
    chosen = section or (sections[0].title if sections else "")
    given = StepInputs(
        question=state.get("question") or Question(text=record.question, language=record.language),
        decision=state.get("decision"),
        analysis=state.get("analysis"),
        discovery=state.get("discovery"),
        brief=state.get("brief"),
        section=chosen,
        sections=sections,
    )
    library = store.open_library()
    ids = dict.fromkeys(key for claim in claims if claim.section == chosen for key in claim.passages)
    passages = tuple(p for key in ids if (p := library.passage(key)) is not None)
    made = _complete(given, given.question, sections, passages, library)  # type: ignore[arg-type]
    return made._replace(claims=tuple(claims) or made.claims)


def _own_claims(m: Material) -> list[Claim]:
    return [claim for claim in m.claims if claim.section == m.section.title] or list(m.claims)


_METHODS = {"supervise": "delegate", "research": "next_actions"}
"""Prompts whose method of the reasoner has another name."""
_PROMPTS = {method: prompt for prompt, method in _METHODS.items()}
_PARTS = frozenset({"discover_actions"})
"""Methods that need the turns of a discovery before them."""
STEPS = tuple(
    _PROMPTS.get(name, name)
    for name, member in vars(Reasoner).items()
    if inspect.isfunction(member) and not name.startswith("_") and name not in _PARTS
)
"""The methods of a reasoner that are steps of their own, by the name of their prompt."""


_NODES = {
    "clarify": "decide",
    "clarify_with_user": "decide",
    "discover": "entities",
    "plan_sections": "plan",
    "brief": "plan",
    "write_research_brief": "plan",
    "researcher": "research",
    "compress_output": "write_section",
    "compress_research": "write_section",
    "reflect": "review",
    "review_sections": "review",
    "report": "compose",
    "final_report": "compose",
    "final_report_generation": "compose",
    "supervisor": "supervise",
}
"""Nodes of the graphs, and what the design documents call them, with the step that thinks in them."""


def step_called(name: str) -> str:
    """Return the step of a name: its own, or that of a node. Raises ConfigError for a node that does not think."""
    if name in ("aggregate", "tools", "discover_tools", "supervisor_tools"):
        message = f"The node {name!r} asks no reasoner: it carries out what others have chosen, or merges."
        raise ConfigError(message, setting="step", value=name)
    return _NODES.get(name, name)


def _thought(name: str, reasoner: Reasoner, m: Material) -> Awaitable[Any]:
    """Call the method of a step with what its parameters name. Raises ConfigError for an unknown step."""
    name = step_called(name)
    if name not in STEPS:
        message = f"There is no step {name!r}. Steps: {', '.join(STEPS)}. Names of nodes: {', '.join(_NODES)}."
        raise ConfigError(message, setting="step", value=name)
    method = getattr(reasoner, _METHODS.get(name, name))
    wanted = inspect.signature(method).parameters
    given = {**m._asdict(), "turns": (), "rounds": 0, "answer": m.question.text, "found": {m.section.title: m.passages}}
    if "sections" not in wanted:
        given["claims"] = _own_claims(m)
    return method(**{name: given[name] for name in wanted if name in given})


def _asking(name: str, settings: Settings) -> Settings:
    """Return the settings with which a step asks its model whatever it is given: of a short page it does so in depth alone."""
    return settings.model_copy(update={"depth": "deep"}) if name == "read_page" else settings


async def run_step(name: str, inputs: Material, settings: Settings, *, home: Path) -> StepResult:
    """Do one step and return all about it. Raises ConfigError for an unknown step or provider, and a missing key."""
    keys = load_keys(key_variables())
    settings = _asking(name, settings.model_copy(update={"model_provider": resolve_provider(settings, keys)}))
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
    try:
        answer: Any = None
        try:
            answer = await _thought(name, opened.reasoner, inputs)
        except ModelError as error:
            gaps.append(Gap(what=name, why=error.message))
        calls = [PaidCall.model_validate_json(text) for text in journal.answers("model")]
        return StepResult(requests, answer, calls, gaps)
    finally:
        await opened.close()
        journal.close()


class _Shown(Exception):
    """Raised where a model would be asked."""


async def render_prompt(name: str, inputs: Material, settings: Settings, *, home: Path) -> ModelRequest:
    """Return the request that a step would send; no model and no key is needed. Raises ConfigError."""
    seen: list[ModelRequest] = []

    async def complete(request: ModelRequest, _role: Role) -> ModelAnswer:
        seen.append(request)
        raise _Shown

    context = settings.max_context_tokens
    reasoner = model_reasoner(
        complete,
        _asking(name, settings),
        info=ReasonerInfo(kind="model"),
        home=home,
        on_gap=lambda _: None,
        context_tokens=context,
    )
    try:
        await _thought(name, reasoner, inputs)
    except _Shown:
        if seen:
            return seen[0]
        raise
    message = f"The step {name!r} asks no model with these inputs (it lacks passages, sections or claims)."
    raise ConfigError(message, setting="step", value=name)
