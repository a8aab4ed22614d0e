"""What a run with a model does at its limits: money, context, a bad key, nothing found."""

import json
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import openpyxl
import pytest

from deep_research import api
from deep_research.assembly.environment import RunEnvironment
from deep_research.cli.main import run as command
from deep_research.errors import ConfigError, Unreachable
from deep_research.runs.research_run import resume_run
from tests.graph.harness import Broken
from tests.model.harness import PLAN, QUESTION, Scene, assert_presentable, of_step, research, steps
from tests.runs.running import begin, engines
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of


def test_at_the_end_of_a_budget_of_tokens_the_report_is_written_all_the_same(scene: Scene) -> None:
    ran = scene.research(budget_tokens=6_000)
    assert_presentable(ran)
    assert ran.report.answered
    assert all(section.notes for section in ran.report.sections)
    if not any(claim.verdict.by_model for claim in ran.report.claims):
        assert "nobody judged" in ran.report.report
    assert any("budget" in gap.why for gap in ran.report.gaps)
    spent = ran.report.ledger.prompt_tokens + ran.report.ledger.completion_tokens
    assert spent <= 6_000
    assert spent == sum(call.counted.prompt + call.counted.completion for call in scene.provider.calls)


def test_the_reserve_of_a_budget_suffices_for_the_report(scene: Scene) -> None:
    """Research ends early; the report is written by the model all the same."""
    ran = scene.research(ScriptedResearcher(sections=PLAN, sentences=4, opens=3, at_once=(1, 1)), budget_tokens=14_000)
    assert any("budget" in gap.why for gap in ran.report.gaps)
    assert steps(scene.provider)["write"] == 1
    assert_presentable(ran)


def test_d5_a_report_that_is_too_long_to_ask_for_is_asked_for_with_a_tenth_less_three_times(scene: Scene) -> None:
    """A server that says neither its window nor the prompt's length; before it is given up, a quarter is tried."""
    usual = ScriptedResearcher(sections=PLAN, sentences=4)
    sizes: list[int] = []

    def script(request: Request) -> Reply:
        if step_of(request) == "write":
            sizes.append(sum(len(message["text"]) for message in request["messages"]))
            if len(sizes) <= 4:
                return Reply(fault="too_large")
        reply = usual(request)
        more = "\n".join(f"Test {n} gave {n * 37 % 1000} rpm." for n in range(1_500))
        return reply if step_of(request) != "research" or reply.tool_calls else Reply(text=f"{reply.text}\n\n{more}")

    ran = scene.research(script)
    assert not [gap for gap in ran.report.gaps if gap.what == "report"]
    shares = [after / before for before, after in pairwise(sizes[:5])]
    assert all(0.8 < share < 0.93 for share in shares[:3]), shares
    assert shares[3] < 0.3


def test_a_budget_in_dollars_is_counted_with_the_prices_of_the_model(scene: Scene) -> None:
    ran = scene.research(model_name="gpt-5.4-mini", budget_usd=0.015)
    assert_presentable(ran)
    assert any("US dollars" in gap.why for gap in ran.report.gaps)
    assert 0.005 < (ran.report.ledger.cost_usd or 0) <= 0.015


def test_the_price_that_a_server_tells_is_what_a_run_costs(scene: Scene) -> None:
    with scene.served(told={"cost": 0.05}) as provider:
        ran = research(scene.folder)
    assert ran.report.ledger.cost_usd == pytest.approx(0.05 * len(provider.calls))


def test_a_budget_in_dollars_is_kept_by_the_prices_that_a_server_tells(scene: Scene) -> None:
    """Also while several calls are in flight, whose prices nobody knows yet."""
    with scene.served(told={"cost": 0.05}) as provider:
        ran = research(scene.folder, model_name="gpt-5.4-mini", budget_usd=0.57)
    assert any("US dollars" in gap.why for gap in ran.report.gaps)
    assert 0.57 / 2 < 0.05 * len(provider.calls) <= 0.57
    assert ran.report.ledger.cost_usd == pytest.approx(0.05 * len(provider.calls))


def test_a_price_that_nobody_knows_is_not_nothing(scene: Scene) -> None:
    ran = scene.research()
    assert ran.report.ledger.cost_usd is None
    book = openpyxl.load_workbook(BytesIO(api.export(ran.report.run_id, "xlsx", home=scene.folder / "home")))
    assert ("US dollars", "unknown") in [row[:2] for row in book["Summary"].values]


def test_a_budget_in_dollars_needs_prices(scene: Scene) -> None:
    with scene.served() as provider, pytest.raises(ConfigError, match="budget_tokens"):
        research(scene.folder, budget_usd=1.0)
    assert not provider.calls


def test_a_bad_key_stops_at_once_and_names_the_variable(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    with scene.served(key="another-key") as provider:
        code = command(
            [QUESTION, "-p", "compatible", "--model", "scripted", "--docs", str(engines(scene.folder / "n"))]
        )
    shown = capsys.readouterr()
    assert code == 2
    assert "OPENAI_COMPATIBLE_API_KEY" in shown.err
    assert "Traceback" not in shown.err + shown.out
    # Intake and the analysis beside it; neither is tried again.
    assert len({json.dumps(call.request) for call in provider.calls}) == len(provider.calls) <= 2


def test_a_key_that_is_refused_in_the_middle_of_a_run_ends_it(scene: Scene) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    with scene.served(researcher) as provider:

        def script(request: Request) -> Reply:
            if step_of(request) == "write":
                provider.key = "another-key"
            return researcher(request)

        provider.script = script
        with pytest.raises(ConfigError, match="OPENAI_COMPATIBLE_API_KEY"):
            research(scene.folder)


def test_an_answer_that_was_paid_and_useless_is_in_the_ledger(scene: Scene) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    failed: list[str] = []

    def script(request: Request) -> Reply:
        step = step_of(request)
        if step == "plan" and not failed:
            failed.append(step)
            return replace(researcher(request), fault="refusal")
        return researcher(request)

    ran = scene.research(script)
    assert failed
    assert ran.report.ledger.model_calls == len(scene.provider.calls) - 1
    assert ran.report.ledger.prompt_tokens == sum(call.counted.prompt for call in scene.provider.calls)


def test_a_broken_prompt_file_of_the_user_stops_a_run_before_a_model_is_asked(scene: Scene) -> None:
    folder = scene.folder / "home" / "prompts"
    folder.mkdir(parents=True)
    (folder / "write.md").write_text("---\npurpose: mine\n---\nWrite {{ colour }}.", "utf-8")
    with scene.served() as provider, pytest.raises(ConfigError, match=r"write\.md.*line 4"):
        research(scene.folder)
    assert not provider.calls


async def test_when_every_search_fails_the_report_says_so_and_invents_nothing(scene: Scene) -> None:
    with scene.served() as provider:
        values = {"model_provider": "compatible", "model_name": "scripted"}
        silent = Unreachable("The search engine does not answer.", source="web")
        began = begin(QUESTION, home=scene.folder / "home", docs=[engines(scene.folder / "n")], **values)
        environment = RunEnvironment(began.home, listener=began.events.append, places=[Broken(silent, "web")])
        report = await resume_run(began.folder, environment)
    assert not report.answered
    assert not report.claims
    assert not report.references
    assert all(not section.notes for section in report.sections)
    assert any("does not answer" in gap.why for gap in report.gaps)
    assert "does not answer" in report.report
    assert not {"write", "judge", "examine", "revise"} & set(steps(provider))


async def test_the_writer_is_shown_what_the_person_has_said_before(scene: Scene) -> None:
    said = [("user", "Our budget is 7,000 kroner."), ("assistant", "Noted."), ("user", "No diesel.")]
    with scene.served() as provider:
        await api.aresearch(
            QUESTION, docs=[engines(scene.folder / "n")], history=said, home=scene.folder / "home",
            model_provider="compatible", model_name="scripted", allow_clarification=False,
        )  # fmt: skip
    (asked, *_) = of_step(provider, "write")
    prompt = json.dumps(asked.request["messages"])
    assert r"> Our budget is 7,000 kroner.\n> No diesel.\n> " in prompt
    assert "Noted." not in prompt
