"""The thoughts at the end: do the sections suffice, and what stands around them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from deep_research.data import (
    Brief,
    Claim,
    Composition,
    ModelMessage,
    QueryAnalysis,
    Question,
    Review,
    Section,
    SectionReview,
)
from deep_research.ports import Library
from deep_research.reasoners.model.answers import (
    ComposeAnswer,
    ReportWork,
    ReviewAnswer,
    SectionReviewAnswer,
)
from deep_research.reasoners.model.conversation import remarked
from deep_research.reasoners.model.fitting import fitted
from deep_research.reasoners.model.nouns import review_of
from deep_research.reasoners.model.showing import for_review
from deep_research.reasoners.model.thinker import Thinker, told, user
from deep_research.text.budget import estimate_tokens

_R = TypeVar("_R")
_REPORT_TOKENS = 4096


class Reporting(Thinker):
    """The thoughts at the end: do the sections suffice, and what stands around them."""

    async def review_section(
        self, section: Section, brief: Brief, claims: Sequence[Claim], library: Library
    ) -> SectionReview:
        """See `ports.Reasoner.review_section`."""
        prompt = self._render("review_section", section=section, written=for_review(section, claims, library))
        messages = [self._system(brief.question or brief.title, brief.language, brief), told(prompt, brief)]

        async def think() -> SectionReview:
            answer = await self._ask.structured("review", messages, SectionReviewAnswer, max_output_tokens=1000)
            return SectionReview(
                title=section.title,
                status=answer.status,
                notes=answer.notes,
                score=answer.score,
                retry=answer.search_again,
            )

        async def enough() -> SectionReview:
            return SectionReview(title=section.title, status="sufficient")

        return await self._or_else(
            f"review: {section.title}",
            think(),
            lambda: self._fallback.review_section(section, brief, claims, library),
            enough,
        )

    async def review(
        self, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
    ) -> Review:
        """See `ports.Reasoner.review`. It begins as composing does, so that providers' caches hit."""
        rows = [for_review(section, claims, library) for section in sections]

        async def make(shown: Sequence[dict[str, str]]) -> ReviewAnswer:
            messages = self._sections_shown("review", brief, shown, rows=rows)
            return await self._ask.structured(
                "review", messages, ReviewAnswer, max_output_tokens=2500, asked_as=ReportWork
            )

        async def think() -> Review:
            return review_of(await self._fitted(brief, sections, make))

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

        async def make(shown: Sequence[dict[str, str]]) -> ComposeAnswer:
            messages = self._sections_shown("compose", brief, shown, output_format=analysis.output_format)
            return await self._ask.structured("report", messages, ComposeAnswer, asked_as=ReportWork)

        async def think() -> Composition:
            if not any(s.content for s in sections):
                return Composition()
            answer = await self._fitted(brief, sections, make)
            return Composition(abstract=answer.abstract, conclusion=answer.conclusion, table=answer.table)

        return await self._or_else(
            "report",
            think(),
            lambda: self._fallback.compose(question, analysis, brief, sections, claims, library),
        )

    def _sections_shown(
        self, prompt: str, brief: Brief, shown: Sequence[dict[str, str]], **values: object
    ) -> list[ModelMessage]:
        """A conversation that begins with the texts of all sections."""
        system = self._system(brief.question or brief.title, brief.language, brief)
        remarks = [user(remarked(brief.remarks))] if brief.remarks else []
        return [system, *remarks, user(self._render(prompt, title=brief.title, sections=shown, **values))]

    async def _fitted(
        self, brief: Brief, sections: Sequence[Section], make: Callable[[Sequence[dict[str, str]]], Awaitable[_R]]
    ) -> _R:
        """`make` with the sections that have a text, trimmed where they are too long together."""
        written = [s for s in sections if s.content]
        system = self._system(brief.question or brief.title, brief.language, brief)
        room = max(_REPORT_TOKENS, self._context_tokens - estimate_tokens(system.text) - 2 * _REPORT_TOKENS)

        async def shown(texts: Sequence[str]) -> _R:
            return await make([{"title": s.title, "content": t} for s, t in zip(written, texts, strict=True)])

        return await fitted([s.content for s in written], room, shown)
