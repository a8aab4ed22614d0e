"""What every step of a run may use, and its node, graph step and section now.

What a run sees beside its paid calls depends on the moment; its notes are kept under the position, which is the same
when a node is done again after a crash, and in a replay.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from deep_research.data import Document, Gap, Snapshot
from deep_research.errors import ConfigError, ReplayDiffers, ResearchError, Stopped, StoreError
from deep_research.events import Event, GapFound
from deep_research.i18n.catalog import join_list, phrase
from deep_research.ports import Journal, Library, OutsideTool, Pages, Reasoner, SearchPlace
from deep_research.run_context.steering import Steering
from deep_research.safe_text import safe_noun
from deep_research.settings import Settings
from deep_research.stores.event_log import EventLog
from deep_research.templates import TemplateFile
from deep_research.text.prompt_fencing import attribute

section_position: ContextVar[tuple[str, str]] = ContextVar("section_position", default=("", ""))
"""The title of the section that a researcher works at; attempt and turn."""
node_config: ContextVar[Callable[[], Mapping[str, Any]]] = ContextVar("node_config", default=dict)
"""Returns the configuration with which LangGraph runs the present node; raises RuntimeError outside of one."""
_log = logging.getLogger(__name__)
_MOST_TOLD = 8


def current_position() -> str:
    """Return the position as a short text; "" before the graph runs."""
    try:
        about = node_config.get()()["metadata"]
        node = f"{about['langgraph_node']} {about['langgraph_step']}"
    except (RuntimeError, KeyError):
        node = ""
    return f"{node} {' '.join(section_position.get())}".strip()


def section_worked_at() -> str:
    """Return the title of the section that a researcher works at; "" outside of one."""
    return section_position.get()[0]


class OpenedSources:
    """Sources that a run's researchers opened, by the first section; told to others."""

    def __init__(self) -> None:
        self._by: dict[str, str] = {}
        self._told: defaultdict[str, set[str]] = defaultdict(set)

    def note(self, source: str, section: str) -> bool:
        """Note that a section opens a source; return whether it was opened before."""
        is_known = source in self._by
        self._by.setdefault(source, section)
        self._told[section].add(source)
        return is_known

    def has(self, source: str) -> bool:
        """Return whether the run has opened a source."""
        return source in self._by

    def news_for(self, section: str, library: Library) -> str:
        """Return in words what others opened since a section was last told; else ""."""
        new = [key for key, by in self._by.items() if by != section and key not in self._told[section]]
        self._told[section].update(new)
        named = (f"{key} {attribute(source.title)}" for key in new[-_MOST_TOLD:] if (source := library.source(key)))
        told = "; ".join(named)
        return f"Opened in this run, free for you too: {told}" if told else ""


@dataclass(frozen=True)
class Outside:
    """What a run reaches outside itself, and knows of what comes and goes there.

    `tools` are those of others, by the name they are offered under, `unopened` what of them could not be opened. `pages`
    opens single addresses (None without the web), those of the question alone unless `opens_addresses`. `docs` are what
    the user named, `joined_documents` texts and keys of those that were read, by source, as they are compared with what
    goes out; `asked` are the user's own words. `sources_before` had been read before a follow-up, whose ledger counts
    only the others.
    """

    places: tuple[SearchPlace, ...] = ()
    tools: Mapping[str, OutsideTool] = field(default_factory=dict)
    unopened: tuple[Gap, ...] = ()
    pages: Pages | None = None
    opens_addresses: bool = False
    docs: tuple[str, ...] = ()
    asked: str = ""
    joined_documents: dict[str, tuple[str, str]] = field(default_factory=dict)
    opened: OpenedSources = field(default_factory=OpenedSources)
    sources_before: int = 0


async def keep_nothing(_values: Mapping[str, Any]) -> None:
    """Keep nothing."""


@dataclass(frozen=True)
class RunContext:
    """What every step of a run may use; only `report_gap` adds to its log's gaps."""

    run_id: str
    settings: Settings
    reasoner: Reasoner
    library: Library
    journal: Journal
    log: EventLog
    outside: Outside = field(default_factory=Outside)
    steering: Steering = field(default_factory=Steering)
    templates: tuple[TemplateFile, ...] = ()
    keep_report: Callable[[Mapping[str, Any]], Awaitable[object]] = keep_nothing
    _storing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def add_snapshot(self, source: str, document: Document) -> Snapshot:
        """Store a document by its source's id, one at a time, in a single thread."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        async with self._storing:
            return await asyncio.to_thread(self.library.add_snapshot, source, document, retrieved_at=now)

    def emit(self, event: Event) -> None:
        """Keep an event, and show it."""
        self.log.emit(event)

    def places_named(self, language: str) -> str:
        """Return the names of what is searched, for messages to the user and the report."""
        docs, places = self.outside.docs, self.outside.places
        paths = join_list(docs, language)
        own = phrase("place_documents", language, paths=paths) if docs else phrase("place_bundled", language)
        return join_list([own if place.name == "documents" else place.name for place in places], language)

    def report_gap(self, gap: Gap) -> Gap:
        """Log a gap once, for the report and as an event, and return it."""
        gap = safe_noun(gap)
        if not any(_is_same(gap, known) for known in self.log.gaps):
            self.log.gaps.append(gap)
            self.emit(GapFound(**gap.model_dump()))
        return gap

    def report_failure(self, what: str, error: Exception, *, source: str = "") -> Gap:
        """Log that `what` failed and return the gap; raise errors that must end the run."""
        return self.report_gap(Gap(what=what, why=reason_of(error, what), source=source))


DEFECT = "Internal error"  # how the reason of a gap begins that a defect of the program has made


def reason_of(error: Exception, what: str) -> str:
    """Return why `what` failed, for its gap; raise an error that must end the run."""
    if isinstance(error, ConfigError | StoreError | Stopped | ReplayDiffers):
        raise error
    if isinstance(error, ResearchError):
        return error.message
    _log.error("%s failed", what, exc_info=error)
    return f"{DEFECT}: {type(error).__name__}."


def _is_same(gap: Gap, other: Gap) -> bool:
    """Return whether two gaps say the same, but for seconds or tokens."""
    if not gap.codes or (gap.what, gap.source, gap.codes) != (other.what, other.source, other.codes):
        return gap == other
    words, others = ([v for v in g.values.values() if any(c.isalpha() for c in v)] for g in (gap, other))
    return words == others
