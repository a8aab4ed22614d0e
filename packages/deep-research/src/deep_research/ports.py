"""Every protocol: what the program asks of sources, readers, reasoners, stores."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, NamedTuple, Protocol

from deep_research.data import ExportInput, Ranking, ReasonerInfo, Review, SectionReview, Template, Term, ToolSpec
from deep_research.data.actions import Action, Found, SearchResult, Turn
from deep_research.data.brief import Brief, Decision, Discovery, PlanEdit, QueryAnalysis, Question, Section
from deep_research.data.evidence import Claim, Document, Gap, Passage, PassageHit, Snapshot, Source
from deep_research.data.verification import Assignment, Disagreement, Findings, Move, Problem, Revision

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is (0 when unknown)."""


class Reader(Protocol):
    """Turns the bytes of one format into a document."""

    name: str
    suffixes: tuple[str, ...]
    media_types: tuple[str, ...]

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the text of `data`; `name` is its file name, for titles and messages.

        Raises Unreadable when there is no text to be had (broken, encrypted, wrong format).
        """
        ...


class Exporter(Protocol):
    """An exporter of reports to one format; `suffix` has a dot, `purpose` is a line."""

    name: str
    suffix: str
    media_type: str
    purpose: str

    def export(self, given: ExportInput) -> bytes:
        """Return the report as a file; raise ConfigError if a needed package is missing.

        Everything in the report but the program's own phrases is text from outside: it must stay text.
        """
        ...


class SearchPlace(Protocol):
    """One place to search: a folder of documents, an API, a search engine."""

    name: str
    purpose: str

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        """Prepare the place (index folders, get a token); return what was impossible."""
        return ()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """Return up to `limit` results, best first; raise SourceError if the place fails."""
        ...

    async def read(self, found: Found) -> Document:
        """Return the full text behind a result. Raises SourceError."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""


class OutsideTool(Protocol):
    """A tool of an MCP server or handed in by a program; its answers become sources."""

    name: str
    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Any]) -> SearchResult:
        """Call the tool once per set of arguments; return results with their texts.

        Raises SourceError when it fails, Blocked for an address among the arguments that nobody has named.
        """
        ...

    async def read(self, found: Found) -> Document:
        """Return the text behind a result without one. Raises NotFound."""
        ...


class Pages(Protocol):
    """Access to pages by address, if named by the user, a source or a page read."""

    def key(self, url: str) -> str:
        """Return a page's key as a source; raise Blocked if it is no web address."""
        ...

    async def open(self, url: str) -> Found:
        """Return the page with its text; addresses in it may be opened from now on.

        Raises Blocked (`reason`) for an address that nobody has named or that our guard refuses, else SourceError.
        """
        ...

    def links(self, url: str) -> Mapping[str, str]:
        """Return the openable links in a page that this run has read: words by address."""
        ...

    def full_text(self, source: Source) -> Sequence[str]:
        """Return places of the full text of a paper `source`, best first; else none."""
        ...


class Library(Protocol):
    """All sources, snapshots and passages of a run; methods are atomic, thread-safe."""

    def add_source(self, found: Found) -> Source:
        """Return the source of `found.key`, making it (and its id) when it is new."""
        ...

    def add_snapshot(self, source: str, document: Document, *, retrieved_at: str) -> Snapshot:
        """Store the text once (by SHA-256), and index its passages; idempotent."""
        ...

    def source(self, source: str) -> Source | None:
        """Return the source of an id (`s7`), or None."""
        ...

    def sources(self) -> Sequence[Source]:
        """Return all sources in order of their ids."""
        ...

    def snapshot(self, source: str) -> Snapshot | None:
        """Return the newest snapshot of a source id, or None."""
        ...

    def is_read(self, source: str) -> bool:
        """Return whether there is a snapshot of a source id."""
        ...

    def passage(self, passage: str) -> Passage | None:
        """Return the passage of an id (`s7p3`), or None."""
        ...

    def passages(self, source: str) -> Sequence[Passage]:
        """Return the passages of a source's newest snapshot in order of the text."""
        ...

    def search(self, query: str, *, limit: int, sources: Sequence[str] = (), hops: int = 1) -> Sequence[PassageHit]:
        """Return up to `limit` passages for `query`, best first, near-duplicates once.

        `sources` restricts to those ids; `hops` 2 also follows names and titles found in the first hits.
        """
        ...

    def remove_source(self, source: str) -> None:
        """Remove a changed or vanished source, with its snapshots and passages."""

    def batch(self) -> AbstractContextManager[None]:
        """Make all changes inside the block one transaction: much faster, all or nothing."""
        ...

    def close(self) -> None:
        """Flush and let go of the file."""


class Journal(Protocol):
    """Every call that cost time or money, with its answer; no call is made twice."""

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        """Return the answer of (kind, request) and whether it was already there.

        `make` makes the call and returns its answer as text; the answer is on disk before it is
        returned. Two askers at the same moment make one call. A failed call is not kept: it raises
        to everybody who waited for it.
        """
        ...

    def keep(self, kind: str, request: str, answer: str) -> None:
        """Keep the first answer of a call before `make`, still at work, returns it."""

    def find(self, kind: str, request: str) -> str | None:
        """Return the answer of a call that was made before, or None."""
        ...

    def note(self, kind: str, request: str, answer: str) -> None:
        """Record (anew) what the run saw beside its calls, as a replay needs it."""

    def notes(self, kind: str) -> Mapping[str, str]:
        """Return the notes of a kind by request, in the order they were first made."""
        ...

    def count(self, kind: str) -> int:
        """Return how many calls of that kind were really made."""
        ...

    def answers(self, kind: str) -> Sequence[str]:
        """Return the answers of that kind, oldest first."""
        ...

    def close(self) -> None:
        """Let go of the file."""


class Closed(NamedTuple):
    """For how many more seconds something is not to be asked, and why."""

    seconds: float
    why: str


class SharedLimits(Protocol):
    """Limits by name of provider or host, for all processes on one database."""

    def place(self, name: str, most: int) -> AbstractAsyncContextManager[None]:
        """Hold one of `most` places in the block, when one is free; no dead process does."""
        ...

    async def turn(self, name: str, every: float, ahead: float, most_wait: float) -> float:
        """Take the next turn, and return the seconds until it.

        Turns lie `every` seconds apart, `ahead` of them at once. A name that is closed for longer than `most_wait` gives
        these seconds as a negative number, and no turn.
        """
        ...

    async def closed(self, name: str) -> Mapping[str, Closed]:
        """Return what is closed now: models by name, and under "" the whole provider."""
        ...

    def close(self, name: str, seconds: float, *, model: str = "", why: str = "") -> None:
        """Let nobody ask for so many seconds: at all, or for one model."""

    def open(self, name: str, model: str) -> None:
        """Let a model be asked again."""


class Ranker(Protocol):
    """A ranker of a few texts by how well they answer a question; `name` is shown."""

    name: str

    async def rank(self, question: str, texts: Sequence[str]) -> Ranking:
        """Return each text's worth, on any scale; raise ModelError or ConfigError."""
        ...

    async def close(self) -> None:
        """Let go of connections."""


class Reasoner(Protocol):
    """The thinking part; each method takes and returns data nouns.

    A researcher, the writer and the verifier are conversations that only grow: `turns` are what was done and seen so
    far, and each call of a method is the next move. `reads_conversation`: it understands the conversation before a
    question, and the addresses in it.
    """

    info: ReasonerInfo
    reads_conversation: bool

    @property
    def unanswered(self) -> Collection[str]:
        """Titles of sections at which a model did not answer in this sitting."""
        ...

    async def decide(
        self, question: Question, *, rounds: int, terms: Sequence[Term] = (), template: Template | None = None
    ) -> Decision:
        """Judge whether the question is understood after `rounds` clarifications.

        These are the end of the history. `terms` are the unknown terms of an earlier judgement as they were looked up;
        `template` suggests focus points and options of clarifications, and replaces nothing that the user said.
        """
        ...

    async def analyze(self, question: Question) -> QueryAnalysis:
        """Say what kind of question it is and which form suits the answer."""
        ...

    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """Choose searches before planning, for lists for entities; none ends them."""
        ...

    async def entities(
        self, question: Question, analysis: QueryAnalysis, passages: Sequence[Passage], library: Library
    ) -> Discovery:
        """Name the entities of a list question from `passages`, given best first."""
        ...

    async def plan(
        self,
        question: Question,
        analysis: QueryAnalysis,
        decision: Decision,
        discovery: Discovery | None,
        passages: Sequence[Passage],
        library: Library,
    ) -> Brief:
        """Plan 3–7 independent sections; `passages` are first finds, best first."""
        ...

    async def read_plan_edits(self, answer: str, brief: Brief) -> Sequence[PlanEdit]:
        """Return the plan changes that an answer asks for; none if it is unclear."""
        ...

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        """Return a researcher's next actions, or its last notes: Markdown, passage ids."""
        ...

    async def take_notes(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> str:
        """Return a researcher's notes on all it has seen: Markdown citing passage ids."""
        ...

    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """Choose the topics to research next; none, or research_complete, ends it."""
        ...

    async def review_section(self, section: Section, brief: Brief, voices: str = "") -> SectionReview:
        """Judge a section's notes; `voices` says how many independent sources they have."""
        ...

    async def review(self, brief: Brief, sections: Sequence[Section]) -> Review:
        """Say whether the sections suffice and which to research again."""
        ...

    async def write(self, assignment: Assignment, turns: Sequence[Turn], library: Library) -> Move:
        """Return the writer's look-ups, or the report: titled Markdown with passage ids."""
        ...

    async def judge(
        self, claims: Sequence[Claim], flags: Mapping[str, Sequence[str]], library: Library, question: str
    ) -> Findings:
        """Judge claims by their passages; `flags` are code's notes. Raises ModelError."""
        ...

    async def examine(self, assignment: Assignment, text: str, turns: Sequence[Turn], library: Library) -> Move:
        """Examine a report as the reader who acts on it; return look-ups or findings."""
        ...

    async def compare(self, first: str, second: str, library: Library, question: str) -> Sequence[Disagreement]:
        """Return contradictions of two reports, and what their cited passages support."""
        ...

    async def revise(
        self,
        assignment: Assignment,
        turns: Sequence[Turn],
        text: str,
        rounds: Sequence[Revision],
        problems: Sequence[Problem],
        looked: Sequence[Turn],
        library: Library,
    ) -> Move:
        """Return the writer's look-ups for `problems` of its report `text`, or its edits.

        `rounds` are the revisions before, `looked` the turns since the problems were told.
        """
        ...

    async def reread(self, assignment: Assignment, text: str) -> str:
        """Return the report `text` as its writer writes it again, having read it afresh."""
        ...


class ApiResponse(NamedTuple):
    """A web API's answer: lower-case header names, unpacked body of bounded size."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class ApiClient(Protocol):
    """A source's client for its API: polite per host, bounded, obeying Retry-After."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        """Return the answer of any status; `form` is sent URL-encoded instead of `json`.

        Raises Unreachable when there is none in time, RateLimited when the API keeps asking to wait.
        """
        ...
