"""Read a conversation in the forms in which programs have it."""

from collections.abc import Mapping, Sequence
from typing import Any

from deep_research.data import Message
from deep_research.errors import ConfigError

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
_OTHERS = frozenset({"system", "developer", "tool", "function"})  # roles that take no part in a conversation


def read_history(history: Sequence[Any]) -> list[Message]:
    """Return a conversation as messages, oldest first, without system and tools.

    Taken are our messages, LangChain's, mappings with `role` and `content` (or `text`), pairs of role and text, and
    texts of the user. Raises ConfigError for anything else.
    """
    read = (_read(turn) for turn in history)
    return [message for message in read if message is not None]


def _read(turn: Any) -> Message | None:
    """Return a message of any form as ours; None if it is not part of the talk."""
    match turn:
        case Message():
            return turn
        case str():
            role, content = "user", turn
        case Mapping():
            role, content = turn.get("role", turn.get("type")), turn.get("text", turn.get("content"))
        case tuple() if len(turn) == 2:
            role, content = turn
        case _:
            role, content = getattr(turn, "type", ""), getattr(turn, "content", None)
    if str(role) in _OTHERS:
        return None
    text = _text(content)
    if str(role) not in _ROLES or text is None:
        message = f"A message of `history` needs a role (user or assistant) and a text, unlike: {turn!r:.120}"
        raise ConfigError(message, setting="history", value=str(turn)[:120])
    return Message.model_validate({"role": _ROLES[str(role)], "text": text})


def _text(content: Any) -> str | None:
    if isinstance(content, str) or content is None:
        return content
    if not isinstance(content, list):
        return None
    blocks = (block if isinstance(block, str) else block.get("text", "") for block in content)
    return "".join(str(block) for block in blocks)
