"""Show the progress of a run: a live table on a terminal, plain lines elsewhere."""

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Self

from deep_research.cli.wrapped_text import echo_wrapped
from deep_research.errors import NeedsAnswer
from deep_research.events import PASSING, Event

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live


class View(AbstractContextManager["View"]):
    """Shows events as plain lines on stderr, and typed input; nothing if `quiet`."""

    draws_input = False

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self._quiet, self._verbose = quiet, verbose
        self._told: tuple[str, int] = ("", -1)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Leave the lines where they are."""

    def show(self, event: Event) -> None:
        """Print an event's line if it has one; pieces of the report have none."""
        if self._quiet or event.kind in PASSING:
            return
        text = describe(event)
        if self._verbose:
            text = text or event.model_dump_json(exclude={"number", "seconds"})
        elif event.kind == "progress":  # a line for every tenth is enough
            told = event.what, event.done * 10 // event.total if event.total else -1
            text, self._told = "" if told == self._told else text, told
        if text:
            echo_wrapped(f"{event.seconds:7.1f}s  {text}", err=True)

    def show_input(self, line: str) -> None:
        """Show the line that is being typed: here, the terminal echoes it."""

    def show_reply(self, text: str) -> None:
        """Show what became of a line that was typed."""
        echo_wrapped(text, err=True)


def make_view(*, quiet: bool, verbose: bool, passing: bool = False) -> View:
    """Return a live table, which a `passing` run leaves no trace of, or plain lines."""
    if sys.stderr.isatty() and not quiet and not verbose:
        from rich.console import Console  # noqa: PLC0415 - only on a terminal

        console = Console(stderr=True)
        if not console.is_dumb_terminal:
            return LiveView(console, passing=passing)
    return View(quiet=quiet, verbose=verbose)


_LINES = {
    "stage_started": "stage: {stage}",
    "clarification_asked": "question to you: {question}",
    "analyzed": "read as a {query_type} question",
    "section_written": "[{section}] notes: {passages} passages cited of {sources} sources",
    "gap_found": "gap: {what}: {why}",
    "verified": "verified: {statements} statements, {problems} problems",
    "report_ready": "report ready: {references} references, {gaps} gaps",
    "run_declined": "ended without a report: {reason}",
}
"""The events that are told in their own words alone."""


def describe(event: Event) -> str:  # noqa: PLR0911 - one line per kind of event
    """Return one line of text about an event; "" for those that need none."""
    match event.kind:
        case "run_started":
            again = "resumed" if event.resumed else "started"
            where = " · searching the bundled library (name your own documents with --docs)" if event.notice else ""
            return f"run {event.run_id} {again} · reasoner: {event.reasoner}{where}"
        case "progress":
            return f"{event.what}: {event.done}" + (f" of {event.total}" if event.total else "")
        case "understood":
            return "\n          ".join([event.verification, *(f"assumed: {one}" for one in event.assumptions)])
        case "discovered":
            named = f"{len(event.entities)} entries: {', '.join(event.entities)}"
            return f"found {named if event.entities else 'no entries'}"
        case "planned":
            return f"plan: {' · '.join(event.sections)}"
        case "section_started":
            again = f" (attempt {event.attempt})" if event.attempt > 1 else ""
            return f"[{event.section}] researching{again}"
        case "searched":
            reused = ", known" if event.reused else ""
            head = f"[{event.section}] " if event.section else ""
            return f"{head}searched {event.source}: {event.query[:90]} → {event.found} ({event.new} new{reused})"
        case "section_reviewed":
            again = ", again" if event.retry else ""
            return f"[{event.section}] review: {event.score} of 10, {event.status}{again}" if event.score else ""
        case "reviewed":
            back = f", again: {', '.join(event.retry)}" if event.retry else ""
            return f"review: {event.score} of 10{back}" if event.score else ""
        case "steered":
            said = (event.what, f"[{event.section}]" * bool(event.section), event.text)
            late = " (too late: the report is being written)" if event.late else ""
            return f"you: {' '.join(filter(None, said))}{late}"
        case "revised" if event.edits or event.failed:
            return f"revised: {event.edits} edits" + (f", {event.failed} did not fit" if event.failed else "")
    return _LINES.get(event.kind, "").format_map(event.model_dump())


class LiveView(View):
    """A live table of the run: stages, sections, searches, gaps; then the report."""

    draws_input = True

    def __init__(self, console: "Console", *, passing: bool = False) -> None:
        from deep_research.cli.progress_table import Board  # noqa: PLC0415 - only on a terminal

        super().__init__()
        self._console, self._passing = console, passing
        self._board = Board()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        """Take the screen, again after a question to the user."""
        from rich.live import Live  # noqa: PLC0415 - only on a terminal

        self._live = Live(console=self._console, get_renderable=self._render, refresh_per_second=8)
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Restore the screen with the last state; a question to the user replaces it."""
        self._board.typed, self._board.told = None, ""
        if self._live is not None:
            self._live.transient = self._passing or (kind is not None and issubclass(kind, NeedsAnswer))
            self._live.stop()

    def _render(self) -> "RenderableType":
        return self._board.render(self._console.width, self._console.height)

    def show(self, event: Event) -> None:
        """Take the event into the table."""
        self._board.take(event)

    def show_input(self, line: str) -> None:
        """Show the line below the table."""
        self._board.typed = line

    def show_reply(self, text: str) -> None:
        """Show the reply below the table."""
        self._board.told = text
