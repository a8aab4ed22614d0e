"""`deep-research export`: a report in another format."""

import sys
from pathlib import Path

import click

from deep_research.cli.completion_command import complete_run_ids
from deep_research.cli.wrapped_text import echo_wrapped


@click.command("export")
@click.argument("run_id", metavar="[RUN]", default="", shell_complete=complete_run_ids)
@click.option("--to", "to", metavar="FORMAT", default="", help="The format; without it, the formats are listed.")
@click.option(
    "--out", metavar="FILE", default="", help="Where to write it (default: a name of the title; - for standard output)."
)
@click.option("--followup", "number", type=int, metavar="N", help="Export the answer to the Nth follow-up question.")
@click.option("--fonts", metavar="FOLDER", default="", help="A folder with fonts for PDF, beside those of the system.")
def export_command(run_id: str, to: str, out: str, number: int | None, fonts: str) -> int:
    """Write the report of RUN (its id, or an unambiguous part of it) in another format.

    \b
    deep-research export RUN --to html
    deep-research export RUN --to pdf --out report.pdf
    deep-research export                              list the formats
    """
    from deep_research import api  # noqa: PLC0415 - help stays fast
    from deep_research.cli.flags import output_file  # noqa: PLC0415

    if not to:
        for exporter in api.list_exporters():
            echo_wrapped(f"{exporter.name:<10}{exporter.suffix:<11}{exporter.purpose}")
        return 0
    if not run_id:
        raise click.UsageError("Name a run. `deep-research list` shows all runs.")
    path = output_file({"out": out})
    made = api.open_run(run_id).export(to, followup=number, font_folder=Path(fonts).expanduser() if fonts else None)
    if out == "-":
        sys.stdout.buffer.write(made.data)
        return 0
    path = path or Path(made.file_name).absolute()
    api.save_bytes(path, made.data)
    echo_wrapped(f"Written: {path}")
    return 0
