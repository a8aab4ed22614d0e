"""A run at the terminal: start or resume it, show its progress, ask what it asks, hand over the report."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deep_research import api
from deep_research.api import Run
from deep_research.cli.flags import output_file, settings_of
from deep_research.cli.wrapped_text import echo_wrapped
from deep_research.data import Asked, FollowUp, Report
from deep_research.errors import ConfigError, NeedsAnswer, ResearchError
from deep_research.i18n.catalog import phrase

if TYPE_CHECKING:
    from deep_research.cli.progress_view import View
    from deep_research.settings import Settings

EXIT_OK, EXIT_NOTHING_FOUND, EXIT_NEEDS_ANSWER, EXIT_STOPPED = 0, 3, 4, 130
_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_R = TypeVar("_R")
_Listening = Callable[[asyncio.AbstractEventLoop], AbstractContextManager[None]]


class Interrupted(Exception):
    """A run was left without a report; `code` is the exit code. How to go on was shown."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Session:
    """Carries out runs with the flags of a command."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        self._ready = False

    def settings(self) -> "Settings":
        """Return the settings in force with the flags of the command. Raises ConfigError."""
        return settings_of(self._flags)

    def start(self, question: str) -> int:
        """Begin a new run. Returns the exit code; raises ConfigError or StoreError for the front door to show."""
        if self._flags.get("estimate"):
            from deep_research.cli.research_command import print_estimate  # noqa: PLC0415 - only where it is asked for

            print_estimate(settings_of(self._flags))
            return EXIT_OK
        return self._to_the_end(self.begin(question))

    def resume(self, run_id: str) -> int:
        """Take an earlier run up again, or a question about it that was interrupted."""
        return self._to_the_end(api.open_run(run_id))

    def ask(self, run_id: str, question: str) -> int:
        """Ask a question about a finished run. Returns the exit code."""
        output_file(self._flags)
        try:
            made = self.follow_up(api.open_run(run_id), question)
        except Interrupted as stopped:
            return stopped.code
        return self._hand_over(made)

    def begin(self, question: str) -> Run:
        """Make a new run. Raises ConfigError for unusable flags or an unusable question."""
        path = output_file(self._flags)
        run = api.start_run(question, settings_of(self._flags), docs=self._flags.get("docs") or ())
        if path is not None:
            run.note_output(str(path))
        return run

    def _output_file(self, run: Run) -> Path | None:
        """Return the file that --out names, now or where the run was begun."""
        if self._flags.get("out") or not run.record.out:
            return output_file(self._flags)
        try:
            return output_file({"out": run.record.out})
        except ConfigError as error:  # its folder is gone
            echo_wrapped(error.message, err=True)
            return None

    def carry_out(self, run: Run) -> Report:
        """Do the run, or what is left of it, asking the user what it asks. Raises Interrupted and ResearchError."""
        self._get_ready()
        view = self._view(run.record.language)
        answers = [self._flags["answer"]] if self._flags.get("answer") is not None else []
        can_answer = bool(answers) or self._can_ask()

        def answer(_asked: Asked) -> str | None:
            return answers.pop() if answers else None

        while True:
            work = run.carry_out(**_listener(view), answer=answer if can_answer else None)
            try:
                with view or nullcontext():
                    return _interruptible(work, self._keyboard(run, view))
            except (asyncio.CancelledError, KeyboardInterrupt):
                raise _stopped(run) from None
            except NeedsAnswer as waiting:
                asked = run.record.asked or Asked(question=waiting.message)
                answers.append(self._answer_to(run, asked))

    def follow_up(self, run: Run, question: str) -> FollowUp:
        """Ask about a finished run; "" resumes the question that was interrupted. Raises Interrupted, ResearchError."""
        self._get_ready()
        view = self._view("en", passing=True)
        changes = {"model_provider": self._flags.get("provider"), "model_name": self._flags.get("model")}
        given = {name: value for name, value in changes.items() if value is not None}
        try:
            with view or nullcontext():
                return _interruptible(run.follow_up(question, **_listener(view), **given))
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise _stopped(run) from None

    def _view(self, language: str, *, passing: bool = False) -> "View | None":
        """Return what shows the progress, or None for silence; see `make_view`."""
        if self._is_set("quiet") or self._is_set("no_progress"):
            return None
        from deep_research.cli.progress_view import make_view  # noqa: PLC0415 - not in silence

        return make_view(verbose=self._is_set("verbose"), language=language, passing=passing)

    def _keyboard(self, run: Run, view: "View | None") -> "_Listening":
        """Return what reads the keyboard while a run goes on; nothing is read without a terminal."""
        if view is None or not self._can_ask():
            return lambda _loop: nullcontext()
        from deep_research.cli.terminal_input import listening, pass_on  # noqa: PLC0415 - only at a terminal

        view.show_input("")

        def on_line(line: str) -> None:
            view.show_reply(pass_on(run, line))

        on_change = view.show_input if view.draws_input else None
        return lambda loop: listening(loop, on_line=on_line, on_change=on_change)

    def _to_the_end(self, run: Run) -> int:
        try:
            left = run.unfinished_follow_up() if run.has_report else None
            if left is not None:
                return self._hand_over(self.follow_up(run, left.question))
            return self.deliver(run, self.carry_out(run))
        except Interrupted as stopped:
            return stopped.code

    def _get_ready(self) -> None:
        if self._ready:
            return
        self._ready = True
        if self._flags.get("verbose"):
            logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")

    def _is_set(self, flag: str) -> bool:
        return bool(self._flags.get(flag))

    def _can_ask(self) -> bool:
        """Return whether there is a terminal, and the user does not want silence."""
        wants = not any(map(self._is_set, ("as_json", "quiet", "no_progress")))
        return wants and sys.stdin.isatty() and sys.stderr.isatty()

    def _answer_to(self, run: Run, asked: Asked) -> str:
        """Return what the user answers. Raises Interrupted when the user cannot be asked, or does not answer."""
        from deep_research.cli.terminal_input import ask_user, say_asked  # noqa: PLC0415 - only where it is asked

        if not self._can_ask():
            say_asked(asked)
            echo_wrapped(f'Answer with: deep-research resume {run.id} --answer "…"', err=True)
            raise Interrupted(EXIT_NEEDS_ANSWER)
        try:
            return ask_user(asked)
        except KeyboardInterrupt:
            raise _stopped(run) from None
        except EOFError:
            echo_wrapped(phrase("continue_hint", "en", run_id=run.id), err=True)
            raise Interrupted(EXIT_NEEDS_ANSWER) from None

    def deliver(self, run: Run, report: Report) -> int:
        """Hand a finished report over as the flags want it; returns the exit code."""
        path = self._output_file(run)
        if path is not None:
            api.save_text(path, report.report)
        if self._is_set("as_json"):
            click.echo(report.model_dump_json(indent=1))
        elif self._flags.get("out") == "-" or not self._is_set("quiet"):
            from deep_research.cli.report_printer import print_report  # noqa: PLC0415 - only to show it

            print_report(
                report,
                plain=self._flags.get("out") == "-",
                short=self._is_set("short"),
                paged=not self._is_set("no_pager"),
            )
        if not self._is_set("as_json"):
            name = "" if self._is_set("quiet") else f"   (run {run.id})"
            echo_wrapped(f"Report: {path or run.report_path}{name}", err=True)
        return EXIT_OK if report.answered else EXIT_NOTHING_FOUND

    def _hand_over(self, made: FollowUp) -> int:
        """Hand the answer to a follow-up over; returns the exit code."""
        path = output_file(self._flags)
        if path is not None:
            api.save_text(path, str(made))
        if self._is_set("as_json"):
            click.echo(made.model_dump_json(indent=1))
        elif self._flags.get("out") == "-":
            click.echo(str(made))
        elif not self._is_set("quiet"):
            from deep_research.cli.report_printer import print_answer  # noqa: PLC0415 - only to show it

            print_answer(made)
        return EXIT_OK if made.report is not None and made.report.answered else EXIT_NOTHING_FOUND


def _listener(view: "View | None") -> dict[str, Any]:
    return {} if view is None else {"listener": view.show}


def _stopped(run: Run) -> Interrupted:
    echo_wrapped(phrase("continue_hint", "en", run_id=run.id), err=True)
    return Interrupted(EXIT_STOPPED)


def _pass_over_known(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Let pass that a task failed for a reason that ends the run: work beside the one whose error is shown."""
    if not isinstance(context.get("exception"), ResearchError):
        loop.default_exception_handler(context)


def _interruptible(work: Coroutine[Any, Any, _R], keyboard: "_Listening" = lambda _loop: nullcontext()) -> _R:
    """Run `work`; the first Ctrl-C (or a polite kill) cancels it so that it can save its state."""

    async def main() -> _R:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_pass_over_known)
        for name in _STOPPING:
            if signal.getsignal(name) is not signal.SIG_IGN:  # nohup ignores the end of the terminal
                loop.add_signal_handler(name, task.cancel)
        with keyboard(loop):
            return await task

    return asyncio.run(main())
