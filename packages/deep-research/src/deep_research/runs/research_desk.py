"""A research desk for agents: search, open, note, verify, export; kept as a run.

Nothing lives in memory between two calls: each opens the run, holds it while it works, and closes it. So a session goes
on after a kill by its id, and two agents can work at one library.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from deep_research.assembly.environment import RunEnvironment, open_context
from deep_research.assembly.run_settings import Docs
from deep_research.concurrency import held_beside, in_background, in_export
from deep_research.data import LIBRARY, Action, Claim, Decision, Export, Question, Section, Verdict
from deep_research.data.noun import Noun, copy_fields
from deep_research.data.verification import Assignment, Verification
from deep_research.errors import ConfigError, RunBusy
from deep_research.ports import Library
from deep_research.report.assemble import Finished, assemble
from deep_research.report.counts import verdict_counts
from deep_research.run_context.context import RunContext
from deep_research.runs.desk_answers import (
    Begun,
    CheckedReport,
    CheckedStatement,
    FoundProblem,
    GivenVerdict,
    Looked,
    Noted,
    problem_of,
    show_looked,
    show_passage,
)
from deep_research.runs.research_run import ResearchRun, create_run
from deep_research.runs.run_evidence import export_report
from deep_research.runs.verification_run import check_size, cited_addresses
from deep_research.settings import Settings
from deep_research.steps import search, verify
from deep_research.steps.foreign_report import assignment_of, cite_passages, report_title
from deep_research.steps.write import clean_report, unwrap_report
from deep_research.stores.run_store import RunStore
from deep_research.verification.citations import cited_ids, normalize_citations
from deep_research.worker_pool import in_worker_thread

_STATEMENTS = 25  # statements in one answer, with their passages
_WAIT_SECONDS, _LOOK_SECONDS = 120.0, 0.05  # how long a call waits for another one at the same session
_NOTE, _CHECKED = "desk note", "desk report"
_MOST_NOTED = 1_000_000
_TURNS = WeakValueDictionary[tuple[str, int], asyncio.Lock]()
"""Whose turn it is at a session, by its place and the event loop."""


class _Kept(Noun):
    text: str
    verification: Verification


async def begin_desk(question: str, settings: Settings, *, home: Path, docs: Docs = ()) -> Begun:
    """Create a session; without docs and sources, on the web. Raises ConfigError."""
    searched = "" if docs or settings.sources else settings.strategy or "auto"
    changed = settings.model_copy(update={"workflow": "desk", "strategy": searched or settings.strategy})
    store = await asyncio.to_thread(create_run, question, changed, home=home, docs=docs)
    desk = ResearchDesk(store, home)
    async with desk.opened() as ctx:
        sources = {place.name: place.purpose for place in ctx.outside.places}
        ResearchRun(store).note(status="waiting", waiting_for="An agent works at it.")
    return Begun(run_id=store.run_id, sources=sources, opens_addresses=True)


class ResearchDesk:
    """One session; methods raise ConfigError if impossible, RunBusy if held too long."""

    def __init__(self, store: RunStore, home: Path) -> None:
        self._store, self._environment = store, RunEnvironment(home)
        self._run = ResearchRun(store)
        if self._run.record.settings.get("workflow") != "desk":
            message = f"The run {store.run_id} is no session of an agent; begin one with `begin_research`."
            raise ConfigError(message, setting="run_id", value=store.run_id)

    @asynccontextmanager
    async def opened(self, addresses: Sequence[str] = ()) -> AsyncIterator[RunContext]:
        """Hold the session and give its context; `addresses` are those the agent names."""
        # Calls of this process wait in a queue; only the first of them looks whether another process has the session.
        turn = _TURNS.setdefault((self._store.place, id(asyncio.get_running_loop())), asyncio.Lock())
        async with turn, AsyncExitStack() as stack:
            await _hold(self._store, stack)
            log = stack.enter_context(closing(self._store.open_log(lambda _event: None)))
            job = replace(ResearchRun(self._store).job(log), addresses=tuple(addresses), stands_in=False)
            async with open_context(job, self._environment) as ctx:
                yield ctx

    async def search(self, queries: Sequence[str], source: str = "") -> Looked:
        """Search a place (all that fit by default), or what was read so far (`library`)."""
        wanted = [" ".join(query.split()) for query in queries if query.strip()]
        if not wanted:
            raise ConfigError("Give at least one query.", setting="queries", value="")
        async with self.opened() as ctx:
            names = [place.name for place in ctx.outside.places]
            if source not in ("", LIBRARY, *names):
                message = f"There is no source {source!r}. Sources: {', '.join([LIBRARY, *names])}."
                raise ConfigError(message, setting="source", value=source)
            for place in ctx.outside.places if source != LIBRARY else ():
                if source in ("", place.name):
                    for gap in await place.prepare(lambda *_told: None):
                        ctx.report_gap(gap)
            return await self._perform(ctx, name="search", query="\n".join(wanted), source=source)

    async def open(self, what: str, find: str = "") -> Looked:
        """Open a source (s7), its text from a passage (s7p3) or an address; find words."""
        is_address = what.startswith(("http://", "https://"))
        async with self.opened([what] if is_address else ()) as ctx:
            return await self._perform(ctx, name="open", source=what.strip("[] "), query=find)

    async def _perform(self, ctx: RunContext, **asked: Any) -> Looked:
        (seen,) = await search.perform(ctx, [Action(id=f"d{secrets.token_hex(6)}", **asked)])
        return await asyncio.to_thread(show_looked, self._store.run_id, seen, ctx.library)

    async def add_note(self, text: str) -> Noted:
        """Keep a note of the agent: Markdown that cites passage ids."""
        async with self.opened() as ctx:
            return await in_worker_thread(self._add_note, ctx, text)

    def _add_note(self, ctx: RunContext, text: str) -> Noted:
        kept = ctx.journal.notes(_NOTE)
        if sum(map(len, kept.values())) + len(text) > _MOST_NOTED:
            message = f"The notes of a session hold at most {_MOST_NOTED:,} characters. Begin another one."
            raise ConfigError(message, setting="note", value=len(text))
        number = len(kept) + 1
        ctx.journal.note(_NOTE, str(number), clean_report(text))
        unknown = tuple(key for key in cited_ids(text) if ctx.library.passage(key) is None)
        return Noted(run_id=self._store.run_id, notes=number, unknown=unknown)

    async def verify_report(self, text: str, start: int = 0) -> CheckedReport:
        """Verify a report that cites passage ids or pages; "" shows more of the last one."""
        if not text.strip():
            async with self.opened() as ctx:
                return await in_worker_thread(lambda: self._part(ctx, _kept(ctx), start))
        await in_worker_thread(check_size, text)
        text = await in_worker_thread(lambda: normalize_citations(unwrap_report(text.strip())))
        async with self.opened(await in_worker_thread(cited_addresses, text)) as ctx:
            cited, unread = await cite_passages(ctx, text, by_documents=False)
            given = await in_worker_thread(self._assignment, ctx, cited)
            found = await verify.verify(ctx, given, cited, unread=unread)
            return await in_worker_thread(self._keep, ctx, _Kept(text=cited, verification=found), start)

    async def record_verdicts(self, verdicts: Sequence[GivenVerdict]) -> CheckedReport:
        """Record an agent's own verdicts on the statements of the report it had verified."""
        async with self.opened() as ctx:
            return await in_background(self._take_in, ctx, verdicts)

    def _take_in(self, ctx: RunContext, verdicts: Sequence[GivenVerdict]) -> CheckedReport:
        kept = _kept(ctx)
        given = {one.statement: one for one in verdicts}
        known = {claim.id: claim for claim in kept.verification.claims}
        _check_verdicts(given, known, ctx.library)
        claims = tuple(
            claim.model_copy(update={"verdict": Verdict(kind=one.verdict, reason=one.reason, by_model=True)})
            if (one := given.get(claim.id))
            else claim
            for claim in kept.verification.claims
        )
        problems = [p for p in kept.verification.problems if p.claim not in given]
        problems += [problem_of(one, known[one.statement]) for one in given.values() if one.verdict != "supported"]
        found = kept.verification.model_copy(update={"claims": claims, "problems": tuple(problems)})
        return self._keep(ctx, _Kept(text=kept.text, verification=found), len(claims))

    def _keep(self, ctx: RunContext, kept: _Kept, start: int) -> CheckedReport:
        ctx.journal.note(_CHECKED, "", kept.model_dump_json())
        return self._part(ctx, kept, start)

    async def export_report(self, to: str) -> Export:
        """Make the report that was verified last the run's, and return it in a format."""
        async with self.opened() as ctx:
            report = await assemble(ctx, await in_background(lambda: self._finished(ctx, _kept(ctx))))
            made = await in_export(export_report, self._store, report, to)
            await in_background(self._store.save_result, report)
            told = {"title": report.title, "is_answered": report.answered, "seconds": ctx.log.seconds}
            self._run.note(status="finished", waiting_for="", **told)
        return made

    def _finished(self, ctx: RunContext, kept: _Kept) -> Finished:
        given = self._assignment(ctx, kept.text)
        notes = "\n\n".join(ctx.journal.notes(_NOTE).values())
        sources = dict.fromkeys(key.partition("p")[0] for key in cited_ids(notes))
        section = Section(title=given.brief.title, status="completed", content=notes, sources=tuple(sources))
        return Finished(
            question=given.question,
            original=self._run.question,
            analysis=given.analysis,
            decision=Decision(next_action="START_RESEARCH", confidence=1.0),
            brief=given.brief,
            sections=(section,) if notes else (),
            text=kept.text,
            verification=kept.verification,
        )

    def _assignment(self, ctx: RunContext, text: str) -> Assignment:
        question = Question(text=self._run.question, language=self._run.language)
        return assignment_of(question, report_title(text), text, ctx.library)

    def _part(self, ctx: RunContext, kept: _Kept, start: int) -> CheckedReport:
        claims, problems = kept.verification.claims, kept.verification.problems
        shown = claims[start : start + _STATEMENTS]
        named = {claim.id for claim in shown}
        if start == 0 or start >= len(claims):
            named.add("")  # problems of the whole
        ids = dict.fromkeys(key for claim in shown for key in claim.passages)
        told = [copy_fields(CheckedStatement, c, verdict=c.verdict.kind, reason=c.verdict.reason) for c in shown]
        return CheckedReport(
            run_id=self._store.run_id,
            counts=verdict_counts(kept.verification),
            is_judged=any(claim.verdict.by_model for claim in claims),
            open_statements=sum(bool(c.passages) and not c.verdict.by_model for c in claims),
            statements=tuple(told),
            problems=tuple(copy_fields(FoundProblem, p, statement=p.claim) for p in problems if p.claim in named),
            passages=tuple(show_passage(key, ctx.library) for key in ids),
            next=start + _STATEMENTS if start + _STATEMENTS < len(claims) else None,
        )


async def _hold(store: RunStore, stack: AsyncExitStack) -> None:
    """Hold a run until `stack` ends, once nobody else does. Raises RunBusy."""
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        with nullcontext() if time.monotonic() > until else suppress(RunBusy):
            return await stack.enter_async_context(held_beside(store.held()))
        await asyncio.sleep(_LOOK_SECONDS)


def _kept(ctx: RunContext) -> _Kept:
    kept = ctx.journal.notes(_CHECKED).get("")
    if kept is None:
        raise ConfigError("Hand a report in first: verify_report.", setting="report", value="")
    return _Kept.model_validate_json(kept)


def _check_verdicts(given: Mapping[str, GivenVerdict], known: Mapping[str, Claim], library: Library) -> None:
    for key, one in given.items():
        if key not in known:
            message = f"There is no statement {key!r}."
        elif one.verdict == "supported" and not known[key].passages:
            message = f"The statement {key!r} cites no passage that could support it."
        elif missing := [p for p in one.passages if library.passage(p) is None]:
            message = f"There is no passage {missing[0]!r}."
        else:
            continue
        raise ConfigError(message, setting="verdicts", value="")
