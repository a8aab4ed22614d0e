"""The typed answers a language model gives; each becomes a JSON schema, and a noun of ours.

Models write fields in the order of the schema: what a decision rests on comes before the decision.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from deep_research.data import OutputFormat, PlanChange, QueryType
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
    parts: list[str] = Field(default_factory=list)
    wants_advice: bool = False
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


class RankAnswer(Answer):
    """See the prompt `rank`."""

    best: list[int]


class SectionPlan(Answer):
    """One section of a plan."""

    title: str
    description: str
    covers: list[str] = Field(default_factory=list)
    queries: list[str]


class PlanAnswer(Answer):
    """See the prompts `plan_from_…`."""

    title: str
    objective: str
    scope: str
    glossary: list[str] = Field(default_factory=list)
    sections: list[SectionPlan] = Field(min_length=1)


class RevisedPlanAnswer(Answer):
    """See the prompt `revise_plan`."""

    changes: list[str] = Field(default_factory=list)
    sections: list[SectionPlan] = Field(min_length=1)


class PlanEditAnswer(Answer):
    """One change of a plan."""

    change: PlanChange
    sections: list[int] = Field(default_factory=list, description="numbers of the sections, as shown")
    to: int = Field(0, description="new place of a moved section")
    text: str = ""
    detail: str = ""


class PlanEditsAnswer(Answer):
    """See the prompt `edit_plan`."""

    edits: list[PlanEditAnswer]


class OperandAnswer(Answer):
    """A figure of a computation."""

    name: str
    value: str = Field(description="as it stands in the passage, with its unit")
    passage: str = Field(
        description="an id; “question” for a figure of the question, “assumed” for an assumption that the text names"
    )


class ComputationAnswer(Answer):
    """Arithmetic over cited figures; the program computes it."""

    name: str = Field(description="k1, k2, … as {k1} stands in the text")
    expression: str = Field(
        description="over the operands' names: + - * / ** and sum mean geomean min max abs sqrt change(a, b) days(a, b)"
        " years(a, b); figures of percent count as 20 for 20 %"
    )
    operands: list[OperandAnswer]
    unit: str
    decimals: int


class SectionAnswer(Answer):
    """See the prompt `write_section`."""

    content: str
    computations: list[ComputationAnswer] = Field(default_factory=list)
    key_findings: list[str]
    missing: list[str] = Field(default_factory=list)
    dropped: list[str] = Field(
        default_factory=list, description="sentences of an earlier text that this one takes the place of, word for word"
    )


class FailureAnswer(Answer):
    """One statement that does not stand."""

    number: int
    reason: str
    verdict: Literal["contradicted", "unverified"]
    instead: str = ""


class CarrierAnswer(Answer):
    """The sentence of a passage that carries a statement, by its first words."""

    number: int
    words: str


class JudgeAnswer(Answer):
    """See the prompt `judge`: only failures are listed; `checked` proves that all were judged."""

    failures: list[FailureAnswer]
    checked: int
    carriers: list[CarrierAnswer] = Field(default_factory=list)


class RewrittenClaim(Answer):
    """One repaired or confirmed statement."""

    number: int
    as_it_stands: bool = False
    text: str


class RewriteAnswer(Answer):
    """See the prompt `rewrite`."""

    statements: list[RewrittenClaim]


class SectionReviewAnswer(Answer):
    """See the prompt `review_section`."""

    faults: list[str] = Field(default_factory=list)
    missing: list[str]
    status: Literal["sufficient", "partial", "missing"]
    score: int = Field(ge=1, le=10)
    queries: list[str]


class SectionCoverage(Answer):
    """How well one section is covered."""

    title: str
    notes: str
    status: Literal["sufficient", "partial", "missing"]
    queries: list[str] = Field(default_factory=list)


class SideAnswer(Answer):
    """What one source says where sources disagree."""

    statement: str
    passages: list[str]


class ContradictionAnswer(Answer):
    """Something on which sources disagree."""

    topic: str
    sides: list[SideAnswer]
    prevails: str = ""


class ReviewAnswer(Answer):
    """See the prompt `review`."""

    reasoning: str
    contradictions: list[ContradictionAnswer] = Field(default_factory=list)
    section_coverage: list[SectionCoverage]
    gaps: list[str]
    sections_to_retry: list[str]
    is_sufficient: bool
    overall_score: int = Field(ge=1, le=10)


class PartAnswer(Answer):
    """One part of the question."""

    text: str
    where: list[str]
    answered: Literal["yes", "partly", "no"]

    @field_validator("where", mode="before")
    @classmethod
    def _one_title(cls, given: object) -> object:
        """Accept a single title without its list."""
        return [given] if isinstance(given, str) else given


class AdviceAnswer(Answer):
    """One thing the reader should do."""

    case: str
    action: str
    why: str
    how: list[str] = Field(default_factory=list, description="single actions, in order")
    condition: str
    fallback: str
    commands: list[str] = Field(default_factory=list, description="lines to type or to write; mostly empty")
    premises: list[str] = Field(description="ids of the facts it rests on")


class LimitAnswer(Answer):
    """What was looked for and not found."""

    text: str
    searched: list[str]


class BodyAnswer(Answer):
    """One section of the body."""

    title: str
    notes: list[str]
    content: str


class ComposeAnswer(Answer):
    """See the prompt `compose`."""

    answer: str
    parts: list[PartAnswer] = Field(default_factory=list)
    sections: list[BodyAnswer] = Field(default_factory=list)
    table: str
    advice: list[AdviceAnswer] = Field(default_factory=list)
    advice_after: str = Field(default="", description="title of a section; mostly empty")
    conclusion: str
    limits: list[LimitAnswer] = Field(default_factory=list)
    computations: list[ComputationAnswer] = Field(default_factory=list)
