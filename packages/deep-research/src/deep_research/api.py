"""The front door for programs and the command line: research, ask, inspect runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from deep_research import registry, sources
from deep_research import settings as settings_module
from deep_research.assembly import mcp_listing
from deep_research.assembly.own_objects import NOTHING, OwnObjects, take_objects
from deep_research.assembly.reasoner_choice import list_models as list_models
from deep_research.assembly.reasoner_choice import named_providers as named_providers
from deep_research.assembly.reasoner_choice import provider_of as provider_of
from deep_research.assembly.run_settings import Docs, Preview, preview
from deep_research.concurrency import run_now
from deep_research.conversation.history import read_history
from deep_research.conversation.plan_outline import format_outline as format_outline
from deep_research.conversation.plan_outline import format_question as format_question
from deep_research.data import Export as Export
from deep_research.data import FollowUp, GivenReport, Message, Report, Verdict
from deep_research.errors import ConfigError, WorkTooLarge
from deep_research.events import Event
from deep_research.graph_api import OnQuestion as OnQuestion
from deep_research.graph_api import answer_of
from deep_research.graph_api import build_deep_research_graph as build_deep_research_graph
from deep_research.graph_api import run_deep_research as run_deep_research
from deep_research.isolated_reading import read_bytes
from deep_research.registry import formats, reader_for
from deep_research.report.counts import VerdictCounts as VerdictCounts
from deep_research.report.counts import verdict_counts as verdict_counts
from deep_research.run import Run as Run
from deep_research.runs import deletion, research_run, single_step
from deep_research.runs.cost_estimate import estimate_cost as estimate_cost
from deep_research.runs.cost_estimate import estimate_verification as estimate_verification
from deep_research.runs.desk_answers import Begun as Begun
from deep_research.runs.desk_answers import CheckedReport as CheckedReport
from deep_research.runs.desk_answers import GivenVerdict as GivenVerdict
from deep_research.runs.desk_answers import Looked as Looked
from deep_research.runs.desk_answers import Noted as Noted
from deep_research.runs.report_file import fetch_report as fetch_report
from deep_research.runs.report_file import read_report as read_report
from deep_research.runs.report_file import read_report_file as read_report_file
from deep_research.runs.report_file import read_report_stream as read_report_stream
from deep_research.runs.run_evidence import SourceFacts as SourceFacts
from deep_research.setting_arguments import SettingArguments
from deep_research.settings import Settings
from deep_research.state_files import DOCUMENTS
from deep_research.stores.event_log import EventTail as EventTail
from deep_research.stores.open_stores import QueueState, database, open_runs, owner_of
from deep_research.stores.run_folder import check_writable as check_writable
from deep_research.stores.run_folder import folder_size, write_atomically
from deep_research.stores.run_folder import write_bytes_atomically as write_bytes_atomically
from deep_research.stores.run_store import Kept as Kept
from deep_research.stores.run_store import RunHead as RunHead
from deep_research.stores.run_store import RunRecord as RunRecord
from deep_research.stores.run_store import dated_id as dated_id
from deep_research.templates import TemplateFile, load_templates, template_folders
from deep_research.verification.chart_points import charts_of as charts_of
from deep_research.verification.chart_points import with_tables as with_tables
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker, in_worker_thread

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from deep_research.ports import Exporter
    from deep_research.runs.research_desk import ResearchDesk as ResearchDesk
    from deep_research.sources import SourceRow

readable_suffixes, list_strategies, parse_age = registry.suffixes, sources.strategies, deletion.parse_age
History = Sequence["str | tuple[str, str] | Message | BaseMessage | Mapping[str, Any]"]


def start_run(
    question: str,
    settings: Settings,
    *,
    docs: Docs = (),
    history: History = (),
    home: Path | None = None,
    wanted_id: str = "",
    own: OwnObjects = NOTHING,
) -> Run:
    """Create a new run, done by `Run.carry_out`; `own` are models and tools.

    See `research` for the other arguments. Raises ConfigError for unusable input (nothing is made then), StoreError.
    """
    home = home or settings_module.home()
    made = research_run.create_run(
        question, settings, home=home, docs=docs, history=read_history(history), wanted_id=wanted_id
    )
    return Run(made, home, mcp_servers=settings.mcp_servers, own=own)


def start_verification(
    given: GivenReport,
    settings: Settings,
    *,
    docs: Docs = (),
    home: Path | None = None,
    wanted_id: str = "",
    own: OwnObjects = NOTHING,
) -> Run:
    """Make a run that verifies a report somebody else wrote; `Run.carry_out` does it.

    It is held against the pages it cites, or against `docs`. Raises ConfigError for unusable input, StoreError.
    """
    from deep_research.runs.verification_run import create_verification  # noqa: PLC0415 - only where it is asked for

    if given.revises and not own.models and estimate_verification(settings, ()) is None:
        raise ConfigError("Only a model puts a text right: choose one (model_provider).", setting="fix", value=True)
    home = home or settings_module.home()
    made = create_verification(given, settings, home=home, docs=docs, wanted_id=wanted_id)
    return Run(made, home, mcp_servers=settings.mcp_servers, own=own)


def verify(
    report: "str | PathLike[str]",
    *,
    docs: Docs = (),
    other: "str | PathLike[str]" = "",
    question: str = "",
    fix: bool = False,
    **settings: Unpack[SettingArguments],
) -> Report:
    """Verify another author's report; return it with statements and verdicts.

    `report` is its text, a path (`Path`) to a file (Markdown, HTML, DOCX, PDF, text) or a web address. The pages that it
    cites are read, or it is held against `docs`. `fix` has the model put its text right; with an `other` report the two
    are compared (`disagreements`). `settings` are those of `research`. Raises ConfigError for unusable input.
    """
    return run_now(lambda: averify(report, docs=docs, other=other, question=question, fix=fix, **settings))


async def averify(
    report: "str | PathLike[str]",
    *,
    docs: Docs = (),
    other: "str | PathLike[str]" = "",
    question: str = "",
    fix: bool = False,
    **settings: Unpack[SettingArguments],
) -> Report:
    """Verify a report in an event loop; see `verify`."""
    values, own = take_objects({name: value for name, value in settings.items() if name != "home"})
    known = settings_module.load_settings(**values)
    text, second = [await read_report(one, known) if one else "" for one in (report, other)]
    given = GivenReport(text=text, other=second, question=question, revises=fix)
    run = await asyncio.to_thread(start_verification, given, known, docs=docs, home=_home(settings), own=own)
    return await run.carry_out()


async def begin_desk(question: str, settings: Settings, *, home: Path, docs: Docs = ()) -> Begun:
    """Create an agent's session (see `runs.research_desk`). Raises ConfigError."""
    from deep_research.runs.research_desk import begin_desk as begin  # noqa: PLC0415 - only where it is asked for

    return await begin(question, settings, home=home, docs=docs)


def open_desk(run_id: str, *, home: Path) -> "ResearchDesk":
    """Return an agent's session by its id. Raises RunNotFound, and ConfigError.

    ConfigError is raised for a run of another kind.
    """
    from deep_research.runs.research_desk import ResearchDesk  # noqa: PLC0415 - only where it is asked for

    return ResearchDesk(open_runs(home).open(run_id), home)


def open_run(run_id: str, *, home: Path | None = None, is_known: bool = False, is_whole: bool = False) -> Run:
    """Return an earlier run by its id, or by an unambiguous part unless `is_whole`.

    One that `is_known` is not looked up. Raises RunNotFound.
    """
    home, stores = home or settings_module.home(), open_runs(home or settings_module.home())
    return Run(stores.store(run_id) if is_known else stores.open(run_id, is_whole=is_whole), home)


def queue_state(*, home: Path | None = None) -> QueueState:
    """Return the numbers of live workers and of a state folder owner's queued runs.

    Raises ConfigError without a database, and where what offers it is not installed.
    """
    return database().queue.queue_state(owner_of(home or settings_module.home()))


def read_bundle(
    path: Path, *, home: Path | None = None, on_left_out: Callable[[str], object] = lambda _told: None
) -> Run:
    """Import the run of a bundle into the state folder and return it.

    A run whose id is taken gets another id.

    Nothing in it decides where anything is written, read, sent, started or paid; `on_left_out` is told what was left
    out for that. Raises ConfigError for a file that is no bundle, is damaged or was changed, StoreError.
    """
    from deep_research.stores.run_bundle import read_bundle as read  # noqa: PLC0415 - only where it is asked for

    home = home or settings_module.home()
    settings = settings_module.load_settings()
    own = settings.model_dump(exclude_defaults=True, exclude={"mcp_servers"})
    with suppress(ConfigError):  # to look at a run needs no key
        own["model_provider"] = provider_of(settings)
    return Run(read(path, open_runs(home), own=own, on_left_out=on_left_out), home)


def list_runs(*, home: Path | None = None) -> Sequence[RunHead]:
    """Return the heads of all runs, newest first; `Run.record` has the details."""
    return open_runs(home or settings_module.home()).list()


def run_ids(*, home: Path | None = None) -> Sequence[str]:
    """Return the ids of all runs; nothing of them is read."""
    return open_runs(home or settings_module.home()).ids()


def kept_runs(*, home: Path | None = None) -> Kept:
    """Return the number of runs kept, and their bytes with their document indexes."""
    home = home or settings_module.home()
    kept = open_runs(home).kept()
    return Kept(kept.runs, kept.bytes + folder_size(home / DOCUMENTS))


def find_runs(
    run_ids: Sequence[str] = (), *, older_than: str = "", everything: bool = False, home: Path | None = None
) -> list[RunHead]:
    """Return the runs of these ids (unambiguous parts suffice), older ones, or all.

    `older_than` is an age such as `30d`. Raises RunNotFound, and ConfigError for what is no age.
    """
    home = home or settings_module.home()
    stores = open_runs(home)
    records = {record.run_id: record for record in stores.list()}
    wanted = [stores.open(run_id).run_id for run_id in run_ids]
    if older_than:
        limit = datetime.now(UTC) - parse_age(older_than)
        for run_id, record in records.items():
            with suppress(ValueError):  # of a damaged one it is not known
                if datetime.fromisoformat(record.created).astimezone(UTC) < limit:
                    wanted.append(run_id)
    return [records[run_id] for run_id in dict.fromkeys([*wanted, *(records if everything else ())])]


def delete_runs(run_ids: Sequence[str], *, home: Path | None = None) -> deletion.Deletion:
    """Delete runs with their unshared data: document indexes and kept pages.

    A run that a process is carrying out is left. Raises StoreError.
    """
    return deletion.delete_runs(home or settings_module.home(), run_ids)


def research(question: str, *, docs: Docs = (), history: History = (), **settings: Unpack[SettingArguments]) -> Report:
    """Research `question` and return the report; for code that is not asynchronous.

    `docs` are files and folders to search (without any, the bundled library); `history` is the conversation before
    the question, oldest first, as messages of LangChain, as mappings with `role` ("user" or "assistant") and `content`,
    or as texts of the user; `settings` are the names of `Settings`, `home` for the state folder, `model` (or
    `write_model`, …) for a chat model of your own, and `tools` for tools and functions of your own. Raises ConfigError
    for unusable input, Declined when nothing can answer the question or its plan was rejected, and another
    ResearchError when the run fails; print(report) shows its Markdown. Where an event loop runs, as in Jupyter, the
    research has a thread of its own; `await aresearch(…)` lets the loop go on meanwhile.
    """
    return run_now(lambda: aresearch(question, docs=docs, history=history, **settings))


async def aresearch(
    question: str,
    *,
    docs: Docs = (),
    history: History = (),
    on_clarify_question: OnQuestion | None = None,
    **settings: Unpack[SettingArguments],
) -> Report:
    """Research `question` in an event loop; see `research`.

    `on_clarify_question` is called with what the user is asked, a plan included, as one text. Without it nothing is
    asked; a plan that must be confirmed (`confirm_plan=True`) then raises NeedsAnswer, and the run can be resumed.
    """
    asks = on_clarify_question is not None
    run = await asyncio.to_thread(_start, question, settings, asks=asks, docs=docs, history=history)
    return await run.carry_out(answer=answer_of(on_clarify_question))


def follow_up(run_id: str, question: str, **settings: Unpack[SettingArguments]) -> FollowUp:
    """Ask `question` about an earlier run's report, synchronously; see `afollow_up`."""
    return run_now(lambda: afollow_up(run_id, question, **settings))


async def afollow_up(run_id: str, question: str, **settings: Unpack[SettingArguments]) -> FollowUp:
    """Answer a question about a run's report, from its sources or by new searches.

    `found_in` says which. Passages keep the ids they have in the report. `settings` are those that differ from the
    run's (the model), and `home` for the state folder; print(answer) shows its Markdown. Raises RunNotFound for an
    unknown run and for one without a report, ConfigError for unusable input.
    """
    changes: dict[str, Any] = {name: value for name, value in settings.items() if name != "home"}
    return await open_run(run_id, home=_home(settings)).follow_up(question, **changes)


def export(run_id: str, to: str, *, home: Path | None = None, font_folder: Path | None = None) -> bytes:
    """Return an earlier run's report in another format: html, pdf, docx, json, etc.

    `deep-research export` lists the formats. `font_folder` holds fonts for PDF, beside those of the system. Raises
    RunNotFound, and ConfigError for an unknown format and for what is not installed.
    """
    return open_run(run_id, home=home).export(to, font_folder=font_folder).data


async def stream(
    question: str,
    *,
    docs: Docs = (),
    history: History = (),
    on_clarify_question: OnQuestion | None = None,
    **settings: Unpack[SettingArguments],
) -> AsyncIterator[Event | Report]:
    """Research `question` and yield each event as it happens, and last the Report.

    Leaving the loop early stops the run; its state is kept.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    run = _start(question, settings, asks=on_clarify_question is not None, docs=docs, history=history)
    work = run.carry_out(listener=queue.put_nowait, answer=answer_of(on_clarify_question))
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _task: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


def _start(question: str, given: Mapping[str, Any], *, asks: bool, **request: Any) -> Run:
    """Create a run with settings by name; without `asks` it asks nothing by default."""
    values, own = take_objects({name: value for name, value in given.items() if name != "home"})
    if not asks:
        values.setdefault("allow_clarification", False)
    return start_run(question, settings_module.load_settings(**values), home=_home(given), own=own, **request)


def _home(values: Mapping[str, Any]) -> Path:
    return Path(values.get("home") or settings_module.home())


def save_text(path: Path, text: str) -> None:
    """Write a text to a file in one step. Raises StoreError when the disk refuses."""
    write_atomically(path, text, private=False)


def list_exporters() -> "list[type[Exporter]]":
    """Return the formats of `Run.export`, by name."""
    return [registry.component("exporters", name) for name in registry.names("exporters")]


def preview_run(settings: Settings, docs: Sequence[str] = ()) -> Preview:
    """Return the model and sources of a run. Raises ConfigError if they are unusable."""
    return preview(settings, docs, home=settings_module.home())


def newest_refresh(run_id: str, *, home: Path | None = None) -> Run:
    """Return the last of a run's successive refreshes; the run itself without any."""
    run = open_run(run_id, home=home)
    records = {record.parent: record for record in reversed(list_runs(home=home)) if record.origin == "refresh"}
    newest = run.id
    while newest in records:
        newest = records[newest].run_id
    return run if newest == run.id else open_run(newest, home=home)


def list_sources(settings: Settings) -> "list[SourceRow]":
    """Return one row for each web source: its purpose, its key, whether it is ready."""
    return sources.source_rows(settings_module.load_keys(sources.variables()), settings.source_options)


def list_mcp_servers(settings: Settings, *, connect: bool = False) -> list[mcp_listing.ServerRow]:
    """Return a row per MCP server; `connect` contacts each and lists its tools."""
    return run_now(lambda: mcp_listing.checked_rows(settings)) if connect else mcp_listing.server_rows(settings)


def list_templates() -> tuple[Sequence[TemplateFile], Sequence[Path]]:
    """Return the focus templates and the folders searched for the user's own."""
    folders = template_folders(settings_module.home())
    return load_templates(folders), folders


def check_claim(claim: str, evidence: str) -> Verdict:
    """Return code's verdict on a claim against a text; ConfigError if it is too long."""
    size = len(claim) + len(evidence)
    limits = Limits(memory=500_000_000 + 100 * size, cpu_seconds=3.0 + 8.0 * size / 1e6)
    judging = "deep_research.verification.statement_flags:check_against_document"
    try:
        return call_in_worker(judging, claim.strip(), evidence, returns=Verdict, limits=limits)
    except WorkTooLarge as error:
        message = (
            f"The claim was not judged: comparing it took more than {limits.cpu_seconds:.0f} s of computing, or too "
            "much memory. Give a shorter claim, or only the part of the text that it is about."
        )
        raise ConfigError(message, setting="evidence", value=size) from error


async def acheck_claim(claim: str, evidence: str) -> Verdict:
    """Do `check_claim` without blocking the event loop; cancellation ends it."""
    return await in_worker_thread(check_claim, claim, evidence)


def read_text(data: bytes, name: str) -> str:
    """Return the text of a file. Raises ConfigError for its format, Unreadable."""
    reader = reader_for(name, data[:4096])
    if reader is None:
        raise ConfigError(f"The format of {name!r} cannot be read.", setting="file", value=name)
    return read_bytes(reader, data, name=name).text


def check_readable(path: Path) -> None:
    """Raise ConfigError when no reader takes the format of a file."""
    with path.open("rb") as file:
        if reader_for(path, file.read(8192)) is None:
            message = f"The format of {path.name!r} cannot be read. Formats: {formats()}"
            raise ConfigError(message, setting="file", value=path.name)


async def run_step(name: str, question: str, settings: Settings, *, run: "Run | None" = None) -> single_step.StepResult:
    """Do one node of the research for a question or run state. Raises ConfigError.

    It returns the node's prompts, its answer and its cost.
    """
    store = run._store if run is not None else None
    return await single_step.run_step(name, question, settings, home=settings_module.home(), store=store)
