"""Postings: which passages hold a term, and how much of it, packed for speed and size.

A posting is one unsigned 32-bit number: the passage's place within its block (12 bits), the term's
weighted frequency (6 bits) and the passage's length code (6 bits). Block and place together are the
passage's number in the index. Carrying the length in the posting (as Apache Lucene does with its
norms) makes a score a table look-up, and lets lengths change meaning with the collection's average.
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

BLOCK_BITS = 12
BLOCK_SIZE = 1 << BLOCK_BITS
"""Passages in a block; appending to a posting list rewrites one block of it, not the whole list."""
MAX_FREQUENCY = 63
_SHORTEST = 4
_STEPS_PER_DOUBLING = 6
_CODES = 64
LENGTH_BITS = 6
WEIGHT_BITS = 12
WEIGHT_MASK = (1 << WEIGHT_BITS) - 1

Block = tuple[int, "array[int]"]
"""A block's number and its postings in order of the passages."""


class Postings(Protocol):
    """What the ranking asks of an index, wherever it is kept."""

    def statistics(self) -> tuple[int, int]:
        """Return the number of passages and the sum of their lengths in terms."""
        ...

    def frequencies(self, terms: Iterable[str]) -> Mapping[str, int]:
        """Return in how many passages each of `terms` occurs; absent terms are left out."""
        ...

    def blocks(self, term: str) -> Sequence[Block]:
        """Return the posting list of `term`."""
        ...


def length_code(length: int) -> int:
    """Return the code of a passage's length: steps of an eighth, from 4 to about 6,000 terms."""
    return min(_CODES - 1, round(_STEPS_PER_DOUBLING * math.log2(max(length, _SHORTEST) / _SHORTEST)))


def pack(number: int, frequency: int, code: int) -> int:
    """Return the posting of a passage `number` (only its place within the block is kept)."""
    return (number % BLOCK_SIZE) << WEIGHT_BITS | min(frequency, MAX_FREQUENCY) << LENGTH_BITS | code


def number_of(block: int, posting: int) -> int:
    """Return the passage's number."""
    return block << BLOCK_BITS | posting >> WEIGHT_BITS


def weights(average_length: float, *, k1: float, b: float) -> list[float]:
    """Return the BM25 weight of every combination of frequency and length code, without the IDF.

    Indexed by the low bits of a posting: `weights[posting & WEIGHT_MASK]`.
    """
    table = [0.0] * (1 << WEIGHT_BITS)
    for code in range(_CODES):
        length = _SHORTEST * 2 ** (code / _STEPS_PER_DOUBLING)
        norm = k1 * (1 - b + b * length / max(average_length, 1.0))
        for frequency in range(1, MAX_FREQUENCY + 1):
            table[frequency << LENGTH_BITS | code] = frequency * (k1 + 1) / (frequency + norm)
    return table
