"""GitHub issues and pull requests (https://docs.github.com/rest/search#search-issues-and-pull-requests)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.ports import ApiResponse
from deep_research.sources import _github
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import result, snippet
from deep_research.sources._fields import at, first, iso_date, number, objects, raw, score, text


class GitHubIssuesOptions(_github.GitHubOptions):
    """Options of the issue search; the period is that of the creation."""

    repositories: tuple[str, ...] = Field((), description="Only these repositories, as owner/name.")


class GitHubIssuesSource(_github.GitHubSource[GitHubIssuesOptions]):
    """Searches issues and pull requests; their first text is their document."""

    name = "github_issues"
    purpose = "Bugs, questions and decisions: issues and pull requests on GitHub."
    also = (_github.TOKEN,)

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        parts = [query, *(f"repo:{name}" for name in options.repositories), _github.between("created", options)]
        parts.append(f"language:{options.language}" if options.language else "")
        params = {"q": " ".join(part for part in parts if part), "per_page": min(limit, 100)}
        response = await self._get("/search/issues", params)
        return result(parse_issues(response), _github.gaps_of(response, type(self)))


def parse_issues(response: ApiResponse) -> list[Found]:
    """Return the issues and pull requests of a search, best first. Raises SourceError."""
    answer = _github.answer_of(response, GitHubIssuesSource)
    entries = [answer] if at(answer, "number") else _github.items_of(answer, response, GitHubIssuesSource)
    return [found for entry in entries if (found := _issue(entry))]


def _issue(entry: Mapping[str, Any]) -> Found | None:
    url, title = text(entry.get("html_url")), text(entry.get("title"))
    if not url or not title:
        return None
    repository = text(entry.get("repository_url")).rsplit("/repos/", 1)[-1]
    author = text(at(entry, "user", "login"))
    body = raw(entry.get("body")) or raw(entry.get("body_text"))
    published = iso_date(text(entry.get("created_at")))
    found = Found(
        key=url,
        title=f"{title} ({repository} #{text(entry.get('number'))})" if repository else title,
        url=url,
        origin=GitHubIssuesSource.name,
        published=published,
        authors=(author,) if author else (),
        snippet=snippet(body),
        score=score(entry.get("score")),
    )
    if not body.strip():
        return found
    facts = (
        ("Opened by", author),
        ("Opened", published),
        ("State", first(entry, "state_reason", "state").replace("_", " ")),
        ("Closed", iso_date(text(entry.get("closed_at")))),
        ("Labels", [text(label.get("name")) for label in objects(entry.get("labels"))]),
        ("Comments", number(entry.get("comments"))),
    )
    read = _writing.headed(
        _github.body_document(body), found.title, facts=facts, published=published, authors=found.authors
    )
    return found.model_copy(update={"document": read})
