"""The supervisor with a model, rows D1, D2, D4, D5, D6 and D8: its conversation, its runs, and contexts that overflow."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_research.data import (
    Action,
    Brief,
    Gap,
    ModelAnswer,
    ModelMessage,
    ModelRequest,
    Observation,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Role,
    Section,
    ToolCall,
    Turn,
)
from deep_research.errors import ContextTooLong
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.reasoners.model.model_reasoner import ModelReasoner
from deep_research.reasoners.model.structured_calls import fitted, trimmed
from deep_research.text.token_count import estimate_tokens
from tests.model.harness import ENGINES, assert_presentable, research, served, steps
from tests.reasoners.libraries import all_passages, library
from tests.support.scripted_researcher import step_of

BRIEF = Brief(title="Engines", objective="Compare engines.", sections=(Section(title="Alpha engine"),))
QUESTION = Question(text="Engines", language="en")
ANALYSIS = QueryAnalysis(query_type="general", output_format="prose")
FOUND = "The Alpha engine turns at 3,000 rpm. [s1p1] It weighs 85 kg. [s2p3]"


class Model:
    """Plays a list of answers, with a context of `limit` tokens; keeps what it was asked."""

    def __init__(self, *answers: ModelAnswer, limit: int = 10**9) -> None:
        self.answers, self.limit = list(answers), limit
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, role: Role) -> ModelAnswer:
        self.asked.append(request)
        if sum(estimate_tokens(message.text) for message in request.messages) > self.limit:
            raise ContextTooLong("The prompt is too long.", model="scripted")
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def calls(*made: tuple[str, dict[str, Any] | None]) -> ModelAnswer:
    return ModelAnswer(tool_calls=tuple(ToolCall(id=f"x{i}", name=n, arguments=a) for i, (n, a) in enumerate(made)))


def said(**fields: Any) -> ModelAnswer:
    return ModelAnswer(text=json.dumps(fields))


def reasoner(model: Model, *, gaps: list[Gap] | None = None, window: int = 100_000) -> ModelReasoner:
    return ModelReasoner(
        model.complete,
        info=ReasonerInfo(kind="model"),
        fallback=FinderReasoner(),
        places=[("documents", "Notes.")],
        date="2026-01-02",
        max_context_tokens=window,
        compression_target_tokens=8000,
        max_tool_calls=10,
        max_sections=5,
        max_clarification_rounds=3,
        on_gap=(gaps if gaps is not None else []).append,
    )


def turn(number: int, text: str, *, gap: Gap | None = None) -> Turn:
    action = Action(id=f"r{number}c1", name="conduct_research", query="Its speed.", source="Alpha engine")
    return Turn(
        actions=(action,), observations=(Observation(action=action.id, text=text, failure=gap.why if gap else ""),)
    )


async def delegate(
    model: Model, *turns: Turn, gaps: list[Gap] | None = None, window: int = 100_000
) -> Sequence[Action]:
    return await reasoner(model, gaps=gaps, window=window).delegate(BRIEF, BRIEF.sections, turns, library())


async def test_d1_tool_calls_become_delegations() -> None:
    topic = {"title": "Alpha engine", "research_topic": "Its speed and weight."}
    made = calls(("think", {"thought": "Speed first."}), ("conduct_research", topic), ("research_complete", {}))
    model = Model(made)
    actions = await delegate(model)
    assert [(a.name, a.query, a.source) for a in actions] == [
        ("think", "Speed first.", ""),
        ("conduct_research", "Its speed and weight.", "Alpha engine"),
        ("research_complete", "", ""),
    ]
    assert [tool.name for tool in model.asked[0].tools] == ["conduct_research", "think", "research_complete"]


@pytest.mark.parametrize(
    ("name", "arguments"), [("browse", {"url": "x"}), ("conduct_research", {}), ("conduct_research", None)]
)
async def test_d8_a_call_that_cannot_be_carried_out_is_answered(name: str, arguments: dict[str, Any] | None) -> None:
    model = Model(calls((name, arguments)))
    (action,) = await delegate(model)
    assert action.name == "unknown"
    asked = Turn(actions=(action,), observations=(Observation(action=action.id),))
    await delegate(model, asked)
    told = model.asked[-1].messages[-1]
    assert (told.role, told.tool_call_id) == ("tool", action.id)
    assert told.text.startswith("Not done: ")
    assert name in told.text


async def test_d1_the_conversation_only_grows_and_shows_the_results_with_their_ids() -> None:
    model = Model(calls(("research_complete", {})))
    turns = [turn(1, FOUND), turn(2, "Nothing new. [s3p1]")]
    asked: list[Sequence[ModelMessage]] = []
    for count in range(3):
        await delegate(model, *turns[:count])
        asked.append(model.asked[-1].messages)
    assert [list(a) for a in asked[:2]] == [list(b[: len(a)]) for a, b in pairwise(asked)]
    assert asked[1][-1].text == FOUND


async def test_d8_a_failed_delegation_is_told_as_a_failure() -> None:
    model = Model(calls(("research_complete", {})))
    await delegate(model, turn(1, "", gap=Gap(what="Alpha engine", why="The provider is down.")))
    assert model.asked[-1].messages[-1].text == "This research failed: The provider is down."


async def test_d2_an_answer_without_a_tool_call_ends_it_but_not_before_it_has_begun() -> None:
    gaps: list[Gap] = []
    model = Model(ModelAnswer(text="I know it all already."))
    assert await delegate(model, turn(1, FOUND), gaps=gaps) == []
    assert gaps == []
    first = await delegate(model, gaps=gaps)
    assert [(a.name, a.source) for a in first] == [("conduct_research", "Alpha engine")]
    assert [gap.what for gap in gaps] == ["supervision"]


async def test_d4_a_conversation_that_is_too_long_loses_its_oldest_results_first() -> None:
    model = Model(calls(("research_complete", {})), limit=2600)
    long = " ".join(f"The Alpha engine has part number {n}. [s{n}p1]" for n in range(90))
    await delegate(model, turn(1, long), turn(2, long), turn(3, FOUND), window=12_000)
    assert len(model.asked) > 1
    last = model.asked[-1].messages
    assert last[-1].text == FOUND
    assert "part number" not in last[3].text
    assert "s89p1" in last[3].text, "what it rests on stays"


async def test_d4_writing_drops_the_least_relevant_passages_and_tries_three_times_again() -> None:
    texts = {f"Note_{n}": f"# Note {n}\n\n{'The engine has many parts. ' * 60}" for n in range(16)}
    kept = library(**texts)
    passages = all_passages(kept)
    written = said(content="The engine has many parts. [s1p1]", key_findings=[])
    model = Model(written, limit=2600)
    draft = await reasoner(model).write_section(BRIEF.sections[0], BRIEF, passages, kept)
    assert draft.content == "The engine has many parts. [s1p1]"
    shown = [sum(f'id="{p.id}"' in request.messages[-1].text for p in passages) for request in model.asked]
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] >= 1
    assert f'id="{passages[0].id}"' in model.asked[-1].messages[-1].text, "the best passage is dropped last"
    hopeless, gaps = Model(written, limit=1), []
    await reasoner(hopeless, gaps=gaps).write_section(BRIEF.sections[0], BRIEF, passages, kept)
    assert len(hopeless.asked) == 4
    assert gaps


def composing(model: Model, gaps: list[Gap], *, window: int) -> Any:
    long = " ".join(f"The engine has part number {n}. [s{n}p1]" for n in range(900))
    sections = [Section(title=t, content=long, status="completed") for t in ("Alpha", "Beta")]
    return reasoner(model, gaps=gaps, window=window).compose(QUESTION, ANALYSIS, BRIEF, sections, [], library())


async def test_d5_a_report_too_long_for_the_window_is_trimmed_to_it_and_then_by_a_tenth() -> None:
    gaps: list[Gap] = []
    answer = f"Parts {'of engines ' * 30}. [s1p1]"
    model = Model(said(answer=answer, conclusion="", table=""), limit=11_500)
    made = await composing(model, gaps, window=20_000)
    assert made.abstract == answer
    assert gaps == []
    sizes = [estimate_tokens(request.messages[-1].text) for request in model.asked]
    assert 2 <= len(sizes) <= 4
    assert sizes == sorted(sizes, reverse=True)
    last = model.asked[-1].messages[-1].text
    assert last.count("number 0.") == 2, "every section keeps its beginning"
    assert "number 899." not in last


async def test_d5_after_three_retries_it_is_composed_without_the_model_and_said() -> None:
    gaps: list[Gap] = []
    model = Model(said(answer="x", conclusion="", table=""), limit=1)
    await composing(model, gaps, window=20_000)
    assert len(model.asked) == 4
    assert [gap.what for gap in gaps] == ["report"]


async def test_d5_what_fits_is_shown_whole_and_once() -> None:
    seen: list[Sequence[str]] = []

    async def make(texts: Sequence[str]) -> int:
        seen.append(texts)
        return len(texts)

    assert await fitted(["a. [s1p1]", "b. [s1p2]"], 1, make) == 2
    assert seen == [["a. [s1p1]", "b. [s1p2]"]]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(0, 900))
def test_d5_trimming_keeps_to_the_budget_and_cuts_no_citation_in_two(lengths: list[int], budget: int) -> None:
    texts = [" ".join(f"Part {n} is blue. [s{n}p1][s{n}p2]" for n in range(length)) for length in lengths]
    cut = trimmed(texts, budget)
    assert all(whole.startswith(text) for whole, text in zip(texts, cut, strict=True))
    assert all(text.endswith("]") for text in cut if text)
    assert sum(map(estimate_tokens, cut)) <= max(budget, sum(map(estimate_tokens, texts)) if cut == texts else 0) + len(
        cut
    )


def test_d1_a_whole_run_delegates_the_plan_and_cites_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, workflow="supervisor")
    assert_presentable(ran)
    assert [section.title for section in ran.report.sections] == list(ENGINES)
    assert all(section.content for section in ran.report.sections)
    assert steps(provider)["supervise"] == 2
    assert ran.report.workflow == "supervisor"


def test_d2_a_whole_run_carries_out_what_overflows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, workflow="supervisor", max_concurrent_research_units=2)
    told = [m["text"] for call in provider.calls for m in call.request["messages"] if m["role"] == "tool"]
    assert any(text.startswith("Not begun: at most 2 delegations") for text in told)
    (missing,) = [gap for gap in ran.report.gaps if "Not researched" in gap.why]
    assert missing.what == "Gamma engine", "the scripted model ends the research in the next round"
    assert_presentable(ran)


def test_d6_each_role_has_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = {"research_model": "for-research", "write_model": "for-writing", "report_model": "for-the-report"}
    with served(monkeypatch, models=("scripted", *models.values())) as provider:
        research(tmp_path, workflow="supervisor", **models)
    by_step = {step_of(call.request): call.request["model"] for call in provider.calls}
    assert by_step["supervise"] == by_step["research"] == "for-research"
    assert by_step["write_section"] == "for-writing"
    assert by_step["compose"] == "for-the-report"
