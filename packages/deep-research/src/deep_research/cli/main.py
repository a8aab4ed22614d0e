"""The command line; help and version load nothing heavy, a command only its own."""

import codecs
import gc
import io
import json
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from deep_research.cli.wrapped_text import HelpFormatter, echo_wrapped

EXIT_CODES = """\b
Exit codes:
  0    the report is written
  1    something failed; the message says what, the run's state is kept
  2    wrong usage: unknown flag or setting, a missing path, no question
  3    nothing was found that answers the question; the report says so
  4    the question or the plan needs your answer, and you could not be asked
  5    no report: the question cannot be answered, or you rejected the plan
  130  stopped by Ctrl-C; the run's state is kept"""


_SERVER = "deep_research_server"  # the package of the commands that go on: serve, token, mcp, enqueue, worker.
_LIKE, _MOST_WORDS = 0.75, 2
"""From which likeness a word is a mistyped command, where no more words than these stand on the line."""
_MODULES = (
    ("deep_research.cli.research_command", "research ask resume"),
    ("deep_research.cli.run_commands", "steer list show"),
    ("deep_research_server.commands", "enqueue worker"),
    ("deep_research.cli.record_commands", "replay"),
    ("deep_research.cli.run_commands", "export"),
    ("deep_research.cli.record_commands", "bundle import refresh watch"),
    ("deep_research.cli.run_commands", "delete"),
    ("deep_research.cli.verify_command", "verify"),
    ("deep_research.cli.part_commands", "check"),
    ("deep_research.cli.info_commands", "settings"),
    ("deep_research.cli.part_commands", "step"),
    ("deep_research.cli.info_commands", "sources templates"),
    ("deep_research_server.commands", "mcp serve token"),
)
"""The commands in the order of the help, with the modules of their functions `NAME_command`."""


class _Commands(click.Group):
    """A group whose commands are files, and whose default command takes the question."""

    commands_by_name = {name: module for module, names in _MODULES for name in names.split()}  # noqa: RUF012 - a constant

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.commands_by_name if name != "research"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands_by_name:
            return None
        try:
            return getattr(import_module(self.commands_by_name[cmd_name]), f"{cmd_name}_command")
        except ModuleNotFoundError as error:
            if error.name != _SERVER:
                raise
            return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and args[0] in self.commands_by_name:
            message = f"{args[0]!r} is in the package deep-research-server: install its wheel (docs/deploy.md)"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)

    def _mistyped(self, args: list[str]) -> str:
        """Return the command nearly named by a single lower-case word; "" for questions."""
        from difflib import get_close_matches  # noqa: PLC0415 - only for what is no command

        word, words = args[0], [arg for arg in args[:3] if not arg.startswith("-")]
        if len(args) == 1 and word.startswith("--"):
            return next(iter(get_close_matches(word, ("--version", "--help"), cutoff=_LIKE)), "")
        if len(words) > _MOST_WORDS or not re.fullmatch(r"[a-z]{3,12}", word):
            return ""
        return next(iter(get_close_matches(word, self.commands_by_name, cutoff=_LIKE)), "")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Whatever does not begin with the name of a command is a question with its flags.
        # While the shell completes a first word, every command is in question.
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        if args[:1] == ["help"] and len(args) <= _MOST_WORDS:
            args = [*args[1:], "--help"]
        if not args or (args[0] not in self.commands_by_name and args[0] not in ("--help", "-h", "--version")):
            if args and (meant := self._mistyped(args)):
                raise click.UsageError(
                    f"There is no command {args[0]!r}. Did you mean: deep-research {meant}\n"
                    f"To research the word itself: deep-research -q {args[0]}"
                )
            args = ["research", *args]
        return super().parse_args(ctx, args)


click.Context.formatter_class = HelpFormatter


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=EXIT_CODES
)
@click.version_option(package_name="deep-research", message="deep-research %(version)s")
def cli() -> None:
    """Research a question; hand over a report in which every claim can be checked.

    \b
    deep-research "How does speculative decoding work?"
    deep-research "What index types does PostgreSQL offer?" --docs ~/postgres-docs
    deep-research research --help      all flags of a research
    """
    import logging  # noqa: PLC0415 - help stays fast

    from deep_research.safe_text import SafeLog  # noqa: PLC0415 - see above

    # Before an SDK that a command loads sets up its own.
    handler = logging.lastResort or logging.StreamHandler()
    handler.setFormatter(SafeLog())
    logging.getLogger().addHandler(handler)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    # Most of what is made lives until the end; looking for garbage as often as usual takes a seventh of a start.
    gc.set_threshold(200_000, 20, 20)
    _allow_many_files()
    if arguments is None:
        _allow_all_signs()
    code = run(arguments)
    # The memory goes back with the process: looking through it for garbage on leaving takes a sixth of a whole command.
    gc.freeze()
    sys.exit(code)


def _allow_many_files() -> None:
    """Raise the limit of open files: a run has up to 20, and many go on at once."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on Windows

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _allow_all_signs() -> None:
    """Allow any text in output and input: what the console cannot encode is escaped.

    Where the system's language is ASCII, arguments and names of files are UTF-8 all the same.
    """
    if os.name == "posix" and not sys.flags.utf8_mode and codecs.lookup(sys.getfilesystemencoding()).name == "ascii":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - this program
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)


_ESCAPED = "deep_research.escaped"


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Return unencodable characters as JSON escapes, so JSON stays JSON, and the end."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escape)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        result: Any = cli.main(arguments, prog_name="deep-research", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        echo_wrapped(said.getvalue().rstrip("\n"), err=True)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - explained, or raised again
        return _explain(error)
    return result if isinstance(result, int) else 0


def _explain(error: Exception) -> int:
    """Show our own or a disk error in one line; let a defect show its traceback."""
    from deep_research.errors import ConfigError, Declined, ResearchError, RunNotFound  # noqa: PLC0415

    if isinstance(error, OSError):
        echo_wrapped(f"Error: cannot write the output: {error.strerror or error}.", err=True)
        return 1
    if not isinstance(error, ResearchError):
        raise error
    echo_wrapped(f"Error: {error.message}", err=True)
    if isinstance(error, Declined):
        return 5
    return 2 if isinstance(error, ConfigError | RunNotFound) else 1
