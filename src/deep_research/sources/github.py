"""GitHub repositories: search, and the README of each (https://docs.github.com/rest/search)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Document, Found, SearchResult
from deep_research.errors import NotFound
from deep_research.ports import ApiResponse
from deep_research.sources import _github
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import result, snippet
from deep_research.sources._fields import at, iso_date, number, score, text, texts


class GitHubRepositoriesOptions(_github.GitHubOptions):
    """Options of the repository search; the period is that of the last push."""

    least_stars: int = Field(0, ge=0, description="Only repositories with at least so many stars.")


class GitHubRepositoriesSource(_github.GitHubSource[GitHubRepositoriesOptions]):
    """Searches repositories by relevance; reading one gives its README."""

    name = "github"
    purpose = "Software repositories with their README, stars and licence."
    also = (_github.TOKEN,)

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"q": _qualified(query, self.options), "per_page": min(limit, 100)}
        response = await self._get("/search/repositories", params)
        return result(parse_repositories(response), _github.gaps_of(response, type(self)))

    async def _read(self, found: Found) -> Document:
        repository = found.key.removeprefix("github:")
        about = (("Repository", found.url), ("About", found.snippet), ("Last push", found.published))
        try:
            readme = parse_readme(await self._get(f"/repos/{repository}/readme"))
        except NotFound:
            if not found.snippet:
                raise
            return _writing.document(found.title, facts=about, authors=found.authors)
        return _writing.headed(readme, found.title, facts=about, published=found.published, authors=found.authors)


def parse_repositories(response: ApiResponse) -> list[Found]:
    """Return the repositories of a search, or the one of an answer about one. Raises SourceError."""
    answer = _github.answer_of(response, GitHubRepositoriesSource)
    entries = (
        [answer] if text(at(answer, "full_name")) else _github.items_of(answer, response, GitHubRepositoriesSource)
    )
    return [found for entry in entries if (found := _repository(entry))]


def parse_readme(response: ApiResponse) -> Document:
    """Return the README of a repository. Raises NotFound, Unreadable, RateLimited."""
    return _github.parse_readme(response, GitHubRepositoriesSource)


def _repository(entry: Mapping[str, Any]) -> Found | None:
    name = text(entry.get("full_name"))
    if "/" not in name:
        return None
    about = text(entry.get("description"))
    owner = text(at(entry, "owner", "login")) or name.split("/", maxsplit=1)[0]
    return Found(
        key=f"github:{name.lower()}",
        title=f"{name}: {snippet(about, 120)}" if about else name,
        url=text(entry.get("html_url")) or f"https://github.com/{name}",
        origin=GitHubRepositoriesSource.name,
        published=iso_date(text(entry.get("pushed_at"))) or iso_date(text(entry.get("created_at"))),
        authors=(owner,),
        snippet="; ".join(part for part in (snippet(about), *_facts(entry)) if part),
        score=score(entry.get("score")),
    )


def _facts(entry: Mapping[str, Any]) -> tuple[str, ...]:
    stars = number(entry.get("stargazers_count"))
    licence = text(at(entry, "license", "spdx_id"))
    return (
        text(entry.get("language")),
        f"{stars} stars" if stars is not None else "",
        f"licence {licence}" if licence not in ("", "NOASSERTION") else "",
        f"topics {', '.join(texts(entry.get('topics')))}" if texts(entry.get("topics")) else "",
        "archived" if entry.get("archived") is True else "",
    )


def _qualified(query: str, options: GitHubRepositoriesOptions) -> str:
    parts = [
        query,
        f"language:{options.language}" if options.language else "",
        f"stars:>={options.least_stars}" if options.least_stars else "",
        _github.between("pushed", options),
    ]
    return " ".join(part for part in parts if part)
