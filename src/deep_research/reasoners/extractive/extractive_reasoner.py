"""The extractive reasoner: thinks with rules, ranks, picks, orders and quotes; never invents a sentence.

Its parts are imported where they are called: beside a model it only chooses searches, unless the model fails.
"""

# ruff: noqa: PLC0415

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from deep_research.concurrency import side_by_side
from deep_research.data import (
    Action,
    Brief,
    Claim,
    Composition,
    Decision,
    Discovery,
    Passage,
    PlanEdit,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Review,
    Section,
    SectionDraft,
    SectionReview,
    Template,
    Term,
    Turn,
    Verdict,
)
from deep_research.i18n.catalog import phrase
from deep_research.ports import Library, Ranker
from deep_research.reasoners.extractive import query_selection

if TYPE_CHECKING:
    from deep_research.reasoners.extractive.question_reading import Order


class ExtractiveReasoner:
    """Implements `ports.Reasoner` without a model: the same graph, steps and checks as with one."""

    works_ahead = False
    writes_whole_report = False
    reads_conversation = False

    info = ReasonerInfo(kind="extractive")
    _ranker: Ranker | None = None

    def __init__(self, ranker: Ranker | None = None) -> None:
        """`ranker` puts the blocks that answer a question in order, in place of the rules."""
        if ranker is not None:
            self.info, self._ranker = ReasonerInfo(kind="extractive", ranker=ranker.name), ranker

    async def decide(
        self, question: Question, *, rounds: int, terms: Sequence[Term] = (), template: Template | None = None
    ) -> Decision:
        from deep_research.reasoners.extractive import clarification_rules

        return clarification_rules.decide(question, rounds=rounds, terms=terms, template=template)

    async def analyze(self, question: Question) -> QueryAnalysis:
        from deep_research.reasoners.extractive import question_analysis

        return question_analysis.analyze(question.text)

    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        return query_selection.scouting(question, analysis, turns)

    async def entities(
        self, question: Question, analysis: QueryAnalysis, passages: Sequence[Passage], library: Library
    ) -> Discovery:
        from deep_research.reasoners.extractive import entity_discovery
        from deep_research.text.question_terms import asked_of

        asked = asked_of(question, analysis, passages)
        both = dict.fromkeys([(asked.target, asked.text), (analysis.discovery_target, question.text)])
        return entity_discovery.discover(list(both), passages, library, language=question.language)

    async def plan(
        self,
        question: Question,
        analysis: QueryAnalysis,
        decision: Decision,
        discovery: Discovery | None,
        passages: Sequence[Passage],
        library: Library,
    ) -> Brief:
        from deep_research.reasoners.extractive import section_plans

        return section_plans.plan(question, analysis, decision, discovery, passages, library)

    async def revise_plan(self, brief: Brief, found: Mapping[str, Sequence[Passage]], library: Library) -> Brief:
        """Return the plan as it is: its sections come from the headings of the documents already."""
        return brief

    async def read_plan_edits(self, answer: str, brief: Brief) -> Sequence[PlanEdit]:
        """Read nothing beyond what code has understood: the user is asked back."""
        return ()

    async def next_actions(
        self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        return query_selection.researching(section, brief, turns, library)

    async def read_page(
        self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
    ) -> Sequence[str]:
        return query_selection.read_page(section, brief, passages, library)

    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        from deep_research.reasoners.extractive import section_plans

        return section_plans.delegate(brief, sections, turns, library)

    async def write_section(
        self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
    ) -> SectionDraft:
        from deep_research.reasoners.extractive import section_writing
        from deep_research.reasoners.extractive.question_reading import NO_ORDER

        order = NO_ORDER
        if self._ranker is not None and section.title == phrase("answer", brief.language):
            order = await self._rank(self._ranker, brief, passages, library)
        return section_writing.write_section(section, brief, passages, library, order)

    async def _rank(self, ranker: Ranker, brief: Brief, passages: Sequence[Passage], library: Library) -> "Order":
        """Return the ranker's order of the blocks for each part of the question; none of a part where it fails."""
        from deep_research.reasoners.extractive.answer_blocks import blocks_to_rank
        from deep_research.reasoners.extractive.question_reading import read_around

        question = brief.question or brief.title
        shown = blocks_to_rank(question, read_around(question, brief.language, passages, library))
        rankings = await side_by_side(ranker.rank(part, texts) for part, texts in shown.items())
        return {
            part: dict(zip(texts, ranking.scores, strict=True))
            for (part, texts), ranking in zip(shown.items(), rankings, strict=True)
            if len(ranking.scores) == len(texts)
        }

    async def judge(self, claims: Sequence[Claim], library: Library, question: str = "") -> Sequence[Verdict]:
        """Return the verdicts unchanged: the mechanical checks and the scorer are all there is."""
        return [claim.verdict for claim in claims]

    async def rewrite(self, claims: Sequence[Claim], library: Library, question: str = "") -> Sequence[str]:
        """Rewrite nothing: it never invents a sentence."""
        return [""] * len(claims)

    async def review_section(
        self, section: Section, brief: Brief, claims: Sequence[Claim], library: Library
    ) -> SectionReview:
        from deep_research.reasoners.extractive import section_reviews

        return section_reviews.review_section(section, claims, library)

    async def review(
        self, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
    ) -> Review:
        from deep_research.reasoners.extractive import section_reviews

        return section_reviews.review(brief, sections, claims, library)

    async def compose(
        self,
        question: Question,
        analysis: QueryAnalysis,
        brief: Brief,
        sections: Sequence[Section],
        claims: Sequence[Claim],
        library: Library,
    ) -> Composition:
        from deep_research.reasoners.extractive import composing

        return composing.compose(question.text, analysis, brief, sections, claims, library)
