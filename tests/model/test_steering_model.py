"""A remark made while a model works: every later prompt has it, behind what stood there before."""

from pathlib import Path

import pytest

from deep_research.runs.steering_inbox import steer
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.model.harness import PLAN, assert_presentable, research, served
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

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


def test_a_remark_reaches_every_later_step_and_conversations_only_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Remarking(sections=PLAN, sentences=4, at_once=(1, 1))
    script.home = tmp_path / "home"
    with served(monkeypatch, script) as provider:
        ran = research(tmp_path)
    told = [call for call in provider.calls if REMARK in call.request["prompt"]]
    assert {step_of(call.request) for call in told} >= {"write_section", "review", "compose"}
    for call in told:
        if step_of(call.request) == "write_section":
            assert call.request["messages"][-1]["text"].rstrip().endswith(REMARK)
    assert provider.duplicates == 0
    assert REMARK in ran.report.report
    assert_presentable(ran)
    researched = [c.request["messages"] for c in told if step_of(c.request) == "research"]
    for messages in researched:
        before = [
            c.request["messages"]
            for c in provider.calls
            if c.request["messages"][:-1] == messages[: len(c.request["messages"]) - 1]
        ]
        assert len(before) > 1, "what was sent before stands unchanged at the beginning"
