"""Stack Overflow and its sister sites (https://api.stackexchange.com/docs)."""

import asyncio
from calendar import timegm
from collections import defaultdict
from collections.abc import Mapping

from pydantic import Field

from deep_research import registry
from deep_research.concurrency import SYSTEM_CLOCK
from deep_research.data import Found, Gap, SearchResult
from deep_research.errors import RateLimited, SourceError
from deep_research.ports import ApiClient, ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace, join_parts, read_answer, result
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import Item
from deep_research.text.document_builder import DocumentBuilder

Answers = dict[int, list[Record]]  # those to each question, by its id, the best first


class StackExchangeOptions(DatedOptions):
    """Options; the period is that of the question."""

    site: str = Field("stackoverflow", pattern=r"^[a-z0-9.-]+$", description="Which site, such as serverfault.")


class StackExchangeSource(ApiSource[StackExchangeOptions]):
    """A question search by relevance, with the accepted answer, then others by votes."""

    name = "stackexchange"
    purpose = "Solved problems of programmers and administrators: questions of Stack Exchange with their answers."
    address = "https://api.stackexchange.com/2.3"
    pace = Pace(1.0, "300 calls per day without a key, 10,000 with one.", most=10)
    also = ("STACKEXCHANGE_KEY",)
    narrow = True

    def __init__(self, options: StackExchangeOptions, client: ApiClient, keys: Mapping[str, str]) -> None:
        super().__init__(options, client, keys)
        self._resumes_at = 0.0
        self._lock = asyncio.Lock()

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        params = {"q": query, "sort": "relevance", "pagesize": min(limit, 50)}
        params["fromdate"] = timegm(options.since.timetuple()) if options.since else ""
        params["todate"] = timegm(options.until.timetuple()) + 86_399 if options.until else ""
        response = await self._call("/search/advanced", params)
        answered = await read_answer(parse_answered, response)
        answers, gaps = None, list[Gap]()
        try:
            if answered:
                path = f"/questions/{answered}/answers"
                answers = await self._call(path, {"sort": "votes", "pagesize": 100})
        except SourceError as error:
            gaps.append(self._gap("answers to questions", error))
        found = await read_answer(parse_questions, response, options.site, answers)
        return result(found, gaps)

    async def _call(self, path: str, params: Mapping[str, str | int]) -> ApiResponse:
        own = {"site": self.options.site, "filter": "withbody", "order": "desc", "key": self._key()}
        async with self._lock:
            wait = self._resumes_at - SYSTEM_CLOCK.monotonic()
            if wait > 60:
                message = f"{self.name}: the service asks to wait {wait:.0f} s"
                raise RateLimited(message, source=self.name, retry_after=wait)
            if wait > 0:
                await SYSTEM_CLOCK.sleep(wait)
            response = await self._get(path, own | dict(params))
            self._resumes_at = await read_answer(parse_backoff, response) + SYSTEM_CLOCK.monotonic()
        return response


def parse_backoff(response: ApiResponse) -> int:
    """Return the seconds to wait before the next call, or 0; raise SourceError."""
    return StackExchangeSource.object_of(response, "items").number("backoff") or 0


def parse_answered(response: ApiResponse) -> str:
    """Return the ids of answered questions in API format; raise SourceError."""
    items = StackExchangeSource.list_of(response, "items")
    return ";".join(item.text("question_id") for item in items if item.get("answer_count"))


def parse_answers(response: ApiResponse) -> Answers:
    """Return at most five answers per question, accepted first; raise SourceError."""
    by_question: Answers = defaultdict(list)
    items = StackExchangeSource.list_of(response, "items")
    for item in sorted(items, key=lambda item: item.get("is_accepted") is not True):
        own = item.number("question_id")
        if own is not None and len(by_question[own]) < 5 and item.raw("body").strip():
            by_question[own].append(item)
    return by_question


def parse_questions(
    response: ApiResponse, site: str = "stackoverflow", answers: ApiResponse | None = None
) -> list[Found]:
    """Return the questions of a search, with text from `answers`; raise SourceError."""
    return _questions(response, site, parse_answers(answers) if answers is not None else Answers())


@StackExchangeSource.parser("items")
def _questions(item: Record, site: str, answers: Answers) -> Item | None:
    own, posts = item.number("question_id"), DocumentBuilder()
    if own is None:
        return None
    _write_post(posts, "Question", item)
    for answer in answers.get(own, ()):
        kind = "Accepted answer" if answer.get("is_accepted") is True else "Answer"
        about = join_parts(", ", _author(answer), answer.date("creation_date") or "")
        _write_post(posts, f"{kind} ({about}; {answer.number('score') or 0} votes)", answer)
    return Item(
        key=f"stackexchange:{site}:{own}",
        title=item.line("title"),
        url=item.first("link") or f"https://{site}.com/questions/{own}",
        about=item.paragraphs("body"),
        published=item.date("creation_date"),
        authors=[_author(item)],
        score=item.score("score"),
        facts=[("Votes", item.number("score")), ("Answers", item.number("answer_count")), ("Tags", item.texts("tags"))],
        labels=("Asked by", "Asked"),
        body=posts.document(title="", media_type="text/html"),
    )


def _write_post(builder: DocumentBuilder, heading: str, item: Record) -> None:
    body = item.raw("body")
    if body.strip():
        builder.heading(2, heading)
        reader = registry.component("readers", "html")()
        builder.append(reader.read(f"<main>{body}</main>".encode("utf-8", "replace"), name="post.html"))


def _author(item: Record) -> str:
    return item.line("owner", "display_name")
