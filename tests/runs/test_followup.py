"""Row B10: questions about a finished report, through the public functions (without a model)."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from deep_research.assembly.environment import RunEnvironment
from deep_research.data import FollowUp
from deep_research.errors import RunNotFound
from deep_research.events import Event, Searched
from deep_research.i18n.catalog import phrase
from deep_research.runs.follow_up_run import ask_follow_up
from deep_research.stores.run_folder import list_runs
from tests.model.harness import chinese, korean
from tests.runs.running import Ran, begin, engines, run, write_notes
from tests.runs.soundness import assert_sound

QUAY = (
    "# Rotterdam harbour\n\nThe Maas quay of Rotterdam is 24 metres deep. The quay was dredged in 1987 by Jan Smit.\n"
)


def ask(ran: Ran, question: str, listener: Callable[[Event], None] = lambda _event: None) -> FollowUp:
    """Ask about a run."""
    return asyncio.run(ask_follow_up(ran.folder, question, RunEnvironment(ran.home, listener=listener)))


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    """A finished run about engines, with a note beside that no search of it has found."""
    docs = write_notes(engines(tmp_path / "docs"), harbour=QUAY)
    return run("Which kinds of engines are there?", home=tmp_path / "home", docs=[docs])


def test_b10_what_the_run_has_read_answers_with_the_same_passages_and_no_search(ran: Ran) -> None:
    seen: list[Event] = []
    made = ask(ran, "Who built the Beta engine?", seen.append)
    assert made.report is not None
    assert made.found_in == "library"
    assert "Anna Holm" in made.report.report
    assert "nothing new was searched" in made.report.report
    assert set(made.report.passages) & set(ran.report.passages)
    assert_sound(made.report, ran.folder)
    assert not [event for event in seen if isinstance(event, Searched)]
    ledger = made.report.ledger
    assert (ledger.searches, ledger.fetches, ledger.model_calls) == (0, 0, 0)
    assert "Searches: 0; sources found: 0" in made.report.report


def test_b10_what_it_has_not_read_is_researched_at_its_places(ran: Ran) -> None:
    known = {passage.source for passage in ran.report.passages.values()}
    made = ask(ran, "How deep is the Maas quay of Rotterdam?")
    assert made.report is not None
    assert made.found_in == "research"
    assert "24 metres" in made.report.report
    assert "searched anew" in made.report.report
    assert {reference.source for reference in made.report.references}.isdisjoint(known)
    assert made.report.ledger.searches >= 1
    assert made.report.ledger.fetches == 1
    assert_sound(made.report, ran.folder)
    # What was found stays in the run's library: asked again, nothing is searched.
    again = ask(ran, "Who dredged the Maas quay of Rotterdam?")
    assert (again.found_in, again.number) == ("library", 2)
    assert "Jan Smit" in str(again)


def test_b10_a_pronoun_is_what_the_conversation_spoke_of(ran: Ran) -> None:
    ask(ran, "How fast is the Gamma engine?")
    made = ask(ran, "Who built it?")
    assert "Luis Prado" in str(made)
    assert made.report is not None
    assert any("Gamma" in told for told in made.report.assumptions)


@pytest.mark.parametrize(
    ("notes", "asked", "first", "second", "answer"),
    [
        (chinese, "有哪些发动机？", "甲型发动机的转速是多少？", "它由谁制造？", "李明"),
        (korean, "어떤 엔진이 있나요?", "알파 엔진은 분당 몇 회 회전하나요?", "그것은 누가 만들었나요?", "김민수"),
    ],
)
def test_b10_in_chinese_and_korean(
    tmp_path: Path, notes: Callable[[Path], Path], asked: str, first: str, second: str, answer: str
) -> None:
    ran = run(asked, home=tmp_path / "home", docs=[notes(tmp_path / "docs")])
    known = str(ask(ran, first))
    assert "3000" in known
    assert phrase("from_library", ran.report.language) in known
    assert answer in str(ask(ran, second))


def test_b10_each_is_kept_by_number_and_the_run_stays_as_it_was(ran: Ran) -> None:
    before = ran.folder.result.read_bytes()
    made = [ask(ran, "Who built the Beta engine?"), ask(ran, "Where is the Gamma engine used?")]
    assert [one.number for one in made] == [1, 2]
    assert ran.folder.read_follow_ups() == made
    assert ran.folder.result.read_bytes() == before
    assert ran.folder.load().status == "finished"
    assert (ran.folder.path / "followups" / "2.md").read_text("utf-8") == str(made[1])
    assert [record.run_id for record in list_runs(ran.home)] == [ran.folder.run_id]


def test_b10_one_that_ended_badly_is_taken_up_when_it_is_asked_again(ran: Ran) -> None:
    def broken(event: Event) -> None:
        if event.kind == "planned":
            raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError):
        ask(ran, "Who built the Beta engine?", broken)
    (left,) = ran.folder.read_follow_ups()
    assert left.status == "failed"
    made = ask(ran, "Who built the Beta engine?")
    assert (made.number, made.status, made.error) == (1, "finished", "")
    assert "Anna Holm" in str(made)


def test_b10_documents_that_are_gone_are_a_gap_and_no_crash(ran: Ran) -> None:
    for path in Path(ran.folder.load().docs[0]).glob("*.md"):
        path.unlink()
    assert "Anna Holm" in str(ask(ran, "Who built the Beta engine?"))
    made = ask(ran, "How deep is the Maas quay of Rotterdam?")
    assert made.report is not None
    assert not made.report.answered
    assert any("documents" in gap.what for gap in made.report.gaps)


def test_b10_a_run_without_a_report_cannot_be_asked(tmp_path: Path) -> None:
    started = begin("Which engines are there?", home=tmp_path / "home", docs=[engines(tmp_path / "docs")])
    with pytest.raises(RunNotFound, match="has no report yet"):
        ask(started, "Who built the Beta engine?")
