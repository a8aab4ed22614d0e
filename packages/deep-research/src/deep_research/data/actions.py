"""A researcher's next actions and their results: typed data to and from sources."""

import json
from collections.abc import Hashable, Iterable
from typing import Literal, NamedTuple

from pydantic import BaseModel

from deep_research.data.evidence import Document, Gap
from deep_research.data.model_calls import Usage
from deep_research.data.noun import Noun

ActionName = Literal["search", "open", "think", "research_complete", "conduct_research", "call_tool", "unknown"]
LIBRARY, LOOKUPS, REVISION_LOOKUPS = "library", 12, 6
"""The place of a search in what was read already; look-ups of a writer or verifier, and of a writer in a revision."""
OF_FOCUS = "focus"  # the id of the search that the program makes for a section's focus points


class Action(Noun):
    """One tool call.

    Of *search*, `query` holds one query a line, `source` the place to search ("" for all that fit, `library` for what
    the run has read). Of *open*, `source` is what to open: a source (s7), its text from a passage on (s7p3) or a web
    address; `query` are words to be found in it ("" to read on). Of *think* and *unknown*, `query` is the thought, or
    what was wrong with the call. Of *conduct_research*, `query` is the topic as told to the researcher, `source` the
    title of the section it fills ("" for the topic). Of *call_tool*, `source` is the name of somebody else's tool,
    `query` its arguments as a JSON object.
    """

    id: str
    name: ActionName
    query: str = ""
    source: str = ""

    @property
    def counts(self) -> bool:
        """Return whether it is one of the limited calls: no ending, no focus search."""
        return self.name != "research_complete" and self.id != OF_FOCUS

    @property
    def call(self) -> Hashable:
        """Return what two calls have in common that would bring the same."""
        return self.name, self.query, self.source

    @property
    def tool(self) -> str:
        """Return the name of the tool that was called."""
        return self.source if self.name == "call_tool" else "think" if self.name == "unknown" else self.name

    @property
    def arguments(self) -> dict[str, object]:
        """Return the arguments of the call, as its tool names them."""
        if self.name == "call_tool":
            return json.loads(self.query)
        told: dict[str, dict[str, object]] = {
            "search": {"queries": self.query.split("\n"), "source": self.source},
            "open": {"source": self.source, "find": self.query},
            "conduct_research": {"title": self.source, "research_topic": self.query},
            "research_complete": {},
        }
        return told.get(self.name, {"reflection": self.query})


class Observation(Noun):
    """The result of an action: passage ids, best first or in the opened text's order.

    `found` counts the sources that answered, `new` those that the run had not seen before. `failed` names what could
    not be reached, and `failure` says why the first of it could not; the gaps are in the run's log. `text` is what
    came of it in words: where the text goes on, the notes that a delegation brought, or why nothing was done. What the
    run had opened before, or could not open, is `free`: it counts for no call.
    """

    action: str
    passages: tuple[str, ...] = ()
    found: int = 0
    new: int = 0
    failed: tuple[str, ...] = ()
    failure: str = ""
    text: str = ""
    free: bool = False


class SearchRecord(BaseModel, frozen=True, extra="ignore"):
    """A search in the journal: findings, failures, and tokens of a model's search."""

    passages: tuple[str, ...] = ()
    found: int = 0
    new: int = 0
    gaps: tuple[Gap, ...] = ()
    usage: Usage | None = None


class Turn(Noun):
    """A turn: actions, observations in order, remarks (of user or review), or notes."""

    actions: tuple[Action, ...] = ()
    observations: tuple[Observation, ...] = ()
    remarks: tuple[str, ...] = ()
    said: str = ""


class CallsLeft(NamedTuple):
    """The calls and free calls left; `answered` are those of the whole conversation."""

    calls: int
    free: int
    answered: frozenset[Hashable]


def calls_left(turns: Iterable[Turn], most: int) -> CallsLeft:
    """Return the calls left of `most` since the last notes, and as many free ones.

    A call is free that brings nothing new: it repeats one that was answered, or opens what was read. Copies in one turn
    are one call. Free ones beyond `most` count as the others, so that what repeats itself comes to an end.
    """
    made = free = 0
    answered = set[Hashable]()
    for turn in turns:
        made, free = (0, 0) if turn.said else (made, free)
        seen = dict(zip((action.call for action in turn.actions), turn.observations, strict=False))
        known = {call for call in seen if call in answered or seen[call].free}
        free += len(known)
        made += len({action.call for action in turn.actions if action.counts} - known)
        answered |= {call for call, one in seen.items() if not one.failed}
    return CallsLeft(most - made - max(0, free - most), most - free, frozenset(answered))


def since_notes(turns: Iterable[Turn]) -> list[Turn]:
    """Return the turns from the last that says notes on; all where none does."""
    recent: list[Turn] = []
    for turn in turns:
        recent = [turn] if turn.said else [*recent, turn]
    return recent


class Span(Noun):
    """A span `text[start:end]` of a document, with the score of its search."""

    start: int
    end: int
    score: float = 0.0


class Found(Noun):
    """One result of a search at a source: enough to name it, and to read it.

    `spans` are the places of the document that answer the query, best first (empty: the source
    cannot tell). `document` is set when the source already holds the full text, `page_text` when it sent the page as
    Markdown that nobody has read yet; with `excerpt` they hold a part of it, which stands in where the whole cannot be
    read.
    """

    key: str
    title: str
    url: str = ""
    origin: str
    location: str = ""
    published: str | None = None
    authors: tuple[str, ...] = ()
    snippet: str = ""
    score: float = 0.0
    spans: tuple[Span, ...] = ()
    document: Document | None = None
    page_text: str = ""
    excerpt: bool = False


class SearchResult(Noun):
    """One search at one source: results, best first, failures, and tokens if any."""

    found: tuple[Found, ...] = ()
    gaps: tuple[Gap, ...] = ()
    usage: Usage | None = None
