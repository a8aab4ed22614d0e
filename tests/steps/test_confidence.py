"""The confidence of a finding follows from its sources alone."""

from datetime import date
from pathlib import Path

import pytest

from deep_research.data import Claim, Document, Found, Section, Verdict
from deep_research.report.confidence import confidence_of, with_confidence
from deep_research.stores.sqlite_library import SqliteLibrary

TODAY = date(2026, 6, 1)
SOURCES = (
    (
        "https://one.example/a",
        "2026-01-02",
        "Status: Final\n\nThe Alpha engine turns at 3,000 rpm in all tests of the board.",
    ),
    (
        "https://two.example/b",
        "2025-11-02",
        "Measured again by another laboratory, the Alpha engine reached 3,000 rpm.",
    ),
    (
        "https://one.example/c",
        "2026-02-02",
        "A page of the same site: the Alpha engine has a speed of 3,000 rpm, it says.",
    ),
    (
        "https://three.example/d",
        "2026-02-02",
        "Status: Rejected\n\nThe Alpha engine should turn at 3,000 rpm, as was proposed.",
    ),
    (
        "https://four.example/e",
        "2015-02-02",
        "In those days the Alpha engine was sold with a speed of 3,000 rpm to the navy.",
    ),
)


@pytest.fixture
def library(tmp_path: Path) -> SqliteLibrary:
    made = SqliteLibrary(tmp_path / "library.db")
    for url, published, text in SOURCES:
        source = made.add_source(Found(key=url, title=url, url=url, origin="web", published=published))
        made.add_snapshot(source.id, Document(text=text, title=url), retrieved_at="2026-05-01T00:00:00+00:00")
    return made


def _claim(*sources: int) -> Claim:
    return Claim(
        id="c1",
        section="Speed",
        text="The Alpha engine turns at 3,000 rpm.",
        passages=tuple(f"s{number}p1" for number in sources),
        verdict=Verdict(kind="supported", reason=""),
    )


@pytest.mark.parametrize(
    ("sources", "disputed", "level", "reason"),
    [
        ((1, 2), (), "high", "several_sources"),
        ((1,), (), "medium", "one_source"),
        ((1, 3), (), "medium", "one_source"),
        ((4,), (), "low", "not_in_force"),
        ((5,), (), "medium", "old_sources"),
        ((1, 2), ("s2p1",), "low", "contradicted_elsewhere"),
    ],
)
def test_levels(
    sources: tuple[int, ...], disputed: tuple[str, ...], level: str, reason: str, library: SqliteLibrary
) -> None:
    found = confidence_of(_claim(*sources), disputed, library, TODAY)
    assert (found.level, reason in found.reasons) == (level, True)


def test_only_key_findings_have_one(library: SqliteLibrary) -> None:
    claim = _claim(1, 2)
    finding = Section(title="Speed", key_findings=(f"{claim.text} [s1p1][s2p1]",))
    (rated,) = with_confidence([claim], [finding], (), library, TODAY)
    assert rated.confidence is not None
    (other,) = with_confidence([claim], [Section(title="Speed")], (), library, TODAY)
    assert other.confidence is None


def test_what_only_an_encyclopedia_or_a_forum_says_is_known_at_second_hand(library: SqliteLibrary) -> None:
    for number, (url, origin) in enumerate(
        (("https://en.wikipedia.org/wiki/Alpha", "web"), ("https://forum.example/1", "stackexchange")), 6
    ):
        text = f"Text {number * 1111}: the Alpha engine, people say, turns at 3,000 rpm when number {number} is warm."
        source = library.add_source(Found(key=url, title=url, url=url, origin=origin, published="2026-03-01"))
        library.add_snapshot(source.id, Document(text=text, title=url), retrieved_at="2026-05-01T00:00:00+00:00")
    alone = confidence_of(_claim(6), (), library, TODAY)
    assert (alone.level, "second_hand" in alone.reasons) == ("low", True)
    assert confidence_of(_claim(6, 7), (), library, TODAY).level == "medium"
    with_primary = confidence_of(_claim(1, 7), (), library, TODAY)
    assert (with_primary.level, "second_hand" in with_primary.reasons) == ("high", False)
