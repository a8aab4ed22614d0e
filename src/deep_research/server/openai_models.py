"""OpenAI's requests, as far as they are understood here: what is not known in them is passed over."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from deep_research.data import Message

MODELS: dict[str, dict[str, Any]] = {
    "deep-research": {},
    "deep-research-brief": {"depth": "brief"},
    "deep-research-deep": {"depth": "deep"},
    "deep-research-quick": {"workflow": "quick"},
}
"""The names that clients choose from, with the settings that each stands for."""
_MOST_CHARS = 20_000


class _OpenAiInput(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ContentPart(_OpenAiInput):
    """A part of a message; only text is read."""

    type: str = Field("text", max_length=40)
    text: str = Field("", max_length=_MOST_CHARS)


class ChatMessage(_OpenAiInput):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        """The message's text."""
        if isinstance(self.content, str):
            return self.content.strip()[:_MOST_CHARS]
        return "\n".join(part.text for part in self.content or ()).strip()[:_MOST_CHARS]


class StreamOptions(_OpenAiInput):
    """What a stream should hold besides its text."""

    include_usage: bool = False


class ChatRequest(_OpenAiInput):
    """A request to `/v1/chat/completions`: the last message of the user is the question."""

    model: str = Field("deep-research", max_length=120)
    messages: list[ChatMessage] = Field(min_length=1, max_length=200)
    stream: bool = False
    stream_options: StreamOptions | None = None


class ResponseRequest(_OpenAiInput):
    """A request to `/v1/responses`; with `background` it is answered at once and looked at later."""

    model: str = Field("deep-research", max_length=120)
    input: str | list[ChatMessage] = Field(min_length=1, max_length=_MOST_CHARS)
    background: bool = False
    stream: bool = False
    previous_response_id: str | None = Field(None, max_length=90)


def conversation(messages: list[ChatMessage]) -> tuple[str, list[Message]]:
    """Return the question, which is the user's last message, and the conversation before it."""
    said = [m for m in messages if m.role in ("user", "assistant") and m.text]
    last = max((place for place, m in enumerate(said) if m.role == "user"), default=-1)
    if last < 0:
        return "", []
    history = [Message(role="user" if m.role == "user" else "assistant", text=m.text) for m in said[:last]]
    return said[last].text, history
