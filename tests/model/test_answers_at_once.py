"""A kill while the event loop computes costs no answer: each is in its file before the loop has turned again.

From the moment in which a server is asked the event loop of these tests stands still, as under a long computation. The
server answers only then; what the files hold is what a process that is killed there leaves behind.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from deep_research.assembly.budget import PaidCalls, note_attempt
from deep_research.data import ModelMessage, ModelRequest
from deep_research.fetch.http_cache import AnswerStore
from deep_research.fetch.web import Web, WebOptions
from deep_research.fetch.web_api import JournaledApi
from deep_research.providers.model_client import ModelClient
from deep_research.providers.provider_catalog import open_model
from deep_research.providers.token_stream import streaming_to
from deep_research.settings import Settings
from deep_research.stores.journal import SqliteJournal
from tests.fetch.conftest import Everything
from tests.support.fake_web import FakeWeb
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Request
from tests.support.web_answers import SeenRequest, WebAnswer, json_answer, page

SECONDS = 10.0


class Held:
    """An answer that is given only when the event loop stands still."""

    def __init__(self, answer: object) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self._answer = answer

    def __call__(self, _request: Request | SeenRequest) -> WebAnswer:
        self.asked.set()
        assert self.may_answer.wait(SECONDS)
        return self._answer  # pyright: ignore[reportReturnType] - a reply of the model's server as well

    async def kept_meanwhile(self, is_kept: Callable[[], bool]) -> bool:
        """Return whether the answer comes to be kept while the event loop does nothing."""
        assert await asyncio.to_thread(self.asked.wait, SECONDS)
        self.may_answer.set()
        end = time.monotonic() + SECONDS
        while not is_kept() and time.monotonic() < end:
            time.sleep(0.002)  # noqa: ASYNC251 - on purpose: the loop must not turn
        return is_kept()


async def _take(pieces: list[str], piece: str) -> None:
    pieces.append(piece)


@pytest.mark.parametrize(("wire", "streams"), [("openai", False), ("anthropic", True), ("ollama", True)])
async def test_a_models_answer(wire: str, streams: bool, tmp_path: Path) -> None:
    held, pieces = Held("It turns."), list[str]()
    journal, left_behind = SqliteJournal(tmp_path / "journal.db"), SqliteJournal(tmp_path / "journal.db")
    shown: AbstractContextManager[None] = streaming_to(lambda piece: _take(pieces, piece)) if streams else nullcontext()
    with ScriptedProvider(held) as provider:
        model = open_model(
            wire, "scripted", base_url=provider.base_url, keys={"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
        )
        client = ModelClient([model], account=note_attempt)
        paid = PaidCalls(client, journal, Settings())
        with shown:
            request = ModelRequest(messages=(ModelMessage(role="user", text="How is it?"),))
            asking = asyncio.create_task(paid.complete(request, "write"))
        assert await held.kept_meanwhile(lambda: left_behind.count("model") == 1)
        assert not asking.done()
        assert not pieces, "the loop stood still"
        assert (await asking).text == "It turns."
        assert "".join(pieces) == ("It turns." if streams else "")
        assert len(provider.calls) == 1
        await client.close()
    journal.close()
    left_behind.close()


async def test_the_answer_of_a_search(tmp_path: Path) -> None:
    held = Held(json_answer({"hits": 1}))
    journal, left_behind = SqliteJournal(tmp_path / "journal.db"), SqliteJournal(tmp_path / "journal.db")
    with FakeWeb() as internet:
        internet.site("api.test").on("/search", held, method="POST")
        web = Web(resolver=internet.dns, dial=internet.dial)
        asking = asyncio.create_task(JournaledApi(web.api, journal).request("POST", "https://api.test/search", json={}))
        assert await held.kept_meanwhile(lambda: left_behind.count("POST https://api.test/search") == 1)
        assert not asking.done()
        assert json.loads((await asking).body) == {"hits": 1}
        await web.close()
    journal.close()
    left_behind.close()


async def test_a_page(tmp_path: Path) -> None:
    held = Held(page("<p>It turns.</p>"))
    left_behind = AnswerStore(tmp_path / "pages.db")
    with FakeWeb() as internet:
        internet.site("news.test").on("/a", held)
        web = Web(WebOptions(cache=tmp_path / "pages.db"), resolver=internet.dns, dial=internet.dial)
        fetcher = web.fetcher(Everything())
        asking = asyncio.create_task(fetcher.fetch("https://news.test/a"))
        assert await held.kept_meanwhile(lambda: left_behind.get("https://news.test/a", now=0.0) is not None)
        assert not asking.done()
        assert b"It turns." in (await asking).body
        await fetcher.close()
        await web.close()
    left_behind.close()
