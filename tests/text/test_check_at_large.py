"""The check on long hostile texts: its time grows with their length and no faster."""

import time

import pytest

from claimcheck.claim_verdicts import Evidence, verify

HOSTILE = ["1,", "1 2 ", "a_", "not ", "phase 1 ", "Ab ", "三大", "トマス・", "가나 ", "The rate rose by 5 % in 2020. "]


@pytest.mark.parametrize("piece", HOSTILE)
def test_ten_times_the_text_takes_about_ten_times_as_long(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        begun = time.process_time()
        verify("The rate rose by 6 % in 2021.", [Evidence(text)])
        verify(text, [Evidence(f"{text} x")])
        return time.process_time() - begun

    assert seconds(10_000) < 30 * max(seconds(1_000), 0.3)
