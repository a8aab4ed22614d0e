"""A model that does not answer: told once, not asked again and again, and never named as the author."""

import pytest

from tests.model.harness import PLAN, Scene, research
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher


@pytest.mark.parametrize(("fault", "most"), [("rate_limited", 3), ("unknown_model", 2)])
def test_a_fallback_that_answered_is_named_and_the_first_model_is_left_alone(
    scene: Scene, fault: str, most: int
) -> None:
    script = ScriptedResearcher(sections=PLAN, sentences=4)

    def dead(request: Request) -> Reply | object:
        return Reply(fault=fault) if request["model"] == "first" else script(request)

    with scene.served(dead) as provider:
        ran = research(scene.folder, model_name="first", fallback_models="second")
    tried = [call for call in provider.calls if call.request["model"] == "first"]
    # Calls that were under way together have tried it side by side.
    assert len(tried) <= 2 * most
    report = ran.report
    assert set(report.reasoner.models.values()) == {"second"}
    assert set(report.reasoner.calls) == {"second (compatible)"}
    assert "Language model: second (compatible)" in report.report
    assert report.report.count("first (compatible) did not answer") == 1


def test_a_dead_model_is_told_once_and_is_no_author(scene: Scene) -> None:
    report = scene.research(lambda _: Reply(fault="overloaded"), model_name="gone").report
    assert report.reasoner.kind == "finder"
    assert report.report.count("gone (compatible) did not answer") == 1
    assert "No language model took part" in report.report
    assert "written by" not in report.report
    assert report.ledger.model_calls == 0
    assert report.answered


def test_a_model_that_comes_back_is_asked_again(scene: Scene) -> None:
    script, asked = ScriptedResearcher(sections=PLAN, sentences=4), []

    def wakes(request: Request) -> Reply | object:
        asked.append(1)
        return Reply(fault="server_error") if len(asked) <= 2 else script(request)

    report = scene.research(wakes).report
    assert report.reasoner.kind == "model"
    assert "did not answer" not in report.report
