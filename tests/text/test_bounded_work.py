"""Work on text grows with its length and no faster: what is squared here takes minutes, and fails at the limit."""

import pytest

from deep_research.errors import WorkTooLarge
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker
from tests.text.hostile_shapes import WORK

_MOST_SECONDS = 4.0
"""Of computing, on a machine that is also busy with other things: work in proportion takes less than one on a quiet one."""
_LIMITS = Limits(memory=1_000_000_000, cpu_seconds=60.0)
_PATTERNS = 600
"""So many there are at least."""


@pytest.mark.parametrize("work", WORK)
def test_work_on_a_text_is_bounded_by_its_length(work: str) -> None:
    took = call_in_worker("tests.text.hostile_shapes:measure", work, returns=dict[str, float], limits=_LIMITS)
    assert {shape: seconds for shape, seconds in took.items() if seconds > _MOST_SECONDS} == {}


@pytest.mark.parametrize("work", ["cut", "split", "cut above a heading at the end"])
def test_work_on_headings_pages_and_parts_grows_with_their_number(work: str) -> None:
    assert (
        call_in_worker("tests.text.hostile_shapes:measure_marked", work, returns=float, limits=_LIMITS) < _MOST_SECONDS
    )


def test_no_pattern_is_held_up_by_a_text_that_is_made_from_its_parts() -> None:
    begun: list[str] = []
    slow: list[str] = []
    offered = {"begin": begun.append, "slow": slow.append}
    try:
        tried = call_in_worker("tests.text.hostile_patterns:sweep", returns=int, limits=_LIMITS, offered=offered)
        assert tried > _PATTERNS
    except WorkTooLarge:
        slow.append(f"the process was ended at {begun[-1:]}")
    assert not slow, "\n".join(slow)
