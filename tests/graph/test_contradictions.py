"""Contract row B7: where sources contradict each other, the report shows both sides with their sources and dates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Brief, Claim, Contradiction, Document, Found, Review, Section, Side, Verdict
from deep_research.ports import Library
from deep_research.steps.confirm_contradictions import confirm
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.graph.harness import Planner, Shelf, ask

ALPHA = {
    "handbook": "# Handbook\n\nThe Alpha engine is a rotary engine that was built in 1999 by Rolf Maier in Graz."
    " It runs without oil.",
    "almanac": "# Almanac\n\nThe Alpha engine is a rotary engine that was built in 2003 by Rolf Maier in Graz. The Alpha engine weighs little.",
}
ZH = {
    "one": "# 手册\n\n甲型发动机是一种转子发动机。甲型发动机由李明于1999年在武汉制造。",
    "two": "# 年鉴\n\n甲型发动机由李明于2003年在武汉制造。甲型发动机很轻。",
}
KO = {
    "one": "# 안내서\n\n알파 엔진은 로터리 엔진이다. 알파 엔진은 1999년 부산에서 김민수가 만들었다.",
    "two": "# 연감\n\n알파 엔진은 2003년 부산에서 김민수가 만들었다. 알파 엔진은 가볍다.",
}


@pytest.mark.parametrize(
    ("question", "texts", "subject", "heading"),
    [
        ("Alpha engine", ALPHA, "Alpha engine", "## Where the sources disagree"),
        ("甲型发动机", ZH, "甲型发动机", "## 来源之间的分歧"),
        ("알파 엔진", KO, "알파 엔진", "## 자료들이 서로 다른 점"),
    ],
)
def test_b7_without_a_model_both_sides_stand_in_the_report(
    tmp_path: Path, question: str, texts: dict[str, str], subject: str, heading: str
) -> None:
    report = ask(tmp_path, question, Shelf(**texts), reasoner=Planner(subject)).report
    (found,) = report.contradictions
    years = {year for side in found.sides for year in ("1999", "2003") if year in side.statement}
    assert years == {"1999", "2003"}
    assert len({key.split("p")[0] for side in found.sides for key in side.passages}) == 2
    shown = report.report.split(heading)[1].split("\n## ")[0]
    rows = [row for row in shown.splitlines() if row.startswith("|")][2:]
    assert len(rows) == 2
    assert all("[1]" in row or "[2]" in row for row in rows)
    for text in texts.values():
        assert any(text.splitlines()[0].removeprefix("# ") in row for row in rows)


def test_b7_sources_that_agree_leave_no_such_part(tmp_path: Path) -> None:
    agreeing = {name: text.replace("2003", "1999") for name, text in ALPHA.items()}
    report = ask(tmp_path, "Alpha engine", Shelf(**agreeing), reasoner=Planner("Alpha engine")).report
    assert report.contradictions == ()
    assert "disagree" not in report.report


class Finder(Planner):
    """Names contradictions and gaps of a test's own."""

    def __init__(self, *titles: str, found: Sequence[Contradiction], gaps: Sequence[str] = ()) -> None:
        super().__init__(*titles)
        self.found, self.gaps = found, gaps

    async def review(
        self, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
    ) -> Review:
        return Review(is_sufficient=True, overall_score=8, contradictions=tuple(self.found), gaps=tuple(self.gaps))


def test_b7_the_gaps_of_a_review_are_gaps_of_the_report(tmp_path: Path) -> None:
    reasoner = Finder("Alpha engine", found=(), gaps=["What the engine costs today is not covered."])
    report = ask(tmp_path, "Alpha engine", Shelf(**ALPHA), reasoner=reasoner).report
    assert [gap.why for gap in report.gaps if gap.what == "review"] == ["What the engine costs today is not covered."]
    assert "What the engine costs today is not covered." in report.report


def _library() -> SqliteLibrary:
    library = SqliteLibrary(":memory:")
    for name, text in ALPHA.items():
        source = library.add_source(Found(key=name, title=name, origin="test"))
        library.add_snapshot(source.id, Document(text=text, title=name), retrieved_at="")
    return library


ONE, TWO = (
    Side(
        statement="The Alpha engine is a rotary engine that was built in 1999 by Rolf Maier in Graz.",
        passages=("s1p1",),
    ),
    Side(
        statement="The Alpha engine is a rotary engine that was built in 2003 by Rolf Maier in Graz.",
        passages=("s2p1",),
    ),
)


async def test_b7_what_a_review_proposes_is_checked_like_a_claim() -> None:
    confirmed = await confirm([Contradiction(topic="year built", sides=(ONE, TWO))], [], _library())
    (found,) = confirmed.contradictions
    assert [side.passages for side in found.sides] == [("s1p1",), ("s2p1",)]
    assert found.topic == "year built"
    assert {claim.text for claim in confirmed.claims} == {ONE.statement, TWO.statement}
    assert all(claim.stands for claim in confirmed.claims)


@pytest.mark.parametrize(
    "change",
    [
        {"passages": ("s9p9",)},  # there is no such passage
        {
            "statement": "The Alpha engine is a rotary engine that was built in 2017 by Rolf Maier in Graz."
        },  # it does not say so
        {"statement": ONE.statement, "passages": ("s1p1",)},  # the same source
        {"statement": ""},
        {"passages": ()},
    ],
)
async def test_b7_a_side_without_evidence_of_its_own_takes_the_contradiction_along(change: dict[str, Any]) -> None:
    proposed = Contradiction(sides=(ONE, TWO.model_copy(update=change)))
    confirmed = await confirm([proposed], [], _library())
    assert confirmed == ((), ())


async def test_b7_a_side_that_a_section_says_is_that_claim_and_a_topic_brings_nothing_of_its_own() -> None:
    verdict = Verdict(kind="supported", reason="judged")
    claim = Claim(id="c1", section="a", text="Rolf Maier made it in 1999.", passages=("s1p1",), verdict=verdict)
    side = Side(statement="Rolf Maier made it in 1999.", passages=("s1p1",))
    proposed = [Contradiction(topic="cheap in 47 countries", sides=(side, TWO))] * 2
    (found,), new = await confirm(proposed, [claim], _library())
    assert found.sides[0].passages == claim.passages
    assert found.topic == ""
    assert [one.text for one in new] == [TWO.statement]
