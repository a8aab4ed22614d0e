"""What goes to a language model and what comes back, the same for every provider."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from deep_research.data.noun import Noun

Role = Literal["research", "read", "write", "review", "report", "judge"]
FinishReason = Literal["stop", "length", "tool_calls", "refusal", "other"]
_COUNT, _MOST_TOKENS = re.compile(r"\d{1,40}(?=\.\d|\Z)"), 10**9
Tokens = Annotated[int, BeforeValidator(lambda said: min(int((_COUNT.match(str(said)) or "0")[0]), _MOST_TOKENS))]
"""A number of tokens; a server that states an absurd one is not taken at its word, and one that states none says 0."""


class ToolSpec(Noun):
    """A tool a model may call; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Noun):
    """A model's tool call; `arguments` is None for no JSON object, kept in `raw`."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str = ""


class ModelMessage(Noun):
    """One message of a conversation; `tool_call_id` is set on a tool's answer."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class ModelRequest(Noun):
    """One model call; `schema` requires a JSON answer by it, named `schema_name`."""

    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema_: dict[str, Any] | None = None
    schema_name: str = "answer"
    max_output_tokens: int = Field(4096, ge=1)
    temperature: float | None = None
    parallel_tool_calls: bool = True
    attempt: int = 0
    """Which try at the same question this is. It is not sent; the journal takes each for a call of its own."""
    is_prose: bool = Field(default=True, exclude=True)
    """Whether the answer's words are for readers, who may see them while they come."""


class Usage(Noun):
    """Tokens of a call; `estimated` when the provider gave none.

    `cached_tokens` (read from the provider's cache) and `cache_write_tokens` (written to it, where that
    costs extra) are part of `prompt_tokens`. `cost_usd` is what the server says that it charges, None where it says none.
    """

    prompt_tokens: Tokens = 0
    cached_tokens: Tokens = 0
    cache_write_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    reasoning_tokens: Tokens = 0
    cost_usd: float | None = None
    estimated: bool = False


class ModelAnswer(Noun):
    """A model's answer: text without reasoning, tool calls, and token usage.

    `reasoning` is kept for the log only; it never reaches parsing, evidence or reports. `sent_tokens` is about how many
    tokens the prompt had where the server has probably read only a part of them (`usage.prompt_tokens`), else 0.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    model: str = ""
    reasoning: str = ""
    request_id: str = ""
    sent_tokens: int = 0


class Ranking(Noun):
    """A ranker's scores of texts in their order (larger is better), and tokens used."""

    scores: tuple[float, ...]
    usage: Usage = Usage()
