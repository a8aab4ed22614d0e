"""Contract row A9 at large: messages in three languages, told apart without a model (`messages.toml`)."""

import tomllib
from pathlib import Path

import pytest

from tests.graph.harness import Shelf
from tests.intake.harness import extractively

_TABLE = tomllib.loads(Path(__file__).with_name("messages.toml").read_text("utf-8"))
_ACTIONS = {"START_RESEARCH": "start", "NEED_CLARIFICATION": "ask", "CANNOT_DO": "decline"}


def _decided(text: str) -> str:
    return _ACTIONS[extractively(text, Shelf(note="# A note\n\nNothing that has to do with any of it.")).next_action]


def _share(texts: list[str], wanted: str) -> float:
    return sum(_decided(text) == wanted for text in texts) / len(texts)


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_a9_clear_messages_are_not_asked_about(half: str) -> None:
    asked = [text for text in _TABLE[half]["start"] if _decided(text) != "start"]
    assert len(asked) <= 0.02 * len(_TABLE[half]["start"]), asked


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_a9_vague_messages_are_asked_about(half: str) -> None:
    assert _share(_TABLE[half]["ask"], "ask") >= 0.8


@pytest.mark.parametrize("text", _TABLE["seen"]["decline"])
def test_a7_an_errand_is_declined_with_a_reason(text: str) -> None:
    decision = extractively(text)
    assert decision.next_action == "CANNOT_DO"
    assert decision.reasoning
