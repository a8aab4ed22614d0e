"""Web searches by the model providers Anthropic and OpenAI.

APIs: https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool,
https://platform.openai.com/docs/guides/tools-web-search.

What the models say is left out. Only what the services return counts: the results of Anthropic's server tool with the
text cited from them, and OpenAI's addresses. The pages are read like any other.
"""

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from pydantic import Field

from deep_research.data import Found, SearchResult, Usage
from deep_research.errors import Blocked, Unreachable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace, read_answer
from deep_research.sources._api_answers import Record
from deep_research.sources._web import Page, WebOptions, page_of

_MARK = "utm_source=openai"
Options = TypeVar("Options", bound=WebOptions)


class ModelSearch(ApiSource[Options]):
    """A search by a model, with the tokens that it cost."""

    async def _kept(self, parse: Callable[..., list[Found]], response: ApiResponse, limit: int) -> SearchResult:
        wanted, unwanted = self.options.include_domains, self.options.exclude_domains
        found = await read_answer(parse, response)
        found = [one for one in found if (not wanted or _is_of(one, wanted)) and not _is_of(one, unwanted)]
        return SearchResult(found=tuple(found[:limit]), usage=await read_answer(usage_of, response))


def _is_of(page: Found, domains: Iterable[str]) -> bool:
    host = urlsplit(page.url).hostname or ""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def usage_of(response: ApiResponse) -> Usage | None:
    """Return the tokens used by an OpenAI or Anthropic answer, or None if not given."""
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


class AnthropicWebSearchSource(ModelSearch[_AnthropicWebSearchOptions]):
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
        return await self._kept(parse_anthropic_answer, await self._post("/v1/messages", body), limit)


def _results(response: ApiResponse) -> list[tuple[Record, str]]:
    """Return what the tool found with what was cited of it. Raises SourceError."""
    answer = AnthropicWebSearchSource.object_of(response, "content", "error", what="content")
    blocks = answer.records("content")
    results = [
        one for block in blocks if block.get("type") == "web_search_tool_result" for one in block.records("content")
    ]
    codes = [code for result in results if (code := result.text("error_code"))]
    entries = [result for result in results if not result.text("error_code")]
    if not entries and codes:
        raise AnthropicWebSearchSource.own_failure(response, codes[0], "")
    if not entries and answer.get("stop_reason") == "refusal":
        raise AnthropicWebSearchSource.failure(Blocked, response, "the model declines to search for this")
    # What was cited of each page, word for word, is its excerpt.
    places = [place for block in blocks for place in block.records("citations")]
    cited = {place.text("url"): place.line("cited_text") for place in reversed(places)}
    return [(entry, cited.get(entry.text("url"), "")) for entry in entries]


@AnthropicWebSearchSource.parser(records=_results)
def parse_anthropic_answer(cited: tuple[Record, str]) -> Page:
    """Return a page that the server tool has returned."""
    entry, excerpt = cited
    return page_of(entry, published="page_age")._replace(excerpt=excerpt)


class _OpenAiWebSearchOptions(WebOptions):
    model: str = Field("gpt-5-mini", description="Model that searches.")


class OpenAiWebSearchSource(ModelSearch[_OpenAiWebSearchOptions]):
    """Lets a model search once and keeps what it was shown."""

    name = "openai_web_search"
    purpose = "General web search by a model of OpenAI; its answers are left out. Costs tokens and a fee per search."
    address = "https://api.openai.com/v1"
    pace = Pace(
        2.0,
        "By model and tier, 500 requests per minute and more (platform.openai.com/docs/guides/rate-limits).",
        50,
        20,
    )
    needs = "OPENAI_API_KEY"
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        domains = {"allowed_domains": list(options.include_domains)} if options.include_domains else None
        tool = {"type": "web_search", "search_context_size": "low", "filters": domains}
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
        return await self._kept(parse_openai_answer, await self._post("/responses", body), limit)


def _pages(response: ApiResponse) -> list[Page]:
    """Return the cited pages, then those only found. Raises SourceError."""
    if response.status == HTTPStatus.TOO_MANY_REQUESTS and b"insufficient_quota" in response.body:
        raise OpenAiWebSearchSource.own_failure(response, "insufficient_quota", "the plan of the key is used up")
    answer = OpenAiWebSearchSource.object_of(response, "output", "error", what="output")
    items = answer.records("output")
    parts = [part for item in items for part in item.records("content")]
    notes = [note for part in parts for note in part.records("annotations") if note.get("type") == "url_citation"]
    pages: dict[str, Page] = {}
    for page in [*notes, *(page for item in items for page in item.records("action", "sources"))]:
        url = page.text("url").replace(f"?{_MARK}", "").replace(f"&{_MARK}", "")
        if url not in pages or not pages[url].title:
            pages[url] = Page(title=page.line("title"), url=url)
    calls = [item for item in items if item.get("type") == "web_search_call"]
    if not pages and any(part.get("type") == "refusal" for part in parts):
        raise OpenAiWebSearchSource.failure(Blocked, response, "the model declines to search for this")
    if not pages and calls and all(call.get("status") == "failed" for call in calls):
        raise OpenAiWebSearchSource.failure(Unreachable, response, "the search of the model failed")
    return list(pages.values())


@OpenAiWebSearchSource.parser(records=_pages)
def parse_openai_answer(page: Page) -> Page:
    """Return a page of an answer of the Responses API."""
    return page
