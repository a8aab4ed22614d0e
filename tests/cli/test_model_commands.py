"""`step`, `--estimate` and `--budget`: the model's side of the command line."""

import json
from pathlib import Path

import pytest

from deep_research.cli.flags import budget_of
from deep_research.cli.main import run as command
from deep_research.errors import ConfigError
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.model.harness import PLAN, QUESTION, served
from tests.providers.served import serving
from tests.runs.running import engines
from tests.support.scripted_researcher import ScriptedResearcher, step_of

MODEL = ["-p", "compatible", "--model", "scripted"]


def test_an_unknown_step_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["step", "ponder", "What is RAG?"]) == 2
    assert "plan_sections" in capsys.readouterr().err
    assert command(["step", "clarify"]) == 2
    assert "--run RUN" in capsys.readouterr().err


@pytest.mark.parametrize("node", ["clarify", "researcher", "review_section", "final_report"])
def test_a_step_prints_prompt_answer_and_cost(
    node: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(monkeypatch) as provider:
        assert command(["step", node, "What is the Alpha engine?", *MODEL]) == 0
    shown = capsys.readouterr()
    assert "[user]" in shown.out.partition("── answer ")[0]
    assert shown.out.partition("── answer ")[2].partition("\n")[2].strip()
    assert shown.err.startswith("1 calls · ")
    assert f"{provider.prompt_tokens} prompt tokens" in shown.err


def test_b12_a_step_has_the_template_and_the_terms_that_it_has_in_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    (own_state / "templates").mkdir(parents=True)
    own = 'name = "engine"\nwords = ["engine"]\nfocus = ["power"]\n[[clarifications]]\nmissing = "topic"\nquestion = "Which engine?"'
    (own_state / "templates" / "engine.toml").write_text(own, "utf-8")
    assert command(["step", "clarify", "tell me more", "--json", "--set", "template=engine", "-p", "finder"]) == 0
    assert json.loads(capsys.readouterr().out)["clarification"]["question"] == "Which engine?"
    assert command(["step", "clarify", "the gene STATUS6", "--json", "-p", "finder"]) == 0
    assert json.loads(capsys.readouterr().out)["terms"][0]["term"] == "STATUS6"


def test_b12_a_discovery_alone_searches_for_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    with served(monkeypatch, ScriptedResearcher(sections=PLAN, query_type="list")) as provider:
        assert command([QUESTION, *MODEL, "--docs", str(engines(tmp_path / "notes")), "--quiet"]) == 0
        run_id = list_runs(own_state)[0].run_id
        kept = {path: path.read_bytes() for path in (own_state / "runs" / run_id).glob("*.json*")}
        before = len(provider.calls)
        capsys.readouterr()
        assert command(["step", "discover", "--run", run_id, "--json", *MODEL]) == 0
        assert json.loads(capsys.readouterr().out)["entities"]
        assert {step_of(call.request) for call in provider.calls[before:]} == {
            "research",
            "entities",
        }  # it looks around
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_step_takes_state_and_sources_of_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    with served(monkeypatch):
        notes = engines(tmp_path / "notes")
        assert command([QUESTION, *MODEL, "--docs", str(notes), "--quiet"]) == 0
        run_id = list_runs(own_state)[0].run_id
        capsys.readouterr()
        assert command(["step", "review", "--run", run_id, *MODEL]) == 0
        assert "4,500 rpm" in capsys.readouterr().out
        assert command(["step", "final_report", "--run", run_id, "--json", *MODEL]) == 0
        assert "[s" in json.loads(capsys.readouterr().out)["text"]


def test_a_step_that_fails_says_why_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(monkeypatch) as provider:
        provider.faults(1.0, ["content_filter"])
        assert command(["step", "review", "What is RAG?", *MODEL]) == 1
    assert "gap: review: compatible (scripted) declines" in capsys.readouterr().err


def test_an_estimate_begins_no_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    with served(monkeypatch) as provider:
        assert command([QUESTION, "-p", "compatible", "--model", "gpt-5.4-mini", "--estimate"]) == 0
        known = capsys.readouterr().out
        assert command([QUESTION, *MODEL, "--estimate"]) == 0
        unknown = capsys.readouterr().out
        assert command([QUESTION, "-p", "finder", "--estimate"]) == 0
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        assert (
            command([QUESTION, "-p", "anthropic", "--estimate"]) == 0
        )  # what it costs is asked before a key is bought
    assert "40 calls" in known
    assert "US dollars" in known
    assert "price unknown" in unknown
    assert "costs nothing" in capsys.readouterr().out
    assert not provider.calls
    assert not list_runs(own_state)


def test_a_budget_ends_the_research(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    with served(monkeypatch):
        notes = engines(tmp_path / "notes")
        code = command([QUESTION, *MODEL, "--docs", str(notes), "--budget", "10k tokens", "--json"])
    assert code == 0
    report = json.loads(capsys.readouterr().out)
    assert any("The budget of 10000 tokens" in gap["why"] for gap in report["gaps"])
    assert RunFolder(own_state, list_runs(own_state)[0].run_id).load().settings["budget_tokens"] == 10_000


@pytest.mark.parametrize(
    ("amount", "setting"),
    [
        ("0.50", {"budget_usd": 0.5}),
        ("$2", {"budget_usd": 2.0}),
        (".25 usd", {"budget_usd": 0.25}),
        ("200000tokens", {"budget_tokens": 200_000}),
        ("200,000 tokens", {"budget_tokens": 200_000}),
        ("200k tokens", {"budget_tokens": 200_000}),
        ("1,234.50", {"budget_usd": 1234.5}),
    ],
)
def test_a_budget_is_dollars_or_tokens(amount: str, setting: dict[str, float]) -> None:
    assert budget_of(amount) == setting


@pytest.mark.parametrize("amount", ["much", "5 euros", "-1", "1e9", "0,50", "1,5", "0,500", "12,34,567"])
def test_another_budget_is_refused(amount: str) -> None:
    with pytest.raises(ConfigError, match="200000tokens"):
        budget_of(amount)


@pytest.mark.parametrize("is_there", [True, False])
def test_where_no_model_is_reached_the_report_begins_with_that_and_with_what_to_set(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    asked = [QUESTION, *MODEL, "--docs", str(engines(tmp_path / "notes")), "--quiet"]
    with serving(b"<html><body>Welcome</body></html>") as page:
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", page.url)
        code = command(asked) if is_there else None
    code = command(asked) if code is None else code
    assert code == 0
    remedy = "set OPENAI_COMPATIBLE_BASE_URL or model_base_url."
    shown = " ".join(capsys.readouterr().err.split())
    assert shown.count(remedy) == 1
    (run,) = list_runs(own_state)
    report = (own_state / "runs" / run.run_id / "report.md").read_text("utf-8")
    first = report.split("\n\n")[1]
    assert first.startswith("> Places that a search found.")
    assert first.endswith(remedy)
    assert report.count(remedy) == 1
    assert "<html>" not in report.replace("\\<html>", "")
