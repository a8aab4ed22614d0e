"""One typed event per thing that can happen in a run: what every screen shows.

Events are numbered from 1 in the order they happened and carry the seconds since the run began.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    number: int = 0
    seconds: float = 0.0


class RunStarted(_Event):
    """A run begins (or goes on, when `resumed`)."""

    kind: Literal["run_started"] = "run_started"
    run_id: str
    question: str
    language: str
    reasoner: str
    sources: tuple[str, ...]
    notice: str = ""
    resumed: bool = False


class StageStarted(_Event):
    """A stage of the workflow begins.

    The stages are prepare, clarify, analyze, discover, plan, research, review, report and verify.
    """

    kind: Literal["stage_started"] = "stage_started"
    stage: str


class Progress(_Event):
    """Long work moves on: `done` of `total` (0: unknown)."""

    kind: Literal["progress"] = "progress"
    what: str
    done: int
    total: int


class ClarificationAsked(_Event):
    """The run waits for an answer of the user: to a clarification, or on a plan."""

    kind: Literal["clarification_asked"] = "clarification_asked"
    about: Literal["clarify", "plan", "review"] = "clarify"
    question: str
    options: tuple[str, ...] = ()


class Understood(_Event):
    """The research subject as told to the user, and the assumptions made."""

    kind: Literal["understood"] = "understood"
    question: str
    verification: str
    assumptions: tuple[str, ...] = ()
    confidence: float = 1.0


class Analyzed(_Event):
    """What kind of question it is."""

    kind: Literal["analyzed"] = "analyzed"
    query_type: str
    output_format: str
    reasoning: str = ""


class Discovered(_Event):
    """Entities that answer a list question."""

    kind: Literal["discovered"] = "discovered"
    entities: tuple[str, ...]


class Planned(_Event):
    """The sections to be researched."""

    kind: Literal["planned"] = "planned"
    title: str
    sections: tuple[str, ...]


class SectionStarted(_Event):
    """A researcher took a section up; `attempt` counts from 1."""

    kind: Literal["section_started"] = "section_started"
    section: str
    attempt: int


class Searched(_Event):
    """A search result; `section` is "" outside sections, `reused` if made before."""

    kind: Literal["searched"] = "searched"
    section: str
    source: str
    query: str
    found: int
    new: int
    reused: bool = False


class SectionWritten(_Event):
    """A researcher's notes: `content` is Markdown that cites `passages` passages."""

    kind: Literal["section_written"] = "section_written"
    section: str
    status: str
    sources: int
    passages: int
    content: str = ""


class SectionReviewed(_Event):
    """A section was reviewed (score 0: by nobody); on `retry` its researcher goes on."""

    kind: Literal["section_reviewed"] = "section_reviewed"
    section: str
    attempt: int
    status: str
    score: int
    retry: bool
    notes: str = ""


class Reviewed(_Event):
    """The sections were reviewed together; `retry` names those sent out again."""

    kind: Literal["reviewed"] = "reviewed"
    score: int
    sufficient: bool
    retry: tuple[str, ...]
    gaps: tuple[str, ...] = ()
    reasoning: str = ""


class GapFound(_Event):
    """Something could not be found or done; the fields of `data.Gap`."""

    kind: Literal["gap_found"] = "gap_found"
    what: str
    why: str
    source: str = ""
    codes: tuple[str, ...] = ()
    values: dict[str, str] = Field(default_factory=dict)


class Steered(_Event):
    """The user's words; `what` is remark, drop, add or finish, `late` without effect."""

    kind: Literal["steered"] = "steered"
    steer: str
    what: str
    section: str = ""
    text: str = ""
    late: bool = False


class ReportPiece(_Event):
    """A piece of the report as the writer writes it; shown live, never stored."""

    kind: Literal["report_piece"] = "report_piece"
    text: str


class Verified(_Event):
    """The report was verified: `statements` judged, `problems` found; `round` from 1."""

    kind: Literal["verified"] = "verified"
    statements: int
    problems: int
    round: int


class Revised(_Event):
    """The writer revised its report: `edits` were made, `failed` ones did not fit."""

    kind: Literal["revised"] = "revised"
    edits: int
    failed: int


class ReportReady(_Event):
    """The report is written and saved; `claims` counts statements left after cuts."""

    kind: Literal["report_ready"] = "report_ready"
    title: str
    path: str
    claims: int
    references: int
    gaps: int


class RunFailed(_Event):
    """The run ended without a report; its state is kept."""

    kind: Literal["run_failed"] = "run_failed"
    error: str
    message: str


class RunDeclined(_Event):
    """The run ended on purpose without a report: unanswerable, or the plan rejected."""

    kind: Literal["run_declined"] = "run_declined"
    reason: str
    by: Literal["program", "user"]


Event = (
    RunStarted | StageStarted | Progress | ClarificationAsked | Understood | Analyzed | Discovered | Planned
    | SectionStarted | Searched | SectionWritten | SectionReviewed | Reviewed | GapFound | Steered
    | ReportPiece | Verified | Revised | ReportReady | RunFailed | RunDeclined
)  # fmt: skip

PASSING = frozenset({"report_piece"})
"""Kinds of events that are passed on to whoever listens, and not kept: they have no number of their own."""

event_adapter: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
