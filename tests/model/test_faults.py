"""Each fault of a provider at a fifth of the calls: a report all the same, whose missing parts are named."""

import itertools

import pytest

from tests.model.harness import ENGINES, PLAN, Scene, assert_presentable, research, standing
from tests.support.scripted_researcher import ScriptedResearcher

FAULTS = (
    ("rate_limited", "think_tags", "error_in_stream", "unknown_citation"), ("overloaded", "wrong_schema", "cut_stream", "empty"),
    ("invalid_json", "refusal", "harmony", "content_filter"), ("unknown_tool", "broken_arguments", "not_json", "unclosed_think"),
)  # fmt: skip


@pytest.mark.parametrize(("faults", "wire"), list(zip(FAULTS, itertools.cycle(("compatible", "anthropic")))))
def test_a_fifth_of_the_calls_fails(scene: Scene, faults: tuple[str, ...], wire: str) -> None:
    with scene.served(ScriptedResearcher(sections=PLAN, sentences=4), wire=wire) as provider:
        provider.faults(0.2, faults, seed=2)
        ran = research(scene.folder, wire=wire, **({"model_name": "claude-sonnet-5"} if wire == "anthropic" else {}))
    assert {call.fault for call in provider.calls} >= set(faults)
    assert_presentable(ran)
    assert "<|" not in ran.report.report
    assert "The user wants" not in ran.report.report
    failed = {gap.what for gap in ran.report.gaps}
    assert ran.report.answered or "report" in failed
    assert any(section.notes for section in ran.report.sections)
    assert standing(ran.report) or failed & {"judge", "report", "model"}
    # A plan that the model refused is made without it, and said; that one may need fewer sections.
    assert len(ran.report.sections) >= (1 if "plan" in failed else len(ENGINES))
