"""Answers of any shape: an answer comes out, or an error of ours; nothing else."""

import asyncio
import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deep_research.data import ModelAnswer
from deep_research.errors import ResearchError
from tests.providers.served import WEATHER, asking, completed, serving

JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.just([]), st.just({}), st.just([None]), st.just([{}])
)  # fmt: skip
OPENAI: dict[str, Any] = {
    "id": "c", "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {
        "content": "Hi", "refusal": None, "reasoning_content": "hm",
        "tool_calls": [{"id": "a", "function": {"name": "get_weather", "arguments": "{}"}}]}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 0}},
}  # fmt: skip
ANTHROPIC: dict[str, Any] = {
    "id": "m", "type": "message", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}}],
    "usage": {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 0},
}  # fmt: skip
OLLAMA: dict[str, Any] = {
    "message": {"content": "Hi", "thinking": "", "tool_calls": [{"function": {"name": "get_weather", "arguments": {}}}]},
    "done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1, "model": "m",
}  # fmt: skip
BODIES = {"openai": OPENAI, "anthropic": ANTHROPIC, "ollama": OLLAMA}


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, part in inner for path in ((*at, key), *paths(part, (*at, key)))]


def put(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(body)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


async def answered(provider: str, body: Any) -> ModelAnswer | ResearchError:
    with serving(json.dumps(body).encode()) as served:
        try:
            return await completed(asking(tools=(WEATHER,)), served.url, provider=provider)
        except ResearchError as error:
            return error


@pytest.mark.parametrize("provider", BODIES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_shape(provider: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(paths(BODIES[provider])))
    body = put(BODIES[provider], path, data.draw(JUNK))
    assert isinstance(asyncio.run(answered(provider, body)), (ModelAnswer, ResearchError))
