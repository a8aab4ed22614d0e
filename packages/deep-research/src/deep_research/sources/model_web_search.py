"""Web searches of model providers: Anthropic's (https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool)
and OpenAI's (https://platform.openai.com/docs/guides/tools-web-search).

What the models say is left out: OpenAI's citations point into its own words. Only what the services return counts:
the results of Anthropic's server tool (`web_search_tool_result`) with the text it cited from them as their snippet,
and OpenAI's addresses (`url_citation` annotations, `action.sources`). The pages are read like any other.
"""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from deep_research.data import Found, SearchResult, Usage
from deep_research.errors import Blocked, SourceError, Unreachable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace, read_answer
from deep_research.sources._api_answers import Declaration, Record, failure, limited, object_of
from deep_research.sources._web import Page, WebOptions

_RESULT = "web_search_tool_result"
_REFUSED = ("authentication_error", "permission_error", "billing_error")
_AWAY = ("unavailable", "overloaded_error", "api_error", "timeout_error", "server_error", "timeout", "overloaded")
_MARK = "utm_source=openai"


def allowed(url: str, options: WebOptions) -> bool:
    """Whether a result is of the domains that the options name; not every service filters them itself."""
    host = urlsplit(url).hostname or ""

    def within(domain: str) -> bool:
        return host == domain or host.endswith(f".{domain}")

    wanted = not options.include_domains or any(within(domain) for domain in options.include_domains)
    return wanted and not any(within(domain) for domain in options.exclude_domains)


def _error(source: type[Declaration], code: str, why: str, response: ApiResponse) -> SourceError:
    """Return the error that a service names inside its answer."""
    if "rate_limit" in code or code == "too_many_requests":
        return limited(response, source)
    if code == "insufficient_quota":
        return failure(Blocked, response, source, f"the plan of the key in {source.needs} is used up")
    kind = Blocked if code in _REFUSED else Unreachable if code in _AWAY else SourceError
    told = ": ".join(filter(None, (code, why[:200])))
    return failure(kind, response, source, f"the search failed ({told})")


def usage_of(response: ApiResponse) -> Usage | None:
    """Return the tokens that an answer of OpenAI or Anthropic has cost, or None when it does not say."""
    usage = Record(json.loads(response.body)).record("usage")
    prompt, answer = usage.number("input_tokens"), usage.number("output_tokens")
    if prompt is None and answer is None:
        return None
    read = usage.number("cache_read_input_tokens") or 0
    written = usage.number("cache_creation_input_tokens") or 0
    return Usage(
        prompt_tokens=(prompt or 0) + read + written,
        cached_tokens=read or usage.number("input_tokens_details", "cached_tokens") or 0,
        cache_write_tokens=written,
        completion_tokens=answer or 0,
    )


class _AnthropicWebSearchOptions(WebOptions):
    model: str = Field("claude-haiku-4-5", description="Model that searches.")


class AnthropicWebSearchSource(ApiSource[_AnthropicWebSearchOptions]):
    """Lets a model search once and keeps what the tool has returned."""

    name = "anthropic_web_search"
    purpose = "General web search by a model of Anthropic; its answers are left out. Costs tokens and a fee per search."
    address = "https://api.anthropic.com"
    pace = Pace(0.4, "50 requests per minute for new keys (docs.claude.com/en/api/rate-limits).", most=50, at_once=20)
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
        found = [one for one in await read_answer(parse_anthropic_answer, response) if allowed(one.url, options)]
        return SearchResult(found=tuple(found[:limit]), usage=usage_of(response))


def parse_anthropic_answer(response: ApiResponse) -> list[Found]:
    """Return the pages that the server tool has returned, best first.

    Raises SourceError, also for an error of the tool inside an answer and for a refusal.
    """
    answer = object_of(response, AnthropicWebSearchSource, "content", "error", what="content")
    if error := answer.record("error"):
        raise _error(AnthropicWebSearchSource, error.text("type"), error.text("message"), response)
    blocks = answer.records("content")
    results = [one for block in blocks if block.get("type") == _RESULT for one in block.records("content")]
    codes = [code for result in results if (code := result.text("error_code"))]
    entries = [result for result in results if not result.text("error_code")]
    if not entries and codes:
        raise _error(AnthropicWebSearchSource, codes[0], "", response)
    if not entries and answer.get("stop_reason") == "refusal":
        raise failure(Blocked, response, AnthropicWebSearchSource, "the model declines to search for this")
    # What was cited of each page, word for word, is its excerpt.
    places = [place for block in blocks for place in block.records("citations")]
    cited = {place.text("url"): place.line("cited_text") for place in reversed(places)}
    pages = [
        Page(entry.line("title"), entry.text("url"), cited.get(entry.text("url"), ""), entry.date("page_age"))
        for entry in entries
    ]
    return [found for page in pages if (found := page.found(AnthropicWebSearchSource.name))]


class _OpenAiWebSearchOptions(WebOptions):
    model: str = Field("gpt-5-mini", description="Model that searches.")
    context_size: str = Field("low", pattern="^(low|medium|high)$", description="How much the model reads of a page.")


class OpenAiWebSearchSource(ApiSource[_OpenAiWebSearchOptions]):
    """Lets a model search once and keeps what it was shown."""

    name = "openai_web_search"
    purpose = "General web search by a model of OpenAI; its answers are left out. Costs tokens and a fee per search."
    address = "https://api.openai.com/v1"
    pace = Pace(
        2.0,
        "By model and tier, 500 requests per minute and more (platform.openai.com/docs/guides/rate-limits).",
        most=50,
        at_once=20,
    )
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
        found = [one for one in await read_answer(parse_openai_answer, response) if allowed(one.url, options)]
        return SearchResult(found=tuple(found[:limit]), usage=usage_of(response))


def parse_openai_answer(response: ApiResponse) -> list[Found]:
    """Return the pages of an answer of the Responses API, the cited ones first.

    Raises SourceError, also for an error inside an answer and for a refusal.
    """
    if response.status == HTTPStatus.TOO_MANY_REQUESTS and b"insufficient_quota" in response.body:
        raise _error(OpenAiWebSearchSource, "insufficient_quota", "", response)
    answer = object_of(response, OpenAiWebSearchSource, "output", "error", what="output")
    if code := answer.record("error").first("code", "type"):
        raise _error(OpenAiWebSearchSource, code, answer.text("error", "message"), response)
    items = answer.records("output")
    pages: dict[str, Page] = {}
    for page in _openai_pages(items):
        if page.url not in pages or not pages[page.url].title:
            pages[page.url] = page
    calls = [item for item in items if item.get("type") == "web_search_call"]
    if not pages and any(part.get("type") == "refusal" for item in items for part in item.records("content")):
        raise failure(Blocked, response, OpenAiWebSearchSource, "the model declines to search for this")
    if not pages and calls and all(call.get("status") == "failed" for call in calls):
        raise failure(Unreachable, response, OpenAiWebSearchSource, "the search of the model failed")
    return [found for page in pages.values() if (found := page.found(OpenAiWebSearchSource.name))]


def _openai_pages(items: list[Record]) -> Iterator[Page]:
    """The cited pages, then those that the search has returned."""
    parts = [part for item in items for part in item.records("content")]
    notes = [note for part in parts for note in part.records("annotations") if note.get("type") == "url_citation"]
    for page in [*notes, *(page for item in items for page in item.records("action", "sources"))]:
        url = page.text("url").replace(f"?{_MARK}", "").replace(f"&{_MARK}", "")
        yield Page(title=page.line("title"), url=url)
