"""Every protocol on one page: what the program asks of a source, reader, reasoner and store."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, NamedTuple, Protocol

from deep_research.data import (
    Action,
    Assignment,
    Brief,
    Claim,
    Decision,
    Disagreement,
    Discovery,
    Document,
    ExportInput,
    Findings,
    Found,
    Gap,
    Move,
    Passage,
    PassageHit,
    PlanEdit,
    Problem,
    QueryAnalysis,
    Question,
    Ranking,
    ReasonerInfo,
    Review,
    Revision,
    SearchResult,
    Section,
    SectionReview,
    Snapshot,
    Source,
    Template,
    Term,
    ToolSpec,
    Turn,
)

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
    """Writes a report in one format; `suffix` begins with a dot, `purpose` says in one line what it is for."""

    name: str
    suffix: str
    media_type: str
    purpose: str

    def export(self, given: ExportInput) -> bytes:
        """Return the report as a file. Raises ConfigError where something it needs is not installed.

        Everything in the report but the program's own phrases is text from outside: it must stay text.
        """
        ...


class SearchPlace(Protocol):
    """One place to search: a folder of documents, an API, a search engine."""

    name: str
    purpose: str

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        """Make ready (index folders, ask for a token) and return what could not be made ready; here nothing is to be done."""
        return ()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """Return at most `limit` results, best first. Raises SourceError when the place fails."""
        ...

    async def read(self, found: Found) -> Document:
        """Return the full text behind a result. Raises SourceError."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""


class OutsideTool(Protocol):
    """A tool of somebody else, of an MCP server or handed in by a program: what it answers becomes sources."""

    name: str
    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Any]) -> SearchResult:
        """Return what the tool answers, once for the same arguments; every result carries its text.

        Raises SourceError when it fails, Blocked for an address among the arguments that nobody has named.
        """
        ...

    async def read(self, found: Found) -> Document:
        """Return the text behind a result without one. Raises NotFound."""
        ...


class Pages(Protocol):
    """The way to single pages by address: those that the user, a source or a page already read has named."""

    def key(self, url: str) -> str:
        """Return the key that the page has as a source. Raises Blocked for what is no web address."""
        ...

    async def open(self, url: str) -> Found:
        """Return the page with its text; addresses in it may be opened from now on.

        Raises Blocked (`reason`) for an address that nobody has named or that our guard refuses, else SourceError.
        """
        ...

    def links(self, url: str) -> Mapping[str, str]:
        """Return what the text of a page that this run has read links to, of what may be opened: words by address."""
        ...

    def full_text(self, source: Source) -> Sequence[str]:
        """Return where the whole text of a paper may be whose record `source` is, best first; none for all else."""
        ...


class Library(Protocol):
    """All sources, snapshots and passages of a run; every method is atomic and safe across threads."""

    def add_source(self, found: Found) -> Source:
        """Return the source of `found.key`, making it (and its id) when it is new."""
        ...

    def add_snapshot(self, source: str, document: Document, *, retrieved_at: str) -> Snapshot:
        """Store the text once (by SHA-256), cut it into passages and index them; idempotent."""
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
        """Return the best passages for `query`, best first, near-duplicates once, at most `limit`.

        `sources` restricts to those ids; `hops` 2 also follows names and titles found in the first hits.
        """
        ...

    def remove_source(self, source: str) -> None:
        """Forget a source with its snapshots and passages (a document that changed or is gone)."""

    def batch(self) -> AbstractContextManager[None]:
        """Make all changes inside the block one transaction: much faster, all or nothing."""
        ...

    def close(self) -> None:
        """Flush and let go of the file."""


class Journal(Protocol):
    """Every call that cost time or money, with its answer; a call that was made is never made again."""

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        """Return the answer of (kind, request) and whether it was already there.

        `make` makes the call and returns its answer as text; the answer is on disk before it is
        returned. Two askers at the same moment make one call. A failed call is not kept: it raises
        to everybody who waited for it.
        """
        ...

    def keep(self, kind: str, request: str, answer: str) -> None:
        """Begin to keep the answer of a call that is under way, before `make` returns it.

        A process that is killed while `make` still works with the answer has it then. Only the first answer is kept.
        """

    def find(self, kind: str, request: str) -> str | None:
        """Return the answer of a call that was made before, or None."""
        ...

    def note(self, kind: str, request: str, answer: str) -> None:
        """Keep what the run saw beside its calls (a failure, a state of the library); a replay needs it.

        A later note of the same kind and request replaces the earlier one.
        """

    def notes(self, kind: str) -> Mapping[str, str]:
        """Return the notes of a kind by their request, in the order in which they were first made."""
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
    """Limits of providers and hosts that hold for all processes which share a database; `name` is that of one of them."""

    def place(self, name: str, most: int) -> AbstractAsyncContextManager[None]:
        """Hold one of `most` places inside the block; waits until one is free. A process that dies holds none."""
        ...

    async def turn(self, name: str, every: float, ahead: float, most_wait: float) -> float:
        """Take the next turn and return the seconds until it; turns lie `every` seconds apart, `ahead` of them at once.

        A name that is closed for longer than `most_wait` gives these seconds as a negative number, and no turn.
        """
        ...

    async def closed(self, name: str) -> Mapping[str, Closed]:
        """Return what is closed now: models of a provider by their names, and under "" all of it."""
        ...

    def close(self, name: str, seconds: float, *, model: str = "", why: str = "") -> None:
        """Let nobody ask for so many seconds: at all, or for one model."""

    def open(self, name: str, model: str) -> None:
        """Let a model be asked again."""


class Ranker(Protocol):
    """Orders a few texts by how well they answer a question, better than shared words can; `name` is for screens."""

    name: str

    async def rank(self, question: str, texts: Sequence[str]) -> Ranking:
        """Return the worth of each of `texts` in their order; scales differ. Raises ModelError and ConfigError."""
        ...

    async def close(self) -> None:
        """Let go of connections."""


class Reasoner(Protocol):
    """Does the thinking. Each method takes and returns data nouns; the graph and the checks are the same for all.

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
        """Judge whether the question is understood; `rounds` clarifications were asked before (the end of the history).

        `terms` are the unknown terms of an earlier judgement as they were looked up; `template` suggests focus
        points and options of clarifications, and replaces nothing that the user said.
        """
        ...

    async def analyze(self, question: Question) -> QueryAnalysis:
        """Say what kind of question it is and which form suits the answer."""
        ...

    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """Choose searches that look around before planning (for lists: for entities); none or research_complete ends."""
        ...

    async def entities(
        self, question: Question, analysis: QueryAnalysis, passages: Sequence[Passage], library: Library
    ) -> Discovery:
        """Name the entities of a list question from the passages found, best passage first."""
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
        """Lay out 3–7 independent sections; `passages` are what looking around has found, best first."""
        ...

    async def read_plan_edits(self, answer: str, brief: Brief) -> Sequence[PlanEdit]:
        """Return the changes that an answer to a shown plan asks for, where code could not read it; none if unclear."""
        ...

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        """Return a researcher's next actions; or its notes (Markdown with passage ids), which end its research."""
        ...

    async def take_notes(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> str:
        """Return a researcher's notes on all that it has seen: Markdown that cites passage ids."""
        ...

    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """Choose which topics are researched next, each by a researcher of its own; none or research_complete ends.

        `sections` are all there are, as far as they are; `turns` the delegations made before and what they brought.
        """
        ...

    async def review_section(self, section: Section, brief: Brief, voices: str = "") -> SectionReview:
        """Say how well the notes of one section cover it, and whether to research it again.

        `voices` says in words on how many independent sources they rest.
        """
        ...

    async def review(self, brief: Brief, sections: Sequence[Section]) -> Review:
        """Say whether the sections suffice and which to research again."""
        ...

    async def write(self, assignment: Assignment, turns: Sequence[Turn], library: Library) -> Move:
        """Return the writer's next look-ups, or the report: Markdown with a title that cites passage ids."""
        ...

    async def judge(
        self, claims: Sequence[Claim], flags: Mapping[str, Sequence[str]], library: Library, question: str
    ) -> Findings:
        """Judge statements against the passages that they cite; `flags` is what code noticed, by the ids of claims.

        One that cannot judge returns nothing judged. Raises ModelError.
        """
        ...

    async def examine(self, assignment: Assignment, text: str, turns: Sequence[Turn], library: Library) -> Move:
        """Read a whole report as the reader who will act on it; return the next look-ups, or the findings."""
        ...

    async def compare(self, first: str, second: str, library: Library, question: str) -> Sequence[Disagreement]:
        """Return the points on which two reports contradict each other, and which the passages they cite bear out."""
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
        """Return what the writer looks up for `problems` of its report `text`, or its edits.

        `rounds` are the revisions before, `looked` the turns since the problems were told.
        """
        ...


class ApiResponse(NamedTuple):
    """An answer of a web API: `headers` have lower-case names, `body` is decompressed and of bounded size."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class ApiClient(Protocol):
    """How a source calls its API: polite per host, bounded in time and size, obeying Retry-After."""

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
        """Return the answer whatever its status (parsers judge it); `form` is sent URL-encoded instead of `json`.

        Raises Unreachable when there is none in time, RateLimited when the API keeps asking to wait.
        """
        ...
