"""Model calls before the research: decide, analyse, name entities, plan sections."""

from collections.abc import Mapping, Sequence
from typing import Any

from deep_research.conversation.plan_edits import format_numbered
from deep_research.data import (
    Action,
    Brief,
    Decision,
    Discovery,
    Message,
    Passage,
    PlanEdit,
    QueryAnalysis,
    Question,
    Section,
    Template,
    Term,
    Turn,
)
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import language_name
from deep_research.ports import Library
from deep_research.reasoners.model.answer_mapping import (
    analysis_of,
    brief_of,
    decision_of,
    discovery_of,
    plan_edits_of,
    revised_brief,
    with_founded_titles,
)
from deep_research.reasoners.model.answer_schemas import (
    AnalyzeAnswer,
    DecideAnswer,
    EntitiesAnswer,
    PlanAnswer,
    PlanEditsAnswer,
    RevisedPlanAnswer,
)
from deep_research.reasoners.model.base import Thinker, user
from deep_research.reasoners.model.prompt_views import fenced
from deep_research.reasoners.model.research_turns import actions_of, messages_of, shortened
from deep_research.reasoners.model.structured_calls import shrinking
from deep_research.text.prompt_fencing import clean, fence
from deep_research.text.token_count import take_within_budget

_TURNS, _TURN_CHARS = 12, 1500
"""How much of a conversation is shown: its last turns, the beginning of each."""


class Intake(Thinker):
    """The thoughts of the front door: is the question understood, and what kind of question is it."""

    async def decide(
        self, question: Question, *, rounds: int, terms: Sequence[Term] = (), template: Template | None = None
    ) -> Decision:
        """See `ports.Reasoner.decide`. Terms that were looked up stand at the end: what was sent before stays a prefix."""
        prompt = self._render(
            "decide",
            date=self._date,
            conversation=told(question.history),
            message=question.text,
            rounds=rounds,
            max_rounds=self._max_rounds,
            language=language_name(question.language),
            style=phrase("writing_style", question.language),
            template=template,
            terms=[_shown(term) for term in terms],
            places=", ".join(self._places),
        )

        async def think() -> Decision:
            answer = await self._ask.structured("research", [user(prompt)], DecideAnswer, max_output_tokens=1500)
            return decision_of(answer, question)

        return await self._or_else(
            "intake", think(), lambda: self._fallback.decide(question, rounds=rounds, terms=terms, template=template)
        )

    async def analyze(self, question: Question) -> QueryAnalysis:
        prompt = self._render("analyze", question=question.text, focus=())

        async def think() -> QueryAnalysis:
            answer = await self._ask.structured("research", [user(prompt)], AnalyzeAnswer, max_output_tokens=800)
            return analysis_of(answer)

        return await self._or_else("analysis", think(), lambda: self._fallback.analyze(question))


def told(history: Sequence[Message]) -> list[Message]:
    """Return the last turns of a conversation for a prompt: what a report quoted in them cannot forge delimiters."""
    return [m.model_copy(update={"text": clean(m.text)[:_TURN_CHARS]}) for m in history[-_TURNS:]]


def _shown(term: Term) -> dict[str, object]:
    """A looked-up term with the text that uses it between delimiters."""
    text = ""
    if term.found:
        source = term.passage.partition("p")[0]
        bare = Passage(id=term.passage, source=source, sha256="", start=0, end=0, text=term.meaning)
        text = fence(bare, title=term.title)
    return {"name": clean(term.term), "passage": text, "searched": term.searched}


def _outline_row(section: Section, found: Sequence[Passage], library: Library, budget: int) -> dict[str, object]:
    """Return a section as `revise_plan` shows it, with the beginnings of what was found for it."""
    seen = ((short, short) for passage in found if (short := shortened(passage, library)))
    return {
        "title": section.title,
        "description": section.description,
        "covers": section.covers,
        "queries": section.queries,
        "found": "\n".join(take_within_budget(seen, budget)) if found else "",
    }


_FIRST_LOOK_TOKENS = 1500
_LEAST_SECTIONS = 3
"""Sections of a plan; one with fewer is asked for once more."""


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
                text = self._plan_prompt(
                    question, analysis, decision, discovery, "\n".join(take_within_budget(seen, budget))
                )
                messages = [self._system(question.text, question.language, parts=analysis.parts), user(text)]
                made = await self._ask.structured("research", messages, PlanAnswer)
                least = min(_LEAST_SECTIONS, self._max_sections)
                if (count := len({s.title.casefold() for s in made.sections})) >= least:
                    return made
                again = user(f"{text}\n\n{self._render('plan_again', count=count, least=least)}")
                fuller = await self._ask.structured("research", [messages[0], again], PlanAnswer)
                return fuller if len(fuller.sections) > count else made

            answer = await shrinking(_FIRST_LOOK_TOKENS, make)
            made = brief_of(answer, question, analysis, decision, discovery, self._max_sections)
            return with_founded_titles(made, question, [p.text for p in passages], discovery)

        return await self._or_else(
            "plan",
            think(),
            lambda: self._fallback.plan(question, analysis, decision, discovery, passages, library),
        )

    async def revise_plan(self, brief: Brief, found: Mapping[str, Sequence[Passage]], library: Library) -> Brief:
        """See `ports.Reasoner.revise_plan`; after WebWeaver's dynamic outline (arXiv 2509.13312)."""

        async def make(budget: int) -> RevisedPlanAnswer:
            each = budget // max(1, len(brief.sections))
            rows = [_outline_row(section, found.get(section.title, ()), library, each) for section in brief.sections]
            most = max(self._max_sections, len(brief.sections))
            values = {"title": brief.title, "objective": brief.objective, "rows": rows, "max_sections": most}
            messages = [
                self._system(brief.question or brief.title, brief.language, brief),
                user(self._render("revise_plan", **values)),
            ]
            return await self._ask.structured("research", messages, RevisedPlanAnswer)

        async def think() -> Brief:
            answer = await shrinking(self._passage_tokens, make)
            texts = [passage.text for passages in found.values() for passage in passages]
            return revised_brief(answer, brief, texts, max(self._max_sections, len(brief.sections)))

        return await self._or_else("plan", think(), lambda: self._fallback.revise_plan(brief, found, library))

    async def read_plan_edits(self, answer: str, brief: Brief) -> Sequence[PlanEdit]:
        """See `ports.Reasoner.read_plan_edits`. The model reads; code makes the changes."""
        prompt = self._render("edit_plan", plan=format_numbered(brief), message=clean(answer)[:_TURN_CHARS])

        async def think() -> Sequence[PlanEdit]:
            read = await self._ask.structured("research", [user(prompt)], PlanEditsAnswer, max_output_tokens=1500)
            return plan_edits_of(read, answer)

        return await self._or_else("plan", think(), lambda: self._fallback.read_plan_edits(answer, brief))

    def _plan_prompt(
        self, question: Question, analysis: QueryAnalysis, decision: Decision, discovery: Discovery | None, fenced: str
    ) -> str:
        values: dict[str, Any] = {
            "query_type": analysis.query_type,
            "output_format": analysis.output_format,
            "focus": decision.research_focus,
            "assumptions": decision.assumptions,
            "wants_advice": analysis.wants_advice,
            "depth": self._depth,
            "passages": fenced,
            "max_sections": self._max_sections,
        }
        if discovery is not None and discovery.entities:
            return self._render("plan_from_discovery", entities=discovery.entities, **values)
        if question.history:
            return self._render("plan_from_clarification", conversation=told(question.history), **values)
        return self._render("plan_from_query", **values)
