"""Negation and words of direction: what is denied, and which sentences say the opposite of each other."""

import pytest

from claimcheck.claim_verdicts import Evidence, verify
from claimcheck.negation import conflict, denied_elsewhere, negated

# Claim, passage, and why they conflict; "" where they do not.
PAIRS = [
    ("The drug helps.", "The drug does not help.", "only the passage negates “help”"),
    ("The drug helps.", "There is no evidence that the drug helps.", "“no evidence that” is said only in the passage"),
    ("The drug helps and does not harm.", "The drug helps and harms.", "only the claim negates “harm”"),
    ("The price rose before the war.", "The price rose after the war.", "“before” against “after”"),
    ("该方法不仅支持稀疏矩阵。", "该方法支持稀疏矩阵。", ""),
    ("该方法无法处理图像。", "该方法处理图像。", "only the claim negates “处理”"),
    ("値段は安い。", "値段は安いかもしれない。", ""),
    ("이 약은 안 듣는다.", "이 약은 듣는다.", "only the claim negates “듣는”"),
    ("该方法提高了训练速度，降低了显存占用。", "该方法降低了训练速度，降低了显存占用。", "“提高” against “降低”"),
]


@pytest.mark.parametrize(("claim", "passage", "why"), PAIRS)
def test_the_opposite_is_seen_with_its_reason_and_nothing_else_is(claim: str, passage: str, why: str) -> None:
    assert conflict(claim, passage) == why


# What each negation stands before, nearest first.
SCOPES = [
    ("it does not help old patients with asthma", [["help", "old"]]),
    ("이 약은 안 듣는다", [["듣는"]]),
    ("不仅支持", []),
    ("not abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi xyzabc", [["abcdefghi", "abcdefghi"]]),
    ("不太支持它", [["太支"]]),
    ("그것은 못생겼다", []),
]


@pytest.mark.parametrize(("text", "scopes"), SCOPES)
def test_a_negation_reaches_the_words_next_to_it(text: str, scopes: list[list[str]]) -> None:
    assert negated(text) == scopes


JOINED = [
    (
        "The drug improved response but not survival.",
        ["The drug improved response.", "The drug did not improve survival."],
        False,
    ),
    (
        "Prices rose in Rome but wages did not rise in Bonn.",
        ["Prices fell in Rome.", "Wages did not rise in Bonn."],
        False,
    ),
    (
        "Prices rose in Rome but wages did not rise in Bonn.",
        ["Prices rose in Rome.", "Wages in Bonn did not rise.", "Prices rose in Rome but wages did rise in Bonn."],
        True,
    ),
    (
        "메모리 사용량이 줄었지만 학습 속도는 증가하지 않았다.",
        ["메모리 사용량이 줄었다.", "학습 속도는 증가하지 않았다."],
        True,
    ),
]


@pytest.mark.parametrize(("claim", "sentences", "agree"), JOINED)
def test_clauses_may_agree_with_a_sentence_each(claim: str, sentences: list[str], agree: bool) -> None:
    assert denied_elsewhere(claim, sentences) == agree


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("The socket is supported on NTFS.", "contradicted"),
        ("The socket is not supported on ext4.", "contradicted"),
    ],
)
def test_a_clause_without_a_verb_goes_on_with_that_of_the_one_before(claim: str, kind: str) -> None:
    assert verify(claim, [Evidence("The socket is supported on ext4, but not on NTFS or FAT32.", "")]).kind == kind
