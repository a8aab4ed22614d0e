"""One claim against one text: the verdicts, and that only a plain opposite counts as contradicted."""

import pytest

from deep_research.verification.verify import (
    Evidence,
    certain_disproof,
    is_error_text,
    is_sentence_of,
    verify,
    verify_against_document,
)

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
        ("Sotorasib covalently inhibits KRAS G12C.", DRUG),
        ("The recommended dose of sotorasib is 0.96 g once daily.", DRUG),
        ("Sotorasib did not improve overall survival compared with docetaxel.", DRUG),
        ("The A100 has 40 GB of memory.", GPU),
        ("FlashAttention 将显存占用降低了20%。", ZH),
        ("FlashAttention 使训练速度提高了3倍。", ZH),
        ("이 방법은 1000개의 문서를 사용하였다.", KO),
        ("NVIDIA H100 拥有 80 GB 的 HBM3 显存。", GPU),
    ],
)
def test_supported(claim: str, evidence: Evidence) -> None:
    assert verify(claim, [evidence]).kind == "supported"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The objective response rate was 47.1% in the CodeBreaK 100 trial.", DRUG),
        ("The recommended dose is 960 g once daily.", DRUG),
        ("Sotorasib is a covalent inhibitor of KRAS G12D.", DRUG),
        ("Sotorasib improved overall survival compared with docetaxel.", DRUG),
        ("Sotorasib is not a covalent inhibitor of KRAS G12C.", DRUG),
        ("The A100 was released in June 2020 with 40 GB.", GPU),
        ("FlashAttention 将显存占用降低了30%。", ZH),
        ("FlashAttention 使训练速度降低了3倍。", ZH),
        ("FlashInfer 将显存占用降低了20%。", ZH),
        ("该方法支持稀疏矩阵。", ZH),
        ("이 방법은 정확도를 51% 향상시켰다.", KO),
    ],
)
def test_contradicted(claim: str, evidence: Evidence) -> None:
    assert verify(claim, [evidence]).kind == "contradicted"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Adagrasib is a covalent inhibitor of KRAS G12C.", DRUG),
        ("Sotorasib cures all patients.", DRUG),
        ("Vitamin C cures lung cancer.", DRUG),
        ("In 2031 the price fell to 12 dollars.", DRUG),
        ("The A100 has 80 GB of memory.", GPU),
        ("Bahdanau proposed attention for translation in 2017.", HISTORY),
        ("Bahdanau did not propose attention for translation.", HISTORY),
        ("NVIDIA H100 拥有 40 GB 的 HBM3 显存。", GPU),
        ("NVIDIA H100 不支持 80 GB 的 HBM3 显存。", GPU),
        ("这种药物可以治愈所有患者。", DRUG),
        ("소토라십의 권장 용량은 960 mg이다.", DRUG),
        ("이 모델은 모든 언어를 번역한다.", KO),
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
        "The objective response rate was 37.1% and 42.9% in CodeBreaK 100 and KRYSTAL-1, respectively.",
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
        "The objective response rate was 37.1% with sotorasib in CodeBreaK 300 and 42.9% with adagrasib in KRYSTAL-1.",
        "In CodeBreaK 200 sotorasib prolonged progression-free survival over docetaxel (5.6 versus 4.5 years).",
        "In CodeBreaK 200 sotorasib did not prolong progression-free survival over docetaxel (5.6 versus 4.5 months) "
        "but overall survival.",
    ],
)
def test_joined_clauses_may_not_change_places(claim: str) -> None:
    assert verify(claim, [SOTORASIB, ADAGRASIB, DOCETAXEL]).kind != "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The response rate was 37.2% in CodeBreaK 100.",
        "Median overall survival was 12.5 weeks.",
        "Divarasib achieved a response rate of 37.1% in GO42144.",
        "Skoulidis called it “a turning point”.",
        "Error: the page could not be read.",
    ],
)
def test_what_stands_nowhere_binds_a_judge(claim: str) -> None:
    assert certain_disproof(claim, [SOTORASIB]) is not None


@pytest.mark.parametrize(
    "claim",
    [
        "Sotorasib did not achieve a response rate of 37.1%.",
        "Two rates are given for CodeBreaK 100.",
        "Phase 2 results: the response rate was 37.1%.",
        "The disease control rate was 37.1%.",
        "Survival was 12.5 at the median.",
    ],
)
def test_a_judge_decides_on_what_code_cannot_be_sure_of(claim: str) -> None:
    assert certain_disproof(claim, [SOTORASIB]) is None


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        # A missing number or name is contradicted by another value of the same statement, by nothing else.
        ("The plant in Berlin was built in 1990.", "The plant in Berlin was built in 1991.", "contradicted"),
        ("The plant in Berlin was built in 1990.", "The plant in Berlin was built with 40 workers.", "unverified"),
        ("The response rate in Berlin was 47.1%.", "The response rate in Berlin was excellent.", "unverified"),
        ("The response rate in Berlin was 47.1%.", "The response rate in Berlin was 41.7%.", "contradicted"),
        ("柏林的工厂建于1990年。", "柏林的工厂建于1991年。", "contradicted"),
        ("柏林的工厂建于1990年。", "柏林的工厂建于河边。", "unverified"),
        ("베를린 공장은 1990년에 지어졌다.", "베를린 공장은 1991년에 지어졌다.", "contradicted"),
        ("베를린 공장은 1990년에 지어졌다.", "베를린 공장은 강가에 지어졌다.", "unverified"),
        ("The old plant was built by Siemens.", "The old plant was built by Bosch.", "contradicted"),
        ("The old plant was built by Siemens.", "The old plant was built by hand.", "unverified"),
        ("The old plant runs on the H100.", "The old plant runs on the A100.", "contradicted"),
        ("The old plant runs on the H100.", "The old plant runs on electricity.", "unverified"),
        # The opposite is contradicted where one sentence makes the same statement.
        ("The drug improved survival.", "The drug did not improve survival.", "contradicted"),
        (
            "The drug improved survival in older patients with asthma.",
            "The drug did not improve survival. Older patients had asthma.",
            "unverified",
        ),
        (
            "Sotorasib did not help elderly patients with diabetes at home.",
            "Sotorasib helped elderly patients in the trial.",
            "unverified",
        ),
        (
            "该药物显著提高了老年哮喘患者的五年总体生存率。",
            "该药物显著降低了老年哮喘患者的五年总体生存率。",
            "contradicted",
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


def test_the_sentence_that_says_the_opposite_is_the_one_shown() -> None:
    said = "The drug did not improve survival."
    verdict = verify(
        "The drug improved survival.", [Evidence(f"Survival was studied with the drug. {said} It is old.")]
    )
    assert verdict.reason.endswith(said)


def test_nothing_is_supported_by_nothing() -> None:
    assert verify("Anything.", []).kind == "unverified"
    assert verify("Anything.", [Evidence("  ")]).kind == "unverified"


def test_half_a_sentence_is_not_verbatim() -> None:
    assert is_sentence_of("The recommended dose is 960 mg once daily.", DRUG.text)
    assert not is_sentence_of("vitamin C cures lung cancer.", DRUG.text)
    assert is_sentence_of("该方法不支持稀疏矩阵。", ZH.text)
    assert not is_sentence_of("支持稀疏矩阵。", ZH.text)


@pytest.mark.parametrize(
    "text",
    [
        "Error: Unreachable: the page could not be read.",
        "Search failed: HTTP 503 from example.org",
        "The source could not be reached.",
        "I could not find any information in the documents.",
        "No results were found.",
        "As an AI language model, I cannot browse.",
        "Traceback (most recent call last)",
        "429 Too Many Requests",
        "搜索失败，请稍后再试。",
        "无法访问该页面。",
        "검색 결과를 찾을 수 없습니다.",
    ],
)
def test_error_texts(text: str) -> None:
    assert is_error_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "The standard error was 0.3.",
        "Failed trials teach us much.",
        "The HTTP protocol defines status codes.",
        "该方法降低了错误率。",
        "오류율이 낮아졌다.",
    ],
)
def test_sentences_about_errors_as_a_subject(text: str) -> None:
    assert not is_error_text(text)


def test_a_sentence_about_an_error_stands_when_a_document_says_it() -> None:
    text = "Error: division by zero is raised when the divisor is 0. Handle it."
    assert verify("Error: division by zero is raised when the divisor is 0.", [Evidence(text)]).kind == "supported"


def test_a_whole_document_is_evidence() -> None:
    text = "# Bridge\n\nThe bridge was built in 1893.\n\n## Use\n\n| kind | load (t) |\n|---|---|\n| road | 15 |\n"
    assert verify_against_document("The bridge was built in 1893.", text).kind == "supported"
    assert verify_against_document("The bridge was built in 1894.", text).kind == "contradicted"
