"""A server that answers every request with one body, as a vendor sent it."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, ToolSpec
from deep_research.providers.provider_catalog import VARIABLES, open_model
from tests.support.scripted_http import HttpRequest, HttpResponse, listening

KEYS = {variable: "test-key" for variable in VARIABLES if variable.endswith("_API_KEY")}

WEATHER = ToolSpec(
    name="get_weather",
    description="The weather of a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "minLength": 1}, "number": {"type": "integer", "minimum": 0}},
    "required": ["word", "number"],
    "additionalProperties": False,
}


def asking(text: str = "How is it?", **fields: Any) -> ModelRequest:
    messages = (ModelMessage(role="system", text="Be brief."), ModelMessage(role="user", text=text))
    return ModelRequest(messages=messages, **fields)


class Served:
    """What was asked; `url` is where."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.url = ""


async def _bytewise(body: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(body), size):
        yield body[at : at + size]


@contextmanager
def serving(
    body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None, pieces: int = 0
) -> Iterator[Served]:
    """Serve `body`, in pieces of that many bytes when `pieces` is given."""
    served = Served()

    async def answer(request: HttpRequest) -> HttpResponse:
        served.bodies.append(json.loads(request.body))
        served.headers.append(request.headers)
        kind = "text/event-stream" if body.startswith((b"data", b"event", b":")) else "application/json"
        return HttpResponse(status, _bytewise(body, pieces) if pieces else body, headers or {}, kind)

    with listening(answer) as served.url:
        yield served


async def completed(
    request: ModelRequest, base_url: str, *, provider: str = "openai", name: str = "m", **options: Any
) -> ModelAnswer:
    """Return what a model at an address answers."""
    model = open_model(provider, name, **{"keys": KEYS, "base_url": base_url, **options})
    try:
        return await model.complete(request)
    finally:
        await model.close()
