"""`deep-research` at a terminal without a question: a conversation with reports."""

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from claimcheck.language import detect
from deep_research import __version__, api
from deep_research.api import Run
from deep_research.cli.flags import settings_of
from deep_research.cli.report_printer import came_from, print_answer, print_markdown, print_report, reference_line
from deep_research.cli.run_commands import as_it_is, list_lines, passage_text
from deep_research.cli.session import Session
from deep_research.cli.terminal_input import read_line
from deep_research.cli.wrapped_text import echo_wrapped
from deep_research.conversation.replies import read_remark
from deep_research.errors import ConfigError, ResearchError
from deep_research.i18n.catalog import phrase
from deep_research.settings import Settings


def greeting(settings: Settings, docs: Sequence[str]) -> str:
    """Return the greeting. Raises ConfigError for a bad path, provider or setting."""
    used = api.preview_run(settings, docs)
    model = f"{used.provider} {used.model}" if used.model else "none (finder); places that a search finds are shown"
    places = [*used.docs, *([f"web: {used.web}"] if used.web else [])]
    searched = " · ".join(places) or "the bundled library (name your own documents with --docs PATH)"
    told = f"deep-research {__version__}\nModel:    {model}\nSearches: {searched}"
    return f"{told}\nType a question. /help lists the commands, Ctrl-D leaves."


_SHOWN_RUNS = 10


class Conversation:
    """Questions and answers until the user leaves; command flags apply to all."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        # In a pager the next question would be typed into it.
        self._session = Session({**flags, "no_pager": True})
        self._run: Run | None = None
        self._left = False
        # What a command takes, what it is for, and what does it with its words.
        self._commands: dict[str, tuple[str, str, Callable[[str], None]]] = {
            "/new": ("QUESTION", "research something new", self._new),
            "/report": ("", "show the report again", self._show_report),
            "/sources": ("", "list what the report cites, with the ids of the passages", self._sources),
            "/show": ("ID", "show a passage (s7p3) and where it was read", self._passage),
            "/answers": ("", "list the questions asked about the report", self._answers),
            "/save": ("FILE", "write the report (Markdown) to a file", self._save),
            "/runs": ("", "list the last runs", self._runs),
            "/open": ("RUN", "ask about an earlier run, or go on with one that was stopped", self._open),
            "/help": ("", "show this", self._help),
            "/quit": ("", "leave (or Ctrl-D)", self._quit),
        }

    def hold(self) -> int:
        """Converse until the user leaves; return the exit code. Raises ConfigError."""
        echo_wrapped(greeting(settings_of(self._flags), self._flags.get("docs") or ()), err=True)
        while not self._left:
            try:
                if line := read_line("\n> "):
                    self._take(line)
            except (Exit, KeyboardInterrupt):
                click.echo("", err=True)  # the line is given up, or the run; Ctrl-D leaves
            except EOFError:
                click.echo("", err=True)
                break
        return 0

    def _take(self, line: str) -> None:
        """Do what a line says; what goes wrong ends the line, not the conversation."""
        try:
            if line.startswith("/"):
                self._command(line)
            elif self._remark(line):
                pass
            elif self._run is not None and self._run.report.answered:
                print_answer(self._session.follow_up(self._run, line))
            else:
                self._new(line)
        except ResearchError as error:
            echo_wrapped(f"Error: {error.message}", err=True)
        except OSError as error:
            echo_wrapped(f"Error: {error.strerror or error}.", err=True)

    def _remark(self, line: str) -> bool:
        """Answer a line that needs no documents ("thanks"); return whether it is one."""
        remark = read_remark(line)
        if remark is None:
            return False
        if remark in ("leave", "help"):
            self._command({"leave": "/quit", "help": "/help"}[remark])
        else:
            print_markdown(phrase(f"remark_{remark}", detect(line)))
        return True

    def _command(self, line: str) -> None:
        name, _, words = line.partition(" ")
        known = self._commands.get(name.lower()) or self._commands.get(
            {"/exit": "/quit", "/?": "/help", "/list": "/runs"}.get(name, "")
        )
        if known is None:
            near = difflib.get_close_matches(name, self._commands, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            echo_wrapped(f"There is no command {name[:40]!r}.{hint} /help lists all.", err=True)
        elif known[0] and not words.strip():
            echo_wrapped(f"Use: {name} {known[0]} — {known[1]}.", err=True)
        else:
            known[2](words.strip())

    def _new(self, question: str) -> None:
        self._carry_out(self._session.begin(question))

    def _carry_out(self, run: Run) -> None:
        report = self._session.carry_out(run)
        self._run = run
        self._session.deliver(run, report)
        if report.answered:
            echo_wrapped("Ask about this report, or /new QUESTION for another research.", err=True)

    def _current(self) -> Run:
        if self._run is None:
            raise ConfigError("There is no report yet; ask a question first, or /open a run.", setting="run", value="")
        return self._run

    def _show_report(self, _words: str) -> None:
        print_report(self._current().report, paged=True)

    def _sources(self, _words: str) -> None:
        cited = self._current().report.references
        echo_wrapped("\n".join(map(reference_line, cited)) or "Nothing is cited.")

    def _passage(self, words: str) -> None:
        echo_wrapped(passage_text(self._current(), words.strip("[] ")))

    def _answers(self, _words: str) -> None:
        made = self._current().follow_ups()
        echo_wrapped("\n".join(f"{one.number}. {one.question} — {came_from(one)}" for one in made) or "None yet.")

    def _save(self, words: str) -> None:
        path = Path(words).expanduser().absolute()
        if path.is_dir() or not path.parent.is_dir():
            raise ConfigError(f"{words!r} is no place for a file.", setting="save", value=words)
        api.save_text(path, self._current().report.report)
        echo_wrapped(f"Report: {path}", err=True)

    def _runs(self, _words: str) -> None:
        records = map(as_it_is, api.list_runs()[:_SHOWN_RUNS])
        echo_wrapped("\n".join(line for record in records for line in list_lines(record)) or "No runs yet.")

    def _open(self, words: str) -> None:
        run = api.open_run(words)
        if not run.has_report:
            self._carry_out(run)
            return
        self._run = run
        echo_wrapped(f"Now talking about: {run.report.title} (run {run.id}). /report shows it.", err=True)

    def _help(self, _words: str) -> None:
        rows = [(f"{name} {takes}".strip(), purpose) for name, (takes, purpose, _) in self._commands.items()]
        width = max(len(usage) for usage, _ in rows)
        echo_wrapped(
            "\n".join(f"  {usage:<{width}}  {purpose}" for usage, purpose in rows)
            + "\nAnything else is a question: about the report where there is one, else to be researched."
            + "\nCtrl-C stops a run (its state is kept) or clears the line."
        )

    def _quit(self, _words: str) -> None:
        self._left = True
