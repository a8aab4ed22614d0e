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
from tests.model.harness import chinese
from tests.runs.running import Ran, begin, engines, run, write_notes
from tests.runs.soundness import assert_sound

QUAY = (
    "# Rotterdam harbour\n\nThe Maas quay of Rotterdam is 24 metres deep. The quay was dredged in 1987 by Jan Smit.\n"
)
CRANE = "# Antwerp crane\n\nThe Kattendijk crane of Antwerp lifts 40 tonnes. Its boom is of steel.\n"


def ask(ran: Ran, question: str, listener: Callable[[Event], None] = lambda _event: None) -> FollowUp:
    """Ask about a run."""
    return asyncio.run(ask_follow_up(ran.folder, question, RunEnvironment(ran.home, listener=listener)))


def test_b10_the_library_answers_what_it_can_and_only_else_is_researched_and_the_run_stays_as_it_was(
    tmp_path: Path,
) -> None:
    docs = write_notes(engines(tmp_path / "docs"), harbour=QUAY, crane=CRANE)  # no search of the run finds these two
    ran = run("Which kinds of engines are there?", home=tmp_path / "home", docs=[docs])
    before = ran.folder.result.read_bytes()

    seen: list[Event] = []
    built = ask(ran, "Who built the Beta engine?", seen.append)
    assert built.report is not None
    assert built.found_in == "library"
    assert "Anna Holm" in built.report.report
    assert "nothing new was searched" in built.report.report
    assert set(built.report.passages) & set(ran.report.passages)
    assert_sound(built.report, ran.folder)
    assert not [event for event in seen if isinstance(event, Searched)]
    ledger = built.report.ledger
    assert (ledger.searches, ledger.fetches, ledger.model_calls) == (0, 0, 0)
    assert "Searches: 0; sources found: 0" in built.report.report

    deep = ask(ran, "How deep is the Maas quay of Rotterdam?")
    assert deep.report is not None
    assert deep.found_in == "research"
    assert "24 metres" in deep.report.report
    assert "searched anew" in deep.report.report
    known = {passage.source for passage in ran.report.passages.values()}
    assert {reference.source for reference in deep.report.references}.isdisjoint(known)
    assert deep.report.ledger.searches >= 1
    assert deep.report.ledger.fetches == 1
    assert_sound(deep.report, ran.folder)
    # What was found stays in the run's library: asked again, nothing is searched.
    again = ask(ran, "Who dredged the Maas quay of Rotterdam?")
    assert (again.found_in, again.number) == ("library", 3)
    assert "Jan Smit" in str(again)

    assert ran.folder.read_follow_ups() == [built, deep, again]
    assert ran.folder.result.read_bytes() == before
    assert ran.folder.load().status == "finished"
    assert (ran.folder.path / "followups" / "2.md").read_text("utf-8") == str(deep)
    assert [record.run_id for record in list_runs(ran.home)] == [ran.folder.run_id]

    def broken(event: Event) -> None:
        if event.kind == "planned":
            raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError):
        ask(ran, "Where is the Gamma engine used?", broken)
    assert [one.status for one in ran.folder.read_follow_ups()] == [*["finished"] * 3, "failed"]
    made = ask(ran, "Where is the Gamma engine used?")
    assert (made.number, made.status, made.error) == (4, "finished", "")
    assert "aircraft" in str(made)

    for path in docs.glob("*.md"):
        path.unlink()
    assert "Rolf Maier" in str(ask(ran, "Who built the Alpha engine?")), "it was read"
    gone = ask(ran, "How many tonnes does the Kattendijk crane of Antwerp lift?")
    assert gone.report is not None
    assert not gone.report.answered
    assert any("documents" in gap.what for gap in gone.report.gaps)


def test_b10_a_pronoun_is_what_the_conversation_spoke_of_also_in_chinese(tmp_path: Path) -> None:
    ran = run("有哪些发动机？", home=tmp_path / "home", docs=[chinese(tmp_path / "docs")])
    known = str(ask(ran, "甲型发动机的转速是多少？"))
    assert "3000" in known
    assert phrase("from_library", "zh") in known
    made = ask(ran, "它由谁制造？")
    assert "李明" in str(made)
    assert made.report is not None
    assert any("甲型发动机" in told for told in made.report.assumptions)


def test_b10_a_run_without_a_report_cannot_be_asked(tmp_path: Path) -> None:
    started = begin("Which engines are there?", home=tmp_path / "home", docs=[engines(tmp_path / "docs")])
    with pytest.raises(RunNotFound, match="has no report yet"):
        ask(started, "Who built the Beta engine?")
