"""Whole runs with servers and models that lack something: each ends in a right report."""

import re

import pytest

from claimcheck.language import language_name
from tests.model.harness import (
    ENGINES,
    PLAN,
    Scene,
    assert_presentable,
    chinese,
    citing,
    of_step,
    playing,
    standing,
    steps,
    writing,
)
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

TRUE = "The Alpha engine is a rotary engine that turns at 3,000 rpm."


STYLES = (
    "[{id}]", "({id})", "【{id}】", "[^{id}]", "[source: {id}]", "{id}", "<sup>{id}</sup>", "[{id}](#{id})", "［{id}］",
)  # fmt: skip


def test_ids_are_read_in_every_form_that_models_write(scene: Scene) -> None:
    said = [f"{TRUE.replace('rotary', f'rotary{n}')} {style}" for n, style in enumerate(STYLES)]
    text = "# Engines\n\n" + "\n\n".join(said).replace("{id}", "{Alpha}")
    judge = lambda r: Reply(data={"problems": [], "reckonings": [], "checked": 40})  # noqa: E731
    ran = scene.quickly(playing(write=writing(text), judge=judge))
    assert len(standing(ran.report)) == len(STYLES)
    assert re.findall(r"rpm\. ?(\S+)", ran.report.report)[: len(STYLES)] == ["[1]"] * len(STYLES)
    assert_presentable(ran)


@pytest.mark.parametrize(
    "form",
    [
        "<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final<|message|>{said}<|return|>",
        "{thought} Let me draft.\n\n1. Check the ids.\n\n```\n# not yet\n```\n\n{said}",
        "{thought} "
        + "First I look at the notes and check each id before I begin to write. " * 4
        + "\n\n```markdown\n{said}\n```",
    ],
)
def test_what_a_writer_thinks_stands_in_no_report(scene: Scene, form: str) -> None:
    said = form.replace("{thought}", "The user wants a report on engines.").replace(
        "{said}", f"# E\n\n{TRUE} [{{Alpha}}]"
    )
    ran = scene.quickly(playing(write=writing(said)))
    assert standing(ran.report) == [TRUE]
    assert ran.report.report.startswith("# E\n")
    assert not re.search(r"The user wants|assistant|<\||think|```|draft", ran.report.report)
    assert ran.report.report.count("# E\n") == 1
    assert_presentable(ran)


@pytest.mark.parametrize("opening", ["In short: it turns. [{Alpha}]", "## In short\n\nIt turns."])
def test_a_text_that_cites_or_has_a_heading_belongs_to_the_report_wherever_its_title_is(
    scene: Scene, opening: str
) -> None:
    report = scene.quickly(playing(write=writing(f"{opening}\n\n# Engines\n\n{TRUE} [{{Alpha}}]"))).report
    assert opening.partition(" [")[0] in report.report


@pytest.mark.parametrize("learns", [True, False])
def test_a_text_without_ids_is_asked_for_once_more(scene: Scene, learns: bool) -> None:
    def writer(request: Request) -> Reply:
        again = "cites no passage" in request["messages"][-1]["text"]
        return Reply(text=citing(request, f"# Engines\n\n{TRUE}{' [{Alpha}]' if again and learns else ''}"))

    report = scene.quickly(playing(write=writer)).report
    assert steps(scene.provider)["write"] == 2
    second = of_step(scene.provider, "write")[1].request["messages"]
    assert second[-2]["text"] == f"# Engines\n\n{TRUE}"
    assert bool(report.references) == learns
    assert TRUE in report.report, "what it has written is shown all the same"
    assert [claim.kind for claim in report.claims] == ["fact" if learns else "own"]
    assert any("nothing_cited" in gap.codes for gap in report.gaps) != learns


def test_a_report_in_another_language_is_asked_for_once_more(scene: Scene) -> None:
    english = (
        "# Engines\n\n" + "The first engine turns at three thousand revolutions in every minute. [{甲型发动机}] " * 5
    )
    right = "# 发动机\n\n甲型发动机是一种转子发动机，转速为每分钟3000转。[{甲型发动机}] 甲型发动机不需要机油。[{甲型发动机}]"

    def writer(request: Request) -> Reply:
        again = f"not in {language_name('zh')}" in request["messages"][-1]["text"]
        return Reply(text=citing(request, right if again else english))

    ran = scene.quickly(playing(write=writer), "甲型发动机的转速是多少？", docs=[chinese(scene.folder / "notes")])
    assert steps(scene.provider)["write"] == 2
    assert "转子发动机" in ran.report.report.partition("## ")[0]
    assert ran.report.references


@pytest.mark.parametrize("step", ["review_section", "revise"])
def test_json_that_never_fits_is_given_up_after_three(scene: Scene, step: str) -> None:
    """The same wrong words three times are three requests: the journal does not answer for the model."""
    usual = ScriptedResearcher(sections=PLAN, sentences=4)

    def script(request: Request) -> Reply:
        return Reply(text="no object") if step_of(request) == step else usual(request)

    ran = scene.research(script, max_review_iterations=1)
    asked = steps(scene.provider)[step]
    assert asked == {"review_section": 3 * len(ENGINES), "revise": 4}.get(step, 3)  # edits are said in words first
    assert_presentable(ran)
    assert ran.report.claims
    assert any(gap.what in (step, "revision") or gap.what.startswith("review") for gap in ran.report.gaps)


def test_findings_that_are_no_json_are_asked_for_by_schema(scene: Scene) -> None:
    found = {"quote": TRUE, "verdict": "misleading", "problem": "only at sea", "evidence": "", "passages": []}
    script = playing(
        examine=lambda r: Reply(text="I find that the first sentence misleads."),
        examined=lambda r: Reply(data={"problems": [found], "parts": []}),
        revise=lambda r: Reply(data={"edits": [], "rejected": []}),
    )
    report = scene.quickly(script).report
    assert "only at sea" in {problem.problem for problem in report.problems}


CUT = Reply(text="Now I will search.", tool_calls=(Call("search", '{"queries": ["Al'),), finish_reason="length")
AT_ONCE = Reply(text="I could not open the source, therefore I cannot help with this request. " * 4)
AGAIN = Reply(text="In short so far: data.", tool_calls=(Call("search", {"queries": ["engines"], "source": ""}),))


@pytest.mark.parametrize("says", [CUT, AT_ONCE, AGAIN], ids=["cut calls", "no call", "the same call for ever"])
def test_who_searches_for_nothing_new_is_given_the_planned_searches_and_an_end(scene: Scene, says: Reply) -> None:
    """Nothing is called not found that nobody has looked for, and a loop costs few calls."""
    usual = ScriptedResearcher(sections=PLAN, sentences=4)

    def researched(request: Request) -> Reply:
        found = any(message["role"] == "tool" and "<source" in message["text"] for message in request["messages"])
        return says if says is AGAIN or not found else usual._notes(request)

    ran = scene.research(playing(research=researched))
    assert_presentable(ran)
    assert ran.report.answered
    assert not [gap for gap in ran.report.gaps if "section_empty" in gap.codes]
    assert steps(scene.provider)["research"] <= 4 * len(PLAN)
