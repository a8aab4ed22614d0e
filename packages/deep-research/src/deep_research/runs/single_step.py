"""Run one node by itself, for debugging (contract row B12): prompt, answer, cost."""

import asyncio
from collections.abc import Awaitable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from claimcheck.language import detect
from deep_research.assembly.environment import Job, RunEnvironment, open_context
from deep_research.assembly.run_settings import settle
from deep_research.data import Assignment, Brief, Gap, Ledger, ModelRequest, QueryAnalysis, Question, Role, Section
from deep_research.errors import ConfigError, ModelError
from deep_research.report.ledger import PaidCall
from deep_research.run_context.context import RunContext
from deep_research.runs.refresh import state_of
from deep_research.settings import Settings
from deep_research.steps import intake, plan, research
from deep_research.stores.run_folder import RunFolder
from deep_research.stores.run_store import RunRecord, RunStore


class StepResult(NamedTuple):
    """What a step asked, what it answered, what it cost and what failed."""

    requests: list[tuple[Role, ModelRequest]]
    answer: Any
    calls: list[PaidCall]
    gaps: list[Gap]


async def run_step(
    name: str, question: str, settings: Settings, *, home: Path, store: RunStore | None = None
) -> StepResult:
    """Run one node for a question, or with a run's state and library (`store`)."""
    state: dict[str, Any] = dict(await state_of(store)) if store is not None else {}
    asked = state.get("question") or Question(text=question, language=detect(question))
    requests: list[tuple[Role, ModelRequest]] = []
    answer = None
    with TemporaryDirectory() as folder:
        job = await asyncio.to_thread(_job, RunFolder(Path(folder), "step"), asked, settings, store)
        job = replace(job, watch=lambda request, role: requests.append((role, request)))
        with closing(job.log):
            async with open_context(job, RunEnvironment(home)) as ctx:
                try:
                    answer = await _thought(name, ctx, asked, state)
                except ModelError as error:
                    ctx.report_gap(Gap(what=name, why=error.message))
                calls = [PaidCall.model_validate_json(text) for text in ctx.journal.answers("model")]
        return StepResult(requests, answer, calls, job.log.gaps)


def _job(scratch: RunFolder, asked: Question, settings: Settings, store: RunStore | None) -> Job:
    """Return the step as the job of a run kept nowhere; the earlier run stays as is."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = RunRecord(
        run_id=scratch.run_id, status="running", question=asked.text, language=asked.language, created=now
    )
    if store is not None:
        record = store.load().model_copy(update=record.model_dump(include={"run_id", "status", "question", "language"}))
    settings = settle(settings, record.docs, asked.text)
    record = record.model_copy(update={"mcp_servers": record.mcp_servers or tuple(settings.mcp_servers)})
    scratch.create(record)
    if store is not None:
        with closing(store.open_library()) as library, closing(scratch.open_library()) as copy:
            copy.restore(library.sources(), library.snapshots())
    log = scratch.open_log(lambda _event: None)
    return Job(scratch, record, settings, asked.text, log, began=now, before=Ledger())


def _thought(name: str, ctx: RunContext, asked: Question, state: dict[str, Any]) -> Awaitable[Any]:
    """Return the thought of a node; make up what the state lacks from the question."""
    text, by, library = asked.text, ctx.reasoner, ctx.library
    analysis = state.get("analysis") or QueryAnalysis(query_type="general", output_format="prose")
    sections = list(state.get("sections", [])) or [Section(title=text, description=text, queries=(text,), attempts=1)]
    brief = state.get("brief") or Brief(title=text, objective=text, language=asked.language, sections=tuple(sections))
    turns = state.get("conversations", {}).get(sections[0].title, [])
    ids = tuple(key for s in sections for key in s.passages if library.passage(key) is not None)
    given = Assignment(question=asked, analysis=analysis, brief=brief, sections=tuple(sections), passages=ids)
    thoughts = {
        "clarify": lambda: intake.decide(ctx, asked),
        **{one: partial(_led_up, ctx, asked, state, one) for one in ("analyze", "discover", "plan_sections")},
        "researcher": lambda: research.next_move(ctx, sections[0], brief, turns),
        "compress_output": lambda: by.take_notes(sections[0], brief, turns, library),
        "review_section": lambda: by.review_section(sections[0], brief),
        "review": lambda: by.review(brief, sections),
        "supervisor": lambda: by.delegate(brief, sections, [], library),
        "final_report": lambda: by.write(given, [], library),
    }
    if name not in thoughts:
        raise ConfigError(f"There is no step {name!r}. Steps: {', '.join(thoughts)}.", setting="step", value=name)
    return thoughts[name]()


async def _led_up(ctx: RunContext, asked: Question, state: dict[str, Any], name: str) -> Any:
    """Return the thought of a node before the research, after the missing ones."""
    decision, own = state.get("decision"), state.get("asked", asked)
    analysis = state.get("analysis") if name != "analyze" else None
    if decision is None and (analysis is None or name == "plan_sections"):
        decision = await intake.decide(ctx, asked)
    analysis = analysis or await plan.analyze(ctx, asked, decision)
    if name == "plan_sections" and decision is not None:
        found = state.get("discovery"), state.get("discovery_turns", [])
        return await plan.plan(ctx, asked, analysis, decision, *found, asked=own)
    if name == "analyze":
        return analysis
    from deep_research.graph.discovery import build_discover  # noqa: PLC0415 - the engine is slow to load

    given = {"question": asked, "asked": own, "analysis": analysis, "discovery_turns": []}
    return (await build_discover().ainvoke(given, context=ctx))["discovery"]
