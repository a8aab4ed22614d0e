"""What the tools of our MCP server answer: structured content, whose schemas clients are told."""

from collections import Counter
from typing import Literal

from pydantic import BaseModel, Field

from deep_research.data import FollowUp, Report
from deep_research.events import Event

_SAID = {
    "understood": "Researching: {question}",
    "stage_started": "Stage: {stage}",
    "progress": "{what}: {done}",
    "planned": "Plan: {title}",
    "section_started": "Researching “{section}”",
    "searched": "Searched {source}: {query} ({found} found)",
    "section_written": "Wrote “{section}”: {supported} of {claims} statements supported",
    "reviewed": "Review: {score} of 10",
    "gap_found": "Gap: {what}: {why}",
}
"""What is said of an event, by its kind."""


class CitedSource(BaseModel):
    """An entry of the source list: citations `[n]` in the report name its number."""

    number: int
    title: str
    url: str = ""
    location: str = ""
    published: str | None = None
    passages: list[str] = Field(default_factory=list, description="Ids for read_passage.")


class ReportAnswer(BaseModel):
    """A report with its sources, the parts of the question that it answers, and what was not found."""

    run_id: str
    question: str
    title: str
    report: str = Field(description="Markdown; a citation [n] is the number of a reference.")
    answered: bool
    references: list[CitedSource]
    verdicts: dict[str, int] = Field(description="Statements by verdict: supported, unverified, contradicted.")
    parts: list[dict[str, str]] = Field(description="Parts of the question: text, and answered (yes, partly, no).")
    gaps: list[str]
    assumptions: list[str]
    cost_usd: float
    seconds: float


class VerdictAnswer(BaseModel):
    """Whether a text supports a claim."""

    verdict: Literal["supported", "contradicted", "unverified"]
    reason: str
    score: float | None = None


class PassageAnswer(BaseModel):
    """A passage, verbatim, with the text around it in the snapshot that was read."""

    run_id: str
    passage: str
    text: str
    before: str = ""
    after: str = ""
    source: str
    title: str
    url: str
    page: int | None = None
    heading: str = ""
    published: str | None = None
    retrieved_at: str = ""
    sha256: str = ""


class FoundPassages(BaseModel):
    """Passages of what a run has read, best first."""

    run_id: str
    query: str
    passages: list[PassageAnswer]


def answer_of(report: Report, *, text: str | None = None) -> ReportAnswer:
    """Return a report as a tool's answer; `text` stands for its Markdown where it is given."""
    return ReportAnswer(
        run_id=report.run_id,
        question=report.question,
        title=report.title,
        report=report.report if text is None else text,
        answered=report.answered,
        references=[
            CitedSource(
                number=r.number,
                title=r.title,
                url=r.url if r.url.startswith(("http://", "https://")) else "",
                location=r.location,
                published=r.published,
                passages=list(r.passages),
            )
            for r in report.references
        ],
        verdicts=dict(Counter(claim.verdict.kind for claim in report.claims)),
        parts=[{"text": part.text, "answered": part.answered} for part in report.parts],
        gaps=[f"{gap.what}: {gap.why}" for gap in report.gaps],
        assumptions=list(report.assumptions),
        cost_usd=report.ledger.cost_usd,
        seconds=report.ledger.seconds,
    )


def answer_of_follow_up(made: FollowUp) -> ReportAnswer | None:
    """Return the answer to a question about a report, or None where there is none."""
    return answer_of(made.report) if made.report is not None else None


def describe_event(event: Event) -> str:
    """Return what happened in one line, "" for what a client need not know."""
    return _SAID.get(event.kind, "").format_map(event.model_dump())
