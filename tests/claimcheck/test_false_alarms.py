"""True statements that a check by code must not refuse: ways of writing, markup, titles, dates and values by value."""

import pytest

from claimcheck.claim_verdicts import Evidence, disproof, lay_out, verify
from claimcheck.text.error_text import is_error_text
from tests.verification.kit import flagged

CREATED = "PEP: 751\nCreated: 16-Jul-2020\nStatus: Final"

# A claim, a passage, and what its source or heading is called.
TRUE = {
    "a version at the beginning of a clause": (
        "Python 3.15 adds lazy imports.",
        "New in this release. In Python 3.15, it adds lazy imports to the language.",
        "",
    ),
    "a number between colons": (
        "PEP 793 introduces a new entry point for modules.",
        "As :pep:793: explains, it introduces a new entry point for modules.",
        "",
    ),
    "a name from the title": (
        "PEP 703 was accepted in 2023 by the council.",
        "This PEP was accepted by the council in 2023.",
        "PEP 703 – Making the Global Interpreter Lock Optional",
    ),
    "a name after a title of respect": ("Dr. Okafor led the trial.", "The trial was led by Dr. Okafor.", ""),
}


@pytest.mark.parametrize("case", TRUE)
def test_a_true_statement_stands(case: str) -> None:
    claim, passage, about = TRUE[case]
    assert verify(claim, [Evidence(passage, about)]).kind == "supported"


# The same values, in two ways of writing or two languages.
SAME_VALUE = [
    ("PEP 751 was created on 16 July 2020.", CREATED),
    ("PEP 751は2020年7月16日に作成された。", CREATED),
    ("全長は320キロメートルである。", "It is 320 km long."),
]


@pytest.mark.parametrize(("claim", "passage"), SAME_VALUE)
def test_dates_numbers_and_units_are_compared_by_value(claim: str, passage: str) -> None:
    assert flagged(claim, [Evidence(passage)]) is None
    assert disproof(claim, *lay_out([Evidence(passage)])) is None


OTHER_VALUE = [
    ("PEP 751 was created on 17 July 2020.", CREATED),
    ("PEP 793 introduces a new entry point.", "As :pep:`794` explains, it introduces a new entry point."),
    ("The change was made for Python 3.13.", "Python-Version: 3.14\nThe change was made for this version."),
    ("Dr. Sanders led the trial.", "The trial was led by Dr. Okafor."),
]


@pytest.mark.parametrize(("claim", "passage"), OTHER_VALUE)
def test_another_value_is_still_refused(claim: str, passage: str) -> None:
    assert flagged(claim, [Evidence(passage)]) is not None


ERRORS = "A connection from another address is refused with an error. Passing `loop=` to the function raises an error since 3.10."


@pytest.mark.parametrize(
    ("text", "is_failure"),
    [
        ("Error: passing `loop=` to the function, since 3.10.", False),
        ("The connection from another address was refused.", False),
        # half of its words
        ("Error: the page of the function could not be read.", True),
        ("No documents were found about the connection.", True),
    ],
)
def test_an_error_that_the_passage_speaks_of_is_a_subject_and_one_of_the_research_is_not(
    text: str, is_failure: bool
) -> None:
    assert is_error_text(text)
    assert is_error_text(text, [ERRORS]) is is_failure


def test_a_number_whose_unit_stands_elsewhere_in_the_sentence_is_no_contradiction() -> None:
    told = Evidence("Promotion waits for the number of seconds named by its second argument, whose default is 60.")
    assert verify("Promotion waits for 60 seconds.", [told]).code == "number_unit"
    assert verify("Promotion waits for 90 seconds.", [told]).code == "number_missing"


@pytest.mark.parametrize(
    ("evidence", "is_failure"),
    [("The COMMIT command will fail while a read connection is open.", False), ("COMMIT ends a transaction.", True)],
)
def test_what_fails_may_be_told_in_another_language_than_the_passage(evidence: str, is_failure: bool) -> None:
    assert is_error_text("`COMMIT` 可能因别的连接在读而失败。", [evidence]) is is_failure


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The server keeps a log; its size is told in section 3.", "The server keeps a log of a certain size."),
        ("저장소를 줄인다(제2절 참조).", "저장소를 줄인다."),
        ("The page “Porting to the new server” advises a backup.", "It advises a backup."),
    ],
)
def test_a_pointer_to_another_section_and_the_title_of_the_source_are_no_figure_and_no_quotation(
    claim: str, passage: str
) -> None:
    assert flagged(claim, [Evidence(passage, "Porting to the new server")]) is None


def test_a_title_in_its_marks_that_a_source_goes_by_is_for_a_judge() -> None:
    evidence = Evidence("本教程已被重写为另外的 Debian 维护者指导文档，请使用新的教程。", "附录 A")
    assert flagged("本教程已重写为《Debian 维护者指南》。", [evidence]) is None
    assert flagged("本教程已重写为 Fedora 的指导文档。", [evidence]) is not None


@pytest.mark.parametrize(
    ("claim", "passage", "is_refused"),
    [
        (
            "常见许可证 GPL 1 至 3 应指向目录。",
            "The GNU GPL (versions 1, 2, or 3) should refer to the directory.",
            False,
        ),
        ("常见许可证 GPL 4 应指向目录。", "The GNU GPL (versions 1, 2, or 3) should refer to the directory.", True),
        ("文件是 `a_version-rev_source.changes`。", "两个文件：\n'a_version-rev’_*source.changes* 用于上传。", False),
    ],
)
def test_a_number_of_a_version_and_a_name_with_markup_inside_are_found(
    claim: str, passage: str, *, is_refused: bool
) -> None:
    assert (flagged(claim, [Evidence(passage)]) is not None) is is_refused
