"""The official OpenAI SDK completes a research against the server, unchanged."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from deep_research.stores.run_folder import list_runs
from tests.server.serving import TIMEOUT, serving

QUESTION = "How does speculative decoding work?"


@pytest.fixture
def sdk(indexed: Path) -> Iterator[openai.OpenAI]:
    with serving(indexed) as address, httpx.Client(timeout=TIMEOUT, trust_env=False) as http:
        yield openai.OpenAI(base_url=f"{address}/v1", api_key="none", http_client=http, max_retries=0)


def test_a_streamed_chat_gives_progress_then_the_report_then_the_usage(sdk: openai.OpenAI) -> None:
    assert "deep-research" in [model.id for model in sdk.models.list()]
    stream = sdk.chat.completions.create(
        model="deep-research-quick",
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    thought = "".join(
        (chunk.choices[0].delta.model_extra or {}).get("reasoning_content", "") for chunk in chunks if chunk.choices
    )
    assert "[1]" in text
    assert "searched documents" in thought
    assert chunks[-1].usage is not None
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"


def test_a_response_is_streamed(sdk: openai.OpenAI) -> None:
    with sdk.responses.stream(model="deep-research-quick", input=QUESTION) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "[1]" in final.output_text


def test_a_response_in_the_background_is_looked_at_later_and_gone_on_from(sdk: openai.OpenAI) -> None:
    begun = sdk.responses.create(model="deep-research-quick", input=QUESTION, background=True)
    assert begun.status == "in_progress"
    until = time.monotonic() + TIMEOUT
    while (seen := sdk.responses.retrieve(begun.id)).status == "in_progress":
        assert time.monotonic() < until
    assert seen.status == "completed"
    assert "[1]" in seen.output_text
    after = sdk.responses.create(
        model="deep-research-quick", input="What are its limits?", previous_response_id=begun.id
    )
    assert after.status == "completed"
    sdk.responses.delete(after.id)
    with pytest.raises(openai.NotFoundError):
        sdk.responses.retrieve(after.id)


def test_a4_the_answer_in_a_chat_goes_to_the_run_that_asked(sdk: openai.OpenAI, own_state: Path) -> None:
    question, answers = "帮我研究一下", ["B", "speculative decoding"]
    said: list[ChatCompletionMessageParam] = [{"role": "user", "content": question}]
    for answer in answers:
        asked = sdk.chat.completions.create(model="deep-research", messages=said).choices[0].message.content or ""
        assert "1. " in asked
        said += [{"role": "assistant", "content": f"{asked}\n"}, {"role": "user", "content": answer}]
    (done,) = sdk.chat.completions.create(model="deep-research", messages=said).choices
    report = done.message.content or ""
    assert done.finish_reason == "stop"
    assert "[1]" in report
    assert answers[-1] in report or question in report
    (run,) = list_runs(own_state)
    assert (run.question, run.status) == (question, "finished")


def test_a4_the_answer_to_a_response_goes_to_the_run_that_asked(sdk: openai.OpenAI, own_state: Path) -> None:
    asked = sdk.responses.create(model="deep-research", input="tell me about it")
    after = sdk.responses.create(model="deep-research", input="speculative decoding", previous_response_id=asked.id)
    assert "[1]" in after.output_text
    (run,) = list_runs(own_state)
    assert (run.question, run.status) == ("tell me about it", "finished")


def test_a8_a_conversation_that_no_run_waits_in_can_be_asked_about(sdk: openai.OpenAI) -> None:
    said: list[ChatCompletionMessageParam] = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": "cancer"},
    ]
    asked = sdk.chat.completions.create(model="deep-research", messages=said).choices[0].message.content or ""
    assert asked.startswith("Which aspect of “cancer”")


def test_a_response_is_cancelled_and_errors_come_in_the_form_that_the_sdk_knows(sdk: openai.OpenAI) -> None:
    begun = sdk.responses.create(model="deep-research", input=QUESTION, background=True)
    assert sdk.responses.cancel(begun.id).status == "cancelled"
    with pytest.raises(openai.BadRequestError, match="no model"):
        sdk.chat.completions.create(model="gpt-none", messages=[{"role": "user", "content": QUESTION}])
    with pytest.raises(openai.BadRequestError, match="no question"):
        sdk.chat.completions.create(model="deep-research", messages=[{"role": "system", "content": "Be brief."}])
    with pytest.raises(openai.NotFoundError):
        sdk.responses.retrieve("resp_20200101-000000-0000")
