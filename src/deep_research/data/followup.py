"""A question asked about a finished report, with its answer."""

from typing import Any, Literal

from pydantic import Field

from deep_research.data.base import Noun
from deep_research.data.research import Message
from deep_research.data.result import Ledger, Report

FollowUpStatus = Literal["running", "finished", "failed", "stopped"]
FoundIn = Literal["", "library", "research"]


class FollowUp(Noun):
    """A question about the report of a run, `number` counting from 1.

    `understood` is the question without words that point at what was said before, as far as code can tell;
    `history` is the conversation it was asked in, and `settings` what differs from those of the run. `found_in`
    says where the answer comes from: what the run had read before (library), or new searches (research). `before`
    is what the run had cost until then: the ledger of `report` counts the follow-up alone.
    """

    run_id: str
    number: int
    question: str
    language: str
    created: str
    understood: str = ""
    assumptions: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)
    status: FollowUpStatus = "running"
    found_in: FoundIn = ""
    error: str = ""
    seconds: float = 0.0
    before: Ledger = Ledger()
    report: Report | None = None

    def __str__(self) -> str:
        """Return the answer's Markdown; "" while there is none."""
        return self.report.report if self.report is not None else ""
