"""The programs of the design documents run as written, but for the name of the module (rows B9, B11)."""

import builtins
import json
import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, Optional, get_args

import pytest
from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from deep_research import Report
from deep_research.data import (
    Brief,
    Clarification,
    Decision,
    DiscoveredItem,
    Discovery,
    QueryAnalysis,
    Review,
    Section,
    SectionReview,
)
from deep_research.data.brief import NextAction
from deep_research.graph.graph_state import section_reducer
from deep_research.graph.workflows import compile_workflow
from deep_research.settings import Settings
from deep_research.steps.intake import asks
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.documents.blocks import block, run_program
from tests.documents.served import Served, served_everywhere


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with served_everywhere(tmp_path, monkeypatch) as found:
        yield found


def answering(monkeypatch: pytest.MonkeyPatch, answer: str) -> list[str]:
    """Let the user at the terminal answer so; return what they are asked."""
    asked: list[str] = []
    monkeypatch.setattr(builtins, "input", lambda prompt="": asked.append(prompt) or answer)
    return asked


async def test_b11_the_program_of_the_sections_workflow(
    served: Served, own_state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "直接开始研究")
    names = await run_program("sections_program")
    assert isinstance(names["report"], Report)
    assert capsys.readouterr().out.startswith("# ")
    (head,) = list_runs(own_state)
    record = RunFolder(own_state, head.run_id).load()
    assert record.run_id == "test-123"
    assert record.status == "finished"
    assert served.models_asked("aliyun") == {"qwen3.5-plus"}
    assert record.settings["model_provider"] == "aliyun"


async def test_b11_the_program_of_the_loop(
    served: Served, own_state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "直接开始研究")
    await run_program("loop_program")
    assert capsys.readouterr().out.startswith("# ")
    (head,) = list_runs(own_state)
    record = RunFolder(own_state, head.run_id).load()
    assert record.settings["max_review_iterations"] == 5
    assert served.models_asked("aliyun") == {"qwen-max"}


async def test_b11_the_program_of_the_loop_in_its_own_workflow(
    served: Served, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "直接开始研究")
    monkeypatch.setenv("DEEP_RESEARCH_WORKFLOW", "loop")
    await run_program("loop_program")
    (head,) = list_runs(own_state)
    record = RunFolder(own_state, head.run_id).load()
    assert Settings(**record.settings).max_iterations == 5
    assert served.calls > 0


async def test_what_is_asked_reaches_the_function_of_the_documents(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The block that asks: its question goes to `on_clarify_question`, the answer becomes a message."""
    messages: list[Any] = []
    names = await run_program(
        "sections_asking",
        result={"needs_clarification": True, "clarification_question": "Which one?"},
        on_clarify_question=_echo,
        current_state={"messages": messages, "needs_clarification": True},
        HumanMessage=HumanMessage,
    )
    assert names["current_state"]["messages"][0].content == "about Which one?"


async def _echo(question: str) -> str:
    return f"about {question}"


async def test_b2_the_reducer_of_the_document_and_ours_agree() -> None:
    theirs = (await run_program("sections_reducer", Section=Section))["section_reducer"]
    one, two, new = Section(title="A"), Section(title="B"), Section(title="B", content="done")
    for existing, updates in (([], [one]), ([one, two], [new]), ([one], [two]), ([one, two], [])):
        assert theirs(existing, updates) == section_reducer(existing, updates)


async def test_b1_the_fan_out_of_the_document_is_that_of_the_graph() -> None:
    """The block adds these nodes and this edge to a graph; ours has them."""
    drawn = compile_workflow("sections").get_graph()
    text = block("sections_fan_out")
    for node in re.findall(r'add_node\("(\w+)"', text):
        assert node in drawn.nodes
    edges = {(edge.source, edge.target) for edge in drawn.edges}
    assert set(re.findall(r'add_edge\("(\w+)", "(\w+)"\)', text)) <= edges
    assert ("plan_sections", "researcher") in edges


def test_a1_the_actions_of_the_document() -> None:
    names: dict[str, Any] = {"Literal": Literal}
    exec(block("front_door_actions"), names)
    assert set(get_args(names["NextAction"])) == set(get_args(NextAction))


def test_a3_the_question_of_the_document_is_ours() -> None:
    names: dict[str, Any] = {"BaseModel": BaseModel, "Optional": Optional, "List": list}
    exec(block("front_door_question"), names)
    theirs = names["ClarificationQuestion"]
    assert set(theirs.model_fields) == set(Clarification.model_fields)
    shown = json.loads(block("front_door_answer"))
    decision = Decision(**shown, confidence=0.4)
    assert decision.clarification is not None
    assert theirs(**shown["clarification"]).options == list(decision.clarification.options)


def test_a2_the_rules_of_the_document_decide_as_ours() -> None:
    names: dict[str, Any] = {"Plan": Any}
    exec(block("front_door_rules"), names)
    for confidence, focus, goal in product((0.0, 0.49, 0.5, 0.69, 0.7, 0.89), range(5), ("", "to know")):
        points = tuple(f"point {n}" for n in range(focus))
        task = Decision(next_action="START_RESEARCH", confidence=confidence, goal=goal, research_focus=points)
        plan = SimpleNamespace(task=task, next_action=task.next_action, confidence=confidence)
        assert bool(names["should_start_research"](plan)) is not asks(task, Settings()), task
        assuming = task.model_copy(update={"assumptions": ("It is meant so.",)})
        assert bool(names["needs_clarification"](plan)) is asks(assuming, Settings()), task


ANSWERS = {
    "query_type output_format needs_discovery discovery_target reasoning": QueryAnalysis,
    "name category brief source priority": DiscoveredItem,
    "entities summary categories search_coverage": Discovery,
    "title objective sections scope": Brief,
    "title description": Section,
    "title content sources key_findings": Section,
    "is_sufficient overall_score section_coverage gaps sections_to_retry reasoning": Review,
    "title status notes": SectionReview,
}
"""The structured answers of the documents, with the nouns that hold them."""
ELSEWHERE = {
    "need_clarification": "Decision.next_action",
    "is_clear": "Decision.next_action",
    "question": "Decision.clarification.question",
    "clarification_question": "Decision.clarification.question",
    "refined_query": "Decision.refined_question",
    "verification": "Decision.verification",
    "total_found": "len(Discovery.entities)",
    "research_title": "Brief.title",
    "search_queries": "Section.queries",
    "next_queries": "SectionReview.queries",
}
"""Keys that ours have under another name, or compute."""


@pytest.mark.parametrize("name", ["sections_answers", "loop_answers"])
def test_each_key_of_the_structured_answers_has_its_place(name: str) -> None:
    ours = {key for keys in ANSWERS for key in keys.split()}
    for keys, noun in ANSWERS.items():
        assert set(keys.split()) <= set(noun.model_fields), noun
    asked = set(re.findall(r'"(\w+)":', block(name)))
    assert asked
    assert asked <= ours | set(ELSEWHERE)
