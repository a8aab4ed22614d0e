"""Negation and words of direction: what is denied, and which sentences say the opposite of each other."""

import pytest

from deep_research.claimcheck.claim_verdict import Evidence, verify
from deep_research.claimcheck.negation import conflict, denied_elsewhere, negated

# Claim, passage, and why they conflict; "" where they do not.
PAIRS = [
    ("The drug helps.", "The drug does not help.", "only the passage negates “help”"),
    ("The drug does not help.", "The drug helps.", "only the claim negates “help”"),
    ("The drug does not help.", "The drug did not help.", ""),
    ("The drug never helps patients.", "The drug helps patients.", "only the claim negates “help”"),
    ("The drug helps patients without pain.", "The drug helps patients.", "only the claim negates"),
    ("It is not clear that the drug helps.", "The drug helps.", "“not clear” is said only in the claim"),
    ("The drug helps.", "There is no evidence that the drug helps.", "“no evidence that” is said only in the passage"),
    ("The drug helps.", "It is false that the drug helps.", "“false that” is said only in the passage"),
    ("There is no evidence that the drug helps.", "The drug helps.", "“no evidence that” is said only in the claim"),
    ("The drug does not help.", "There is no evidence that the drug helps.", "only the claim negates “help”"),
    ("The drug not only helps patients.", "The drug helps patients.", ""),
    ("The drug fails to help patients.", "The drug helps patients.", "only the claim negates “help”"),
    ("The drug can't help.", "The drug can help.", "only the claim negates “help”"),
    ("It helps no longer than a day.", "It helps for a day.", ""),
    ("The drug helps.", "The drug helps, and it does not harm.", ""),
    ("The drug helps and does not harm.", "The drug helps and harms.", "only the claim negates “harm”"),
    ("The drug helps and does not harm.", "The drug helps.", "only the claim negates"),
    ("The price increased in Berlin.", "The price decreased in Berlin.", "“increased” against “decreased”"),
    ("The price in Berlin increased.", "The price in Berlin did not decrease.", ""),
    (
        "The price increased in Berlin, and wages fell in Bonn.",
        "The price increased in Berlin, and wages rose in Bonn.",
        "“fell” against “rose”",
    ),
    (
        "The price increased in Berlin and decreased later.",
        "The price decreased in Berlin.",
        "“increased” against “decreased”",
    ),
    ("The price rose before the war.", "The price rose after the war.", "“before” against “after”"),
    ("The price increased.", "The price decreased.", ""),
    ("Prices increased in Rome.", "Wages decreased in Paris.", ""),
    ("The old method is faster.", "The old method is slower.", "“faster” against “slower”"),
    ("This inhibitor is covalent.", "This inhibitor is non-covalent.", "“covalent” against “non-covalent”"),
    ("该方法支持稀疏矩阵。", "该方法不支持稀疏矩阵。", "only the passage negates “支持”"),
    ("该方法不支持稀疏矩阵。", "该方法支持稀疏矩阵。", "only the claim negates “支持”"),
    ("该药物提高了生存率。", "该药物降低了生存率。", "“提高” against “降低”"),
    ("该方法不仅支持稀疏矩阵。", "该方法支持稀疏矩阵。", ""),
    ("没有证据表明该药有效。", "该药有效。", "“没有证据” is said only in the claim"),
    ("该药有效。", "没有证据表明该药有效。", "“没有证据” is said only in the passage"),
    ("该方法无法处理图像。", "该方法处理图像。", "only the claim negates “处理”"),
    ("この機器は海水に対応する。", "この機器は海水に対応しない。", "only the passage negates “対応”"),
    ("この機器は海水に対応していません。", "この機器は海水に対応している。", "only the claim negates “対応”"),
    ("彼は東京に行く。", "彼は東京に行かなかった。", "only the passage negates “行”"),
    ("副作用があった。", "副作用がなかった。", "only the passage negates “作用”"),
    ("彼は社長である。", "彼は社長ではなく、会長である。", "only the passage negates “社長”"),
    ("値段は安い。", "値段は安いかもしれない。", ""),
    ("全員が行く。", "全員が行かなければならない。", ""),
    ("海を調べた。", "海だけでなく山を調べた。", ""),
    ("料金が下がった。", "料金が少なくとも5円下がった。", ""),
    ("この薬は死亡率を低下させる。", "この薬は死亡率を上昇させる。", "“低下” against “上昇”"),
    ("이것은 새 기능이다.", "이것은 새 기능이 아닙니다.", "only the passage negates “기능”"),
    ("이 모델은 이미지를 지원하지 않는다.", "이 모델은 이미지를 지원한다.", "only the claim negates “지원”"),
    ("이 모델은 이미지를 지원한다.", "이 모델은 이미지를 지원하지 않는다.", "only the passage negates “지원”"),
    ("이 약은 효과가 없다.", "이 약은 효과가 있다.", "only the claim negates “효과”"),
    ("이 약은 안 듣는다.", "이 약은 듣는다.", "only the claim negates “듣는”"),
    ("The price increased in Berlin.", "The price in Berlin increased, then decreased.", ""),
    (
        "The price increased in Berlin and did not decrease.",
        "The price decreased in Berlin.",
        "only the claim negates “decreas”",
    ),
    (
        "The price rose in Berlin, but costs fell in Bonn.",
        "In Bonn the costs rose, in Berlin the price rose.",
        "“fell” against “rose”",
    ),
    ("The new price did not increase.", "The new price decreased.", "only the claim negates"),
    (
        "The price of bread increased in Berlin.",
        "The price of bread did not decrease; the price of bread decreased.",
        "",
    ),
    ("该方法提高了训练速度，降低了显存占用。", "该方法降低了训练速度，降低了显存占用。", "“提高” against “降低”"),
]


@pytest.mark.parametrize(("claim", "passage", "why"), PAIRS)
def test_the_opposite_is_seen_with_its_reason_and_nothing_else_is(claim: str, passage: str, why: str) -> None:
    assert conflict(claim, passage) == why


# What each negation stands before, nearest first.
SCOPES = [
    ("it does not help old patients with asthma", [["help", "old"]]),
    ("it is no evidence, and not good", [["evid"], ["good"]]),
    ("never without pain", [["without", "pain"], ["pain"]]),
    ("it cannot", [[]]),
    ("not. help", [[]]),
    ("이 모델은 이미지를 지원하지 않는다", [["지원"]]),
    ("이 약은 안 듣는다", [["듣는"]]),
    ("효과가 없다", [["효과"]]),
    ("못 한다", [["한다"]]),
    ("该方法不支持稀疏矩阵", [["支持"]]),
    ("没有证据", [["证据"]]),
    ("不仅支持", []),
    ("do not in any of the cases of this kind at the moment ever again help the very old patients", [["case", "kind"]]),
    ("no longer than", []),
    ("isn't good", [["good"]]),
    ("nor cheap nor good", [["cheap", "good"], ["good"]]),
    ("未来 未发表", [["发表"]]),
    ("不 支持", [["支持"]]),
    ("it does not quite help", [["quit", "help"]]),
    ("not very very very very very very very very very very very very very very very good", [[]]),
    ("not abcdefghi abcdefghi abcdefghi abcdefghi abcdefghi xyzabc", [["abcdefghi", "abcdefghi"]]),
    ("it fails to help. And lacks data", [["help"], ["data"]]),
    ("不太支持它", [["太支"]]),
    ("不 太支持", [["太支"]]),
    ("안 되는 것", [["되"]]),
    ("그것은 못생겼다", []),
    ("데이터가 이미 매우 많이 없다", [["많"]]),
    ("효과가 없지만 지지하지 않는다", [["효과"], ["지지"]]),
    ("never: good", [[]]),
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
    ("The drug improved response but not survival.", ["The drug improved response but not survival."], False),
    (
        "The drug improved survival but not response.",
        ["The drug improved response.", "The drug did not improve survival."],
        False,
    ),
    ("The drug improved response but not survival.", [], False),
    ("The drug improved response but not survival.", ["The drug improved response."], False),
    (
        "The drug improved response but not survival in men.",
        ["The drug improved response.", "There is no evidence that it changed survival in men."],
        False,
    ),
    (
        "Prices rose in Rome but wages did not rise in Bonn.",
        ["Prices fell in Rome.", "Wages did not rise in Bonn."],
        False,
    ),
    (
        "Prices rose in Rome but wages did not rise in Bonn.",
        ["Prices rose in Rome.", "Wages did not rise in Bonn."],
        True,
    ),
    ("A, b.", ["A."], False),
    (
        "Prices rose in Rome but wages did not rise in Bonn.",
        ["Prices rose in Rome.", "Wages in Bonn did not rise.", "Prices rose in Rome but wages did rise in Bonn."],
        True,
    ),
    ("Prices rose in Rome but wages did not rise in Bonn.", ["Prices rose in Rome.", "Wages rose in Bonn."], False),
    (
        "Prices rose in Rome but wages did not rise in Bonn.",
        ["Prices rose in Rome.", "There is no evidence that wages did not rise in Bonn."],
        False,
    ),
    ("Prices rose in Rome while costs fell in Bonn.", ["Prices rose in Rome.", "Costs rose in Bonn."], False),
    ("Prices rose in Rome while costs fell in Bonn.", ["Prices rose in Rome.", "Costs fell in Bonn."], True),
    ("Prices rose in Rome while costs fell in Bonn.", ["Prices rose in Rome, and costs fell in Bonn."], False),
    (
        "Prices of bread and wine and milk rose in Rome while costs fell in Bonn.",
        ["Prices in Milan and Turin went up.", "Costs fell in Bonn."],
        False,
    ),
    ("显存占用降低了，但是训练速度没有提高。", ["显存占用降低了。", "训练速度没有提高。"], True),
    ("显存占用降低了，但是训练速度没有提高。", ["显存占用提高了。", "训练速度没有提高。"], False),
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
        ("The socket is not supported on NTFS.", "supported"),
        ("The socket is supported on ext4.", "supported"),
        ("The socket is supported on NTFS.", "contradicted"),
        ("The socket is not supported on ext4.", "contradicted"),
    ],
)
def test_a_clause_without_a_verb_goes_on_with_that_of_the_one_before(claim: str, kind: str) -> None:
    assert verify(claim, [Evidence("The socket is supported on ext4, but not on NTFS or FAT32.", "")]).kind == kind
