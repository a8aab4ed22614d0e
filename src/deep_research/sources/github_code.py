"""GitHub code search, which needs a token (https://docs.github.com/rest/search#search-code)."""

import base64
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote, unquote, urlsplit

from pydantic import Field

from deep_research.data import Document, Found, SearchResult
from deep_research.errors import NotFound
from deep_research.ports import ApiResponse
from deep_research.sources import _github
from deep_research.sources._api import result, snippet
from deep_research.sources._fields import at, listed, objects, raw, score, text
from deep_research.text.document_builder import DocumentBuilder

_MAX_CODE_CHARS = 400_000


class GitHubCodeOptions(_github.GitHubOptions):
    """Options of the code search."""

    repositories: tuple[str, ...] = Field((), description="Only these repositories, as owner/name.")


class GitHubCodeSource(_github.GitHubSource[GitHubCodeOptions]):
    """Searches files by words in them; reading one gives its code."""

    name = "github_code"
    purpose = "Lines of code in public repositories."
    needs = _github.TOKEN
    headers: ClassVar = _github.HEADERS | {"accept": "application/vnd.github.text-match+json"}

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        parts = [query, *(f"repo:{name}" for name in options.repositories)]
        parts.append(f"language:{options.language}" if options.language else "")
        params = {"q": " ".join(part for part in parts if part), "per_page": min(limit, 100)}
        response = await self._get("/search/code", params)
        return result(parse_code(response), _github.gaps_of(response, type(self)))

    async def _read(self, found: Found) -> Document:
        owner, name, _, commit, path = (urlsplit(found.url).path.lstrip("/").split("/", 4) + [""] * 5)[:5]
        if not path:
            raise NotFound(f"{found.url} is no file on GitHub", source=self.name, url=found.url)
        address = f"/repos/{owner}/{name}/contents/{quote(unquote(path))}"
        return parse_file(await self._get(address, {"ref": commit}))


def parse_code(response: ApiResponse) -> list[Found]:
    """Return the files of a search, with the lines that matched where GitHub sends them. Raises SourceError."""
    answer = _github.answer_of(response, GitHubCodeSource)
    return [found for entry in _github.items_of(answer, response, GitHubCodeSource) if (found := _file(entry))]


def parse_file(response: ApiResponse) -> Document:
    """Return a file as code, its path as title. Raises NotFound when it is empty or no file, Unreadable."""
    answer = _github.answer_of(response, GitHubCodeSource)
    path = text(at(answer, "path"))
    try:
        data = base64.b64decode("".join(raw(at(answer, "content")).split()), validate=True)
        code = data.decode("utf-8")
    except ValueError:
        raise _github.unreadable(response, GitHubCodeSource, f"the file {path} is no text") from None
    if not code.strip():
        raise NotFound(
            f"{GitHubCodeSource.name}: the file {path} is empty or too large for the API", source=GitHubCodeSource.name
        )
    builder = DocumentBuilder()
    builder.heading(1, path)
    builder.code(code[:_MAX_CODE_CHARS])
    if len(code) > _MAX_CODE_CHARS:
        builder.warn(f"only the first {_MAX_CODE_CHARS} characters of {path} were read")
    return builder.document(title=path, media_type="text/plain")


def _file(entry: Mapping[str, Any]) -> Found | None:
    url, path = text(entry.get("html_url")), text(entry.get("path")) or text(entry.get("name"))
    repository = text(at(entry, "repository", "full_name"))
    if not url or not path:
        return None
    matches = [raw(match.get("fragment")) for match in objects(listed(entry.get("text_matches")))]
    about = text(at(entry, "repository", "description"))
    return Found(
        key=url,
        title=f"{repository}: {path}" if repository else path,
        url=url,
        origin=GitHubCodeSource.name,
        authors=(repository.split("/", maxsplit=1)[0],) if repository else (),
        snippet=snippet(" … ".join(matches) or about),
        score=score(entry.get("score")),
    )
