"""arXiv: preprints by words, or single papers by id (https://info.arxiv.org/help/api/user-manual.html)."""

import re
from typing import ClassVar

from pydantic import Field

from deep_research.data import SearchResult
from deep_research.errors import NotFound, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts
from deep_research.sources._api_answers import Node
from deep_research.sources._papers import Work, arxiv_id, full_text_of_arxiv

_ERROR_ID = "arxiv.org/api/errors"
_FIELDS = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all|submittedDate):")


class _ArxivOptions(DatedOptions):
    categories: tuple[str, ...] = Field((), description="Only these categories, such as cs.CL.")


class ArxivSource(ApiSource[_ArxivOptions]):
    """Searches arXiv; a query that is an arXiv id or address gives that paper."""

    name = "arxiv"
    purpose = (
        "Preprints in physics, mathematics, computer science, biology, finance, statistics: abstracts and full text."
    )
    address = "https://export.arxiv.org"
    pace = Pace(1 / 3, "One call in three seconds (info.arxiv.org/help/api/tou.html).", most=1)
    narrow = True
    headers: ClassVar = {"accept": "application/atom+xml"}

    async def _search(self, query: str, limit: int) -> SearchResult:
        ids = [found for word in query.split() if (found := arxiv_id(word))]
        if ids and len(ids) == len(query.split()):
            params = {"id_list": ",".join(ids), "max_results": len(ids)}
        else:
            params = {"search_query": search_query(query, self.options), "start": 0, "max_results": min(limit, 100)}
            params |= {"sortBy": "relevance", "sortOrder": "descending"}
        return await self._found_in(parse_feed, self._get("/api/query", params))


def search_query(query: str, options: _ArxivOptions) -> str:
    """Return the query in arXiv's language: all words wanted, with the categories and the period of the options.

    A query with field prefixes (`ti:`, `au:`, …) is kept.
    """
    words = (f'"{word}"' if re.search(r"[^\w.]", word) else word for word in query.replace('"', "").split())
    wanted = query if _FIELDS.search(query) else " AND ".join(f"all:{word}" for word in words)
    categories = " OR ".join(f"cat:{name}" for name in options.categories)
    period = options.period(
        "submittedDate:[{since}0000 TO {until}2359]", form="%Y%m%d", first="19910101", last="21001231"
    )
    asked = f"({wanted})" if categories or period else wanted
    return join_parts(" AND ", asked, f"({categories})" if categories else "", period)


def _entries(response: ApiResponse) -> list[Node]:
    """Return the papers of an Atom answer; unknown ids simply are not there.

    Raises SourceError for an error feed (HTTP 400 or 200), RateLimited for "Rate exceeded.", Unreadable
    for anything that is no feed.
    """
    try:
        root = ArxivSource.parse_xml(response)
    except Unreadable:
        ArxivSource.judge(response)  # a failure says more than its page
        raise
    entries = root.children("entry")
    for why in (entry.text("summary") for entry in entries if _ERROR_ID in entry.text("id")):
        kind = NotFound if "id format" in why else SourceError
        raise ArxivSource.failure(kind, response, f"the request was not accepted: {why[:200]}")
    ArxivSource.judge(response)
    if root.name != "feed":
        raise ArxivSource.failure(Unreadable, response, "the answer is no Atom feed")
    is_page_of_results = root.number("itemsPerPage") != 0
    if not entries and is_page_of_results and (root.number("totalResults") or 0) > (root.number("startIndex") or 0):
        why = "the answer lacks the results that it counts; try again later"  # when it is called too often
        raise ArxivSource.failure(Unreachable, response, why)
    return entries


@ArxivSource.parser(records=_entries)
def parse_feed(entry: Node) -> Work | None:
    """Return a paper of an Atom answer."""
    versioned = entry.text("id").rsplit("/abs/", 1)[-1]
    if not arxiv_id(f"arxiv:{versioned}"):
        return None
    return Work(
        title=entry.raw("title"),
        arxiv=f"arxiv:{versioned}",
        doi=entry.text("doi"),
        url=f"https://arxiv.org/abs/{versioned}",
        authors=[author.text("name") for author in entry.children("author")],
        published=entry.date("published"),
        venue=entry.text("journal_ref"),
        abstract=entry.raw("summary"),
        facts=(
            ("Updated", entry.date("updated") if not versioned.endswith("v1") else None),
            ("Subjects", [category.get("term") for category in entry.children("category")]),
            ("Comment", entry.text("comment")),
        ),
        full_text=full_text_of_arxiv(versioned),
    )
