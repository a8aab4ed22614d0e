"""A watched report: refreshed when it is due, told where something changed, silent where nothing did."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deep_research import api
from deep_research.stores.open_stores import open_runs
from tests.cli.terminal import Said, told
from tests.runs.running import Ran, engines, run

QUESTION = "Compare the Alpha engine and the Beta engine"


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return run(QUESTION, home=tmp_path / "home", docs=[engines(tmp_path / "docs")], workflow="quick")


def watch(ran: Ran, *flags: str) -> Said:
    return told("watch", ran.report.run_id, "--once", *flags, env={"DEEP_RESEARCH_HOME": str(ran.home)})


def change_the_documents(ran: Ran) -> None:
    note = ran.home.parent / "docs" / "beta.md"
    note.write_text(note.read_text("utf-8").replace("recommended for trucks", "recommended for 97 buses"), "utf-8")


def test_what_changed_is_told_once_and_the_newest_refresh_is_refreshed_next(ran: Ran) -> None:
    wrong = watch(ran, "--now", "--every", "soon")
    assert (wrong.code, "is no length of time" in wrong.err) == (2, True)
    assert len(api.list_runs(home=ran.home)) == 1  # nothing was researched
    change_the_documents(ran)
    first = watch(ran, "--now")
    assert first.code == 0, first.err
    assert "97 buses" in first.out
    refreshed = api.newest_refresh(ran.report.run_id, home=ran.home)
    again = watch(ran, "--every", "1d")
    assert (again.code, "Not due yet" in again.err) == (0, True)
    second = watch(ran, "--now")
    assert second.code == 0, second.err
    assert "nothing changed" in second.out
    assert api.newest_refresh(ran.report.run_id, home=ran.home).record.parent == refreshed.id
    assert len(api.list_runs(home=ran.home)) == 3


def test_an_interrupted_refresh_is_carried_on(ran: Ran) -> None:
    begun = asyncio.run(api.open_run(ran.report.run_id, home=ran.home).refresh())
    done = watch(ran, "--every", "1y")
    assert done.code == 0, done.err
    assert begun.has_report
    assert len(api.list_runs(home=ran.home)) == 2


def test_a_refresh_that_fails_is_carried_on_until_the_next_is_due(ran: Ran) -> None:
    docs, away = ran.home.parent / "docs", ran.home.parent / "away"
    lost = asyncio.run(api.open_run(ran.report.run_id, home=ran.home).refresh())
    docs.rename(away)
    for _ in range(2):
        assert watch(ran, "--every", "1d").code == 1
    assert len(api.list_runs(home=ran.home)) == 2
    before = (datetime.now(UTC) - timedelta(days=2)).isoformat(timespec="seconds")
    for store in (ran.folder, open_runs(ran.home).store(lost.id)):
        store.save(store.load().model_copy(update={"created": before}))
    away.rename(docs)
    done = watch(ran, "--every", "1d")
    assert done.code == 0, done.err
    assert not lost.has_report
    assert api.newest_refresh(ran.report.run_id, home=ran.home).has_report
    assert len(api.list_runs(home=ran.home)) == 3
