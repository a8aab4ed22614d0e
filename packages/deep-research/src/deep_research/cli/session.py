"""A run at the terminal: start or resume, show progress, ask, print the report."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click
from click.exceptions import Exit

from deep_research import api
from deep_research.api import Run
from deep_research.cli.flags import output_file, settings_of, write_export
from deep_research.cli.progress_view import View, make_view
from deep_research.cli.report_printer import print_answer, print_markdown, print_report
from deep_research.cli.terminal_input import ask_user, listening, pass_on, say_asked
from deep_research.cli.wrapped_text import echo_wrapped
from deep_research.data import Asked, FollowUp, Report
from deep_research.errors import ConfigError, NeedsAnswer, ResearchError, StoreError
from deep_research.i18n.catalog import explain, outages, phrase
from deep_research.safe_text import SafeLog
from deep_research.settings import Settings

EXIT_OK, EXIT_NOTHING_FOUND, EXIT_NEEDS_ANSWER, EXIT_STOPPED = 0, 3, 4, 130
_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_R = TypeVar("_R")


class Session:
    """Carries out runs by a command's flags; what has no report ends in click's Exit."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        self._out = output_file(flags)  # before anything is paid for
        if flags.get("verbose"):
            if logging.lastResort is not None:  # what every command begins with
                logging.getLogger().removeHandler(logging.lastResort)
            handler = logging.StreamHandler()
            handler.setFormatter(SafeLog("%(levelname)s %(name)s: %(message)s"))
            logging.basicConfig(level=logging.INFO, handlers=[handler])

    def start(self, question: str) -> int:
        """Begin a new run; return the exit code. Raises ConfigError or StoreError."""
        if self._flags.get("estimate"):
            print_estimate(settings_of(self._flags))
            return EXIT_OK
        return self._to_the_end(self.begin(question))

    def resume(self, run_id: str) -> int:
        """Take an earlier run up again, or a question about it that was interrupted."""
        return self._to_the_end(api.open_run(run_id))

    def ask(self, run_id: str, question: str) -> int:
        """Ask a question about a finished run. Returns the exit code."""
        return self._hand_over(self.follow_up(api.open_run(run_id), question))

    def begin(self, question: str) -> Run:
        """Make a new run. Raises ConfigError for unusable flags or an unusable question."""
        run = api.start_run(question, settings_of(self._flags), docs=self._flags.get("docs") or ())
        if self._out is not None:
            run.note_output(str(self._out))
        return run

    def _output_file(self, run: Run) -> tuple[Path | None, str]:
        """Return the file of --out, or the one noted at the start, and its format."""
        record = run.record
        if self._flags.get("out"):
            return self._out, ""
        try:
            return output_file({"out": record.out, "to": record.out_format}), record.out_format
        except (ConfigError, StoreError) as error:  # its folder is gone, or cannot be written any more
            echo_wrapped(error.message, err=True)
            return None, ""

    def carry_out(self, run: Run) -> Report:
        """Do the rest of a run, asking the user if needed. Raises Exit, ResearchError."""
        view = self._view()
        answers = [self._flags["answer"]] if self._flags.get("answer") is not None else []
        can_answer = bool(answers) or self._can_ask()

        def answer(_asked: Asked) -> str | None:
            return answers.pop() if answers else None

        while True:
            work = run.carry_out(listener=view.show, answer=answer if can_answer else None)
            try:
                with view:
                    return _interruptible(work, self._keyboard(run, view))
            except (asyncio.CancelledError, KeyboardInterrupt):
                raise _stopped(run) from None
            except NeedsAnswer as waiting:
                asked = run.record.asked or Asked(question=waiting.message)
                answers.append(self._answer_to(run, asked))

    def follow_up(self, run: Run, question: str) -> FollowUp:
        """Ask a question about a finished run. Raises Exit, ResearchError."""
        view = self._view(passing=True)
        changes = {"model_provider": self._flags.get("provider"), "model_name": self._flags.get("model")}
        given = {name: value for name, value in changes.items() if value is not None}
        try:
            with view:
                return _interruptible(run.follow_up(question, listener=view.show, **given), nullcontext())
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise _stopped(run) from None

    def _view(self, *, passing: bool = False) -> View:
        quiet = self._is_set("quiet") or self._is_set("no_progress")
        return make_view(quiet=quiet, verbose=self._is_set("verbose"), passing=passing)

    def _keyboard(self, run: Run, view: View) -> AbstractContextManager[None]:
        """Return the keyboard reader for a running run, idle without a terminal."""
        if not self._can_ask():
            return nullcontext()
        view.show_input("")
        return listening(
            on_line=lambda line: view.show_reply(pass_on(run, line)),
            on_change=view.show_input if view.draws_input else None,
        )

    def _to_the_end(self, run: Run) -> int:
        left = run.unfinished_follow_up() if run.has_report else None
        if left is not None:
            return self._hand_over(self.follow_up(run, left.question))
        return self.deliver(run, self.carry_out(run))

    def _is_set(self, flag: str) -> bool:
        return bool(self._flags.get(flag))

    def _can_ask(self) -> bool:
        wants = not any(map(self._is_set, ("as_json", "quiet", "no_progress")))
        return wants and sys.stdin.isatty() and sys.stderr.isatty()

    def _answer_to(self, run: Run, asked: Asked) -> str:
        """Return the user's answer. Raises Exit if the user cannot be asked or is silent."""
        if asked.held or not self._can_ask():
            say_asked(asked)
            echo_wrapped(f'Answer with: deep-research resume {run.id} --answer "…"', err=True)
            raise Exit(EXIT_NEEDS_ANSWER)
        try:
            return ask_user(asked)
        except KeyboardInterrupt:
            raise _stopped(run) from None
        except EOFError:
            raise _stopped(run, EXIT_NEEDS_ANSWER) from None

    def deliver(self, run: Run, report: Report) -> int:
        """Hand a finished report over as the flags want it; returns the exit code."""
        path, to = self._output_file(run)
        short, paged = self._is_set("short"), not self._is_set("no_pager")
        try:
            path = write_export(run.export(to), path) if to else path
            code = self._put_out(
                report, None if to else path, lambda plain: print_report(report, plain=plain, short=short, paged=paged)
            )
        except StoreError:
            echo_wrapped(f"Report: {run.report_path}   (run {run.id})", err=True)
            raise
        if report.diff:
            click.echo(report.diff, err=True)
        if not self._is_set("as_json"):
            name = "" if self._is_set("quiet") else f"   (run {run.id})"
            echo_wrapped(f"Report: {path or run.report_path}{name}", err=True)
        return code_of_verification(run, report) if report.workflow == "verify" else code

    def _hand_over(self, made: FollowUp) -> int:
        return self._put_out(
            made, self._out, lambda plain: print_markdown(str(made), plain=True) if plain else print_answer(made)
        )

    def _put_out(self, made: Report | FollowUp, path: Path | None, show: Callable[[bool], None]) -> int:
        """Save Markdown to a file and print it per flags; `show` is told if plainly."""
        if path is not None:
            api.save_text(path, str(made))
        plain = self._flags.get("out") == "-"
        if self._is_set("as_json"):
            click.echo(made.model_dump_json(indent=1))
        elif plain or not self._is_set("quiet"):
            show(plain)
        report = made.report if isinstance(made, FollowUp) else made
        if report is not None and not report.reasoner.is_language_model:
            for gap in outages(report.gaps):
                echo_wrapped(explain(gap, "en"), err=True)
        return EXIT_OK if report is not None and report.answered else EXIT_NOTHING_FOUND


def code_of_verification(run: Run, report: Report) -> int:
    """Return the exit code of a verification; print why nothing was checked."""
    counts = api.verdict_counts(report)
    if not counts.cited:
        why = "no statement cites a web address. For reports on files give --docs FOLDER."
        why = "nothing in the given documents comes near a statement." if run.record.docs else why
        echo_wrapped(f"Nothing was checked: {why}", err=True)
        return EXIT_NOTHING_FOUND
    if counts.contradicted or counts.misleading:
        return 2
    return 1 if counts.unverified or any(p.outcome == "open" for p in report.problems) else EXIT_OK


def print_estimate(settings: Settings, reports: Sequence[str] = (), *, revises: bool = False) -> None:
    """Print the cost of a run, or of verifying `reports`. Raises ConfigError."""
    work = "verification" if reports else "run"
    made = api.estimate_verification(settings, reports, revises=revises) if reports else api.estimate_cost(settings)
    if made is None:
        echo_wrapped(f"Without a model (provider finder) a {work} makes no model calls and costs nothing.")
        return
    dollars = "price unknown" if made.usd is None else f"about {made.usd:.3f} US dollars"
    most = "" if made.most_usd is None else f" ({made.most_usd:.2f} US dollars)"
    plan = f", for a plan of {made.sections} sections" if made.sections else ""
    again = ", if every section of the longest plan is researched again each time" if made.sections else ""
    echo_wrapped(
        f"{made.model}: about {made.calls} calls, {made.prompt_tokens:,} prompt tokens, {made.completion_tokens:,}"
        f" written, {dollars}{plan}.\nAt most about {made.most_calls} calls{most}{again}."
    )


def _stopped(run: Run, code: int = EXIT_STOPPED) -> Exit:
    echo_wrapped(phrase("continue_hint", "en", run_id=run.id), err=True)
    return Exit(code)


def _pass_over_known(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore task failures that end the run anyway; another error is already shown."""
    if not isinstance(context.get("exception"), ResearchError):
        loop.default_exception_handler(context)


def _interruptible(work: Coroutine[Any, Any, _R], keyboard: AbstractContextManager[None]) -> _R:
    """Run `work`; the first Ctrl-C or SIGTERM cancels it, so that it saves its state."""

    async def main() -> _R:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_pass_over_known)
        for name in _STOPPING:
            if signal.getsignal(name) is not signal.SIG_IGN:  # nohup ignores the end of the terminal
                loop.add_signal_handler(name, task.cancel)
        with keyboard:
            return await task

    return asyncio.run(main())
