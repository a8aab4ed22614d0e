"""The typed answers a language model gives; each becomes a JSON schema, and a noun of ours.

Models write fields in the order of the schema: what a decision rests on comes before the decision.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from deep_research.data import OutputFormat, QueryType
from deep_research.data.brief import NextAction


class Answer(BaseModel):
    """Base: unknown fields are ignored, because models like to add some."""

    model_config = ConfigDict(extra="ignore")


class DecideAnswer(Answer):
    """See the prompt `decide`."""

    reasoning: str
    next_action: NextAction
    confidence: float = Field(ge=0, le=1)
    goal: str
    research_focus: list[str]
    unknown_terms: list[str]
    refined_question: str
    question: str = Field(description="the one question to the person; empty unless you ask")
    options: list[str] = Field(description="options to choose from; empty unless you ask")
    missing_info: str = Field(description="what is missing; empty unless you ask")
    assumptions: list[str]
    verification: str


class AnalyzeAnswer(Answer):
    """See the prompt `analyze`."""

    reasoning: str
    query_type: QueryType
    output_format: OutputFormat
    needs_discovery: bool
    discovery_target: str
    subjects: list[str]


class EntityAnswer(Answer):
    """One entity of a discovery."""

    name: str
    category: str
    brief: str
    passages: list[str]
    priority: Literal["high", "medium", "low"]


class EntitiesAnswer(Answer):
    """See the prompt `entities`."""

    entities: list[EntityAnswer]
    summary: str
    categories: list[str]
    search_coverage: str


class ReadAnswer(Answer):
    """See the prompt `read_page`."""

    relevant: list[str]


class SectionPlan(Answer):
    """One section of a plan."""

    title: str
    description: str
    queries: list[str]


class PlanAnswer(Answer):
    """See the prompts `plan_from_…`."""

    title: str
    objective: str
    scope: str
    sections: list[SectionPlan] = Field(min_length=1)


class SectionAnswer(Answer):
    """See the prompt `write_section`."""

    content: str
    key_findings: list[str]


class VerdictAnswer(Answer):
    """The verdict on one numbered statement."""

    number: int
    reason: str
    verdict: Literal["supported", "contradicted", "unverified"]
    instead: str = Field(
        "",
        description="where the verdict is not supported: the sentence that the cited passages do support, in the"
        " language of the statement, without ids; empty when they support nothing of it, and when supported",
    )


class JudgeAnswer(Answer):
    """See the prompt `judge`."""

    verdicts: list[VerdictAnswer]


class SectionWork(Answer):
    """One schema for writing a section and judging it: a schema stands before the prompt, so that two would
    keep providers' caches from using the passages they share.
    """

    content: str = Field("", description="when a section is to be written: its Markdown; else empty")
    key_findings: list[str] = Field(default_factory=list, description="when a section is to be written; else empty")
    verdicts: list[VerdictAnswer] = Field(
        default_factory=list, description="when statements are to be judged: one for each number; else empty"
    )


class RewrittenClaim(Answer):
    """One rewritten statement."""

    number: int
    text: str


class RewriteAnswer(Answer):
    """See the prompt `rewrite`."""

    statements: list[RewrittenClaim]


class SectionReviewAnswer(Answer):
    """See the prompt `review_section`."""

    notes: str
    status: Literal["sufficient", "partial", "missing"]
    score: int = Field(ge=1, le=10)
    search_again: bool


class SectionCoverage(Answer):
    """How well one section is covered."""

    title: str
    notes: str
    status: Literal["sufficient", "partial", "missing"]


class SideAnswer(Answer):
    """What one source says where sources disagree."""

    statement: str
    passages: list[str]


class ContradictionAnswer(Answer):
    """Something on which sources disagree."""

    topic: str
    sides: list[SideAnswer]


class ReviewAnswer(Answer):
    """See the prompt `review`."""

    reasoning: str
    contradictions: list[ContradictionAnswer] = Field(default_factory=list)
    section_coverage: list[SectionCoverage]
    gaps: list[str]
    sections_to_retry: list[str]
    is_sufficient: bool
    overall_score: int = Field(ge=1, le=10)


class ComposeAnswer(Answer):
    """See the prompt `compose`."""

    abstract: str
    conclusion: str
    table: str


class ReportWork(ReviewAnswer, ComposeAnswer):
    """One schema for reviewing the sections and framing them, as `SectionWork` is: both show all sections.

    What is not asked for stays empty.
    """
