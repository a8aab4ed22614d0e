"""The opening of a report is counted in words, or in characters, with a quarter of tolerance."""

import pytest

from deep_research.verification.statements import wrong_length


@pytest.mark.parametrize(
    ("language", "unit", "least", "most"),
    [
        ("en", "word ", 75, 250),
        ("ko", "낱말 ", 75, 250),
        ("zh", "字", 75, 250),
        ("ja", "字", 75, 250),
        ("zh", "vLLM、", 75, 250),
    ],
)
def test_b8_openings_are_counted_as_their_language_is(language: str, unit: str, least: int, most: int) -> None:
    def said(count: int) -> str:
        return wrong_length(
            f"# T\n\n{unit * count}[s1p2]\n\n| a | b |\n|---|---|\n| c | d |\n\n## S\n\nBody.", language
        )

    assert [said(count) for count in (least, most)] == ["", ""]
    assert f"has {least - 1} " in said(least - 1)
    assert f"has {most + 1} " in said(most + 1)


def test_b8_a_text_without_sections_has_no_opening() -> None:
    assert wrong_length("# T\n\nIt is short.", "en") == ""
