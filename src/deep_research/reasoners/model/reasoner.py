"""The model reasoner: the same thoughts as the extractive one, by prompts with typed answers.

An answer that stays malformed is a gap of its step, and the extractive reasoner does that step instead:
never a crash, never a made-up value.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from deep_research.data import (
    Action,
    Brief,
    Claim,
    Composition,
    Decision,
    Discovery,
    Gap,
    ModelMessage,
    Passage,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Review,
    Section,
    SectionDraft,
    SectionReview,
    Turn,
    Verdict,
)
from deep_research.errors import ContextTooLong, LimitReached, ModelError
from deep_research.ports import Library, Reasoner
from deep_research.prompts import render
from deep_research.reasoners.model import supervising
from deep_research.reasoners.model.answers import (
    AnalyzeAnswer,
    ComposeAnswer,
    DecideAnswer,
    EntitiesAnswer,
    JudgeAnswer,
    PlanAnswer,
    ReviewAnswer,
    RewriteAnswer,
    SectionAnswer,
    SectionWork,
)
from deep_research.reasoners.model.ask import Asker, Complete, shrinking
from deep_research.reasoners.model.conversation import actions_of, messages_of, shortened, tools
from deep_research.reasoners.model.fitting import fitted
from deep_research.reasoners.model.nouns import brief_of, decision_of, discovery_of
from deep_research.reasoners.model.showing import blocks, cited, fenced, for_review, numbered
from deep_research.text.budget import estimate_tokens, within
from deep_research.text.language import language_name

_R = TypeVar("_R")
_Written = tuple[ModelMessage, dict[str, str]]
"""What a section was written from: the system message, and the passages by id, fenced."""
_REPORT_TOKENS = 4096
_FIRST_LOOK_TOKENS = 1500


class ModelReasoner:
    """Implements `ports.Reasoner` with a language model."""

    def __init__(
        self,
        complete: Complete,
        *,
        info: ReasonerInfo,
        fallback: Reasoner,
        places: Sequence[tuple[str, str]],
        date: str,
        max_context_tokens: int,
        compression_target_tokens: int,
        max_tool_calls: int,
        max_sections: int,
        max_clarification_rounds: int,
        max_research_units: int = 5,
        max_researcher_iterations: int = 6,
        retries: int = 2,
        on_gap: Callable[[Gap], object] = lambda _gap: None,
        prompt_folder: Path | None = None,
    ) -> None:
        """`places` are (name, purpose) of what can be searched; `date` is today's, ISO 8601."""
        self.info = info
        self._ask = Asker(complete, retries=retries)
        self._fallback = fallback
        self._places = [f"{name} ({purpose})" for name, purpose in places]
        self._tools = tools([name for name, _ in places])
        self._date = date
        self._context_tokens = max_context_tokens
        self._passage_tokens = compression_target_tokens
        self._max_tool_calls = max_tool_calls
        self._max_sections = max_sections
        self._max_rounds = max_clarification_rounds
        self._max_units = max_research_units
        self._max_rounds_of_delegations = max_researcher_iterations
        self._on_gap = on_gap
        self._written: dict[str, _Written] = {}
        self._proposed: dict[tuple[str, tuple[str, ...]], str] = {}
        self._folder = prompt_folder

    def _render(self, name: str, **values: Any) -> str:
        return render(name, folder=self._folder, **values)

    def _system(self, question: str, language: str, brief: Brief | None = None) -> ModelMessage:
        text = self._render(
            "system",
            date=self._date,
            question=question,
            language=language_name(language),
            objective=brief.objective if brief else "",
            sections=brief.sections if brief else (),
        )
        return ModelMessage(role="system", text=text)

    async def _or_else(
        self,
        step: str,
        think: Awaitable[_R],
        instead: Callable[[], Awaitable[_R]],
        at_ceiling: Callable[[], Awaitable[_R]] | None = None,
    ) -> _R:
        """Return the thought, or what the extractive reasoner thinks when there is no usable answer.

        `at_ceiling` is done instead when the budget is spent: what would only lead to more work.
        """
        try:
            return await think
        except LimitReached as error:
            self._on_gap(Gap(what=step, why=f"{error.message} This step was done without the model."))
            return await (at_ceiling or instead)()
        except ModelError as error:
            self._on_gap(Gap(what=step, why=f"{error.message} This step was done without the model."))
            return await instead()

    # Intake

    async def decide(self, question: Question, *, rounds: int) -> Decision:
        """See `ports.Reasoner.decide`."""
        prompt = self._render(
            "decide",
            date=self._date,
            conversation=question.history,
            message=question.text,
            rounds=rounds,
            max_rounds=self._max_rounds,
            language=language_name(question.language),
        )

        async def think() -> Decision:
            answer = await self._ask.structured("research", [_user(prompt)], DecideAnswer, max_output_tokens=1500)
            return decision_of(answer, question)

        return await self._or_else("intake", think(), lambda: self._fallback.decide(question, rounds=rounds))

    async def analyze(self, question: Question) -> QueryAnalysis:
        """See `ports.Reasoner.analyze`."""
        prompt = self._render("analyze", question=question.text, focus=())

        async def think() -> QueryAnalysis:
            answer = await self._ask.structured("research", [_user(prompt)], AnalyzeAnswer, max_output_tokens=800)
            return QueryAnalysis(**answer.model_dump(exclude={"subjects"}), subjects=tuple(answer.subjects))

        return await self._or_else("analysis", think(), lambda: self._fallback.analyze(question))

    # Looking around

    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """See `ports.Reasoner.discover_actions`. The first look needs no model: the question is the query."""
        if not turns:
            return await self._fallback.discover_actions(question, analysis, turns, library)
        if analysis.query_type != "list":
            return []
        task = self._render("discover", target=analysis.discovery_target, places=self._places)
        head = [self._system(question.text, question.language), _user(task)]

        async def make(budget: int) -> Sequence[Action]:
            seen = messages_of(turns, library, budget=budget)
            answer = await self._ask.act("research", [*head, *seen], self._tools)
            return actions_of(answer, f"d{len(turns)}")

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
                messages = [self._system(question.text, question.language), _user(text)]
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
                messages = [self._system(question.text, question.language), _user(text)]
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
            return self._render("plan_from_clarification", conversation=question.history, **values)
        return self._render("plan_from_query", **values)

    # Sections

    async def next_actions(
        self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """See `ports.Reasoner.next_actions`."""
        task = self._render(
            "research", section=section, notes=section.notes, places=self._places, calls=self._max_tool_calls
        )
        head = [self._system(brief.question or brief.title, brief.language, brief), _user(task)]

        async def make(budget: int) -> Sequence[Action]:
            answer = await self._ask.act("research", [*head, *messages_of(turns, library, budget=budget)], self._tools)
            chosen = actions_of(answer, f"a{section.attempts}t{len(turns)}")
            if turns or any(action.name in ("search", "recall", "read") for action in chosen):
                return chosen
            # Nothing was looked for yet: what the plan suggests is.
            return await self._fallback.next_actions(*_told_plainly(section, brief), turns, library)

        async def stop() -> Sequence[Action]:
            return []

        return await self._or_else(
            f"research: {section.title}",
            shrinking(self._context_tokens // 2, make),
            lambda: self._fallback.next_actions(*_told_plainly(section, brief), turns, library),
            stop if turns else None,
        )

    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """See `ports.Reasoner.delegate`."""
        task = self._render("supervise", units=self._max_units, rounds=self._max_rounds_of_delegations)
        head = [self._system(brief.question or brief.title, brief.language, brief), _user(task)]

        async def make(budget: int) -> Sequence[Action]:
            said = supervising.messages_of(turns, budget=budget)
            answer = await self._ask.act("research", [*head, *said], supervising.TOOLS)
            return supervising.delegations_of(answer, f"r{len(turns) + 1}", first=not turns)

        async def stop() -> Sequence[Action]:
            return []

        return await self._or_else(
            "supervision",
            shrinking(self._context_tokens // 2, make),
            lambda: self._fallback.delegate(brief, sections, turns, library),
            stop if turns else None,
        )

    async def write_section(
        self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
    ) -> SectionDraft:
        """See `ports.Reasoner.write_section`. Without passages there is nothing to write, and nothing is asked."""
        if not passages:
            return SectionDraft(content="")

        async def make(budget: int) -> SectionDraft:
            given = blocks(passages, library, budget)
            text = self._render(
                "write_section",
                section=section,
                passages="\n".join(given.values()),
                output_format=brief.output_format,
            )
            system = self._system(brief.question or brief.title, brief.language, brief)
            answer = await self._ask.structured("write", [system, _user(text)], SectionAnswer, asked_as=SectionWork)
            self._written[section.title] = (system, given)
            return SectionDraft(content=answer.content, key_findings=tuple(answer.key_findings))

        return await self._or_else(
            f"writing: {section.title}",
            shrinking(self._passage_tokens, make),
            lambda: self._fallback.write_section(*_told_plainly(section, brief), passages, library),
        )

    # Judging

    async def judge(self, claims: Sequence[Claim], library: Library) -> Sequence[Verdict]:
        """See `ports.Reasoner.judge`. Raises ModelError: the check step then leaves the claims unverified."""
        answer = await self._judged(claims, library, self._written.get(claims[0].section))
        given = {v.number: v for v in answer.verdicts}
        for number, claim in enumerate(claims, 1):
            if number in given and given[number].verdict != "supported":
                self._proposed[claim.text, claim.passages] = given[number].instead
        missing = Verdict(kind="unverified", reason="the judge gave no verdict")
        return [
            Verdict(kind=given[n].verdict, reason=given[n].reason[:200]) if n in given else missing
            for n in range(1, len(claims) + 1)
        ]

    async def _judged(self, claims: Sequence[Claim], library: Library, written: "_Written | None") -> JudgeAnswer:
        """Judge after the very prompt that the section was written from; where that is too long, in smaller parts."""
        system, shown = written or (None, {})
        more = {key: block for key, block in cited(claims, library).items() if key not in shown}
        prompt = self._render("judge", passages="\n".join([*shown.values(), *more.values()]), claims=numbered(claims))
        messages = [*([system] if system else []), _user(prompt)]
        try:
            return await self._ask.structured("judge", messages, JudgeAnswer, asked_as=SectionWork)
        except ContextTooLong:
            if written is not None:
                return await self._judged(claims, library, None)
            if len(claims) < 2:
                raise
        half = len(claims) // 2
        first = await self._judged(claims[:half], library, None)
        second = await self._judged(claims[half:], library, None)
        moved = [v.model_copy(update={"number": v.number + half}) for v in second.verdicts]
        return JudgeAnswer(verdicts=[*(v for v in first.verdicts if v.number <= half), *moved])

    async def rewrite(self, claims: Sequence[Claim], library: Library) -> Sequence[str]:
        """See `ports.Reasoner.rewrite`. What the judge proposed is not asked for again.

        Raises ModelError: the check step then cuts the claims.
        """
        texts = {c: self._proposed[c.text, c.passages] for c in claims if (c.text, c.passages) in self._proposed}
        left = [claim for claim in claims if claim not in texts]
        if left:
            shown = "\n".join(cited(left, library).values())
            prompt = self._render("rewrite", passages=shown, claims=numbered(left))
            answer = await self._ask.structured("judge", [_user(prompt)], RewriteAnswer, max_output_tokens=2000)
            given = {s.number: s.text for s in answer.statements}
            texts |= {claim: given.get(number, "") for number, claim in enumerate(left, 1)}
        return [texts[claim] for claim in claims]

    async def review(
        self, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
    ) -> Review:
        """See `ports.Reasoner.review`."""
        rows = [for_review(section, claims) for section in sections]
        messages = [
            self._system(brief.question or brief.title, brief.language, brief),
            _user(self._render("review", sections=rows)),
        ]

        async def think() -> Review:
            answer = await self._ask.structured("review", messages, ReviewAnswer, max_output_tokens=2500)
            return Review(
                is_sufficient=answer.is_sufficient,
                overall_score=answer.overall_score,
                section_coverage=tuple(SectionReview(**row.model_dump()) for row in answer.section_coverage),
                gaps=tuple(answer.gaps),
                sections_to_retry=() if answer.is_sufficient else tuple(answer.sections_to_retry),
                reasoning=answer.reasoning,
            )

        async def enough() -> Review:
            return Review(is_sufficient=True, overall_score=5)

        return await self._or_else(
            "review", think(), lambda: self._fallback.review(brief, sections, claims, library), enough
        )

    async def compose(
        self,
        question: Question,
        analysis: QueryAnalysis,
        brief: Brief,
        sections: Sequence[Section],
        claims: Sequence[Claim],
        library: Library,
    ) -> Composition:
        """See `ports.Reasoner.compose`."""
        written = [s for s in sections if s.content]
        system = self._system(brief.question or brief.title, brief.language, brief)
        room = max(_REPORT_TOKENS, self._context_tokens - estimate_tokens(system.text) - 2 * _REPORT_TOKENS)

        async def make(texts: Sequence[str]) -> ComposeAnswer:
            rows = [{"title": s.title, "content": text} for s, text in zip(written, texts, strict=True)]
            prompt = self._render("compose", title=brief.title, output_format=analysis.output_format, sections=rows)
            return await self._ask.structured("report", [system, _user(prompt)], ComposeAnswer)

        async def think() -> Composition:
            if not written:
                return Composition()
            answer = await fitted([s.content for s in written], room, make)
            return Composition(abstract=answer.abstract, conclusion=answer.conclusion, table=answer.table)

        return await self._or_else(
            "report",
            think(),
            lambda: self._fallback.compose(question, analysis, brief, sections, claims, library),
        )


def _told_plainly(section: Section, brief: Brief) -> tuple[Section, Brief]:
    """A model's section for the extractive reasoner, which goes by words: what it is about stands in its title."""
    about = section.model_copy(update={"subject": section.subject or section.title})
    return about, brief.model_copy(update={"title": f"{section.title} {' '.join(section.queries)}"})


def _user(text: str) -> ModelMessage:
    return ModelMessage(role="user", text=text)
