"""D3: the web searches of OpenAI and Anthropic as sources, and their errors; no word of a model is a result."""

import json
from typing import Any

import pytest

from deep_research.errors import Blocked, RateLimited, SourceError, Unreachable
from deep_research.sources import model_web_search, strategy_sources
from tests.sources.answers import ScriptedClient, answer, bodies, opened, outcome

URL = "https://example.org/a"


def _openai(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"output": list(items), "status": "completed", **more}


def _said(*notes: dict[str, Any], kind: str = "output_text") -> dict[str, Any]:
    return {
        "type": "message",
        "content": [{"type": kind, "text": "It won, says the model.", "annotations": list(notes)}],
    }


def _cited(url: str, title: str = "") -> dict[str, Any]:
    return {"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 9}


def _searched(*urls: str, status: str = "completed") -> dict[str, Any]:
    sources = [{"type": "url", "url": url} for url in urls]
    return {"type": "web_search_call", "status": status, "action": {"type": "search", "sources": sources}}


def test_d3_openai_cited_pages_come_before_those_it_only_looked_at() -> None:
    said = _openai(_searched("https://b.org/", f"{URL}?utm_source=openai"), _said(_cited(URL, "A page")))
    found = model_web_search.parse_openai_answer(answer(said))
    assert [(one.url, one.title) for one in found] == [(URL, "A page"), ("https://b.org/", "https://b.org/")]
    assert all(one.document is None for one in found)
    assert "says the model" not in str(found)


@pytest.mark.parametrize(
    ("said", "status", "kind"),
    [
        (_openai(_said(kind="refusal")), 200, Blocked),
        (_openai(_searched(status="failed")), 200, Unreachable),
        ({"error": {"code": "insufficient_quota", "message": "x"}}, 429, Blocked),
        ({"error": {"code": "rate_limit_exceeded", "message": "x"}}, 429, RateLimited),
        ({"error": {"code": "model_not_found", "message": "x"}}, 400, SourceError),
    ],
)
def test_d3_errors_of_openai(said: Any, status: int, kind: type[SourceError]) -> None:
    error = outcome(model_web_search.parse_openai_answer, answer(said, status))
    assert type(error) is kind
    assert error.message.startswith("openai_web_search: ")


def _anthropic(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "web_search_tool_result", "content": content}], **more}


@pytest.mark.parametrize(
    ("said", "status", "kind"),
    [
        (_anthropic({"type": "web_search_tool_result_error", "error_code": "too_many_requests"}), 200, RateLimited),
        (_anthropic({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}), 200, SourceError),
        (_anthropic([], stop_reason="refusal"), 200, Blocked),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, 200, Unreachable),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, 429, RateLimited),
    ],
)
def test_d3_errors_of_anthropic(said: Any, status: int, kind: type[SourceError]) -> None:
    error = outcome(model_web_search.parse_anthropic_answer, answer(said, status))
    assert type(error) is kind
    assert error.message.startswith("anthropic_web_search: ")


def test_d3_anthropic_results_carry_what_was_cited_of_them_word_for_word() -> None:
    (found,) = model_web_search.parse_anthropic_answer(answer(bodies("anthropic_web_search", "one")[""]))
    assert (found.url, found.published) == (URL, "2024-05-06")
    assert found.snippet == "Sparse retrieval ranks by words."
    assert found.document is None


@pytest.mark.parametrize("name", ["openai_web_search", "anthropic_web_search"])
async def test_d3_a_native_search_is_made_once_with_its_domains_and_its_tokens(name: str) -> None:
    client = ScriptedClient(answer(bodies(name, "one")[""]))
    source = opened(name, client)
    source = source.build({"include_domains": ("example.org",)}, client, {source.needs or "": "a-secret-key"})
    result = await source.search("sparse retrieval", limit=5)
    assert result.usage is not None
    assert result.usage.prompt_tokens >= 850
    assert result.usage.completion_tokens in (40, 60)
    (call,) = client.calls
    assert "example.org" in json.dumps(call.json)
    elsewhere = source.build({"exclude_domains": ("example.org",)}, client, {source.needs or "": "a-secret-key"})
    assert (await elsewhere.search("sparse retrieval", limit=5)).found == ()


def test_d3_native_searches_are_no_part_of_a_strategy_because_they_cost_money() -> None:
    for strategy in ("general", "academic", "news", "code", "community", "patents"):
        assert not {"openai_web_search", "anthropic_web_search"} & set(strategy_sources(strategy))
