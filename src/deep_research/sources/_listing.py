"""Sources that have no search: a list of recent things is fetched once and ranked here."""

import asyncio
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from deep_research.data import Found, Gap, SearchResult
from deep_research.errors import SourceError
from deep_research.ports import ApiClient
from deep_research.sources._api import ApiSource, Options
from deep_research.text.tokens import content_terms

_TITLE_WEIGHT = 2.0
_LEAST_SHARE = 0.34  # of the query's weight: one rare word of three is enough, one common word is not


class ListingSource(ApiSource[Options]):
    """A source whose search ranks a listing. The listing is kept for the life of the source."""

    def __init__(self, options: Options, client: ApiClient, keys: Mapping[str, str]) -> None:
        super().__init__(options, client, keys)
        self._lock = asyncio.Lock()
        self._listing: tuple[Sequence[Found], Sequence[Gap]] | None = None

    async def _side_by_side(
        self, addresses: Sequence[str], read: Callable[[str], Awaitable[list[Found]]], what: str
    ) -> tuple[list[Found], list[Gap]]:
        """Return what `read` finds at all the addresses; one that fails is a gap named `what`.

        Raises SourceError when every one of them fails.
        """

        async def tried(address: str) -> list[Found] | SourceError:
            try:
                return await read(address)
            except SourceError as error:
                return error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(tried(address)) for address in addresses]
        answers = [task.result() for task in tasks]
        errors = [answer for answer in answers if isinstance(answer, SourceError)]
        if len(errors) == len(answers):
            raise errors[0]
        found = [one for answer in answers if isinstance(answer, list) for one in answer]
        return found, [Gap(what=what, why=self._without_secrets(error).message, source=self.name) for error in errors]

    @abstractmethod
    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        """Return everything that is listed, and what could not be listed. Raises SourceError when nothing could."""
        raise NotImplementedError

    async def _search(self, query: str, limit: int) -> SearchResult:
        async with self._lock:
            if self._listing is None:
                self._listing = await self._list()
        found, gaps = self._listing
        return SearchResult(found=tuple(rank(query, found)[:limit]), gaps=tuple(gaps))


def rank(query: str, listing: Iterable[Found]) -> list[Found]:
    """Return what answers the query, best first: words in common, rare ones and those of titles count more."""
    entries = list(listing)
    wanted = list(dict.fromkeys(content_terms(query)))
    titles = [set(content_terms(found.title)) for found in entries]
    texts = [set(content_terms(_body(found))) for found in entries]
    spread = Counter(term for title, text in zip(titles, texts, strict=True) for term in title | text)
    weights = {term: math.log(1 + len(entries) / (1 + spread[term])) for term in wanted}
    whole = sum(weights.values()) or 1.0
    scored: list[tuple[float, int]] = []
    for position, (title, text) in enumerate(zip(titles, texts, strict=True)):
        share = sum(weights[term] for term in wanted if term in title or term in text) / whole
        if share >= _LEAST_SHARE:
            extra = sum(weights[term] for term in wanted if term in title) / whole
            scored.append((share + (_TITLE_WEIGHT - 1) * extra, position))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return [entries[position].model_copy(update={"score": score}) for score, position in scored]


def _body(found: Found) -> str:
    return f"{found.snippet} {found.document.text if found.document else ''}"
