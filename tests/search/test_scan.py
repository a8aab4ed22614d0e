"""Looking through texts finds what the index finds."""

import pytest

from deep_research.search.memory_postings import MemoryPostings
from deep_research.search.passage_search import Text, search
from deep_research.search.passage_terms import analyse
from deep_research.search.scan import ScanPostings, ready

TEXTS = {
    1: ("Caches", "Caching keeps keys and values. A cache of energy meters is small."),
    2: ("Studies", "Three studies of GLP-1 agonists measured weight. The study by Holm enrolled 126 patients."),
    3: ("阿尔法", "阿尔法发动机的转速是每分钟三千转，由李明制造。"),
    4: ("Wind", "Offshore wind farms need floating platforms in deep water off Port Ellis."),
}


@pytest.mark.parametrize(
    "query",
    ["energy caching", "study of GLP-1", "glp-1 patients", "发动机转速", "floating platform", "Port Ellis", "Holm"],
)
def test_the_first_hit_is_the_same(query: str) -> None:
    index = MemoryPostings()
    for number, (title, text) in TEXTS.items():
        index.add(number, analyse(text, title=title))
    scan = ScanPostings({number: ready(text, title=title) for number, (title, text) in TEXTS.items()})

    def read(numbers: object) -> dict[int, Text]:
        return {n: Text(TEXTS[n][1], TEXTS[n][0], f"s{n}") for n in numbers}  # type: ignore[attr-defined]

    indexed, looked_for = (search(postings, read, query, limit=2) for postings in (index, scan))
    assert looked_for
    assert looked_for[0][0] == indexed[0][0]


def test_a_word_is_found_at_its_beginning_only() -> None:
    scan = ScanPostings({1: ready("The spark of an ember."), 2: ready("The park is open.")})
    assert scan.frequencies(["park"]) == {"park": 1}
