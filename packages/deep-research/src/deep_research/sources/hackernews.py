"""Hacker News with its discussions through Algolia (https://hn.algolia.com/api)."""

from calendar import timegm
from collections.abc import Iterator

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts, read_answer
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import Item, entities, paragraphs


class _HackerNewsOptions(DatedOptions):
    mcp_server: str = Field("", description="MCP server that is asked instead; empty: hackernews or hn, where set up.")


class HackerNewsSource(ApiSource[_HackerNewsOptions]):
    """Searches stories; reading one gives its text and the discussion."""

    name = "hackernews"
    purpose = "What practitioners discuss: stories and comments of Hacker News."
    address = "https://hn.algolia.com/api/v1"
    pace = Pace(2.0, "10,000 calls per hour (hn.algolia.com/api).", most=10, at_once=20)
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        since = f"created_at_i>={timegm(options.since.timetuple())}" if options.since else ""
        until = f"created_at_i<{timegm(options.until.timetuple()) + 86_400}" if options.until else ""
        params = {"query": query, "tags": "story", "hitsPerPage": min(limit, 100)}
        params |= {"numericFilters": join_parts(",", since, until)}
        return await self._found_in(parse_items, self._get("/search", params))

    async def _read(self, found: Found) -> list[Found]:
        return await read_answer(parse_items, await self._get(f"/items/{found.key.removeprefix('hn:')}"))


@HackerNewsSource.parser("hits", fields=("hits", "id"), what="items")
def parse_items(hit: Record) -> Item:
    """Return a story or comment from a search hit, or an item with its discussion."""
    own, author = hit.first("objectID", "id"), hit.text("author")
    body = paragraphs(hit.first_raw("story_text", "comment_text", "text"))
    story = entities(hit.first("title", "story_title"))
    is_comment = not hit.text("title") and bool(body)
    title = (f"Comment by {author or 'unknown'}" + (f" on {story}" if story else "")) if is_comment else story
    return Item(
        key=own and f"hn:{own}",
        title=title,
        url=f"https://news.ycombinator.com/item?id={own}",
        about=body or hit.text("url"),
        published=hit.date("created_at"),
        authors=[author],
        score=hit.score("points"),
        facts=[("Links to", hit.text("url")), ("Points", hit.text("points")), ("Comments", hit.text("num_comments"))],
        sections=[("", body), ("Comments", "\n\n".join(_comments(hit)))],
        labels=("Posted by", "Posted"),
    )


def _comments(item: Record) -> Iterator[str]:
    """Yield the comments below an item as lines "name: text", deleted ones left out."""
    waiting = list(reversed(item.records("children")))
    for _ in range(200):
        if not waiting:
            return
        comment = waiting.pop()
        waiting += reversed(comment.records("children"))
        if body := " ".join(comment.paragraphs("text").split()):
            yield f"{comment.text('author') or 'unknown'}: {body}"
