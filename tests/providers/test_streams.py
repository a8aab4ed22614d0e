"""Streams as servers really send them: own fixtures after what the vendors' streams look like."""

import json
from collections.abc import Container
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deep_research.data import ModelAnswer
from deep_research.errors import ContextTooLong, MalformedOutput, ProviderDown, ResearchError
from deep_research.providers.answer_parsing import split_reasoning
from deep_research.providers.http_wire import Lines
from deep_research.providers.provider_catalog import open_model
from tests.providers.served import KEYS, WEATHER, asking, completed, serving
from tests.support.scripted_http import CutShort, HttpRequest, HttpResponse, listening


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **fields: Any) -> str:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return "data: " + json.dumps({"id": "c1", "model": "m", "choices": choices, **fields}, ensure_ascii=False)


def part(index: int | None = 0, *, name: str | None = None, said: Any = "", **fields: Any) -> dict[str, Any]:
    function = {"arguments": said} | ({"name": name} if name is not None else {})
    return {"tool_calls": [{"function": function, **fields} | ({} if index is None else {"index": index})]}


USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_cache_hit_tokens": 5}
DONE = "data: [DONE]"


async def heard(*lines: str, provider: str = "openai", end: str = "\n\n", pieces: int = 0) -> ModelAnswer:
    body = end.join((*lines, "")).encode()
    with serving(body, pieces=pieces) as served:
        return await completed(asking(tools=(WEATHER,)), served.url, provider=provider, facts={"stream_only": True})


async def test_comments_blank_choices_and_usage_at_the_end() -> None:
    answer = await heard(
        ": PROCESSING", chunk({"role": "assistant", "content": ""}), ": PROCESSING", chunk({"content": "Hé\u2028llo"}),
        chunk({}, "stop"), chunk(None, usage=USAGE), DONE,
    )  # fmt: skip
    assert answer.text == "Hé\u2028llo"
    assert (answer.usage.prompt_tokens, answer.usage.cached_tokens, answer.usage.completion_tokens) == (7, 5, 3)
    assert answer.usage.cost_usd is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
async def test_what_is_no_object_says_nothing_and_one_newline_ends_an_event(end: str) -> None:
    noise = ("data: : PROCESSING", "data: null", "data:", "data: [1]", "data: ping")
    said = [chunk({"content": "Hel"}), chunk({"content": "lo"}, "stop", usage=USAGE), DONE]
    answer = await heard(*(line for one in said for line in (*noise, one)), end=end)
    assert (answer.text, answer.usage.prompt_tokens) == ("Hello", 7)
    split = 'data: {\ndata:  "choices":\ndata: ' + chunk({"content": "Hi"}, "stop").partition('"choices": ')[2]
    assert (await heard(split, DONE)).text == "Hi"


@pytest.mark.parametrize(
    ("broken", "streamed"), [(range(9), [True, False, False, False]), ((1,), [True, True, False, True])]
)
async def test_a_stream_that_cannot_be_read_is_asked_for_in_one_piece(
    broken: Container[int], streamed: list[bool]
) -> None:
    asked: list[bool] = []

    async def answer(request: HttpRequest) -> HttpResponse:
        asked.append("stream" in json.loads(request.body))
        if not asked[-1]:
            return HttpResponse(200, b'{"choices": [{"message": {"content": "Good."}}]}')
        torn = ["data: {broken"] if len(asked) - 1 in broken else []
        said = "\n\n".join((chunk({"content": "Good."}), *torn, chunk({}, "stop"), DONE, ""))
        return HttpResponse(200, said.encode(), content_type="text/event-stream")

    with listening(answer) as url:
        model = open_model("openai", "m", keys=KEYS, base_url=url, facts={"stream_only": True})
        assert [(await model.complete(asking())).text for _ in range(3)] == ["Good."] * 3
        await model.close()
    assert asked == streamed, "in one piece for good where no stream could be read, else once"


@pytest.mark.parametrize("odd", ["NaN", "1e400", '"many"', "null"])
async def test_a_count_that_is_no_number_is_not_said(odd: str) -> None:
    body = '{"choices": [{"message": {"content": "Good."}}], "usage": {"prompt_tokens": %s, "completion_tokens": 3}}'
    with serving((body % odd).encode()) as served:
        assert (await completed(asking(), served.url)).usage.estimated
    with serving((body.replace("3}", "%s}") % (12, odd)).encode()) as served:
        usage = (await completed(asking(), served.url)).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (12, 0, False)


@pytest.mark.parametrize(
    ("told", "usd"),
    [
        ({"cost": 0.05, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.05}}, 0.05),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, None),
        ({"cost": 0}, 0.0),
        *(({"cost": odd}, None) for odd in ("free", -1, 1e300)),
    ],
)
async def test_the_price_that_a_server_tells_is_heard(told: dict[str, Any], usd: float | None) -> None:
    answer = await heard(chunk({"content": "Hi"}, "stop"), chunk(None, usage={**USAGE, **told}), DONE)
    assert answer.usage.cost_usd == (usd if usd is None else pytest.approx(usd))


@pytest.mark.parametrize(
    "parts",
    [
        [part(0, id="a", name="one", said=""), part(0, said='{"x"'), part(0, said=": 1}"), part(1, id="b", name="two", said="{}")],
        [part(0, id="a", name="one", said=""), part(0, id="", name="", said='{"x": 1}'), part(1, id="b", name="two", said="{}")],
        [part(0, id="a", name="one", said='{"x": 1}'), part(0, id="b", name="two", said="{}")],
        [part(None, id="a", name="one", said='{"x"'), part(None, said=": 1}"), part(None, id="b", name="two", said="{}")],
        [part(None, name="one", said=""), part(None, said='{"x"'), part(None, said=": 1}"), part(None, name="two", said="{}")],
        [part(None, name="one", said='{"x"'), part(None, name="one", said=": 1}"), part(None, name="two", said="{}")],
        [part(None, id="a", name="one", said='{"x"'), part(None, id="a", said=": 1}"), part(None, id="b", name="two", said="{}")],
        [part(0, id="a", name="one", said={"x": 1}), part(1, id="b", name="two", said=None)],
        [part(1, id="b", name="one", said='{"x"'), part(0, id="a", name="two", said="{}"), part(1, said=": 1}")],
    ],
    ids=["openai", "dashscope", "same-index", "no-index", "no-id", "names-again", "ids-again", "objects", "interleaved"],
)  # fmt: skip
async def test_tool_calls_in_parts(parts: list[dict[str, Any]]) -> None:
    answer = await heard(*(chunk(delta) for delta in parts), chunk({}, "tool_calls"), DONE)
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("one", {"x": 1}), ("two", {})]


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ('data: {"error": {"message": "Overloaded", "code": 502}}', ProviderDown),
        ('data: {"error": {"message": "maximum context length is 5 tokens", "code": 400}}', ContextTooLong),
        ('data: {"error": {"message": "server had an error", "type": "server_error"}}', ProviderDown),
        ("data: {broken", ProviderDown),
    ],
)
async def test_errors_and_ends_inside_a_stream(last: str, kind: type[ResearchError]) -> None:
    with pytest.raises(kind):
        await heard(chunk({"content": "Some"}), last)


@pytest.mark.parametrize("pieces", [0, 16], ids=["length", "chunks"])
async def test_a_stream_that_ends_in_good_order_is_taken_without_its_end_mark(pieces: int) -> None:
    answer = await heard(chunk({"content": "Some"}), chunk({"content": " words."}, usage=USAGE), pieces=pieces)
    assert (answer.text, answer.finish_reason, answer.usage.completion_tokens) == ("Some words.", "other", 3)
    answer = await heard(*(chunk(one) for one in (part(0, name="one", said='{"x": 1'), part(0, said="}"))))
    assert answer.tool_calls[0].arguments == {"x": 1}
    assert (await heard(chunk(part(0, name="one", said='{"x": 1')))).tool_calls[0].arguments is None, "it may go on"
    with pytest.raises(ProviderDown):
        await heard(chunk({"content": ""}), pieces=pieces)


@pytest.mark.parametrize("framing", ["content-length: 9999", "transfer-encoding: chunked", "connection: close"])
async def test_a_torn_stream_is_no_answer_but_what_it_has_cost_is_known(framing: str) -> None:
    said = (chunk({"content": "Some words."}, usage=USAGE) + "\n\n").encode()
    body = b"%x\r\n%b\r\n" % (len(said), said) if "chunked" in framing else said

    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{framing}\r\n\r\n".encode()

    async def tear(_request: HttpRequest) -> HttpResponse:
        raise CutShort(head + body)

    with listening(tear) as url, pytest.raises(ProviderDown) as caught:
        await completed(asking(), url, facts={"stream_only": True})
    assert caught.value.usage is not None
    assert caught.value.usage.prompt_tokens == USAGE["prompt_tokens"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"error": {"message": "Provider returned error", "code": 502}}', ProviderDown),
        (b'{"choices": [], "usage": null}', MalformedOutput),
    ],
)
async def test_a_200_without_an_answer(body: bytes, kind: type[ResearchError]) -> None:
    with serving(body) as served, pytest.raises(kind):
        await completed(asking(), served.url, provider="openrouter")


async def test_halves_of_signs_from_broken_pages_can_be_sent() -> None:
    with serving(b'{"choices": [{"message": {"content": "Good."}}]}') as served:
        await completed(asking("broken \ud83d page"), served.url)
    assert served.bodies[0]["messages"][-1]["content"] == "broken ? page"


@pytest.mark.parametrize(
    ("text", "said", "thought"),
    [
        ("plain", "plain", ""),
        ("<think>\nhm\n</think>\n\nYes.", "Yes.", "hm"),
        ("<think>hm</think>Yes.", "Yes.", "hm"),
        ("<thinking>\na\n</thinking>\nOne.\n<think>b</think>\nTwo.", "One.\n\nTwo.", "a\nb"),
        ("hm, so\n</think>\n\nYes.", "Yes.", "hm, so"),
        ("<think>\nnever ends", "", "never ends"),
        ("<think></think>\n\nYes.", "Yes.", ""),
        ("Models write `<think>` before and `</think>` after.", "Models write `<think>` before and `</think>` after.", ""),
        ("The tag <think> opens reasoning.", "The tag <think> opens reasoning.", ""),
        ('{"text": "uses <think> and </think> tags"}', '{"text": "uses <think> and </think> tags"}', ""),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>", "Yes.", "hm"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|>"
         "<|start|>assistant<|channel|>final <|constrain|>JSON<|message|>{}", "{}", "a\nb"),
        ("hm, so<|end|><|start|>assistant<|channel|>final<|message|>Yes.", "Yes.", "hm, so"),
        ("<|channel|>final<|message|>Yes.<|return|>", "Yes.", ""),
        ("<|channel|>analysis<|message|>never ends", "", "never ends"),
        ("analysisWe must say yes.assistantfinalYes.", "Yes.", "We must say yes."),
        ("analysis 用户 asks.assistantfinalYes.", "Yes.", "用户 asks."),
        ("analysisWe must never end", "", "We must never end"),
        ("assistantfinal**Yes.**", "**Yes.**", ""),
        ("analysis of the engine shows three.", "analysis of the engine shows three.", ""),
        ("Analysis\n\nThree.", "Analysis\n\nThree.", ""),
        ("◁think▷hm◁/think▷Yes.", "Yes.", "hm"),
        ("hm, so◁/think▷\nYes.", "Yes.", "hm, so"),
        ("<seed:think>\nhm\n</seed:think>\nYes.", "Yes.", "hm"),
        ("<|channel>thought\nhm\n<channel|>Yes.", "Yes.", "hm"),
        ("[THINK]hm[/THINK]Yes.", "Yes.", "hm"),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>", "Yes.", "hm"),
        ("The mark ◁think▷ opens, `<|channel|>` names.", "The mark ◁think▷ opens, `<|channel|>` names.", ""),
    ],
)  # fmt: skip
def test_thoughts_are_told_apart(text: str, said: str, thought: str) -> None:
    assert split_reasoning(text) == (said, thought)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("<think>They want Oslo.</think>Oslo", "Oslo"),
        ("◁think▷hm◁/think▷\nOslo", "Oslo"),
        ("Who closes with </think>", "Who closes with </think>"),
        ("<think> tag of Oslo", "<think> tag of Oslo"),
    ],
)
async def test_thoughts_in_the_arguments_of_a_call_are_not_looked_up(said: str, meant: str) -> None:
    given = json.dumps({"city": said, "more": [{"city": said}]})
    answer = await heard(chunk(part(0, id="a", name="get_weather", said=given)), chunk({}, "tool_calls"), DONE)
    assert answer.tool_calls[0].arguments == {"city": meant, "more": [{"city": meant}]}


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=8), max_size=2), max_size=5), st.integers(1, 9))
def test_lines_are_the_same_however_they_are_cut(events: list[dict[str, str]], size: int) -> None:
    stream = "".join(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events).encode()
    lines = Lines(2**20)
    found = [event for at in range(0, len(stream), size) for event in lines.feed(stream[at : at + size])]
    assert found == events
