"""The life of a follow-up question: asked about a finished run, kept in the run's own folder."""

import asyncio
import dataclasses
import logging
import re
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deep_research.assembly.environment import named, opened
from deep_research.assembly.page_access import offer_pages
from deep_research.assembly.reasoner_choice import key_variables, resolve_provider
from deep_research.assembly.web_search import MakeWeb
from deep_research.conversation.coreference import Exchange, resolve
from deep_research.data import FollowUp, Gap, Ledger, Message, Question, Report
from deep_research.errors import ConfigError, ResearchError, RunNotFound, StoreError
from deep_research.events import Event, Progress, ReportReady, RunFailed, RunStarted
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from deep_research.ports import Journal, SearchPlace
from deep_research.ports import Progress as TellProgress
from deep_research.report.ledger import ledger_of
from deep_research.run_context.context import RunContext
from deep_research.runs.lifecycle import clean_question
from deep_research.settings import Settings, load_keys
from deep_research.steps.follow_up import addressed
from deep_research.stores.event_log import EventLog
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.run_folder import RunFolder, RunRecord, write_atomically
from deep_research.stores.run_lock import held
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.text.question_terms import topic_words


def of_its_own(ctx: RunContext, before: Ledger) -> RunContext:
    """The context with places that are made ready when they are first searched (most follow-ups search none), and
    with a journal that tells the costs of the follow-up alone.
    """

    def tell(what: str, done: int, total: int) -> None:
        ctx.emit(Progress(what=what, done=done, total=total))

    places = tuple(_Prepared(place, tell, ctx.report_gap) for place in ctx.places)
    journal = _Since(ctx.journal, {"model": before.model_calls, "search": before.searches})
    return dataclasses.replace(ctx, places=places, journal=journal)


class _Since:
    """A journal whose counts and answers begin after the calls that were there before."""

    def __init__(self, journal: Journal, before: Mapping[str, int]) -> None:
        self._journal, self._before = journal, before

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        """See `ports.Journal.call`."""
        return await self._journal.call(kind, request, make)

    def count(self, kind: str) -> int:
        """See `ports.Journal.count`."""
        return self._journal.count(kind) - self._before.get(kind, 0)

    def answers(self, kind: str) -> Sequence[str]:
        """See `ports.Journal.answers`."""
        return self._journal.answers(kind)[self._before.get(kind, 0) :]

    def close(self) -> None:
        """See `ports.Journal.close`."""
        self._journal.close()


class _Prepared:
    """A place that makes itself ready before its first search."""

    def __init__(self, place: SearchPlace, tell: TellProgress, on_gap: Callable[[Gap], object]) -> None:
        self.name, self.purpose = place.name, place.purpose
        self._place, self._tell, self._on_gap = place, tell, on_gap
        self._ready = False
        self._lock = asyncio.Lock()

    async def prepare(self, progress: TellProgress) -> Sequence[Gap]:
        """Nothing yet."""
        return ()

    async def search(self, query: str, *, limit: int) -> Any:
        """See `ports.SearchPlace.search`."""
        await self._prepare()
        return await self._place.search(query, limit=limit)

    async def read(self, found: Any) -> Any:
        """See `ports.SearchPlace.read`."""
        await self._prepare()
        return await self._place.read(found)

    async def _prepare(self) -> None:
        async with self._lock:
            if not self._ready:
                for gap in await self._place.prepare(self._tell):
                    self._on_gap(gap)
                self._ready = True

    async def close(self) -> None:
        """See `ports.SearchPlace.close`."""
        await self._place.close()


_TOLD_CHARS, _TOLD_LAST = 1500, 4
"""What a model is told of the report and of each of the last answers."""
_log = logging.getLogger(__name__)
_FRAME = ("overview", "answer", "choosing", "head_to_head", "more_items", "what_it_is", "when_to_use", "conclusion")
"""Titles of the program's own: they name nothing that a pronoun could mean."""
_NAME_WORDS = 5
_SENTENCE = re.compile(r"(?:how|why|what|when|where|which|who)\b", re.IGNORECASE)
"""A title that begins so, or is longer, is no name."""


async def follow_up(
    folder: RunFolder,
    question: str,
    *,
    home: Path,
    listener: Callable[[Event], None],
    settings: Mapping[str, Any] | None = None,
    places: Sequence[SearchPlace] | None = None,
    make_web: MakeWeb | None = None,
) -> FollowUp:
    """Answer `question` about the finished run in `folder`; one that was interrupted is taken up when asked again.

    `settings` differ from those of the run (who thinks). Raises RunNotFound when the run has no report yet, RunBusy
    when another process works on it, ConfigError for an unusable question, other ResearchErrors when it failed.
    """
    report, record = folder.load_result(), folder.load()
    with held(folder.lock, run_id=folder.run_id):
        last = unfinished(folder)
        text = clean_question(question, Settings(**record.settings))
        if last is None or last.question != text:
            last = await asyncio.to_thread(_begin, folder, record, report, text, dict(settings or {}))
        return await _sitting(folder, record, last, home, listener, places, make_web)


def _records(folder: RunFolder) -> list[Path]:
    return list((folder.path / "followups").glob("*.json"))


def follow_ups(folder: RunFolder) -> list[FollowUp]:
    """Return the follow-ups of a run in order; one whose record cannot be read is told to the log, and keeps its number."""
    found: list[FollowUp] = []
    for path in _records(folder):
        try:
            found.append(FollowUp.model_validate_json(path.read_text("utf-8")))
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            _log.warning("The follow-up %s cannot be read: %s", path, error)
    return sorted(found, key=lambda one: one.number)


def numbered(folder: RunFolder, number: int) -> FollowUp:
    """Return one follow-up. Raises RunNotFound when the run has none of that number."""
    for one in follow_ups(folder):
        if one.number == number:
            return one
    message = f"The run {folder.run_id} has no follow-up {number}; it has {len(follow_ups(folder))}."
    raise RunNotFound(message, run_id=folder.run_id)


def unfinished(folder: RunFolder) -> FollowUp | None:
    """Return the last follow-up when it was interrupted or failed."""
    made = follow_ups(folder)
    return made[-1] if made and made[-1].status != "finished" else None


def _begin(folder: RunFolder, record: RunRecord, report: Report, text: str, changes: dict[str, Any]) -> FollowUp:
    """Write down a new follow-up, so that it can be taken up again."""
    if "model_provider" in changes:
        changes = {"model_name": None, **changes}  # a model belongs to its provider
    settled = Settings(**{**record.settings, **changes})
    changes["model_provider"] = resolve_provider(settled, load_keys(key_variables()))
    earlier = follow_ups(folder)
    understood = resolve(text, _exchanges(report, earlier), _names(report, record.language))
    language = detect(text, default=record.language)
    taken = understood.assumption(language)
    made = FollowUp(
        run_id=folder.run_id,
        number=1 + max((int(p.stem) for p in _records(folder) if p.stem.isdecimal()), default=0),
        question=text,
        language=language,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        understood=understood.question,
        assumptions=(taken,) if taken else (),
        history=_history(record, report, earlier),
        settings=changes,
        before=_spent(folder),
    )
    (folder.path / "followups").mkdir(exist_ok=True)
    return _save(folder, made)


def _exchanges(report: Report, earlier: Sequence[FollowUp]) -> list[Exchange]:
    """The conversation, newest first; a question that named nothing ("tell me about it") was settled as the title."""
    answers = [Exchange(one.understood, _content(one.report)) for one in earlier if one.report is not None]
    asked = report.question if topic_words(report.question) else report.title
    return [*reversed(answers), Exchange(asked)]


def _content(report: Report) -> str:
    return "\n".join(section.content for section in report.sections)


def _names(report: Report, language: str) -> list[str]:
    frame = {phrase(name, language) for name in _FRAME}
    titles = (report.title, *(section.title for section in report.sections))
    frame.add(report.question.rstrip(" ?？.。"))  # a title that is the question names nothing
    return [t for t in titles if t not in frame and len(t.split()) <= _NAME_WORDS and not _SENTENCE.match(t)]


def _history(record: RunRecord, report: Report, earlier: Sequence[FollowUp]) -> tuple[Message, ...]:
    """The conversation so far, as far as it helps to understand a question: what was asked, and what came out."""
    findings = "\n".join(f for section in report.sections for f in section.key_findings[:1])
    titles = "; ".join(section.title for section in report.sections)
    told = [record.question, f"{report.title}\n{titles}\n{findings}"]
    for one in earlier[-_TOLD_LAST:]:
        if one.report is not None:
            told += [one.question, _content(one.report)]
    return tuple(
        Message(role="assistant" if place % 2 else "user", text=text[:_TOLD_CHARS]) for place, text in enumerate(told)
    )


def _spent(folder: RunFolder) -> Ledger:
    library, journal = SqliteLibrary(folder.library), SqliteJournal(folder.journal)
    try:
        return ledger_of(journal, sources=len(library.sources()), seconds=0.0)
    finally:
        journal.close()
        library.close()


def _save(folder: RunFolder, made: FollowUp) -> FollowUp:
    write_atomically(folder.path / "followups" / f"{made.number}.json", made.model_dump_json(indent=1))
    return made


async def _sitting(
    folder: RunFolder,
    record: RunRecord,
    made: FollowUp,
    home: Path,
    listener: Callable[[Event], None],
    places: Sequence[SearchPlace] | None,
    make_web: MakeWeb | None,
) -> FollowUp:
    """Do a follow-up, or what is left of it, and write down how that ended."""
    log = EventLog(folder.path / "followups" / f"{made.number}.events.jsonl", listener, seconds_before=made.seconds)

    def ended(**changes: object) -> FollowUp:
        return _save(folder, made.model_copy(update={**changes, "seconds": log.seconds}))

    try:
        report = await _answer(folder, record, made, home, log, places, make_web)
        done = ended(status="finished", found_in=report[1], report=report[0], error="")
        write_atomically(folder.path / "followups" / f"{made.number}.md", report[0].report)
        log.emit(_ready(report[0], folder.path / "followups" / f"{made.number}.md"))
    except (asyncio.CancelledError, KeyboardInterrupt):
        ended(status="stopped")
        raise
    except Exception as error:
        failed = _translated(error, folder)
        log.emit(RunFailed(error="error", message=failed.message if isinstance(failed, ResearchError) else str(failed)))
        ended(status="failed", error=str(failed))
        raise failed from error
    finally:
        log.close()
    return done


def _translated(error: Exception, folder: RunFolder) -> Exception:
    """What the checkpoints' own database says, as our own error."""
    if isinstance(error, sqlite3.Error | OSError):
        return StoreError(f"The state in {str(folder.path)!r} cannot be kept: {error}. Check the disk.", path="")
    return error


def _ready(report: Report, path: Path) -> ReportReady:
    return ReportReady(
        title=report.title,
        path=str(path),
        claims=len(report.claims),
        references=len(report.references),
        gaps=len(report.gaps),
    )


async def _answer(
    folder: RunFolder,
    record: RunRecord,
    made: FollowUp,
    home: Path,
    log: EventLog,
    given: Sequence[SearchPlace] | None,
    make_web: MakeWeb | None,
) -> tuple[Report, Any]:
    own = {**record.settings, **made.settings, "workflow": "quick", "allow_clarification": False}
    events = folder.path / "followups" / f"{made.number}.events.jsonl"
    resumed = events.stat().st_size > 0
    # Addresses may be opened that the user wrote into either question.
    asked = record.model_copy(update={"question": f"{record.question} {made.question}"})
    async with opened(
        folder, asked, Settings(**own), home=home, log=log, events=events, given=given, make_web=make_web
    ) as ctx:
        log.emit(_started(made, ctx, resumed=resumed))
        await offer_pages(ctx)
        values = await _through_graph(folder, of_its_own(ctx, made.before), made)
    if "report" not in values:
        why = values.get("final_report") or "The question cannot be answered."
        raise ConfigError(why, setting="question", value=made.question)
    found_in = values["found_in"]
    return addressed(values["report"], found_in=found_in, known_sources=made.before.fetches), found_in


def _started(made: FollowUp, ctx: RunContext, *, resumed: bool) -> RunStarted:
    return RunStarted(
        run_id=made.run_id,
        question=made.question,
        language=made.language,
        reasoner=named(ctx.reasoner.info),
        sources=tuple(place.name for place in ctx.places),
        resumed=resumed,
    )


async def _through_graph(folder: RunFolder, ctx: RunContext, made: FollowUp) -> dict[str, Any]:
    # The engine takes a second to load; other runs of the process go on.
    await asyncio.to_thread(import_module, "deep_research.graph.follow_up_graph")
    from deep_research.graph.follow_up_graph import compile_follow_up  # noqa: PLC0415
    from deep_research.graph.run_graph import drive, open_checkpoints  # noqa: PLC0415

    start = {
        "messages": [],
        "original_query": made.question,
        "question": Question(text=made.question, language=made.language, history=made.history),
        "understood": made.understood,
        "assumptions": made.assumptions,
        "sections": [],
        "claims": {},
        "gaps": [],
    }
    async with open_checkpoints(folder.path / "followups" / f"{made.number}.checkpoints.db") as checkpoints:
        return await drive(compile_follow_up(checkpoints), ctx, start, ask=_nobody)


async def _nobody(_asked: object) -> str:
    """A follow-up asks nothing back."""
    return ""
