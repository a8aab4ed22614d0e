"""What of a section stands in the end: its key findings, the list of what was cut, and which attempt is kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from deep_research.report.render import render_report
from deep_research.report.report_input import CheckedReport, ReportInput

from deep_research.data import (
    Action,
    Brief,
    Claim,
    Decision,
    Document,
    Found,
    Ledger,
    Observation,
    Passage,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Section,
    SectionDraft,
    Turn,
    Verdict,
)
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.ports import Library
from deep_research.run_context.context import RunContext
from deep_research.search.source_standing import standing_of_most
from deep_research.settings import Settings
from deep_research.steps.research import write
from deep_research.steps.review import better
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.sqlite_library import SqliteLibrary

TEXT = "# Tides\n\nTides rise twice a day. The moon pulls the water. In the bay they reach 16 metres."


@pytest.fixture
def library() -> SqliteLibrary:
    made = SqliteLibrary(":memory:")
    source = made.add_source(Found(key="tides", title="Tides", origin="test"))
    made.add_snapshot(source.id, Document(text=TEXT), retrieved_at="2026-01-01T00:00:00Z")
    return made


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    made = SqliteJournal(tmp_path / "journal.db")
    yield made
    made.close()


class Writer(FinderReasoner):
    """Writes a set section, with a false sentence among the findings."""

    async def write_section(
        self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
    ) -> SectionDraft:
        return SectionDraft(
            content="Tides rise twice a day. [s1p1] The moon pulls the water. [s1p1] Tides stop in May. [s1p1]",
            key_findings=("Tides rise twice a day [s1p1].", "The moon pulls the water", "Tides stop in May. [s1p1]"),
        )


async def test_a_key_finding_stands_however_it_is_cited(library: SqliteLibrary, journal: SqliteJournal) -> None:
    events: list[Any] = []
    ctx = RunContext(
        run_id="run",
        settings=Settings.model_validate({}),
        reasoner=Writer(),
        library=library,
        journal=journal,
        places=(),
        emit=events.append,
    )
    search = Action(id="a", name="search", query="tides")
    turn = Turn(actions=(search,), observations=(Observation(action="a", passages=("s1p1",)),))
    section = Section(title="Tides", description="How tides move.")
    written = await write(ctx, section, Brief(title="Tides", objective="Tides"), [turn])
    assert written.section.key_findings == ("Tides rise twice a day. [s1p1]", "The moon pulls the water. [s1p1]")


@pytest.mark.parametrize(("brought", "shown"), [(("s2p1", "s3p1"), ("s2p1", "s3p1")), (("s1p1", "s3p1"), ("s3p1",))])
async def test_what_is_asked_for_now_is_shown_again_beside_what_is_new(
    library: SqliteLibrary, journal: SqliteJournal, brought: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    for name in ("spring tides", "neap tides"):
        source = library.add_source(Found(key=name, title=name, origin="test"))
        library.add_snapshot(source.id, Document(text=f"The {name} come twice a month."), retrieved_at="")
    seen: list[str] = []

    class Reading(Writer):
        """Keeps the ids of what it is shown."""

        async def write_section(
            self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
        ) -> SectionDraft:
            seen.extend(passage.id for passage in passages)
            return await super().write_section(section, brief, passages, library)

    ctx = RunContext(
        run_id="run",
        settings=Settings.model_validate({}),
        reasoner=Reading(),
        library=library,
        journal=journal,
        places=(),
        emit=lambda _: None,
    )
    search = Action(id="a", name="search", query="tides a month")
    turn = Turn(actions=(search,), observations=(Observation(action="a", passages=brought),))
    section = Section(
        title="Tides",
        description="How tides move.",
        content="Tides rise twice a day. [s1p1]",
        shown=("s1p1", "s2p1"),
        attempts=2,
        missing=("tides of a month",),
    )
    await write(ctx, section, Brief(title="Tides", objective="Tides"), [turn], is_note=True)
    assert tuple(sorted(seen)) == shown


def _claim(text: str, kind: str = "supported", passage: str = "s1p1") -> Claim:
    verdict = Verdict(kind=kind, reason=f"judged {kind}")  # type: ignore[arg-type]
    return Claim(id=text, section="Tides", text=text, passages=(passage,), verdict=verdict)


def _checked(sections: Sequence[Section], claims: Sequence[Claim]) -> CheckedReport:
    given = ReportInput(
        question=Question(text="How high are tides?", language="en"),
        original="How high are tides?",
        analysis=QueryAnalysis(query_type="general", output_format="prose"),
        decision=Decision(next_action="START_RESEARCH", confidence=1),
        brief=Brief(title="Tides", objective="Tides"),
        sections=tuple(sections),
        claims=tuple(claims),
    )
    return CheckedReport(given, Ledger(), ReasonerInfo(kind="model"), claims=tuple(claims))


def test_what_was_cut_is_counted_though_its_words_stand_elsewhere_and_what_was_left_is_listed(
    library: SqliteLibrary,
) -> None:
    content = (
        "In the bay they reach 16 metres. [s1p1]\n\n| Bay | Height | Sea |\n|---|---|---|\n| Fundy | 15 m [s1p1] | — |"
    )
    claims = [
        _claim("In the bay they reach 16 metres."),
        _claim("16 metres", "unverified"),
        _claim("Fundy Height: 15 m", "unverified"),
        _claim("Fundy Sea: 15 m", "unverified"),
    ]
    section = Section(title="Tides", description="How high tides are.", content=content)
    checked = _checked([section], claims)
    rendered = render_report(checked, library)
    assert "1 supported, 2 cut, 1 left unverified" in rendered.markdown
    assert "- Fundy Height: 15 m" in rendered.markdown
    assert "Fundy Sea: 15 m" not in rendered.markdown
    assert "- In the bay" not in rendered.markdown


def test_beside_what_is_our_own_the_note_tells_what_is_left_and_nothing_of_searches(library: SqliteLibrary) -> None:
    own = _claim("So come at noon.").model_copy(update={"kind": "inference"})
    bay = "In the bay they reach 16 metres."
    section = Section(title="Tides", description="How high tides are.", content=f"{bay} [s1p1] So come at noon.")
    for kind, left in (("supported", False), ("unverified", True)):
        text = render_report(_checked([section], [_claim(bay, kind), own]), library).markdown
        assert ("Left without a verdict: 1." in text) is left
        assert "searches" not in text


def test_what_most_sections_are_of_is_said_once_at_the_head(library: SqliteLibrary) -> None:
    of = {"Tides": "version 3.11.2", "Moons": "version 3.11.2", "Bays": "version 4.0.1"}
    claims = [_claim("In the bay they reach 16 metres.")]
    sections = [Section(title=t, content="They reach 16 metres. [s1p1]", as_of=state) for t, state in of.items()]
    checked = _checked(sections, claims)
    text = render_report(checked, library).markdown
    assert [text.count(version) for version in ("3.11.2", "4.0.1")] == [1, 1]
    assert text.index("3.11.2") < text.index("## Tides") < text.index("## Bays") < text.index("4.0.1")


@pytest.mark.parametrize(
    ("of", "told"),
    [
        (("2024-05-31", "2024-05-31", ""), "2024-05-31"),
        (("2024-05-31", ""), ""),
        (("2024-05-31", "2019-01-01"), ""),
        (("2024-05-31",), "2024-05-31"),
    ],
)
def test_the_date_that_the_head_tells_is_not_told_again_behind_the_sentences_of_the_report(
    of: tuple[str, ...], told: str
) -> None:
    sections = [Section(title=str(n), content="Tides rise.", as_of=state) for n, state in enumerate(of)]
    assert standing_of_most(sections) == told


def _better(old: Sequence[Claim], new: Sequence[Claim]) -> bool:
    section = Section(title="Tides", description="How tides move.", content="Some text.")
    return better(section, section, list(old), list(new))


def test_a_shorter_retry_replaces_the_section_that_was_sent_back() -> None:
    off_topic = [_claim(f"Beaches are wide, {n}.", passage=f"s{n % 2}p1") for n in range(6)]
    right = [_claim(f"Tides rise, {n}.", passage=f"s{n % 2}p2") for n in range(4)]
    assert _better(off_topic, right)
    assert _better(right, right)


def test_a_retry_that_found_next_to_nothing_does_not() -> None:
    old = [_claim(f"Tides rise, {n}.", passage=f"s{n}p1") for n in range(6)]
    assert not _better(old, old[:1])
    assert not _better(old, [_claim(f"Tides fall, {n}.", "contradicted") for n in range(9)])
    assert not _better(old, [_claim(f"Tides fall, {n}.") for n in range(9)])  # all of one source
    assert _better([_claim("Tides fall.", "unverified")], old[:1])
