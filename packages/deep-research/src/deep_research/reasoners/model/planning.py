"""Model calls before research: decide, name entities, plan, read plan changes."""

from collections.abc import Sequence

from claimcheck.language import language_name
from deep_research.conversation.plan_outline import format_numbered
from deep_research.data import (
    MIN_SECTIONS,
    Action,
    Brief,
    Clarification,
    Decision,
    DiscoveredItem,
    Discovery,
    Message,
    ModelMessage,
    Passage,
    PlanEdit,
    QueryAnalysis,
    Question,
    Section,
    Template,
    Term,
    Turn,
)
from deep_research.data.noun import copy_fields
from deep_research.errors import MalformedOutput
from deep_research.ports import Library
from deep_research.reasoners.model.answers import DecideAnswer, EntitiesAnswer, PlanAnswer, PlanEditsAnswer, SectionPlan
from deep_research.reasoners.model.base import ModelReasonerBase, or_fallback, system, user
from deep_research.reasoners.model.conversation import actions_of, messages_of
from deep_research.reasoners.model.passage_views import show_passages, within_tokens
from deep_research.text.prompt_fencing import clean

_TURNS, _TURN_CHARS = 12, 1_500
"""How much of a conversation is shown: its last turns, the beginning of each."""
_FIRST_LOOK_TOKENS = 2_500
_UNSURE = 0.4
_MOST_PARTS, _MOST_QUERIES = 20, 4


class Planning(ModelReasonerBase):
    """The thoughts before research: understanding, looking around, planning."""

    @or_fallback("intake")
    async def decide(
        self, question: Question, *, rounds: int, terms: Sequence[Term] = (), template: Template | None = None
    ) -> Decision:
        """See `ports.Reasoner.decide`. The same answer says what kind of question it is."""
        prompt = self._render(
            "decide",
            date=self._date,
            conversation=_shown_turns(question.history),
            message=clean(question.text),
            rounds=rounds,
            max_rounds=self._settings.max_clarification_rounds,
            language=language_name(question.language),
            template=_told_template(template) if template else "",
            terms="\n".join(_told_term(term) for term in terms),
            places="; ".join(self._places),
        )
        try:
            answer = await self._ask.structured("research", [user(prompt)], DecideAnswer)
        except MalformedOutput:
            self._undecided.add(question.text)
            raise
        if answer.asks_several:
            said = ModelMessage(role="assistant", text=answer.model_dump_json())
            asked = [user(prompt), said, user("Judge again; ask one question only, about what matters most.")]
            answer = await self._ask.structured("research", asked, DecideAnswer)
        return decision_of(answer, question)

    async def analyze(self, question: Question) -> QueryAnalysis:
        """See `ports.Reasoner.analyze`: for a question of which `decide` has not said it."""
        if question.text in self._undecided:  # asked for already, without a fitting answer
            return await self._fallback.analyze(question)
        decided = await self.decide(question, rounds=self._settings.max_clarification_rounds)
        return decided.analysis if decided.analysis is not None else await self._fallback.analyze(question)

    @or_fallback("discovery")
    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """Choose searches as `ports.Reasoner` says; the first query is the question.

        The first look needs no model.
        """
        if not turns:
            return await self._fallback.discover_actions(question, analysis, turns, library)
        if analysis.query_type != "list":
            return []
        task = self._render("discover", target=analysis.discovery_target, places=self._places)
        head = [system(task), user(clean(question.text))]

        async def make(budget: int) -> Sequence[Action]:
            seen = messages_of(turns, library, budget=budget)
            answer = await self._ask.act("research", [*head, *seen], self._tools)
            return actions_of(answer, f"d{len(turns)}", self._tools)

        return await self._within_window(self._window // 2, make)

    @or_fallback("discovery")
    async def entities(
        self, question: Question, analysis: QueryAnalysis, passages: Sequence[Passage], library: Library
    ) -> Discovery:
        async def make(budget: int) -> EntitiesAnswer:
            shown = show_passages(within_tokens(passages, budget), library) if passages else ""
            text = self._render("entities", target=analysis.discovery_target, passages=shown)
            return await self._ask.structured("read", [user(text)], EntitiesAnswer)

        return discovery_of(await self._within_window(min(12_000, self._window // 2), make), library)

    @or_fallback("plan")
    async def plan(
        self,
        question: Question,
        analysis: QueryAnalysis,
        decision: Decision,
        discovery: Discovery | None,
        passages: Sequence[Passage],
        library: Library,
    ) -> Brief:
        """See `ports.Reasoner.plan`: from the query, a clarification, or a discovery."""

        async def make(budget: int) -> PlanAnswer:
            shown = show_passages(within_tokens(passages, budget), library) if passages and budget else ""
            text = self._render(
                "plan",
                date=self._date,
                question=clean(question.text),
                conversation=_shown_turns(question.history),
                query_type=analysis.query_type,
                output_format=analysis.output_format,
                focus=decision.research_focus,
                assumptions=decision.assumptions,
                entities=[_told_item(item) for item in discovery.entities] if discovery else (),
                passages=shown,
                max_sections=self._most_sections,
                depth=self._settings.depth,
                language=language_name(question.language),
            )
            answer = await self._ask.structured("research", [user(text)], PlanAnswer)
            if not MIN_SECTIONS <= len(answer.sections) <= self._most_sections:
                said = ModelMessage(role="assistant", text=answer.model_dump_json())
                asked = [user(text), said, user(f"Plan again; {MIN_SECTIONS} to {self._most_sections} sections.")]
                answer = await self._ask.structured("research", asked, PlanAnswer)
            return answer

        answer = await self._within_window(min(_FIRST_LOOK_TOKENS, self._window // 4), make)
        return brief_of(answer, question, analysis, decision, discovery)

    @or_fallback("plan")
    async def read_plan_edits(self, answer: str, brief: Brief) -> Sequence[PlanEdit]:
        """See `ports.Reasoner.read_plan_edits`. The model reads; code makes the changes."""
        prompt = self._render("edit_plan", plan=format_numbered(brief), message=clean(answer)[:_TURN_CHARS])
        read = await self._ask.structured("research", [user(prompt)], PlanEditsAnswer)
        return tuple(
            copy_fields(PlanEdit, edit, text=edit.text.strip(), detail=edit.detail.strip(), said=answer)
            for edit in read.edits
        )


def decision_of(answer: DecideAnswer, question: Question) -> Decision:
    """Return what intake decided.

    Who asks and names no goal is sure of asking, not of the question: such an answer counts as unsure. Of who asks
    several things at once no question is taken.
    """
    asks = bool(answer.question.strip())
    lost = answer.next_action == "NEED_CLARIFICATION" and asks and not answer.goal.strip()
    clarification = Clarification(
        question=answer.question.strip(), options=_distinct(answer.options), missing_info=answer.missing_info
    )
    return copy_fields(
        Decision,
        answer,
        confidence=min(answer.confidence, _UNSURE) if lost else answer.confidence,
        research_focus=_distinct(answer.research_focus),
        unknown_terms=_distinct(answer.unknown_terms),
        refined_question=answer.refined_question.strip() or question.text,
        clarification=clarification if asks and not answer.asks_several else None,
        assumptions=_distinct(answer.assumptions),
        analysis=copy_fields(QueryAnalysis, answer, parts=_distinct(answer.parts)[:_MOST_PARTS]),
    )


def discovery_of(answer: EntitiesAnswer, library: Library) -> Discovery:
    """Return the entities that a passage names: another one was not found."""
    items: list[DiscoveredItem] = []
    for entity in answer.entities:
        known = tuple(key for said in entity.passages if library.passage(key := said.strip("[] ")) is not None)
        if known:
            source = library.source(known[0].partition("p")[0])
            title, urls = (source.title, (source.url,) if source.url else ()) if source else ("", ())
            items.append(copy_fields(DiscoveredItem, entity, source=title, urls=urls, passages=known))
    return copy_fields(Discovery, answer, entities=tuple(items))


def brief_of(
    answer: PlanAnswer,
    question: Question,
    analysis: QueryAnalysis,
    decision: Decision,
    discovery: Discovery | None,
) -> Brief:
    """Return the plan."""
    names = {e.name.casefold(): e.name for e in discovery.entities} if discovery else {}
    return Brief(
        title=" ".join(answer.title.split()) or question.text,
        objective=answer.objective.strip() or answer.brief,
        instruction=answer.brief.strip(),
        scope=answer.scope,
        assumptions=decision.assumptions,
        language=question.language,
        output_format=analysis.output_format,
        sections=_sections(answer.sections, names),
        parts=analysis.parts,
    )


def _sections(plans: Sequence[SectionPlan], names: dict[str, str]) -> tuple[Section, ...]:
    return tuple(
        Section(
            title=" ".join(planned.title.split()),
            description=planned.description,
            queries=_distinct(planned.queries)[:_MOST_QUERIES],
            subject=names.get(planned.title.strip().casefold(), ""),
        )
        for planned in plans
    )


def _distinct(texts: Sequence[str]) -> tuple[str, ...]:
    """Return each text once, on one line, without the empty ones."""
    return tuple(dict.fromkeys(line for text in texts if (line := " ".join(text.split()))))


def _shown_turns(history: Sequence[Message]) -> str:
    """Return a conversation's last turns, so that quotes cannot forge delimiters."""
    return "\n".join(f"{m.role}: {clean(m.text)[:_TURN_CHARS]}" for m in history[-_TURNS:])


def _told_term(term: Term) -> str:
    """Return the outcome of looking up a term, with a text using it, delimited."""
    name = f'"{clean(term.term)}"'
    if term.found:
        return f'{name} was found:\n<source title="{clean(term.title)}">\n{clean(term.meaning)}\n</source>'
    return f"{name} was not found anywhere." if term.searched else f"{name} could not be looked up."


def _told_template(template: Template) -> str:
    """Return what a template suggests, and what it asks when something is missing."""
    asked = (
        f"to ask when the {one.missing_info} is missing: {one.question}"
        + (f" ({'; '.join(one.options)})" if one.options else "")
        for one in template.clarifications
    )
    return "\n".join([*(f"- {point}" for point in template.focus), *asked])


def _told_item(item: DiscoveredItem) -> str:
    kind = f" ({item.category})" if item.category else ""
    return f"{item.name}{kind}: {item.brief} (priority {item.priority})"
