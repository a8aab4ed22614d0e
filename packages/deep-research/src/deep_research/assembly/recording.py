"""Replay data beside the journal's answers: failed calls, outside resources."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from claimcheck.text.cleaning import shorten
from deep_research import errors
from deep_research.assembly.page_access import QuestionPages, addresses_in, addresses_of_text, key_of_page
from deep_research.data import Document, Found, SearchResult, Source, ToolSpec
from deep_research.errors import ReplayDiffers, ResearchError
from deep_research.ports import Journal, SearchPlace
from deep_research.run_context.context import Outside
from deep_research.stores.journal import FAILED
from deep_research.stores.run_store import RunRecord

OUTSIDE, ANSWERED = "outside", "answered"  # kinds of notes: what lies outside, and the user's answers.


class OfflineJournal:
    """A recorded journal (`ports.Journal`); a call it does not hold ends the replay."""

    def __init__(self, recorded: Journal, run_id: str) -> None:
        self._recorded, self._run_id = recorded, run_id
        self.find, self.notes = recorded.find, recorded.notes
        self.count, self.answers, self.close = recorded.count, recorded.answers, recorded.close
        self._failed = recorded.notes(FAILED)

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        if (answer := self._recorded.find(kind, request)) is not None:
            return answer, False
        if (failure := self._failed.get(f"{kind} {request}")) is not None:
            raise _failed(failure)
        raise differs(self._run_id, kind, request)

    def keep(self, kind: str, request: str, answer: str) -> None:
        """Keep nothing: the record stays as it is."""

    def note(self, kind: str, request: str, answer: str) -> None:
        """Keep nothing: the record stays as it is."""


class Recorded(SearchPlace):
    """A recorded run's `ports.SearchPlace` or `OutsideTool`, answered by the journal."""

    def __init__(self, spec: ToolSpec) -> None:
        self.name, self.purpose, self.spec = spec.name, spec.description, spec

    async def search(self, query: str, *, limit: int) -> SearchResult:
        raise differs("", self.name, query)

    async def call(self, arguments: Mapping[str, Any]) -> SearchResult:
        raise differs("", self.name, json.dumps(dict(arguments)))

    async def read(self, found: Found) -> Document:
        raise differs("", self.name, found.key)


class RecordedPages:
    """A recorded run's pages (`ports.Pages`); `everywhere`: beyond the question's."""

    def __init__(self, *, everywhere: bool) -> None:
        self._everywhere = everywhere

    def key(self, url: str) -> str:
        return key_of_page(url)

    def full_text(self, source: Source) -> Sequence[str]:
        return addresses_of_text(source) if self._everywhere else ()

    def links(self, url: str) -> Mapping[str, str]:
        del url
        return {}

    async def open(self, url: str) -> Found:
        raise differs("", "page", url)


def note_outside(journal: Journal, outside: Outside) -> None:
    """Note the places, tools, openable addresses and documents for replay and report."""
    opened = "all" if outside.opens_addresses else "question" if outside.pages is not None else ""
    told = {
        "places": [[place.name, place.purpose] for place in outside.places],
        "tools": [tool.spec.model_dump(mode="json") for tool in outside.tools.values()],
        "web": opened,
        "docs": list(outside.docs),
    }
    journal.note(OUTSIDE, "", json.dumps(told, ensure_ascii=False))


def recorded_outside(recorded: Journal, record: RunRecord, question: str) -> Outside:
    """Return a recorded run's outside by name. Raises ReplayDiffers if not noted."""
    noted = recorded.notes(OUTSIDE).get("")
    if noted is None:
        message = f"The run {record.run_id} was made by an earlier version, which noted too little for a replay."
        raise ReplayDiffers(message, run_id=record.run_id, kind=OUTSIDE)
    told = json.loads(noted)
    named: dict[str, SearchPlace] = {QuestionPages.name: QuestionPages(addresses_in(question))}
    tools = [Recorded(ToolSpec.model_validate(spec)) for spec in told["tools"]]
    return Outside(
        places=tuple(
            named.get(name) or Recorded(ToolSpec(name=name, description=purpose, parameters={}))
            for name, purpose in told["places"]
        ),
        tools={tool.name: tool for tool in tools},
        pages=RecordedPages(everywhere=told["web"] == "all") if told["web"] else None,
        opens_addresses=told["web"] == "all",
        docs=tuple(told.get("docs", record.docs)),
        asked=question,
    )


def differs(run_id: str, kind: str, request: str) -> ReplayDiffers:
    """Return the error that says what a replay asks for and the recorded run did not."""
    message = f"The replay differs: the recorded run made no {kind!r} call like this one: {shorten(request, 300)}"
    return ReplayDiffers(message, run_id=run_id, kind=kind, request=request)


def _failed(failure: str) -> Exception:
    """Return a noted failure as its original error; a defect as one of the same name."""
    told = json.loads(failure)
    kind = getattr(errors, name := str(told.pop("error")), None)
    if isinstance(kind, type) and issubclass(kind, ResearchError):
        return kind(**told)
    return type(name, (Exception,), {})(told["message"])
