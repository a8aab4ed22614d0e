"""The meaning of provider errors, by vendor code, HTTP status or else by message."""

import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from deep_research.errors import (
    ContextTooLong,
    MalformedOutput,
    ModelError,
    ModelRateLimited,
    ModelSetupError,
    ProviderDown,
    Refused,
    ResearchError,
)
from deep_research.protocol.http_semantics import OWN_AUTHORITY, StatusMeaning, requested_wait, status_meaning
from deep_research.providers.http_wire import WireFailure
from deep_research.safe_text import safe_message


class About(NamedTuple):
    """Where a failure is from: provider, model, key variable, address, its setting."""

    provider: str
    model: str
    variable: str = ""
    base_url: str = ""
    address_settings: str = "model_base_url"


_MOST_OF_A_WORD, _MOST_OF_A_MESSAGE, _MOST_OF_A_CALL = 200, 2_000, 64_000
"""What is read of an error, wherever it comes from: of its codes, of its message, and of the call that it refuses."""


class ErrorBody(NamedTuple):
    """The parts of a vendor's error, whatever its shape; absent parts are empty."""

    code: str = ""
    type: str = ""
    message: str = ""
    param: str = ""
    request_id: str = ""
    failed_generation: str = ""


class Meaning(NamedTuple):
    """What an error means to the reader. `reason` tells errors of one class apart."""

    kind: type[ResearchError]
    reason: str


TOO_LONG = Meaning(ContextTooLong, "context")
REFUSED = Meaning(Refused, "content_filter")
NO_CREDIT = Meaning(ModelSetupError, "no_credit")
BAD_KEY = Meaning(ModelSetupError, "bad_key")
NO_ACCESS = Meaning(ModelSetupError, "no_access")
UNKNOWN_MODEL = Meaning(ModelSetupError, "unknown_model")
BAD_REQUEST = Meaning(ModelSetupError, "bad_request")
BAD_ADDRESS = Meaning(ModelSetupError, "base_url")
RATE = Meaning(ModelRateLimited, "rate")
DOWN = Meaning(ProviderDown, "down")
MALFORMED = Meaning(MalformedOutput, "malformed")

_CODES: dict[str, Meaning] = {
    # OpenAI (platform.openai.com/docs/guides/error-codes) and those who follow it
    "context_length_exceeded": TOO_LONG,
    "content_policy_violation": REFUSED,
    "content_filter": REFUSED,
    "insufficient_quota": NO_CREDIT,
    "billing_hard_limit_reached": NO_CREDIT,
    "billing_not_active": NO_CREDIT,
    "invalid_api_key": BAD_KEY,
    "model_not_found": UNKNOWN_MODEL,
    "rate_limit_exceeded": RATE,
    "server_error": DOWN,
    # Anthropic (platform.claude.com/docs/en/api/errors)
    "authentication_error": BAD_KEY,
    "billing_error": NO_CREDIT,
    "permission_error": NO_ACCESS,
    "not_found_error": UNKNOWN_MODEL,
    "request_too_large": TOO_LONG,
    "rate_limit_error": RATE,
    "timeout_error": DOWN,
    "api_error": DOWN,
    "overloaded_error": DOWN,
    # DashScope (alibabacloud.com/help/en/model-studio/error-code)
    "aliyun insufficient_quota": RATE,  # its word for tokens per minute; waiting helps
    "InvalidApiKey": BAD_KEY,
    "data_inspection_failed": REFUSED,
    "DataInspectionFailed": REFUSED,
    "Arrearage": NO_CREDIT,
    "AllocationQuota.FreeTierOnly": NO_CREDIT,
    "Model.AccessDenied": NO_ACCESS,
    "AccessDenied.Unpurchased": NO_ACCESS,
    "ModelNotFound": UNKNOWN_MODEL,
    # Groq (console.groq.com/docs/errors), llama.cpp
    "tool_use_failed": MALFORMED,
    "json_validate_failed": MALFORMED,
    "exceed_context_size_error": TOO_LONG,
}

_MESSAGES = (
    # Only where the vendor gives no code of its own. The recorded bodies are in the tests.
    (
        re.compile(
            r"context (?:length|window|size|limit)|prompt is too long|input (?:length should|token count)", re.I
        ),
        TOO_LONG,
    ),
    (re.compile(r"^Token limit reached"), MALFORMED),  # OpenRouter, in a stream: the answer's own limit
    (re.compile(r"balance is too low|insufficient balance", re.I), NO_CREDIT),  # Anthropic, DeepSeek
    (re.compile(r"Content Exists Risk|content filtering policy"), REFUSED),  # DeepSeek, Anthropic
)
_LENGTHS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"(?<!\d)(?P<used>\d{1,9})\)?(?: tokens\)?| \+ \d{1,9})? (?:>|exceeds)\D{0,60}(?P<window>\d{1,9})",  # Gemini, Ollama
        r"(?<!\d)(?P<used>\d{1,9}) tokens.{0,60}?(?P<window>\d{1,9}) maximum context length",  # Mistral
        r"maximum context length is (?P<window>\d{1,9}) tokens.{0,300}?(?<!\d)(?P<used>\d{1,9}) (?:input )?tokens",  # OpenAI
        r"(?:context (?:length|window|size)|input length should be \[1)[^\d.]{0,40}(?P<window>\d{1,9})",
    )
)
"""How a prompt that is too long, and the window that it does not fit, are told."""

_PER_MINUTE = re.compile(r"Limit:? (?P<window>[\d,]+).{0,40}?Requested:? (?P<used>[\d,]+)", re.DOTALL)
"""OpenAI and Groq: a request beyond the tokens of a whole minute. No waiting makes it fit."""

_STATUSES: dict[StatusMeaning, Meaning] = {
    "login": BAD_KEY,
    "payment": NO_CREDIT,
    "forbidden": NO_ACCESS,
    "missing": UNKNOWN_MODEL,
    "wait": RATE,
    "down": DOWN,
}


def translate(failure: WireFailure, about: About) -> ResearchError:
    """Translate a wire failure to our error, with all that is known about it."""
    body = error_body(failure.body)
    meaning, numbers = meaning_of(failure, body, about.provider)
    wait = requested_wait(failure.headers, time.time(), body.message)
    until = time.strftime(" until %Y-%m-%d %H:%M UTC", time.gmtime(time.time() + wait + 59)) if wait else ""
    fields: dict[str, Any] = {
        "provider": about.provider,
        "model": about.model,
        "status": failure.status or None,
        "request_id": body.request_id or failure.headers.get("request-id") or failure.headers.get("x-request-id"),
        "retry_after": wait,
        "reason": meaning.reason if meaning is not DOWN else (failure.reason or "down"),
        **numbers,
    }
    if issubclass(meaning.kind, ModelError):
        fields["usage"] = failure.usage
    if issubclass(meaning.kind, ModelSetupError):
        setting = {"bad_key": about.variable, "no_credit": about.variable, "base_url": "base_url"}
        fields |= {"setting": setting.get(meaning.reason) or "model", "came_from": "provider"}
    return meaning.kind(_explain(meaning, failure, body, about, until), **fields)


def meaning_of(failure: WireFailure, body: ErrorBody, provider: str) -> tuple[Meaning, dict[str, int]]:
    """Return a failure's meaning, and the numbers `window` and `used` it tells of."""
    if failure.reason:
        return (BAD_ADDRESS if failure.reason == "address" else DOWN), {}
    never = _numbers(body.message, _PER_MINUTE) if failure.status in (413, 429) else {}
    if never and never["used"] > never["window"]:
        return TOO_LONG, never
    meaning = _by_code(failure.status, body, provider) or _by_message(failure.status, body.message)
    if meaning is None:
        broken = failure.status in (0, 409)  # 409 by OpenAI: a conflict that passes
        meaning = DOWN if broken else _STATUSES.get(status_meaning(failure.status), BAD_REQUEST)
    return meaning, _numbers(body.message, *_LENGTHS) if meaning is TOO_LONG else {}


def _by_code(status: int, body: ErrorBody, provider: str) -> Meaning | None:
    if status == 413:  # Groq calls a request beyond its tokens per minute a rate limit; waiting does not help
        return TOO_LONG
    for code in (body.code, body.type):
        if meaning := _CODES.get(f"{provider} {code}") or _CODES.get(code):
            return meaning
        if code.startswith(("Throttling", "limit_requests", "limit_burst_rate")):  # DashScope
            return RATE
    return None


def _by_message(status: int, message: str) -> Meaning | None:
    if status not in (0, 400, 422, 500) or output_limit(message):
        return None
    return next((meaning for pattern, meaning in _MESSAGES if pattern.search(message)), None)


def _numbers(message: str, *patterns: re.Pattern[str]) -> dict[str, int]:
    found = next((found for pattern in patterns if (found := pattern.search(message))), None)
    return {name: int(value.replace(",", "")) for name, value in found.groupdict().items()} if found else {}


def error_body(body: Any) -> ErrorBody:
    """Return the parts of any vendor's error, such as OpenAI's or Anthropic's."""
    if isinstance(body, list):  # Gemini's OpenAI-compatible server wraps it
        body = body[0] if body else {}
    error = body.get("error", body) if isinstance(body, Mapping) else body or ""
    if not isinstance(error, Mapping):
        return ErrorBody(message=str(error)[:_MOST_OF_A_MESSAGE])
    extra = error.get("metadata")
    raw = extra.get("raw") if isinstance(extra, Mapping) else None
    message = str(error.get("message") or error.get("detail") or "")[:_MOST_OF_A_MESSAGE]
    if error.get("n_ctx"):  # llama.cpp
        message += f" (context size {error['n_ctx']})"
    return ErrorBody(
        code=str(error.get("code") or "")[:_MOST_OF_A_WORD],
        type=str(error.get("type") or "")[:_MOST_OF_A_WORD],
        message=f"{message}: {raw}"[:_MOST_OF_A_MESSAGE] if raw else message,
        param=str(error.get("param") or "")[:_MOST_OF_A_WORD],
        request_id=str(body.get("request_id") or "")[:_MOST_OF_A_WORD],
        failed_generation=str(error.get("failed_generation") or "")[:_MOST_OF_A_CALL],
    )


def _explain(meaning: Meaning, failure: WireFailure, body: ErrorBody, about: About, until: str) -> str:
    who = f"{about.provider} ({about.model})"
    # Made safe before it is quoted: a hidden character in a key would be written out, and the key not known.
    message = safe_message(body.message).strip()[:300]
    said = f" It said: {message!r}." if message else ""
    place = f" at {about.base_url}" if about.base_url else ""
    variable = about.variable or "its key"
    elsewhere = f" Check that its server is there, or set {about.address_settings}."
    if "CERTIFICATE_VERIFY_FAILED" in said:
        elsewhere = OWN_AUTHORITY
    is_other = failure.reason in ("connection", "garbled")
    return {
        "context": f"The prompt is too long for {who}.{said}",
        "content_filter": f"{who} declines to answer.{said}",
        "no_credit": f"{who} has no credit left for the key in {variable}. Top up, or choose another provider.",
        # What a vendor says about a bad key may quote the key.
        "bad_key": f"{about.provider} does not accept the key in {variable}{place}. Check it and its region.",
        "no_access": f"The key in {variable} may not use {about.model!r} at {about.provider}.{said}",
        "unknown_model": f"{about.provider} has no model {about.model!r}{place}.{said} Set model_name to one it has.",
        "bad_request": f"{who} does not accept the request.{said}",
        "base_url": f"Nothing can be sent to {about.base_url!r} ({body.message}). Check the key and {about.address_settings}.",
        "rate": f"{who} asks to wait{until}.{said}",
        "malformed": f"{who} gave an answer of the wrong form.{said}",
        "down": f"{who} does not answer{place} ({failure.reason or failure.status}).{said}{elsewhere * is_other}",
    }[meaning.reason]


_OUTPUT_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"(?:max\w{0,40}|maximum )tokens[^\[]{0,80}?(?:\[\s*\d+\s*,|: \d+ >|less than or equal to|at most|not exceed"
        r"|maximum(?: is| of)?|inclusive\) to|model limit of)\W{0,3}(\d+)",
        r"at most (\d+) (?:completion|output|new) tokens",  # OpenAI
        r"maximum (?:number of )?(?:output|completion) tokens[^\d.]{0,40}(\d+)",
    )
)


def output_limit(message: str) -> int:
    """Return the output limit in tokens that an error names; 0 where it names none."""
    if "maximum context length" in message.lower():
        return 0
    return next((int(found[1]) for pattern in _OUTPUT_LIMITS if (found := pattern.search(message))), 0)


def is_no_such_path(failure: WireFailure) -> bool:
    """Return whether a server has nothing at the path, rather than no such model."""
    said = str(failure.body).lower()
    lacks_path = failure.status in (404, 405) and "model" not in said and "deployment" not in said
    return lacks_path or error_body(failure.body).message.startswith("Unexpected endpoint")  # LM Studio, with 200
