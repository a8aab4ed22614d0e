"""Invariants of every finished run: its report can be checked by anyone who has the result and the library."""

from deep_research.data import Report
from deep_research.events import ReportReady, RunStarted
from deep_research.stores.event_log import read_events
from tests.runs.running import Ran
from tests.runs.soundness import assert_sound


def test_every_citation_and_passage_resolves(bundled: Ran) -> None:
    assert bundled.report.answered
    assert_sound(bundled.report, bundled.folder)


def test_the_saved_result_is_the_returned_one(bundled: Ran) -> None:
    saved = bundled.folder.load_result()
    assert saved == bundled.report
    assert Report.model_validate_json(saved.model_dump_json()) == saved
    assert bundled.folder.report.read_text("utf-8") == saved.report


def test_events_are_numbered_timed_and_kept(bundled: Ran) -> None:
    kept = read_events(bundled.folder.events)
    assert kept == bundled.events
    assert [event.number for event in kept] == list(range(1, len(kept) + 1))
    assert [event.seconds for event in kept] == sorted(event.seconds for event in kept)
    assert isinstance(kept[0], RunStarted)
    assert isinstance(kept[-1], ReportReady)
