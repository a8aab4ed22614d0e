"""Calls whose clients do not wait to the end: the same call again goes on with its run, and nothing is paid twice."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deep_research import api
from deep_research_server import run_service
from mcp import Client
from tests.mcp_server.clients import in_process, over_stdio
from tests.model.harness import QUESTION
from tests.runs.running import engines
from tests.server.serving import Held
from tests.support.scripted_provider import ScriptedProvider


class Called:
    """A model that hands no notes over before `script.go` is set, and a call of `research` with what a client sees of it."""

    def __init__(self, provider: ScriptedProvider, script: Held, folder: Path) -> None:
        self.provider, self.script, self.home, self.said = provider, script, folder / "home", list[str]()
        self.arguments = {"question": QUESTION, "docs": [str(engines(folder / "docs"))]}
        self.variables = {
            "OPENAI_COMPATIBLE_BASE_URL": provider.base_url,
            "OPENAI_COMPATIBLE_API_KEY": "test-key",
            "DEEP_RESEARCH_MODEL_PROVIDER": "compatible",
            "DEEP_RESEARCH_MODEL_NAME": "scripted",
        }

    async def research(self, client: Client) -> Any:
        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            self.said.append(message or "")

        return await client.call_tool("research", self.arguments, progress_callback=progress)

    async def cut_off(self, client: Client) -> str:
        """Call, and leave in the middle of the research; return the id that was said."""
        call = asyncio.create_task(self.research(client))
        async with asyncio.timeout(180):
            while not 0 < sum(not call.sent for call in self.provider.calls) == self.script.waiting:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.05)
        call.cancel()
        await asyncio.wait([call])
        told = re.match(r"Run (\S+)\. ", self.said[0])
        assert told, self.said
        return told[1]

    def paid_twice(self) -> int:
        """How many requests were answered more than once."""
        answered = Counter(call.digest for call in self.provider.calls if call.sent)
        return sum(count - 1 for count in answered.values())


@pytest.fixture
def called(tmp_path: Path) -> Iterator[Called]:
    script = Held()
    with ScriptedProvider(script) as provider:
        yield Called(provider, script, tmp_path)
        script.go.set()


async def test_a_call_that_is_made_again_at_once_goes_on_with_its_run(called: Called) -> None:
    async with in_process(called.home, **called.variables) as client:
        run = await called.cut_off(client)
        told = await client.call_tool("get_report", {"run_id": run})
        assert told.is_error
        assert "call `research`" in told.content[0].text
        assert QUESTION in told.content[0].text
        again = asyncio.create_task(called.research(client))
        called.script.go.set()
        done: Any = await again
        assert not done.is_error, done.content[0].text
        assert done.structured_content["run_id"] == run
        assert called.paid_twice() == 0
        assert all(call.sent for call in called.provider.calls)  # none was broken off either

        asked = len(called.provider.calls)
        same: Any = await called.research(client)  # nobody knows whether its client has seen the answer
        assert len(called.provider.calls) == asked
        date = api.open_run(run, home=called.home).record.created[:16]
        assert same.structured_content == {**done.structured_content, "note": same.content[1].text}
        assert date in same.content[1].text
        assert "again=true" in same.content[1].text

        called.arguments["again"] = True
        other: Any = await called.research(client)
        assert other.structured_content["run_id"] != run
        assert other.structured_content["note"] == ""
        del called.arguments["again"]
        assert (await called.research(client)).structured_content["run_id"] == other.structured_content["run_id"]

        called.arguments["depth"] = "brief"  # other arguments are another run
        brief: Any = await called.research(client)
        assert brief.structured_content["run_id"] not in (run, other.structured_content["run_id"])


@pytest.mark.process
async def test_a_call_to_a_server_that_was_ended_goes_on_in_the_next(called: Called) -> None:
    async with over_stdio(called.home, **called.variables) as client:
        run = await called.cut_off(client)
    paid = len(called.provider.calls)
    answered = {call.digest for call in called.provider.calls if call.sent}
    called.script.go.set()
    async with over_stdio(called.home, **called.variables) as client:
        done: Any = await called.research(client)
        assert done.structured_content["run_id"] == run
    assert not answered & {call.digest for call in called.provider.calls[paid:]}
    assert [record.run_id for record in api.list_runs(home=called.home)] == [run]


async def test_a_run_whose_client_does_not_come_back_is_stopped_and_keeps_its_state(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_service._LEFT_SECONDS <= 60
    monkeypatch.setattr(run_service, "_LEFT_SECONDS", 0.2)
    async with in_process(called.home, **called.variables) as client:
        run = api.open_run(await called.cut_off(client), home=called.home)
        async with asyncio.timeout(180):
            while run.record.status == "running":  # noqa: ASYNC110 - the server stops it
                await asyncio.sleep(0.1)
        assert run.record.status == "stopped"
        assert not run.has_report
        called.script.go.set()
        done: Any = await called.research(client)
        assert done.structured_content["run_id"] == run.id
