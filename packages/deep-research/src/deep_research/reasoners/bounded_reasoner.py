"""A reasoner that thinks in a worker process, within limits of time and memory.

The worker asks this process for what the library holds, whichever kind of library that is and whoever notes what it shows.
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, cast, get_type_hints

from deep_research.data import Ranking, ReasonerInfo
from deep_research.errors import WorkTooLarge
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.ports import Library, Ranker, Reasoner
from deep_research.worker_child import Limits, ask_parent
from deep_research.worker_pool import call_in_worker, in_worker_thread

_LIMITS = Limits(memory=1_000_000_000, cpu_seconds=20.0)
"""Of one step of thinking, such as a plan or a section."""
_ASKED = ("source", "sources", "snapshot", "is_read", "passage", "passages", "search")


def bounded_reasoner(ranker: Ranker | None = None, kind: type[Reasoner] = FinderReasoner) -> Reasoner:
    """Return a reasoner of the class `kind`, each of whose steps is done in a worker.

    A step raises WorkTooLarge at a limit, and ends when it is cancelled.
    """
    return cast(Reasoner, _BoundedReasoner(kind, ranker))


class _BoundedReasoner:
    """Implements `ports.Reasoner`: each method hands over to `think` in a worker."""

    def __init__(self, kind: type[Reasoner], ranker: Ranker | None) -> None:
        self._kind, self._ranker = kind, ranker
        here = _made(kind, ranker)
        self.info: ReasonerInfo = here.info
        self.reads_conversation, self.unanswered = here.reads_conversation, here.unanswered

    def __getattr__(self, step: str) -> Callable[..., Any]:
        """Return a thinking step as a coroutine function; raise AttributeError if none."""
        if step.startswith("_"):
            raise AttributeError(step)
        return partial(self._think, getattr(Reasoner, step), step)

    async def _think(self, method: Any, step: str, /, *args: Any, **named: Any) -> Any:
        given = dict(inspect.signature(method).bind(self, *args, **named).arguments)
        del given["self"]
        library: Library | None = given.pop("library", None)
        offered = offered_of(library) if library is not None else {}
        if self._ranker is not None:
            offered["rank"] = partial(_rank, self._ranker, asyncio.get_running_loop())
        try:
            return await in_worker_thread(
                call_in_worker,
                think,
                self._kind,
                step,
                given,
                library is not None,
                self._ranker.name if self._ranker is not None else "",
                returns=_returned(step),
                limits=_LIMITS,
                offered=offered,
            )
        except WorkTooLarge as error:
            message = (
                f"Thinking about it without a model took more than {_LIMITS.cpu_seconds:.0f} s of computing, or too "
                "much memory, and was ended. Ask a shorter question, or leave out the document with very long lines."
            )
            raise WorkTooLarge(message) from error


@cache
def _returned(step: str) -> Any:
    return get_type_hints(getattr(Reasoner, step))["return"]


def _rank(ranker: Ranker, loop: asyncio.AbstractEventLoop, question: str, texts: Sequence[str]) -> Ranking:
    """Ask the ranker in the event loop of its connections, from another thread."""
    return asyncio.run_coroutine_threadsafe(ranker.rank(question, texts), loop).result()


def _made(kind: Callable[..., Reasoner], ranker: Ranker | None) -> Reasoner:
    return kind(ranker) if ranker is not None else kind()


def think(kind: type[Reasoner], step: str, given: Mapping[str, Any], has_library: bool, ranker: str) -> Any:
    """Do one step of thinking in this process, the worker.

    `ranker` is the name of the parent's, or "".
    """
    reasoner = _made(kind, _AskedRanker(ranker) if ranker else None)
    about = {**given, "library": AskedLibrary()} if has_library else given
    return asyncio.run(getattr(reasoner, step)(**about))


class _AskedRanker(Ranker):
    """Stands for the ranker of the parent (`ports.Ranker`)."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def rank(self, question: str, texts: Sequence[str]) -> Ranking:
        return ask_parent("rank", question, list(texts))


def offered_of(library: Library) -> dict[str, Callable[..., Any]]:
    """Return what an `AskedLibrary` in a worker may ask of a library."""
    return {name: getattr(library, name) for name in _ASKED}


class AskedLibrary:
    """A stand-in for the parent's library (`ports.Library`), cached during one step."""

    def __init__(self) -> None:
        for name in ("source", "snapshot", "is_read", "passage", "passages"):
            setattr(self, name, cache(partial(ask_parent, name)))
        for name in ("sources", "search"):
            setattr(self, name, partial(ask_parent, name))
