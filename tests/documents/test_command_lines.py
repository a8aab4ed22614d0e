"""The command lines of the design documents run as written, but for the name of the module (rows B10, B12)."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from deep_research.cli.main import run as command
from deep_research.data import Report
from deep_research.settings import load_keys
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.conversation.screen import at_terminal
from tests.documents.blocks import command_lines
from tests.documents.served import Served, served_everywhere
from tests.model.harness import PLAN
from tests.runs.running import engines
from tests.support import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher

LINES = sorted({tuple(line) for name in ("sections_commands", "loop_commands") for line in command_lines(name)})
"""Each once: the two documents have all but one in common."""
INTERACTIVE = [line for line in LINES if "-q" not in line]
WITH_A_QUESTION = [line for line in LINES if "-q" in line]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with served_everywhere(tmp_path, monkeypatch) as found:
        yield found


def report_of(home: Path) -> Report:
    (head,) = list_runs(home)
    record = RunFolder(home, head.run_id).load()
    assert record.status == "finished"
    return RunFolder(home, record.run_id).load_result()


@pytest.mark.parametrize("arguments", WITH_A_QUESTION, ids=shlex.join)
def test_b10_with_a_model(
    arguments: tuple[str, ...], served: Served, own_state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(arguments) in (0, 3)
    assert capsys.readouterr().out.startswith("# ")
    report = report_of(own_state)
    assert report.question == arguments[-1]
    provider = arguments[arguments.index("-p") + 1] if "-p" in arguments else "aliyun"
    model = arguments[arguments.index("--model") + 1] if "--model" in arguments else ""
    assert report.reasoner.provider == provider
    assert served.models_asked(provider) == {model or report.reasoner.models["report"]}
    (head,) = list_runs(own_state)
    record = RunFolder(own_state, head.run_id).load()
    if "--max-iterations" in arguments:
        assert record.settings["max_review_iterations"] == 3


@pytest.mark.parametrize("arguments", WITH_A_QUESTION, ids=shlex.join)
def test_b10_without_a_model_or_key(
    arguments: tuple[str, ...], shared_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_HOME", str(shared_home))
    before = list_runs(shared_home)
    named = next((flag for flag in ("-p", "--model") if flag in arguments), "")
    assert command(arguments) in ((2,) if named else (0, 3))
    said = capsys.readouterr()
    if named:
        assert "key" in said.err.lower()
        assert named == "-p" or arguments[arguments.index(named) + 1] in said.err
        assert list_runs(shared_home) == before
    else:
        assert said.out.startswith("# ")
        (begun,) = {run.run_id for run in list_runs(shared_home)} - {run.run_id for run in before}
        assert RunFolder(shared_home, begun).load_result().reasoner.kind == "finder"


@pytest.mark.process
def test_b10_the_interactive_command_line(tmp_path: Path) -> None:
    assert INTERACTIVE == [("--deep-research",), ("--deep-research", "-v")]
    with at_terminal(*INTERACTIVE[1], "--docs", str(engines(tmp_path / "docs"))) as screen:
        screen.say("How fast is the Alpha engine?")
        screen.until("Ask about this report")


def test_b12_every_node_of_the_documents_runs_alone(
    shared_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_HOME", str(shared_home))
    nodes = "analyze discover researcher review final_report supervisor compress_output"
    debugging = list(command_lines("sections_debugging"))
    assert [line[1] for line in debugging] == ["clarify", "plan_sections"]
    for line in [*debugging, *(["step", node, "What is RAG?", "--json"] for node in nodes.split())]:
        assert command(line) == 0, line
        assert capsys.readouterr().out.strip(), line


@pytest.mark.parametrize(
    ("named", "key"),
    [
        (["-p", "dashscope"], "DASHSCOPE_API_KEY"),
        (["-p", "qwen"], "DASHSCOPE_API_KEY"),
        (["-p", "alibaba"], "DASHSCOPE_API_KEY"),
        (["-p", "google"], "GEMINI_API_KEY"),
        (["-p", "gemini"], "GEMINI_API_KEY"),
        (["--model", "anthropic:claude-sonnet-5"], "ANTHROPIC_API_KEY"),
    ],
    ids=str,
)
def test_a_provider_goes_by_its_names(
    named: list[str], key: str, own_state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command([*named, "-q", "What?"]) == 2
    assert key in capsys.readouterr().err
    assert list_runs(own_state) == []


def test_the_key_of_gemini_may_be_named_after_google(
    own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
    with ScriptedProvider(ScriptedResearcher(sections=PLAN, sentences=3), key="a-key") as provider:
        monkeypatch.setenv("GEMINI_BASE_URL", provider.base_url)
        asked = ["-q", "Which kinds of engines are there?", "--docs", str(engines(tmp_path / "docs")), "--quiet"]
        assert command(asked) == 0
    assert report_of(own_state).reasoner.provider == "gemini"
    monkeypatch.setenv("GOOGLE_CSE_ID", "an-engine")
    assert load_keys(["GEMINI_API_KEY", "GOOGLE_API_KEY"]) == {"GOOGLE_API_KEY": "a-key"}, "it is for searching"


def test_a_model_without_a_key_names_the_keys_there_are(own_state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["--model", "gemini-2.5-flash", "-q", "What?"]) == 2
    told = capsys.readouterr().err
    assert "docs/providers.md" in told
    for key in ("GEMINI_API_KEY", "OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
        assert key in told
    assert list_runs(own_state) == []
