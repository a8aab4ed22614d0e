"""The thoughts at the end: do the sections suffice, and what stands around them."""

from collections.abc import Sequence

from deep_research.data import (
    Brief,
    Claim,
    Composition,
    QueryAnalysis,
    Question,
    Review,
    Section,
    SectionReview,
)
from deep_research.ports import Library
from deep_research.reasoners.model.answers import (
    ComposeAnswer,
    ReviewAnswer,
)
from deep_research.reasoners.model.fitting import fitted
from deep_research.reasoners.model.showing import for_review
from deep_research.reasoners.model.thinker import Thinker, user
from deep_research.text.budget import estimate_tokens

_REPORT_TOKENS = 4096


class Reporting(Thinker):
    """The thoughts at the end: do the sections suffice, and what stands around them."""

    async def review(
        self, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
    ) -> Review:
        """See `ports.Reasoner.review`."""
        rows = [for_review(section, claims) for section in sections]
        messages = [
            self._system(brief.question or brief.title, brief.language, brief),
            user(self._render("review", sections=rows)),
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
            return await self._ask.structured("report", [system, user(prompt)], ComposeAnswer)

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
