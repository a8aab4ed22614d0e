"""What the web searches of model providers share: domains of results, tokens that a search has used."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from deep_research.data import Usage
from deep_research.ports import ApiResponse
from deep_research.sources._fields import at, number
from deep_research.sources._web import WebOptions


def allowed(url: str, options: WebOptions) -> bool:
    """Whether a result is of the domains that the options name; not every service filters them itself."""
    host = urlsplit(url).hostname or ""

    def within(domain: str) -> bool:
        return host == domain or host.endswith(f".{domain}")

    wanted = not options.include_domains or any(within(domain) for domain in options.include_domains)
    return wanted and not any(within(domain) for domain in options.exclude_domains)


def events_of(response: ApiResponse) -> list[Mapping[str, Any]]:
    """Return the events of a stream (server-sent events with JSON) in their order; what is no JSON is left out."""
    events: list[Mapping[str, Any]] = []
    for part in response.body.decode("utf-8", "replace").splitlines():
        with suppress(ValueError, RecursionError):
            event = json.loads(part.removeprefix("data:")) if part.startswith("data:") else None
            events += [event] if isinstance(event, Mapping) else []
    return events


def usage_of(response: ApiResponse) -> Usage | None:
    """Return the tokens that an answer of OpenAI or Anthropic has cost, or None when it does not say."""
    try:
        usage: Any = at(json.loads(response.body), "usage")
    except (ValueError, RecursionError):
        return None
    prompt = number(at(usage, "input_tokens")) or number(at(usage, "prompt_tokens"))
    answer = number(at(usage, "output_tokens")) or number(at(usage, "completion_tokens"))
    if prompt is None and answer is None:
        return None
    read = number(at(usage, "cache_read_input_tokens")) or 0
    written = number(at(usage, "cache_creation_input_tokens")) or 0
    return Usage(
        prompt_tokens=(prompt or 0) + read + written,
        cached_tokens=read or number(at(usage, "input_tokens_details", "cached_tokens")) or 0,
        cache_write_tokens=written,
        completion_tokens=answer or 0,
    )
