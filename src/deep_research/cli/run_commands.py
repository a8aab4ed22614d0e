"""`deep-research list`, `show` and `steer`: earlier runs, and instructions to a running one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from deep_research.api import Run, RunRecord
    from deep_research.data import FollowUp

_QUESTION_CHARS = 70


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the runs as JSON.")
def list_command(as_json: bool) -> None:
    """List earlier runs, newest first. A run that waits or failed shows why."""
    from deep_research import api  # noqa: PLC0415 - help stays fast

    records = api.list_runs()
    if as_json:
        import json  # noqa: PLC0415

        click.echo(json.dumps([r.model_dump(mode="json") for r in records], ensure_ascii=False, indent=1))
        return
    if not records:
        click.echo('No runs yet. Start one: deep-research "your question"')
    for record in records:
        for line in list_lines(record):
            click.echo(line)


def list_lines(record: "RunRecord") -> Iterator[str]:
    """Give the lines of a run in a list: id, status, time, question; then what it waits for or why it failed."""
    yield f"{record.run_id}  {record.status:<9}{record.created[:16].replace('T', ' ')}  {_short(record.question)}"
    if record.status == "waiting":
        yield f"    asks you: {_short(record.waiting_for)}"
    if record.status == "failed":
        yield f"    {_short(record.error)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUESTION_CHARS else line[: _QUESTION_CHARS - 1] + "…"


@click.command("show")
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--passage", metavar="ID", help="Show one passage (s7p3) and its source.")
@click.option("--followup", "number", type=int, metavar="N", help="Show the answer to the Nth follow-up question.")
def show_command(run_id: str, as_json: bool, passage: str | None, number: int | None) -> int:
    """Show the report of RUN (its id, or an unambiguous part of it), one of its passages, or an answer about it.

    For a run without a report, its state is shown: what it waits for, or why it ended.
    """
    from deep_research import api  # noqa: PLC0415 - help stays fast
    from deep_research.cli.report_printer import print_markdown, print_report  # noqa: PLC0415

    run = api.open_run(run_id)
    if passage:
        click.echo(passage_text(run, passage))
        return 0
    if not run.has_report:
        return _say_state(run.record)
    if number is not None:
        made = run.numbered_follow_up(number)
        click.echo(made.model_dump_json(indent=1)) if as_json else print_markdown(str(made))
        return 0
    report = run.report
    if as_json:
        click.echo(report.model_dump_json(indent=1))
        return 0
    print_report(report)
    if asked := run.follow_ups():
        _say_follow_ups(run.id, asked)
    return 0


def _say_follow_ups(run_id: str, asked: "list[FollowUp]") -> None:
    from deep_research.cli.report_printer import came_from  # noqa: PLC0415

    click.echo("\nAsked about this report:")
    for one in asked:
        click.echo(f"  {one.number}. {one.question} — {came_from(one)}")
    click.echo(f"Show an answer: deep-research show {run_id} --followup N")


def _say_state(record: "RunRecord") -> int:
    """Say, on standard error, how far a run without a report is; returns the exit code that fits."""
    lines = [f"The run {record.run_id} has no report yet: {record.status}.", f"Question: {record.question}"]
    again = f"Go on with: deep-research resume {record.run_id}"
    if record.status == "waiting":
        lines.append(f"It asks you: {record.waiting_for}")
        options = record.asked.options if record.asked is not None else ()
        lines += [f"  {number}. {option}" for number, option in enumerate(options, 1)]
        again += ' --answer "…"'
    if record.error:
        lines.append(f"Reason: {record.error}")
    click.echo("\n".join([*lines, again]), err=True)
    return 4 if record.status == "waiting" else 1


def passage_text(run: "Run", wanted: str) -> str:
    """Return one passage of a run with where it was read. Raises ConfigError for an unknown id."""
    found, source = run.passage(wanted)
    place = f", page {found.page}" if found.page else ""
    head = f"{found.id}: {source.title}{place} ({source.url or source.key}), characters {found.start}–{found.end}"
    return f"{head}\n{found.heading}\n\n{found.text}"


@click.command("steer")
@click.argument("run_id", metavar="RUN")
@click.option("--remark", metavar="TEXT", help="A remark for all researchers of the run.")
@click.option("--drop", metavar="SECTION", help="Remove a section, by title or number.")
@click.option("--add", metavar="SECTION", help='Add a section: "TITLE: what to look for".')
@click.option("--finish", is_flag=True, help="Stop the research, and write the report now from what is known.")
def steer_command(run_id: str, remark: str | None, drop: str | None, add: str | None, finish: bool) -> int:
    """Give instructions to RUN while it goes on; without a flag, list its sections.

    \b
    deep-research steer RUN --remark "Only trials after 2020"
    deep-research steer RUN --drop 3 --add "Costs: prices per patient and year"
    deep-research steer RUN --finish
    """
    from deep_research import api  # noqa: PLC0415 - help stays fast

    run = api.open_run(run_id)
    wanted = {"remark": remark, "drop": drop, "add": add, "finish": "" if finish else None}
    said = [run.steer(kind, text) for kind, text in wanted.items() if text is not None]
    if not said:
        for number, title in enumerate(run.sections(), 1):
            click.echo(f"{number}. {title}")
        return 0
    for one in said:
        click.echo(f"Noted: {' '.join(part for part in (one.kind, one.section, one.text) if part)}")
    if not run.is_running:
        click.echo(f"The run is not going on at the moment. It takes this in with: deep-research resume {run.id}")
    return 0
