"""Public results of a run and a follow-up, with fixed keys and published schema."""

from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from deep_research.data.brief import Message, OutputFormat, Part, QueryType, SectionStatus, Workflow
from deep_research.data.evidence import Claim, Gap, Reference
from deep_research.data.noun import Noun
from deep_research.data.verification import Disagreement, Edit, Problem


class ReportSection(Noun):
    """A researched section; `notes` and `key_findings` cite passage ids.

    `sources` are source ids, `searched` the queries made for it, `tool_calls` all calls that looked something up.
    """

    title: str
    description: str
    status: SectionStatus
    notes: str = ""
    key_findings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    tool_calls: tuple[str, ...] = ()


def _moment(text: str) -> str:
    """Return an ISO time as written, "" if unknown; raise ValueError otherwise."""
    datetime.fromisoformat(text or "2000-01-01")
    return text


class ReportSource(Noun):
    """A cited or consulted source with the snapshot that was read."""

    title: str
    url: str
    origin: str
    published: str | None
    retrieved_at: Annotated[str, AfterValidator(_moment)]
    sha256: str
    media_type: str


class ReportReview(Noun):
    """The last review of a section ("": all); `missing` facts, `attempts` made."""

    section: str
    status: Literal["sufficient", "partial", "missing"]
    score: int
    missing: str = ""
    attempts: int = 1


class SentQuery(Noun):
    """A query, tool arguments or page address sent to a place not the user's own.

    `held_back` says why it was not sent after all: it repeats "words" of the user's documents, or a "value".
    """

    place: str
    query: str
    held_back: Literal["", "words", "value"] = ""


class ReportPassage(Noun):
    """A cited passage: `text` is `snapshot[start:end]`, exactly."""

    source: str
    text: str
    start: int
    end: int
    page: int | None
    heading: str


class Ledger(Noun):
    """What the run cost. `cost_usd` is None where the price of a call is not known."""

    model_calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    searches: int = 0
    fetches: int = 0
    seconds: float = 0.0


class ReasonerInfo(Noun):
    """What reasoned: `finder` (no model) or `model`, and which models in which role.

    In a report these are the models that really answered; `calls` counts the answers of each, "MODEL (PROVIDER)".
    `ranker` put in order what was quoted without a model.
    """

    kind: str
    provider: str = ""
    models: dict[str, str] = Field(default_factory=dict)
    calls: dict[str, int] = Field(default_factory=dict)
    ranker: str = ""

    @property
    def is_language_model(self) -> bool:
        """Whether a language model reasons."""
        return self.kind == "model"


class Report(Noun):
    """One finished research; `report` is Markdown, citing `[n]` of `references`.

    `problems` are what the verifier found, `edits` what the writer changed, `diff` what that has made of a report which
    was handed in, `disagreements` where two reports that were verified together contradict each other.
    """

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
    parts: tuple[Part, ...] = ()
    reviews: tuple[ReportReview, ...] = ()
    problems: tuple[Problem, ...] = ()
    edits: tuple[Edit, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    queries: tuple[SentQuery, ...] = ()
    diff: str = ""

    def __str__(self) -> str:
        """Return the report's Markdown."""
        return self.report

    _repr_markdown_ = __str__  # what notebooks show

    def save(self, path: "str | PathLike[str]") -> Path:
        """Write the report's Markdown to a file; return its path. Raises OSError."""
        file = Path(path).expanduser()
        file.write_text(self.report, "utf-8")
        return file

    @property
    def answered(self) -> bool:
        """Whether at least one statement cites evidence that does not contradict it."""
        return any(claim.passages and claim.verdict.kind != "contradicted" for claim in self.claims)


FollowUpStatus = Literal["running", "finished", "failed", "stopped"]
FoundIn = Literal["", "library", "research"]


class FollowUpHead(Noun):
    """What a list shows of a question about the report of a run."""

    run_id: str
    number: int
    language: str
    created: str
    status: FollowUpStatus = "running"
    found_in: FoundIn = ""
    error: str = ""
    seconds: float = 0.0
    question: str


class FollowUp(FollowUpHead):
    """A question about the report of a run, `number` counting from 1.

    `understood` is the question without words that point at what was said before, as far as code can tell;
    `history` is the conversation it was asked in, and `settings` what differs from those of the run. `found_in`
    says where the answer comes from: what the run had read before (library), or new searches (research). `before`
    is what the run had cost until then: the ledger of `report` counts the follow-up alone.
    """

    understood: str = ""
    assumptions: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)
    before: Ledger = Ledger()
    report: Report | None = None

    def __str__(self) -> str:
        """Return the answer's Markdown; "" while there is none."""
        return self.report.report if self.report is not None else ""

    _repr_markdown_ = __str__  # what notebooks show


class PassageContext(Noun):
    """The text of a snapshot just before and after a passage; "" at its ends."""

    before: str = ""
    after: str = ""


class FigurePoint(Noun):
    """A number of a figure; `display` is its text with unit, `passages` state it."""

    label: str
    value: float
    display: str
    passages: tuple[str, ...] = ()


class Figure(Noun):
    """A chart of a report: numbers of one unit (`bar`), or one over time (`line`)."""

    kind: Literal["bar", "line"]
    title: str
    unit: str = ""
    points: tuple[FigurePoint, ...]


class ExportInput(Noun):
    """A report with authors by source id, contexts by passage id, and more fonts."""

    report: Report
    authors: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    contexts: dict[str, PassageContext] = Field(default_factory=dict)
    font_folder: str = ""


class Export(Noun):
    """A report in another format, with the file name it would be saved under."""

    data: bytes
    media_type: str
    file_name: str
