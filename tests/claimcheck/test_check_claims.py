"""A hostile reasoner tries to break the promises: no citation without a passage, no claim that is not judged."""

import asyncio
from collections.abc import Sequence

import pytest

from deep_research.data import Claim, Document, Found, Verdict
from deep_research.errors import ProviderDown
from deep_research.ports import Library
from deep_research.steps.check_claims import Checked, Judge, Rewrite, check_claim, check_draft, note_draft
from deep_research.steps.check_sentences import PENDING
from deep_research.stores.sqlite_library import SqliteLibrary

DOCUMENTS = {
    "s1": "# Sotorasib in lung cancer\n\nSotorasib is a covalent inhibitor of KRAS G12C. In the CodeBreaK 100 trial the "
    "objective response rate was 37.1% among 124 patients. The recommended dose is 960 mg once daily. It did not "
    "improve overall survival compared with docetaxel. Skoulidis called it “a turning point for targeted therapy”.",
    "s2": "# GPU memory\n\nThe NVIDIA H100 has 80 GB of HBM3 memory. The A100 was released in May 2020 with 40 GB of memory. "
    "PagedAttention reduces memory waste of the KV cache to under 4%.",
    "s3": "# 注意力机制\n\nTransformer 模型于2017年由谷歌提出。FlashAttention 将显存占用降低了百分之二十，并使训练速度提高3倍。",
    "s4": "# 검색 증강 생성\n\n이 방법은 정확도를 15% 향상시켰으며 1천 개의 문서를 사용하였다. 이 모델은 이미지를 지원하지 않는다.",
}


@pytest.fixture
def library() -> SqliteLibrary:
    made = SqliteLibrary(":memory:")
    for key, text in DOCUMENTS.items():
        source = made.add_source(Found(key=key, title=text.split("\n")[0][2:], origin="test"))
        made.add_snapshot(source.id, Document(text=text), retrieved_at="2026-01-01T00:00:00Z")
    return made


def check(draft: str, library: Library, *, judge: Judge | None = None, rewrite: Rewrite | None = None) -> Checked:
    return asyncio.run(check_draft(draft, section="S", library=library, judge=judge, rewrite=rewrite))


def only(checked: Checked) -> Claim:
    (claim,) = checked.claims
    return claim


def test_a_verbatim_sentence_stands_as_it_is(library: SqliteLibrary) -> None:
    draft = "Sotorasib is a covalent inhibitor of KRAS G12C. [s1p1]"
    checked = check(draft, library)
    assert checked.content == draft
    assert only(checked).stands
    assert only(checked).section == "S"


@pytest.mark.parametrize(
    "draft",
    [
        "The objective response rate in CodeBreaK 100 was 73.1%. [s1p1]",
        "The recommended dose is 960 g once daily. [s1p1]",
        "The recommended dose is 960 mg twice in 30 days. [s1p1]",
        "Sotorasib is a covalent inhibitor of KRAS G12D. [s1p1]",
        "Adagrasib is a covalent inhibitor of KRAS G12C. [s1p1]",
        "Skoulidis called it “the end of targeted therapy”. [s1p1]",
        "Sotorasib improved overall survival compared with docetaxel. [s1p1]",
        "Sotorasib is not a covalent inhibitor of KRAS G12C. [s1p1]",
        "PagedAttention increases memory waste of the KV cache to under 4%. [s2p1]",
        "The A100 has 80 GB of memory. [s2p1]",
        "Sotorasib cures all cancers. [s1p1][s2p1]",
        "Sotorasib cures all cancers.",
        "Sotorasib cures all cancers. [s77p1]",
        "Sotorasib cures all cancers. [https://example.org/proof] [1]",
        "Search failed: HTTP 503 from example.org. [s1p1]",
        "No documents were found about KRAS G12C. [s1p1]",
        "Error: Unreachable: the page of Sotorasib could not be read. [s1p1]",
        "- Sotorasib cures all cancers. [s1p1]",
        "| Drug | Effect |\n|---|---|\n| Sotorasib | cures all cancers [s1p1] |",
        "| Sotorasib cures all cancers |\n|---|\n| Sotorasib cures all cancers |",
        "```\nSotorasib cures all cancers.\n```\n[s1p1]",
        "FlashAttention 将显存占用降低了30%。[s3p1]",
        "FlashAttention 使训练速度降低了3倍。[s3p1]",
        "FlashInfer 将显存占用降低了20%。[s3p1]",
        "Transformer 模型于2018年由谷歌提出。[s3p1]",
        "이 방법은 정확도를 51% 향상시켰다. [s4p1]",
        "이 방법은 1천만 개의 문서를 사용하였다. [s4p1]",
        "이 모델은 이미지를 지원한다. [s4p1]",
        "索托拉西布可以治愈所有癌症。[s1p1]",
        "NVIDIA H100 拥有 40 GB 的 HBM3 显存。[s2p1]",
    ],
)
def test_a_false_sentence_is_cut_and_listed(draft: str, library: SqliteLibrary) -> None:
    checked = check(draft, library)
    assert checked.content == ""
    assert checked.claims
    assert not any(claim.stands for claim in checked.claims)
    assert all(claim.verdict.reason for claim in checked.claims)


@pytest.mark.parametrize(
    ("draft", "right"),
    [
        ("The H100 has 80 GB of HBM3 memory. [s1p1]", "s2p1"),
        ("The H100 has 80 GB of HBM3 memory. [s99p9]", "s2p1"),
        ("The H100 has 80 GB of HBM3 memory.", "s2p1"),
        ("The H100 has 80 GB of HBM3 memory. [s2]", "s2p1"),
        ("The H100 has 80 GB of HBM3 memory. [3]", "s2p1"),
        ("Transformer 模型于2017年由谷歌提出。[s4p1]", "s3p1"),
        ("이 방법은 1000개의 문서를 사용하였다. [s1p1]", "s4p1"),
    ],
)
def test_a_wrong_citation_is_repaired(draft: str, right: str, library: SqliteLibrary) -> None:
    checked = check(draft, library)
    assert only(checked).stands
    assert only(checked).passages == (right,)
    assert checked.content.endswith(f" [{right}]")


def test_a_citation_that_adds_nothing_is_taken_out(library: SqliteLibrary) -> None:
    checked = check("The H100 has 80 GB of HBM3 memory. [s1p1][s2p1]", library)
    assert only(checked).passages == ("s2p1",)


def test_true_sentences_stay_when_false_ones_go(library: SqliteLibrary) -> None:
    draft = (
        "## Drug\n\nSotorasib covalently inhibits KRAS G12C [s1p1]. It cures all cancers [s1p1].\n\n"
        "## Myths\n\n- It heals everything. [s1p1]\n\n"
        "| GPU | Memory |\n|---|---|\n| H100 | 80 GB [s2p1] |\n| A100 | 80 GB [s2p1] |"
    )
    checked = check(draft, library)
    assert checked.content == (
        "## Drug\n\nSotorasib covalently inhibits KRAS G12C. [s1p1]\n\n"
        "## Myths\n\n| GPU | Memory |\n| --- | --- |\n| H100 | 80 GB [s2p1] |"
    )
    assert [c.stands for c in checked.claims] == [True, False, False, True, False]


@pytest.mark.parametrize("draft", ["", "  \n\n", "# Only a heading", "[s1p1]", "---"])
def test_an_empty_draft_has_no_content_and_no_claims(draft: str, library: SqliteLibrary) -> None:
    assert check(draft, library) == Checked("", (), ())


def test_claim_ids_are_unique_and_the_same_each_time(library: SqliteLibrary) -> None:
    draft = "It works. It works. Sotorasib is a covalent inhibitor of KRAS G12C. [s1p1]"
    first, second = check(draft, library), check(draft, library)
    assert [c.id for c in first.claims] == [c.id for c in second.claims]
    assert len({c.id for c in first.claims}) == 3


def test_content_cites_only_passages_that_exist(library: SqliteLibrary) -> None:
    draft = "Sotorasib covalently inhibits KRAS G12C [s1p1, s42p7] [12](https://a.b/c), https://x.y/z [4]."
    checked = check(draft, library)
    assert checked.content == "Sotorasib covalently inhibits KRAS G12C. [s1p1]"


PARAPHRASE = "Sotorasib covalently inhibits KRAS G12C. [s1p1]"


def judging(*kinds: str) -> Judge:
    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        return [Verdict(kind=kind, reason="judged") for kind, _ in zip(kinds, claims, strict=False)]  # type: ignore[arg-type]

    return judge


async def failing(_claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
    raise ProviderDown("no answer")


def test_the_judge_has_the_last_word_on_paraphrases(library: SqliteLibrary) -> None:
    assert check(PARAPHRASE, library, judge=judging("contradicted")).content == ""
    assert check(PARAPHRASE, library, judge=judging("supported")).content == PARAPHRASE
    assert check("The drug binds the mutant protein for good. [s1p1]", library, judge=judging("supported")).content


@pytest.mark.parametrize(
    "draft",
    ["The recommended dose is 960 g once daily. [s1p1]", "Skoulidis called it “the end”. [s1p1]", "Nothing cites. "],
)
def test_the_judge_cannot_overrule_the_code(draft: str, library: SqliteLibrary) -> None:
    assert check(draft, library, judge=judging("supported")).content == ""


@pytest.mark.parametrize(
    "draft",
    [
        "Sotorasib improved overall survival compared with docetaxel. [s1p1]",  # the passage negates it
        "The A100 has 80 GB of memory. [s2p1]",  # the 80 GB are those of the H100
    ],
)
def test_the_judge_overrules_what_code_only_suspects(draft: str, library: SqliteLibrary) -> None:
    assert check(draft, library).content == ""
    assert check(draft, library, judge=judging("supported")).content == draft
    assert check(draft, library, judge=judging("contradicted")).content == ""


TABLE = "| Phase 2 results | Severe disease |\n| --- | --- |\n| Sotorasib | 37.1% [s1p1] |"


def test_the_judge_sees_a_table_cell_with_its_row_and_column(library: SqliteLibrary) -> None:
    seen: list[str] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        seen.extend(claim.text for claim in claims)
        return [Verdict(kind="supported", reason="judged") for _ in claims]

    checked = check(TABLE, library, judge=judge)
    assert seen == ["Sotorasib Severe disease: 37.1%"]
    assert checked.content == TABLE
    assert only(checked).text == seen[0]


def test_a_table_cell_whose_number_is_wrong_binds_the_judge(library: SqliteLibrary) -> None:
    assert check(TABLE.replace("37.1", "73.1"), library, judge=judging("supported")).content == ""


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("索托拉西布是一种共价抑制剂，不能延长总生存期。", True),
        ("索托拉西布的推荐剂量为 960 mg。", True),
        ("索托拉西布的推荐剂量为 690 mg。", False),
        ("“治愈一切癌症”是一种共价抑制剂的特点。", False),
        ("KRAS G12D 是索托拉西布的靶点。", False),
        ("Sotorasib improved overall survival compared with docetaxel.", False),
    ],
)
def test_a_rewrite_of_the_judge_stands_where_nothing_disproves_it(
    text: str, stands: bool, library: SqliteLibrary
) -> None:
    async def rewrite(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        return [text for _ in claims]

    draft = "索托拉西布可以治愈所有癌症。 [s1p1]"
    checked = check(draft, library, judge=judging("contradicted"), rewrite=rewrite)
    assert checked.content == (f"{text} [s1p1]" if stands else "")
    assert not stands or "judge" in only(checked).verdict.reason
    assert check(draft, library, rewrite=rewrite).content == ""


def test_a_failed_judge_means_unverified_never_contradicted(library: SqliteLibrary) -> None:
    verbatim = "The recommended dose is 960 mg once daily. [s1p1]"
    checked = check(f"{verbatim} {PARAPHRASE}", library, judge=failing)
    assert [c.verdict.kind for c in checked.claims] == ["supported", "unverified"]
    assert checked.content == f"{verbatim} {PARAPHRASE}"
    assert [(g.what, g.why) for g in checked.failures] == [("judge", "no answer")]


def test_a_judge_that_answers_for_too_few_claims_has_failed(library: SqliteLibrary) -> None:
    checked = check(PARAPHRASE, library, judge=judging())
    assert only(checked).verdict.kind == "unverified"
    assert checked.failures


def test_a_rewrite_goes_through_the_same_checks(library: SqliteLibrary) -> None:
    async def honest(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        assert [c.passages for c in claims] == [("s1p1",)]
        return ["Sotorasib did not improve overall survival."]

    async def lying(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        return ["Sotorasib cures all cancers."] * len(claims)

    async def broken(_claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        raise ProviderDown("no answer")

    draft = "Sotorasib cures all patients. [s1p1]"
    assert check(draft, library, rewrite=honest).content == "Sotorasib did not improve overall survival. [s1p1]"
    assert check(draft, library, rewrite=lying).content == ""
    failed = check(draft, library, rewrite=broken)
    assert failed.content == ""
    assert [g.what for g in failed.failures] == ["rewrite"]


def test_one_claim_against_one_text() -> None:
    text = DOCUMENTS["s1"]
    assert check_claim("The recommended dose is 960 mg once daily.", text).kind == "supported"
    assert check_claim("The recommended dose is 960 g once daily.", text).kind == "contradicted"
    assert check_claim("Bananas are yellow.", text).kind == "unverified"
    assert check_claim("", text).kind == "unverified"
    assert check_claim("Bananas are yellow.", "").kind == "unverified"


def test_what_a_judge_has_settled_across_languages_stands_without_being_judged_again(library: SqliteLibrary) -> None:
    text = "索托拉西布的推荐剂量为每日一次。"
    claim = Claim(
        id="c1", section="S", text=text, passages=("s1p1",), verdict=Verdict(kind="supported", reason="", by_model=True)
    )
    asked: list[str] = []

    async def judge(claims: Sequence[Claim], library: Library) -> list[Verdict]:
        asked.extend(c.text for c in claims)
        return [Verdict(kind="unverified", reason="no") for _ in claims]

    async def rewrite(claims: Sequence[Claim], library: Library) -> list[str]:
        asked.extend(c.text for c in claims)
        return ["" for _ in claims]

    draft = f"{text} [s1p1]"
    checked = asyncio.run(
        check_draft(draft, section="", library=library, judge=judge, rewrite=rewrite, settled=[claim])
    )
    assert checked.content == draft
    assert asked == []


def test_names_with_underscores_stay_whole_in_what_a_cell_is_about(library: SqliteLibrary) -> None:
    checked = check("| Setting | Dose |\n|---|---|\n| max_daily_dose | 960 mg [s1p1] |", library)
    assert only(checked).text == "max_daily_dose Dose: 960 mg"


def test_a_statement_says_how_it_was_repaired(library: SqliteLibrary) -> None:
    moved = check("The H100 has 80 GB of HBM3 memory. [s1p1]", library)
    assert (only(moved).repair, only(moved).passages) == ("passage", ("s2p1",))

    async def rewrite(claims: Sequence[Claim], library: Library) -> list[str]:
        return ["The recommended dose is 960 mg once daily." for _ in claims]

    reworded = check("The recommended dose is 960 g once daily. [s1p1]", library, rewrite=rewrite)
    assert only(reworded).repair == "rewritten"
    assert only(check("Sotorasib is a covalent inhibitor of KRAS G12C. [s1p1]", library)).repair == ""


def shelf(**texts: str) -> SqliteLibrary:
    """Return a library of these texts, in this order."""
    made = SqliteLibrary(":memory:")
    for title, text in texts.items():
        source = made.add_source(Found(key=title, title=title, origin="test"))
        made.add_snapshot(source.id, Document(text=text), retrieved_at="2026-01-01T00:00:00Z")
    return made


SPREAD = "In CodeBreaK 100 the covalent inhibitor sotorasib had an objective response rate of 37.1%."


def test_a_claim_that_only_several_sentences_carry_needs_a_citation_of_its_author(library: SqliteLibrary) -> None:
    assert check(f"{SPREAD} [s1p1]", library).content == f"{SPREAD} [s1p1]"
    assert check(SPREAD, library).content == "", "no citation is made up for it"
    assert only(check(f"{SPREAD} [s2p1]", library)).passages == ("s2p1",), "nor is a wrong one exchanged"


def test_a_claim_that_only_several_sentences_carry_may_have_the_citation_of_its_neighbour(
    library: SqliteLibrary,
) -> None:
    follows = "It did not improve overall survival compared with docetaxel. [s1p1]"
    checked = check(f"{SPREAD} {follows}", library)
    assert checked.content == f"{SPREAD} [s1p1] {follows}"
    assert [claim.repair for claim in checked.claims] == ["passage", ""]


def test_a_neighbour_whose_passage_does_not_support_is_passed_over(library: SqliteLibrary) -> None:
    checked = check("The H100 has 80 GB of HBM3 memory. It did not improve overall survival. [s1p1]", library)
    assert [claim.passages for claim in checked.claims] == [("s2p1",), ("s1p1",)]
    assert all(claim.stands for claim in checked.claims)


def test_what_the_cited_passage_denies_is_not_moved_to_a_passage_that_says_it() -> None:
    library = shelf(
        Trial="The drug did not improve overall survival compared with docetaxel.",
        Blog="The drug improved overall survival compared with docetaxel.",
    )
    claim = "The drug improved the overall survival compared with docetaxel."
    assert only(check(f"{claim} [s2p1]", library)).stands
    denied = only(check(f"{claim} [s1p1]", library))
    assert (denied.verdict.kind, denied.passages) == ("contradicted", ("s1p1",))


def rewriting(text: str) -> Rewrite:
    async def rewrite(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        return [text for _ in claims]

    return rewrite


TRUE = "Sotorasib is a covalent inhibitor of KRAS G12C."


@pytest.mark.parametrize("text", [f"{TRUE} The recommended dose is 960 mg once daily.", "", "   ", "# Heading"])
def test_a_rewrite_that_is_not_one_sentence_is_refused(text: str, library: SqliteLibrary) -> None:
    checked = check("Sotorasib cures all patients. [s1p1]", library, rewrite=rewriting(text))
    assert checked.content == ""
    assert only(checked).text == "Sotorasib cures all patients."


@pytest.mark.parametrize(
    "draft",
    [
        f"{TRUE} [s1p1] Sotorasib cures all patients. [s1p1]",
        "It heals all. [s1p1] Sotorasib cures all patients. [s1p1]",
    ],
)
def test_a_rewrite_says_nothing_that_another_sentence_says(draft: str, library: SqliteLibrary) -> None:
    checked = check(draft, library, rewrite=rewriting(TRUE))
    assert checked.content == f"{TRUE} [s1p1]"
    assert [claim.stands for claim in checked.claims] == [True, False]


# --- What is asked of a judge and of a rewriter, and when ------------------------------------------------------

UNSURE = "Sotorasib covalently inhibits KRAS G12C."
VERBATIM = "The recommended dose is 960 mg once daily."
CERTAIN = "The recommended dose is 690 mg once daily."


class Asked:
    """A judge and a rewriter that remember the claims they were given."""

    def __init__(self, kind: str = "supported", text: str = "") -> None:
        self.judged: list[list[str]] = []
        self.rewritten: list[list[str]] = []
        self._kind, self._text = kind, text

    async def judge(self, claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        self.judged.append([claim.text for claim in claims])
        return [Verdict(kind=self._kind, reason="judged") for _ in claims]  # type: ignore[arg-type]

    async def rewrite(self, claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        self.rewritten.append([claim.text for claim in claims])
        return [self._text for _ in claims]


@pytest.mark.parametrize(
    ("draft", "judged", "rewritten"),
    [
        (f"{VERBATIM} [s1p1]", [], []),
        ("Sotorasib cures all patients.", [], []),
        (f"{UNSURE} [s1p1]", [[UNSURE]], []),
        (f"{CERTAIN} [s1p1]", [], [[CERTAIN]]),
        (
            f"{VERBATIM} [s1p1] {UNSURE} [s1p1] {CERTAIN} [s1p1] It heals.",
            [[UNSURE, CERTAIN, "It heals."]],
            [[CERTAIN]],
        ),
        ("```\nSotorasib covalently inhibits KRAS G12C.\n```\n[s1p1]", [], [[f"```\n{UNSURE}\n```"]]),
    ],
)
def test_a_judge_gets_what_code_cannot_settle_and_a_rewriter_what_failed(
    draft: str, judged: list[list[str]], rewritten: list[list[str]], library: SqliteLibrary
) -> None:
    asked = Asked()
    check(draft, library, judge=asked.judge, rewrite=asked.rewrite)
    assert (asked.judged, asked.rewritten) == (judged, rewritten)


def test_without_a_rewriter_a_judge_sees_nothing_that_code_refused(library: SqliteLibrary) -> None:
    asked = Asked()
    check(f"{UNSURE} [s1p1] {CERTAIN} [s1p1]", library, judge=asked.judge)
    assert asked.judged == [[UNSURE]]


def test_a_judge_cannot_save_what_it_is_only_shown(library: SqliteLibrary) -> None:
    asked = Asked("supported", "")
    checked = check(f"{UNSURE} [s1p1] {CERTAIN} [s1p1]", library, judge=asked.judge, rewrite=asked.rewrite)
    assert [claim.verdict.reason == "judged" for claim in checked.claims] == [True, False]
    assert checked.content == f"{UNSURE} [s1p1]"


def test_what_the_judge_refused_is_rewritten(library: SqliteLibrary) -> None:
    asked = Asked("contradicted", VERBATIM)
    checked = check(f"{UNSURE} [s1p1]", library, judge=asked.judge, rewrite=asked.rewrite)
    assert asked.rewritten == [[UNSURE]]
    assert checked.content == f"{VERBATIM} [s1p1]"


def test_a_rewrite_that_code_supports_needs_no_word_of_the_judge(library: SqliteLibrary) -> None:
    asked = Asked("contradicted", VERBATIM)
    checked = check(f"{UNSURE} [s1p1]", library, judge=asked.judge, rewrite=asked.rewrite)
    assert (checked.content, only(checked).verdict.by_model) == (f"{VERBATIM} [s1p1]", False)
    assert only(checked).verdict.reason == "verbatim in the passage"


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("In these patients the drug was given at a dose of 960 mg, daily, by mouth.", True),  # too few shared words
        ("In these patients the drug was not given at a dose of 960 mg, by mouth.", True),
        ("In these patients the drug was given at a dose of 690 mg, daily, by mouth.", False),
        ("Sotorasib improved overall survival compared with docetaxel.", False),
        ("```\nThe dose is recommended once daily by mouth.\n```", False),
    ],
)
def test_in_the_language_of_the_passage_the_judge_words_what_code_does_not_deny(
    text: str, stands: bool, library: SqliteLibrary
) -> None:
    asked = Asked("contradicted", text)
    checked = check("The drug binds its target for good. [s1p1]", library, judge=asked.judge, rewrite=asked.rewrite)
    assert checked.content == (f"{text} [s1p1]" if stands else "")
    if stands:
        assert only(checked).verdict.by_model
    else:
        assert only(checked).text == "The drug binds its target for good."


def test_a_rewriter_that_answers_for_too_few_claims_changes_only_those(library: SqliteLibrary) -> None:
    async def rewrite(_claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        return [VERBATIM]

    checked = check("It heals all. [s1p1] Sotorasib cures all patients. [s1p1]", library, rewrite=rewrite)
    assert checked.content == f"{VERBATIM} [s1p1]"
    assert checked.failures == ()


def test_a_refused_rewrite_leaves_the_claim_as_it_was(library: SqliteLibrary) -> None:
    checked = check("It heals all. [s1p1]", library, rewrite=rewriting("Sotorasib cures all cancers."))
    assert (only(checked).text, only(checked).repair) == ("It heals all.", "")


def test_a_judge_that_answers_for_too_few_says_so_of_the_claims_it_had(library: SqliteLibrary) -> None:
    checked = check(f"{UNSURE} [s1p1] {CERTAIN} [s1p1]", library, judge=judging())
    assert [gap.what for gap in checked.failures] == ["judge"]
    kinds = [(claim.verdict.kind, claim.verdict.codes[:1]) for claim in checked.claims]
    assert kinds == [("unverified", ("not_judged",)), ("contradicted", ("number_rival",))]
    assert checked.claims[0].verdict.score is not None
    assert checked.content == f"{UNSURE} [s1p1]"


def test_a_repaired_citation_that_the_judge_refuses_is_no_repair(library: SqliteLibrary) -> None:
    draft = "The H100 has 80 GB of HBM3 memory. [s1p1]"
    refused = only(check(draft, library, judge=judging("unverified")))
    assert (refused.stands, refused.repair) == (False, "")


def test_only_what_stood_is_settled(library: SqliteLibrary) -> None:
    verdict = Verdict(kind="unverified", reason="no")
    claim = Claim(id="c1", section="S", text=UNSURE, passages=("s1p1",), verdict=verdict)
    asked = Asked()
    draft = f"{UNSURE} [s1p1]"
    asyncio.run(check_draft(draft, section="", library=library, judge=asked.judge, settled=[claim]))
    assert asked.judged == [[UNSURE]]


def test_a_settled_statement_in_a_table_keeps_its_own_text(library: SqliteLibrary) -> None:
    verdict = Verdict(kind="supported", reason="judged before")
    claim = Claim(id="c1", section="S", text="37.1%", passages=("s1p1",), verdict=verdict)
    checked = asyncio.run(check_draft(TABLE, section="", library=library, settled=[claim]))
    assert (only(checked).text, only(checked).verdict) == ("37.1%", verdict)


# --- Which passage a sentence is given -------------------------------------------------------------------------

RIVER = "The river floods the valley each spring."


@pytest.mark.parametrize(
    ("texts", "draft", "passages"),
    [
        # A citation that holds stays, also where another passage says the same.
        ([RIVER, RIVER + " It is long."], "Each spring the river floods the valley. [s2p1]", ("s2p1",)),
        ([RIVER, RIVER + " It is long."], "Each spring the river floods the valley. [s1p1]", ("s1p1",)),
        # A source that is named comes before the others.
        ([RIVER, "It is long. " + RIVER], "Each spring the river floods the valley. [s2]", ("s2p1",)),
        ([RIVER, "It is long. " + RIVER], "Each spring the river floods the valley. [s1]", ("s1p1",)),
        # Too few words in common: another passage may carry it.
        (["The river is long and crosses the valley.", RIVER], "Each spring the river floods the valley. [s1p1]", ("s2p1",)),
        # Another value there is no opposite.
        (["The bridge was built in 1893.", "The old bridge was built in 1894."], "The bridge was built in 1894. [s1p1]", ("s2p1",)),
    ],
)  # fmt: skip
def test_the_citation_of_a_true_sentence(texts: list[str], draft: str, passages: tuple[str, ...]) -> None:
    library = shelf(**{f"Note {number}": text for number, text in enumerate(texts)})
    assert only(check(draft, library)).passages == passages
    assert only(check(draft, library)).stands


def test_an_error_text_is_given_no_citation_where_a_document_says_it() -> None:
    said = "Error: division by zero is raised when the divisor is 0."
    library = shelf(Manual=f"{said} Handle it.", Other="Numbers are divided.")
    assert check(f"{said} [s1p1]", library).content == f"{said} [s1p1]"
    assert check(said, library).content == ""
    assert check(f"{said} [s2p1]", library).content == ""


@pytest.mark.parametrize(
    ("draft", "codes", "ids"),
    [
        ("Sotorasib cures.", ("uncited",), ""),
        ("Sotorasib cures. [s77p1]", ("unknown_passage",), "s77p1"),
        ("Sotorasib cures. [s77p1][s78p2]", ("unknown_passage",), "s77p1, s78p2"),
    ],
)
def test_a_claim_without_a_known_passage_says_which_are_unknown(
    draft: str, codes: tuple[str, ...], ids: str, library: SqliteLibrary
) -> None:
    claim = only(check(draft, library))
    assert claim.verdict.codes == codes
    assert claim.passages == ()
    assert ids in claim.verdict.reason


def test_a_verbatim_sentence_keeps_the_numbers_and_addresses_it_has() -> None:
    said = "See page [12] of https://example.org/manual for the default limit."
    library = shelf(Manual=f"{said} It is long.", Other="The default limit is in the manual, see page 12.")
    checked = check(f"{said} [s2p1][s1p1]", library)
    assert only(checked).text == said
    assert only(checked).passages == ("s1p1",)
    assert only(check("See page [13] for the default limit. [s1p1]", library)).text == "See page for the default limit."


def test_several_citations_stay_where_only_together_they_carry_the_claim() -> None:
    library = shelf(
        One="Sotorasib achieved an objective response rate of 37.1% in CodeBreaK 100.",
        Two="Adagrasib achieved an objective response rate of 42.9% in KRYSTAL-1.",
    )
    claim = "The objective response rate was 37.1% with sotorasib and 42.9% with adagrasib. [s1p1][s2p1]"
    assert check(claim, library).content == claim


def test_a_claim_that_fails_keeps_all_that_it_cites() -> None:
    library = shelf(
        Yes="The drug improved overall survival in older patients.",
        No="The drug did not improve overall survival in older patients. It was dear.",
    )
    claim = only(check("In older patients, overall survival was improved by the drug. [s1p1][s2p1]", library))
    assert (claim.stands, claim.passages) == (False, ("s1p1", "s2p1"))


def test_the_title_and_the_headings_of_a_passage_name_what_it_is_about() -> None:
    text = "# Sotorasib\n\n## CodeBreaK 100\n\nThe objective response rate was 37.1% among 124 patients."
    library = shelf(**{"Notes on Lumakras": text})
    draft = "{} has an objective response rate of 37.1% among 124 patients. [s1p1]"
    for name in ("Lumakras", "CodeBreaK 100"):
        assert check(f"In {draft.format(name)}", library).content, name
    assert not check(f"In {draft.format('Krazati')}", library).content


# --- Tables and code -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("| Adagrasib | 960 mg once daily [s1p1] |", "unverified"),  # only its row is not in the passage
        ("| Adagrasib | The recommended dose is 690 mg once daily [s1p1] |", "unverified"),
        ("| Sotorasib | The recommended dose is 690 mg once daily [s1p1] |", "contradicted"),
        ("| Sotorasib | 960 mg once daily [s1p1] |", "supported"),
    ],
)
def test_a_cell_is_contradicted_by_its_own_text_alone(row: str, kind: str, library: SqliteLibrary) -> None:
    claim = only(check(f"| Drug | The recommended dose |\n|---|---|\n{row}", library))
    assert claim.verdict.kind == kind


def test_code_stands_where_it_is_verbatim_and_nowhere_else() -> None:
    code = "```\nraise ValueError when the divisor is zero\n```"
    library = shelf(Manual=f"# Division\n\n{code}\n\nThe divisor is zero: raise ValueError then.")
    assert only(check(f"{code}\n[s1p1]", library)).stands
    loose = only(check("```\nwhen the divisor is zero raise ValueError\n```\n[s1p1]", library))
    assert (loose.stands, loose.verdict.codes) == (False, ("loose_code",))
    signs = "```\n<@ @> = &&\n```"
    assert only(check(f"{signs}\n[s1p1]", shelf(Operators=f"# Operators\n\nIt supports these:\n\n{signs}\n"))).stands


def test_what_a_judge_confirms_is_kept_and_not_asked_about_twice(library: SqliteLibrary) -> None:
    """A name that stands just before the passage: code refuses it, the judge has seen why and lets it stand."""
    asked: list[list[str]] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        asked.append([f"{claim.text} | {claim.verdict.reason}" for claim in claims])
        return [Verdict(kind="supported", reason="")] * len(claims)

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        raise AssertionError(claims)

    source = library.add_source(Found(key="s5", title="News", origin="test"))
    long = " ".join(f"Sentence {number} says a little about nothing in particular." for number in range(60))
    library.add_snapshot(
        source.id, Document(text=f"{long}\n\nAdded the TaskGroup class,\n\nwhich is advised."), retrieved_at=""
    )
    *_, last = library.passages(source.id)
    draft = f"New code is advised to use the TaskGroup class. [{last.id}]"
    checked = check(draft, library, judge=judge, rewrite=rewrite)
    assert checked.content == draft
    assert len(asked) == 1


def test_a_cell_that_the_judge_corrects_as_a_row_stays_a_cell(library: SqliteLibrary) -> None:
    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        return [Verdict(kind="unverified" if "45" in claim.text else "supported", reason="no") for claim in claims]

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        return ["H100 | 80 GB of HBM3 memory [s2p1] | released later"] * len(claims)

    draft = (
        "| Card | Memory | Released |\n|---|---|---|\n| H100 | some 45 GB of memory [s2p1] | after the A100 [s2p1] |"
    )
    checked = check(draft, library, judge=judge, rewrite=rewrite)
    assert "| H100 | 80 GB of HBM3 memory [s2p1] | after the A100 [s2p1] |" in checked.content


def test_a_conclusion_that_the_judge_words_anew_with_its_passages_stands(library: SqliteLibrary) -> None:
    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        return [Verdict(kind="unverified", reason="too wide")] * len(claims)

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        return ["→ Where memory is short, the H100 is the safer choice. [s2p1][s3p1]"] * len(claims)

    checked = check("→ The H100 is always the best choice. [s2p1]", library, judge=judge, rewrite=rewrite)
    assert checked.content == "→ Where memory is short, the H100 is the safer choice. [s2p1][s3p1]"
    assert (only(checked).repair, only(checked).passages) == ("rewritten", ("s2p1", "s3p1"))


def test_a_fact_that_the_judge_words_anew_keeps_all_that_it_rests_on(library: SqliteLibrary) -> None:
    said = "It has 80 GB of memory, the other one 40 GB. [s2p1]"
    rewrite = rewriting("The H100 has 80 GB of memory, the A100 of May 2020 has 40 GB. [s2p1][s1p1]")
    checked = check(said, library, judge=judging("unverified"), rewrite=rewrite)
    assert only(checked).passages == ("s2p1", "s1p1")


def test_a_lead_that_the_judge_lets_stand_beside_its_neighbours_gets_none_of_their_ids(library: SqliteLibrary) -> None:
    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        return [Verdict(kind="supported", reason="", by_model=True)] * len(claims)

    said = "Two cards differ most in one respect. The H100 has 80 GB of HBM3 memory. [s2p1]"
    checked = check(said, library, judge=judge)
    assert checked.content == said
    assert [claim.passages for claim in checked.claims] == [("s2p1",), ("s2p1",)]


def test_a_note_keeps_what_a_judge_may_let_stand_and_nothing_that_code_refuses(library: SqliteLibrary) -> None:
    """What stands word for word needs no judge; a figure that no passage has is cut at once; the rest is left open."""
    verbatim = "The recommended dose is 960 mg once daily."
    reworded = "In the trial somewhat more than a third of the patients responded."
    draft = f"{verbatim} [s1p1] {reworded} [s1p1] The objective response rate was 73.1%. [s1p1]"
    noted = asyncio.run(note_draft(draft, section="S", library=library))
    assert noted.content == f"{verbatim} [s1p1] {reworded} [s1p1]"
    assert [claim.verdict == PENDING for claim in noted.claims] == [False, True, False]
    assert [claim.stands for claim in noted.claims] == [True, True, False]


def test_what_is_only_noted_counts_as_judged_nowhere(library: SqliteLibrary) -> None:
    """A statement that is left open is asked about when the report is checked, though it stood in the notes."""
    said = "In the trial somewhat more than a third of the patients responded. [s1p1]"
    noted = asyncio.run(note_draft(said, section="S", library=library))
    asked = Asked()
    asyncio.run(check_draft(said, section="", library=library, judge=asked.judge, settled=noted.claims))
    assert len(asked.judged) == 1
    again = asyncio.run(note_draft(said, section="S", library=library, settled=noted.claims))
    assert only(again).verdict == PENDING
