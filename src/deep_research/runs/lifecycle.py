"""A run's life: start, ask, go on, finish. Whatever ends it, its state is kept."""

import asyncio
import inspect
import re
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from deep_research.assembly.environment import is_bundled, named, opened
from deep_research.assembly.mcp_tools import NOTHING_BROUGHT, Outside, check_installed
from deep_research.assembly.page_access import QuestionPages, offer_pages
from deep_research.assembly.reasoner_choice import key_variables, resolve_provider
from deep_research.assembly.web_search import MakeWeb, chosen_sources, source_variables
from deep_research.data import Asked, Gap, Message, Question, Report
from deep_research.errors import ConfigError, Declined, ResearchError, StoreError
from deep_research.events import ClarificationAsked, Event, Progress, ReportReady, RunFailed, RunStarted, StageStarted
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from deep_research.ports import SearchPlace
from deep_research.run_context.context import RunContext
from deep_research.run_context.prefetch import Speculation
from deep_research.runs.steering_inbox import listening
from deep_research.settings import Settings, load_keys
from deep_research.stores.event_log import EventLog, read_events
from deep_research.stores.run_folder import RunFolder, RunRecord, new_run_id
from deep_research.stores.run_lock import held
from deep_research.templates import NONE, load_templates, named_template, template_folders

Answer = Callable[[Asked], "str | Awaitable[str | None] | None"]
"""Called with what the user is asked; None means that nobody can answer now."""


_TERMINAL_CODE = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]")
"""Control sequences of ECMA-48, such as colours: pasted from a terminal, they would become words."""


class NeedsAnswer(ResearchError):
    """The run waits for an answer of the user. Fields: run_id, options, asked (an `Asked`)."""


def create(
    question: str,
    *,
    home: Path,
    settings: Settings,
    docs: Sequence[str] = (),
    history: Sequence[Message] = (),
    wanted_id: str = "",
) -> RunFolder:
    """Make a new run on disk; `history` is the conversation before the question, oldest first.

    Raises ConfigError for an unusable question, path, provider or workflow (nothing is made then),
    StoreError for an unusable disk.
    """
    text = clean_question(question, settings)
    check_usable(docs, settings)
    check_installed(settings)
    check_template(settings, home)
    settings = _resolved(settings, docs, text)
    folder = RunFolder(home, new_run_id(home, wanted=wanted_id))
    record = RunRecord(
        run_id=folder.run_id,
        question=text,
        language=detect(text),
        status="running",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        docs=tuple(str(Path(d).expanduser().absolute()) for d in docs),
        history=tuple(history),
        mcp_servers=tuple(settings.mcp_servers),
        settings=settings.model_dump(exclude_defaults=True, exclude={"mcp_servers"}),
    )
    folder.create(record)
    return folder


def _resolved(settings: Settings, docs: Sequence[str], question: str) -> Settings:
    """Settle what depends on the keys of today, so that a run goes on as it began."""
    provider = resolve_provider(settings, load_keys(key_variables()))
    strategy = settings.strategy
    if not strategy and not settings.sources and not docs and provider != "extractive":
        strategy = "auto"  # who brings a model and no documents wants the world searched
    settled = settings.model_copy(update={"model_provider": provider, "strategy": strategy})
    if not strategy and not settings.sources:
        return settled
    names = chosen_sources(settled, load_keys(source_variables()), question=question, language=detect(question))
    return settled.model_copy(update={"sources": names})


def check_usable(docs: Sequence[str], settings: Settings) -> None:
    """Raise ConfigError for a path that does not exist or that a run could not remember."""
    for path in docs:
        if not Path(path).expanduser().exists():
            raise ConfigError(f"There is no file or folder {path!r}.", setting="docs", value=path)
        if any("\ud800" <= c <= "\udfff" for c in path):
            message = (
                f"The name of {path!r} is not valid Unicode, so a run cannot remember it; rename it or link to it."
            )
            raise ConfigError(message, setting="docs", value=path)


def check_template(settings: Settings, home: Path) -> None:
    """Raise ConfigError for a focus template that is broken, or named and not there."""
    templates = load_templates(template_folders(home))
    if settings.template not in ("", NONE):
        named_template(templates, settings.template)


def clean_question(question: str, settings: Settings) -> str:
    """Return the question without control characters and terminal codes.

    Raises ConfigError when it is empty or too long.
    """
    text = "".join(c if c.isprintable() else " " for c in _TERMINAL_CODE.sub("", question))
    text = " ".join(text.split())
    if not text:
        raise ConfigError(
            'No question was given. Example: deep-research "How does speculative decoding work?"',
            setting="question",
            value="",
        )
    if len(text) > settings.max_question_chars:
        message = (
            f"The question has {len(text):,} characters; at most {settings.max_question_chars:,} are taken "
            "(setting max_question_chars). Put long material into a file and name it with --docs."
        )
        raise ConfigError(message, setting="question", value=len(text))
    return text


async def carry_out(
    folder: RunFolder,
    *,
    home: Path,
    listener: Callable[[Event], None],
    answer: Answer | None = None,
    places: Sequence[SearchPlace] | None = None,
    make_web: MakeWeb | None = None,
    outside: Outside = NOTHING_BROUGHT,
) -> Report:
    """Do the run, or what is left of it, and return its report; `places` are searched instead of the run's own.

    `make_web` builds the way out to the web in place of `fetch.web.Web`; `outside` are MCP servers in place of those
    of the settings in force, and tools that a program brings along.

    Raises RunBusy when another process does it, NeedsAnswer when the user must be asked and `answer` cannot,
    Declined when nothing can answer the question or the user rejected the plan (that is its end),
    Stopped when it was cancelled, another ResearchError when it failed; in each case it can be taken up again.
    """
    folder.load()
    with held(folder.lock, run_id=folder.run_id):
        return await _sitting(folder, home, listener, answer, places, make_web, outside)


async def _sitting(
    folder: RunFolder,
    home: Path,
    listener: Callable[[Event], None],
    answer: Answer | None,
    places: Sequence[SearchPlace] | None,
    make_web: MakeWeb | None,
    outside: Outside,
) -> Report:
    """Carry a run out that nobody else carries out, and write down how it ended."""
    record = folder.load()
    resumed = folder.events.exists()
    log = EventLog(folder.events, listener, seconds_before=record.seconds)
    try:
        report = await _carry_out(folder, record, home, log, answer, resumed, places, make_web, outside)
        done = folder.load().model_copy(update={"status": "finished", "title": report.title, "error": ""})
        await asyncio.to_thread(folder.save, done)
        return report
    except (asyncio.CancelledError, KeyboardInterrupt):
        _note(folder, log, status="stopped")
        raise
    except NeedsAnswer as waiting:
        _note(folder, log, status="waiting", waiting_for=waiting.message, asked=waiting.fields["asked"])
        raise
    except Declined as ended:
        _note(folder, log, status="declined", error=ended.message)
        raise
    except (sqlite3.Error, OSError, StoreError) as error:
        kept = _resumable(error, folder)
        _note(folder, log, status="failed", error=kept.message)
        raise kept from error
    except Exception as error:
        message = error.message if isinstance(error, ResearchError) else f"{type(error).__name__}: {error}"
        _note(folder, log, status="failed", error=message)
        raise
    finally:
        log.close()


def _resumable(error: sqlite3.Error | OSError | StoreError, folder: RunFolder) -> StoreError:
    """What the disk refused, and how to go on; only the checkpoints' own database does not say it as StoreError."""
    what = (
        error.message
        if isinstance(error, StoreError)
        else f"The state in {str(folder.path)!r} cannot be kept: {error}. Check the disk."
    )
    return StoreError(f"{what} Then go on with: deep-research resume {folder.run_id}", path=str(folder.path))


def _note(folder: RunFolder, log: EventLog, **changes: object) -> None:
    """Write down how a sitting ended; a full disk must not hide the error that ended it."""
    try:
        if changes["status"] == "failed":
            log.emit(RunFailed(error="error", message=str(changes["error"])))
        folder.save(folder.load().model_copy(update={**changes, "seconds": log.seconds}))
    except ResearchError:
        return


async def _carry_out(
    folder: RunFolder,
    record: RunRecord,
    home: Path,
    log: EventLog,
    answer: Answer | None,
    resumed: bool,
    given: Sequence[SearchPlace] | None,
    make_web: MakeWeb | None,
    outside: Outside,
) -> Report:
    settings = Settings(**record.settings)
    events = folder.events
    async with opened(
        folder, record, settings, home=home, log=log, events=events, given=given, make_web=make_web, outside=outside
    ) as ctx:
        log.emit(_started(record, ctx, notice="bundled" if is_bundled(record, ctx.places) else "", resumed=resumed))
        report = await _through_graph(folder, ctx, record, await _prepare(ctx.places, ctx), answer)
    await asyncio.to_thread(folder.save_result, report)
    log.emit(
        ReportReady(
            title=report.title,
            path=str(folder.report),
            claims=len(report.claims),
            references=len(report.references),
            gaps=len(report.gaps),
        )
    )
    return report


def _started(record: RunRecord, ctx: RunContext, *, notice: str, resumed: bool) -> RunStarted:
    return RunStarted(
        run_id=record.run_id,
        question=record.question,
        language=record.language,
        reasoner=named(ctx.reasoner.info),
        sources=tuple(place.name for place in ctx.places),
        notice=notice,
        resumed=resumed,
    )


async def _prepare(places: tuple[SearchPlace, ...], ctx: RunContext) -> list[Gap]:
    ctx.emit(StageStarted(stage="prepare"))
    gaps = [ctx.report_gap(gap) for gap in ctx.unopened]
    for place in places:
        found = await place.prepare(lambda what, done, total: ctx.emit(Progress(what=what, done=done, total=total)))
        gaps.extend(ctx.report_gap(gap) for gap in found)
    await offer_pages(ctx)
    return gaps


async def _through_graph(
    folder: RunFolder, ctx: RunContext, record: RunRecord, gaps: list[Gap], answer: Answer | None
) -> Report:
    # The engine takes a second to load: wrong usage is answered before, and other runs of the process go on.
    await asyncio.to_thread(import_module, "deep_research.graph.workflows")
    from deep_research.graph.run_graph import open_checkpoints  # noqa: PLC0415
    from deep_research.graph.workflows import compile_workflow  # noqa: PLC0415

    async with open_checkpoints(folder.checkpoints) as checkpoints, listening(folder, ctx.emit) as steering:
        # Who was asked something has not answered with the question alone.
        ahead = ctx.settings.speculate and not any(e.kind == "clarification_asked" for e in read_events(folder.events))
        ctx = replace(ctx, steering=steering, speculation=Speculation(enabled=ahead))
        graph = await asyncio.to_thread(compile_workflow, ctx.settings.workflow, checkpoints)
        try:
            return await _drive(graph, ctx, record, gaps, answer)
        finally:
            await ctx.speculation.drop()


async def _drive(graph: Any, ctx: RunContext, record: RunRecord, gaps: list[Gap], answer: Answer | None) -> Report:
    """Take the graph to its end, handing the user's answers to its interrupts."""
    from deep_research.graph.run_graph import drive  # noqa: PLC0415 - slow to load

    start = {
        "messages": [],
        "original_query": record.question,
        "question": Question(text=_asked(record, ctx), language=record.language, history=record.history),
        "sections": [],
        "claims": {},
        "gaps": gaps,
        "max_review_iterations": ctx.settings.max_review_iterations,
    }
    values = await drive(graph, ctx, start, ask=lambda asked: _ask(ctx, asked, answer))
    if "report" not in values:
        reason = str(values.get("final_report") or phrase("cannot_do", record.language))
        raise Declined(reason, run_id=record.run_id, by=values.get("declined_by", "program"))
    return values["report"]


def _asked(record: RunRecord, ctx: RunContext) -> str:
    """The question as it is thought about: who goes by words gets the titles of the pages that it names."""
    pages = next((place for place in ctx.places if isinstance(place, QuestionPages)), None)
    by_words = ctx.reasoner.info.kind == "extractive"
    return pages.told(record.question) if pages is not None and by_words else record.question


async def _ask(ctx: RunContext, asked: Asked, answer: Answer | None) -> str:
    """Return the user's answer; raises NeedsAnswer where there is none."""
    if answer is None and not asked.required:
        return ""
    ctx.emit(ClarificationAsked(about=asked.kind, question=asked.question, options=asked.options))
    given = answer(asked) if answer else None
    reply = await given if inspect.isawaitable(given) else given
    if reply is None:
        raise NeedsAnswer(asked.question, run_id=ctx.run_id, options=asked.options, asked=asked)
    return reply
