"""`deep-research resume RUN`: take up a run that was stopped, crashed, or waits for an answer."""

from typing import Any

import click


@click.command("resume")
@click.argument("run_id", metavar="RUN")
@click.option("--answer", help="Answer to the question the run waits for.")
@click.option(
    "-o", "--out", metavar="FILE", help="Also write the report (Markdown) to this file; - for standard output."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object, and nothing else.")
@click.option("--quiet", is_flag=True, help="Show nothing while it runs.")
@click.option("-v", "--verbose", is_flag=True, help="Show every event.")
def command(run_id: str, **flags: Any) -> int:
    """Go on with RUN; what is done is not done again. A finished run is shown."""
    from deep_research.cli.session import Session  # noqa: PLC0415

    return Session(flags).resume(run_id)
