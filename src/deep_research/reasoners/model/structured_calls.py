"""Ask a model for structured answers by schema with repair, in contexts that shrink when they do not fit."""

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, Role, ToolSpec
from deep_research.errors import ContextTooLong, MalformedOutput
from deep_research.reasoners.model.answer_schemas import Answer
from deep_research.safe_text import safe_values
from deep_research.text.model_json import find_object
from deep_research.text.token_count import estimate_tokens

Complete = Callable[[ModelRequest, Role], Awaitable[ModelAnswer]]
"""Makes one call: retries, limits, journal and ledger are behind it."""
_A = TypeVar("_A", bound=Answer)
_R = TypeVar("_R")
_SHRINKS = 3


class Asker:
    """Puts questions to a model and reads typed answers."""

    def __init__(self, complete: Complete, *, retries: int = 2) -> None:
        """`retries`: how often an answer that does not fit its schema is asked for again."""
        self._complete = complete
        self._retries = retries

    async def structured(
        self,
        role: Role,
        messages: Sequence[ModelMessage],
        kind: type[_A],
        *,
        max_output_tokens: int = 4096,
        asked_as: type[Answer] | None = None,
    ) -> _A:
        """Return the answer as `kind`. A misfit is shown its error and asked again.

        `asked_as` is a wider schema that is sent instead, shared with other calls.

        Raises MalformedOutput (with the last text) when it stays a misfit, and what `Complete` raises.
        """
        conversation = list(messages)
        sent = asked_as or kind
        name = _schema_name(sent)
        last = ""
        for attempt in range(self._retries + 1):
            request = ModelRequest(
                messages=tuple(conversation),
                schema_=schema_of(sent),
                schema_name=name,
                max_output_tokens=max_output_tokens,
                attempt=attempt,
            )
            answer = await self._complete(request, role)
            last = answer.text
            complete = answer.finish_reason != "length"
            problem = (
                "There is no JSON object in that." if complete else "That was cut off at its length limit; be brief."
            )
            if (found := find_object(answer.text, complete=complete)) is not None:
                try:
                    return kind.model_validate(safe_values(found))
                except ValidationError as error:
                    problem = f"That does not fit the schema: {_brief(error)}"
            said = ModelMessage(role="assistant", text=answer.text or "(empty)")
            again = ModelMessage(role="user", text=f"{problem}\nAnswer again with the JSON object alone.")
            conversation = [*messages, said, again]
        raise MalformedOutput(f"The answer to {name!r} did not fit its schema.", text=last, reason="schema")

    async def act(self, role: Role, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]) -> ModelAnswer:
        """Return the model's next tool calls (or its text)."""
        request = ModelRequest(messages=tuple(messages), tools=tuple(tools), max_output_tokens=2048)
        return await self._complete(request, role)


async def shrinking(budget: int, make: Callable[[int], Awaitable[_R]]) -> _R:
    """Return `make(budget)`, with half the budget each time the context proves too long.

    Raises ContextTooLong when it is too long even then.
    """
    for _ in range(_SHRINKS):
        try:
            return await make(budget)
        except ContextTooLong:
            budget //= 2
    return await make(budget)


@cache
def schema_of(kind: type[Answer]) -> dict[str, Any]:
    """Return the JSON schema of an answer in the strict form providers ask for: no defaults, nothing extra."""
    return _strict(kind.model_json_schema())


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(value) for key, value in schema.items() if key not in ("title", "default")}
    if made.get("type") == "object" and "properties" in schema:
        made.pop("description", None)  # the class's docstring speaks to whoever reads the code
        # "title" may also be the name of a property.
        made["properties"] = {name: _strict(part) for name, part in schema["properties"].items()}
        made["required"] = list(schema["properties"])
        made["additionalProperties"] = False
    return made


def _schema_name(kind: type[Answer]) -> str:
    return kind.__name__.removesuffix("Answer").lower()


def _brief(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(str(x) for x in e['loc'])}: {e['msg']}" for e in error.errors()[:5])


_RETRIES = 3
_CITED = re.compile(r"(?<=\])(?=\s)|\n")
_SAID = re.compile(r"(?<=[.!?。！？])(?=\s)")


async def fitted(texts: Sequence[str], window: int, make: Callable[[Sequence[str]], Awaitable[_R]]) -> _R:
    """Return `make(texts)`; where that proves too long, of the texts trimmed to `window` tokens together, and
    then by 10 % a time, three times in all (contract row D5).

    Raises ContextTooLong when it is too long even then.
    """
    budget = min(window, sum(map(estimate_tokens, texts)) * 9 // 10)
    shown = texts
    for _ in range(_RETRIES):
        try:
            return await make(shown)
        except ContextTooLong:
            shown = trimmed(texts, budget)
            budget = budget * 9 // 10
    return await make(shown)


def trimmed(texts: Sequence[str], budget: int) -> list[str]:
    """Return the beginnings of `texts`, each cut in the same proportion after a whole sentence with its ids."""
    total = sum(map(estimate_tokens, texts))
    return list(texts) if total <= budget else [_beginning(text, budget / total) for text in texts]


def _beginning(text: str, share: float) -> str:
    limit = int(len(text) * max(share, 0.0))
    whole = _CITED if "]" in text else _SAID  # a sentence without its ids could not be cited
    ends = [match.start() for match in whole.finditer(text, 0, limit + 1) if match.start() <= limit]
    return text[: ends[-1]].rstrip() if ends else ""
