"""The command lines of the design documents run as written, but for the name of the module (rows B10, B12)."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from deep_research.cli.main import run as command
from deep_research.data import Report
from deep_research.settings import load_keys
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.cli.terminal import call
from tests.conversation.screen import at_terminal
from tests.documents.blocks import command_lines
from tests.documents.served import Served, served_everywhere
from tests.model.harness import PLAN
from tests.runs.running import engines
from tests.support import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher

LINES = [
    (name, number, arguments)
    for name in ("sections_commands", "loop_commands")
    for number, arguments in enumerate(command_lines(name))
]
INTERACTIVE = sorted({tuple(arguments) for _, _, arguments in LINES if "-q" not in arguments})
WITH_A_QUESTION = [(name, arguments) for name, _, arguments in LINES if "-q" in arguments]


def line(arguments: str | list[str]) -> str:
    """Return a parameter as its test is called."""
    return arguments if isinstance(arguments, str) else shlex.join(arguments)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with served_everywhere(tmp_path, monkeypatch) as found:
        yield found


def report_of(home: Path) -> Report:
    (head,) = list_runs(home)
    record = RunFolder(home, head.run_id).load()
    assert record.status == "finished"
    return RunFolder(home, record.run_id).load_result()


def test_all_command_lines_are_here() -> None:
    assert INTERACTIVE == [("--deep-research",), ("--deep-research", "-v")]
    assert len(LINES) == 11


@pytest.mark.parametrize(("name", "arguments"), WITH_A_QUESTION, ids=line)
def test_b10_with_a_model(
    name: str, arguments: list[str], served: Served, own_state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(arguments) in (0, 3), name
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


@pytest.mark.parametrize(
    ("name", "arguments"), [row for row in WITH_A_QUESTION if not {"-p", "--model"} & set(row[1])], ids=line
)
def test_b10_without_a_model(
    name: str, arguments: list[str], own_state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(arguments) in (0, 3), name
    assert capsys.readouterr().out.startswith("# ")
    assert report_of(own_state).reasoner.kind == "finder"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(arguments, name) for _, arguments in WITH_A_QUESTION for name in ("-p", "--model") if name in arguments],
    ids=str,
)
def test_a_model_that_cannot_be_used_is_an_error(
    arguments: list[str], named: str, own_state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(arguments) == 2
    said = capsys.readouterr().err
    assert "key" in said.lower()
    assert named == "-p" or arguments[arguments.index(named) + 1] in said
    assert list_runs(own_state) == []


@pytest.mark.process
def test_b10_a_command_line_as_a_process_of_its_own() -> None:
    said = call(*WITH_A_QUESTION[0][1], module=True)
    assert said.code in (0, 3)
    assert said.out.startswith("# ")


@pytest.mark.process
@pytest.mark.parametrize("arguments", INTERACTIVE, ids=shlex.join)
def test_b10_the_interactive_command_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with at_terminal(*arguments, "--docs", str(engines(tmp_path / "docs"))) as screen:
        screen.say("How fast is the Alpha engine?")
        screen.until("Ask about this report")


@pytest.mark.parametrize("arguments", list(command_lines("sections_debugging")), ids=shlex.join)
def test_b12_the_commands_for_debugging_a_node(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(arguments) == 0
    assert capsys.readouterr().out


NODES = "clarify analyze discover plan_sections researcher review final_report supervisor compress_output"


@pytest.mark.parametrize("node", NODES.split())
def test_b12_every_node_of_the_documents_runs_alone(node: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["step", node, "What is RAG?", "--json"]) == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("alias", ["dashscope", "qwen", "alibaba", "aliyun"])
def test_other_names_of_a_provider(alias: str, served: Served, own_state: Path, tmp_path: Path) -> None:
    docs = str(engines(tmp_path / "docs"))
    assert command(["-p", alias, "-q", "Which kinds of engines are there?", "--docs", docs, "--quiet"]) == 0
    assert report_of(own_state).reasoner.provider == "aliyun"
    assert served.models_asked("aliyun") == {"qwen3.5-plus"}


@pytest.mark.parametrize("alias", ["google", "gemini"])
def test_gemini_goes_by_two_names(
    alias: str, own_state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["-p", alias, "-q", "What?"]) == 2
    assert "GEMINI_API_KEY" in capsys.readouterr().err
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


def test_a_model_named_with_its_provider(served: Served, own_state: Path, tmp_path: Path) -> None:
    """As the supervisor's design names models: `openai:gpt-4.1`."""
    docs = str(engines(tmp_path / "docs"))
    line = ["--model", "anthropic:claude-sonnet-5", "-q", "Which engines are there?", "--docs", docs, "--quiet"]
    assert command(line) == 0
    assert report_of(own_state).reasoner.provider == "anthropic"
    assert served.models_asked("anthropic") == {"claude-sonnet-5"}
