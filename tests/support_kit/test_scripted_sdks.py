"""The vendors' own SDKs talk to the scripted provider."""

import json
from typing import Any

import anthropic
import openai
import pytest

from tests.support import Call, Reply, ScriptedProvider

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
OPENAI_TOOLS: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": TOOL}}]
ANTHROPIC_TOOLS: Any = [{"name": "get_weather", "description": "", "input_schema": TOOL}]
CALLS = Reply(
    text="Let me see.",
    reasoning="Which cities?",
    tool_calls=(Call("get_weather", {"city": "Oslo"}), Call("get_weather", {"city": "Turin"})),
)
ASK: Any = [{"role": "user", "content": "How is the weather in Oslo and Turin? " * 20}]


def openai_client(provider: ScriptedProvider) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", base_url=provider.base_url + "/v1", max_retries=0)


def anthropic_client(provider: ScriptedProvider) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key="k", base_url=provider.base_url, max_retries=0)


async def test_openai_whole_with_tools_and_usage() -> None:
    with ScriptedProvider([CALLS, "Fine."]) as provider, ScriptedProvider():
        async with openai_client(provider) as client:
            first = await client.chat.completions.create(model="m", messages=ASK, tools=OPENAI_TOOLS)
            second = await client.chat.completions.create(model="m", messages=ASK, tools=OPENAI_TOOLS)
    calls = first.choices[0].message.tool_calls or []
    assert [json.loads(call.function.arguments)["city"] for call in calls if call.type == "function"] == [
        "Oslo",
        "Turin",
    ]
    assert first.choices[0].finish_reason == "tool_calls"
    assert second.choices[0].message.content == "Fine."
    assert first.usage
    assert first.usage.prompt_tokens_details
    assert first.usage.prompt_tokens_details.cached_tokens == 0
    assert second.usage
    assert second.usage.prompt_tokens_details
    cached = second.usage.prompt_tokens_details.cached_tokens or 0
    assert second.usage.prompt_tokens - 16 < cached <= second.usage.prompt_tokens
    assert provider.duplicates == 1


async def test_openai_stream_assembles_to_the_same() -> None:
    with ScriptedProvider([CALLS]) as provider:
        async with openai_client(provider) as client:
            stream = await client.chat.completions.create(
                model="m", messages=ASK, tools=OPENAI_TOOLS, stream=True, stream_options={"include_usage": True}
            )
            chunks = [chunk async for chunk in stream]
    assert chunks[-1].choices == []
    assert chunks[-1].usage
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "Let me see."
    parts = [call for delta in deltas for call in delta.tool_calls or []]
    arguments = {
        index: "".join((p.function and p.function.arguments) or "" for p in parts if p.index == index)
        for index in (0, 1)
    }
    assert arguments == {0: '{"city":"Oslo"}', 1: '{"city":"Turin"}'}
    assert sum(bool(part.id) for part in parts) == 2


async def test_anthropic_whole_and_streamed_agree() -> None:
    with ScriptedProvider([CALLS, CALLS]) as provider:
        async with anthropic_client(provider) as client:
            whole = await client.messages.create(model="m", max_tokens=500, messages=ASK, tools=ANTHROPIC_TOOLS)
            async with client.messages.stream(model="m", max_tokens=500, messages=ASK, tools=ANTHROPIC_TOOLS) as stream:
                streamed = await stream.get_final_message()
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block.input for block in whole.content if block.type == "tool_use"] == [{"city": "Oslo"}, {"city": "Turin"}]
    assert [block.type for block in streamed.content] == [block.type for block in whole.content]
    assert [block.input for block in streamed.content if block.type == "tool_use"] == [
        {"city": "Oslo"},
        {"city": "Turin"},
    ]
    assert whole.stop_reason == streamed.stop_reason == "tool_use"
    assert whole.usage.cache_read_input_tokens == 0
    read = streamed.usage.cache_read_input_tokens or 0
    assert read > 100
    assert streamed.usage.input_tokens + read == whole.usage.input_tokens


@pytest.mark.parametrize(
    ("fault", "for_openai", "for_anthropic"),
    [
        ("rate_limited", openai.RateLimitError, anthropic.RateLimitError),
        ("overloaded", openai.InternalServerError, anthropic.OverloadedError),
        ("context_too_long", openai.BadRequestError, anthropic.BadRequestError),
        ("bad_key", openai.AuthenticationError, anthropic.AuthenticationError),
        ("insufficient_quota", openai.RateLimitError, anthropic.BadRequestError),
        ("cut_stream", openai.APIConnectionError, anthropic.APIConnectionError),
    ],
)
async def test_faults_are_the_errors_of_the_sdks(
    fault: str, for_openai: type[Exception], for_anthropic: type[Exception]
) -> None:
    with ScriptedProvider(lambda _: Reply(text="A word or two.", fault=fault), retry_after_seconds=7) as provider:
        async with openai_client(provider) as first:
            with pytest.raises(for_openai) as caught:
                await first.chat.completions.create(model="m", messages=ASK)
        async with anthropic_client(provider) as second:
            with pytest.raises(for_anthropic):
                await second.messages.create(model="m", max_tokens=100, messages=ASK)
    if fault == "rate_limited":
        assert getattr(caught.value, "response").headers["retry-after"] == "7"  # noqa: B009 - of one class only
