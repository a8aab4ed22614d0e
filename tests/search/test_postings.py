import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_research.search.memory_postings import MemoryPostings
from deep_research.search.passage_terms import Analysed
from deep_research.search.postings import BLOCK_SIZE, MAX_FREQUENCY, WEIGHT_MASK, length_code, number_of, pack, weights


@given(st.integers(0, 2**31), st.integers(1, 200), st.integers(0, 10_000))
def test_a_posting_keeps_its_passage_and_fits_32_bits(number: int, frequency: int, length: int) -> None:
    entry = pack(number, frequency, length_code(length))
    assert number_of(number // BLOCK_SIZE, entry) == number
    assert entry < 2**32
    assert (entry >> 6) % 64 == min(frequency, MAX_FREQUENCY)


def test_weights_grow_with_frequency_and_fall_with_length() -> None:
    table = weights(100, k1=1.2, b=0.75)

    def weight(frequency: int, length: int) -> float:
        return table[pack(0, frequency, length_code(length)) & WEIGHT_MASK]

    assert 0 < weight(1, 100) < weight(2, 100) < weight(60, 100) < 2.2
    assert weight(1, 20) > weight(1, 100) > weight(1, 900)
    assert weight(1, 100) == pytest.approx(1.0, abs=0.05)


@given(st.integers(4, 6000))
def test_a_length_is_known_to_a_sixteenth(length: int) -> None:
    assert 4 * 2 ** (length_code(length) / 6) == pytest.approx(length, rel=0.065)


def test_memory_postings_forget() -> None:
    postings = MemoryPostings()
    one, two = Analysed({"a": 1, "b": 2}, 3), Analysed({"b": 1}, 1)
    postings.add(1, one)
    postings.add(BLOCK_SIZE + 1, two)
    assert postings.frequencies(["a", "b", "c"]) == {"a": 1, "b": 2}
    assert postings.statistics() == (2, 4)
    postings.remove(1, one)
    assert postings.frequencies(["a", "b", "c"]) == {"b": 1}
    assert [number_of(block, e) for block, entries in postings.blocks("b") for e in entries] == [BLOCK_SIZE + 1]
    assert postings.statistics() == (1, 1)
