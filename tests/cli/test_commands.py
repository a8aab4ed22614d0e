"""The command line from outside: what each word does, what it prints, how it ends."""

import json
import re
from pathlib import Path

import pexpect
import pytest

from deep_research.data import Report
from deep_research.settings import _NOT_SETTINGS, PREFIX, SETTING_ALIASES, Settings
from deep_research.stores.run_folder import list_runs
from tests.cli.terminal import COMMAND, Said, call, shows_no_traceback, told
from tests.conversation.screen import at_terminal
from tests.readers.pdf_files import DRAWING, make_pdf
from tests.runs.running import run, write_notes
from tests.runs.soundness import assert_citations_resolve

QUESTION = "Which kinds of engines are there?"


def test_help_names_commands_exit_codes_and_an_example(own_state: Path) -> None:
    for asked in ("--help", "help"):
        said = told(asked)
        assert said.code == 0
        for word in ("resume", "list", "show", "check", "settings", "Exit codes", "130", "--docs", "--version"):
            assert word in said.out
    assert "Usage: deep-research ask" in told("help", "ask").out
    assert told("--version").out.strip().startswith("deep-research 0.")
    assert not (own_state / "runs").exists()


def test_a_question_gives_a_report_on_standard_output_and_the_way_there_on_standard_error(
    docs: str, own_state: Path
) -> None:
    said = call("-", "--docs", docs, "--out", "-", stdin=QUESTION, module=True)
    assert said.code == 0
    assert said.out.startswith("# Which kinds of engines are there?\n")
    assert "stage: research" in said.err
    assert "3,000 rpm" in said.out
    assert str(own_state / "runs" / said.run / "report.md") in said.err


@pytest.fixture
def broken_folder(tmp_path: Path) -> str:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "a.bin").write_bytes(bytes(range(256)) * 20)
    (folder / "b.pdf").write_bytes(b"%PDF-1.7 torn")
    return str(folder)


def test_json_is_alone_on_standard_output_and_fits_the_result(docs: str, broken_folder: str, tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    said = told(QUESTION, "--docs", docs, "--docs", broken_folder, "--json", "--out", str(out))
    assert said.code == 0
    report = Report.model_validate_json(said.out)
    assert_citations_resolve(report)
    assert out.read_text("utf-8") == report.report
    assert list(json.loads(said.out)) == list(Report.model_fields)
    assert any("b.pdf" in gap.what + gap.why for gap in report.gaps)


def test_a_question_that_nothing_answers(docs: str) -> None:
    # The program's own words for sections and tables must not become searches that find something.
    write_notes(
        Path(docs), more="# Overview of the harbour\n\nAn overview of the subject: quays compare well. It rains."
    )
    said = told("Who won the chess olympiad of 1954 in Amsterdam?", "--docs", docs)
    assert said.code == 3
    assert "Nothing was found that can be shown for this question." in said.out
    assert "chess olympiad" in said.out.split("Searched for:")[1]
    assert "## References" not in said.out
    assert "rpm" not in said.out
    assert "quays" not in said.out


def test_control_characters_reach_neither_the_report_nor_the_screen(docs: str) -> None:
    said = told("How fast does the \x1b[31mAlpha\x07 engine\x01 turn?\r\n\x9b2J", "--docs", docs)
    assert said.code == 0
    assert not any(ord(c) < 32 and c != "\n" for c in said.out + said.err)
    assert "\x9b" not in said.out + said.err
    assert said.out.startswith("# How fast does the Alpha engine turn?\n")


USAGE = {
    "no question": ([], "No question was given"),
    "an empty question": (["  "], "No question was given"),
    "a question of 100,000 characters": ([("How fast does it turn? " * 5000)[:99_999] + "?"], "20,000"),
    "two questions": (["-q", "a b", "c"], "once"),
    "list mistyped": (["lst"], "deep-research list"),
    "a flag mistyped": (["--versoin"], "--version"),
    "an unknown flag": ([QUESTION, "--verbosity"], "--verbos"),
    "an unknown setting": ([QUESTION, "--set", "max_iteration=3"], "max_iterations"),
    "a setting without value": ([QUESTION, "--set", "max_iterations"], "NAME=VALUE"),
    "a setting out of range": ([QUESTION, "--set", "max_iterations=99"], "max_iterations = '99'"),
    "a flag out of range": ([QUESTION, "--max-iterations", "11"], "max_review_iterations"),
    "an unknown provider": ([QUESTION, "-p", "nobody"], "nobody"),
    "a path that does not exist": ([QUESTION, "--docs", "/nowhere/at/all"], "/nowhere/at/all"),
    "an empty path": ([QUESTION, "--docs", ""], "--docs"),
    "an empty path for an export": (["export", "x", "--to", "html", "--out", ""], "--out"),
    "empty evidence": (["check", "--claim", "x", "--evidence", ""], "--evidence"),
    "a folder for --out that does not exist": ([QUESTION, "--out", "/nowhere/x.md"], "/nowhere/x.md"),
    "a PDF for --out": ([QUESTION, "--out", "report.PDF"], "export RUN --to pdf"),
    "a web page for --out": (["ask", QUESTION, "--out", "report.html"], "export RUN --to html"),
    "a run that does not exist": (["show", "nothing"], "nothing"),
    "evidence that does not exist": (["check", "--claim", "x", "--evidence", "/nowhere"], "/nowhere"),
}


@pytest.mark.parametrize("case", sorted(USAGE))
def test_wrong_usage_is_explained_and_makes_no_run(case: str, own_state: Path) -> None:
    arguments, names = USAGE[case]
    said = told(*arguments)
    _assert_explained(said, 2, names)
    assert not (own_state / "runs").exists()


def _assert_explained(said: Said, code: int, names: str) -> None:
    assert said.code == code, said.err
    assert "Error: " in said.err
    assert names in said.err
    assert said.out == ""
    assert shows_no_traceback(said)


def test_a_setting_of_the_environment_that_is_wrong_is_named_as_such() -> None:
    unknown = told(QUESTION, env={"DEEP_RESEARCH_MAX_ITERATION": "3"})
    _assert_explained(unknown, 2, "DEEP_RESEARCH_MAX_ITERATIONS")
    outside = told(QUESTION, env={"DEEP_RESEARCH_MAX_ITERATIONS": "99"})
    _assert_explained(outside, 2, "environment")


def test_every_variable_that_the_documents_name_is_known() -> None:
    root = Path(__file__).parents[2]
    texts = [file.read_text() for file in (root / "README.md", *root.glob("docs/*.md"), *root.glob("deploy/*.*"))]
    named = {name for text in texts for name in re.findall(r"\bDEEP_RESEARCH_[A-Z_]+[A-Z]\b", text)}
    assert len(named) > 5
    known = {f"{PREFIX}{field.upper()}" for field in (*Settings.model_fields, *SETTING_ALIASES)}
    assert named - known - _NOT_SETTINGS == set()


def test_a_folder_without_a_readable_file(broken_folder: str) -> None:
    _assert_explained(told(QUESTION, "--docs", broken_folder, "--quiet"), 2, broken_folder)


@pytest.mark.parametrize("kilobytes", [16, 400])
def test_a_full_disk_ends_in_one_line(docs: str, own_state: Path, kilobytes: int) -> None:
    said = call(QUESTION, "--docs", docs, max_file_bytes=kilobytes * 1024)
    _assert_explained(said, 1, "isk")
    (kept,) = list_runs(own_state)
    assert f"deep-research resume {kept.run_id}" in said.err.splitlines()[-1]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that even root cannot write to")
@pytest.mark.parametrize("before", [[], ["ask"]])
def test_a_file_for_out_that_cannot_be_written_is_noticed_before_the_research(
    before: list[str], docs: str, own_state: Path
) -> None:
    _assert_explained(
        told(*before, QUESTION, "--docs", docs, "--quiet", "--out", "/proc/report.md"), 1, "/proc/report.md"
    )
    assert not (own_state / "runs").exists()


def test_an_earlier_file_for_out_stays_until_there_is_a_report(docs: str, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("earlier")
    told(QUESTION, "--docs", docs, "--out", str(tmp_path / "report.md"), "-p", "nobody")
    assert [path.read_text() for path in tmp_path.glob("*report*")] == ["earlier"]


@pytest.mark.parametrize("command", [QUESTION, "serve", "mcp"])
def test_where_the_state_folder_cannot_be_made_nothing_starts(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    said = told(command, env={"DEEP_RESEARCH_HOME": str(tmp_path / "file" / "home")})
    _assert_explained(said, 1, str(tmp_path / "file"))
    assert said.err.count("\n") == 1


ENCODINGS = {"utf-8-sig": "", "utf-16": "", "utf-16-le": "UTF-8", "cp1252": "UTF-8"}
"""With what is said of a file in them; "" for those that are read."""


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_files_of_users_are_read_with_their_byte_order_marks_or_say_what_to_do(encoding: str, own_state: Path) -> None:
    files = {
        "settings.toml": '# für uns\ndepth = "deep"\n',
        "templates/own.toml": 'name = "own"\npurpose = "für uns"\nwords = ["Ampère"]\nfocus = ["x"]\n',
    }
    for name, text in files.items():
        path = own_state / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(encoding))
        said = told("templates" if "/" in name else "settings")
        if ENCODINGS[encoding]:
            _assert_explained(said, 2, ENCODINGS[encoding])
            assert str(path) in said.err.replace("\n", "")
        else:
            assert (said.code, said.err) == (0, "")
            assert ("own" if "/" in name else "'deep'") in said.out
        path.unlink()


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_a_question_from_standard_input_in_any_encoding(encoding: str, docs: str) -> None:
    said = told("--docs", docs, "--quiet", stdin=f"Wie schnell ist der Motor für {QUESTION}".encode(encoding))
    if ENCODINGS[encoding]:
        _assert_explained(said, 2, ENCODINGS[encoding])
    else:
        assert said.code in (0, 4), said.err


@pytest.mark.process
def test_a_finished_run_is_listed_and_shown_without_a_pager_and_a_full_output_is_told(
    docs: str, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = run(QUESTION, home=own_state, docs=[Path(docs)])
    run_id = made.folder.run_id
    listed = told("list")
    assert run_id in listed.out
    assert "finished" in listed.out
    assert [record["run_id"] for record in told("list", "--json").json] == [run_id]
    assert told("show", run_id).out.strip() == made.report.report.strip()
    assert Report.model_validate_json(told("show", run_id[-4:], "--json").out) == made.report
    for variable, value in (("NO_PAGER", "1"), ("PAGER", "")):
        with monkeypatch.context() as patch:  # at a terminal that is too short for it
            patch.setenv(variable, value)
            said, code = pexpect.run(f"{COMMAND} show {run_id}", dimensions=(8, 80), timeout=30, withexitstatus=True)
        assert code == 0
        assert said.decode().count("\n") > 8
    with Path("/dev/full").open("wb") as full:
        unwritten = call("show", run_id, stdout=full)
    assert unwritten.code == 1
    assert "cannot write the output" in unwritten.err
    assert shows_no_traceback(unwritten)


def test_check_judges_a_claim(docs: str) -> None:
    evidence = str(Path(docs) / "alpha.md")
    right = told("check", "--claim", "The Alpha engine turns at 3,000 rpm.", "--evidence", evidence, "--json")
    assert right.json["kind"] == "supported"
    assert right.code == 0
    wrong = told(
        "check", "--claim", "The Alpha engine turns at 3,900 rpm.", "--evidence", "-", stdin=Path(evidence).read_text()
    )
    assert wrong.out.startswith("contradicted")
    assert wrong.code == 2
    (scan := Path(evidence).with_name("scan.pdf")).write_bytes(make_pdf([[DRAWING]]))
    unread = told("check", "--claim", "x", "--evidence", str(scan))
    assert (unread.code, unread.out) == (2, "")
    assert "scan.pdf: no text in its one page" in unread.err
    unknown = told("check", "--claim", "The Omega engine was painted green.", "--evidence", evidence)
    assert unknown.out.startswith("unverified")
    assert unknown.code == 1


def test_settings_lists_all_with_the_values_in_force() -> None:
    said = told("settings", env={"DEEP_RESEARCH_MAX_ITERATIONS": "4"})
    assert said.code == 0
    assert "max_iterations = 4" in said.out
    for name in Settings.model_fields:
        assert f"  {name} = " in said.out


def test_a_question_to_the_user_at_a_terminal(docs: str) -> None:
    with at_terminal("tell me about it", "--docs", docs, "--no-pager", columns=160) as screen:
        screen.until("Please name it")
        screen.until("answer> ")
        screen.type("the Alpha engine\n")
        screen.until("3,000 rpm")
        assert screen.ends() == 0
    assert "Traceback" not in screen.plain
