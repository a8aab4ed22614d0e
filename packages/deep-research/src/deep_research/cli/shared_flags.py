"""The flags and arguments that several commands have."""

from collections.abc import Callable
from typing import Any

import click

from deep_research.cli.lazy_modules import api


class GivenPath(click.ParamType):
    """A non-empty path: "", of an unset variable, would mean the current folder."""

    name = "path"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is given. Raises click.BadParameter for an empty one."""
        return value if value.strip() else self.fail("it is empty; is a variable not set?", param, ctx)


def complete_run_ids(_context: object, _parameter: object, incomplete: str) -> list[str]:
    """Return the ids of runs that begin so, for the shell."""
    return sorted((run_id for run_id in api.run_ids() if run_id.startswith(incomplete)), reverse=True)


RUN = click.argument("run_id", metavar="RUN", shell_complete=complete_run_ids)
PATH = GivenPath()
DOCS = click.option(
    "-d", "--docs", multiple=True, type=PATH, metavar="PATH", help="File or folder to search; may be given again."
)
SOURCE = click.option(
    "--source", "sources", multiple=True, metavar="NAME", help="Web source, may be given again (deep-research sources)."
)
STRATEGY = click.option(
    "--strategy", metavar="NAME", help="Set of web sources: academic, patents, news, code, community, general, auto."
)
PROVIDER = click.option(
    "-p", "--provider", metavar="NAME", help="Model provider (default: first with a key, else finder: no model)."
)
MODEL = click.option("--model", metavar="NAME", help="Model of the provider.")
SETTING = click.option(
    "--set", "pairs", multiple=True, metavar="NAME=VALUE", help="Any setting; `deep-research settings` lists all."
)
BUDGET = click.option("--budget", metavar="AMOUNT", help="Maximum cost: 0.50 (US dollars) or 200000tokens.")
ESTIMATE = click.option("--estimate", is_flag=True, help="Print the expected cost with a model, and stop.")
OUT = click.option(
    "-o",
    "--out",
    type=PATH,
    metavar="FILE",
    help="Also write the report or answer (Markdown) to FILE; - for standard output.",
)
SHORT = click.option("--short", is_flag=True, help="Print the answer only: what stands before the sections.")
NO_PAGER = click.option("--no-pager", is_flag=True, help="Print a long report at once, without the pager.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else.")
QUIET = click.option("--quiet", is_flag=True, help="Show no progress; print only where the report is.")
VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show every event.")


def report_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the flags for displaying a report and its progress."""
    for flag in (VERBOSE, QUIET, AS_JSON, NO_PAGER, SHORT, OUT):
        command = flag(command)
    return command
