"""One sitting at the terminal: run or resume, show what happens, ask what the run asks, hand over the report."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import click

from deep_research import settings as settings_module
from deep_research.cli.clarify_prompt import ask_user, say_asked
from deep_research.cli.flags import output_file, settings_of
from deep_research.cli.keyboard import listening, say
from deep_research.cli.progress_view import View, make_view
from deep_research.cli.report_printer import print_answer, print_report
from deep_research.data import Asked, FollowUp, Report
from deep_research.i18n.catalog import phrase
from deep_research.runs import lifecycle as runs
from deep_research.stores.run_folder import RunFolder, open_run, write_atomically

EXIT_OK, EXIT_NOTHING_FOUND, EXIT_NEEDS_ANSWER, EXIT_STOPPED = 0, 3, 4, 130
_R = TypeVar("_R")
_Listening = Callable[[asyncio.AbstractEventLoop], AbstractContextManager[None]]


class Interrupted(Exception):
    """A sitting ended without a report; `code` is the exit code that says why. The way on was shown."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Session:
    """Carries out runs with the flags of a command."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        self._home = settings_module.home()
        self._ready = False

    def start(self, question: str) -> int:
        """Begin a new run. Returns the exit code; raises ConfigError or StoreError for the front door to show."""
        if self._flags.get("estimate"):
            from deep_research.cli.research_command import print_estimate  # noqa: PLC0415 - only where it is asked for

            print_estimate(settings_of(self._flags))
            return EXIT_OK
        return self._to_the_end(self.begin(question))

    def resume(self, run_id: str) -> int:
        """Take an earlier run up again, or a question about it that was interrupted."""
        return self._to_the_end(open_run(self._home, run_id))

    def ask(self, run_id: str, question: str) -> int:
        """Ask a question about a finished run. Returns the exit code."""
        output_file(self._flags)
        try:
            made = self.follow_up(open_run(self._home, run_id), question)
        except Interrupted as stopped:
            return stopped.code
        return self._hand_over(made)

    def begin(self, question: str) -> RunFolder:
        """Make a new run. Raises ConfigError for unusable flags or an unusable question."""
        output_file(self._flags)
        settings = settings_of(self._flags)
        return runs.create(question, home=self._home, settings=settings, docs=self._flags.get("docs") or ())

    def sit(self, folder: RunFolder) -> Report:
        """Do the run, or what is left of it, asking the user what it asks. Raises Interrupted and ResearchError."""
        self._get_ready()
        view = make_view(quiet=self._is_set("quiet"), verbose=self._is_set("verbose"), language=folder.load().language)
        answers = [self._flags["answer"]] if self._flags.get("answer") is not None else []
        nobody = not answers and not self._can_ask()

        def answer(_asked: Asked) -> str | None:
            return answers.pop() if answers else None

        while True:
            work = runs.carry_out(folder, home=self._home, listener=view.show, answer=None if nobody else answer)
            try:
                with view:
                    return _interruptible(work, self._keyboard(folder, view))
            except (asyncio.CancelledError, KeyboardInterrupt):
                raise _stopped(folder) from None
            except runs.NeedsAnswer as waiting:
                asked = folder.load().asked or Asked(question=waiting.message)
                answers.append(self._answer_of(folder, asked))

    def follow_up(self, folder: RunFolder, question: str) -> FollowUp:
        """Ask about a finished run; "" takes up the question that was interrupted. Raises Interrupted, ResearchError."""
        from deep_research.runs import follow_up_run as followup  # noqa: PLC0415 - only where it is asked for

        self._get_ready()
        view = make_view(quiet=self._is_set("quiet"), verbose=self._is_set("verbose"), language="en", passing=True)
        changes = {
            "model_provider": self._flags.get("provider"),
            "model_name": self._flags.get("model"),
        }
        given = {name: value for name, value in changes.items() if value is not None}
        try:
            with view:
                return _interruptible(
                    followup.follow_up(folder, question, home=self._home, listener=view.show, settings=given)
                )
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise _stopped(folder) from None

    def _keyboard(self, folder: RunFolder, view: View) -> "_Listening":
        """What listens to the keyboard while a run goes on; nothing where nobody is there."""
        if not self._can_ask():
            return lambda _loop: nullcontext()
        view.typed("")

        def on_line(line: str) -> None:
            view.told(say(folder, line))

        on_change = view.typed if view.draws_input else None
        return lambda loop: listening(loop, on_line=on_line, on_change=on_change)

    def _to_the_end(self, folder: RunFolder) -> int:
        from deep_research.runs.follow_up_run import unfinished  # noqa: PLC0415

        try:
            left = unfinished(folder) if folder.result.exists() else None
            if left is not None:
                return self._hand_over(self.follow_up(folder, left.question))
            return self.deliver(folder, self.sit(folder))
        except Interrupted as stopped:
            return stopped.code

    def _get_ready(self) -> None:
        if self._ready:
            return
        self._ready = True
        if self._flags.get("verbose"):
            logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
        # What was imported stays: a collection that walks it would hold the event loop up.
        gc.freeze()

    def _is_set(self, flag: str) -> bool:
        return bool(self._flags.get(flag))

    def _can_ask(self) -> bool:
        """Whether there is somebody at a terminal who does not want silence."""
        wants = not (self._is_set("as_json") or self._is_set("quiet"))
        return wants and sys.stdin.isatty() and sys.stderr.isatty()

    def _answer_of(self, folder: RunFolder, asked: Asked) -> str:
        """What the user says to a question of the run. Raises Interrupted when nobody does."""
        if not self._can_ask():
            say_asked(asked)
            click.echo(f'Answer with: deep-research resume {folder.run_id} --answer "…"', err=True)
            raise Interrupted(EXIT_NEEDS_ANSWER)
        try:
            return ask_user(asked)
        except KeyboardInterrupt:
            raise _stopped(folder) from None
        except EOFError:
            click.echo(phrase("continue_hint", "en", run_id=folder.run_id), err=True)
            raise Interrupted(EXIT_NEEDS_ANSWER) from None

    def deliver(self, folder: RunFolder, report: Report) -> int:
        """Hand a finished report over as the flags want it; returns the exit code."""
        path = output_file(self._flags)
        if path is not None:
            write_atomically(path, report.report)
        if self._is_set("as_json"):
            click.echo(report.model_dump_json(indent=1))
        elif self._flags.get("out") == "-" or not self._is_set("quiet"):
            print_report(report, plain=self._flags.get("out") == "-")
        if not self._is_set("as_json"):
            run = "" if self._is_set("quiet") else f"   (run {folder.run_id})"
            click.echo(f"Report: {path or folder.report}{run}", err=True)
        return EXIT_OK if report.answered else EXIT_NOTHING_FOUND

    def _hand_over(self, made: FollowUp) -> int:
        """Hand the answer to a follow-up over; returns the exit code."""
        path = output_file(self._flags)
        if path is not None:
            write_atomically(path, str(made))
        if self._is_set("as_json"):
            click.echo(made.model_dump_json(indent=1))
        elif self._flags.get("out") == "-":
            click.echo(str(made))
        elif not self._is_set("quiet"):
            print_answer(made)
        return EXIT_OK if made.report is not None and made.report.answered else EXIT_NOTHING_FOUND


def _stopped(folder: RunFolder) -> Interrupted:
    click.echo(phrase("continue_hint", "en", run_id=folder.run_id), err=True)
    return Interrupted(EXIT_STOPPED)


def _interruptible(work: Coroutine[Any, Any, _R], keyboard: "_Listening" = lambda _loop: nullcontext()) -> _R:
    """Run `work`; the first Ctrl-C (or a polite kill) cancels it so that it can save its state."""

    async def main() -> _R:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, task.cancel)
        with keyboard(loop):
            return await task

    return asyncio.run(main())
