"""`step`, `prompt`, `--estimate` and `--budget`: the model's side of the command line."""

import json
from pathlib import Path

import pytest

from deep_research.cli.flags import budget_of
from deep_research.cli.main import run as command
from deep_research.errors import ConfigError
from deep_research.runs.single_step import STEPS
from deep_research.stores.run_folder import list_runs
from tests.model.harness import QUESTION, served, steps
from tests.runs.running import engines

MODEL = ["-p", "compatible", "--model", "scripted"]


@pytest.mark.parametrize("name", STEPS)
def test_a_prompt_is_shown_without_a_model(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["prompt", name]) == 0
    shown = capsys.readouterr().out
    assert "[user]" in shown
    assert "speculative decoding" in shown.lower()


def test_an_unknown_step_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["prompt", "ponder"]) == 2
    assert "write_section" in capsys.readouterr().err


def test_a_step_from_a_file_prints_prompt_answer_and_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {
        "question": "What is the Alpha engine?",
        "section": "Alpha engine",
        "passages": [{"title": "Engines", "text": "The Alpha engine turns at 3,000 rpm. It runs without oil."}],
    }
    path = tmp_path / "input.json"
    path.write_text(json.dumps(given), "utf-8")
    with served(monkeypatch) as provider:
        assert command(["step", "write_section", "--input", str(path), *MODEL]) == 0
    shown = capsys.readouterr()
    assert '<passage id="s1p1" source="Engines">' in shown.out
    answer = json.loads(shown.out.partition("── answer ")[2].partition("\n")[2])
    assert "[s1p1]" in answer["content"]
    assert shown.err.startswith("1 calls · ")
    assert f"{provider.prompt_tokens} prompt tokens" in shown.err


def test_a_step_takes_its_inputs_from_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    with served(monkeypatch) as provider:
        notes = engines(tmp_path / "notes")
        assert command([QUESTION, *MODEL, "--docs", str(notes), "--quiet"]) == 0
        run_id = list_runs(own_state)[0].run_id
        capsys.readouterr()
        for name in ("write_section", "judge", "review", "compose"):
            assert command(["step", name, "--run", run_id, "--section", "Beta engine", "--json", *MODEL]) == 0
            assert json.loads(capsys.readouterr().out)
        assert command(["prompt", "write_section", "--run", run_id, "--section", "Beta engine"]) == 0
        assert "4,500 rpm" in capsys.readouterr().out
        assert command(["prompt", "review", "--run", run_id, "--section", "Delta engine"]) == 2
        assert "Gamma engine" in capsys.readouterr().err
    assert steps(provider)["review"] == 2


def test_a_file_that_does_not_fit_is_refused_by_its_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "input.json"
    path.write_text('{"sections": [{"titel": "x"}]}', "utf-8")
    assert command(["prompt", "review", "--input", str(path)]) == 2
    assert "sections.0.title" in capsys.readouterr().err
    assert command(["prompt", "review", "--input", str(tmp_path / "none.json")]) == 2


def test_a_step_that_fails_says_why_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(monkeypatch) as provider:
        provider.faults(1.0, ["content_filter"])
        assert command(["step", "judge", *MODEL]) == 1
    assert "gap: judge: compatible (scripted) declines" in capsys.readouterr().err


def test_an_estimate_begins_no_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    with served(monkeypatch) as provider:
        assert command([QUESTION, "-p", "compatible", "--model", "gpt-5.4-mini", "--estimate"]) == 0
        known = capsys.readouterr().out
        assert command([QUESTION, *MODEL, "--estimate"]) == 0
        unknown = capsys.readouterr().out
        assert command([QUESTION, "-p", "finder", "--estimate"]) == 0
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
    assert list_runs(own_state)[0].settings["budget_tokens"] == 10_000


@pytest.mark.parametrize(
    ("amount", "setting"),
    [
        ("0.50", {"budget_usd": 0.5}),
        ("$2", {"budget_usd": 2.0}),
        (".25 usd", {"budget_usd": 0.25}),
        ("200000tokens", {"budget_tokens": 200_000}),
        ("200,000 tokens", {"budget_tokens": 200_000}),
        ("200k tokens", {"budget_tokens": 200_000}),
    ],
)
def test_a_budget_is_dollars_or_tokens(amount: str, setting: dict[str, float]) -> None:
    assert budget_of(amount) == setting


@pytest.mark.parametrize("amount", ["much", "5 euros", "-1", "1e9"])
def test_another_budget_is_refused(amount: str) -> None:
    with pytest.raises(ConfigError, match="200000tokens"):
        budget_of(amount)
