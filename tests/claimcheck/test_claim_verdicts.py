"""One claim against one text: the verdicts, and that only a plain opposite counts as contradicted."""

import pytest

from claimcheck.claim_verdicts import (
    VERBATIM,
    Evidence,
    disproof,
    lay_out,
    verify,
)
from claimcheck.text.error_text import is_error_text

DRUG = Evidence(
    "Sotorasib is a covalent inhibitor of KRAS G12C. In the CodeBreaK 100 trial the objective response rate was 37.1% "
    "among 124 patients. The recommended dose is 960 mg once daily. It did not improve overall survival compared "
    "with docetaxel. There is no evidence that vitamin C cures lung cancer.",
    "Sotorasib in lung cancer",
)
GPU = Evidence(
    "The NVIDIA H100 has 80 GB of HBM3 memory. The A100 was released in May 2020 with 40 GB of memory.", "GPU memory"
)
ZH = Evidence(
    "Transformer 模型于2017年由谷歌提出。FlashAttention 将显存占用降低了百分之二十，并使训练速度提高3倍。该方法不支持稀疏矩阵。"
)
HISTORY = Evidence(
    "Bahdanau proposed attention for translation in 2014. Vaswani built the Transformer in 2017 without recurrence."
)
KO = Evidence("이 방법은 정확도를 15% 향상시켰으며 1천 개의 문서를 사용하였다. 이 모델은 이미지를 지원하지 않는다.")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The recommended dose of sotorasib is 0.96 g once daily.", DRUG),
        ("Sotorasib did not improve overall survival compared with docetaxel.", DRUG),
        ("FlashAttention 将显存占用降低了20%。", ZH),
        ("이 방법은 1000개의 문서를 사용하였다.", KO),
        ("NVIDIA H100 拥有 80 GB 的 HBM3 显存。", GPU),
    ],
)
def test_supported(claim: str, evidence: Evidence) -> None:
    assert verify(claim, [evidence]).kind == "supported"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Sotorasib is not a covalent inhibitor of KRAS G12C.", DRUG),
        ("FlashAttention 使训练速度降低了3倍。", ZH),
        ("该方法支持稀疏矩阵。", ZH),
    ],
)
def test_contradicted(claim: str, evidence: Evidence) -> None:
    assert verify(claim, [evidence]).kind == "contradicted"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("In 2031 the price fell to 12 dollars.", DRUG),
        ("Bahdanau did not propose attention for translation.", HISTORY),
        ("이 방법은 정확도를 15% 저하시켰다.", KO),
    ],
)
def test_never_supported(claim: str, evidence: Evidence) -> None:
    assert verify(claim, [evidence]).kind != "supported"


SOTORASIB = Evidence(
    "Sotorasib achieved an objective response rate of 37.1% and a disease control rate of 80.6% in CodeBreaK 100. "
    "Median overall survival was 12.5 months.",
    "Sotorasib: the CodeBreaK trials",
)
ADAGRASIB = Evidence(
    "The phase 2 cohort of KRYSTAL-1 treated 116 patients with adagrasib. Adagrasib achieved an objective response "
    "rate of 42.9% among 112 patients with measurable disease in KRYSTAL-1.",
    "Adagrasib: the KRYSTAL trials",
)
DOCETAXEL = Evidence(
    "Median progression-free survival in CodeBreaK 200 was 5.6 months with sotorasib and 4.5 months with docetaxel, "
    "with a hazard ratio of 0.66. Overall survival did not differ in CodeBreaK 200."
)


@pytest.mark.parametrize(
    "claim",
    [
        "The objective response rate was 37.1% with sotorasib in CodeBreaK 100 and 42.9% with adagrasib in KRYSTAL-1.",
        "In CodeBreaK 200 sotorasib prolonged progression-free survival over docetaxel (5.6 versus 4.5 months) "
        "but not overall survival.",
    ],
)
def test_one_sentence_may_join_what_several_passages_say(claim: str) -> None:
    assert verify(claim, [SOTORASIB, ADAGRASIB, DOCETAXEL]).kind == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The objective response rate was 42.9% with sotorasib in CodeBreaK 100 and 37.1% with adagrasib in KRYSTAL-1.",
        "In CodeBreaK 200 sotorasib did not prolong progression-free survival over docetaxel (5.6 versus 4.5 months) "
        "but overall survival.",
    ],
)
def test_joined_clauses_may_not_change_places(claim: str) -> None:
    assert verify(claim, [SOTORASIB, ADAGRASIB, DOCETAXEL]).kind != "supported"


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        # A missing number or name is contradicted by another value of the same statement, by nothing else.
        ("The plant in Berlin was built in 1990.", "The plant in Berlin was built in 1991.", "contradicted"),
        ("베를린 공장은 1990년에 지어졌다.", "베를린 공장은 1991년에 지어졌다.", "contradicted"),
        # The opposite is contradicted where one sentence makes the same statement.
        (
            "The drug improved survival in older patients with asthma.",
            "The drug did not improve survival. Older patients had asthma.",
            "unverified",
        ),
        (
            "이 약은 노인 환자의 전체 생존율을 증가시켰다.",
            "이 약은 노인 환자의 전체 생존율을 감소시켰다.",
            "contradicted",
        ),
    ],
)
def test_contradicted_is_said_of_the_same_statement_alone(claim: str, evidence: str, kind: str) -> None:
    assert verify(claim, [Evidence(evidence)]).kind == kind


def test_nothing_is_supported_by_nothing() -> None:
    assert verify("Anything.", []).kind == "unverified"
    assert verify("Anything.", [Evidence("  ")]).kind == "unverified"


# Claim, evidence, verdict, its code and values, and the codes by which code alone disproves it, and binds a judge.
VERDICTS = [
    (
        "Sotorasib achieved a response rate of 37.1% and “a cure”.",
        SOTORASIB,
        "unverified",
        "quotation_missing",
        {"quotation": "a cure"},
        "quotation_missing",
    ),
    (
        "이 모델은 이미지를 지원한다.",
        KO,
        "unverified",
        "opposite",
        {"sentence": "이 모델은 이미지를 지원하지 않는다."},
        "",
    ),
    (
        "Three patients in CodeBreaK 100 had a response rate of 37.1%.",
        DRUG,
        "contradicted",
        "number_rival",
        {
            "number": "Three",
            "sentence": "In the CodeBreaK 100 trial the objective response rate was 37.1% among 124 patients.",
        },
        "number_rival",
    ),
]


@pytest.mark.parametrize(("claim", "evidence", "kind", "code", "values", "disproved"), VERDICTS)
def test_a_verdict_says_what_is_wrong(
    claim: str, evidence: Evidence, kind: str, code: str, values: dict[str, str], disproved: str
) -> None:
    verdict = verify(claim, [evidence])
    assert (verdict.kind, verdict.code) == (kind, code)
    assert {**verdict.values} == values
    judged = disproof(claim, *lay_out([evidence]))
    assert (judged.code if judged else "") == disproved


ERRORS = [
    ("Error: it failed", True),
    ("Traceback (most recent call last)", True),
    ("A search for cures of cancer in old men and their sons failed", False),
    ("could not find any information", True),
    ("未能找到信息", True),
    ("검색이 실패했다", True),
]


@pytest.mark.parametrize(("text", "is_error"), ERRORS)
def test_an_error_of_the_research_is_told_from_a_sentence_about_failure(text: str, is_error: bool) -> None:
    assert is_error_text(text) == is_error


@pytest.mark.parametrize(
    ("claim", "passages", "kind"),
    [
        ("The H100 has 80 GB on the board.", ["Memory of the H100", "80 GB are on the board"], "supported"),
        ("The board holds 20 chips of 80 GB.", ["The board holds 20", "chips of 80 GB"], "supported"),
        ("The survey of Kiel Bay took 14 days.", ["Survey of Kiel Bay", "It took 12 days"], "unverified"),
    ],
)
def test_passages_that_end_without_a_full_stop_are_taken_together(claim: str, passages: list[str], kind: str) -> None:
    assert verify(claim, [Evidence(text) for text in passages]).kind == kind


def test_a_whole_sentence_of_the_evidence_is_verbatim_and_two_are() -> None:
    text = "The board has 80 GB. It was sold in 2023."
    assert verify("The board has 80 GB.", [Evidence(text)]) == VERBATIM
    assert verify(text, [Evidence("Else."), Evidence(text)]) == VERBATIM
    assert verify("The board has 80 GB", [Evidence("Yes, the board has 80 GB of it.")]) != VERBATIM
