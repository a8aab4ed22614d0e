"""Contract row A9 at large: messages in three languages, told apart without a model (`messages.toml`)."""

import tomllib
from pathlib import Path

import pytest

from claimcheck.language import detect
from deep_research.data import Question
from deep_research.finding.front_door import decide

_TABLE = tomllib.loads(Path(__file__).with_name("messages.toml").read_text("utf-8"))
_ACTIONS = {
    "START_RESEARCH": "start",
    "VERIFY_TOPIC": "start",
    "NEED_CLARIFICATION": "ask",
    "CANNOT_DO": "decline",
}


def _decided(text: str) -> str:
    decision = decide(Question(text=text, language=detect(text)), rounds=0, terms=(), template=None)
    return _ACTIONS[decision.next_action]


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_a9_clear_messages_are_not_asked_about(half: str) -> None:
    asked = [text for text in _TABLE[half]["start"] if _decided(text) != "start"]
    assert len(asked) <= 0.03 * len(_TABLE[half]["start"]), asked


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_a9_vague_messages_are_asked_about(half: str) -> None:
    texts = _TABLE[half]["ask"]
    assert sum(_decided(text) == "ask" for text in texts) >= 0.8 * len(texts)


@pytest.mark.parametrize("text", _TABLE["seen"]["decline"])
def test_a7_an_errand_is_declined_with_a_reason(text: str) -> None:
    decision = decide(Question(text=text, language=detect(text)), rounds=0, terms=(), template=None)
    assert decision.next_action == "CANNOT_DO"
    assert decision.reasoning
