"""A researcher is one conversation that only grows, and so is the writer's: what was sent before stands at its beginning."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deep_research.events import Searched
from deep_research.runs.steering_inbox import steer
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.model.harness import (
    ENGINES,
    PLAN,
    Scene,
    assert_presentable,
    citing,
    of_step,
    playing,
    research,
)
from tests.runs.running import engines
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

KINDS = {"research": "researcher", "notes": "researcher", "write": "writer", "revise": "writer", "supervise": "lead"}


def conversations(provider: ScriptedProvider, script: ScriptedResearcher) -> dict[str, list[list[Any]]]:
    """The messages of all requests by the conversation that they belong to, in the order in which they came."""
    found: dict[str, list[list[Any]]] = {}
    for call in provider.calls:
        kind = KINDS.get(step_of(call.request), "")
        messages = [{key: m[key] for key in ("role", "text", "tool_calls")} for m in call.request["messages"]]
        if kind:
            section = script.section_of(call.request) if kind == "researcher" else ""
            found.setdefault(f"{kind} {section}", []).append(messages)
        elif step_of(call.request) in ("examine", "examined"):
            found.setdefault("verifier", []).append(messages)
    return found


def assert_they_only_grow(found: dict[str, list[list[Any]]]) -> None:
    for name, requests in found.items():
        for before, after in pairwise(requests):
            assert after[: len(before)] == before, name


@pytest.mark.parametrize("workflow", ["sections", "supervisor", "loop"])
def test_every_request_of_a_conversation_begins_with_the_one_before(scene: Scene, workflow: str) -> None:
    script = ScriptedResearcher(
        sections=PLAN, sentences=4, at_once=(1, 1), opens=2, retry=["Beta engine"], look_ups=["rotary", "turbine"]
    )
    ran = scene.research(script, workflow=workflow, depth="deep")
    found = conversations(scene.provider, script)
    assert_they_only_grow(found)
    assert sum(len(requests) > 3 for name, requests in found.items() if name.startswith("researcher")) >= (
        1 if workflow == "loop" else len(ENGINES)
    )
    assert len(found["writer "]) == 4, "two look-ups, the report, its revision"
    assert scene.provider.duplicates == 0
    assert scene.provider.cached_tokens > 0.4 * scene.provider.prompt_tokens
    assert_presentable(ran)


def test_notes_are_asked_for_where_a_researcher_only_says_that_it_has_enough(scene: Scene) -> None:
    def ending(request: Request) -> Reply | None:
        made = [call["name"] for m in request["messages"] for call in m["tool_calls"]]
        return Reply(tool_calls=(Call("research_complete", {}),)) if "search" in made else None

    ran = scene.quickly(playing(research=ending))
    (asked,) = of_step(scene.provider, "notes")
    before = of_step(scene.provider, "research")[-1]
    assert asked.request["messages"][: len(before.request["messages"])] == before.request["messages"]
    assert asked.request["messages"][-1]["role"] == "user"
    assert "3,000 rpm" in ran.report.sections[0].notes
    assert_presentable(ran)


def test_a_researcher_is_told_how_many_calls_are_left_and_writes_its_notes_at_the_end_of_them(scene: Scene) -> None:
    def greedy(request: Request) -> Reply | None:
        number = sum(len(m["tool_calls"]) for m in request["messages"])
        if "Write your notes now" in request["messages"][-1]["text"]:
            return None
        calls = (Call("search", {"queries": [f"engine {number + n}"], "source": ""}) for n in range(2))
        return Reply(tool_calls=tuple(calls))

    ran = scene.research(playing(research=greedy), max_tool_calls_per_researcher=3, max_review_iterations=0)
    researched = [event for event in ran.of(Searched) if event.section]
    assert len(researched) == 3 * len(ENGINES)
    last = [c.request for c in of_step(scene.provider, "research")][-1]["messages"]
    assert re.findall(r"calls left: (\d+)", "".join(m["text"] for m in last)) == ["1", "0"]
    assert [m["text"] for m in last if m["text"].startswith("Not done: no calls are left for this search")]
    assert all(section.notes for section in ran.report.sections)
    assert_presentable(ran)


def test_what_is_asked_again_costs_no_call(scene: Scene) -> None:
    """Copies in one answer are one call; what was answered before is free; other searches have the calls for themselves."""

    def asking(request: Request) -> Reply | None:
        turn = sum(m["role"] == "assistant" for m in request["messages"])
        if turn > 5:
            return None
        query = "engine 0" if turn % 2 else f"engine {turn}"
        return Reply(tool_calls=tuple(Call("search", {"queries": [query], "source": ""}) for _ in range(9)))

    ran = scene.research(playing(research=asking), max_tool_calls_per_researcher=3, max_review_iterations=0)
    assert {event.query for event in ran.of(Searched) if event.section} == {"engine 0", "engine 2", "engine 4"}
    told = "".join(m["text"] for call in scene.provider.calls for m in call.request["messages"])
    assert "Not done" not in told


def test_wrong_calls_are_answered_and_a_thought_is_no_finding(scene: Scene) -> None:
    wrong = (
        Call("think", {"reflection": "I know of 7919 engines."}),
        Call("open", {"source": "s999", "find": ""}),
        Call("open_the_pod_bay_doors", {"now": True}),
        Call("search", {"queries": []}),
        Call("search", "{broken"),
    )

    def fumbling(request: Request) -> Reply | None:
        made = [call["name"] for m in request["messages"] for call in m["tool_calls"]]
        return Reply(tool_calls=wrong) if "search" in made and "open" not in made else None

    ran = scene.quickly(playing(research=fumbling))
    told = [m["text"] for m in of_step(scene.provider, "research")[-1].request["messages"] if m["role"] == "tool"]
    thought, opened, unknown, empty, broken = told[1:]
    assert thought == "Noted."
    assert opened == "There is no source s999 in the library."
    assert unknown == "Not done: there is no tool named open_the_pod_bay_doors."
    assert empty.startswith("Not done: search needs")
    assert broken.startswith("Not done: the arguments of search")
    assert "7919 engines" not in ran.report.report
    assert_presentable(ran)


def test_the_writer_looks_up_what_the_notes_leave_open_and_may_cite_it(scene: Scene) -> None:
    def writer(request: Request) -> Reply | None:
        made = [call["arguments"] for m in request["messages"] for call in m["tool_calls"]]
        if not any("piston" in str(given) for given in made):
            queries = ["Gamma engine turbine", "Beta engine piston"]
            return Reply(tool_calls=(Call("search", {"queries": queries, "source": ""}),))
        text = "# Engines\n\nThe Gamma engine is a turbine engine that turns at 21,000 rpm. [{Gamma}]"
        return Reply(text=citing(request, text))

    notes = playing(write=writer, research=lambda r: None)
    ran = scene.quickly(notes, "How fast does the Alpha engine turn?")
    (claim,) = ran.report.claims
    assert claim.stands
    assert [r.title for r in ran.report.references] == ["Gamma engine"]
    assert {event.query for event in ran.of(Searched)} >= {"Gamma engine turbine", "Beta engine piston"}


REMARK = "Only what was built after 2000."


class Remarking(ScriptedResearcher):
    """Says the remark when the first researcher comes back with results; answers as ever."""

    home: Path
    said = False

    def __call__(self, request: Request) -> Reply:
        if step_of(request) == "research" and any(m["role"] == "tool" for m in request["messages"]) and not self.said:
            self.said = True
            (record,) = list_runs(self.home)
            steer(RunFolder(self.home, record.run_id), "remark", REMARK)
        return super().__call__(request)


def test_a_remark_reaches_every_later_step_and_conversations_only_grow(scene: Scene) -> None:
    script = Remarking(sections=PLAN, sentences=4, at_once=(1, 1))
    script.home = scene.folder / "home"
    ran = scene.research(script)
    told = {step_of(call.request) for call in scene.provider.calls if REMARK in call.request["prompt"]}
    assert told >= {"research", "write", "revise"}
    assert scene.provider.duplicates == 0
    assert REMARK in ran.report.report
    assert_they_only_grow(conversations(scene.provider, script))
    assert_presentable(ran)


def test_who_researches_a_whole_question_writes_in_the_same_conversation_and_loses_no_notes(scene: Scene) -> None:
    script = ScriptedResearcher(sections=PLAN, sentences=4, opens=1, retry=["Beta engine"])
    ran = scene.research(script, workflow="loop")
    found = conversations(scene.provider, script)
    (researcher,) = (requests for name, requests in found.items() if name.startswith("researcher"))
    last, first = researcher[-1], found["writer "][0]
    assert first[: len(last)] == last
    assert first[len(last)]["role"] == "assistant", "its notes"
    assert all(section.notes.strip() for section in ran.report.sections)
    beta = next(section for section in ran.report.sections if section.title == "Beta engine")
    assert beta.notes.count("## Beta engine") == 2, "the notes of both rounds"
    assert_presentable(ran)


def _long_notes(folder: Path, tests: int) -> Path:
    notes = engines(folder)
    for name in ("alpha", "beta", "gamma"):
        told = "\n\n".join(
            f"In test {n} the {name.title()} engine ran for {n} hours. {'It ran well. ' * 40}" for n in range(tests)
        )
        (notes / f"{name}.md").write_text(f"{(notes / f'{name}.md').read_text()}\n\n{told}\n")
    return notes


def test_what_the_writer_looks_up_takes_nothing_from_what_it_was_shown(scene: Scene) -> None:
    notes = _long_notes(scene.folder / "notes", tests=30)
    script = ScriptedResearcher(sections=PLAN, sentences=12, opens=3, look_ups=[f"test {n} hours" for n in range(9)])
    with scene.served(script) as provider:
        research(scene.folder, docs=[notes], max_context_tokens=6_000)
    writer = conversations(provider, script)["writer "]
    assert len(writer) > 5
    assert all(request[:2] == writer[0] for request in writer)


@pytest.mark.parametrize(("told", "is_whole"), [({}, False), ({"max_context_tokens": 200_000}, True)])
def test_a_window_that_is_told_is_believed_and_else_what_is_known_of_the_model(
    scene: Scene, told: dict[str, int], *, is_whole: bool
) -> None:
    script = ScriptedResearcher(sections=PLAN, sentences=4, opens=9)
    with scene.served(script) as provider:
        notes = _long_notes(scene.folder / "notes", tests=60)
        for name in ("Delta", "Epsilon"):
            text = "\n\n".join(
                f"The speed of the {name} engine was {n}, its weight {n}. {'Good. ' * 60}" for n in range(90)
            )
            (notes / f"{name}.md").write_text(f"# {name} engine speed weight, used for\n\n{text}\n")
        made = {
            "workflow": "loop",
            "model_name": "qwen-max",
            "model_timeout_seconds": 20,
            **told,
        }  # known: 30,720 tokens
        research(scene.folder, docs=[notes], **made)
    (writing, *_) = conversations(provider, script)["writer "]
    assert ("no longer shown" not in str(writing)) is is_whole
