"""What a report is made of: handed over by the research, then checked, then rendered."""

from dataclasses import dataclass, field
from typing import Any

from deep_research.data import (
    Brief,
    Changes,
    Claim,
    Composition,
    Contradiction,
    Decision,
    FoundIn,
    Gap,
    Ledger,
    Part,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    ReportReview,
    Section,
)


@dataclass(frozen=True)
class ReportInput:
    """Holds what the research hands over: `claims` are those of `sections`, `contradictions` what a review proposed.

    `original` is the question as it was asked. `found_in` says where the answer of a follow-up was found.
    """

    question: Question
    original: str
    analysis: QueryAnalysis
    decision: Decision
    brief: Brief
    sections: tuple[Section, ...]
    claims: tuple[Claim, ...]
    contradictions: tuple[Contradiction, ...] = ()
    found_in: FoundIn = ""
    reviews: tuple[ReportReview, ...] = ()

    @property
    def searched(self) -> tuple[str, ...]:
        """Return the queries made for the sections, each once."""
        return tuple(dict.fromkeys(query for section in self.sections for query in section.searched))

    @property
    def language(self) -> str:
        """Return the language of the report."""
        return self.question.language

    @property
    def composed_from(self) -> tuple[Any, ...]:
        """Return the arguments of `Reasoner.compose`, without the library."""
        return self.question, self.analysis, self.brief, self.sections, self.claims


@dataclass(frozen=True)
class CheckedReport:
    """A report of which every text was checked: `parts` stand around the sections, `claims` are those of all texts.

    `searched_places` names what was searched.
    """

    given: ReportInput
    ledger: Ledger
    reasoner: ReasonerInfo
    parts: Composition = field(default_factory=Composition)
    claims: tuple[Claim, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    gaps: tuple[Gap, ...] = ()
    changes: Changes = field(default_factory=Changes)
    searched_places: str = ""
    workflow: str = ""
    question_parts: tuple[Part, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Return whether any claim stands."""
        return any(claim.stands for claim in self.claims)
