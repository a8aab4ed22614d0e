"""The support score: order of evidence, what raises and lowers it, and what it must never do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_research.claimcheck.support import Match, support

PAGE = [
    "The river Elbe rises in the Giant Mountains.",
    "The bridge was built in 1893 by the engineer Claus Köpcke.",
    "It is a cantilever truss and carries road traffic.",
    "Local people call it the Blue Wonder because of its colour.",
    "Ferries run in summer.",
]


def test_a_supported_claim_scores_above_a_foreign_one() -> None:
    good = support("Claus Köpcke built the bridge in 1893.", PAGE)
    bad = support("The opera house burned down twice before the war.", PAGE)
    assert good.supported
    assert good.best[0] == 1
    assert not bad.supported
    assert bad.partial < 0.5 < good.partial


def test_the_sentences_are_chosen_to_cover_the_claim_together() -> None:
    found = support("The bridge, called the Blue Wonder, was built by Claus Köpcke and is a cantilever truss.", PAGE)
    assert set(found.best) == {1, 2, 3}


def test_the_title_stands_for_the_pronoun() -> None:
    page = ["The opera has a large hall.", "The museum has a large hall.", "Tickets are sold."]
    assert support("It has a large hall.", page, title="Museum of art").best[0] == 1


def test_missing_names_and_numbers_lower_the_score() -> None:
    right = support("The bridge was built in 1893 by Claus Köpcke.", PAGE)
    wrong = support("The bridge was built in 1923 by Otto Meier.", PAGE)
    assert wrong.score < right.score - 0.2
    assert not wrong.supported


def test_negation_and_direction_are_conflicts() -> None:
    assert support("The drug improves survival.", ["The drug does not improve survival."]).conflict
    assert support("The drug does not improve survival.", ["The drug improves survival."]).conflict
    assert support("The drug increases mortality in patients.", ["The drug reduces mortality in patients."]).conflict
    assert support("该方法支持稀疏矩阵。", ["该方法不支持稀疏矩阵。"]).conflict
    assert support("训练速度降低了3倍。", ["显存占用降低了20%，训练速度提高了3倍。"]).conflict
    assert support("이 모델은 이미지를 지원한다.", ["이 모델은 이미지를 지원하지 않는다."]).conflict


def test_same_sign_is_no_conflict() -> None:
    assert not support("The drug does not improve survival.", ["The drug did not improve survival."]).conflict
    assert not support("训练速度提高了3倍。", ["显存占用降低了20%，训练速度提高了3倍。"]).conflict
    assert not support("It not only improves survival.", ["It improves survival."]).conflict


def test_chinese_and_korean_are_scored() -> None:
    zh = ["稀疏注意力减少了显存占用。", "该公司成立于北京。"]
    assert support("稀疏注意力可以减少显存占用。", zh).supported
    assert not support("该公司总部位于上海的金融区。", zh).supported
    ko = ["희소 어텐션은 메모리 사용량을 줄인다.", "회사는 서울에 있다."]
    assert support("희소 어텐션은 메모리 사용량을 줄인다고 한다.", ko).best[0] == 0


def test_nothing_supports_nothing() -> None:
    assert support("A claim.", []).score == 0
    assert support("", PAGE).score == 0
    assert support("A claim.", ["", "  "]).score == 0


@given(st.text(), st.lists(st.text(), max_size=5), st.text())
def test_any_input_gives_scores_between_0_and_1(claim: str, evidence: list[str], context: str) -> None:
    found = support(claim, evidence, context=context)
    assert 0 <= found.score <= found.partial <= 1
    assert len(set(found.best)) == len(found.best) <= 3
    assert all(0 <= i < len(evidence) for i in found.best)


EN = [
    "The river Elbe rises in the Giant Mountains.",
    "The bridge was built in 1893 by the engineer Claus Köpcke.",
    "It is a cantilever truss and carries road traffic.",
    "Local people call it the Blue Wonder because of its colour.",
    "Ferries run in summer, and 40 boats are rented.",
]
ZH = ["稀疏注意力在2020年由谷歌提出。", "稀疏注意力减少了显存占用，训练速度提高了3倍。", "该公司成立于北京。"]
KO = ["희소 어텐션은 메모리 사용량을 20% 줄인다.", "회사는 서울에 있다.", "이 모델은 이미지를 지원하지 않는다."]
# The fitted model on fixed claims: claim, sentences, title, context; score, partial score, coverage, the best sentences,
# how each sentence ranks, and which sentence says the opposite. Fitting it anew changes these.
FITTED = [
    (
        "Claus Köpcke built the bridge in 1893.",
        EN,
        "",
        "",
        0.911,
        0.995,
        1.0,
        (1, 3, 0),
        [0.7, 25.7, 0.0, 1.03, 0.23],
        -1,
    ),
    (
        "The bridge, called the Blue Wonder, was built by Claus Köpcke and is a cantilever truss.",
        EN,
        "",
        "",
        0.871,
        0.982,
        1.0,
        (1, 3, 2),
        [0.31, 9.77, 6.01, 6.63, 0.35],
        -1,
    ),
    (
        "Ferries run in winter.",
        EN,
        "",
        "",
        0.652,
        0.856,
        0.605,
        (4, 2, 0),
        [0.4, 0.4, 1.78, 0.0, 14.95],
        -1,
    ),
    (
        "公司成立于上海。",
        ZH,
        "",
        "",
        0.715,
        0.934,
        0.605,
        (2, 0, 1),
        [0.0, 0.0, 12.72],
        -1,
    ),
    (
        "회사는 부산에 있다.",
        KO,
        "회사 소개",
        "부산",
        0.652,
        0.856,
        0.605,
        (1, 0, 2),
        [0.0, 16.21, 0.0],
        -1,
    ),
]


@pytest.mark.parametrize(
    ("claim", "page", "title", "context", "score", "partial", "covered", "best", "ranks", "opposing"),
    FITTED,
)
def test_the_fitted_scores(
    claim: str, page: list[str], title: str, context: str, score: float, partial: float, covered: float,
    best: tuple[int, ...], ranks: list[float], opposing: int,
) -> None:  # fmt: skip
    found = support(claim, page, title=title, context=context)
    assert (found.score, found.partial, found.covered) == pytest.approx((score, partial, covered), abs=0.0006)
    assert (found.best, found.opposing) == (best, opposing)
    assert Match(claim, page, title, context).sentence_scores() == pytest.approx(ranks, abs=0.006)


def test_a_score_supports_from_one_half_on() -> None:
    half = support("The bridge was built.", PAGE)._replace(score=0.5, conflict="")
    assert half.supported
    assert not half._replace(score=0.499).supported
    assert not half._replace(conflict="the opposite").supported


def test_a_sentence_needs_half_of_the_claim_before_its_negation_counts() -> None:
    denied = "The drug does not help."
    assert support("The drug helps patients.", [denied]).conflict
    assert not support("The drug helps old patients with asthma in winter at home.", [denied]).conflict
