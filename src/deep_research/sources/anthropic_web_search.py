"""Anthropic's own web search (https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool).

What the model says is left out: only the results that the server tool returns count (`web_search_tool_result`), with
the text it cited from them as their snippet; the pages are read like any other.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import Blocked, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource
from deep_research.sources._api_answers import failure, judge, limited, loads
from deep_research.sources._fields import at, first, iso_date, objects, raw, text
from deep_research.sources._markup import line
from deep_research.sources._native import allowed, events_of, usage_of
from deep_research.sources._web import Page, WebOptions, found_pages

_RESULT = "web_search_tool_result"
_REFUSED = ("authentication_error", "permission_error", "billing_error")
_AWAY = ("unavailable", "overloaded_error", "api_error", "timeout_error")


class AnthropicWebSearchOptions(WebOptions):
    """Options of Anthropic's web search."""

    base_url: str = Field("https://api.anthropic.com", description="Address of the API.")
    requests_per_second: float = Field(
        0.4, gt=0, le=50, description="50 requests per minute for new keys (docs.claude.com/en/api/rate-limits)."
    )
    burst: int = Field(20, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")
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
        found = [one for one in parse_answer(response) if allowed(one.url, options)]
        return SearchResult(found=tuple(found[:limit]), usage=usage_of(response))


def parse_answer(response: ApiResponse) -> list[Found]:
    """Return the pages that the server tool has returned, best first.

    Raises SourceError, also for an error of the tool inside an answer and for a refusal.
    """
    judge(response, AnthropicWebSearchSource)
    streamed = response.body.lstrip().startswith((b"event:", b"data:"))
    answer = _assembled(response) if streamed else loads(response, AnthropicWebSearchSource)
    if isinstance(answer, Mapping) and answer.get("type") == "error":
        raise _error(first(answer.get("error"), "type"), text(at(answer, "error", "message")), response)
    if not isinstance(answer, Mapping) or not isinstance(answer.get("content"), list):
        raise failure(Unreadable, response, AnthropicWebSearchSource, "the answer has no content in it")
    blocks = objects(answer["content"])
    results = [block.get("content") for block in blocks if block.get("type") == _RESULT]
    entries = [entry for result in results if isinstance(result, list) for entry in objects(result)]
    codes = [text(at(result, "error_code")) for result in results if isinstance(result, Mapping)]
    if not entries and codes:
        raise _error(codes[0], "", response)
    if not entries and answer.get("stop_reason") == "refusal":
        raise failure(Blocked, response, AnthropicWebSearchSource, "the model declines to search for this")
    cited = _cited(blocks)
    return found_pages((_page(entry, cited) for entry in entries), AnthropicWebSearchSource.name)


def _assembled(response: ApiResponse) -> dict[str, Any]:
    """The blocks of a stream, or the error in it; results of tools come in one piece."""
    blocks: list[Any] = []
    for event in events_of(response):
        if event.get("type") == "error":
            return {"type": "error", "error": event.get("error")}
        if event.get("type") == "content_block_start":
            blocks.append(event.get("content_block"))
    return {"content": blocks}


def _page(entry: Mapping[str, Any], cited: Mapping[str, str]) -> Page:
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


def _error(code: str, why: str, response: ApiResponse) -> SourceError:
    if code in ("too_many_requests", "rate_limit_error"):
        return limited(response, AnthropicWebSearchSource)
    kind = Blocked if code in _REFUSED else Unreachable if code in _AWAY else SourceError
    return failure(
        kind,
        response,
        AnthropicWebSearchSource,
        f"the search failed ({': '.join(part for part in (code, why[:200]) if part)})",
    )
