"""The index of terms on FTS5: every term whole, BM25 as in the books, nothing left of what is removed."""

import math
import sqlite3
import tracemalloc
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claimcheck.text.tokens import index_terms
from deep_research.search.term_index import TITLE_WEIGHT, TermIndex

WORDS = ["zebra", "horse", "road", "harbour", "lamp"]
K1, B = 1.2, 0.75


def index_of(*documents: tuple[str, Mapping[int, tuple[str, str]]]) -> TermIndex:
    index = TermIndex(sqlite3.connect(":memory:", isolation_level=None))
    index.create()
    for title, passages in documents:
        index.add(title, passages)
    index.flush()
    return index


@pytest.mark.parametrize(
    "text",
    [
        "C++ and C# and .NET",
        "node.js max_connections GLP-1 AT&T O'Neill 1,200 3.11",
        "注意力机制让模型关注输入",
        "ユーロポートは港である",
        "검색 증강 생성은 방법이다",
        "Łódź Ægir наука и йога हिन्दी ไทย",
        "état ﬁn ＡＢＣ",
    ],
)
def test_every_term_is_found_whole(text: str) -> None:
    index = index_of(("", {1: (text, "")}))
    assert index_terms(text)
    assert [term for term in index_terms(text) if index.frequency(term) != 1] == []


def test_a_term_is_no_part_of_another() -> None:
    index = index_of(("", {1: ("maxconnections", "")}))
    assert [index.frequency(term) for term in ("max", "connect", "maxconnect")] == [0, 0, 1]


def test_of_a_long_document_some_thousand_passages_are_in_memory_at_a_time() -> None:
    index = TermIndex(sqlite3.connect(":memory:", isolation_level=None))
    index.create()
    tracemalloc.start()
    try:
        index.add("Lamp", dict.fromkeys(range(1, 50001), ("zebra " * 150, "")))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert index.frequency("zebra") >= 40_000
    assert most < 40_000_000  # the terms of all are 45 MB


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), min_size=1, max_size=8))
def test_scores_are_those_of_bm25(texts: list[list[str]]) -> None:
    index = index_of(*(("Lamp", {number: (" ".join(words), "")}) for number, words in enumerate(texts, start=1)))
    held = [Counter(index_terms(" ".join(words))) for words in texts]
    lengths = [1 + sum(counts.values()) for counts in held]
    for term in index_terms(" ".join(WORDS)):
        frequencies = [counts[term] + TITLE_WEIGHT * (term == "lamp") for counts in held]
        wanted = {
            number: 2.0 * f * (K1 + 1) / (f + K1 * (1 - B + B * length * len(texts) / sum(lengths)))
            for number, (f, length) in enumerate(zip(frequencies, lengths, strict=True), start=1)
            if f
        }
        frequency = index.frequency(term)
        assert frequency == len(wanted)
        if wanted:
            scores = index.term_scores(term, frequency, passages=len(texts), weight=2.0)
            assert scores == pytest.approx(wanted)
            some = index.term_scores(term, frequency, passages=len(texts), weight=2.0, among=[1, 2, 99])
            assert some == pytest.approx({number: wanted[number] for number in wanted if number < 3})


def test_nothing_stays_of_what_is_removed() -> None:
    kept, gone = {1: ("The zebra stays on the road.", "Animals")}, {2: ("The horse left the road.", ""), 3: ("x y", "")}
    index = index_of(("Zebra", kept), ("Horse", gone))
    index.remove("Horse", gone)
    index.flush()
    assert index.count_passages() == 1
    assert (index.frequency("road"), index.frequency("hors"), index.frequency("anim")) == (1, 0, 1)
    assert index.title_frequencies(["zebra", "horse"]) == {"zebra": 1}
    assert all(math.isfinite(s) for s in index.term_scores("road", 1, passages=1, weight=1.0).values())
