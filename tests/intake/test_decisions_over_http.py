"""Rows A1–A3 with a model over HTTP: what it judges, what the program makes of it, and what the user is asked."""

import pytest

from tests.intake.harness import Judge, start, with_model

TOPIC = "engines without oil"


def test_a1_every_field_of_the_judgement_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    said = start("Which engines run without oil", "mechanism", "evidence", "cost", reasoning="A clear topic.",
                 verification="I will look into engines without oil.")  # fmt: skip
    made = with_model(monkeypatch, Judge({TOPIC: said}), TOPIC)
    assert (made.next_action, made.confidence, made.goal) == ("START_RESEARCH", 0.85, "Which engines run without oil")
    assert made.research_focus == ("mechanism", "evidence", "cost")
    assert (made.unknown_terms, made.reasoning) == ((), "A clear topic.")
    assert made.refined_question == "Which engines run without oil"
    assert made.verification == "I will look into engines without oil."


def test_a2_the_thresholds_of_the_settings_decide_over_what_the_model_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge({TOPIC: start("engines without oil", "one", "two", "three", confidence=0.6)})
    assert with_model(monkeypatch, judge, TOPIC).next_action == "NEED_CLARIFICATION"
    assert with_model(monkeypatch, judge, TOPIC, confidence_start=0.6).next_action == "START_RESEARCH"
