"""What two sections say with the same words stands in one of them."""

from deep_research.data import Claim, Section, Verdict
from deep_research.report.deduplicate import without_repetition
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


def test_what_stands_before_a_repetition_keeps_its_citation() -> None:
    quoted = "The Beta engine has a tank. The Alpha engine turns at 3,000 rpm and runs without oil. [s1p1]"
    overview = Section(title="Overview", content=f"{quoted}\n\nBoats use it in summer. [s2p1]")
    alpha = Section(title="Alpha engine", content=f"{SAID} It was built in Graz. [s1p2] It is red. [s1p3]")
    (first, _), claims = without_repetition([overview, alpha], _claims(overview, alpha))
    assert first.content == "The Beta engine has a tank. [s1p1]\n\nBoats use it in summer. [s2p1]"
    assert len(claims["Overview"]) == 2


def test_a_stretch_cited_once_at_its_end_is_a_repetition_as_a_whole() -> None:
    quoted = "The Alpha engine is quiet at night in the town. The Alpha engine turns at 3,000 rpm and runs without oil. [s1p1]"
    overview = Section(
        title="Overview", content=f"{quoted}\n\nBoats use it in summer. [s2p1] Rolf Maier drew it. [s2p3]"
    )
    alpha = Section(title="Alpha engine", content=f"{quoted} It was built in Graz. [s1p2] It is red. [s1p3]")
    told = _claims(overview, alpha)
    told = {
        title: [c if c.passages else c.model_copy(update={"passages": ("s1p1",)}) for c in cs]
        for title, cs in told.items()
    }
    (first, second), claims = without_repetition([overview, alpha], told)
    assert first.content == "Boats use it in summer. [s2p1] Rolf Maier drew it. [s2p3]"
    assert second == alpha
    assert len(claims["Overview"]) == 2
