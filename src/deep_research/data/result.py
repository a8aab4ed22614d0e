"""The result of a run as programs get it; the keys are fixed and their schema is published."""

from pydantic import Field

from deep_research.data.base import Noun
from deep_research.data.claims import Claim, Contradiction, Gap, Reference
from deep_research.data.research import OutputFormat, QueryType, SectionStatus, Workflow


class ReportSection(Noun):
    """A section as it stands in the report; `content` cites `[n]`, `sources` are source ids."""

    title: str
    description: str
    status: SectionStatus
    content: str
    key_findings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class ReportSource(Noun):
    """A cited or consulted source with the snapshot that was read."""

    title: str
    url: str
    origin: str
    published: str | None
    retrieved_at: str
    sha256: str
    media_type: str


class ReportPassage(Noun):
    """A cited passage: `text` is `snapshot[start:end]`, exactly."""

    source: str
    text: str
    start: int
    end: int
    page: int | None
    heading: str


class Ledger(Noun):
    """What the run cost."""

    model_calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    searches: int = 0
    fetches: int = 0
    seconds: float = 0.0


class ReasonerInfo(Noun):
    """Who thought: `extractive` (no model) or `model`, and which models in which role."""

    kind: str
    provider: str = ""
    models: dict[str, str] = Field(default_factory=dict)


class Report(Noun):
    """One finished research. `report` is Markdown; a citation in it is `[n]` with n in `references`."""

    run_id: str
    question: str
    language: str
    query_type: QueryType
    output_format: OutputFormat
    workflow: Workflow
    title: str
    report: str
    sections: tuple[ReportSection, ...]
    claims: tuple[Claim, ...]
    references: tuple[Reference, ...]
    sources: dict[str, ReportSource]
    passages: dict[str, ReportPassage]
    gaps: tuple[Gap, ...]
    assumptions: tuple[str, ...]
    ledger: Ledger
    reasoner: ReasonerInfo
    contradictions: tuple[Contradiction, ...] = ()

    def __str__(self) -> str:
        """Return the report's Markdown."""
        return self.report

    @property
    def answered(self) -> bool:
        """Whether at least one claim is supported by evidence."""
        return any(claim.stands for claim in self.claims)
