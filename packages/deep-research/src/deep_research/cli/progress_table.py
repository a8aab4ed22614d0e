"""What the live view knows of a run, and how it draws it."""

import time
from dataclasses import dataclass, field
from itertools import count

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from deep_research.cli.terminal_input import HINT
from deep_research.events import Event

_STAGES = ("prepare", "clarify", "analyze", "discover", "plan", "research", "review", "report", "verify")
_FOLLOW_UP = ("recall", "research", "report")  # the stages of a question about a finished report
_STEERED = {"drop": "dropped", "add": "added"}
_PLAIN = Console(width=200)
_LEAST_LINES, _LINES_AROUND = 4, 12
_WIDE = 100  # columns from which the last search of each section has room


@dataclass
class _Row:
    state: str = "waiting"
    searches: int = 0
    last: str = ""
    sources: int = 0
    passages: int = 0


@dataclass
class Board:
    """The state of the live view; `take` an event, `render` the whole."""

    begun: float = field(default_factory=time.monotonic)
    question: str = ""
    notice: str = ""
    stage: str = ""
    seen: list[str] = field(default_factory=list)
    progress: str = ""
    rows: dict[str, _Row] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    searches: int = 0
    done: str = ""
    typed: str | None = None
    told: str = ""
    written: str = ""

    def take(self, event: Event) -> None:  # noqa: C901, PLR0912 - one case per kind of event
        """Follow one event by the run's clock, which stops while the user is asked."""
        self.begun = time.monotonic() - event.seconds
        match event.kind:
            case "run_started":
                self.question = event.question
                self.notice = "No documents named: searching the bundled library." if event.notice else ""
            case "stage_started":
                self.stage, self.progress = event.stage, ""
                self.written = "" if event.stage == "report" else self.written
                self.seen.append(event.stage)
            case "progress":
                self.progress = f"{event.what} {event.done}" + (f"/{event.total}" if event.total else "")
            case "planned":
                self.rows = {title: _Row() for title in event.sections}
            case "section_started":
                self._row(event.section).state = "searching" if event.attempt == 1 else f"again ({event.attempt})"
            case "searched":
                self.searches += not event.reused
                if event.section:
                    row = self._row(event.section)
                    row.searches += 1
                    row.last = f"{event.query} → {event.found}"
            case "section_written":
                row = self._row(event.section)
                row.state, row.sources, row.passages = event.status, event.sources, event.passages
            case "section_reviewed":
                self._row(event.section).state = "sent back" if event.retry else "completed"
            case "reviewed":
                for title in event.retry:
                    self._row(title).state = "sent back"
            case "steered":
                if event.what in _STEERED and not event.late:
                    self._row(event.section).state = _STEERED[event.what]
            case "gap_found":
                self.gaps.append(f"{event.what}: {event.why}")
            case "report_piece":
                self.written += event.text
            case "verified":
                self.progress = f"verified: {event.statements} statements, {event.problems} problems"
            case "revised":
                self.progress = f"revised: {event.edits} edits"
            case "report_ready":
                self.done = f"{event.references} references · {event.gaps} gaps"

    def _row(self, title: str) -> _Row:
        return self.rows.setdefault(title, _Row())

    def render(self, width: int = 120, height: int = 40) -> RenderableType:
        """Draw the board for a terminal of `width` columns and `height` lines."""
        parts: list[RenderableType] = [Text(self.question, style="bold", overflow="ellipsis", no_wrap=True)]
        if self.notice:
            parts.append(Text(self.notice, style="yellow"))
        parts += [self._stages(), self._figures()]
        if self.written and not self.done:  # the last lines of the report that is being written
            most = max(_LEAST_LINES, height - _LINES_AROUND)
            lines = Text(self.written[-most * width :]).wrap(_PLAIN, width)
            parts.append(Text("\n").join(lines[-most:]))
        elif self.rows and "recall" not in self.seen:
            parts.append(self._sections(wide=width >= _WIDE))
        parts.extend(Text(f"gap  {gap}", style="yellow", overflow="ellipsis", no_wrap=True) for gap in self.gaps[-4:])
        if len(self.gaps) > 4:
            parts.append(Text(f"gap  … {len(self.gaps) - 4} more", style="yellow"))
        if not self.done:
            parts += self._said()
        return Group(*parts)

    def _said(self) -> list[RenderableType]:
        """Draw the reply to the user and the line being typed (its end if too long)."""
        lines: list[RenderableType] = [Text(self.told, style="yellow")] if self.told else []
        if self.typed is not None:
            typed = Text(self.typed[-60:]) if self.typed else Text(HINT, style="dim")
            lines.append(Text("say> ", no_wrap=True, overflow="ellipsis").append_text(typed))
        return lines

    def _stages(self) -> Text:
        line = Text(no_wrap=True, overflow="ellipsis")
        for stage in _FOLLOW_UP if "recall" in self.seen else _STAGES:
            if stage == "discover" and stage not in self.seen and "plan" in self.seen:
                continue
            now = stage == self.stage and not self.done
            style = "bold cyan" if now else "green" if stage in self.seen else "dim"
            line.append(f"{'▶' if now else '✓' if stage in self.seen else '·'} {stage} ", style=style)
        return line

    def _figures(self) -> Text:
        line = Text(f"{time.monotonic() - self.begun:.1f} s  {self.searches} searches", style="dim", no_wrap=True)
        if self.progress and not self.done:
            line.append(f"  {self.progress}", style="cyan")
        if self.done:
            line.append(f"  {self.done}", style="bold green")
        return line

    def _sections(self, *, wide: bool) -> Table:
        table = Table(box=None, pad_edge=False, expand=True, header_style="dim")
        table.add_column("", width=2)
        table.add_column("section", ratio=3, no_wrap=True, overflow="ellipsis")
        table.add_column("state", width=11)
        for counted in ("searches", "sources", "passages"):
            table.add_column(counted, justify="right", width=len(counted))
        if wide:
            table.add_column("last search", ratio=4, no_wrap=True, overflow="ellipsis", style="dim")
        numbers = count(1)  # as /drop takes them: without what was dropped
        for title, row in self.rows.items():
            number = "–" if row.state == "dropped" else str(next(numbers))
            style = {"completed": "green", "failed": "red", "waiting": "dim"}.get(row.state, "cyan")
            counts = (str(count or "") for count in (row.searches, row.sources, row.passages))
            table.add_row(number, title, Text(row.state, style=style), *counts, *([row.last] if wide else []))
        return table
