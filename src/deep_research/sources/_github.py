"""What the GitHub sources share: its options, its two kinds of refusal, README files (https://docs.github.com/rest)."""

import base64
import binascii
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar

from pydantic import Field

from deep_research import registry
from deep_research.data import Document, Gap
from deep_research.errors import NotFound, SourceError, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Options
from deep_research.sources._api_answers import Declaration, explanation, failure, json_of, limited, says_wait
from deep_research.sources._fields import at, raw, text

TOKEN = "GITHUB_TOKEN"  # noqa: S105 - the name of a variable
_REFUSALS = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_ABUSE = "abuse"
_MAX_README_BYTES = 2_000_000
_README_FORMATS = ("plain", "html")


class GitHubOptions(DatedOptions):
    """Options of the GitHub sources."""

    base_url: str = Field("https://api.github.com", description="Address of the API.")
    requests_per_second: float = Field(
        0.08, gt=0, le=5, description="Searches: 10 per minute, 30 with a token (docs.github.com/rest/search)."
    )
    burst: int = Field(5, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")
    language: str = Field("", description="Only code in this programming language.")


HEADERS = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}


class GitHubSource(ApiSource[Options]):
    """A search of GitHub: headers with the token when there is one."""

    headers: ClassVar = HEADERS
    key_header = ("authorization", "Bearer {}")
    narrow = True
    max_query_chars = 200  # GitHub takes 256 with the qualifiers


def answer_of(response: ApiResponse, source: type[Declaration]) -> Any:
    """Return the JSON of an answer. Both kinds of limit, HTTP 403 or 429, raise RateLimited; else as `json_of`."""
    if response.status in _REFUSALS and _is_limit(response):
        raise limited(response, source)
    return json_of(response, source)


def items_of(answer: Any, response: ApiResponse, source: type[Declaration]) -> list[Mapping[str, Any]]:
    """Return the items of a search. Raises Unreadable when it is none."""
    items = at(answer, "items")
    if not isinstance(items, list):
        raise failure(Unreadable, response, source, "the answer is no search result")
    return [item for item in items if isinstance(item, Mapping)]


def gaps_of(response: ApiResponse, source: type[Declaration]) -> list[Gap]:
    """Return the gap of a search that GitHub stopped before its end."""
    if at(json_of(response, source), "incomplete_results") is True:
        return [Gap(what=f"search at {source.name}", why="GitHub stopped searching before the end", source=source.name)]
    return []


def unreadable(response: ApiResponse, source: type[Declaration], why: str) -> SourceError:
    """Return the error of an answer whose content is no text."""
    return failure(Unreadable, response, source, why)


def parse_readme(response: ApiResponse, source: type[Declaration]) -> Document:
    """Return a README as document: the content is base64 with line breaks. Raises NotFound, Unreadable."""
    answer = answer_of(response, source)
    content, name = raw(at(answer, "content")), text(at(answer, "name")) or "README.md"
    try:
        data = base64.b64decode("".join(content.split()), validate=True)[:_MAX_README_BYTES]
    except (binascii.Error, ValueError):
        raise failure(Unreadable, response, source, "the README is not base64") from None
    if not data.strip():
        raise failure(NotFound, response, source, "the README is empty")
    reader = registry.reader_for(name, data[:8192])
    if reader is None or reader.name not in _README_FORMATS:
        raise failure(Unreadable, response, source, f"the README {name} is of an unknown format")
    return reader.read(data, name=name)


def body_document(body: str) -> Document:
    """Return the text of an issue or comment, which is Markdown."""
    reader = registry.component("readers", "plain")()
    return reader.read(body.encode("utf-8", "replace"), name="issue.md")


def between(field: str, options: DatedOptions) -> str:
    """Return the qualifier of a period, "" when there is none."""
    if options.since and options.until:
        return f"{field}:{options.since}..{options.until}"
    return f"{field}:>={options.since}" if options.since else f"{field}:<={options.until}" if options.until else ""


def _is_limit(response: ApiResponse) -> bool:
    why = explanation(response)
    used_up = response.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in response.headers
    return used_up or says_wait(why) or _ABUSE in why
