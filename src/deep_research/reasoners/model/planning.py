"""The thoughts before the research: looking around, naming entities, laying out sections."""

from collections.abc import Sequence
from typing import Any

from deep_research.data import (
    Action,
    Brief,
    Decision,
    Discovery,
    Passage,
    QueryAnalysis,
    Question,
    Turn,
)
from deep_research.ports import Library
from deep_research.reasoners.model.answers import (
    EntitiesAnswer,
    PlanAnswer,
)
from deep_research.reasoners.model.ask import shrinking
from deep_research.reasoners.model.conversation import actions_of, messages_of, shortened
from deep_research.reasoners.model.intake import told
from deep_research.reasoners.model.nouns import brief_of, discovery_of
from deep_research.reasoners.model.showing import fenced
from deep_research.reasoners.model.thinker import Thinker, user
from deep_research.text.budget import within

_FIRST_LOOK_TOKENS = 1500


class Planning(Thinker):
    """The thoughts before the research: looking around, naming entities, laying out sections."""

    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """See `ports.Reasoner.discover_actions`. The first look needs no model: the question is the query."""
        if not turns:
            return await self._fallback.discover_actions(question, analysis, turns, library)
        if analysis.query_type != "list":
            return []
        task = self._render("discover", target=analysis.discovery_target, places=self._places)
        head = [self._system(question.text, question.language), user(task)]

        async def make(budget: int) -> Sequence[Action]:
            seen = messages_of(turns, library, budget=budget)
            answer = await self._ask.act("research", [*head, *seen], self._tools)
            return actions_of(answer, f"d{len(turns)}", self._outside)

        async def stop() -> Sequence[Action]:
            return []

        return await self._or_else("discovery", shrinking(self._context_tokens // 2, make), stop)

    async def entities(
        self, question: Question, analysis: QueryAnalysis, passages: Sequence[Passage], library: Library
    ) -> Discovery:
        """See `ports.Reasoner.entities`."""

        async def think() -> Discovery:
            async def make(budget: int) -> EntitiesAnswer:
                text = self._render(
                    "entities", target=analysis.discovery_target, passages=fenced(passages, library, budget)
                )
                messages = [self._system(question.text, question.language), user(text)]
                return await self._ask.structured("research", messages, EntitiesAnswer)

            return discovery_of(await shrinking(self._passage_tokens, make), library)

        return await self._or_else(
            "discovery", think(), lambda: self._fallback.entities(question, analysis, passages, library)
        )

    async def plan(
        self,
        question: Question,
        analysis: QueryAnalysis,
        decision: Decision,
        discovery: Discovery | None,
        passages: Sequence[Passage],
        library: Library,
    ) -> Brief:
        """See `ports.Reasoner.plan`; three prompts: from the query, a clarification, or a discovery."""

        async def think() -> Brief:
            async def make(budget: int) -> PlanAnswer:
                seen = ((short, short) for p in passages if (short := shortened(p, library)))
                text = self._plan_prompt(question, analysis, decision, discovery, "\n".join(within(seen, budget)))
                messages = [self._system(question.text, question.language), user(text)]
                return await self._ask.structured("research", messages, PlanAnswer)

            answer = await shrinking(_FIRST_LOOK_TOKENS, make)
            return brief_of(answer, question, analysis, decision, discovery, self._max_sections)

        return await self._or_else(
            "plan",
            think(),
            lambda: self._fallback.plan(question, analysis, decision, discovery, passages, library),
        )

    def _plan_prompt(
        self, question: Question, analysis: QueryAnalysis, decision: Decision, discovery: Discovery | None, fenced: str
    ) -> str:
        values: dict[str, Any] = {
            "query_type": analysis.query_type,
            "output_format": analysis.output_format,
            "focus": decision.research_focus,
            "assumptions": decision.assumptions,
            "passages": fenced,
            "max_sections": self._max_sections,
        }
        if discovery is not None and discovery.entities:
            return self._render("plan_from_discovery", entities=discovery.entities, **values)
        if question.history:
            return self._render("plan_from_clarification", conversation=told(question.history), **values)
        return self._render("plan_from_query", **values)
