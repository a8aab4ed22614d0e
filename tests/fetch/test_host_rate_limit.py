"""The pace at one host: bursts, what comes after them, what a host asks for, and one pace for the whole process."""

import pytest

from deep_research.concurrency import SYSTEM_CLOCK, Rate
from deep_research.errors import RateLimited
from deep_research.fetch.fetch_policies import HostPace, paces_of
from tests.support.clock import FakeClock


@pytest.fixture
def pace(clock: FakeClock) -> HostPace:
    return HostPace(clock=clock)


async def starts(pace, clock, count, rate, host="api.test"):
    """Return when each of `count` requests that take no time was let through, in seconds from now."""
    began, seen = clock.monotonic(), []
    for _ in range(count):
        async with pace.turn(host, rate):
            seen.append(round(clock.monotonic() - began, 3))
    return seen


async def test_a_burst_goes_at_once_and_the_rest_at_the_rate(pace, clock):
    assert await starts(pace, clock, 6, Rate(2.0, 3)) == [0, 0, 0, 0.5, 1.0, 1.5]


@pytest.mark.parametrize(("rate", "limit"), [(Rate(0.8, 50), 100), (Rate(0.4, 25), 50), (Rate(0.08, 5), 10)])
async def test_no_minute_holds_more_calls_than_the_burst_and_the_rate_allow(pace, clock, rate, limit):
    seen = await starts(pace, clock, 3 * limit, rate)
    most = max(sum(start <= other < start + 60 for other in seen) for start in seen)
    assert most <= limit


async def test_a_host_that_asks_to_wait_is_left_alone_by_all(pace, clock):
    pace.hold("api.test", 30)
    assert await starts(pace, clock, 2, Rate(1.0, 5)) == [30, 30]
    pace.hold("api.test", 61)
    with pytest.raises(RateLimited, match="another 61 seconds"):
        await starts(pace, clock, 1, Rate(1.0, 5))


async def test_a_crawl_delay_goes_before_rate_and_burst(pace, clock):
    pace.slow_down("api.test", 4.0)
    assert await starts(pace, clock, 3, Rate(10.0, 3)) == [0, 4.0, 8.0]


def test_one_network_has_one_pace_in_the_process_and_a_clock_of_ones_own_another(clock):
    def network():
        pass

    first = paces_of(network, SYSTEM_CLOCK)
    assert paces_of(network, SYSTEM_CLOCK) is first
    assert paces_of(lambda: None, SYSTEM_CLOCK) is not first
    assert paces_of(network, clock) is not first
