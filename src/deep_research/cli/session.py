"""One sitting at the terminal: run or resume, show what happens, print the report, return the exit code."""

import asyncio
import gc
import logging
import re
import signal
import sys
from pathlib import Path
from typing import Any

import click

from deep_research import settings as settings_module
from deep_research.cli.view import make_view
from deep_research.data import Asked, Report
from deep_research.errors import ConfigError
from deep_research.runs import run as runs
from deep_research.runs.folder import RunFolder, open_run, write_atomically
from deep_research.text.phrases import phrase

_ROUNDS = {"loop": "max_iterations", "supervisor": "max_researcher_iterations"}
"""What --max-iterations limits, by workflow."""
EXIT_OK, EXIT_NOTHING_FOUND, EXIT_NEEDS_ANSWER, EXIT_STOPPED = 0, 3, 4, 130


class Session:
    """Carries out a run with the flags of a command."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = flags
        self._home = settings_module.home()

    def start(self, question: str) -> int:
        """Begin a new run. Returns the exit code; raises ConfigError or StoreError for the front door to show."""
        out = self._flags.get("out")
        if out and out != "-" and not Path(out).expanduser().absolute().parent.is_dir():
            raise ConfigError(f"The folder of --out {out!r} does not exist.", setting="out", value=out)
        if out and out != "-" and Path(out).expanduser().is_dir():
            raise ConfigError(f"--out {out!r} is a folder; name a file.", setting="out", value=out)
        settings = settings_module.load_settings(**self._values())
        if self._flags.get("estimate"):
            return _estimate(settings)
        folder = runs.create(question, home=self._home, settings=settings, docs=self._flags.get("docs") or ())
        return self._sit(folder)

    def resume(self, run_id: str) -> int:
        """Take an earlier run up again."""
        return self._sit(open_run(self._home, run_id))

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for pair in self._flags.get("pairs") or ():
            name, equals, value = pair.partition("=")
            if not equals:
                raise ConfigError(f"--set {pair!r} must be NAME=VALUE.", setting="set", value=pair)
            values[name.strip().replace("-", "_")] = value.strip()
        rounds = _ROUNDS.get(self._flags.get("workflow") or "", "max_review_iterations")
        named = {
            "model_provider": "provider",
            "model_name": "model",
            "workflow": "workflow",
            rounds: "max_iterations",
        }
        values |= {name: self._flags[flag] for name, flag in named.items() if self._flags.get(flag) is not None}
        if self._flags.get("sources"):
            values["sources"] = ",".join(self._flags["sources"])
        if self._flags.get("strategy"):
            values["strategy"] = self._flags["strategy"]
        if self._flags.get("budget"):
            values |= budget_of(self._flags["budget"])
        if self._flags.get("no_clarify"):
            values["allow_clarification"] = False
        return values

    def _sit(self, folder: RunFolder) -> int:
        if self._flags.get("verbose"):
            logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
        # What was imported stays: a collection that walks it would hold the event loop up.
        gc.freeze()
        view = make_view(
            quiet=bool(self._flags.get("quiet")),
            verbose=bool(self._flags.get("verbose")),
            language=folder.load().language,
        )
        try:
            with view:
                report = _run_interruptible(
                    runs.carry_out(folder, home=self._home, listener=view.show, answer=self._answer(view))
                )
        except (asyncio.CancelledError, KeyboardInterrupt):
            click.echo(phrase("continue_hint", "en", run_id=folder.run_id), err=True)
            return EXIT_STOPPED
        except runs.NeedsAnswer as asked:
            return self._needs_answer(folder, asked)
        return self._deliver(folder, report)

    def _answer(self, view: Any) -> runs.Answer | None:
        """Answer with --answer, or ask at the terminal where there is one and nobody wants silence."""
        prepared = [self._flags["answer"]] if self._flags.get("answer") is not None else []
        if prepared:
            return lambda _asked: prepared.pop() if prepared else None
        if self._flags.get("as_json") or self._flags.get("quiet") or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None

        def ask(asked: Asked) -> str:
            options = asked.options
            with view.paused():
                click.echo(f"\n{asked.question}", err=True)
                for number, option in enumerate(options, 1):
                    click.echo(f"  {number}. {option}", err=True)
                given = click.prompt(">", default="", show_default=False, prompt_suffix=" ", err=True).strip()
            return options[int(given) - 1] if given.isdigit() and 1 <= int(given) <= len(options) else given

        return ask

    def _needs_answer(self, folder: RunFolder, asked: runs.NeedsAnswer) -> int:
        click.echo(asked.message, err=True)
        options = asked.fields.get("options")
        for number, option in enumerate(options if isinstance(options, tuple) else (), 1):
            click.echo(f"  {number}. {option}", err=True)
        click.echo(f'Answer with: deep-research resume {folder.run_id} --answer "…"', err=True)
        return EXIT_NEEDS_ANSWER

    def _deliver(self, folder: RunFolder, report: Report) -> int:
        out = self._flags.get("out")
        if out and out != "-":
            write_atomically(Path(out).expanduser().absolute(), report.report)
        if self._flags.get("as_json"):
            click.echo(report.model_dump_json(indent=1))
        elif out == "-" or not self._flags.get("quiet"):
            print_report(report, plain=out == "-")
        place = out if out and out != "-" else str(folder.report)
        if not self._flags.get("as_json"):
            click.echo(f"Report: {place}" + ("" if self._flags.get("quiet") else f"   (run {folder.run_id})"), err=True)
        return EXIT_OK if report.answered else EXIT_NOTHING_FOUND


def settings_of(flags: dict[str, Any]) -> settings_module.Settings:
    """Return the settings in force with the flags of a command. Raises ConfigError."""
    return settings_module.load_settings(**Session(flags)._values())


_BUDGET = re.compile(
    r"\$?\s*(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?|\.[0-9]+)\s*(?P<unit>k?\s*tok(?:ens?)?|usd|\$)?", re.IGNORECASE
)


def budget_of(amount: str) -> dict[str, Any]:
    """Return the setting that a --budget means: US dollars (`0.50`), or tokens (`200000tokens`, `200k tokens`).

    Raises ConfigError for anything else.
    """
    found = _BUDGET.fullmatch(amount.strip())
    if found is None:
        message = f"--budget {amount!r} is neither US dollars (0.50) nor tokens (200000tokens)."
        raise ConfigError(message, setting="budget", value=amount)
    number, unit = float(found["number"].replace(",", "").replace("_", "")), (found["unit"] or "").lower()
    if "tok" not in unit:
        return {"budget_usd": number}
    return {"budget_tokens": int(number * (1000 if unit.startswith("k") else 1))}


def _estimate(settings: settings_module.Settings) -> int:
    from deep_research.runs.estimate import estimate  # noqa: PLC0415 - only where it is asked for
    from deep_research.runs.thinking import key_variables  # noqa: PLC0415

    made = estimate(settings, settings_module.load_keys(key_variables()))
    if made is None:
        click.echo("Without a model (provider extractive) a run makes no model calls and costs nothing.")
        return EXIT_OK
    dollars = "price unknown" if made.usd is None else f"about {made.usd:.3f} US dollars"
    most = "" if made.most_usd is None else f" ({made.most_usd:.2f} US dollars)"
    click.echo(
        f"{made.model}: about {made.calls} calls, {made.prompt_tokens:,} prompt tokens, {made.completion_tokens:,}"
        f" written, {dollars}, for a plan of {made.sections} sections.\n"
        f"At most about {made.most_calls} calls{most}, if every section of the longest plan is sent out again each time."
    )
    return EXIT_OK


def print_report(report: Report, *, plain: bool = False) -> None:
    """Print the report: rendered on a terminal, as its Markdown elsewhere."""
    if plain or not sys.stdout.isatty():
        click.echo(report.report)
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    console = Console()
    console.print(Markdown(report.report), width=min(console.width, 110))


def _run_interruptible(work: Any) -> Report:
    """Run `work`; the first Ctrl-C (or a polite kill) cancels it so that it can save its state."""

    async def main() -> Report:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, task.cancel)
        return await task

    return asyncio.run(main())
