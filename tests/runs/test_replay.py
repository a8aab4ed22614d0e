"""A finished run gives the same report again, from its journal alone: no server and no source is asked."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from deep_research.api import Run, list_runs, read_bundle
from deep_research.data import Asked, Report
from deep_research.errors import ConfigError, ReplayDiffers
from deep_research.runs.replay import replay_run
from deep_research.runs.research_run import create_run
from deep_research.settings import Settings
from tests.model.harness import PLAN, QUESTION, failing, research, served
from tests.runs.running import Ran, engines, go_on, run
from tests.support.scripted_researcher import ScriptedResearcher, step_of


def _again(ran: Ran) -> Report:
    return asyncio.run(replay_run(ran.folder, ran.home))


def _same(one: Report, other: Report) -> bool:
    """Whether two reports say the same; what the clock has measured may differ."""
    return one.model_copy(update={"ledger": other.ledger}) == other


def _bundle(ran: Ran) -> Path:
    Run(ran.folder, ran.home).write_bundle(bundle := ran.home.parent / "run.zip")
    return bundle


def _files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))}


def test_a_run_without_a_model_gives_the_same_report_without_its_documents(tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    ran = run("Which kinds of engines are there?", home=tmp_path / "home", docs=[docs], workflow="supervisor")
    asyncio.run(Run(ran.folder, ran.home).follow_up("Who built the Beta engine?"))  # what came after is no part of it
    for note in docs.iterdir():
        note.unlink()
    before = _files(ran.folder.path)
    assert _same(_again(ran), ran.report)
    assert _files(ran.folder.path) == before


@pytest.mark.parametrize("settings", [{"workflow": "loop"}, {"workflow": "supervisor"}, {"depth": "deep"}])
def test_a_run_with_a_model_gives_the_same_report_without_server_and_key_also_on_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4, retry=["Beta engine"])
    with served(monkeypatch, researcher) as provider:
        ran = research(tmp_path, **settings)
        asked = len(provider.calls)
        monkeypatch.delenv("OPENAI_COMPATIBLE_BASE_URL")
        monkeypatch.delenv("OPENAI_COMPATIBLE_API_KEY")
        assert _same(_again(ran), ran.report)
        there = read_bundle(_bundle(ran), home=tmp_path / "elsewhere")
        assert there.report is not None
        assert (_same(there.report, ran.report), there.id) == (True, ran.folder.run_id)
        assert _same(asyncio.run(there.replay()), ran.report)
        assert len(provider.calls) == asked
    cited = next(iter(ran.report.passages))
    assert there.read_passage(cited).passage.text == ran.report.passages[cited].text
    second = read_bundle(_bundle(ran), home=tmp_path / "elsewhere")
    assert second.id != there.id
    assert asyncio.run(second.replay()).report == ran.report.report


def test_a_call_that_failed_fails_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = failing(
        ScriptedResearcher(sections=PLAN, sentences=4), "overloaded", where=lambda r: step_of(r) == "review"
    )
    with served(monkeypatch, script):
        ran = research(tmp_path)
    assert any("review" in gap.what.lower() or "review" in gap.why.lower() for gap in ran.report.gaps), ran.report.gaps
    assert _same(_again(ran), ran.report)


def test_the_first_call_that_the_run_did_not_make_ends_the_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch):
        ran = research(tmp_path)
    with sqlite3.connect(ran.folder.journal) as database:
        (gone,) = database.execute("SELECT key FROM calls WHERE kind = 'model' ORDER BY at LIMIT 1 OFFSET 5").fetchone()
        database.execute("DELETE FROM calls WHERE key = ?", (gone,))
    database.close()
    with pytest.raises(ReplayDiffers, match="made no 'model' call like this one"):
        _again(ran)


def test_the_answers_of_the_user_are_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def answer(asked: Asked) -> str:
        said.append(asked.question)
        return "yes"

    with served(monkeypatch):
        docs = engines(tmp_path / "docs")
        settings = Settings(confirm_plan=True, model_provider="compatible", model_name="scripted")
        ran = Ran(create_run(QUESTION, settings, home=tmp_path / "home", docs=[str(docs)]), tmp_path / "home")
        go_on(ran, answer=answer)
    assert said
    assert _same(_again(ran), ran.report)


def test_a_report_that_names_its_documents_replays_from_a_bundle(tmp_path: Path) -> None:
    ran = run("甲型发动机的转速是多少？", home=tmp_path / "home", docs=[engines(tmp_path / "docs")])
    assert not ran.report.answered
    assert str(tmp_path / "docs") in ran.report.report
    bundle = _bundle(ran)
    assert _same(asyncio.run(read_bundle(bundle, home=tmp_path / "elsewhere").replay()), ran.report)


def test_a_bundle_that_was_changed_is_refused(tmp_path: Path) -> None:
    ran = run("Which kinds of engines are there?", home=tmp_path / "home", docs=[engines(tmp_path / "docs")])
    good, bad = _bundle(ran), tmp_path / "bad.zip"
    for member in ("calls.jsonl", "result.json", next(n for n in ZipFile(good).namelist() if n.startswith("texts/"))):
        with ZipFile(good) as source, ZipFile(bad, "w") as target:
            for name in source.namelist():
                data = source.read(name)
                target.writestr(name, data.replace(b"rpm", b"mph") + b" " if name == member else data)
        with pytest.raises(ConfigError, match=r"changed|damaged"):
            read_bundle(bad, home=tmp_path / "elsewhere")
    bad.write_bytes(b"no archive")
    with pytest.raises(ConfigError, match="no bundle"):
        read_bundle(bad, home=tmp_path / "elsewhere")
    assert not list_runs(home=tmp_path / "elsewhere")
