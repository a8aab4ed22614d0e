"""What is kept of what people say to a run is bounded: records and instructions are read whole, often."""

from pathlib import Path

import pytest

from deep_research.data import Message
from deep_research.errors import ConfigError
from deep_research.runs.research_run import create_run
from deep_research.runs.steering_inbox import MOST_INSTRUCTIONS, steer, stop
from deep_research.settings import Settings


def test_of_a_long_conversation_the_newest_messages_are_kept(tmp_path: Path) -> None:
    said = [Message(role="user", text=f"{n} {'x' * 30_000}") for n in range(10)]
    run = create_run("And now?", Settings(), home=tmp_path, history=said)
    assert [message.text[:2] for message in run.load().history] == ["4 ", "5 ", "6 ", "7 ", "8 ", "9 "]


def test_a_run_takes_so_many_instructions_and_can_then_be_stopped_and_not_for_ever(tmp_path: Path) -> None:
    run = create_run("Why?", Settings(), home=tmp_path)
    for number in range(MOST_INSTRUCTIONS):
        steer(run, "remark", f"Only what is new, {number}.")
    with pytest.raises(ConfigError, match="takes no more"):
        steer(run, "remark", "Only what is old.")
    assert len(run.read_steers()) == MOST_INSTRUCTIONS
    with run.held():
        assert all(stop(run) for _ in range(MOST_INSTRUCTIONS))
        with pytest.raises(ConfigError, match="takes no more"):
            stop(run)
    assert len(run.read_steers()) == 2 * MOST_INSTRUCTIONS
