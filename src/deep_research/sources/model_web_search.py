"""Web searches of model providers: Anthropic's (https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool)
and OpenAI's (https://platform.openai.com/docs/guides/tools-web-search).

What the models say is left out: OpenAI's citations point into its own words. Only what the services return counts:
the results of Anthropic's server tool (`web_search_tool_result`) with the text it cited from them as their snippet,
and OpenAI's addresses (`url_citation` annotations, `action.sources`). The pages are read like any other.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from deep_research.data import Found, SearchResult, Usage
from deep_research.errors import Blocked, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, calls_at_once, rate
from deep_research.sources._api_answers import (
    at,
    failure,
    first,
    iso_date,
    judge,
    limited,
    loads,
    number,
    objects,
    raw,
    text,
)
from deep_research.sources._record_documents import line
from deep_research.sources._web import Page, WebOptions, found_pages

_RESULT = "web_search_tool_result"
_REFUSED = ("authentication_error", "permission_error", "billing_error")
_AWAY = ("unavailable", "overloaded_error", "api_error", "timeout_error")
_MARK = "?utm_source=openai"


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


class AnthropicWebSearchOptions(WebOptions):
    """Options of Anthropic's web search."""

    base_url: str = Field("https://api.anthropic.com", description="Address of the API.")
    requests_per_second: float = rate(
        0.4, "50 requests per minute for new keys (docs.claude.com/en/api/rate-limits).", most=50
    )
    burst: int = calls_at_once(20)
    model: str = Field("claude-haiku-4-5", description="Model that searches.")


class AnthropicWebSearchSource(ApiSource[AnthropicWebSearchOptions]):
    """Lets a model search once and keeps what the tool has returned."""

    name = "anthropic_web_search"
    purpose = "General web search by a model of Anthropic; its answers are left out. Costs tokens and a fee per search."
    needs = "ANTHROPIC_API_KEY"
    headers: ClassVar = {"accept": "application/json", "anthropic-version": "2023-06-01"}
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        tool: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search", "max_uses": 1}
        # The service takes one of the two lists.
        if options.include_domains:
            tool["allowed_domains"] = list(options.include_domains)
        elif options.exclude_domains:
            tool["blocked_domains"] = list(options.exclude_domains)
        body = {
            "model": options.model,
            "max_tokens": 1_024,
            "messages": [{"role": "user", "content": f"Search the web for: {query}"}],
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": "web_search"},
        }
        response = await self._post("/v1/messages", body)
        found = [one for one in parse_anthropic_answer(response) if allowed(one.url, options)]
        return SearchResult(found=tuple(found[:limit]), usage=usage_of(response))


def parse_anthropic_answer(response: ApiResponse) -> list[Found]:
    """Return the pages that the server tool has returned, best first.

    Raises SourceError, also for an error of the tool inside an answer and for a refusal.
    """
    judge(response, AnthropicWebSearchSource)
    streamed = response.body.lstrip().startswith((b"event:", b"data:"))
    answer = _assembled(response) if streamed else loads(response, AnthropicWebSearchSource)
    if isinstance(answer, Mapping) and answer.get("type") == "error":
        raise _anthropic_error(first(answer.get("error"), "type"), text(at(answer, "error", "message")), response)
    if not isinstance(answer, Mapping) or not isinstance(answer.get("content"), list):
        raise failure(Unreadable, response, AnthropicWebSearchSource, "the answer has no content in it")
    blocks = objects(answer["content"])
    results = [block.get("content") for block in blocks if block.get("type") == _RESULT]
    entries = [entry for result in results if isinstance(result, list) for entry in objects(result)]
    codes = [text(at(result, "error_code")) for result in results if isinstance(result, Mapping)]
    if not entries and codes:
        raise _anthropic_error(codes[0], "", response)
    if not entries and answer.get("stop_reason") == "refusal":
        raise failure(Blocked, response, AnthropicWebSearchSource, "the model declines to search for this")
    cited = _cited(blocks)
    return found_pages((_anthropic_page(entry, cited) for entry in entries), AnthropicWebSearchSource.name)


def _assembled(response: ApiResponse) -> dict[str, Any]:
    """The blocks of a stream, or the error in it; results of tools come in one piece."""
    blocks: list[Any] = []
    for event in events_of(response):
        if event.get("type") == "error":
            return {"type": "error", "error": event.get("error")}
        if event.get("type") == "content_block_start":
            blocks.append(event.get("content_block"))
    return {"content": blocks}


def _anthropic_page(entry: Mapping[str, Any], cited: Mapping[str, str]) -> Page:
    url = text(entry.get("url"))
    return Page(
        title=line(raw(entry.get("title"))),
        url=url,
        excerpt=cited.get(url, ""),
        published=iso_date(text(entry.get("page_age"))),
    )


def _cited(blocks: list[Mapping[str, Any]]) -> dict[str, str]:
    """What was cited of each page, word for word: the tool's `cited_text`."""
    quoted: dict[str, str] = {}
    for block in blocks:
        for place in objects(block.get("citations")):
            quoted.setdefault(text(place.get("url")), line(raw(place.get("cited_text"))))
    return quoted


def _anthropic_error(code: str, why: str, response: ApiResponse) -> SourceError:
    if code in ("too_many_requests", "rate_limit_error"):
        return limited(response, AnthropicWebSearchSource)
    kind = Blocked if code in _REFUSED else Unreachable if code in _AWAY else SourceError
    return failure(
        kind,
        response,
        AnthropicWebSearchSource,
        f"the search failed ({': '.join(part for part in (code, why[:200]) if part)})",
    )


class OpenAiWebSearchOptions(WebOptions):
    """Options of OpenAI's web search."""

    base_url: str = Field("https://api.openai.com/v1", description="Address of the API.")
    requests_per_second: float = rate(
        2.0,
        "By model and tier, 500 requests per minute and more (platform.openai.com/docs/guides/rate-limits).",
        most=50,
    )
    burst: int = calls_at_once(20)
    model: str = Field("gpt-5-mini", description="Model that searches.")
    context_size: str = Field("low", pattern="^(low|medium|high)$", description="How much the model reads of a page.")


class OpenAiWebSearchSource(ApiSource[OpenAiWebSearchOptions]):
    """Lets a model search once and keeps what it was shown."""

    name = "openai_web_search"
    purpose = "General web search by a model of OpenAI; its answers are left out. Costs tokens and a fee per search."
    needs = "OPENAI_API_KEY"
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        domains = {"allowed_domains": list(options.include_domains)} if options.include_domains else None
        tool = {"type": "web_search", "search_context_size": options.context_size, "filters": domains}
        body = {
            "model": options.model,
            "input": f"Search the web for: {query}",
            "tools": [{name: value for name, value in tool.items() if value}],
            "tool_choice": "required",
            "max_tool_calls": 1,
            "max_output_tokens": 2_000,
            "include": ["web_search_call.action.sources"],
            "store": False,
        }
        response = await self._post("/responses", body)
        found = [one for one in parse_openai_answer(response) if allowed(one.url, options)]
        return SearchResult(found=tuple(found[:limit]), usage=usage_of(response))


def parse_openai_answer(response: ApiResponse) -> list[Found]:
    """Return the pages of an answer (of the Responses API, in one piece or as a stream, or of a chat completion).

    Cited pages come first. Raises SourceError, also for an error inside an answer and for a refusal.
    """
    _judge_openai(response)
    streamed = response.body.lstrip().startswith((b"event:", b"data:"))
    answer = _last_event(response) if streamed else loads(response, OpenAiWebSearchSource)
    if not isinstance(answer, Mapping) or not ({"output", "choices", "error"} & answer.keys()):
        raise failure(Unreadable, response, OpenAiWebSearchSource, "the answer has no output in it")
    if code := first(answer.get("error"), "code", "type"):
        raise _openai_error(code, text(at(answer, "error", "message")), response)
    pages = list(_openai_pages(answer))
    if not pages:
        _explain_nothing(answer, response)
    kept = {page.url: page for page in reversed(pages)}
    kept |= {page.url: page for page in reversed(pages) if page.title}
    ordered = [kept[url] for url in dict.fromkeys(page.url for page in pages)]
    return found_pages(ordered, OpenAiWebSearchSource.name)


def _judge_openai(response: ApiResponse) -> None:
    if response.status == 429 and b"insufficient_quota" in response.body:
        raise failure(
            Blocked,
            response,
            OpenAiWebSearchSource,
            f"the plan of the key in {OpenAiWebSearchSource.needs} is used up (HTTP 429)",
        )
    judge(response, OpenAiWebSearchSource)


def _openai_error(code: str, why: str, response: ApiResponse) -> SourceError:
    if code == "insufficient_quota":
        return failure(
            Blocked, response, OpenAiWebSearchSource, f"the plan of the key in {OpenAiWebSearchSource.needs} is used up"
        )
    if "rate_limit" in code:
        return limited(response, OpenAiWebSearchSource)
    kind = Unreachable if code in ("server_error", "timeout", "overloaded") else SourceError
    return failure(kind, response, OpenAiWebSearchSource, f"the search failed ({code}: {why[:200]})")


def _openai_pages(answer: Mapping[str, Any]) -> Iterator[Page]:
    """The cited pages, then those that the search has returned."""
    parts = [part for item in objects(answer.get("output")) for part in objects(item.get("content"))]
    messages = [choice["message"] for choice in objects(answer.get("choices")) if "message" in choice]
    for part in [*parts, *objects(messages)]:
        for note in objects(part.get("annotations")):
            cited = note.get("url_citation") if isinstance(note.get("url_citation"), Mapping) else note
            if note.get("type") == "url_citation":
                yield Page(title=line(raw(at(cited, "title"))), url=_plain(text(at(cited, "url"))))
    for item in objects(answer.get("output")):
        if item.get("type") == "web_search_call":
            for source in objects(at(item, "action", "sources")):
                yield Page(title=line(raw(source.get("title"))), url=_plain(text(source.get("url"))))


def _plain(url: str) -> str:
    return url.replace(_MARK, "").replace(_MARK.replace("?", "&"), "")


def _explain_nothing(answer: Mapping[str, Any], response: ApiResponse) -> None:
    """Raise what kept the model from finding; finding nothing is no error."""
    items = objects(answer.get("output"))
    said = [part for item in items for part in objects(item.get("content"))]
    if any(part.get("type") == "refusal" for part in said):
        raise failure(Blocked, response, OpenAiWebSearchSource, "the model declines to search for this")
    calls = [item for item in items if item.get("type") == "web_search_call"]
    if calls and all(call.get("status") == "failed" for call in calls):
        raise failure(Unreachable, response, OpenAiWebSearchSource, "the search of the model failed")


def _last_event(response: ApiResponse) -> Any:
    """The whole answer at the end of a stream, or the error in it."""
    for event in reversed(events_of(response)):
        if event.get("type") == "error":
            return event
        if isinstance(event.get("response"), Mapping) and event.get("type") != "response.created":
            return event["response"]
    raise failure(Unreadable, response, OpenAiWebSearchSource, "the stream has no answer in it")
