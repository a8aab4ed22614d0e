"""Routes of runs, from their creation to questions about their reports."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from deep_research import api
from deep_research.api import EventTail, Run, RunHead
from deep_research.data import Asked, FollowUp, FollowUpHead, Gap, GivenReport, Message
from deep_research.data.noun import copy_fields
from deep_research.errors import ConfigError, RunBusy
from deep_research.events import PASSING, GapFound
from deep_research.settings import Settings
from deep_research.worker_pool import in_worker_thread
from deep_research_server import api_models as models
from deep_research_server.evidence_routes import gap_in, view_of_report
from deep_research_server.fair_turns import FairStream, OwnersRoute
from deep_research_server.http_context import Home, Owner, OwnRun, Service, problems, settings_of_client
from deep_research_server.run_service import RunService
from deep_research_server.uploads import UploadedDocuments

router = APIRouter(prefix="/api/v1", tags=["runs"], route_class=OwnersRoute)
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        pattern=r"^[!-~]*$",
        description="A second request with the same key returns the run of the first.",
    ),
]
After = Annotated[int, Query(ge=0, le=10_000_000, description="Number of the last event that is known.")]
LastEventId = Annotated[
    str, Header(alias="Last-Event-ID", description="Number of the last event that the client has received.")
]
Language = Annotated[
    str | None,
    Query(pattern="^[a-z]{2}$", description="Say in this language what the program says about its own work."),
]
_LISTED_CHARS = 300
_BEGUN = {200: {"model": models.RunView, "description": "The run of this Idempotency-Key"}, **problems(404, 429)}
_SSE: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-sent events", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


def view_of(service: RunService, run: Run) -> models.RunView:
    """Return a run as clients see it; a run without a process is shown as stopped."""
    record = run.record
    return copy_fields(
        models.RunView,
        record,
        id=record.run_id,
        status=_state(service, run.home, record),
        documents=[Path(path).name for path in record.docs],
        settings={name: value for name, value in record.settings.items() if name in models.NewRun.model_fields},
        asked=record.asked if record.status == "waiting" else None,
        has_report=run.has_report,
    )


def _state(service: RunService, home: Path, record: RunHead) -> models.RunState:
    if record.status in ("running", "queued"):
        run = api.open_run(record.run_id, home=home, is_known=True)
        if service.is_active(run):
            return record.status
        return "running" if run.is_running else "stopped"
    if record.status in ("waiting", "failed", "stopped") and service.has_task(home, record.run_id):
        return "queued"  # taken up again, and not begun yet
    return record.status


async def _view(service: Service, run: Run) -> models.RunView:
    return await asyncio.to_thread(view_of, service, run)


@router.post("/runs", status_code=201, responses=_BEGUN)
async def create_run(
    new: models.NewRun, response: Response, service: Service, owner: Owner, home: Home, key: Key = ""
) -> models.RunView:
    """Begin to research a question."""
    documents = await asyncio.to_thread(UploadedDocuments(home, service.options.uploads).paths_of, new.documents)
    settings = await asyncio.to_thread(settings_of_client, new.settings())
    history = [Message(role=turn.role, text=turn.text) for turn in new.history]
    wanted = _id_of_key(owner, key, new.model_dump())
    begun = service.start(owner, new.question, settings, docs=documents, history=history, wanted_id=wanted)
    return await _tell_begun(service, response, *await begun)


def _id_of_key(owner: str, key: str, asked: Any) -> str:
    """Return the run id of an idempotency key; the same key gives the same run."""
    if not key:
        return ""
    fingerprint = json.dumps(asked, sort_keys=True)
    named, told = (hashlib.sha256(text.encode()).hexdigest() for text in (f"{owner}\n{key}", fingerprint))
    return f"k{named[:16]}-{told[:8]}"


async def _tell_begun(service: Service, response: Response, run: Run, is_new: bool) -> models.RunView:
    """Return the view of a run a request began or found; the header says where it is."""
    response.status_code = 201 if is_new else 200
    response.headers["location"] = f"{router.prefix}/runs/{run.id}"
    return await _view(service, run)


@router.get("/runs", responses=problems())
def list_runs(
    service: Service,
    home: Home,
    q: Annotated[str, Query(max_length=200, description="Words of the question or title.")] = "",
    status: Annotated[models.RunState | None, Query(description="Only runs in this state.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str, Query(max_length=80, description="`next` of the page before.")] = "",
) -> models.RunPage:
    """List runs, newest first."""
    words = q.casefold().split()
    found = [
        (record, _state(service, home, record))
        for record in api.list_runs(home=home)
        if all(word in f"{record.question} {record.title}".casefold() for word in words)
    ]
    rows = [(record, state) for record, state in found if status is None or state == status]
    places = {record.run_id: place for place, (record, _) in enumerate(rows)}
    if cursor and cursor not in places:
        raise ConfigError("The cursor is not one of this list.", setting="cursor", value=cursor)
    start = places[cursor] + 1 if cursor else 0
    shown = [
        copy_fields(
            models.RunSummary,
            record,
            id=record.run_id,
            question=record.question[:_LISTED_CHARS],
            status=state,
            has_report=record.status == "finished",
        )
        for record, state in rows[start : start + limit]
    ]
    more = start + limit < len(rows)
    return models.RunPage(runs=shown, next=shown[-1].id if more else "", total=len(rows))


@router.get("/runs/{run_id}", responses=problems(404))
def show_run(service: Service, run: OwnRun) -> models.RunDetails:
    """Show a run with its sections and its cost so far."""
    view = view_of(service, run)
    ledger = run.report.ledger if view.has_report else run.cost_so_far()
    asked = run.count_follow_ups() if view.has_report else 0
    return models.RunDetails(**dict(view), sections=run.sections(), ledger=ledger, follow_ups=asked)


@router.delete("/runs/{run_id}", status_code=204, responses=problems(404, 409))
async def delete_run(service: Service, run: OwnRun) -> None:
    """Delete a run with everything that only it needed."""
    await service.delete(run)


async def _need_report(run: Run) -> api.RunRecord:
    """Return the record of a run that has a report. Raises RunBusy."""
    record, is_there = await asyncio.to_thread(lambda: (run.record, run.has_report))
    if not is_there:
        raise RunBusy("The run has no report yet.", run_id=run.id)
    return record


def _asked(run: Run) -> Asked:
    record = run.record
    if record.status != "waiting" or record.asked is None:
        raise RunBusy("The run does not wait for an answer.", run_id=run.id)
    return record.asked


@router.post("/runs/{run_id}/answer", status_code=202, responses=problems(404, 409, 429))
async def answer_run(given: models.AnswerInput, service: Service, run: OwnRun) -> models.RunView:
    """Answer the run: an option's text or number, yes or no to the plan, or any text."""
    await asyncio.to_thread(_asked, run)
    await service.carry_out(run, given.answer)
    return await _view(service, run)


@router.put("/runs/{run_id}/plan", status_code=202, responses=problems(404, 409, 429))
async def edit_plan(plan: models.PlanInput, service: Service, run: OwnRun) -> models.RunView:
    """Replace the plan that the run shows; the new plan awaits confirmation."""
    asked = await asyncio.to_thread(_asked, run)
    if asked.brief is None:
        raise RunBusy("The run does not show a plan.", run_id=run.id)
    await service.carry_out(run, api.format_outline(plan.brief(asked.brief)))
    return await _view(service, run)


@router.post("/runs/{run_id}/steer", status_code=202, responses=problems(404, 409))
async def steer_run(given: models.SteerInput, run: OwnRun) -> models.Taken:
    """Give an instruction to a run while it goes on."""
    taken = await asyncio.to_thread(run.steer, given.kind, given.text)
    return models.Taken(steer=taken, going_on=await asyncio.to_thread(lambda: run.is_running))


@router.post("/runs/{run_id}/cancel", status_code=202, responses=problems(404, 409))
async def cancel_run(service: Service, run: OwnRun) -> models.RunView:
    """Stop a run; its state is kept, and it can be resumed."""
    await service.cancel(run)
    return await _view(service, run)


@router.post("/runs/{run_id}/resume", status_code=202, responses=problems(404, 409, 429))
async def resume_run(service: Service, run: OwnRun) -> models.RunView:
    """Take a run up again that was stopped or has failed."""
    view = await _view(service, run)
    if view.status not in ("stopped", "failed"):
        raise RunBusy(f"The run is {view.status}: there is nothing to take up again.", run_id=run.id)
    await service.carry_out(run)
    return await _view(service, run)


@router.post("/runs/{run_id}/refresh", status_code=201, responses={**_BEGUN, **problems(404, 409, 429)})
async def refresh_run(response: Response, service: Service, owner: Owner, run: OwnRun, key: Key = "") -> models.RunView:
    """Begin to research the plan of a finished run anew, from today's sources."""
    await _need_report(run)
    begun = service.begin(owner, run.refresh, wanted_id=_id_of_key(owner, key, f"refresh {run.id}"))
    return await _tell_begun(service, response, *await begun)


@router.get("/runs/{run_id}/changes", responses=problems(404))
def show_changes(run: OwnRun) -> models.ChangesView:
    """Show the new statements of a refreshed run's report as Markdown."""
    return models.ChangesView(parent=run.record.parent, text=str(run.changes_since_parent()))


@router.get("/runs/{run_id}/events", responses={**_SSE, **problems(404)}, response_class=FairStream)
async def follow_run(
    service: Service, run: OwnRun, after: After = 0, last_event_id: LastEventId = "", language: Language = None
) -> FairStream:
    """Follow the events of a run, from the first one or from `Last-Event-ID` on.

    Each has its number as id and its kind as event name; the pieces of a report that is being written (`report_piece`)
    have no number and are not given again. A last event `end` says in which state the run is: no more
    will come until it is answered or resumed.
    """
    return _stream(service, run, run.tail_events(), after, last_event_id, language)


@router.post("/runs/{run_id}/follow-ups", status_code=202, responses=problems(404, 409, 429))
async def ask_follow_up(given: models.FollowUpInput, service: Service, run: OwnRun) -> models.FollowUpView:
    """Ask about a finished report; the answer is shown at the returned number."""
    record = await _need_report(run)
    settings = given.model_dump(exclude={"question"}, exclude_none=True)
    before = {name: value for name, value in record.settings.items() if name == "model_provider"}
    await asyncio.to_thread(settings_of_client, settings, {} if "model_provider" in settings else before)
    return follow_up_view(await service.follow_up(run, given.question, settings))


@router.get("/runs/{run_id}/follow-ups", responses=problems(404))
def list_follow_ups(run: OwnRun) -> list[FollowUpHead]:
    """List the questions about a report in order; an answer is shown by its number."""
    return run.list_follow_ups()


@router.get("/runs/{run_id}/follow-ups/{number}", responses=problems(404))
def show_follow_up(run: OwnRun, number: int) -> models.FollowUpView:
    """Show a question about a report with its answer."""
    return follow_up_view(run.numbered_follow_up(number))


@router.get("/runs/{run_id}/follow-ups/{number}/events", responses={**_SSE, **problems(404)}, response_class=FairStream)
async def follow_follow_up(
    service: Service, run: OwnRun, number: int, after: After = 0, last_event_id: LastEventId = ""
) -> FairStream:
    """Follow the events of a follow-up question."""
    await asyncio.to_thread(run.numbered_follow_up, number)
    return _stream(service, run, run.tail_events(number), after, last_event_id, None)


def follow_up_view(made: FollowUp) -> models.FollowUpView:
    """Return a follow-up as clients see it."""
    result = view_of_report(made.report) if made.report is not None else None
    return copy_fields(models.FollowUpView, made, report=str(made), result=result)


def _stream(
    service: Service, run: Run, log: EventTail, after: int, last_event_id: str, language: str | None
) -> FairStream:
    # The Last-Event-ID of a reconnecting browser precedes `after`.
    is_number = last_event_id.isdecimal() and last_event_id.isascii() and len(last_event_id) < 10
    start = int(last_event_id) if is_number else after
    lines = service.feeds.follow(log, start, lambda: service.is_active(run) or run.is_running)
    events = _sse(lines, start, lambda: _state(service, run.home, run.record), language)
    return FairStream(events, headers={"x-accel-buffering": "no"})


async def _sse(
    lines: AsyncIterator[bytes | None], after: int, last_state: Callable[[], str], language: str | None
) -> AsyncIterator[bytes]:
    """Yield events as server-sent events: id, event, data; transient ones have no id."""
    yield b"retry: 2000\n\n"
    number = after
    async for line in lines:
        if line is None:
            yield b": still here\n\n"
            continue
        kind = str(json.loads(line).get("kind", "message"))
        if kind in PASSING:
            yield b"event: %s\ndata: %s\n\n" % (kind.encode(), line)
            continue
        number += 1
        said = _gap_in(line, language) if language and kind == "gap_found" else line
        yield b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), said)
    state = await asyncio.to_thread(last_state)
    yield b"event: end\ndata: %s\n\n" % json.dumps({"status": state}).encode()


def _gap_in(line: bytes, language: str) -> bytes:
    """Return the event of a gap that says it in a language."""
    event = GapFound.model_validate_json(line)
    said = gap_in(copy_fields(Gap, event), language)
    return event.model_copy(update={"what": said.what, "why": said.why}).model_dump_json().encode()


@router.post("/verifications", status_code=201, responses=_BEGUN)
async def create_verification(
    new: models.NewVerification, response: Response, service: Service, owner: Owner, home: Home, key: Key = ""
) -> models.RunView:
    """Begin to verify a report, or to compare two, from text or uploaded documents."""
    uploaded = UploadedDocuments(home, service.options.uploads)
    paths = await asyncio.to_thread(uploaded.paths_of, new.reports)
    # Who waits for a worker takes no thread from other requests.
    reports = [await in_worker_thread(api.read_report_file, path) for path in paths]

    def prepare() -> tuple[GivenReport, Settings, list[Path]]:
        texts = [text for text in (new.text, *reports) if text.strip()]
        if not 1 <= len(texts) <= 2:
            raise ConfigError("Give one report, or two to be compared: text, or reports.", setting="report", value="")
        other = texts[1] if len(texts) > 1 else ""
        given = GivenReport(text=texts[0], other=other, question=new.question, revises=new.revise)
        return given, settings_of_client(new.settings()), uploaded.paths_of(new.documents)

    given, settings, docs = await asyncio.to_thread(prepare)
    make = partial(asyncio.to_thread, api.start_verification, given, settings, docs=docs, home=home)
    begun = service.begin(owner, make, wanted_id=_id_of_key(owner, key, new.model_dump()))
    return await _tell_begun(service, response, *await begun)
