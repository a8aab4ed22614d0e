"""What clients of the HTTP API send and get."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from deep_research.api import VerdictCounts
from deep_research.conversation.plan_outline import section_of
from deep_research.data import Asked, Brief, Figure, Ledger, Message, Report, Section, Steer
from deep_research.data.evidence import Heading, PageStart
from deep_research.data.result import FollowUpHead
from deep_research.settings import Settings
from deep_research_server.request_bodies import ListOf

RunState = Literal["queued", "running", "waiting", "finished", "failed", "stopped", "declined", "damaged"]
_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,80}$")]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Turn(_Input):
    """A message of the conversation before a question."""

    role: Literal["user", "assistant"]
    text: str = Field(max_length=20_000, validation_alias=AliasChoices("text", "content"))


class _NewWork(_Input):
    """A new run's settings, by default the server's; `documents` are ids."""

    documents: ListOf[_Id] = Field(default_factory=list, max_length=200)
    strategy: str | None = Field(None, max_length=40)
    sources: ListOf[_Line] | None = Field(None, max_length=40)
    depth: Literal["brief", "standard", "deep"] | None = None
    model_provider: str | None = Field(None, max_length=40)
    model_name: str | None = Field(None, max_length=120)
    budget_usd: float | None = Field(None, gt=0, le=10_000)
    budget_tokens: int | None = Field(None, ge=5_000, le=1_000_000_000)

    def settings(self) -> dict[str, Any]:
        """Return the settings that are given, by name."""
        given = self.model_dump(exclude_none=True)
        return {name: value for name, value in given.items() if name in Settings.model_fields}


class NewRun(_NewWork):
    """A question to research, with settings; `documents` are ids of uploaded ones."""

    question: str = Field(min_length=1, max_length=20_000)
    history: ListOf[Turn] = Field(default_factory=list, max_length=50)
    workflow: Literal["sections", "loop", "supervisor", "quick"] | None = None
    template: str | None = Field(None, max_length=80)
    allow_clarification: bool | None = None
    confirm_plan: bool | None = None
    confirm_review: bool | None = None


class NewVerification(_NewWork):
    """A report to verify, or two to compare: `text`, or document ids in `reports`.

    It is held against the pages that it cites, or against `documents` (ids); with `revise` its text is put right.
    """

    text: str = Field("", max_length=500_000)
    reports: ListOf[_Id] = Field(default_factory=list, max_length=2)
    question: str = Field("", max_length=20_000)
    revise: bool = False


class AnswerInput(_Input):
    """The user's answer to a run: an option's text or number, yes, no, or any words."""

    answer: str = Field(min_length=1, max_length=20_000)


class PlannedSection(_Input):
    """A section of an edited plan; `queries` are what is searched for.

    `focus`, as in a plan that was shown, is searched for before them.
    """

    title: _Line
    description: str = Field("", max_length=1000)
    queries: ListOf[_Line] = Field(default_factory=list, max_length=6)
    focus: ListOf[_Line] = Field(default_factory=list, max_length=20)

    def section(self, shown: Section | None) -> Section:
        """Return the section as the user wants it, which takes the place of `shown`."""
        is_edited = self.focus and (shown is None or tuple(self.focus) != shown.focus)
        points = [*self.focus, *self.queries] if is_edited else self.queries
        return section_of(self.title, self.description, points, shown)


class PlanInput(_Input):
    """A plan as the user wants it; it takes the place of the one that was shown."""

    title: str = Field("", max_length=200)
    objective: str = Field("", max_length=1000)
    sections: ListOf[PlannedSection] = Field(min_length=1, max_length=7)

    def brief(self, shown: Brief) -> Brief:
        """Return the plan that was shown as the user wants it."""
        known = {section.title: section for section in shown.sections}
        sections = tuple(s.section(known.get(s.title)) for s in self.sections)
        title, objective = self.title or shown.title, self.objective or shown.objective
        instruction = shown.instruction if objective == shown.objective else ""
        told = {"title": title, "objective": objective, "instruction": instruction}
        return shown.model_copy(update={**told, "sections": sections})


class SteerInput(_Input):
    """An instruction to a run while it goes on.

    `text` is the remark, the section that is dropped (title or number), or the one that is added: "TITLE: what to look
    for".
    """

    kind: Literal["remark", "drop", "add", "finish"]
    text: str = Field("", max_length=2_000)


class FollowUpInput(_Input):
    """A question about a finished report."""

    question: str = Field(min_length=1, max_length=20_000)
    model_provider: str | None = Field(None, max_length=40)
    model_name: str | None = Field(None, max_length=120)


class SessionInput(_Input):
    """The page's token, to be stored in a cookie that scripts cannot read."""

    token: str = Field(min_length=1, max_length=200)


class _RunShown(BaseModel):
    id: str
    question: str
    title: str
    status: RunState
    created: str
    has_report: bool
    parent: str
    origin: str


class RunView(_RunShown):
    """A run's state; `asked` is its question."""

    language: str
    seconds: float
    documents: list[str]
    history: list[Message]
    settings: dict[str, Any]
    error: str
    asked: Asked | None


class RunDetails(RunView):
    """A run with its sections (with user changes), cost so far, and follow-ups."""

    sections: list[str]
    ledger: Ledger
    follow_ups: int


class RunSummary(_RunShown):
    """A run in a list, a long `question` cut.

    `is_answered` is false for a finished report that answers nothing.
    """

    is_answered: bool


class RunPage(BaseModel):
    """Runs, newest first; `next` is the cursor of the next page, "" on the last."""

    runs: list[RunSummary]
    next: str = ""
    total: int


class SourceView(BaseModel):
    """A source; `date` is its own date, `status` its standing, `by` its replacement."""

    id: str
    title: str
    url: str
    origin: str
    location: str
    published: str
    authors: list[str]
    date: str
    status: str
    by: str
    read: bool
    retrieved_at: str
    media_type: str
    sha256: str
    characters: int
    cited: int = 0


class PassageView(BaseModel):
    """A passage in context: `before`, `text` and `after` adjoin in the snapshot.

    `start` and `end` are offsets in Unicode code points. `is_current` is false when the page was read again later.
    """

    id: str
    text: str
    before: str
    after: str
    start: int
    end: int
    page: int | None
    heading: str
    is_current: bool
    source: SourceView


class SnapshotView(BaseModel):
    """A span of a source's text as read; offsets are in Unicode code points."""

    source: SourceView
    start: int
    end: int
    total: int
    text: str
    headings: list[Heading]
    pages: list[PageStart]


class ReportView(Report):
    """A report with statement `counts` by verdict, and figures by `chart` block text."""

    counts: VerdictCounts
    charts: dict[str, Figure]


class ChangesView(BaseModel):
    """New statements of a refreshed run compared with its `parent`, as Markdown."""

    parent: str
    text: str


class FollowUpView(FollowUpHead):
    """A question about a report with its Markdown answer in `report`, "" until ready."""

    understood: str
    report: str
    result: ReportView | None


class DocumentView(BaseModel):
    """An uploaded document; `size` in bytes."""

    id: str
    name: str
    size: int
    uploaded: str


class DocumentPage(BaseModel):
    """The uploaded documents, newest first."""

    documents: list[DocumentView]


class NamedText(BaseModel):
    """A choice: its name and what it is for."""

    name: str
    purpose: str = ""


class UploadLimits(BaseModel):
    """What may be uploaded: sizes in megabytes, endings of file names."""

    megabytes: int
    documents: int
    types: list[str]


class Options(BaseModel):
    """The choices for a run on this server; `model` is the default, "" without one.

    `problem` says why no run can be begun with the server's settings as they are.
    """

    version: str
    problem: str = ""
    owner: str
    provider: str
    model: str
    web: str
    providers: list[NamedText]
    strategies: list[NamedText]
    templates: list[NamedText]
    exports: list[NamedText]
    languages: list[str]
    uploads: UploadLimits


class Problem(BaseModel):
    """An error (RFC 9457): `title` names its kind, `detail` says what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class Taken(BaseModel):
    """An instruction that was taken, as it was understood."""

    steer: Steer
    going_on: bool
