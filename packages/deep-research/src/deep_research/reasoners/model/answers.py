"""Typed answers of a language model, each with a JSON schema and a noun of ours.

Models write fields in the order of the schema: what a decision rests on comes before the decision.
"""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from deep_research.data import OutputFormat, PlanChange, QueryType
from deep_research.data.brief import NextAction
from deep_research.data.verification import ProblemKind


def _as_list(given: object) -> object:
    """Accept a single text without its list, and nothing for an empty one."""
    return [given] if isinstance(given, str) and given else given or []


_MOST_ENTRIES = 200
"""Of a list in an answer; a judge is asked about 40 statements, a good verifier finds 25 problems."""
Texts = Annotated[list[str], BeforeValidator(_as_list)]


class Answer(BaseModel):
    """The base of answers: unknown fields are ignored, endless lists are cut."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {name: value[:_MOST_ENTRIES] if isinstance(value, list) else value for name, value in given.items()}


class AnalyzeAnswer(Answer):
    """What kind of question it is."""

    query_type: QueryType = "general"
    output_format: OutputFormat = "prose"
    parts: Texts = Field(default_factory=list)
    needs_discovery: bool = False
    discovery_target: str = ""


class DecideAnswer(AnalyzeAnswer):
    """See the prompt `decide`."""

    reasoning: str
    next_action: NextAction
    confidence: float = Field(ge=0, le=1)
    goal: str
    research_focus: Texts
    unknown_terms: Texts
    refined_question: str
    question: str = Field(description="the one question to the person; empty unless you ask")
    options: Texts = Field(description="options to choose from; empty unless you ask")
    missing_info: str = Field(description="what is missing; empty unless you ask")
    assumptions: Texts
    verification: str

    @property
    def asks_several(self) -> bool:
        """Whether it asks the person more than one question."""
        return len(re.findall(r"[?？؟]+", self.question)) > 1


class EntityAnswer(Answer):
    """One entity of a discovery."""

    name: str
    category: str
    brief: str
    passages: Texts
    priority: Literal["high", "medium", "low"]


class EntitiesAnswer(Answer):
    """See the prompt `entities`."""

    entities: list[EntityAnswer]
    summary: str
    categories: Texts
    search_coverage: str


class RankAnswer(Answer):
    """See the prompt `rank`."""

    best: list[int]


class SectionPlan(Answer):
    """One planned section."""

    title: str
    description: str = ""
    queries: Texts = Field(default_factory=list)


class PlanAnswer(Answer):
    """See the prompt `plan`."""

    brief: str = ""
    title: str
    objective: str = ""
    scope: str = ""
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


class SectionReviewAnswer(Answer):
    """See the prompt `review_section`."""

    notes: str = ""
    missing: Texts = Field(default_factory=list)
    status: Literal["sufficient", "partial", "missing"]
    score: int = Field(default=5, ge=1, le=10)
    queries: Texts = Field(default_factory=list)


class SectionCoverage(SectionReviewAnswer):
    """How well one section is covered."""

    title: str


class ReviewAnswer(Answer):
    """See the prompt `review`."""

    reasoning: str = ""
    section_coverage: list[SectionCoverage] = Field(default_factory=list)
    gaps: Texts = Field(default_factory=list)
    sections_to_retry: Texts = Field(default_factory=list)
    is_sufficient: bool
    overall_score: int = Field(ge=1, le=10)


class ClaimProblemAnswer(Answer):
    """What is wrong with one statement."""

    number: int
    verdict: Literal["unsupported", "contradicted", "misleading"]
    problem: str
    evidence: str = ""
    passages: Texts = Field(default_factory=list)
    look_for: str = ""


class ReckoningAnswer(Answer):
    """A figure that a statement reckons from others."""

    number: int = 0
    quote: str
    expression: str


class JudgeAnswer(Answer):
    """The answer to `judge`: only failures; `checked` proves that all were judged."""

    problems: list[ClaimProblemAnswer]
    reckonings: list[ReckoningAnswer] = Field(default_factory=list)
    checked: int


class TextProblemAnswer(Answer):
    """What is wrong with a text as a whole."""

    quote: str
    verdict: ProblemKind
    problem: str
    evidence: str = ""
    passages: Texts = Field(default_factory=list)


class DisagreementAnswer(Answer):
    """A point on which two reports contradict each other."""

    first: str
    second: str
    borne_out: Literal["A", "B", "both", "neither", "unclear"]
    why: str = ""
    passages: Texts = Field(default_factory=list)


class CompareAnswer(Answer):
    """See the prompt `compare`."""

    disagreements: list[DisagreementAnswer]


class PartAnswer(Answer):
    """One part of the question."""

    text: str
    answered: Literal["yes", "partly", "no"]
    where: Texts = Field(default_factory=list)


class ExamineAnswer(Answer):
    """See the prompt `examine`."""

    problems: list[TextProblemAnswer]
    parts: list[PartAnswer] = Field(default_factory=list)


class EditAnswer(Answer):
    """One change of the writer's own text."""

    problems: list[int] = Field(default_factory=list, description="numbers of the problems that it answers")
    old: str
    new: str


class RejectedAnswer(Answer):
    """A problem that is none."""

    number: int
    why: str


class ReviseAnswer(Answer):
    """See the prompt `revise`."""

    edits: list[EditAnswer]
    rejected: list[RejectedAnswer] = Field(default_factory=list)
