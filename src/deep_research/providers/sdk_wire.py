"""A wire over a client of a vendor's own SDK: for AzureOpenAI, AnthropicBedrock, AnthropicVertex and the like.

The client brings its address, its key and its way of signing; its own retries are switched off, for
they would be hidden from the limits of the process.
"""

from collections.abc import AsyncGenerator
from typing import Any

from deep_research.errors import ConfigError
from deep_research.providers.http_wire import WireAnswer, WireFailure


class SdkWire:
    """A wire over an `AsyncOpenAI` or `AsyncAnthropic` client (or one derived from them)."""

    def __init__(self, client: Any) -> None:
        """Raises ConfigError for a client that is not asynchronous, or of neither SDK."""
        home = {type(base).__module__ and base.__module__.split(".", 1)[0] for base in type(client).__mro__}
        found = home & {"openai", "anthropic"}
        if not found or not type(client).__name__.startswith("Async"):
            message = f"A client of type {type(client).__name__} cannot be used; give an AsyncOpenAI or AsyncAnthropic."
            raise ConfigError(message, setting="client", value=type(client).__name__)
        self._client = client.with_options(max_retries=0)
        self._sdk = __import__(found.pop())

    async def post(self, path: str, body: dict[str, Any]) -> WireAnswer:
        """Return the JSON answer. Raises WireFailure."""
        try:
            data = await self._client.post(path, body=body, cast_to=object)
        except self._sdk.APIError as error:
            raise failure_of(error) from error
        if not isinstance(data, dict):
            raise WireFailure("garbled", status=200, body=str(data)[:200])
        return WireAnswer(data, {})

    async def stream(self, path: str, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Yield the JSON events of a stream. Raises WireFailure."""
        kind = self._sdk.AsyncStream[object]
        try:
            async with await self._client.post(path, body=body, cast_to=object, stream=True, stream_cls=kind) as events:
                async for event in events:
                    yield event
        except self._sdk.APIError as error:
            raise failure_of(error) from error
        except Exception as error:
            if type(error).__module__.startswith("httpx"):
                raise WireFailure("cut", body=str(error)) from error
            raise

    async def close(self) -> None:
        """Leave the client open: whoever made it closes it."""


def failure_of(error: Any) -> WireFailure:
    """Return an SDK's error (of openai or anthropic) as a failure on the wire, by its attributes."""
    response = getattr(error, "response", None)
    if response is not None:
        headers = {name.lower(): value for name, value in response.headers.items()}
        body = getattr(error, "body", None)
        status = response.status_code if response.status_code >= 400 else 0
        return WireFailure("", status=status, headers=headers, body=_enveloped(body))
    if type(error).__name__ == "APITimeoutError":
        return WireFailure("timeout", body="APITimeoutError")
    if type(error).__name__ == "APIConnectionError":
        return WireFailure("connection", body=str(error))
    return WireFailure("", body=_enveloped(getattr(error, "body", None) or str(error)))


def _enveloped(body: Any) -> Any:
    """openai takes the envelope {"error": …} off."""
    return {"error": body} if isinstance(body, dict) and "error" not in body else body
