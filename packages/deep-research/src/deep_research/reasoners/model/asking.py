"""Ask a model for structured answers with repair, tool calls, or full free text."""

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, Role, ToolSpec
from deep_research.errors import ContextTooLong, MalformedOutput
from deep_research.reasoners.model.answers import Answer
from deep_research.safe_text import safe_values
from deep_research.text.model_json import find_object
from deep_research.text.token_count import estimate_tokens

Complete = Callable[[ModelRequest, Role], Awaitable[ModelAnswer]]
"""Makes one call: retries, limits, journal and ledger are behind it."""
_A = TypeVar("_A", bound=Answer)


REFUSED = ContextVar[ContextTooLong | None]("REFUSED", default=None)
"""Why the last prompt was too long; no longer one than `fits` is sent behind it."""


class Asker:
    """Puts questions to a model and reads typed answers."""

    def __init__(self, complete: Complete, *, retries: int = 2, most: Callable[[Role], int] = lambda _: 4096) -> None:
        """Set up with `retries` for answers off their schema, and `most` tokens by role."""
        self._complete = complete
        self._most = most
        self._retries = retries
        self._misfits = 0

    async def structured(self, role: Role, messages: Sequence[ModelMessage], kind: type[_A]) -> _A:
        """Return the answer as `kind`. A misfit is shown its error and asked again.

        A model of which three questions in a row got no fitting answer is asked once for each from then on.
        Raises MalformedOutput (with the last text) when it stays a misfit, and what `Complete` raises.
        """
        conversation = list(messages)
        last = ""
        retries = self._retries if self._misfits < _GIVEN_UP else 0
        for attempt in range(retries + 1):
            request = ModelRequest(
                messages=tuple(conversation),
                schema_=schema_of(kind),
                schema_name=_schema_name(kind),
                max_output_tokens=self._most(role),
                attempt=attempt,
            )
            answer = await self._sent(request, role)
            last = answer.text
            found, problem = read_as(kind, answer)
            if found is not None:
                self._misfits = 0
                return found
            said = ModelMessage(role="assistant", text=answer.text or "(empty)")
            again = ModelMessage(role="user", text=f"{problem}\nAnswer again with the JSON object alone.")
            conversation = [*messages, said, again]
        self._misfits += 1
        message = f"The answer to {_schema_name(kind)!r} did not fit its schema."
        raise MalformedOutput(message, text=last, reason="schema")

    async def act(
        self, role: Role, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], *, is_prose: bool = True
    ) -> ModelAnswer:
        """Return the next tool calls or the whole text; `is_prose` means for readers.

        A text that its output limit cut is gone on with, as often as `_CONTINUED` and as far as `_MOST_CHARS` say.
        """
        most = self._most(role)
        request = ModelRequest(messages=tuple(messages), tools=tuple(tools), max_output_tokens=most, is_prose=is_prose)
        answer = await self._sent(request, role)
        text = answer.text
        for _ in range(_CONTINUED):
            if answer.finish_reason != "length" or answer.tool_calls or not answer.text or len(text) > _MOST_CHARS:
                break
            more = (ModelMessage(role="assistant", text=text), ModelMessage(role="user", text=_GO_ON))
            request = ModelRequest(messages=(*messages, *more), max_output_tokens=most, is_prose=is_prose)
            answer = await self._sent(request, role)
            text += answer.text
        return answer.model_copy(update={"text": text[:_MOST_CHARS]})

    async def _sent(self, request: ModelRequest, role: Role) -> ModelAnswer:
        """Send a request; raise the last refusal again for a prompt that cannot fit.

        A refusal has the size of its prompt as `fits`.
        """
        size, refused = sum(estimate_tokens(message.text) for message in request.messages), REFUSED.get()
        if refused and size > refused.fits:
            raise refused
        try:
            return await self._complete(request, role)
        except ContextTooLong as error:
            error.fits = size
            raise

    async def act_or_answer(
        self, role: Role, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], kind: type[_A]
    ) -> tuple[ModelAnswer, _A | None]:
        """Return the next tool calls, or the answer as `kind`, by its text or a schema."""
        answer = await self.act(role, messages, tools, is_prose=False)
        if answer.tool_calls:
            return answer, None
        return answer, read_as(kind, answer)[0] or await self.structured(role, [*messages, _AS_ASKED], kind)


_AS_ASKED = ModelMessage(role="user", text="Give your answer now, as the JSON that was asked for.")
_GIVEN_UP = 3
"""Questions in a row without a fitting answer, after which a misfit is not asked for again."""
_CONTINUED, _MOST_CHARS = 6, 300_000
"""How often a text is gone on with, and where it ends: ten times what the longest reports have."""
_GO_ON = "Your text was cut at the output limit. Go on exactly where it stops; repeat nothing, add no words about this."


def read_as(kind: type[_A], answer: ModelAnswer) -> tuple[_A | None, str]:
    """Return the JSON object in an answer as `kind`, or None with what is wrong."""
    complete = answer.finish_reason != "length"
    if (found := find_object(answer.text, complete=complete)) is None:
        cut = "That was cut off at its length limit; be brief."
        return None, "There is no JSON object in that." if complete else cut
    try:
        return kind.model_validate(safe_values(found)), ""
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
        return None, f"That does not fit the schema: {'; '.join(wrong)}"


@cache
def schema_of(kind: type[Answer]) -> dict[str, Any]:
    """Return an answer's JSON schema in strict form: no defaults, nothing extra."""
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
