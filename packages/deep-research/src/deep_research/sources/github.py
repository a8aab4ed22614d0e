"""GitHub: repositories with their README, code, and issues with pull requests.

API: https://docs.github.com/rest/search. Code search needs a token.
"""

import base64
from typing import ClassVar
from urllib.parse import quote, unquote, urlsplit

from deep_research import registry
from deep_research.data import Document, Found, SearchResult
from deep_research.errors import NotFound, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts, read_answer, result
from deep_research.sources._api_answers import Declaration, Record
from deep_research.sources._record_documents import UNSHOWN, Item, snippet

TOKEN = "GITHUB_TOKEN"  # noqa: S105 - the name of a variable
HEADERS = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}


class GitHubSource(ApiSource[DatedOptions]):
    """A word search of GitHub that keeps qualifiers such as `repo:owner/name`."""

    address = "https://api.github.com"
    pace = Pace(0.08, "Searches: 10 per minute, 30 with a token (docs.github.com/rest/search).", most=5, at_once=5)
    headers: ClassVar = HEADERS
    key_header = ("authorization", "Bearer {}")
    narrow = True
    max_query_chars = 200  # GitHub takes 256 with the qualifiers

    dated: ClassVar[str] = ""  # the qualifier of the period, where one can be searched

    async def _search(self, query: str, limit: int) -> SearchResult:
        period = self.options.period(f"{self.dated}:{{since}}..{{until}}", first="*", last="*") if self.dated else ""
        asked = join_parts(" ", query, period)
        kind, parse = _SEARCHES[self.name]
        response = await self._get(f"/search/{kind}", {"q": asked, "per_page": min(limit, 100)})
        found = await read_answer(parse, response)
        is_cut = await read_answer(is_cut_short, response)
        return result(found, [self._gap(f"search at {self.name}", "GitHub stopped searching before the end")] * is_cut)


def is_cut_short(response: ApiResponse) -> bool:
    """Return whether GitHub has stopped a search before its end. Raises SourceError."""
    return GitHubSource.object_of(response).get("incomplete_results") is True


class GitHubRepositoriesSource(GitHubSource):
    """A repository search by relevance and last push; reading one gives its README."""

    name = "github"
    purpose = "Software repositories with their README, stars and licence."
    also = (TOKEN,)
    dated = "pushed"

    async def _read(self, found: Found) -> list[Found]:
        repository = found.key.removeprefix("github:")
        about = (("Repository", found.url), ("About", found.snippet), ("Last push", found.published))
        try:
            readme = await read_answer(parse_readme, await self._get(f"/repos/{repository}/readme"))
        except NotFound:
            if not found.snippet:
                raise
            readme = Document(text="")
        told = {"published": found.published, "authors": found.authors}
        read = Item(found.key, found.title, facts=about, labels=UNSHOWN, body=readme, **told)
        return [found.model_copy(update={"document": read.document()})]


@GitHubRepositoriesSource.parser("items")
def parse_repositories(entry: Record) -> Item | None:
    """Return a repository of a search."""
    name = entry.text("full_name")
    if "/" not in name:
        return None
    about, licence = entry.text("description"), entry.text("license", "spdx_id")
    stars = entry.number("stargazers_count")
    facts = (
        snippet(about),
        entry.text("language"),
        f"{stars} stars" if stars is not None else "",
        f"licence {licence}" if licence not in ("", "NOASSERTION") else "",
        f"topics {', '.join(entry.texts('topics'))}" if entry.texts("topics") else "",
        "archived" if entry.get("archived") is True else "",
    )
    return Item(
        key=f"github:{name.lower()}",
        title=f"{name}: {snippet(about, most=120)}" if about else name,
        url=entry.text("html_url") or f"https://github.com/{name}",
        about=join_parts("; ", *facts),
        shown=1_000,
        published=entry.first_date("pushed_at", "created_at"),
        authors=[entry.text("owner", "login") or name.split("/", maxsplit=1)[0]],
        score=entry.score("score"),
    )


def parse_readme(response: ApiResponse) -> Document:
    """Return a README, decoded from base64, as a document; raise SourceError."""
    source = GitHubRepositoriesSource
    answer = source.object_of(response)
    name = answer.text("name") or "README.md"
    data = _content(answer, response, source)[:2_000_000]
    if not data.strip():
        raise source.failure(NotFound, response, "the README is empty")
    reader = registry.reader_for(name, data[:8192])
    if reader is None or reader.name not in ("plain", "html"):
        raise source.failure(Unreadable, response, f"the README {name} is of an unknown format")
    return reader.read(data, name=name)


def _content(answer: Record, response: ApiResponse, source: type[Declaration]) -> bytes:
    try:
        return base64.b64decode("".join(answer.raw("content").split()), validate=True)
    except ValueError:
        raise source.failure(Unreadable, response, "the file is not base64") from None


class GitHubCodeSource(GitHubSource):
    """Searches files by words in them; reading one gives its code."""

    name = "github_code"
    purpose = "Lines of code in public repositories."
    needs = TOKEN
    headers: ClassVar = HEADERS | {"accept": "application/vnd.github.text-match+json"}

    async def _read(self, found: Found) -> list[Found]:
        owner, name, _, commit, path = (urlsplit(found.url).path.lstrip("/").split("/", 4) + [""] * 5)[:5]
        if not path:
            return []
        address = f"/repos/{owner}/{name}/contents/{quote(unquote(path))}"
        code = await read_answer(parse_file, await self._get(address, {"ref": commit}))
        return [found.model_copy(update={"document": code})]


@GitHubCodeSource.parser("items")
def parse_code(entry: Record) -> Item | None:
    """Return a file of a search, with the lines that matched where GitHub sends them."""
    url, path = entry.text("html_url"), entry.first("path", "name")
    repository = entry.text("repository", "full_name")
    if not path:
        return None
    matches = [match.raw("fragment") for match in entry.records("text_matches")]
    return Item(
        key=url,
        title=join_parts(": ", repository, path),
        url=url,
        about=" … ".join(matches) or entry.text("repository", "description"),
        authors=[repository.split("/", maxsplit=1)[0]],
        score=entry.score("score"),
    )


def parse_file(response: ApiResponse) -> Document:
    """Return a file as code, titled by its path; raise NotFound if it is empty."""
    answer = GitHubCodeSource.object_of(response)
    path, code = answer.text("path"), _content(answer, response, GitHubCodeSource)
    if not code.strip():
        raise GitHubCodeSource.failure(NotFound, response, f"the file {path} is empty or too large for the API")
    return Item(path, path, body=registry.component("readers", "code")().read(code, name=path)).document()


class GitHubIssuesSource(GitHubSource):
    """A search of issues and pull requests by opening day, with their first text."""

    name = "github_issues"
    purpose = "Bugs, questions and decisions: issues and pull requests on GitHub."
    also = (TOKEN,)
    dated = "created"


@GitHubIssuesSource.parser("items")
def parse_issues(entry: Record) -> Item:
    """Return an issue or pull request of a search."""
    title, repository = entry.text("title"), entry.text("repository_url").rsplit("/repos/", 1)[-1]
    body, read = entry.first_raw("body", "body_text"), None
    if body.strip():
        read = registry.component("readers", "plain")().read(body.encode("utf-8", "replace"), name="issue.md")
    facts = (
        ("State", entry.first("state_reason", "state").replace("_", " ")),
        ("Closed", entry.date("closed_at")),
        ("Labels", [label.text("name") for label in entry.records("labels")]),
        ("Comments", entry.number("comments")),
    )
    return Item(
        key=entry.text("html_url"),
        title=f"{title} ({repository} #{entry.text('number')})" if repository and title else title,
        url=entry.text("html_url"),
        about=body,
        published=entry.date("created_at"),
        authors=[entry.text("user", "login")],
        score=entry.score("score"),
        facts=facts if read else (),
        labels=("Opened by", "Opened"),
        body=read,
    )


_SEARCHES = {  # what each source searches, and what reads its answers
    "github": ("repositories", parse_repositories),
    "github_code": ("code", parse_code),
    "github_issues": ("issues", parse_issues),
}
