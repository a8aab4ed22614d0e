"""A watched report: refreshed when it is due, told where something changed, silent where nothing did."""

import asyncio
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deep_research import api
from deep_research.stores.open_stores import open_runs
from tests.runs.running import Ran, engines, run

QUESTION = "Compare the Alpha engine and the Beta engine"


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return run(QUESTION, home=tmp_path / "home", docs=[engines(tmp_path / "docs")])


def watch(ran: Ran, *flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.defpath, "DEEP_RESEARCH_HOME": str(ran.home), "LANG": "C.UTF-8", **variables}
    line = [sys.executable, "-m", "deep_research", "watch", ran.report.run_id, "--once", *flags]
    return subprocess.run(line, check=False, capture_output=True, text=True, timeout=100, env=environment)


def change_the_documents(ran: Ran) -> None:
    note = ran.home.parent / "docs" / "beta.md"
    note.write_text(note.read_text("utf-8").replace("recommended for trucks", "recommended for 97 buses"), "utf-8")


def test_what_changed_is_told_once_and_the_newest_refresh_is_refreshed_next(ran: Ran) -> None:
    change_the_documents(ran)
    first = watch(ran, "--now")
    assert first.returncode == 0, first.stderr
    assert "97 buses" in first.stdout
    refreshed = api.newest_refresh(ran.report.run_id, home=ran.home)
    again = watch(ran, "--every", "1d")
    assert (again.returncode, "Not due yet" in again.stderr) == (0, True)
    second = watch(ran, "--now")
    assert second.returncode == 0, second.stderr
    assert "nothing changed" in second.stdout
    assert api.newest_refresh(ran.report.run_id, home=ran.home).record.parent == refreshed.id
    assert len(api.list_runs(home=ran.home)) == 3


def test_a_wrong_length_of_time_is_said_before_anything_is_researched(ran: Ran) -> None:
    done = watch(ran, "--now", "--every", "soon")
    assert (done.returncode, "is no length of time" in done.stderr) == (2, True)
    assert len(api.list_runs(home=ran.home)) == 1


def test_an_interrupted_refresh_is_carried_on(ran: Ran) -> None:
    begun = asyncio.run(api.open_run(ran.report.run_id, home=ran.home).refresh())
    done = watch(ran, "--every", "1y")
    assert done.returncode == 0, done.stderr
    assert begun.has_report
    assert len(api.list_runs(home=ran.home)) == 2


def test_a_refresh_that_fails_is_carried_on_until_the_next_is_due(ran: Ran) -> None:
    docs, away = ran.home.parent / "docs", ran.home.parent / "away"
    lost = asyncio.run(api.open_run(ran.report.run_id, home=ran.home).refresh())
    docs.rename(away)
    for _ in range(2):
        assert watch(ran, "--every", "1d").returncode == 1
    assert len(api.list_runs(home=ran.home)) == 2
    before = (datetime.now(UTC) - timedelta(days=2)).isoformat(timespec="seconds")
    for store in (ran.folder, open_runs(ran.home).store(lost.id)):
        store.save(store.load().model_copy(update={"created": before}))
    away.rename(docs)
    done = watch(ran, "--every", "1d")
    assert done.returncode == 0, done.stderr
    assert not lost.has_report
    assert api.newest_refresh(ran.report.run_id, home=ran.home).has_report
    assert len(api.list_runs(home=ran.home)) == 3
