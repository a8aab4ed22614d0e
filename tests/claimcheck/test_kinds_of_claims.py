"""What a writer adds of its own is judged by the measure of its kind: conclusions, computations, general knowledge."""

from collections.abc import Sequence
from datetime import date

import pytest

from deep_research.claimcheck.citations import cite_ids, render_citations
from deep_research.claimcheck.conclusions import is_too_specific, is_unfounded
from deep_research.data import Claim, Computation, Document, Found, Operand, Verdict
from deep_research.ports import Library
from deep_research.steps.check_claims import check_draft
from deep_research.steps.check_sentences import Ground
from deep_research.stores.sqlite_library import SqliteLibrary

PREMISES = {
    "en": "The Alpha engine turns at 3,000 rpm and weighs 80 kg. It was certified by the Harbour Board on 4 May 2025.",
    "zh": "阿尔法发动机的转速为3000转/分，重80公斤。港务局于2025年5月4日认证了它。",
    "ko": "알파 엔진은 분당 3000회 회전하며 무게는 80 kg이다. 항만청이 2025년 5월 4일에 인증하였다.",
    "ja": "アルファエンジンは毎分3000回転し、重さは80 kgである。港湾局が2025年5月4日に認証した。",
}
SOUND = {
    "en": (
        "A heavy boat is better served by this engine than by a lighter one.",
        "Whoever needs certification today can start with the Alpha engine.",
        "At 80 kg the engine suits small boats only where the hull carries it.",
        "The two figures together make it a workhorse rather than a racer.",
    ),
    "zh": ("因此这台发动机更适合重型船只。", "以80公斤的重量看，小船需先确认船体能否承受。"),
    "ko": (
        "따라서 이 엔진은 무거운 배에 더 적합하다.",
        "80 kg이라는 무게를 고려하면 작은 배는 선체를 먼저 확인해야 한다.",
    ),
    "ja": (
        "したがってこのエンジンは重い船に向いている。",
        "80 kgという重さから、小型船では船体を先に確かめるべきである。",
    ),
}
PLANTED = {
    "en": (
        "It will save about 12 % of fuel on most boats.",
        "Expect it to last 15 years in daily use.",
        "At 3,500 rpm it outruns most rivals.",
        "Buy it before 30 June 2026.",
        "Since 2019 it has been the safest choice.",
        "It is a better choice than the Zephyr engine.",
        "The Coast Guard would accept it as well.",
        "Owners in Norway should prefer it.",
        "Plan for 2.5 tonnes of load.",
        "It costs 4,000 euros less over its life.",
        "As the board put it, “no better engine exists”.",
        "Professor Lindqvist would advise against it.",
        "Choose version Alpha 7 rather than the older one.",
        "Roughly 3 in 10 owners would be better off waiting.",
        "The certificate of 5 May 2025 settles the matter.",
    ),
    "zh": (
        "它大约能节省12%的燃料。", "预计可使用15年。", "转速3500转/分，胜过多数对手。", "应在2026年6月30日之前购买。",
        "自2019年以来它一直最安全。", "它比Zephyr更好。", "Lloyd 也会接受它。", "可承载2.5吨。", "一生可节省4000欧元。",
        "港务局说“没有更好的发动机”。", "认证日期2025年5月5日已说明问题。", "约有30%的船主应当等待。",
        "应选择 Alpha 7 型号。", "一年可行驶900小时。", "重量为81公斤，因此适合小船。",
    ),
    "ko": (
        "연료를 약 12 % 절약할 것이다.", "15년 동안 쓸 수 있을 것이다.", "분당 3500회로 경쟁 제품을 앞선다.",
        "2026년 6월 30일 전에 구입해야 한다.", "2019년부터 가장 안전한 선택이었다.", "Zephyr보다 나은 선택이다.",
        "Lloyd도 받아들일 것이다.", "2.5톤까지 실을 수 있다.", "4000유로를 아낄 수 있다.",
        "항만청은 “더 나은 엔진은 없다”고 하였다.", "2025년 5월 5일 인증이 결정적이다.", "선주의 30 %는 기다리는 편이 낫다.",
        "Alpha 7 모델을 골라야 한다.", "한 해에 900시간을 달릴 수 있다.", "무게가 81 kg이므로 작은 배에 맞는다.",
    ),
    "ja": (
        "燃料を約12%節約できる。", "15年使えると見込まれる。", "毎分3500回転で競合を上回る。", "2026年6月30日までに購入すべきである。",
        "2019年以来もっとも安全である。", "Zephyrより優れている。", "Lloydも受け入れるだろう。", "2.5トンを積める。",
        "4000ユーロの節約になる。", "港湾局は「これ以上のエンジンはない」と述べた。", "2025年5月5日の認証が決め手である。",
        "所有者の30%は待つべきである。", "Alpha 7を選ぶべきである。", "年に900時間走れる。", "重さが81 kgなので小型船に向く。",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", PREMISES)
def test_a_conclusion_that_brings_nothing_in_stands(language: str) -> None:
    found = {text: is_unfounded(text, [PREMISES[language]]) for text in SOUND[language]}
    assert {text: verdict.reason for text, verdict in found.items() if verdict} == {}


def test_a_conclusion_with_an_invented_figure_name_date_or_quotation_is_refused() -> None:
    tried = [(text, PREMISES[language]) for language, texts in PLANTED.items() for text in texts]
    missed = [text for text, premises in tried if is_unfounded(text, [premises]) is None]
    assert len(tried) == 60
    assert len(missed) <= 3, missed  # at least 95 % are caught


def test_a_conclusion_may_use_what_the_question_names() -> None:
    assert is_unfounded("For the Zephyr it is no rival.", [PREMISES["en"]]) is not None
    assert is_unfounded("For the Zephyr it is no rival.", [PREMISES["en"]], "Alpha engine or Zephyr?") is None
    assert is_unfounded("It follows.", []) is not None


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("Sanitizers find data races that tests miss. †", True),
        ("Extensions should be tested under load. †", True),
        ("Tests take 20 minutes. †", False),
        ("This has been so since 2019. †", False),
        ("今天通常用 `debhelper-compat (= 13)` 声明级别 13 †。", True),
        ("Format 3 and printf(3) are used today. †", True),
        ("오늘날에는 레벨 13을 쓴다 †.", True),
        ("debhelper 已弃用级别 9，通常以 debhelper-compat (= 13) 声明。†", True),
        ("It takes 13 minutes at level 3. †", False),
        ("Its author calls it “done”. †", False),
        ("一般来说应先做压力测试。†", True),
        ("通常需要3个月。†", False),
        ("파이썬 3.14부터 Linux의 기본 시작 방식은 forkserver다 †.", True),
        ("점수가 4.5 이상이다 †.", False),
        ("3.8 起默认使用 spawn。†", True),
    ],
)
def test_general_knowledge_has_no_figure_date_or_quotation(text: str, stands: bool) -> None:
    assert (is_too_specific(text) is None) == stands


@pytest.fixture
def library() -> SqliteLibrary:
    made = SqliteLibrary(":memory:")
    source = made.add_source(Found(key="k", title="Engines", origin="test"))
    made.add_snapshot(source.id, Document(text=PREMISES["en"], title="Engines"), retrieved_at="2026-01-02T00:00:00Z")
    return made


def _by_kind(claims: tuple[Claim, ...]) -> dict[str, list[Claim]]:
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.kind, []).append(claim)
    return found


async def test_a_draft_keeps_what_stands_by_the_measure_of_its_kind(library: SqliteLibrary) -> None:
    draft = """**A workhorse.** The Alpha engine turns at 3,000 rpm and weighs 80 kg. [s1p1]

→ A heavy boat is better served by it. Small boats should look at the hull first. [s1p1]

→ It will save 12 % of fuel. [s1p1]

Each kilogram turns {k1} times a minute. [s1p1] Twice its weight is {k2}. [s1p1]

Engines like to be warmed up. † They need 20 minutes. †"""
    per_kilo = Computation(
        name="k1",
        expression="a / b",
        operands=(Operand(name="a", value="3,000", passage="s1p1"), Operand(name="b", value="80", passage="s1p1")),
    )
    wrong = Computation(name="k2", expression="2 * a", operands=(Operand(name="a", value="81 kg", passage="s1p1"),))
    ground = Ground(computations=(per_kilo, wrong), background=True)
    checked = await check_draft(draft, section="Engines", library=library, ground=ground)
    assert "**A workhorse.** The Alpha engine turns" in checked.content
    assert "→ A heavy boat is better served by it. Small boats should look at the hull first. [s1p1]" in checked.content
    assert "12 %" not in checked.content
    assert "37.5 (= 3,000 ÷ 80)" in checked.content
    assert "Twice" not in checked.content
    assert "Engines like to be warmed up †." in checked.content
    assert "20 minutes" not in checked.content
    claims = _by_kind(checked.claims)
    assert [len(claims[kind]) for kind in ("fact", "inference", "computed", "background")] == [1, 2, 2, 2]
    (fact,), (sound, planted) = claims["fact"], claims["inference"]
    assert sound.premises == (fact.id,)
    assert (sound.stands, planted.stands) == (True, False)
    assert not any(claim.stands for claim in claims["background"]), "shown and marked, never counted as supported"


async def test_what_an_old_source_says_of_its_time_is_dated_and_flagged() -> None:
    made = SqliteLibrary(":memory:")
    text = "Status: Rejected\n\nCreated: 13 March 2023\n\nThe build is currently around 10 % slower than the other one."
    source = made.add_source(Found(key="k", title="Builds", origin="test"))
    made.add_snapshot(source.id, Document(text=text, title="Builds"), retrieved_at="2026-01-02T00:00:00Z")
    draft = "The build is currently around 10 % slower than the other. [s1p1]"
    ground = Ground(today=date(2026, 1, 2))
    checked = await check_draft(draft, section="x", library=made, ground=ground)
    (claim,) = checked.claims
    assert claim.flags == ("relative_time", "not_current")
    assert "(as of 13 March 2023; its source: rejected)" in checked.content


async def test_without_leave_general_knowledge_is_cut(library: SqliteLibrary) -> None:
    checked = await check_draft("Engines like to be warmed up. †", section="x", library=library)
    assert checked.content == ""


async def test_what_the_sources_do_not_say_may_be_said_where_it_was_looked_for(library: SqliteLibrary) -> None:
    draft = (
        "The fuel price of the engine is not in the sources read. [open]\n\n"
        "Its colour is not in the sources. [open]\n\nThe fuel price is 40 euros and not in the sources. [open]"
    )
    ground = Ground(sought="fuel price of the engine\nengine price 2026")
    checked = await check_draft(draft, section="S", library=library, ground=ground)
    assert checked.content == "The fuel price of the engine is not in the sources read [open]."
    assert [(c.kind, c.stands) for c in checked.claims] == [("limit", True), ("limit", False), ("limit", False)]
    assert render_citations(checked.content, cite_ids) == "The fuel price of the engine is not in the sources read."


async def test_a_judge_sees_general_knowledge_and_may_refuse_it(library: SqliteLibrary) -> None:
    asked: list[tuple[str, str]] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        asked.extend((claim.kind, claim.text) for claim in claims)
        wrong = Verdict(kind="contradicted", reason="they like to be cold", by_model=True)
        return [wrong if "cold" in c.text else Verdict(kind="supported", reason="", by_model=True) for c in claims]

    draft = "Engines like to be warmed up. † Engines like to be cold. †"
    checked = await check_draft(draft, section="x", library=library, judge=judge, ground=Ground(background=True))
    assert [kind for kind, _ in asked] == ["background", "background"]
    assert checked.content == "Engines like to be warmed up †."
    assert not any(claim.stands for claim in checked.claims)


async def test_the_steps_of_an_own_order_are_conclusions(library: SqliteLibrary) -> None:
    draft = "→ In this order:\n1. Weigh it against the 80 kg. [s1p1]\n2. Order 12 of them. [s1p1]\n\nIt weighs 80 kg. [s1p1]"
    checked = await check_draft(draft, section="x", library=library)
    assert [(claim.kind, claim.stands) for claim in checked.claims] == [
        ("inference", True),
        ("inference", False),
        ("fact", True),
    ]
    assert checked.content.startswith("→ In this order:\n1. Weigh it against the 80 kg.")


async def test_a_conclusion_may_name_what_another_sentence_of_its_text_cites(library: SqliteLibrary) -> None:
    source = library.add_source(Found(key="z", title="Boats", origin="test"))
    library.add_snapshot(
        source.id, Document(text="The Zephyr engine weighs 60 kg."), retrieved_at="2026-01-02T00:00:00Z"
    )
    alone = "→ The Zephyr would be easier to carry than this one. [s1p1]"
    checked = await check_draft(f"The Zephyr engine weighs 60 kg. [s2p1]\n\n{alone}", section="x", library=library)
    assert [claim.stands for claim in checked.claims] == [True, True]
    assert not (await check_draft(alone, section="x", library=library)).claims[0].stands
