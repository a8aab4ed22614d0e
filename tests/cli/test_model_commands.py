"""`step`, `--estimate` and `--budget`: the model's side of the command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deep_research.cli.flags import budget_of
from deep_research.errors import ConfigError
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.cli.terminal import told
from tests.model.harness import PLAN, QUESTION, served
from tests.providers.served import serving
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher, step_of

MODEL = ("-p", "compatible", "--model", "scripted")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    with served(monkeypatch) as made:
        yield made


def test_an_unknown_step_is_named_with_those_there_are() -> None:
    for arguments, named in ((["ponder", "What is RAG?"], "plan_sections"), (["clarify"], "--run RUN")):
        said = told("step", *arguments)
        assert said.code == 2
        assert named in said.err


@pytest.mark.parametrize("node", ["researcher", "final_report"])
def test_a_step_prints_prompt_answer_and_cost(node: str, provider: ScriptedProvider) -> None:
    shown = told("step", node, "What is the Alpha engine?", *MODEL)
    assert shown.code == 0
    prompt, _, answer = shown.out.partition("── answer ")
    assert "[user]" in prompt
    assert answer.partition("\n")[2].strip()
    assert shown.err.startswith("1 calls · ")
    assert f"{provider.prompt_tokens} prompt tokens" in shown.err


def test_b12_a_step_has_the_template_and_the_terms_that_it_has_in_a_run(own_state: Path) -> None:
    (own_state / "templates").mkdir(parents=True)
    own = 'name = "engine"\nwords = ["engine"]\nfocus = ["power"]\n[[clarifications]]\nmissing = "topic"\nquestion = "Which engine?"'
    (own_state / "templates" / "engine.toml").write_text(own, "utf-8")
    asked = told("step", "clarify", "tell me more", "--json", "--set", "template=engine", "-p", "finder").json
    assert asked["clarification"]["question"] == "Which engine?"
    assert told("step", "clarify", "the gene STATUS6", "--json", "-p", "finder").json["terms"][0]["term"] == "STATUS6"


def test_b12_a_discovery_alone_searches_for_its_target(
    docs: str, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    with served(monkeypatch, ScriptedResearcher(sections=PLAN, query_type="list")) as provider:
        assert told(QUESTION, *MODEL, "--docs", docs, "--quiet").code == 0
        run_id = list_runs(own_state)[0].run_id
        kept = {path: path.read_bytes() for path in (own_state / "runs" / run_id).glob("*.json*")}
        before = len(provider.calls)
        assert told("step", "discover", "--run", run_id, "--json", *MODEL).json["entities"]
        steps = {step_of(call.request) for call in provider.calls[before:]}
    assert steps == {"research", "entities"}  # it looks around
    assert {path: path.read_bytes() for path in kept} == kept


@pytest.mark.usefixtures("provider")
def test_a_step_takes_state_and_sources_of_an_earlier_run(docs: str, own_state: Path) -> None:
    assert told(QUESTION, *MODEL, "--docs", docs, "--quiet").code == 0
    run_id = list_runs(own_state)[0].run_id
    reviewed = told("step", "review", "--run", run_id, *MODEL)
    assert reviewed.code == 0
    assert "4,500 rpm" in reviewed.out
    assert "[s" in told("step", "final_report", "--run", run_id, "--json", *MODEL).json["text"]


def test_a_step_that_fails_says_why_and_ends_with_1(provider: ScriptedProvider) -> None:
    provider.faults(1.0, ["content_filter"])
    said = told("step", "review", "What is RAG?", *MODEL)
    assert said.code == 1
    assert "gap: review: compatible (scripted) declines" in said.err


@pytest.mark.parametrize(
    ("model", "told_of"),
    [
        (("-p", "compatible", "--model", "gpt-5.4-mini"), ("40 calls", "US dollars")),
        (MODEL, ("price unknown",)),
        (("-p", "finder"), ("costs nothing",)),
        (("-p", "anthropic"), ()),  # what it costs is asked before a key is bought
    ],
)
def test_an_estimate_begins_no_run(
    model: tuple[str, ...], told_of: tuple[str, ...], provider: ScriptedProvider, own_state: Path
) -> None:
    said = told(QUESTION, *model, "--estimate")
    assert said.code == 0
    assert all(words in said.out for words in told_of)
    assert not provider.calls
    assert not list_runs(own_state)


@pytest.mark.usefixtures("provider")
def test_a_budget_ends_the_research(docs: str, own_state: Path) -> None:
    said = told(QUESTION, *MODEL, "--docs", docs, "--budget", "10k tokens", "--json")
    assert said.code == 0
    assert any("The budget of 10000 tokens" in gap["why"] for gap in said.json["gaps"])
    assert RunFolder(own_state, list_runs(own_state)[0].run_id).load().settings["budget_tokens"] == 10_000


@pytest.mark.parametrize(
    ("amount", "setting"),
    [
        ("0.50", {"budget_usd": 0.5}),
        ("$2", {"budget_usd": 2.0}),
        ("200,000 tokens", {"budget_tokens": 200_000}),
        ("200k tokens", {"budget_tokens": 200_000}),
        ("1,234.50", {"budget_usd": 1234.5}),
    ],
)
def test_a_budget_is_dollars_or_tokens(amount: str, setting: dict[str, float]) -> None:
    assert budget_of(amount) == setting


@pytest.mark.parametrize("amount", ["5 euros", "-1", "1e9", "0,50", "12,34,567"])
def test_another_budget_is_refused(amount: str) -> None:
    with pytest.raises(ConfigError, match="200000tokens"):
        budget_of(amount)


def test_where_no_model_is_reached_the_report_begins_with_that_and_with_what_to_set(
    docs: str, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    with serving(b"<html><body>Welcome</body></html>") as page:
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", page.url)
        said = told(QUESTION, *MODEL, "--docs", docs, "--quiet")
    assert said.code == 0
    remedy = "set OPENAI_COMPATIBLE_BASE_URL or model_base_url."
    assert " ".join(said.err.split()).count(remedy) == 1
    (run,) = list_runs(own_state)
    report = (own_state / "runs" / run.run_id / "report.md").read_text("utf-8")
    first = report.split("\n\n")[1]
    assert first.startswith("> Places that a search found.")
    assert first.endswith(remedy)
    assert report.count(remedy) == 1
    assert "<html>" not in report.replace("\\<html>", "")
