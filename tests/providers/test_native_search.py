"""D3: answers with a provider's own web search in them are read; its blocks are no tool calls of ours."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from deep_research.data import ModelAnswer
from deep_research.providers.langchain_model import wrap_model
from deep_research.providers.model_families import family_of
from deep_research.providers.provider_failures import About
from deep_research.reasoners.model.conversation import research_tools
from tests.providers.served import WEATHER, asking, completed, serving

USED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://example.org/", "title": "Rain", "encrypted_content": "Eq"}
    ],
}
FAILED = {**FOUND, "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}}
TOLD = {
    "type": "text",
    "text": "It rains.",
    "citations": [{"type": "web_search_result_location", "url": "https://example.org/", "cited_text": "It rains."}],
}
OURS = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Graz"}}


async def _asked(provider: str, body: bytes) -> ModelAnswer:
    streamed = body.startswith(b"event")
    with serving(body) as served:
        facts = {"stream_only": streamed}
        return await completed(asking(tools=(WEATHER,)), served.url, provider=provider, facts=facts)


def _message(*blocks: dict[str, Any]) -> bytes:
    usage = {"input_tokens": 9, "output_tokens": 5, "server_tool_use": {"web_search_requests": 1}}
    told = {"id": "msg_1", "type": "message", "role": "assistant", "model": "some-model", "content": blocks}
    return json.dumps({**told, "stop_reason": "end_turn", "usage": usage}).encode()


def _stream(*blocks: dict[str, Any]) -> bytes:
    start = {"id": "msg_1", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(blocks):
        bare = {**block, "input": {}} if "input" in block else {**block, "text": ""} if "text" in block else block
        events.append({"type": "content_block_start", "index": index, "content_block": bare})
        if "input" in block:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        if "text" in block:
            note = {"type": "citations_delta", "citation": TOLD["citations"][0]}
            deltas = ({"type": "text_delta", "text": block["text"]}, note)
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


@pytest.mark.parametrize("wire", [_message, _stream])
@pytest.mark.parametrize("result", [FOUND, FAILED])
async def test_d3_blocks_of_anthropics_search_are_no_calls_of_ours(wire: Any, result: dict[str, Any]) -> None:
    answer = await _asked("anthropic", wire(USED, result, TOLD))
    assert (answer.text, answer.tool_calls, answer.finish_reason) == ("It rains.", (), "stop")
    mixed = await _asked("anthropic", wire(USED, result, TOLD, OURS))
    assert [(call.name, call.arguments) for call in mixed.tool_calls] == [("get_weather", {"city": "Graz"})]


async def test_d3_citations_of_openai_are_no_text_and_no_calls() -> None:
    note = {"type": "url_citation", "url_citation": {"url": "https://example.org/", "title": "Rain", "end_index": 9}}
    search = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
    message = {"role": "assistant", "content": "It rains.", "annotations": [note], "tool_calls": [search]}
    told = {"id": "c", "model": "some-model", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    answer = await _asked("openai", json.dumps(told | {"usage": {"prompt_tokens": 9, "completion_tokens": 5}}).encode())
    assert (answer.text, answer.tool_calls, answer.finish_reason) == ("It rains.", (), "stop")


class _Searching:
    """A chat model of LangChain with its vendor's search bound, which answers with what that has found."""

    def __init__(self, *blocks: dict[str, Any]) -> None:
        self.kwargs = {"tools": [{"type": "web_search"}]}
        self.bound: list[Any] = []
        self._blocks = blocks

    def bind_tools(self, tools: list[Any]) -> "_Searching":
        self.bound = tools
        return self

    async def ainvoke(self, _messages: list[Any]) -> AIMessage:
        return AIMessage(content=[*self._blocks])


@pytest.mark.parametrize(
    "blocks",
    [
        (USED, FOUND, {"type": "text", "text": "It rains."}),
        (
            {
                "type": "text",
                "text": "It rains.",
                "annotations": [{"type": "url_citation", "url": "https://example.org/"}],
            },
        ),
    ],
)
async def test_d3_what_a_vendors_search_has_found_is_opened_by_a_researcher(blocks: tuple[dict[str, Any], ...]) -> None:
    model = _Searching(*blocks)
    named = wrap_model(model, About("langchain", "m"), family_of("gpt-4.1"), base_url="", timeout_seconds=5.0)  # type: ignore[arg-type]
    answer = await named.complete(asking(tools=research_tools((), opens_addresses=True)))
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("open", {"source": "https://example.org/"})]
    assert model.bound[0] == {"type": "web_search"}
    plain = await named.complete(asking(tools=(WEATHER,)))
    assert (plain.text, plain.tool_calls) == ("It rains.", ())
