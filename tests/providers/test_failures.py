"""What errors mean: bodies written after those that vendors send."""

from typing import Any

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
from deep_research.providers.provider_failures import About, translate
from deep_research.providers.server_manner import Manner, learnt_from
from deep_research.safe_text import register_secrets

ABOUT = About("openai", "gpt-x", "OPENAI_API_KEY", "https://example.org/v1")


def openai_error(message: str, code: str | int | None = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


CASES: list[tuple[str, int, Any, type[ResearchError], dict[str, Any]]] = [
    ("openai", 400, openai_error("too long", "context_length_exceeded"), ContextTooLong, {}),
    ("openai", 429, openai_error("quota", "insufficient_quota"), ModelSetupError, {"reason": "no_credit"}),
    (
        "openai",
        429,
        openai_error("Request too large on tokens per min (TPM): Limit 2200, Requested 5000.", "rate_limit_exceeded", "tokens"),
        ContextTooLong,
        {"window": 2200, "used": 5000},
    ),
    (
        "openai",
        429,
        openai_error("Rate limit reached: Limit 30000, Used 29000, Requested 5000. Please try again in 8s.", "rate_limit_exceeded"),
        ModelRateLimited,
        {},
    ),
    (
        "compatible",
        400,
        openai_error("'max_tokens' is too large: 4096. This model's maximum context length is 8000 tokens and your request has 7000 input tokens"),
        ContextTooLong,
        {"window": 8000, "used": 7000},
    ),
    ("compatible", 400, {"error": {"message": "too big", "type": "exceed_context_size_error", "n_ctx": 4096}}, ContextTooLong, {"window": 4096}),
    ("ollama", 400, {"error": "input length 90 exceeds the context length 80"}, ContextTooLong, {"window": 80}),
    ("openai", 401, openai_error("key", "invalid_api_key"), ModelSetupError, {"setting": "OPENAI_API_KEY"}),
    ("openai", 400, openai_error("no", "content_policy_violation"), Refused, {}),
    ("openai", 400, openai_error("Invalid 'temperature'.", "decimal_below_min_value"), ModelSetupError, {"setting": "model"}),
    ("openai", 503, "<html>busy</html>", ProviderDown, {}),
    ("openai", 403, openai_error("Country not supported", "unsupported_country"), ModelSetupError, {"reason": "no_access"}),
    ("groq", 413, openai_error("Request too large: Limit 6000", "rate_limit_exceeded", "tokens"), ContextTooLong, {}),
    ("groq", 400, openai_error("failed", "json_validate_failed"), MalformedOutput, {}),
    (
        "anthropic",
        400,
        anthropic_error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        ContextTooLong,
        {"window": 200_000, "used": 210_000},
    ),
    (
        "anthropic",
        400,
        anthropic_error("invalid_request_error", "input length and `max_tokens` exceed context limit: 9 + 2 > 10"),
        ContextTooLong,
        {"window": 10, "used": 9},
    ),
    ("anthropic", 0, anthropic_error("overloaded_error", "Overloaded"), ProviderDown, {}),
    (
        "anthropic",
        400,
        anthropic_error("invalid_request_error", "Your credit balance is too low."),
        ModelSetupError,
        {"reason": "no_credit"},
    ),
    (
        "aliyun",
        400,
        openai_error("<400> InternalError: Range of input length should be [1, 30720]", "invalid_parameter_error"),
        ContextTooLong,
        {"window": 30_720},
    ),
    ("aliyun", 429, openai_error("You exceeded your current quota", "insufficient_quota"), ModelRateLimited, {}),
    ("aliyun", 429, {"code": "Throttling.RateQuota", "message": "x", "request_id": "r1"}, ModelRateLimited, {"request_id": "r1"}),
    ("aliyun", 400, openai_error("Output data may contain…", "data_inspection_failed"), Refused, {}),
    ("aliyun", 403, {"code": "AllocationQuota.FreeTierOnly", "message": "x"}, ModelSetupError, {"reason": "no_credit"}),
    ("deepseek", 402, openai_error("Insufficient Balance", "invalid_request_error"), ModelSetupError, {"reason": "no_credit"}),
    ("deepseek", 400, openai_error("Content Exists Risk", "invalid_request_error"), Refused, {}),
    ("openrouter", 429, {"error": {"code": 429, "message": "busy", "metadata": {"raw": "upstream"}}}, ModelRateLimited, {}),
    ("ollama", 404, {"error": "model 'x' not found"}, ModelSetupError, {"reason": "unknown_model"}),
    ("compatible", 422, {"detail": [{"loc": ["body", "messages"], "msg": "bad"}]}, ModelSetupError, {}),
    ("compatible", 500, {"error": {"message": "x", "type": "exceed_context_size_error", "code": 500}}, ContextTooLong, {}),
    ("compatible", 400, [{"error": {"code": 400, "message": "input token count (9) exceeds the maximum (8)"}}], ContextTooLong, {"window": 8}),
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


def test_a_certificate_of_a_network_s_own_authority_is_met_with_what_to_set() -> None:
    said = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain"
    assert "SSL_CERT_FILE" in translate(WireFailure("connection", body=said), ABOUT).message


def test_a_key_quoted_by_the_vendor_is_not_repeated() -> None:
    body = openai_error("Incorrect API key provided: sk-abc123", "invalid_api_key")
    assert "sk-abc123" not in str(translate(WireFailure("", status=401, body=body), ABOUT))


@pytest.mark.parametrize(
    ("message", "param", "sent", "found"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'.", "max_tokens", "max_tokens", "max_tokens"),
        ("Unsupported value: 'messages[0].role' does not support 'system'.", "messages[0].role", "", "role"),
        ("parameter.enable_thinking must be set to false for non-streaming calls", "", "enable_thinking", "whole"),
        ("This model only support stream mode, please enable the stream parameter.", "", "", "whole"),
        ("temperature is deprecated for this model", "", "temperature", "temperature"),
        ("output_config.format: Extra inputs are not permitted", "", "output_config", "output_config"),
        ("This model does not support effort level 'xhigh'.", "", "", ""),
        ("Unsupported parameter: 'response_format'", "response_format", "response_format", "response_format"),
        ("json_schema is not enabled on this server", "", "response_format", "json_schema"),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "", "tools", "tools"),
        ("prompt is too long: 9 tokens > 8 maximum", "", "max_tokens", ""),
        ("Unknown name \"stream_options\": Cannot find field.", "", "stream_options", "stream_options"),
    ],
)  # fmt: skip
def test_which_parameter_a_server_does_not_take(message: str, param: str, sent: str, found: str) -> None:
    value = {"type": "json_schema"} if sent == "response_format" else True
    body = {"model": "m", "messages": [{"role": "system"}, {"role": "user"}]} | ({sent: value} if sent else {})
    said = {"error": {"message": message, "param": param or None}}
    learnt = learnt_from(WireFailure("", status=400, body=said), body, Manner(), "openai")
    assert learnt.refused == ({found} if found else set())


@pytest.mark.parametrize(
    ("message", "most"),
    [
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 4096]", 4096),
        ("max_tokens is too large: 16000. This model supports at most 2048 completion tokens, whereas you provided 16000.", 2048),
        ("max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens for claude-x", 8192),
        ("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window`", 8192),
        ("max_tokens is too large: 5000. This model's maximum context length is 8192 tokens and your request has 7000 input tokens", 0),
        ("max_tokens must be at least 1", 0),
    ],
)  # fmt: skip
def test_the_longest_answer_that_an_error_names(message: str, most: int) -> None:
    body = {"model": "m", "messages": [], "max_tokens": 16_000}
    learnt = learnt_from(WireFailure("", status=400, body=openai_error(message)), body, Manner(), "openai")
    assert learnt.most_output == most


def test_a_key_that_the_server_sends_back_stays_in_no_part_of_the_error() -> None:
    register_secrets([key := "sk-returned-by-the-server"])
    body = {"error": {"message": f"bad key sk-ret\u200burned-by-the-server and {key}"}}
    error = translate(WireFailure("", status=500, body=body, headers={"x-request-id": key}), ABOUT)
    assert "returned" not in f"{vars(error)}".replace("\\u200b", "")
