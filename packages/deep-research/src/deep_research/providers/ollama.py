"""Ollama's own /api/chat: lines of JSON, arguments as objects, calls without ids.

Ollama cuts a prompt that does not fit `num_ctx` without saying so, and loads the model anew when
`num_ctx` changes: it is set once, and what would not fit is refused here. It takes no more than the model was made for,
which is asked for before the first long prompt.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from deep_research.concurrency import on_wires
from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, Usage
from deep_research.errors import ContextTooLong
from deep_research.providers.answer_parsing import (
    MOST_CALLS,
    Heard,
    RawCall,
    answer_limit,
    in_words,
    means_for,
    prompt_tokens,
    thinks,
)
from deep_research.providers.base_model import Sent, WiredModel
from deep_research.providers.http_wire import WireFailure, in_form
from deep_research.providers.server_manner import Manner
from deep_research.providers.token_stream import pass_on

_PATH = "/api/chat"
_SHORT = 1_000
"""Tokens of a prompt that fits any model."""


class OllamaModel(WiredModel):
    """A chat model behind Ollama's wire; `family.context_tokens` becomes num_ctx."""

    _window = 0
    """What is read of a prompt, once that is known."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Complete as `WiredModel`; raise ContextTooLong before a prompt would be cut."""
        needed = prompt_tokens(request)
        if needed > _SHORT and not self._window:
            self._window = min(self.family.context_tokens, await on_wires(self._own_window()))
        window = self._window or self.family.context_tokens
        limit = window - min(request.max_output_tokens, window // 2)
        if needed > limit:
            message = f"The prompt of about {needed} tokens is too long for {self.model} at num_ctx {window}."
            raise ContextTooLong(message, provider=self.provider, model=self.model, used=needed, window=limit)
        return await super().complete(request)

    async def _own_window(self) -> int:
        """Return the model's own window in tokens; its family's if the server is silent."""
        try:
            with in_form():
                told = (await self._wire.post("/api/show", {"model": self.model}))[0]["model_info"]
                return next(int(value) for name, value in told.items() if name.endswith(".context_length") and value)
        except (WireFailure, StopIteration):
            return self.family.context_tokens

    async def _ask(self, sent: Sent) -> Heard:
        async with aclosing(self._wire.stream(_PATH, sent.body)) as events:
            with in_form():
                return await _listen(events)

    def _body(self, request: ModelRequest, manner: Manner) -> dict[str, Any]:
        family = manner.applied(self.family)
        thinking = thinks(request, family, enabled=self._thinking)
        options: dict[str, Any] = {
            "num_ctx": self.family.context_tokens,
            "num_predict": answer_limit(request, family, manner, thinking=thinking),
        }
        if request.temperature is not None:
            options["temperature"] = request.temperature
        means = means_for(request, family, thinking=thinking)
        is_native = means == "native" and not request.tools
        asked = in_words(request) if means and not is_native else request
        names = {call.id: call.name for message in request.messages for call in message.tool_calls}
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [_message(message, names) for message in asked.messages],
            "options": options,
            "stream": True,
        }
        if request.tools:
            body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
        if is_native:
            body["format"] = request.schema_
        body |= family.thinking_on if thinking else family.thinking_off
        return manner.without_refused(body)


def _message(message: ModelMessage, names: Mapping[str, str]) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        sent["tool_name"] = names.get(message.tool_call_id, message.tool_call_id)
    if message.tool_calls:
        sent["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments or {}}} for call in message.tool_calls
        ]
    return sent


async def _listen(events: AsyncIterator[Mapping[str, Any]]) -> Heard:
    """Read an answer's lines; raise WireFailure if they end early or carry an error."""
    text: list[str] = []
    thought: list[str] = []
    calls: list[RawCall] = []
    async for event in events:
        if event.get("error"):
            raise WireFailure("", body=dict(event))
        message = event.get("message") or {}
        text.append(message.get("content") or "")
        await pass_on(text[-1])
        thought.append(message.get("thinking") or "")
        asked = [call["function"] for call in (message.get("tool_calls") or ())[: MOST_CALLS - len(calls)]]
        calls += [RawCall(name=one.get("name"), raw=one.get("arguments")) for one in asked]
        if event.get("done"):
            return Heard(
                text="".join(text),
                reasoning="".join(thought),
                calls=tuple(calls),
                finish=event.get("done_reason", ""),
                usage=Usage(
                    prompt_tokens=event.get("prompt_eval_count", 0), completion_tokens=event.get("eval_count", 0)
                ),
                model=event.get("model", ""),
            )
    raise WireFailure("cut", body="the lines ended before done")
