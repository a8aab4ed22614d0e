"""OpenAI's own web search: the pages that its model found (https://platform.openai.com/docs/guides/tools-web-search).

What the model says is left out: its citations point into its own words. Only the addresses that the service returns
(`url_citation` annotations, `action.sources`) are results; the pages are read like any other.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import Blocked, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource
from deep_research.sources._api_answers import failure, judge, limited, loads
from deep_research.sources._fields import at, first, objects, raw, text
from deep_research.sources._markup import line
from deep_research.sources._native import allowed, events_of, usage_of
from deep_research.sources._web import Page, WebOptions, found_pages

_MARK = "?utm_source=openai"


class OpenAiWebSearchOptions(WebOptions):
    """Options of OpenAI's web search."""

    base_url: str = Field("https://api.openai.com/v1", description="Address of the API.")
    requests_per_second: float = Field(
        2.0,
        gt=0,
        le=50,
        description="By model and tier, 500 requests per minute and more (platform.openai.com/docs/guides/rate-limits).",
    )
    burst: int = Field(20, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")
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
        found = [one for one in parse_answer(response) if allowed(one.url, options)]
        return SearchResult(found=tuple(found[:limit]), usage=usage_of(response))


def parse_answer(response: ApiResponse) -> list[Found]:
    """Return the pages of an answer (of the Responses API, in one piece or as a stream, or of a chat completion).

    Cited pages come first. Raises SourceError, also for an error inside an answer and for a refusal.
    """
    _judge(response)
    streamed = response.body.lstrip().startswith((b"event:", b"data:"))
    answer = _last_event(response) if streamed else loads(response, OpenAiWebSearchSource)
    if not isinstance(answer, Mapping) or not ({"output", "choices", "error"} & answer.keys()):
        raise failure(Unreadable, response, OpenAiWebSearchSource, "the answer has no output in it")
    if code := first(answer.get("error"), "code", "type"):
        raise _error(code, text(at(answer, "error", "message")), response)
    pages = list(_pages(answer))
    if not pages:
        _explain_nothing(answer, response)
    kept = {page.url: page for page in reversed(pages)}
    kept |= {page.url: page for page in reversed(pages) if page.title}
    ordered = [kept[url] for url in dict.fromkeys(page.url for page in pages)]
    return found_pages(ordered, OpenAiWebSearchSource.name)


def _judge(response: ApiResponse) -> None:
    if response.status == 429 and b"insufficient_quota" in response.body:
        raise failure(
            Blocked,
            response,
            OpenAiWebSearchSource,
            f"the plan of the key in {OpenAiWebSearchSource.needs} is used up (HTTP 429)",
        )
    judge(response, OpenAiWebSearchSource)


def _error(code: str, why: str, response: ApiResponse) -> SourceError:
    if code == "insufficient_quota":
        return failure(
            Blocked, response, OpenAiWebSearchSource, f"the plan of the key in {OpenAiWebSearchSource.needs} is used up"
        )
    if "rate_limit" in code:
        return limited(response, OpenAiWebSearchSource)
    kind = Unreachable if code in ("server_error", "timeout", "overloaded") else SourceError
    return failure(kind, response, OpenAiWebSearchSource, f"the search failed ({code}: {why[:200]})")


def _pages(answer: Mapping[str, Any]) -> Iterator[Page]:
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
