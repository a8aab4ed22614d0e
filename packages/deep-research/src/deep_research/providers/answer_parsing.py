"""Parse a model's output of any wire to a ModelAnswer: reasoning, calls and JSON."""

import json
import re
import zlib
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

from deep_research.data import FinishReason, ModelAnswer, ModelMessage, ModelRequest, ToolCall, Usage
from deep_research.data.noun import Noun
from deep_research.errors import MalformedOutput, Refused, WorkTooLarge
from deep_research.providers.model_families import Family, Structured
from deep_research.providers.provider_failures import About
from deep_research.providers.server_manner import Manner
from deep_research.providers.tools_in_text import calls_in
from deep_research.text.model_json import find_object, parse_object
from deep_research.text.token_count import estimate_tokens
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker, in_worker_thread


class _Marks(NamedTuple):
    """Patterns of marks around thinking; `lone` is an end mark without a beginning."""

    opening: str
    closing: str
    lone: str


_TAGS = "think|thinking|thought|reasoning|seed:think"
_LINE_ENDS = r"[ \t]*(?:\n|\Z)"
_FINAL = r"(?:<\|start\|>)?(?:assistant)?<\|channel\|>final(?: ?<\|constrain\|>\w{1,20})?<\|message\|>"
_RESPONSE = r"(?<!`)<\|END_THINKING\|>(?!`)(?:<\|START_RESPONSE\|>)?"
_MARKS = (
    _Marks(rf"<(?:{_TAGS})>", rf"(?<!`)</(?:{_TAGS})>(?!`)", rf"</(?:{_TAGS})>{_LINE_ENDS}"),
    _Marks("◁think▷", "(?<!`)◁/think▷(?!`)", f"◁/think▷{_LINE_ENDS}"),  # Kimi
    _Marks(r"\[THINK\]", r"(?<!`)\[/THINK\](?!`)", rf"\[/THINK\]{_LINE_ENDS}"),  # Mistral
    _Marks(r"<\|channel>thought\b", r"<channel\|>", r"\A<channel\|>"),  # Gemma 4
    _Marks(r"<\|START_THINKING\|>", _RESPONSE, _RESPONSE),  # Cohere
    # OpenAI's harmony, and what is left of it where a server drops its special tokens.
    _Marks(
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>",
        rf"(?:<\|end\|>)?{_FINAL}|<\|end\|>",
        rf"(?:\A|<\|end\|>){_FINAL}",
    ),
    _Marks(r"\A(?-i:analysis(?=[^\W\d_]|.*?assistantfinal))", r"(?-i:assistantfinal)", r"\A(?-i:assistantfinal)(?=\S)"),
)
"""How models and servers set thinking apart from words."""
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
_OPENINGS = "|".join(f"(?P<m{number}>{marks.opening})" for number, marks in enumerate(_MARKS))
_OPENING = re.compile(rf"^[ \t]*(?:{_OPENINGS})", _FLAGS)
_NEXT = re.compile(rf"[ \t]*(?:{_OPENINGS})", _FLAGS)
_CLOSINGS = {f"m{number}": re.compile(marks.closing, _FLAGS) for number, marks in enumerate(_MARKS)}
_LONE = re.compile("|".join(marks.lone for marks in _MARKS), _FLAGS)
_ENDS = ("<|return|>", "<|end|>", "<|END_RESPONSE|>")
"""What may stand behind the words that follow thinking."""

MOST_CALLS = 64
"""What is taken of the calls in one answer; no model asks for more at once in earnest."""
_SHORT = 40_000
"""Characters of an answer that is understood where it is heard; a longer one in a worker: others wait in that thread."""
_STRETCH, _LEAST_NEW = 3_000, 0.055
"""Characters that are looked at together, and the share that they compress to at least: prose 0.2, tables without values 0.09, numbered variants 0.07."""
_LIMITS = Limits(memory=500_000_000, cpu_seconds=10.0)

LONG_ANSWER_TOKENS = 8192
"""From this length on an answer is streamed: proxies between cut connections that are silent for minutes."""

_FINISH: dict[str, FinishReason] = {
    "stop": "stop", "end_turn": "stop", "stop_sequence": "stop", "eos": "stop", "COMPLETE": "stop",
    "length": "length", "max_tokens": "length", "MAX_TOKENS": "length", "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls", "tool_use": "tool_calls", "function_call": "tool_calls",
    "content_filter": "refusal", "refusal": "refusal", "SAFETY": "refusal",
}  # fmt: skip


UNMARKED = "unmarked"
"""The finish of a stream that ended without a word about it: its JSON is not completed, for it may have been longer."""


def word(value: object) -> str:
    """Return a name or an id as text, or "" for a value that is no text."""
    return value if isinstance(value, str) else ""


def as_text(arguments: object) -> str:
    """Return the arguments of a call as text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


Word = Annotated[str, BeforeValidator(word)]


class RawCall(Noun):
    """A tool call as it came: `raw` are its arguments as text; `id` may be missing."""

    id: Word = ""
    name: Word
    raw: Annotated[str, BeforeValidator(as_text)]


class Heard(Noun):
    """What came over the wire. `finish` is the vendor's word, "" when it gave none."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[RawCall, ...] = ()
    finish: Word = ""
    refusal: Word = ""
    usage: Usage | None = None
    model: Word = ""
    request_id: Word = ""

    @property
    def length(self) -> int:
        """Return how many characters it has."""
        return len(self.text) + len(self.reasoning) + sum(len(call.name) + len(call.raw) for call in self.calls)


class _Parsed(NamedTuple):
    """What is found in what was heard: words, thoughts, and calls."""

    said: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    is_loop: bool


async def understood(heard: Heard, request: ModelRequest, about: About, *, forced: bool = False) -> ModelAnswer:
    """Return the answer; `forced` if the schema was asked for as a call of a tool.

    The tool has the schema's name.

    With a schema, `text` is the JSON object that was found, or all that was said when there is none:
    whoever holds the schema judges. Raises Refused, and MalformedOutput for an answer without content, one that repeats
    itself without end, or one that takes too long to understand; all carry `usage`, for they are paid for.
    """
    if heard.length <= _SHORT:
        return _judged(parsed(heard, request, forced), heard, about)
    try:
        found = await in_worker_thread(call_in_worker, parsed, heard, request, forced, returns=_Parsed, limits=_LIMITS)
    except WorkTooLarge as error:
        usage = heard.usage or Usage(completion_tokens=heard.length // 4, estimated=True)
        message = f"{about.provider} ({about.model}) gave an answer of {heard.length:,} characters that cannot be read"
        raise MalformedOutput(
            f"{message}: {error.message}.", reason="size", provider=about.provider, model=about.model, usage=usage
        ) from error
    return _judged(found, heard, about)


def parsed(heard: Heard, request: ModelRequest, forced: bool) -> _Parsed:
    """Return what is found in an answer; all work on its text that grows with it."""
    said, thought = split_reasoning(heard.text)
    reasoning = "\n".join(part for part in (heard.reasoning, thought) if part)
    complete = _finish(heard) != "length" and heard.finish != UNMARKED
    raw_calls = heard.calls[:MOST_CALLS]
    if request.tools and not raw_calls:  # some models and servers write their calls into the text
        said, written = calls_in(said, request.tools)
        raw_calls = tuple(RawCall(name=name, raw=raw) for name, raw in written[:MOST_CALLS])
    calls = tuple(_call(call, index, request, complete=complete) for index, call in enumerate(raw_calls))
    if forced and request.schema_ is not None and calls:
        mine = next((call for call in calls if call.name == request.schema_name), calls[0])
        said, calls = mine.raw if mine.arguments is None else _dumps(mine.arguments), ()
    elif request.schema_ is not None and not calls:
        found = find_object(said, complete=complete)
        said = said if found is None else _dumps(found)
    is_loop = request.is_prose and not (request.schema_ or calls) and repeats(said)
    usage = heard.usage if heard.usage and heard.usage.prompt_tokens else _estimate(request, heard)
    return _Parsed(said, reasoning, calls, usage, is_loop)


def repeats(text: str) -> bool:
    """Return whether a stretch of text repeats endlessly, by its compression ratio."""
    starts = range(0, len(text) - _STRETCH + 1, _STRETCH // 2)
    parts = (text[at : at + _STRETCH].encode(errors="replace") for at in starts)
    return any(len(zlib.compress(part)) < _LEAST_NEW * len(part) for part in parts)


def _finish(heard: Heard) -> FinishReason:
    return _FINISH.get(heard.finish, "other" if heard.finish else "stop")


def _judged(found: _Parsed, heard: Heard, about: About) -> ModelAnswer:
    (said, reasoning, calls, usage, is_loop), finish = found, _finish(heard)
    fields: dict[str, Any] = {"provider": about.provider, "model": about.model, "usage": usage}
    if heard.refusal or finish == "refusal":
        message = f"{about.provider} ({about.model}) declines to answer: {(heard.refusal or said)[:300]!r}."
        raise Refused(message, reason="refusal", **fields)
    if not said and not calls:
        complete = finish != "length"
        raise _nothing_said(about, fields, reasoning=bool(reasoning or usage.reasoning_tokens), complete=complete)
    if is_loop:
        raise MalformedOutput(
            f"{about.provider} ({about.model}) said the same words again and again.", reason="loop", **fields
        )
    if finish != "length":
        finish = "tool_calls" if calls else ("stop" if finish == "tool_calls" else finish)
    return ModelAnswer(
        text=said,
        tool_calls=calls,
        finish_reason=finish,
        usage=usage,
        model=heard.model or about.model,
        reasoning=reasoning,
        request_id=heard.request_id,
    )


def _nothing_said(about: About, fields: dict[str, Any], *, reasoning: bool, complete: bool) -> MalformedOutput:
    """Return the error for an empty answer: all spent on thinking, or no content."""
    who = f"{about.provider} ({about.model})"
    if complete:
        return MalformedOutput(f"{who} gave an answer without content.", reason="empty", **fields)
    spent = "thinking" if reasoning else "something that it did not send"
    message = f"{who} spent all {fields['usage'].completion_tokens} tokens of its answer on {spent} and said nothing."
    return MalformedOutput(message, reason="thinking", **fields)


def split_reasoning(text: str) -> tuple[str, str]:
    """Split a text into words and thoughts, by marks like `<think>` and `</think>`.

    A mark opens at the beginning of a line only: elsewhere it is a word. One that is never closed makes
    the rest thought; a closing mark without an opening one (servers put that into the prompt) makes all
    before it thought.
    """
    said: list[str] = []
    thought: list[str] = []
    at = 0
    lone, opened = _LONE.search(text), _OPENING.search(text)
    if lone and (not opened or lone.start() < opened.start()):
        thought, at = [text[: lone.start()]], lone.end()
    while opened := _NEXT.match(text, at) or _OPENING.search(text, at):
        said.append(text[at : opened.start()])
        closed = _CLOSINGS[str(opened.lastgroup)].search(text, opened.end())
        thought.append(text[opened.end() : closed.start() if closed else None])
        at = closed.end() if closed else len(text)
    if not thought:
        return text, ""
    words = "".join([*said, text[at:]]).strip()
    for mark in _ENDS:
        words = words.removesuffix(mark).rstrip()
    return words, "\n".join(part.strip() for part in thought)


def _spoken(value: Any) -> Any:
    """Remove thoughts from the texts of a call's arguments.

    A text that is nothing else is kept, as it may mean the marks themselves.
    """
    if isinstance(value, str):
        return split_reasoning(value)[0] or value
    if isinstance(value, list):
        return [_spoken(one) for one in value]
    return {name: _spoken(one) for name, one in value.items()} if isinstance(value, dict) else value


def _call(call: RawCall, index: int, request: ModelRequest, *, complete: bool) -> ToolCall:
    arguments = parse_object(call.raw, complete=complete) if call.raw.strip() else {}
    arguments = _spoken(arguments) if request.tools else arguments
    # Ollama and some servers give no id; one that is new in the conversation is made.
    made = f"call_{len(request.messages)}_{index}"
    return ToolCall(id=call.id or made, name=call.name, arguments=arguments, raw=call.raw)


def _estimate(request: ModelRequest, heard: Heard) -> Usage:
    prompt = prompt_tokens(request)
    spoken = heard.text + heard.reasoning + "".join(call.name + call.raw for call in heard.calls)
    return Usage(prompt_tokens=prompt, completion_tokens=estimate_tokens(spoken), estimated=True)


def prompt_tokens(request: ModelRequest) -> int:
    """Return about how many tokens a request's prompt has."""
    texts = [message.text + "".join(call.raw or _dumps(call.arguments) for call in message.tool_calls)
             for message in request.messages]  # fmt: skip
    texts += [tool.name + tool.description + _dumps(tool.parameters) for tool in request.tools]
    return sum(estimate_tokens(text) for text in texts)


def answer_limit(request: ModelRequest, family: Family, manner: Manner, *, thinking: bool) -> int:
    """Return the request's output limit with room for reasoning, as the model allows."""
    room = family.thinking_tokens if thinking or family.always_thinks else 0
    limit = min(request.max_output_tokens + max(room, manner.room), family.output_tokens)
    return manner.limit_within(limit, prompt_tokens(request)) if manner.window else limit


def thinks(request: ModelRequest, family: Family, *, enabled: bool) -> bool:
    """Return whether the model is told to think before this answer."""
    can = bool(family.thinking_on) or family.always_thinks
    return enabled and can and (family.thinking_with_tools or not request.tools)


def means_for(request: ModelRequest, family: Family, *, thinking: bool) -> Structured | None:
    """Return how the schema of a request is asked for, or None when it has none.

    A forced call leaves no choice between the request's own tools, and Anthropic forbids it beside thinking;
    DashScope has no JSON mode beside thinking.
    """
    if request.schema_ is None:
        return None
    thinking = thinking or family.always_thinks
    if (family.structured == "tool" and (request.tools or thinking)) or (family.structured == "json" and thinking):
        return "text"
    return family.structured


def in_words(request: ModelRequest) -> ModelRequest:
    """Return a request that asks for its schema in words.

    The schema stands behind the standing instructions, so that requests of one kind begin alike and providers
    cache their beginning; a reminder stands at the end.
    """
    schema = f"Answer with one JSON object of this JSON schema and nothing else:\n{_dumps(request.schema_)}"
    messages = list(request.messages)
    if messages[0].role == "system":
        messages[0] = messages[0].model_copy(update={"text": f"{messages[0].text}\n\n{schema}"})
    else:
        messages.insert(0, ModelMessage(role="system", text=schema))
    last = messages[-1]
    messages[-1] = last.model_copy(update={"text": f"{last.text}\n\nAnswer with the JSON object alone."})
    return request.model_copy(update={"messages": tuple(messages)})


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
