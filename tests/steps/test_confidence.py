"""The confidence of a finding follows from its sources alone."""

from datetime import date
from pathlib import Path

import pytest

from deep_research.data import Claim, Document, Found, Section, Verdict
from deep_research.report.confidence import _independent, confidence_of, with_confidence
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


COPIED = (
    "The Falcon engine failed 37 times in 2025 and killed 12 people, the agency said. Its maker hid the failures from "
    "the regulator until a court in Augsburg ordered it to publish them."
)
KOPIERT = "该机构表示猎鹰发动机在二零二五年共发生三十七次故障并造成十二人死亡，制造商对监管机构隐瞒了这些故障。"
OTHERS = (
    "In a count of its own the union found 37 breakdowns of the Falcon engine and a dozen dead.",
    "Court papers of the Augsburg case list thirty-seven failed Falcon engines, with twelve victims.",
    "A reporter who spoke to families says that 12 people died when Falcon engines stopped, 37 in all.",
)


def _menu(number: int, words: int) -> str:
    return " ".join(
        f"{'harbour market school river budget council'.split()[n * number % 6]}{n % number}" for n in range(words)
    )


@pytest.mark.parametrize("with_passages", [True, False])
@pytest.mark.parametrize(
    ("pages", "count"),
    [
        ([(f"https://news.example{n}.com/a", f"{_menu(n + 2, 60)}\n\n{COPIED}") for n in range(5)], 1),
        ([(f"https://news.example{n}.com/a", f"{_menu(n + 2, 700)}\n\n{COPIED}") for n in range(5)], 1),
        ([(f"https://news.example{n}.cn/a", f"{_menu(n + 2, 60)}\n\n{KOPIERT}") for n in range(5)], 1),
        ([(f"https://n{n}.paper.example/a", text) for n, text in enumerate(OTHERS)], 1),
        ([(f"https://{n}paper.co.uk/a", text) for n, text in enumerate(OTHERS)], 3),
        ([("https://paper.co.uk/a", OTHERS[0]), ("https://www.paper.co.uk/b", OTHERS[1])], 1),
        ([(f"https://paper{n}.example/a", text) for n, text in enumerate(OTHERS)], 3),
        ([("https://a.example/", OTHERS[0]), ("https://b.example/", OTHERS[1]), ("https://b.example/2", OTHERS[0])], 1),
        ([("", OTHERS[0]), ("", OTHERS[1])], 2),
    ],
    ids=[
        "copies behind other words", "copies far below", "Chinese copies", "sub-domains", "owners below co.uk", "www",
        "three that say it themselves", "a copy that joins two", "documents without an address",
    ],
)  # fmt: skip
def test_copies_and_sites_of_one_owner_are_one_source(
    pages: list[tuple[str, str]], count: int, with_passages: bool, tmp_path: Path
) -> None:
    library = SqliteLibrary(tmp_path / "library.db")
    sources, passages = [], []
    for number, (url, text) in enumerate(pages):
        source = library.add_source(Found(key=url or f"file:{number}", title="t", url=url, origin="web"))
        library.add_snapshot(source.id, Document(text=text, title="t"), retrieved_at="2026-05-01T00:00:00+00:00")
        sources.append(source)
        passages += [
            p.id for p in library.passages(source.id) if "37" in p.text or "thirty" in p.text or "猎鹰" in p.text
        ]
    assert len({passage.partition("p")[0] for passage in passages}) == len(pages)
    assert _independent(sources, library, passages if with_passages else ()) == count
