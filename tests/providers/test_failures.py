"""What errors mean: bodies written after those that vendors send."""

import inspect
from typing import Any

import anthropic
import httpx
import openai
import pytest

from deep_research.errors import (
    ContextTooLong,
    MalformedOutput,
    ModelRateLimited,
    ModelSetupError,
    ProviderDown,
    Refused,
    ResearchError,
)
from deep_research.providers.http_wire import WireFailure
from deep_research.providers.langchain_model import failure_of
from deep_research.providers.provider_failures import About, error_body, translate, unsupported_parameter

ABOUT = About("openai", "gpt-x", "OPENAI_API_KEY", "https://example.org/v1")


def openai_error(message: str, code: str | int | None = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


CASES: list[tuple[str, int, Any, type[ResearchError], dict[str, Any]]] = [
    ("openai", 400, openai_error("too long", "context_length_exceeded"), ContextTooLong, {}),
    (
        "openai",
        400,
        openai_error("This model's maximum context length is 8 tokens. However, you sent 9 tokens", "x"),
        ContextTooLong,
        {"limit": 8, "used": 9},
    ),
    ("openai", 429, openai_error("quota", "insufficient_quota"), ModelSetupError, {"reason": "no_credit"}),
    ("openai", 429, openai_error("slow", "rate_limit_exceeded"), ModelRateLimited, {}),
    ("openai", 401, openai_error("key", "invalid_api_key"), ModelSetupError, {"setting": "OPENAI_API_KEY"}),
    ("openai", 400, openai_error("no", "content_policy_violation"), Refused, {}),
    ("openai", 400, openai_error("Invalid 'temperature'.", "decimal_below_min_value"), ModelSetupError, {"setting": "model"}),
    ("openai", 500, openai_error("oops", None, "server_error"), ProviderDown, {"status": 500}),
    ("openai", 503, "<html>busy</html>", ProviderDown, {}),
    ("openai", 403, openai_error("Country not supported", "unsupported_country"), ModelSetupError, {"reason": "no_access"}),
    ("groq", 413, openai_error("Request too large: Limit 6000", "rate_limit_exceeded", "tokens"), ContextTooLong, {}),
    ("groq", 400, openai_error("failed", "json_validate_failed"), MalformedOutput, {}),
    (
        "anthropic",
        400,
        anthropic_error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        ContextTooLong,
        {"limit": 200_000, "used": 210_000},
    ),
    (
        "anthropic",
        400,
        anthropic_error("invalid_request_error", "input length and `max_tokens` exceed context limit: 9 + 2 > 10"),
        ContextTooLong,
        {"limit": 10, "used": 9},
    ),
    ("anthropic", 529, anthropic_error("overloaded_error", "Overloaded"), ProviderDown, {}),
    ("anthropic", 0, anthropic_error("overloaded_error", "Overloaded"), ProviderDown, {}),
    ("anthropic", 429, anthropic_error("rate_limit_error", "slow"), ModelRateLimited, {}),
    ("anthropic", 413, anthropic_error("request_too_large", "big"), ContextTooLong, {}),
    (
        "anthropic",
        400,
        anthropic_error("invalid_request_error", "Your credit balance is too low."),
        ModelSetupError,
        {"reason": "no_credit"},
    ),
    ("anthropic", 404, anthropic_error("not_found_error", "model: x"), ModelSetupError, {"reason": "unknown_model"}),
    (
        "aliyun",
        400,
        openai_error("<400> InternalError: Range of input length should be [1, 30720]", "invalid_parameter_error"),
        ContextTooLong,
        {"limit": 30_720},
    ),
    ("aliyun", 429, openai_error("You exceeded your current quota", "insufficient_quota"), ModelRateLimited, {}),
    ("aliyun", 429, {"code": "Throttling.RateQuota", "message": "x", "request_id": "r1"}, ModelRateLimited, {"request_id": "r1"}),
    ("aliyun", 400, openai_error("Output data may contain…", "data_inspection_failed"), Refused, {}),
    ("aliyun", 401, {"code": "InvalidApiKey", "message": "Invalid"}, ModelSetupError, {"reason": "bad_key"}),
    ("aliyun", 403, {"code": "AllocationQuota.FreeTierOnly", "message": "x"}, ModelSetupError, {"reason": "no_credit"}),
    (
        "deepseek",
        400,
        openai_error("This model's maximum context length is 7 tokens. However, you requested 8 tokens", "invalid_request_error"),
        ContextTooLong,
        {"limit": 7, "used": 8},
    ),
    ("deepseek", 402, openai_error("Insufficient Balance", "invalid_request_error"), ModelSetupError, {"reason": "no_credit"}),
    ("deepseek", 400, openai_error("Content Exists Risk", "invalid_request_error"), Refused, {}),
    ("openrouter", 429, {"error": {"code": 429, "message": "busy", "metadata": {"raw": "upstream"}}}, ModelRateLimited, {}),
    ("openrouter", 402, {"error": {"code": 402, "message": "credits"}}, ModelSetupError, {"reason": "no_credit"}),
    ("ollama", 404, {"error": "model 'x' not found"}, ModelSetupError, {"reason": "unknown_model"}),
    ("compatible", 422, {"detail": [{"loc": ["body", "messages"], "msg": "bad"}]}, ModelSetupError, {}),
    (
        "compatible",
        400,
        {"object": "error", "message": "This model's maximum context length is 5 tokens. But 6 tokens", "code": 400},
        ContextTooLong,
        {"limit": 5, "used": 6},
    ),
    ("compatible", 500, {"error": {"message": "x", "type": "exceed_context_size_error", "code": 500}}, ContextTooLong, {}),
    ("compatible", 400, [{"error": {"code": 400, "message": "input token count (9) exceeds the maximum (8)"}}], ContextTooLong, {"limit": 8}),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "status", "body", "kind", "fields"), CASES)
def test_meanings(provider: str, status: int, body: Any, kind: type[ResearchError], fields: dict[str, Any]) -> None:
    error = translate(WireFailure("", status=status, body=body), ABOUT._replace(provider=provider))
    assert type(error) is kind
    assert {name: getattr(error, name) for name in fields} == fields
    assert error.provider == provider
    assert error.model == "gpt-x"


@pytest.mark.parametrize("reason", ["timeout", "connection", "cut", "garbled"])
def test_failures_below_http_are_a_provider_that_is_down(reason: str) -> None:
    error = translate(WireFailure(reason), ABOUT)
    assert type(error) is ProviderDown
    assert error.reason == reason


def test_a_key_quoted_by_the_vendor_is_not_repeated() -> None:
    body = openai_error("Incorrect API key provided: sk-abc123", "invalid_api_key")
    assert "sk-abc123" not in str(translate(WireFailure("", status=401, body=body), ABOUT))


@pytest.mark.parametrize(
    ("message", "param", "found"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'.", "max_tokens", "max_tokens"),
        ("Unsupported value: 'messages[0].role' does not support 'system'.", "messages[0].role", "role"),
        ("parameter.enable_thinking must be set to false for non-streaming calls", "", "enable_thinking"),
        ("This model only support stream mode, please enable the stream parameter.", "", "stream"),
        ("temperature is deprecated for this model", "", "temperature"),
        ("output_config.format: Extra inputs are not permitted", "", "output_config"),
        ("This model does not support effort level 'xhigh'.", "", ""),
        ("prompt is too long: 9 tokens > 8 maximum", "", ""),
    ],
)  # fmt: skip
def test_which_parameter_a_server_does_not_take(message: str, param: str, found: str) -> None:
    body = {"error": {"message": message, "param": param or None}}
    assert unsupported_parameter(WireFailure("", status=400, body=body)) == found


def sdk_errors(sdk: Any) -> list[type[Exception]]:
    return [
        kind
        for _, kind in inspect.getmembers(sdk, inspect.isclass)
        if issubclass(kind, sdk.APIStatusError) and kind.__init__ is sdk.APIStatusError.__init__
    ]


@pytest.mark.parametrize("kind", [*sdk_errors(openai), *sdk_errors(anthropic)])
def test_every_error_of_the_sdks_has_a_class_of_ours(kind: Any) -> None:
    status = getattr(kind, "status_code", 500)
    status = status if isinstance(status, int) else 500
    response = _response(status)
    error = translate(failure_of(kind("said", response=response, body=None)), ABOUT)
    assert type(error) in (ModelSetupError, ContextTooLong, ModelRateLimited, ProviderDown)
    assert error.retry_after == 3.0


def _response(status: int) -> Any:
    return httpx.Response(status, headers={"retry-after": "3"}, request=httpx.Request("POST", "http://x/"))


def test_the_parts_of_an_error_of_no_shape() -> None:
    assert error_body(None).message == ""
    assert error_body("text").message == "text"
    assert error_body([]).message == ""
