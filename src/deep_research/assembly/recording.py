"""What a replay needs beside the journal's answers: which calls failed, and what lay outside the run.

A run notes both while it works. A replay is given the answers again, reaches nothing outside, and ends at the first
call that the run did not make.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from deep_research import errors
from deep_research.assembly.page_access import addresses_of_text, key_of_page
from deep_research.data import Document, Found, Gap, SearchResult, Source, ToolSpec
from deep_research.errors import ReplayDiffers, ResearchError
from deep_research.ports import Journal, Progress, SearchPlace

FAILED, OUTSIDE, ANSWERED = "failed", "outside", "answered"
"""Kinds of notes: failed calls by their kind and request, what lies outside, the user's answers."""
_SHOWN = 300


class RecordedJournal:
    """A journal that notes which calls failed (`ports.Journal`)."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.find, self.keep, self.note, self.notes = journal.find, journal.keep, journal.note, journal.notes
        self.count, self.answers, self.close = journal.count, journal.answers, journal.close

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        try:
            return await self._journal.call(kind, request, make)
        except Exception as error:
            self._journal.note(FAILED, f"{kind} {request}", _failure(error))
            raise


class OfflineJournal:
    """A recorded journal that makes no call (`ports.Journal`): one that it does not hold ends the replay."""

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


class Recorded:
    """A place or tool of the recorded run: all that it answered is in the journal (`ports.SearchPlace`, `OutsideTool`)."""

    def __init__(self, spec: ToolSpec) -> None:
        self.name, self.purpose, self.spec = spec.name, spec.description, spec

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        return ()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        raise differs("", self.name, query)

    async def call(self, arguments: Mapping[str, Any]) -> SearchResult:
        raise differs("", self.name, json.dumps(dict(arguments)))

    async def read(self, found: Found) -> Document:
        raise differs("", self.name, found.key)

    async def close(self) -> None:
        """Nothing is held."""


class RecordedPages:
    """The single pages of the recorded run (`ports.Pages`); `everywhere`: it opened more than the question named."""

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


def note_outside(
    journal: Journal, places: Sequence[SearchPlace], tools: Sequence[ToolSpec], *, web: str, docs: Sequence[str]
) -> None:
    """Note what the run could reach; `web` says which addresses it may open: all, those of the question, or none.

    `docs` are noted because a report may name them, and a bundle leaves them out of the record.
    """
    told = {
        "places": [[place.name, place.purpose] for place in places],
        "tools": [tool.model_dump(mode="json") for tool in tools],
        "web": web,
        "docs": list(docs),
    }
    journal.note(OUTSIDE, "", json.dumps(told, ensure_ascii=False))


def differs(run_id: str, kind: str, request: str) -> ReplayDiffers:
    """Return the error that says what a replay asks for and the recorded run did not."""
    shown = request if len(request) <= _SHOWN else f"{request[:_SHOWN]}…"
    message = f"The replay differs: the recorded run made no {kind!r} call like this one here: {shown}"
    return ReplayDiffers(message, run_id=run_id, kind=kind, request=request)


def _failure(error: Exception) -> str:
    """Return a failure as JSON: its class and what of its fields is plain."""
    named = fields(error) if isinstance(error, ResearchError) else ()
    plain = {f.name: value for f in named if isinstance(value := getattr(error, f.name), str | int | float | bool)}
    return json.dumps({"error": type(error).__name__, **({"message": str(error)} | plain)})


def _failed(failure: str) -> Exception:
    """Return a noted failure as the error that it was; a defect as one of the same name."""
    told = json.loads(failure)
    kind = getattr(errors, name := str(told.pop("error")), None)
    if isinstance(kind, type) and issubclass(kind, ResearchError):
        return kind(**told)
    return type(name, (Exception,), {})(told["message"])
