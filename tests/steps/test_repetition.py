"""What two sections say with the same words stands in one of them."""

import pytest

from deep_research.data import Claim, Section, Verdict
from deep_research.report.deduplicate import without_named_repeats, without_repetition
from deep_research.verification.drafts import parse_draft

SAID = "The Alpha engine turns at 3,000 rpm and runs without oil. [s1p1]"
SUPPORTED = Verdict(kind="supported", reason="verbatim in the passage")


def _claims(*sections: Section) -> dict[str, list[Claim]]:
    return {
        section.title: [
            Claim(id=f"{section.title}{n}", section=section.title, text=s.text, passages=s.passages, verdict=SUPPORTED)
            for n, s in enumerate(parse_draft(section.content).sentences)
        ]
        for section in sections
    }


def _sections(other: str) -> tuple[Section, Section]:
    more = "Boats use it in summer. [s2p1] Its price fell in 2010. [s2p2] Rolf Maier drew it. [s2p3]"
    return (
        Section(title="Overview", content=f"{SAID} {more}", key_findings=(SAID,)),
        Section(title="Alpha engine", content=f"{other} It was built in Graz. [s1p2] It is red. [s1p3]"),
    )


def test_a_sentence_that_two_sections_say_stays_where_it_belongs() -> None:
    overview, alpha = _sections("Without oil the Alpha engine runs, and turns at 3,000 rpm. [s1p4]")
    (first, second), claims = without_repetition([overview, alpha], _claims(overview, alpha))
    assert "3,000 rpm" not in first.content
    assert first.content.startswith("Boats use it in summer. [s2p1]")
    assert first.key_findings == ("Boats use it in summer. [s2p1]",)
    assert second == alpha
    assert len(claims["Overview"]) == 3
    assert len(claims["Alpha engine"]) == 3


def test_what_differs_in_figure_name_negation_or_source_is_no_repetition() -> None:
    for other in (
        "The Alpha engine turns at 3,500 rpm and runs without oil. [s1p1]",
        "The Beta engine turns at 3,000 rpm and runs without oil. [s1p1]",
        "The Alpha engine does not turn at 3,000 rpm and runs without oil. [s1p1]",
        "The Alpha engine turns at 3,000 rpm and runs without oil. [s9p1]",
    ):
        sections = _sections(other)
        assert without_repetition(sections, _claims(*sections)) == (list(sections), _claims(*sections))


def test_a_section_keeps_two_sentences() -> None:
    short = Section(title="Overview", content=f"{SAID} Boats use it. [s2p1]")
    alpha = Section(title="Alpha engine", content=f"{SAID} It was built in Graz. [s1p2] It is red. [s1p3]")
    (first, second), _ = without_repetition([short, alpha], _claims(short, alpha))
    assert (first, second) == (short, alpha)


def _named_repeats(overview: str, alpha: str, *repeats: str) -> tuple[tuple[str, str], list[tuple[str, str]]]:
    sections = (Section(title="Overview", content=overview), Section(title="Alpha engine", content=alpha))
    claims = [claim for group in _claims(*sections).values() for claim in group]
    shorter, left = without_named_repeats(sections, claims, repeats)
    return (shorter[0].content, shorter[1].content), [(claim.section, claim.text) for claim in left]


OVERVIEW = "Boats use it in summer. [s2p1] It needs no oil and turns fast. [s1p1] Its price fell in 2010. [s2p2]"
ALPHA = "The Alpha engine runs dry at 3,000 rpm. [s1p1] It was built in Graz. [s1p2] It is red. [s1p3]"


def test_a_sentence_that_the_composer_names_as_told_elsewhere_goes_with_its_claim() -> None:
    (overview, alpha), left = _named_repeats(OVERVIEW, ALPHA, "It needs no oil and turns fast.")
    assert overview == "Boats use it in summer. [s2p1] Its price fell in 2010. [s2p2]"
    assert alpha == ALPHA
    assert ("Overview", "It needs no oil and turns fast.") not in left
    assert len(left) == 5


@pytest.mark.parametrize(
    ("overview", "repeat"),
    [
        (OVERVIEW, "Its price fell in 2010."),  # no other section rests on that source
        (OVERVIEW, "It needs no oil."),  # not a sentence of the text
        (
            OVERVIEW.replace("It needs", "1. It needs").replace(" 1.", "\n\n1."),
            "It needs no oil and turns fast. [s1p1]",
        ),
        ("It needs no oil and turns fast. [s1p1] Boats use it. [s2p1]", "It needs no oil and turns fast."),
    ],
    ids=["only place", "not there", "a step", "too little left"],
)
def test_what_a_reader_would_miss_stays_although_it_is_named(overview: str, repeat: str) -> None:
    (first, second), left = _named_repeats(overview, ALPHA, repeat)
    assert "It needs no oil and turns fast." in first
    assert "Its price fell in 2010." in first or "2010" not in overview
    assert second == ALPHA
    assert len(left) == len(parse_draft(overview).sentences) + 3


@pytest.mark.parametrize(
    ("told", "stays"),
    [("The price of the Alpha engine is not in the sources.", False), ("Who built the Beta pump is not told.", True)],
)
def test_what_was_not_found_is_said_once(told: str, stays: bool) -> None:
    said = "The price of the Alpha engine is not in the sources read."
    sections = (
        Section(title="Overview", content=OVERVIEW),
        Section(title="Alpha engine", content=f"{ALPHA} {said} [open]"),
    )
    _overview, alpha = without_named_repeats(sections, [], (), [told])[0]
    assert (said in alpha.content) == stays
