"""An inverted index in memory."""

from array import array
from collections.abc import Iterable, Mapping, Sequence

from deep_research.search.passage_terms import Analysed
from deep_research.search.postings import BLOCK_BITS, Block, length_code, number_of, pack


class MemoryPostings:
    """Posting lists in a dictionary."""

    def __init__(self) -> None:
        self._lists: dict[str, dict[int, array[int]]] = {}
        self._passages = 0
        self._total = 0

    def add(self, number: int, analysed: Analysed) -> None:
        """Index passage `number`, which must be higher than all before it."""
        code = length_code(analysed.length)
        for term, frequency in analysed.frequencies.items():
            blocks = self._lists.setdefault(term, {})
            blocks.setdefault(number >> BLOCK_BITS, array("I")).append(pack(number, frequency, code))
        self._passages += 1
        self._total += analysed.length

    def remove(self, number: int, analysed: Analysed) -> None:
        """Forget passage `number`, which was added as `analysed`."""
        block = number >> BLOCK_BITS
        for term in analysed.frequencies:
            blocks = self._lists.get(term, {})
            kept = array("I", (p for p in blocks.get(block, ()) if number_of(block, p) != number))
            if kept:
                blocks[block] = kept
            else:
                blocks.pop(block, None)
                if not blocks:
                    self._lists.pop(term, None)
        self._passages -= 1
        self._total -= analysed.length

    def statistics(self) -> tuple[int, int]:
        """Return the number of passages and the sum of their lengths."""
        return self._passages, self._total

    def frequencies(self, terms: Iterable[str]) -> Mapping[str, int]:
        """Return in how many passages each of `terms` occurs."""
        return {term: sum(map(len, self._lists[term].values())) for term in terms if term in self._lists}

    def blocks(self, term: str) -> Sequence[Block]:
        """Return the posting list of `term`."""
        return list(self._lists.get(term, {}).items())
