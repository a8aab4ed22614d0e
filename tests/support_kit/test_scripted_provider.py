import json
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, Field

from tests.support import Reply, ScriptedProvider
from tests.support.scripted_faults import CONTENT_FAULTS, FAULTS, changed
from tests.support.scripted_provider import script_of
from tests.support.scripted_replies import Call, instance_of


class Inner(BaseModel):
    kind: str = Field(min_length=6)
    score: float = Field(ge=0.5)


class Outer(BaseModel):
    name: str
    parts: list[Inner] = Field(min_length=2)
    maybe: int | None
    flag: bool


def post(provider: ScriptedProvider, body: dict[str, Any], path: str = "/v1/chat/completions") -> httpx.Response:
    return httpx.post(provider.base_url + path, json=body, headers={"authorization": "Bearer secret-key"})


def asked(text: str, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **fields}


def test_an_instance_fits_its_schema() -> None:
    made = Outer.model_validate(instance_of(Outer.model_json_schema()))
    assert len(made.parts) == 2


def test_requests_are_recorded_without_secrets() -> None:
    with ScriptedProvider(["Hello."]) as provider:
        assert post(provider, asked("Hi")).json()["choices"][0]["message"]["content"] == "Hello."
    (call,) = provider.calls
    assert call.request["prompt"] == "Hi"
    assert "secret-key" not in json.dumps([dict(call.headers), call.request])
    assert call.answered
    assert call.ended >= call.started


def test_a_script_that_ended_says_so() -> None:
    with ScriptedProvider(["One."]) as provider:
        post(provider, asked("1"))
        assert post(provider, asked("2")).status_code == 400


def test_the_last_reply_can_go_on_for_ever() -> None:
    with ScriptedProvider(script_of("One.", "More.")) as provider:
        said = [post(provider, asked(str(i))).json()["choices"][0]["message"]["content"] for i in range(3)]
    assert said == ["One.", "More.", "More."]


def test_faults_are_drawn_by_request_and_not_by_order() -> None:
    def drawn(order: list[int]) -> dict[int, int]:
        with ScriptedProvider().faults(0.5, ["server_error", "bad_key"], seed=3) as provider:
            return {i: post(provider, asked(f"question {i}")).status_code for i in order}

    forwards, backwards = drawn(list(range(40))), drawn(list(range(39, -1, -1)))
    assert forwards == backwards
    assert 10 < sum(status != 200 for status in forwards.values()) < 30
    assert {200, 500, 401} == set(forwards.values())


def test_a_failed_call_is_drawn_anew() -> None:
    with ScriptedProvider().faults(0.5, ["server_error"], seed=1) as provider:
        statuses = {post(provider, asked("again")).status_code for _ in range(20)}
        assert statuses == {200, 500}
        assert provider.duplicates > 0


def test_an_unknown_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="no_such_fault"):
        ScriptedProvider().faults(0.2, ["no_such_fault"])


def test_a_long_prompt_is_refused_with_its_numbers() -> None:
    with ScriptedProvider(context_limit=100) as provider:
        error = post(provider, asked("x" * 800)).json()["error"]
        assert error["code"] == "context_length_exceeded"
        assert "100 tokens" in error["message"]
        assert post(provider, asked("x" * 80)).status_code == 200


def test_a_wrong_key_is_refused() -> None:
    with ScriptedProvider(key="right-key") as provider:
        assert post(provider, asked("Hi")).status_code == 401


def test_answers_end_at_the_output_limit() -> None:
    with ScriptedProvider(["word " * 100]) as provider:
        choice = post(provider, asked("Hi", max_tokens=5)).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"] == "word word word word "


def test_only_a_shared_prefix_is_cached() -> None:
    with ScriptedProvider() as provider:
        post(provider, asked("a" * 640 + "b" * 640))
        post(provider, asked("a" * 640 + "c" * 640))
        post(provider, asked("c" * 640))
    cached = [call.counted.cached for call in provider.calls]
    assert cached[0] == 0
    assert 640 / 4 <= cached[1] < 640 / 4 + 32
    assert cached[2] < 32


def test_ollama_cuts_silently_at_num_ctx() -> None:
    with ScriptedProvider() as provider:
        body = asked("x" * 40_000, stream=False, options={"num_ctx": 2048})
        assert post(provider, body, "/api/chat").json()["prompt_eval_count"] == 2048


def test_models_are_listed() -> None:
    with ScriptedProvider(models=["one", "two"]) as provider:
        listed = httpx.get(provider.base_url + "/v1/models").json()["data"]
    assert [model["id"] for model in listed] == ["one", "two"]


@pytest.mark.parametrize("fault", sorted(CONTENT_FAULTS))
def test_content_faults_change_what_is_said(fault: str) -> None:
    reply = Reply(data={"title": "A sentence of more than forty characters, for citing.", "n": 1})
    spoiled = changed(reply, fault)
    assert spoiled.fault == fault
    assert spoiled != reply
    if fault == "unknown_citation":
        assert "[s999p1]" in spoiled.spoken
    if fault in ("invalid_json", "broken_arguments"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(spoiled.spoken)
    called = changed(Reply(tool_calls=(Call("search", {"query": "x"}),)), fault)
    if fault in ("broken_arguments", "invalid_json"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(called.tool_calls[0].raw())


def test_all_faults_are_named_once() -> None:
    assert len(FAULTS) == len(set(FAULTS))
