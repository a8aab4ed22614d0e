"""Servers that lack something: what each refuses is learnt, once, and the calls go on; over real wires."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest

from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, ToolCall
from deep_research.errors import ContextTooLong, MalformedOutput
from deep_research.providers.model_client import ModelClient, OpenModel
from deep_research.providers.provider_catalog import open_model
from deep_research.providers.provider_limits import Gate
from deep_research.providers.token_stream import streaming_to
from tests.providers.served import SCHEMA, WEATHER, asking
from tests.support import Reply, ScriptedProvider
from tests.support.clock import FakeClock
from tests.support.scripted_http import HttpResponse, json_response
from tests.support.scripted_provider import RecordedCall
from tests.support.scripted_replies import Request

Refuse = Callable[[Request], HttpResponse | None]
RAIN = {"word": "rain", "number": 3}


class PickyProvider(ScriptedProvider):
    """A scripted provider that refuses some requests with a body of its own."""

    def __init__(self, refuse: Refuse, *about: Any, **named: Any) -> None:
        super().__init__(*about, **named)
        self.refuse = refuse

    async def _answer(self, call: RecordedCall, wire: ModuleType, key: str) -> HttpResponse:
        refused = self.refuse(call.request)
        if refused is not None:
            await asyncio.sleep(0.05)  # so that calls made side by side are refused side by side
            call.status, call.fault = refused.status, "refused"
            return refused
        return await super()._answer(call, wire, key)


def refusal(message: str, status: int = 400, **more: Any) -> HttpResponse:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}
    return json_response(status, {"error": error})


def has(name: str, refused: HttpResponse) -> Refuse:
    return lambda request: refused if name in request["body"] else None


@asynccontextmanager
async def compatible(provider: ScriptedProvider, **options: Any) -> AsyncIterator[OpenModel]:
    model = open_model("compatible", "m", base_url=f"{provider.base_url}/v1", **options)
    try:
        yield model
    finally:
        await model.close()


async def side_by_side(model: OpenModel, *requests: ModelRequest) -> list[ModelAnswer]:
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(model.complete(request)) for request in requests]
    return [task.result() for task in asked]


@pytest.mark.parametrize(
    "refused",
    [
        refusal("This response_format type is unavailable now"),
        refusal("Something about this is wrong."),
    ],
    ids=["DeepSeek", "no known word"],
)
async def test_no_response_format_with_calls_in_flight(refused: HttpResponse) -> None:
    with PickyProvider(has("response_format", refused), lambda _: json.dumps(RAIN)) as provider:
        async with compatible(provider) as model:
            asked = [asking(f"{number}", schema_=SCHEMA) for number in range(3)]
            answers = await side_by_side(model, *asked)
            before = len(provider.calls)
            answers.append(await model.complete(asked[0]))
    assert [json.loads(answer.text) for answer in answers] == [RAIN] * 4
    assert len(provider.calls) == before + 1


async def test_a_server_without_schemas_is_asked_for_its_json_mode() -> None:
    def refuse(request: Request) -> HttpResponse | None:
        form = request["body"].get("response_format") or {}
        return refusal("response_format type json_schema is unavailable") if form.get("type") == "json_schema" else None

    with PickyProvider(refuse, lambda _: json.dumps(RAIN)) as provider:
        async with compatible(provider) as model:
            await model.complete(asking(schema_=SCHEMA))
    assert provider.calls[-1].request["body"]["response_format"] == {"type": "json_object"}
    assert '"minLength"' in provider.calls[-1].request["prompt"]


TEMPLATE = "While executing CallExpression at line 1, column 69 in source:\nError: Jinja Exception: {}"


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_all_that_may_be_refused_one_after_the_other_is_learnt_whatever_the_status(status: int) -> None:
    messages = {
        "max_tokens": "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        "temperature": "Unsupported value: 'temperature' does not support 0.2 with this model.",
        "parallel_tool_calls": "Unrecognized request argument supplied: parallel_tool_calls",
        "stream_options": "stream_options: extra fields not permitted",
    }

    def refuse(request: Request) -> HttpResponse | None:
        if request["system"]:
            return refusal(TEMPLATE.format("System role not supported"), status)
        return next((refusal(words, status) for name, words in messages.items() if name in request["body"]), None)

    facts = {"parallel_tools": True, "stream_only": True}
    with PickyProvider(refuse, lambda _: "Good.") as provider:
        async with compatible(provider, facts=facts) as model:
            request = asking(tools=(WEATHER,), temperature=0.2)
            assert {answer.text for answer in await side_by_side(model, request, request)} == {"Good."}
            before = len(provider.calls)
            assert (await model.complete(request)).text == "Good."
    assert len(provider.calls) == before + 1
    body = provider.calls[-1].request["body"]
    assert set(body) == {"model", "messages", "max_completion_tokens", "tools", "stream"}
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert "Be brief." in body["messages"][0]["content"]


ALTERNATE = TEMPLATE.format("Conversation roles must alternate user/assistant/user/assistant/...")


@pytest.mark.parametrize("message", [ALTERNATE, "Internal Server Error"])
async def test_a_template_that_takes_turns_of_user_and_assistant_alone(message: str) -> None:
    def refuse(request: Request) -> HttpResponse | None:
        roles = [sent["role"] for sent in request["body"]["messages"]]
        return None if roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] else refusal(message, 500)

    with PickyProvider(refuse, lambda _: "Good.") as provider:
        async with compatible(provider) as model:
            client = ModelClient([model], clock=FakeClock(), gates={"compatible": Gate()})
            assert (await client.complete(asking(), role="research")).text == "Good."
            call = ModelMessage(
                role="assistant", text="", tool_calls=(ToolCall(id="c", name="get_weather", arguments={}),)
            )
            result = ModelMessage(role="tool", text="rain", tool_call_id="c")
            longer = asking(tools=(WEATHER,))
            longer = longer.model_copy(update={"messages": (*longer.messages, call, result)})
            assert (await client.complete(longer, role="research")).text == "Good."
            before = len(provider.calls)
            await client.complete(longer, role="research")
    assert len(provider.calls) == before + 1 <= 9


async def test_a_server_error_that_names_what_was_taken_before_teaches_nothing() -> None:
    answers = iter([None, refusal("stream ID 5 was reset", 500), None, None])
    with PickyProvider(lambda _: next(answers), lambda _: "Good.") as provider:
        async with compatible(provider, facts={"stream_only": True}) as model:
            client = ModelClient([model], clock=FakeClock(), gates={"compatible": Gate()})
            for _ in range(3):
                await client.complete(asking(), role="research")
    assert all(call.request["stream"] for call in provider.calls)


NO_TOOLS: dict[str, tuple[str, HttpResponse]] = {
    "vLLM": (
        "compatible",
        refusal('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    ),
    "llama.cpp": ("compatible", refusal("tools param requires --jinja flag", 500)),
    "OpenRouter": ("compatible", refusal("No endpoints found that support tool use.", 404)),
    "Ollama": ("ollama", json_response(400, {"error": "registry.ollama.ai/library/x:7b does not support tools"})),
    "Anthropic's wire": (
        "anthropic",
        json_response(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "tools: not supported"}}),
    ),
}  # fmt: skip
SAID = [
    '{"tool_calls":[{"name":"get_weather","arguments":{"city":"Oslo"}},{"name":"get_weather","arguments":{"city":"Turin"}}]}',
    'I look.\n```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```\n'
    '```json\n{"name": "get_weather", "parameters": {"city": "Turin"}}\n```',
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>\n'
    '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Turin\\"}"}</tool_call>',
    '[{"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}, {"tool": "get_weather", "args": {"city": "Turin"}}]',
]  # fmt: skip


@pytest.mark.parametrize(
    ("server", "said"), [*((server, SAID[0]) for server in NO_TOOLS), *(("vLLM", said) for said in SAID[1:])]
)
async def test_tools_in_text(server: str, said: str) -> None:
    name, refused = NO_TOOLS[server]
    shown: list[str] = []

    async def show(piece: str) -> None:
        shown.append(piece)

    def script(request: Request) -> str:
        return 'Rain. {"a": 1}' if "Result of get_weather" in request["prompt"] else said

    with PickyProvider(has("tools", refused), script) as provider:
        path = "/v1" if name == "compatible" else ""
        model = open_model(name, "m", base_url=f"{provider.base_url}{path}")
        request = asking(tools=(WEATHER,))
        first = await model.complete(request)
        results = [ModelMessage(role="tool", text="rain", tool_call_id=call.id) for call in first.tool_calls]
        turn = ModelMessage(role="assistant", text=first.text, tool_calls=first.tool_calls)
        again = request.model_copy(update={"messages": (*request.messages, turn, *results)})
        with streaming_to(show):
            second = await model.complete(again)
        await model.close()
    assert [call.arguments for call in first.tool_calls] == [{"city": "Oslo"}, {"city": "Turin"}]
    assert first.finish_reason == "tool_calls"
    assert "{" not in first.text
    assert (second.text, second.tool_calls, "".join(shown)) == ('Rain. {"a": 1}', (), 'Rain. {"a": 1}')
    assert [call.status for call in provider.calls] == [refused.status, 200, 200]
    heard = provider.calls[-1].request
    assert "The weather of a city." in heard["system"]
    roles = [message["role"] for message in heard["messages"] if message["role"] != "system"]
    assert roles == ["user", "assistant", "user"]


NO_TOOL_MESSAGES = {
    "compatible": "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    "anthropic": "Bedrock doesn't support tool calling without `tools=` param specified. Pass `tools=` param.",
}


@pytest.mark.parametrize("server", NO_TOOL_MESSAGES)
async def test_calls_are_words_where_a_gateway_takes_them_only_beside_tools(server: str) -> None:
    def refuse(request: Request) -> HttpResponse | None:
        marks = {"tool", "tool_calls", "tool_use"}
        is_of_tools = any(
            marks & {message["role"], *message, *kinds(message)} for message in request["body"]["messages"]
        )
        return refusal(NO_TOOL_MESSAGES[server]) if is_of_tools and "tools" not in request["body"] else None

    def kinds(message: dict[str, Any]) -> set[str]:
        return {block["type"] for block in message["content"]} if isinstance(message["content"], list) else set()

    with PickyProvider(refuse, lambda _: "Rain.") as provider:
        model = open_model(server, "m", base_url=f"{provider.base_url}{'/v1' if server == 'compatible' else ''}")
        called = ToolCall(id="1", name="get_weather", arguments={"city": "Oslo"})
        turns = (
            ModelMessage(role="assistant", tool_calls=(called,)),
            ModelMessage(role="tool", text="wet", tool_call_id="1"),
        )
        request = asking()
        request = request.model_copy(update={"messages": (*request.messages, *turns)})
        offering = request.model_copy(update={"tools": (WEATHER,)})
        said = [(await model.complete(one)).text for one in (offering, request, request, offering)]
        await model.close()
    assert said == ["Rain."] * 4
    assert [call.status for call in provider.calls] == [200, 400, 200, 200, 200]  # learnt once, and tools are kept
    assert [bool(call.request["tools"]) for call in provider.calls] == [True, False, False, False, True]
    assert "Result of get_weather" in provider.calls[2].request["prompt"]


async def test_a_lower_output_limit_is_learnt() -> None:
    def refuse(request: Request) -> HttpResponse | None:
        asked = request["max_output_tokens"] or 0
        words = f"max_tokens is too large: {asked}. This model supports at most 2048 completion tokens."
        return refusal(words, param="max_tokens") if asked > 2048 else None

    with PickyProvider(refuse, lambda _: "Good.") as provider:
        async with compatible(provider) as model:
            long = asking(max_output_tokens=8000)
            await side_by_side(model, long, long)
            await model.complete(long)
            await model.complete(asking(max_output_tokens=1000))
    limits = [call.request["max_output_tokens"] for call in provider.calls]
    assert limits == [8000, 8000, 2048, 2048, 2048, 1000]


def window_of(tokens: int) -> Refuse:
    def refuse(request: Request) -> HttpResponse | None:
        used = len(request["prompt"]) // 4
        words = (
            f"This model's maximum context length is {tokens} tokens. However, you requested "
            f"{used + request['max_output_tokens']} tokens ({used} in the messages)."
        )
        return refusal(words) if used + request["max_output_tokens"] > tokens else None

    return refuse


async def test_a_window_of_8000_tokens() -> None:
    with PickyProvider(window_of(8000), lambda _: "Good.") as provider:
        async with compatible(provider) as model:
            long = asking("word " * 3000, max_output_tokens=7000)
            assert (await model.complete(long)).text == "Good."  # with a shorter answer
            assert (await model.complete(long)).text == "Good."
            assert [call.status for call in provider.calls] == [400, 200, 200]
            with pytest.raises(ContextTooLong) as caught:
                await model.complete(asking("word " * 8000))
    assert caught.value.window == 8000


async def test_a_request_beyond_the_tokens_of_a_minute_is_too_long_and_not_waited_for() -> None:
    def refuse(request: Request) -> HttpResponse | None:
        used = len(request["prompt"]) // 4
        words = f"Request too large for gpt-4.1 on tokens per min (TPM): Limit 2200, Requested {used}. Reduce it."
        return refusal(words, 429, type="tokens", code="rate_limit_exceeded") if used > 2200 else None

    clock = FakeClock()
    with PickyProvider(refuse, lambda _: "Good.") as provider:
        async with compatible(provider) as model:
            client = ModelClient([model], clock=clock, gates={"compatible": Gate(clock=clock)})
            with pytest.raises(ContextTooLong) as caught:
                await client.complete(asking("word " * 4000), role="report")
            assert (await client.complete(asking("word " * 400), role="report")).text == "Good."
    assert (caught.value.window, clock.slept, len(provider.calls)) == (2200, [], 2)


async def test_an_answer_spent_on_thinking_is_told_apart_and_gets_more_room() -> None:
    def script(request: Request) -> Reply:
        enough = (request["max_output_tokens"] or 0) > 5000
        return Reply(text="Good.") if enough else Reply(text="", reasoning="Hm. " * 50, finish_reason="length")

    with ScriptedProvider(script) as provider:
        async with compatible(provider) as model:
            with pytest.raises(MalformedOutput, match=r"spent all .* on thinking") as caught:
                await model.complete(asking(max_output_tokens=2000))
            assert caught.value.reason == "thinking"
            assert caught.value.usage
            assert caught.value.usage.prompt_tokens > 0
            assert (await model.complete(asking(max_output_tokens=2000))).text == "Good."
