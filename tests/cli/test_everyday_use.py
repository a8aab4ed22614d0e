"""Small things of every day: runs that died, narrow terminals, poor consoles, signs that mean something elsewhere."""

import json
import os
from pathlib import Path

import docx
import pexpect
import pytest
from lxml import html
from rich.cells import cell_len

from deep_research import api
from deep_research.settings import Settings
from deep_research.stores.run_folder import FolderRuns
from tests.cli.terminal import COMMAND, call, told
from tests.runs.running import engines


def test_a_run_whose_process_died_is_shown_as_stopped(tmp_path: Path) -> None:
    docs = [engines(tmp_path / "docs")]
    run = api.start_run("What weighs the Beta engine?", Settings(model_provider="finder"), docs=docs)
    assert f"{run.id}  stopped" in told("list").out
    assert told("list", "--json").json[0]["status"] == "stopped"
    shown = told("show", run.id, "--json")
    assert shown.code == 1
    assert json.loads(shown.out)["status"] == "stopped"
    assert told("list", "--status", "finished", "--json").json == []
    assert "finished" in told("list", "--status", "finished").out


def test_runs_that_begin_in_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    runs = FolderRuns(tmp_path)
    assert len({runs.new_id() for _ in range(1000)}) == 1000


def test_settings_as_json_by_group() -> None:
    shown = told("settings", "--json").json
    assert shown["Limits"]["budget_usd"] == {
        "value": None,
        "meaning": Settings.model_fields["budget_usd"].description,
        "variable": "DEEP_RESEARCH_BUDGET_USD",
    }
    assert set(told("settings", "limits", "--json").json) == {"Limits"}


@pytest.mark.process
def test_help_fits_the_terminal() -> None:
    # GNU readline tells the children of this process the size of its own terminal.
    env = {"PATH": os.environ["PATH"]}  # noqa: TID251 - not COLUMNS
    said = pexpect.run(f"{COMMAND} research --help", dimensions=(200, 40), timeout=30, env=env)
    rows = said.decode().split("\r\n")
    assert max(map(cell_len, rows)) <= 40
    assert any(row.strip().startswith("130 ") for row in rows)


def test_a_console_without_the_signs_of_a_text_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "文件"
    folder.mkdir()
    (folder / "押金.md").write_text("# 押金\n\n押金为三个月租金 😀。\n", "utf-8")
    plain, windows = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "cp1252"}
    asked = call("ask", "押金是多少？ 😀", "--docs", str(folder), "--json", env=plain)
    assert (asked.code, asked.json["question"]) == (0, "押金是多少？ 😀")
    assert "押金为三个月租金" in asked.json["report"]
    for console, arguments in (
        (plain, ["list"]),
        (windows, ["show", asked.json["run_id"]]),
        (windows, ["delete", "押金"]),
    ):
        said = call(*arguments, env=console)
        assert (said.code, "Traceback" in said.err) == (2 if arguments[0] == "delete" else 0, False)


def test_a_star_that_stands_in_a_source_stands_in_every_export(tmp_path: Path) -> None:
    said = "The pattern of logs is *.log or *.txt*, of `*args` and __init__ it is 2*3*4, and of a_b_c 5* of 5*."
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "flags.txt").write_text(f"FLAGS\n\n{said}\n", "utf-8")
    told("What is the pattern of logs?", "--docs", str(tmp_path / "docs"), "-p", "finder", "--quiet")
    run = told("list", "--json").json[0]["run_id"]
    for name in ("html", "docx"):
        assert told("export", run, "--to", name, "--out", str(tmp_path / name)).code == 0
    page = html.fromstring((tmp_path / "html").read_bytes())
    shown = said.replace("`", "")
    assert sum(shown in part.text_content() for part in page.xpath("//main/p | //ol[@class='references']")) == 2
    assert any(shown in p.text for p in docx.Document(str(tmp_path / "docx")).paragraphs)
