"""Prefetch: begin what does not depend on the user's answer while the question is still being judged.

The analysis and the first search need nothing but the user's own words. They begin beside intake, and are handed to
the steps that would have begun them; when the user is asked something they are cancelled, and no event of them is
emitted. Abstract and conclusion begin beside the review of all sections where each was reviewed by itself before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deep_research.data import Action, Composition, Observation, QueryAnalysis, Question
from deep_research.events import Event, GapFound

if TYPE_CHECKING:
    from deep_research.run_context.context import RunContext

_ANY = QueryAnalysis(query_type="general", output_format="prose")


class Prefetch:
    """Work that was begun before it is asked for, at most once in a run, and only where `enabled`."""

    def __init__(self, *, enabled: bool = False) -> None:
        self._enabled = enabled
        self._question: Question | None = None
        self._analysis: asyncio.Task[QueryAnalysis] | None = None
        self._searches: dict[str, asyncio.Task[Observation]] = {}
        self._composed: tuple[tuple[Any, ...], asyncio.Task[Composition]] | None = None
        self._composes = enabled
        self._events: list[Event] = []
        self._ahead: RunContext | None = None

    def begin(self, ctx: "RunContext", question: Question, search: "Search") -> None:
        """Begin the analysis of `question` and its first search, unless there was a conversation before it.

        What it refers to in a conversation is known only after intake.
        """
        if not self._enabled or question.history:
            return
        self._enabled, self._question = False, question
        self._ahead = replace(ctx, emit=self._events.append, gaps=[])
        self._analysis = asyncio.create_task(_analysis(ctx, question))
        self._searches[""] = asyncio.create_task(self._first_search(self._ahead, question, search))

    async def _first_search(self, ahead: "RunContext", question: Question, search: "Search") -> Observation:
        actions = await ahead.reasoner.discover_actions(question, _ANY, [], ahead.library)
        if not actions or actions[0].name != "search":
            return Observation(action="")
        self._searches[actions[0].query] = self._searches.pop("")
        (seen,) = await search(ahead, [actions[0]])
        return seen

    def begin_composition(self, ctx: "RunContext", *about: Any) -> None:
        """Begin the texts around the sections, beside a review that will most likely send none of them back.

        `about` are the arguments of `Reasoner.compose` without the library.
        """
        if self._composes and ctx.reasoner.works_ahead:
            self._composed = about, asyncio.create_task(_composition(ctx, about))

    @property
    def is_composing(self) -> bool:
        """Return whether the texts around the sections were begun ahead."""
        return self._composed is not None

    async def composition(self, ctx: "RunContext", *about: Any) -> Composition:
        """Return the composition that was begun for exactly this, else a new one."""
        begun, self._composed = self._composed, None
        if begun is not None and begun[0] == about:
            return await begun[1]
        await _cancel([begun[1]] if begun is not None else [])
        return await _composition(ctx, about)

    async def drop_composition(self) -> None:
        """Cancel the composition: the sections change."""
        begun, self._composed = self._composed, None
        await _cancel([begun[1]] if begun is not None else [])

    async def analysis(self, question: Question, make: Callable[[], Awaitable[QueryAnalysis]]) -> QueryAnalysis:
        """Return the analysis that was begun for `question`, else what `make` makes."""
        begun, self._analysis = self._analysis, None
        return await (begun if begun is not None and question == self._question else make())

    async def observations(self, ctx: "RunContext", actions: Sequence[Action], search: "Search") -> list[Observation]:
        """Return the observations of `actions`, in their order; a search that was begun is waited for, not made again."""
        begun = {a.id: task for a in actions if a.name == "search" and (task := self._searches.pop(a.query, None))}
        left = [a for a in actions if a.id not in begun]
        made = asyncio.ensure_future(search(ctx, left))
        try:
            seen = {key: (await task).model_copy(update={"action": key}) for key, task in begun.items()}
            if begun:
                self._emit_held_back(ctx)
            seen |= {o.action: o for o in await made}
        finally:
            made.cancel()
        return [seen[a.id] for a in actions]

    def _emit_held_back(self, ctx: "RunContext") -> None:
        """Emit what happened before the work was asked for, and log its gaps."""
        for event in self._events:
            if not isinstance(event, GapFound):
                ctx.emit(event)
        for gap in self._ahead.gaps if self._ahead is not None else ():
            ctx.report_gap(gap)
        self._events.clear()

    async def drop(self) -> None:
        """Cancel what was not asked for; from here on nothing begins beside intake."""
        self._enabled = False
        begun: list[asyncio.Task[Any]] = [t for t in (self._analysis, *self._searches.values()) if t is not None]
        self._analysis, self._searches = None, {}
        await _cancel(begun)
        await self.drop_composition()


async def _cancel(begun: Sequence[asyncio.Task[Any]]) -> None:
    for task in begun:
        task.cancel()
    if begun:
        await asyncio.wait(begun)
    for task in begun:
        if not task.cancelled():
            task.exception()  # seen: it is not asked for any more


Search = Callable[["RunContext", list[Action]], Awaitable[list[Observation]]]
"""Makes searches: `steps.search.perform`."""


async def _analysis(ctx: "RunContext", question: Question) -> QueryAnalysis:
    return await ctx.reasoner.analyze(question)


async def _composition(ctx: "RunContext", about: tuple[Any, ...]) -> Composition:
    question, analysis, brief, sections, claims = about
    return await ctx.reasoner.compose(question, analysis, brief, sections, claims, ctx.library)
