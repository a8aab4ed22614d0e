"""Each adapter against the scripted provider."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langchain_openai import AzureChatOpenAI, ChatOpenAI

from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, ToolCall
from deep_research.errors import (
    ContextTooLong,
    MalformedOutput,
    ModelRateLimited,
    ModelSetupError,
    ProviderDown,
    ResearchError,
)
from deep_research.providers.model_client import OpenModel
from deep_research.providers.provider_catalog import open_model
from tests.providers.served import KEYS, SCHEMA, WEATHER, asking, completed
from tests.support import Call, Reply, ScriptedProvider

STREAM = {"stream_only": True}
WIRES: dict[str, Callable[[ScriptedProvider], OpenModel]] = {
    "openai": lambda p: open_model("openai", "gpt-4o", keys=KEYS, base_url=p.base_url),
    "openai-stream": lambda p: open_model("openai", "gpt-4o", keys=KEYS, base_url=p.base_url, facts=STREAM),
    "anthropic": lambda p: open_model("anthropic", "claude-haiku-4-5", keys=KEYS, base_url=p.base_url),
    "ollama": lambda p: open_model("ollama", "qwen3", base_url=p.base_url),
    "langchain": lambda p: open_model(
        "langchain",
        "openai:gpt-4o",
        chat_model=ChatOpenAI(model="gpt-4o", api_key="k", base_url=p.base_url, max_retries=0),
    ),
}
OWN = [name for name in WIRES if name != "langchain"]


@asynccontextmanager
async def opened(wire: str, provider: ScriptedProvider) -> AsyncIterator[OpenModel]:
    model = WIRES[wire](provider)
    try:
        yield model
    finally:
        await model.close()


async def answer_of(wire: str, said: Any, request: ModelRequest) -> ModelAnswer:
    with ScriptedProvider(said) as provider:
        async with opened(wire, provider) as model:
            return await model.complete(request)


@pytest.mark.parametrize("wire", WIRES)
async def test_text_with_its_tokens(wire: str) -> None:
    answer = await answer_of(wire, ["It is raining."], asking())
    assert answer.text == "It is raining."
    assert answer.finish_reason == "stop"
    assert answer.usage.prompt_tokens > 5
    assert answer.usage.completion_tokens == 4
    assert not answer.usage.estimated


@pytest.mark.parametrize("wire", WIRES)
async def test_tool_calls_and_their_answers(wire: str) -> None:
    calls = Reply(tool_calls=(Call("get_weather", {"city": "Oslo"}), Call("get_weather", {"city": "Turin"})))
    with ScriptedProvider([calls, "Rain and sun."]) as provider:
        async with opened(wire, provider) as model:
            request = asking(tools=(WEATHER,))
            first = await model.complete(request)
            results = [ModelMessage(role="tool", text="rain", tool_call_id=call.id) for call in first.tool_calls]
            said = ModelMessage(role="assistant", tool_calls=first.tool_calls)
            second = await model.complete(request.model_copy(update={"messages": (*request.messages, said, *results)}))
    assert [call.arguments for call in first.tool_calls] == [{"city": "Oslo"}, {"city": "Turin"}]
    assert first.finish_reason == "tool_calls"
    assert len({call.id for call in first.tool_calls}) == 2
    assert second.text == "Rain and sun."
    heard = provider.calls[1].request
    assert heard["tools"] == ["get_weather"]
    assert [m["text"] for m in heard["messages"] if m["role"] == "tool"] == ["rain", "rain"]
    assert [json.loads(c["arguments"])["city"] for m in heard["messages"] for c in m["tool_calls"]] == ["Oslo", "Turin"]


@pytest.mark.parametrize("means", ["native", "tool", "json", "text"])
@pytest.mark.parametrize("wire", ["openai", "openai-stream", "anthropic", "anthropic-stream"])
async def test_structured_answers_by_every_means(wire: str, means: str) -> None:
    said = (
        Reply(data={"word": "rain", "number": 3})
        if means in ("native", "tool")
        else "```json\n{'word': 'rain', 'number': 3,}\n```"
    )
    with ScriptedProvider([said]) as provider:
        name = wire.split("-", maxsplit=1)[0]
        facts = {"structured": means, "stream_only": wire.endswith("stream")}
        asked = asking(schema_=SCHEMA, schema_name="weather")
        answer = await completed(asked, provider.base_url, provider=name, facts=facts)
    assert json.loads(answer.text) == {"word": "rain", "number": 3}
    assert answer.tool_calls == ()
    request = provider.calls[0].request
    assert (request["schema"] is not None) == (means in ("native", "tool"))
    assert bool(request["forced_tool"]) == (means == "tool")
    assert ("JSON" in request["prompt"]) == (means in ("json", "text"))


@pytest.mark.parametrize("wire", OWN)
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("rate_limited", ModelRateLimited),
        ("context_too_long", ContextTooLong),
        ("unknown_model", ModelSetupError),
        ("cut_stream", ProviderDown),
        ("not_json", ProviderDown),
        ("unclosed_think", MalformedOutput),
    ],
)
async def test_faults_become_our_errors(wire: str, fault: str, expected: type[ResearchError]) -> None:
    if wire == "ollama" and fault == "rate_limited":
        pytest.skip("Ollama has no such error")
    with pytest.raises(expected) as caught:
        await answer_of(wire, lambda _: Reply(text="A word or two. " * 20, fault=fault), asking())
    assert type(caught.value) is expected
    assert caught.value.provider == wire.split("-", maxsplit=1)[0]
    if fault == "rate_limited":
        assert caught.value.retry_after == 1.0


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("rate_limited", ModelRateLimited),
        ("server_error", ProviderDown),
        ("context_too_long", ContextTooLong),
        ("bad_key", ModelSetupError),
        ("empty", MalformedOutput),
    ],
)
async def test_faults_behind_langchain(fault: str, expected: type[ResearchError]) -> None:
    with pytest.raises(expected):
        await answer_of("langchain", lambda _: Reply(text="A word or two.", fault=fault), asking())


@pytest.mark.parametrize("wire", OWN)
@pytest.mark.parametrize("fault", ["think_tags", "reasoning_content"])
async def test_thoughts_never_reach_the_text(wire: str, fault: str) -> None:
    answer = await answer_of(wire, [Reply(data={"word": "rain", "number": 3}, fault=fault)], asking(schema_=SCHEMA))
    assert json.loads(answer.text) == {"word": "rain", "number": 3}
    assert "First I weigh" in answer.reasoning or "The user wants" in answer.reasoning


@pytest.mark.parametrize("key", ["sk-“quoted”", "sk-two\nlines"])
def test_a_key_that_cannot_be_sent_is_a_setting(key: str) -> None:
    with pytest.raises(ModelSetupError, match="OPENAI_API_KEY") as caught:
        open_model("openai", keys={"OPENAI_API_KEY": key})
    assert key not in str(caught.value)


async def test_an_address_that_is_none_is_a_setting() -> None:
    with pytest.raises(ModelSetupError, match="broken"):
        await completed(asking(), "http://localhost:broken/v1", provider="compatible")


async def test_ollama_refuses_what_it_would_cut() -> None:
    with ScriptedProvider() as provider:
        model = open_model("ollama", "qwen3", base_url=provider.base_url, context_tokens=4096)
        with pytest.raises(ContextTooLong) as caught:
            await model.complete(asking("word " * 20_000))
        await model.complete(asking("word", max_output_tokens=100))
        await model.close()
    assert caught.value.window <= 4096
    (call,) = provider.calls
    assert call.request["body"]["options"] == {"num_ctx": 4096, "num_predict": 100}


async def test_anthropic_gets_alternating_roles_and_no_empty_text() -> None:
    broken = ToolCall(id="t1", name="get_weather", arguments=None, raw="{")
    messages = (
        ModelMessage(role="system", text="Rules."),
        ModelMessage(role="user", text="One."),
        ModelMessage(role="user", text="Two."),
        ModelMessage(role="assistant", tool_calls=(broken,)),
        ModelMessage(role="tool", tool_call_id="t1", text=""),
        ModelMessage(role="user", text="Go on."),
    )
    with ScriptedProvider(["Yes."]) as provider:
        async with opened("anthropic", provider) as model:
            await model.complete(ModelRequest(messages=messages, tools=(WEATHER,)))
    body = provider.calls[0].request["body"]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    blocks = [block for message in body["messages"] for block in message["content"]]
    assert all(block.get("text") != "" for block in blocks)
    assert [block["input"] for block in blocks if block["type"] == "tool_use"] == [{}]
    assert body["system"][0]["cache_control"] == blocks[-1]["cache_control"] == {"type": "ephemeral"}


async def test_bounds_are_taken_out_of_anthropics_schema() -> None:
    with ScriptedProvider() as provider:
        async with opened("anthropic", provider) as model:
            await model.complete(asking(schema_=SCHEMA))
    sent = provider.calls[0].request["schema"]
    assert sent["properties"] == {"word": {"type": "string"}, "number": {"type": "integer"}}


async def test_a_model_object_for_azure_finds_its_deployment() -> None:
    with ScriptedProvider(["Yes."]) as provider:
        azure = AzureChatOpenAI(
            azure_endpoint=provider.base_url,
            azure_deployment="mine",
            model="gpt-4o",
            api_key="k",
            api_version="2024-10-21",
        )
        answer = await open_model("langchain", chat_model=azure).complete(asking())
        await azure.root_async_client.close()
    assert answer.text == "Yes."
    assert provider.calls[0].path == "/openai/deployments/mine/chat/completions"
