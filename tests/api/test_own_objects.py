"""What a program hands over: chat models, tools and functions, conversations; and reports as text."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from deep_research import ModelAnswer, ModelRequest, aresearch, follow_up, research
from deep_research.api import open_run
from deep_research.concurrency import run_now
from deep_research.errors import ConfigError
from deep_research.providers.provider_catalog import open_model
from deep_research.stores.run_folder import list_runs
from tests.model.harness import PLAN, QUESTION
from tests.runs.running import engines
from tests.runs.soundness import assert_citations_resolve
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher


@pytest.fixture
def docs(tmp_path: Path) -> list[str]:
    return [str(engines(tmp_path / "docs"))]


@pytest.fixture
def provider() -> Any:
    with ScriptedProvider(ScriptedResearcher(sections=PLAN, sentences=3), models=("gpt-4o", "judge")) as served:
        yield served


def langchain_model(provider: ScriptedProvider, name: str = "gpt-4o") -> ChatOpenAI:
    client = httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=0))
    about: dict[str, Any] = {"base_url": provider.base_url, "api_key": "test-key", "http_async_client": client}
    return ChatOpenAI(model=name, max_retries=0, **about)


class OwnModel:
    """A model of our port, written by a program: it counts what it is asked and passes it on."""

    provider = "mine"
    model = "my-model"

    def __init__(self, provider: ScriptedProvider) -> None:
        self._address = provider.base_url
        self.asked = 0
        self.closed = False

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.asked += 1
        behind = open_model("compatible", "gpt-4o", base_url=self._address)
        answer = await behind.complete(request)
        await behind.close()
        return answer.model_copy(update={"model": self.model})

    async def close(self) -> None:
        self.closed = True


def test_a_chat_model_of_langchain_thinks_and_is_handed_over_again_for_a_follow_up(
    docs: list[str], provider: ScriptedProvider, own_state: Path
) -> None:
    model = langchain_model(provider)
    report = research(QUESTION, docs=docs, model=model)
    assert report.answered
    assert_citations_resolve(report)
    assert (report.reasoner.provider, report.reasoner.models["report"]) == ("langchain", "gpt-4o")
    assert report.ledger.model_calls == len(provider.calls) > 5
    assert "test-key" not in "".join(path.read_text("utf-8") for path in own_state.rglob("*.json*"))
    with pytest.raises(ConfigError, match="hand it over again"):
        follow_up(report.run_id, "How fast is the Alpha engine?")
    made = follow_up(report.run_id, "How fast is the Alpha engine?", model=model)
    assert made.report is not None


def test_an_object_of_our_port_thinks_and_is_not_closed_and_the_run_replays_without_the_models(
    docs: list[str], provider: ScriptedProvider
) -> None:
    own = OwnModel(provider)
    report = research(QUESTION, docs=docs, model=own, report_model=langchain_model(provider))
    assert report.answered
    assert report.reasoner.provider == "mine, langchain"
    assert report.reasoner.models["research"].startswith("my-model")
    assert report.reasoner.models["report"].startswith("gpt-4o")
    asked = len(provider.calls)
    assert 0 < own.asked < asked
    assert not own.closed
    again = run_now(open_run(report.run_id).replay)
    assert (again.report, len(provider.calls)) == (report.report, asked)


@pytest.mark.parametrize("wrong", [7, object(), ChatOpenAI, {"model": "x"}], ids=["number", "object", "class", "dict"])
def test_what_is_no_model_is_refused(wrong: Any, own_state: Path) -> None:
    with pytest.raises(ConfigError, match="no chat model"):
        research("What?", model=wrong)
    assert list_runs(own_state) == []


def _found(done: str, town: str) -> str:
    text = f"The Omega engine is {done} in {town}."
    return json.dumps([{"title": f"Workshop of {town}", "url": f"https://example.org/{town}", "text": text}])


def by_hand(query: str) -> str:
    """Search the workshop's own records."""
    return _found("cast by hand", "Lisbon")


async def by_hand_later(query: str) -> str:
    """Search the workshop's own records, later."""
    await asyncio.sleep(0)
    return _found("painted red", "Porto")


@tool
def workshop(query: str) -> str:
    """Search the records of the workshop."""
    return _found("run for a week", "Braga")


def test_functions_coroutines_and_tools_of_langchain_are_searched_and_cited() -> None:
    report = research("Where does the Omega engine come from?", tools=[by_hand, by_hand_later, workshop])
    assert {"Workshop of Lisbon", "Workshop of Porto", "Workshop of Braga"} == {one.title for one in report.references}
    assert_citations_resolve(report)


async def test_a_model_calls_a_tool_by_its_name(docs: list[str], provider: ScriptedProvider) -> None:
    report = await aresearch(QUESTION, docs=docs, model=langchain_model(provider), tools=[workshop, by_hand])
    offered = {name for call in provider.calls for name in call.request["tools"]}
    assert {"workshop", "by_hand"} <= offered
    assert report.answered


def test_a_function_that_a_run_calls_may_begin_another_run(docs: list[str]) -> None:
    def answer(_question: str) -> str:
        return research("How fast is the Alpha engine?", docs=docs).title

    report = run_now(lambda: aresearch("tell me about it", docs=docs, on_clarify_question=answer))
    assert "Alpha" in report.title


@pytest.mark.process
def test_an_interrupt_stops_the_run_and_keeps_its_state(docs: list[str], own_state: Path) -> None:
    program = """
import asyncio, os, signal, sys
from deep_research import research

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts the tests may ignore it

async def slow(query: str) -> str:
    "Search for a minute."
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)
    return "late"

research("How fast is the Alpha engine?", docs=[sys.argv[1]], tools=[slow])
"""
    done = subprocess.run(
        [sys.executable, "-c", program, docs[0]], capture_output=True, text=True, timeout=60, check=False
    )
    assert "KeyboardInterrupt" in done.stderr
    assert list_runs(own_state)[0].status == "stopped"
