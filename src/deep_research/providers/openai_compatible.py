"""Chat completions as OpenAI defined them and many servers speak them.

For openai, aliyun (DashScope), deepseek, openrouter, groq, vLLM, LM Studio and any other server by its
base address. What a server turns out not to accept is left out from then on.
"""

import json
from contextlib import aclosing
from typing import Any

from deep_research.data import ModelAnswer, ModelRequest
from deep_research.providers.answers import (
    LONG_ANSWER_TOKENS,
    Heard,
    RawCall,
    answer_limit,
    means_for,
    schema_instruction,
    thinks,
    understood,
)
from deep_research.providers.chat_completions import is_strict, listen, read, written
from deep_research.providers.failures import error_body
from deep_research.providers.wire import WireFailure, in_form
from deep_research.providers.wired import WiredModel
from deep_research.text.json_repair import parse_object

_PATH = "/chat/completions"


class OpenAICompatibleModel(WiredModel):
    """A chat model behind OpenAI's wire."""

    _system_role = "system"

    async def _ask(self, request: ModelRequest) -> ModelAnswer:
        body = self._body(request)
        forced = "tool_choice" in body
        if body.get("stream"):
            async with aclosing(self._wire.stream(_PATH, body)) as events:
                with in_form():
                    heard = await listen(events)
        else:
            answer = await self._wire.post(_PATH, body)
            with in_form():
                heard = read(answer.data, answer.headers.get("x-request-id", ""))
        return understood(heard, request, self._about, forced=forced)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        family = self.family
        thinking = thinks(request, family, enabled=self._thinking)
        limit = answer_limit(request, family, thinking=thinking)
        messages = [written(message, self._system_role) for message in request.messages]
        body: dict[str, Any] = {"model": self.model, "messages": messages, family.output_parameter: limit}
        if request.temperature is not None and family.temperature:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
            if family.parallel_tools:
                body["parallel_tool_calls"] = request.parallel_tool_calls
        body |= family.thinking_on if thinking else family.thinking_off
        _ask_for_schema(body, request, means_for(request, family, thinking=thinking))
        if family.stream_only or (thinking and family.thinking_streams) or limit > LONG_ANSWER_TOKENS:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in body.items() if name not in self._left_out}

    def _leave_out(self, parameter: str) -> bool:
        """See `WiredModel`."""
        before = (self.family, len(self._left_out), self._system_role)
        change: dict[str, Any] = {}
        if parameter == self.family.output_parameter:
            other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
            change = {"output_parameter": other[parameter]}
        elif parameter in ("response_format", "tool_choice"):
            change = {"structured": "text"}
        elif parameter in ("enable_thinking", "stream"):  # DashScope: only as a stream
            change = {"stream_only": True}
        elif parameter == "role":
            self._system_role = "user"
        elif parameter:
            self._left_out.add(parameter)
        self.family = self.family.model_copy(update=change)
        return before != (self.family, len(self._left_out), self._system_role)

    def _salvaged(self, failure: WireFailure, request: ModelRequest) -> ModelAnswer | None:
        """The call that Groq refuses because its arguments miss the tool's schema: whoever asked judges it."""
        call = parse_object(error_body(failure.body).failed_generation)
        if not call or not isinstance(call.get("arguments"), dict) or not call.get("name"):
            return None
        raw = RawCall(name=str(call["name"]), raw=json.dumps(call["arguments"], ensure_ascii=False))
        return understood(Heard(calls=(raw,), finish="tool_calls"), request, self._about)


def _ask_for_schema(body: dict[str, Any], request: ModelRequest, means: str | None) -> None:
    """Add to `body` what asks for the schema by `means`."""
    schema, name = request.schema_, request.schema_name
    if means == "native":
        described = {"name": name, "schema": schema, "strict": is_strict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    elif means == "tool":
        function = {"name": name, "description": "Gives the answer.", "parameters": schema}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": name}}
        body.pop("parallel_tool_calls", None)
    elif means:
        body["messages"][-1]["content"] += schema_instruction(request)
        if means == "json" and not request.tools:
            body["response_format"] = {"type": "json_object"}
