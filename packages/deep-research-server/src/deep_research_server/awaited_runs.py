"""Runs by the request that began them: cut off, or waiting for an answer."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from deep_research import api
from deep_research.api import Run, RunRecord
from deep_research.data import Message
from deep_research.errors import RunNotFound
from deep_research.settings import Settings

_LEFT_LASTS = timedelta(days=1)
"""So long after it was begun a run that was cut off is gone on with; later its searches would be out of date."""
MARK_CHARS = 16
"""So much of the request that it was begun for stands at the end of a run's id, by which it is found."""
_MOST_REQUESTS = 12
"""Messages of a conversation, from its end, of which one may have begun the run that asked."""


def request_key(owner: str, question: str, settings: Settings, docs: Sequence[Path], history: Sequence[Message]) -> str:
    """Return what a request is known by: a SHA-256 of all that it asks."""
    told = [owner, [str(path) for path in docs], [message.model_dump() for message in history]]
    request = json.dumps([" ".join(question.split()), *told, settings.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(request.encode()).hexdigest()


def requests_in(owner: str, settings: Settings, history: Sequence[Message]) -> list[str]:
    """Return the requests of a conversation's user messages, the last one first."""
    places = [place for place, message in enumerate(history) if message.role == "user"][-_MOST_REQUESTS:]
    return [request_key(owner, history[n].text, settings, (), history[:n]) for n in reversed(places)]


def marked_runs(home: Path, requests: Iterable[str]) -> list[Run]:
    """Return an owner's runs begun for these requests, newest first per request."""
    ids = sorted(api.run_ids(home=home), reverse=True)
    found: list[Run] = []
    for one in (one for request in requests for one in ids if one.endswith(f"-{request[:MARK_CHARS]}")):
        with suppress(RunNotFound):  # it was deleted meanwhile
            found.append(api.open_run(one, home=home, is_known=True))
    return found


def run_asked_in(runs: Iterable[Run], history: Sequence[Message], request: str) -> Run | None:
    """Return the run whose question ends a conversation, or of `request`, or None."""
    asked = " ".join(history[-1].text.split()) if history else ""
    for run in runs:
        with suppress(RunNotFound):
            record = run.record
            waiting_for = record.asked if record.status == "waiting" else None
            if waiting_for is not None and " ".join(api.format_question(waiting_for).split()) == asked:
                return run
            if record.awaited == request and is_still_awaited(record):
                return run
    return None


def is_still_awaited(record: RunRecord) -> bool:
    """Return whether the same request, made again, continues the run."""
    return bool(record.awaited) and datetime.fromisoformat(record.created) > datetime.now(UTC) - _LEFT_LASTS
