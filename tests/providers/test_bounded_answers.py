"""What a model's server sends is bounded by what was asked for, and nothing of it holds up other calls."""

import json
import time
from typing import Any

import pytest

from deep_research.data import ModelAnswer
from deep_research.errors import ResearchError
from deep_research.providers import answer_parsing
from deep_research.providers.answer_parsing import MOST_CALLS
from deep_research.providers.http_wire import Lines, WireFailure
from deep_research.providers.token_stream import streaming_to
from tests.providers.served import WEATHER, asking, completed, serving

_ASKED = 1_000
"""Tokens; an answer may have a megabyte then."""


def _whole(**message: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": None}).encode()


def _streamed(*deltas: dict[str, Any]) -> bytes:
    events: list[Any] = [{"choices": [{"delta": delta}]} for delta in deltas]
    events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"


async def _ignored(_piece: str) -> None:
    """Take a piece of a streamed answer."""


async def _answer(body: bytes, *, status: int = 200, provider: str = "openai") -> ModelAnswer | ResearchError:
    with serving(body, status=status) as served:
        try:
            with streaming_to(_ignored if body.startswith(b"data") else None):
                asked = asking(max_output_tokens=_ASKED, tools=(WEATHER,))
                return await completed(asked, served.url, provider=provider)
        except ResearchError as error:
            return error


async def test_pieces_of_a_letter_are_shown_together() -> None:
    shown: list[str] = []

    async def show(piece: str) -> None:
        shown.append(piece)

    with serving(_streamed(*({"content": f"{n} "} for n in range(8000)))) as served, streaming_to(show):
        answer = await completed(asking(max_output_tokens=20_000), served.url)
    assert "".join(shown).strip() == answer.text.strip() == " ".join(map(str, range(8000)))
    assert len(shown) < 800


_CALL = {"id": "", "function": {"name": "get_weather", "arguments": "{}"}}
_BLOCK = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}}
_LINE = {"message": {"tool_calls": [{"function": {"name": "get_weather", "arguments": {}}}] * 500}}
CALLS = {
    "openai whole": ("openai", _whole(tool_calls=[_CALL] * 500)),
    "openai text": ("openai", _whole(content=json.dumps({"name": "get_weather", "arguments": {}}) * 500)),
    "openai streamed": ("openai", _streamed(*({"tool_calls": [{**_CALL, "index": n}]} for n in range(500)))),
    "anthropic": ("anthropic", json.dumps({"content": [_BLOCK] * 500, "stop_reason": "tool_use"}).encode()),
    "ollama": ("ollama", json.dumps({**_LINE, "done": True}).encode() + b"\n"),
}


@pytest.mark.parametrize(("provider", "body"), CALLS.values(), ids=CALLS)
async def test_an_answer_has_so_many_calls(provider: str, body: bytes) -> None:
    answer = await _answer(body, provider=provider)
    assert isinstance(answer, ModelAnswer)
    assert len(answer.tool_calls) == MOST_CALLS


@pytest.mark.parametrize(
    "body",
    [
        _whole(content="word " * 1_000_000),
        _whole(content="a", tool_calls=[_CALL] * 100_000),
        _streamed(*[{"content": "word " * 10_000}] * 100),
        _streamed({"content": "word " * 1_000_000}),
    ],
    ids=["words", "calls", "stream", "event"],
)
async def test_an_answer_far_beyond_what_was_asked_for_is_none(body: bytes) -> None:
    failed = await _answer(body)
    assert isinstance(failed, ResearchError)
    assert "an answer of more than 1,048,576 bytes" in failed.message


async def test_a_long_answer_is_understood_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker finds the calls in an answer; this process, whose wires answer others meanwhile, could not."""
    text = f"<tool_call>{json.dumps({'name': 'get_weather', 'arguments': {'city': 'Graz'}})}</tool_call>\n" * 10_000
    monkeypatch.delattr(answer_parsing, "calls_in")
    answer = await _answer(_whole(content=text))
    assert isinstance(answer, ModelAnswer)
    assert len(answer.tool_calls) == MOST_CALLS


_LONG = "maximum context length is 1 tokens" + "1" * 60_000
ERRORS = {
    "a refusal": (400, json.dumps({"error": {"message": _LONG}}).encode()),
    "an error with 200": (200, json.dumps({"error": {"message": _LONG * 10}}).encode()),
    "an error as text": (400, json.dumps(_LONG).encode()),
    "its detail": (400, json.dumps({"detail": _LONG}).encode()),
}


@pytest.mark.parametrize(("status", "body"), ERRORS.values(), ids=ERRORS)
async def test_of_a_long_error_the_beginning_is_read(status: int, body: bytes) -> None:
    begun = time.process_time()
    assert isinstance(await _answer(body, status=status), ResearchError)
    assert time.process_time() - begun < 3.0, "of computing; it was 34 s"


def test_an_event_in_pieces_of_one_byte_is_put_together_once() -> None:
    lines, event = Lines(2**20), f"data: {json.dumps({'a': 'b' * 300_000})}\n\n".encode()
    begun = time.process_time()
    found = [one for at in range(len(event)) for one in lines.feed(event[at : at + 1])]
    assert [len(one["a"]) for one in found] == [300_000]
    assert time.process_time() - begun < 2.0, "of computing; it was 5 s"


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 50_000, b"data: {x\n" * 5_000], ids=["one line", "many lines"])
def test_an_event_without_end_is_an_error(piece: bytes) -> None:
    lines = Lines(2**20)

    def feed() -> None:
        for _ in range(200):
            lines.feed(piece)

    with pytest.raises(WireFailure):
        feed()
