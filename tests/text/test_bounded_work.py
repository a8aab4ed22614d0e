"""Work on text grows with its length and no faster: what is squared here takes minutes, and fails at the limit."""

import pytest

from deep_research.errors import WorkTooLarge
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker

_LIMITS = Limits(memory=1_000_000_000, cpu_seconds=100.0)


@pytest.mark.timeout(600)  # its limit is one of computing; by the clock it takes what the machine's other work leaves
@pytest.mark.parametrize(
    ("sweep", "least"),
    [("tests.text.hostile_shapes:sweep", 2_500), ("tests.text.hostile_patterns:sweep", 600)],
    ids=["work on a text, and on many headings, pages and parts", "each pattern, with texts made from its parts"],
)
def test_nothing_is_held_up_by_a_text_of_its_length(sweep: str, least: int) -> None:
    begun: list[str] = []
    slow: list[str] = []
    try:
        offered = {"begin": begun.append, "slow": slow.append}
        assert call_in_worker(sweep, returns=int, limits=_LIMITS, offered=offered) > least
    except WorkTooLarge:
        slow.append(f"the process was ended at {begun[-1:]}")
    assert not slow, "\n".join(slow)
