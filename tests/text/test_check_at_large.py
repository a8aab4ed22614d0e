"""The check over many and over long texts: the figures of its benchmark, and time on hostile input."""

import time
from collections import defaultdict

import pytest
from benchmarks import mutations

from deep_research.claimcheck.claim_verdict import Evidence, verify

# Largest share of changed claims that may pass, of all languages together.
FLOORS = {
    "name": 0.05,
    "unit": 0.0,
    "value": 0.0,
    "antonym": 0.05,
    "added": 0.1,
    "roles": 0.0,
    "exchanged": 0.05,
    "scope": 0.2,
    "number_word": 0.05,
}


def test_the_passages_of_the_benchmark_keep_their_figures() -> None:
    shares: dict[str, float] = defaultdict(float)
    for kind, by_language in mutations.measure(list(mutations.read_fixtures("all"))).items():
        tried = sum(n for n, _ in by_language.values())
        shares[kind] = sum(n * share for n, share in by_language.values()) / tried
    assert shares["unchanged"] == 1.0
    assert {kind: share for kind, share in shares.items() if kind in FLOORS and share > FLOORS[kind]} == {}


HOSTILE = ["1,", "1 2 ", "a_", "not ", "phase 1 ", "Ab ", "三大", "トマス・", "가나 ", "The rate rose by 5 % in 2020. "]


@pytest.mark.parametrize("piece", HOSTILE)
def test_ten_times_the_text_takes_about_ten_times_as_long(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        begun = time.process_time()
        verify("The rate rose by 6 % in 2021.", [Evidence(text)])
        verify(text, [Evidence(f"{text} x")])
        return time.process_time() - begun

    assert seconds(50_000) < 30 * max(seconds(5_000), 0.1)
