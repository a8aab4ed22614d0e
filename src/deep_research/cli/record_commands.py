"""`deep-research replay`: what was recorded of runs, used again."""

import asyncio

import click


@click.command("replay")
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def replay_command(run_id: str, as_json: bool) -> int:
    """Do RUN again from its journal, without network and keys, and print its report.

    The report must be the same, byte for byte. The command ends with code 1 at the first call that the run did not make.
    """
    from deep_research import api  # noqa: PLC0415 - help stays fast
    from deep_research.cli.report_printer import print_report  # noqa: PLC0415

    run = api.open_run(run_id)
    report = asyncio.run(run.replay())
    click.echo(report.model_dump_json(indent=1)) if as_json else print_report(report)
    click.echo(f"The replay of {run.id} gave the same report.", err=True)
    return 0
