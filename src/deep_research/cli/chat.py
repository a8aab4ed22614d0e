"""`deep-research` without a question at a terminal: ask, watch, and go on asking about the report."""

import difflib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click

from deep_research import __version__
from deep_research import settings as settings_module
from deep_research.assembly.reasoner_choice import key_variables, resolve_provider
from deep_research.cli.flags import settings_of
from deep_research.cli.line_input import Prompt
from deep_research.cli.report_printer import came_from, print_answer, print_report, reference_line
from deep_research.cli.run_commands import list_lines, passage_text
from deep_research.cli.session import Interrupted, Session
from deep_research.data import Report
from deep_research.errors import ConfigError, ResearchError
from deep_research.runs.lifecycle import check_usable
from deep_research.settings import Settings, load_keys
from deep_research.stores.run_folder import RunFolder, list_runs, open_run, write_atomically


def greeting(settings: Settings, docs: Sequence[str]) -> str:
    """Return the greeting. Raises ConfigError for a path, provider or workflow that cannot be used."""
    check_usable(docs, settings)
    provider = resolve_provider(settings, load_keys(key_variables()))
    return "\n".join(
        [
            f"deep-research {__version__}",
            f"Thinks:   {_thinker(provider, settings)}",
            f"Searches: {_searched(provider, settings, docs)}",
            "Type a question. /help lists the commands, Ctrl-D leaves.",
        ]
    )


def _thinker(provider: str, settings: Settings) -> str:
    if provider == "extractive":
        return "no language model (extractive): it quotes what it finds, word for word"
    from deep_research.providers.provider_catalog import open_model  # noqa: PLC0415 - only with a model

    opened = open_model(
        provider, settings.model_name, keys=load_keys(key_variables()), base_url=settings.model_base_url
    )
    return f"{provider} {opened.model}"


def _searched(provider: str, settings: Settings, docs: Sequence[str]) -> str:
    """The places as the next run will choose them (`runs.run`)."""
    places = [*docs]
    if settings.sources:
        places.append("web: " + ", ".join(settings.sources))
    elif settings.strategy or (provider != "extractive" and not docs):
        places.append(f"web: {settings.strategy or 'auto'}")
    return " · ".join(places) or "the bundled library (name your own documents with --docs PATH)"


_SHOWN_RUNS = 10


class _Command(NamedTuple):
    """A slash command: what it takes, what it is for, and what it does with its words."""

    takes: str
    purpose: str
    do: Callable[[str], None]


class Conversation:
    """Questions and answers until the user leaves; the flags of the command hold for all of them."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        self._home = settings_module.home()
        self._session = Session(flags)
        self._folder: RunFolder | None = None
        self._report: Report | None = None
        self._left = False
        self._commands = {
            "/new": _Command("QUESTION", "research something new", self._new),
            "/report": _Command("", "show the report again", self._show_report),
            "/sources": _Command("", "list what the report cites, with the ids of the passages", self._sources),
            "/show": _Command("ID", "show a passage (s7p3) and where it was read", self._passage),
            "/answers": _Command("", "list the questions asked about the report", self._answers),
            "/save": _Command("FILE", "write the report (Markdown) to a file", self._save),
            "/runs": _Command("", "list the last runs", self._runs),
            "/open": _Command("RUN", "ask about an earlier run, or go on with one that was stopped", self._open),
            "/help": _Command("", "show this", self._help),
            "/quit": _Command("", "leave (or Ctrl-D)", self._quit),
        }

    def hold(self) -> int:
        """Talk until the user leaves; returns the exit code. Raises ConfigError for flags that cannot be used."""
        click.echo(greeting(settings_of(self._flags), self._flags.get("docs") or ()), err=True)
        prompt = Prompt(history=self._home / "history", words=tuple(self._commands))
        try:
            while not self._left:
                try:
                    if line := prompt.line("\n> "):
                        self._take(line)
                except (Interrupted, KeyboardInterrupt):
                    click.echo("", err=True)  # the line is given up, or the run; Ctrl-D leaves
                except EOFError:
                    click.echo("", err=True)
                    break
        finally:
            prompt.close()
        return 0

    def _take(self, line: str) -> None:
        """Do what a line says; what goes wrong ends the line, not the conversation."""
        try:
            if line.startswith("/"):
                self._command(line)
            elif self._report is not None and self._report.answered:
                self._follow_up(line)
            else:
                self._new(line)
        except ResearchError as error:
            click.echo(f"Error: {error.message}", err=True)
        except OSError as error:
            click.echo(f"Error: {error.strerror or error}.", err=True)

    def _command(self, line: str) -> None:
        name, _, words = line.partition(" ")
        known = self._commands.get(name.lower()) or self._commands.get({"/exit": "/quit", "/?": "/help"}.get(name, ""))
        if known is None:
            near = difflib.get_close_matches(name, self._commands, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            click.echo(f"There is no command {name[:40]!r}.{hint} /help lists all.", err=True)
        elif known.takes and not words.strip():
            click.echo(f"Use: {name} {known.takes} — {known.purpose}.", err=True)
        else:
            known.do(words.strip())

    def _new(self, question: str) -> None:
        self._sit(self._session.begin(question))

    def _sit(self, folder: RunFolder) -> None:
        report = self._session.sit(folder)
        self._folder, self._report = folder, report
        self._session.deliver(folder, report)
        if report.answered:
            click.echo("Ask about this report, or /new QUESTION for another research.", err=True)

    def _follow_up(self, question: str) -> None:
        folder, _ = self._current()
        print_answer(self._session.follow_up(folder, question))

    def _current(self) -> tuple[RunFolder, Report]:
        """The run that is talked about. Raises ConfigError when there is none."""
        if self._folder is None or self._report is None:
            raise ConfigError("There is no report yet; ask a question first, or /open a run.", setting="run", value="")
        return self._folder, self._report

    def _show_report(self, _words: str) -> None:
        print_report(self._current()[1])

    def _sources(self, _words: str) -> None:
        report = self._current()[1]
        click.echo("\n".join(reference_line(reference) for reference in report.references) or "Nothing is cited.")

    def _passage(self, words: str) -> None:
        click.echo(passage_text(self._current()[0].library, words.strip("[] ")))

    def _answers(self, _words: str) -> None:
        from deep_research.runs.follow_up_run import follow_ups  # noqa: PLC0415 - only where it is asked for

        made = follow_ups(self._current()[0])
        click.echo("\n".join(f"{one.number}. {one.question} — {came_from(one)}" for one in made) or "None yet.")

    def _save(self, words: str) -> None:
        from pathlib import Path  # noqa: PLC0415

        path = Path(words).expanduser().absolute()
        if path.is_dir() or not path.parent.is_dir():
            raise ConfigError(f"{words!r} is no place for a file.", setting="save", value=words)
        write_atomically(path, self._current()[1].report)
        click.echo(f"Report: {path}", err=True)

    def _runs(self, _words: str) -> None:
        records = list_runs(self._home)[:_SHOWN_RUNS]
        click.echo("\n".join(line for record in records for line in list_lines(record)) or "No runs yet.")

    def _open(self, words: str) -> None:
        folder = open_run(self._home, words)
        if not folder.result.exists():
            self._sit(folder)
            return
        self._folder, self._report = folder, folder.load_result()
        click.echo(f"Now talking about: {self._report.title} (run {folder.run_id}). /report shows it.", err=True)

    def _help(self, _words: str) -> None:
        rows = [(f"{name} {command.takes}".strip(), command.purpose) for name, command in self._commands.items()]
        width = max(len(usage) for usage, _ in rows)
        click.echo(
            "\n".join(f"  {usage:<{width}}  {purpose}" for usage, purpose in rows)
            + "\nAnything else is a question: about the report where there is one, else to be researched."
            + "\nCtrl-C stops a run (its state is kept) or clears the line."
        )

    def _quit(self, _words: str) -> None:
        self._left = True
