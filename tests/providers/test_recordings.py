"""Every answer recorded from the vendors goes through the real adapter over a real server."""

import json
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import ModelAnswer
from deep_research.errors import (
    ContextTooLong,
    MalformedOutput,
    ModelRateLimited,
    ModelSetupError,
    ProviderDown,
    ResearchError,
)
from tests.providers.served import WEATHER, asking, completed, serving

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"
PROVIDERS = {
    "openai_chat": "openai",
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "dashscope": "aliyun",
    "ollama": "ollama",
    "openrouter": "openrouter",
    "groq": "groq",
}
OTHER_WIRES = {"native_generation", "native_generation_stream", "generate"}
"""DashScope's own protocol and Ollama's completion: not the wires that are spoken here."""

GOOD: dict[str, dict[str, Any]] = {
    "openai_chat/search_preview_annotations": {"text": "Het is", "prompt_tokens": 12, "completion_tokens": 293},
    "openai_chat/stream_text_gpt4o_mini": {"text": "The capital of the UK is London."},
    "openai_chat/stream_tool_call_1": {"calls": [("get_country", {}), ("get_product_name", {})], "prompt_tokens": 364},
    "openai_chat/stream_tool_call_2": {"calls": [("get_weather", {"city": "Mexico City"})]},
    "openai_chat/tool_calls_gpt4o_mini": {"calls": [("get_capital", {"country": "England"})], "prompt_tokens": 104},
    "anthropic/stream_tool_calls": {"calls": [("pelican_name_generator", {})], "prompt_tokens": 543},
    "anthropic/tool_use_with_thinking": {
        "text": "I'll help you find",
        "calls": [("get_user_country", {})],
        "reasoning": "The user is asking",
        "completion_tokens": 155,
    },
    "anthropic/web_fetch_stream": {"text": "", "reasoning": "The user wants me to fetch"},
    "anthropic/web_fetch_tool_error": {"text": "I'll fetch the PDF", "prompt_tokens": 1902},
    "anthropic/web_search": {"reasoning": "The user is asking about the weather"},
    "anthropic/web_search_stream": {"text": ""},
    "deepseek/reasoning": {"text": "Crossing", "reasoning": "Okay, the user", "reasoning_tokens": 415},
    "deepseek/reasoning_stream": {"text": "Hello", "reasoning": "Hmm", "reasoning_tokens": 198},
    "dashscope/compat_chat": {"text": "Paris", "prompt_tokens": 24},
    "dashscope/compat_stream": {"text": "1, 2, 3, 4, 5", "completion_tokens": 13},
    "dashscope/compat_tool_call": {"calls": [("get_weather", {"location": "San Francisco, CA", "unit": "celsius"})]},
    "dashscope/compat_tool_call_stream": {"calls": [("search", {"query": "AI news"})], "prompt_tokens": 144},
    "dashscope/qwen3_reasoning_enable_thinking": {"text": "The word", "reasoning": "We are asked"},
    "dashscope/qwen3_tool_call_stream": {"calls": [("weather", {"location": "San Francisco"})]},
    "ollama/chat": {"text": "A joke", "prompt_tokens": 17, "completion_tokens": 66},
    "ollama/chat_stream_ndjson": {"text": "Why did the OpenTelemetry", "completion_tokens": 50},
    "ollama/chat_tool_calls": {"text": "This is a simple example"},
    "ollama/openai_compat_cloud_tool_calls": {"calls": [("final_result", {"city": "Paris", "country": "France"})]},
    "groq/error_400_tool_use_failed": {"calls": [("get_something_by_name", {"foo": "bar"})]},
}
BAD: dict[str, tuple[type[ResearchError], dict[str, Any]]] = {
    "openai_chat/error_400_context_length_exceeded": (ContextTooLong, {"window": 4097, "used": 4294}),
    "openai_chat/error_400_max_tokens_param": (ModelSetupError, {"reason": "bad_request"}),
    "openai_chat/error_400_unsupported": (ModelSetupError, {"reason": "bad_request"}),
    "openai_chat/error_404_model_not_found": (ModelSetupError, {"reason": "unknown_model"}),
    "openai_chat/error_429_insufficient_quota": (
        ModelSetupError,
        {"reason": "no_credit", "setting": "OPENAI_API_KEY"},
    ),
    "anthropic/error_400_prompt_too_long": (ContextTooLong, {"window": 200_000, "used": 203_284}),
    "anthropic/error_400_unsupported": (ModelSetupError, {"reason": "bad_request"}),
    "anthropic/error_529_overloaded": (ProviderDown, {"status": 529}),
    "deepseek/error_400_context_length": (ContextTooLong, {"window": 131_072, "used": 131_134}),
    "dashscope/error_400_enable_thinking_non_stream": (ModelSetupError, {"reason": "bad_request"}),
    "dashscope/error_400_input_length": (ContextTooLong, {"window": 983_616}),
    "dashscope/native_error_401": (ModelSetupError, {"reason": "bad_key", "setting": "DASHSCOPE_API_KEY"}),
    "openrouter/error_429_upstream": (ModelRateLimited, {"status": 429}),
    "openrouter/stream_error_in_band": (MalformedOutput, {"status": 400}),
}

pytestmark = pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recorded answers are not here")


def recorded() -> list[str]:
    return sorted(
        f"{api}/{meta.name.removesuffix('.meta.json')}"
        for api in PROVIDERS
        for meta in (RECORDINGS / api).glob("*.meta.json")
        if meta.name.removesuffix(".meta.json") not in OTHER_WIRES
    )


def loaded(name: str) -> tuple[bytes, int, dict[str, str]]:
    meta = json.loads((RECORDINGS / f"{name}.meta.json").read_text("utf-8"))
    body = (RECORDINGS / name.split("/", 1)[0] / meta["body_file"]).read_bytes()
    kept = {name: value for name, value in meta["response"].get("headers", {}).items() if name.startswith("retry")}
    return body, meta["response"]["status"], kept


async def ask(name: str, *, pieces: int = 0) -> ModelAnswer:
    body, status, headers = loaded(name)
    provider = PROVIDERS[name.split("/", 1)[0]]
    if name == "ollama/openai_compat_cloud_tool_calls":
        provider = "compatible"
    streamed = body.startswith((b"data", b"event", b":"))
    with serving(body, status=status, headers=headers, pieces=pieces) as served:
        facts = {"stream_only": streamed}
        return await completed(asking(tools=(WEATHER,)), served.url, provider=provider, name="some-model", facts=facts)


def test_every_recording_has_an_expectation() -> None:
    assert set(recorded()) == {*GOOD, *BAD}


@pytest.mark.parametrize("pieces", [0, 7])
@pytest.mark.parametrize("name", sorted(GOOD))
async def test_answers(name: str, pieces: int) -> None:
    expected = GOOD[name]
    answer = await ask(name, pieces=pieces)
    assert answer.text.lstrip().startswith(expected.get("text", ""))
    assert [(call.name, call.arguments) for call in answer.tool_calls] == expected.get("calls", [])
    assert answer.reasoning.startswith(expected.get("reasoning", ""))
    assert all(call.id for call in answer.tool_calls)
    assert answer.finish_reason == ("tool_calls" if answer.tool_calls else "stop")
    for field in ("prompt_tokens", "completion_tokens", "reasoning_tokens"):
        if field in expected:
            assert getattr(answer.usage, field) == expected[field]
    assert answer.usage.completion_tokens > 0


@pytest.mark.parametrize("name", sorted(BAD))
async def test_errors(name: str) -> None:
    kind, fields = BAD[name]
    with pytest.raises(kind) as caught:
        await ask(name)
    assert type(caught.value) is kind
    assert {field: getattr(caught.value, field) for field in fields} == fields
    assert "test-key" not in str(caught.value)
