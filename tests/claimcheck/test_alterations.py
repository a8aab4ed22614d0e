"""What was changed in a claim that otherwise repeats its passage, and what was merely reworded."""

import pytest

from deep_research.claimcheck.alignment import Alignment, align, tokens_of
from deep_research.claimcheck.alterations import find_alteration
from deep_research.claimcheck.claim_verdicts import Evidence, evidence_sentences, verify
from deep_research.claimcheck.restatements import is_restated

# A passage, a claim, what was changed, and whether both cannot be true.
CHANGED = [
    ("Company A acquired Company B in 2020.", "Company B acquired Company A in 2020.", "exchanged", True),
    ("The A100 was released in May 2020. The H100 followed.", "The H100 was released in May 2020.", "name", True),
    ("The drug may reduce mortality in mice.", "The drug reduces mortality in mice.", "scope", False),
    (
        "The Eiffel Tower was finished in 1889.",
        "The Eiffel Tower was finished in 1889 by Gustave Eiffel.",
        "added",
        False,
    ),
    ("临江塔由陈望舒设计并于当年建成。", "临江塔由周怀瑾设计并于当年建成。", "name", True),
    ("鐵路行車需時四小時，途中不停。", "鐵路行車需時四公里，途中不停。", "number", True),
    ("这种药物可能减轻小鼠的炎症。", "这种药物减轻小鼠的炎症。", "scope", False),
    ("この薬は炎症を軽減する可能性がある。", "この薬は炎症を悪化させる可能性がある。", "opposite", True),
    ("회사에는 해운과 보험의 세 부문이 있다.", "회사에는 해운과 보험의 여섯 부문이 있다.", "number", True),
]

# A passage and a claim that says the same, or less.
REWORDED = [
    ("Norvex acquired Tellara in March 2019.", "Tellara was acquired by Norvex in March 2019."),
    ("Ada and Bob beat Carl in Rome.", "Bob and Ada beat Carl in Rome."),
    ("This is momentous because of its long history.", "This is momentous since it has a long history."),
    ("此支线主要供货物列车使用。", "此支线主要供货物列车采用。"),
    ("노벡스는 텔라라를 인수했다.", "텔라라는 노벡스에 인수되었다."),
]


@pytest.mark.parametrize(("passage", "claim", "what", "is_conflict"), CHANGED)
def test_what_was_changed_is_told(passage: str, claim: str, what: str, is_conflict: bool) -> None:
    found = find_alteration(claim, evidence_sentences(passage))
    assert found is not None
    assert (found.what, found.is_conflict) == (what, is_conflict)
    assert find_alteration(passage, evidence_sentences(passage)) is None


@pytest.mark.parametrize(("passage", "claim", "what", "is_conflict"), CHANGED)
def test_a_changed_claim_does_not_stand(passage: str, claim: str, what: str, is_conflict: bool) -> None:
    assert verify(claim, [Evidence(passage)]).kind != "supported"


@pytest.mark.parametrize(("passage", "claim"), REWORDED)
def test_other_words_for_the_same_are_no_change(passage: str, claim: str) -> None:
    assert find_alteration(claim, evidence_sentences(passage)) is None


def test_a_line_that_says_it_acquits_of_one_that_does_not() -> None:
    lines = ["The Alpha engine weighs 80 kg in all.", "The Beta engine weighs 95 kg in all."]
    assert find_alteration("The Beta engine weighs 95 kg in all.", lines) is None
    assert find_alteration("The Gamma engine weighs 95 kg in all.", lines) is not None


def test_a_claim_may_join_two_lines() -> None:
    lines = ["The school was founded in 1854.", "It moved to Ravenhill in 1891.", "It has 640 pupils."]
    alignment = align("The school was founded in 1854 and moved to Ravenhill in 1891.", lines)[0]
    assert (alignment.place, alignment.share) == (0, 1.0)


def test_tokens_are_words_numbers_signs_and_particles() -> None:
    assert [t.key for t in tokens_of("Engines weigh 1,000 kg; GPT-4's don't.")] == ["engin", "weigh", "1000", "kg", "gpt-4", "don't"]  # fmt: skip
    assert [t.key for t in tokens_of("소린은 텔라라를")] == ["소린", "은", "텔라라", "을"]
    assert [t.key for t in tokens_of("トマス・レーンが行く")] == ["トマス・レーン", "が", "行", "く"]


def test_regions_are_what_differs() -> None:
    made = Alignment("The red boat sails at noon.", "The boat sails at ten today.", 0)
    assert [(made.claim_text(r), made.line_text(r)) for r in made.regions] == [("red", ""), ("noon", "ten today")]
    assert made.share == 0.5


# What says the same with other signs, in another order of clauses, and what only seems to.
RESTATED = [
    ("地震は午前四時に発生し、震源はハリ州にあった。", "午前四時に地震が発生し、ハリ州に震源があった。", True),
    ("이 회사에는 해운, 보험, 창고의 세 부문이 있다.", "해운, 보험, 창고가 이 회사의 세 부문이다.", True),
    ("노벡스는 그해에 텔라라를 24억 달러에 인수했다.", "텔라라는 그해에 24억 달러에 노벡스를 인수했다.", False),
    ("この薬は炎症を軽減する可能性がある。", "炎症をこの薬は軽減する。", False),
    ("ダムの高さは北部で最大の80メートルである。", "南部で最大のダムの高さは80メートルである。", False),
    ("塔高187米，位于清源市的江边。", "清源市的江边有塔，塔高178米。", False),
]


@pytest.mark.parametrize(("line", "claim", "is_same"), RESTATED)
def test_a_line_may_be_said_in_another_order(line: str, claim: str, is_same: bool) -> None:
    assert is_restated(claim, [line]) is is_same


def test_the_opposite_with_roles_turned_round_is_no_contradiction() -> None:
    line = "ソリンは決勝で6対3でハルバルトを破った。"
    assert verify("決勝ではハルバルトが6対3でソリンに敗れた。", [Evidence(line)]).kind == "unverified"


def test_who_did_what_is_told_by_particles_in_any_order() -> None:
    found = find_alteration("ソリンを決勝でハルバルトが破った。", ["決勝でソリンはハルバルトを破った。"])
    assert found is not None
    assert (found.what, found.said, found.there) == ("exchanged", "ソリン", "ハルバルト")


def test_what_is_too_long_is_no_claim() -> None:
    text = "The rate rose by 5 % in 2020. " * 200
    assert verify(f"{text}x", [Evidence(text)]).codes == ("claim_too_long",)
