"""Runs that come from another one: forked with another plan, model or depth; the same question later; a section again."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from deep_research.assembly.run_settings import check_usable, settle
from deep_research.conversation.plan_edits import read_plan_answer
from deep_research.data import (
    Brief,
    Decision,
    Discovery,
    QueryAnalysis,
    Question,
    Section,
    SectionReview,
)
from deep_research.data.noun import Noun
from deep_research.errors import ConfigError
from deep_research.ports import Journal
from deep_research.settings import Settings
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_bundle import copy_evidence
from deep_research.stores.run_store import ForkPoint, Origin, Rerun, RunRecord, RunStore

if TYPE_CHECKING:
    from deep_research.graph.run_graph import Jump

_CARRIED = "carried"
"""The kind of the note that holds what a fork begins with."""


class Carried(Noun):
    """What a run takes over from the one that it comes from: up to its plan, or up to its sections."""

    question: Question
    asked: Question | None = None
    decision: Decision
    analysis: QueryAnalysis
    discovery: Discovery | None = None
    brief: Brief
    sections: tuple[Section, ...] = ()
    section_reviews: dict[str, SectionReview] = Field(default_factory=dict)

    def as_state(self) -> dict[str, Any]:
        """Return it as keys of the graph's state."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {
            **{name: value for name, value in values.items() if value is not None},
            "query_type": self.analysis.query_type,
            "output_format": self.analysis.output_format,
            "research_brief": self.brief.objective,
            "sections": list(self.sections),
        }


async def fork_run(
    parent: RunStore, home: Path, *, at: ForkPoint = "plan", plan: str = "", changes: Mapping[str, Any] | None = None
) -> RunStore:
    """Make a run that goes on from a point of `parent` with other settings or another plan.

    `at` is `question` (everything anew), `plan` (its plan is researched) or `report` (its sections are reported anew);
    what was answered before is not asked again. `plan` is an outline, or says what to change ("drop 3"). Raises
    ConfigError for what does not fit.
    """
    changed = {**parent.load().settings, **({"model_name": None} if "model_provider" in (changes or {}) else {})}
    settings = Settings(**{**changed, **(changes or {})})
    if at == "question" and plan:
        raise ConfigError("A fork from the question makes its own plan; fork at the plan.", setting="plan", value=plan)
    store = await _branch(parent, home, "fork", settings, at=at, plan=plan)
    await asyncio.to_thread(copy_evidence, parent, store)
    return store


async def refresh_run(parent: RunStore, home: Path) -> RunStore:
    """Make a run that researches the plan of `parent` anew, from today's sources: nothing it had read is taken over.

    `report_changes` then says what changed.
    """
    return await _branch(parent, home, "refresh", Settings(**parent.load().settings), at="plan", plan="")


async def _branch(
    parent: RunStore, home: Path, origin: Origin, settings: Settings, *, at: ForkPoint, plan: str
) -> RunStore:
    record = parent.load()
    if settings.workflow == "quick" and at == "plan":
        at = "question"  # a quick question has no plan
    carried = await _carried(parent, at) if at != "question" else None
    if carried is not None and plan:
        carried = carried.model_copy(update={"brief": _planned(plan, carried.brief, settings)})
    check_usable(record.docs, settings, home=home)
    runs = open_runs(home)
    new = RunRecord(
        **record.model_dump(include={"question", "language", "docs", "history", "mcp_servers", "owner"}),
        run_id=runs.new_id(),
        status="running",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=settle(settings, record.docs, record.question).model_dump(
            exclude_defaults=True, exclude={"mcp_servers"}
        ),
        parent=parent.run_id,
        origin=origin,
        fork_at=at if carried is not None else "",
    )
    store = runs.create(new)
    if carried is not None:
        journal = store.open_journal()
        journal.note(_CARRIED, "", carried.model_dump_json())
        journal.close()
    return store


async def _carried(parent: RunStore, at: ForkPoint) -> Carried:
    """Return what is taken over, from the parent's last checkpoint. Raises ConfigError when it had not come so far."""
    state = await state_of(parent)
    if "brief" not in state or (at == "report" and not any(s.content for s in state.get("sections", ()))):
        message = f"The run {parent.run_id} has no {'sections' if at == 'report' else 'plan'} to go on from."
        raise ConfigError(message, setting="at", value=at)
    names = ("question", "asked", "decision", "analysis", "discovery", "brief")
    if at == "report":
        names = (*names, "sections", "section_reviews")
    return Carried.model_validate({name: state[name] for name in names if name in state})


async def state_of(store: RunStore) -> Mapping[str, Any]:
    """Return the state of a run's graph at its last checkpoint; empty before the first one."""
    from deep_research.graph.run_graph import open_checkpoints  # noqa: PLC0415 - the engine is slow to load
    from deep_research.graph.workflows import compile_workflow  # noqa: PLC0415

    at = store.checkpoints_at()
    async with open_checkpoints(at.location, at.guard) as checkpoints:
        graph = compile_workflow(Settings(**store.load().settings).workflow, checkpoints)
        return (await graph.aget_state({"configurable": {"thread_id": at.thread}})).values


def _planned(plan: str, brief: Brief, settings: Settings) -> Brief:
    said = read_plan_answer(plan, brief, max_sections=settings.max_sections)
    if said.kind != "edited" or said.problems:
        why = "; ".join(said.problems) or "it is neither an outline nor a change of the plan"
        raise ConfigError(f"The plan cannot be used: {why}.", setting="plan", value=plan)
    return said.brief


def carried_state(journal: Journal) -> dict[str, Any]:
    """Return what a run takes over, as keys of the graph's state; nothing for a run of its own."""
    noted = journal.notes(_CARRIED).get("")
    return Carried.model_validate_json(noted).as_state() if noted is not None else {}


def begin_rerun(store: RunStore, section: str, remark: str = "") -> None:
    """Have a section of a finished run researched again, into the same report, when the run is next carried out.

    `section` is its title or number, `remark` what it should look for. Raises ConfigError and RunNotFound.
    """
    record, report = store.load(), store.load_result()
    titles = [one.title for one in report.sections]
    found = titles[int(section) - 1] if section.isdecimal() and 1 <= int(section) <= len(titles) else section
    if found not in titles:
        listed = "".join(f"\n  {number}. {title}" for number, title in enumerate(titles, 1))
        raise ConfigError(f"The report has no section {section!r}. It has:{listed}", setting="section", value=section)
    if (workflow := Settings(**record.settings).workflow) != "sections":
        message = f"A section can be researched again in the workflow 'sections'; the run has {workflow!r}."
        raise ConfigError(message, setting="workflow", value=workflow)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with store.held():
        library = store.open_library()
        read = sum(1 for _ in library.snapshots())
        library.close()
        again = (*record.reruns, Rerun(section=found, remark=remark, began=now, snapshots=read))
        store.save(record.model_copy(update={"reruns": again, "status": "running", "error": ""}))


def jump_of(record: RunRecord) -> "Jump | None":
    """Return where the graph of a run is entered if not at its first node."""
    from deep_research.graph.run_graph import Jump  # noqa: PLC0415 - the engine is slow to load
    from deep_research.graph.workflows import PLANNING  # noqa: PLC0415

    workflow = Settings(**record.settings).workflow
    if record.reruns:
        number = len(record.reruns) + bool(record.fork_at)
        return Jump(PLANNING[workflow], number, lambda state: _rerun_update(state, record.reruns[-1]))
    if record.fork_at:
        return Jump("final_report" if record.fork_at == "report" else PLANNING[workflow], 1)
    return None


def _rerun_update(state: Mapping[str, Any], rerun: Rerun) -> dict[str, Any]:
    """Return the changes of the state that make one section pending again, as it was planned."""
    brief: Brief = state["brief"]
    sections: list[Section] = state["sections"]
    planned = {section.title: section for section in brief.sections}
    done = next(section for section in sections if section.title == rerun.section)
    asked = (rerun.remark,) if rerun.remark else ()
    fresh = planned.get(rerun.section, Section(title=rerun.section, description=done.description)).model_copy(
        update={"status": "pending", "attempts": done.attempts, "notes": rerun.remark}
    )
    return {
        **{name: state[name] for name in ("original_query", "question", "brief") if name in state},
        "sections": [fresh.model_copy(update={"queries": (*asked, *fresh.queries)})],
        "conversations": {rerun.section: []},
        "review_iterations": state.get("max_review_iterations", 0),
        "final_report": "",
    }
