"""Killed several times while a model, a search, its extraction and pages answer: nothing answered is asked for again."""

import random

import pytest
from benchmarks.kills import one_run


@pytest.mark.process
def test_a_run_that_is_killed_three_times_asks_for_nothing_again() -> None:
    outcome = one_run(3, random.Random(3))
    assert outcome.killed >= 2
    assert outcome.again == {}
    assert outcome.wrong == ()
