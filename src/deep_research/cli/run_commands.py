"""`deep-research list`, `show` and `steer`: earlier runs, and instructions to a running one."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from deep_research.data import FollowUp
    from deep_research.stores.run_folder import RunFolder, RunRecord

_QUESTION_CHARS = 70


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the runs as JSON.")
def list_command(as_json: bool) -> None:
    """List earlier runs, newest first; below a run that waits or failed, what for or why."""
    from deep_research.settings import home  # noqa: PLC0415
    from deep_research.stores.run_folder import list_runs  # noqa: PLC0415

    records = list_runs(home())
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
@click.option("--passage", metavar="ID", help="Show one passage (s7p3) and where it was read.")
@click.option("--followup", "number", type=int, metavar="N", help="Show the answer to the Nth question about it.")
def show_command(run_id: str, as_json: bool, passage: str | None, number: int | None) -> int:
    """Show the report of RUN (its id, or an unambiguous part of it), one passage behind it, or an answer about it.

    Of a run without a report its state is shown: what it waits for, or why it ended.
    """
    from deep_research.cli.report_printer import print_markdown, print_report  # noqa: PLC0415
    from deep_research.runs.follow_up_run import follow_ups, numbered  # noqa: PLC0415
    from deep_research.settings import home  # noqa: PLC0415
    from deep_research.stores.run_folder import open_run  # noqa: PLC0415

    folder = open_run(home(), run_id)
    if passage:
        click.echo(passage_text(folder.library, passage))
        return 0
    if not folder.result.exists():
        return _say_state(folder)
    if number is not None:
        made = numbered(folder, number)
        click.echo(made.model_dump_json(indent=1)) if as_json else print_markdown(str(made))
        return 0
    report = folder.load_result()
    if as_json:
        click.echo(report.model_dump_json(indent=1))
        return 0
    print_report(report)
    if asked := follow_ups(folder):
        _say_follow_ups(folder.run_id, asked)
    return 0


def _say_follow_ups(run_id: str, asked: "list[FollowUp]") -> None:
    from deep_research.cli.report_printer import came_from  # noqa: PLC0415

    click.echo("\nAsked about this report:")
    for one in asked:
        click.echo(f"  {one.number}. {one.question} — {came_from(one)}")
    click.echo(f"Show an answer: deep-research show {run_id} --followup N")


def _say_state(folder: "RunFolder") -> int:
    """Say, on standard error, what a run without a report is at; returns the exit code that fits."""
    record = folder.load()
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


def passage_text(path: Path, wanted: str) -> str:
    """Return one passage of the library at `path` with where it was read. Raises ConfigError for an unknown id."""
    from deep_research.errors import ConfigError  # noqa: PLC0415
    from deep_research.stores.sqlite_library import SqliteLibrary  # noqa: PLC0415

    library = SqliteLibrary(str(path))
    try:
        found = library.passage(wanted)
        source = library.source(found.source) if found else None
        if found is None or source is None:
            raise ConfigError(f"The run has no passage {wanted!r}.", setting="passage", value=wanted)
        place = f", page {found.page}" if found.page else ""
        head = f"{found.id}: {source.title}{place} ({source.url or source.key}), characters {found.start}–{found.end}"
        return f"{head}\n{found.heading}\n\n{found.text}"
    finally:
        library.close()


@click.command("steer")
@click.argument("run_id", metavar="RUN")
@click.option("--remark", metavar="TEXT", help="Tell everybody who works at it.")
@click.option("--drop", metavar="SECTION", help="Leave a section out: its title or number.")
@click.option("--add", metavar="SECTION", help='Research a section more: "TITLE: what to look for".')
@click.option("--finish", is_flag=True, help="End the research and write the report now, from what is known.")
def command(run_id: str, remark: str | None, drop: str | None, add: str | None, finish: bool) -> int:
    """Say something to RUN while it goes on; without a flag its sections are listed.

    \b
    deep-research steer RUN --remark "Only trials after 2020"
    deep-research steer RUN --drop 3 --add "Costs: prices per patient and year"
    deep-research steer RUN --finish
    """
    from deep_research.runs.steering_inbox import sections_of, steer  # noqa: PLC0415
    from deep_research.settings import home  # noqa: PLC0415
    from deep_research.stores.run_folder import open_run  # noqa: PLC0415
    from deep_research.stores.run_lock import is_held  # noqa: PLC0415

    folder = open_run(home(), run_id)
    wanted = {"remark": remark, "drop": drop, "add": add, "finish": "" if finish else None}
    said = [steer(folder, kind, text) for kind, text in wanted.items() if text is not None]
    if not said:
        for number, title in enumerate(sections_of(folder), 1):
            click.echo(f"{number}. {title}")
        return 0
    for one in said:
        click.echo(f"Noted: {' '.join(part for part in (one.kind, one.section, one.text) if part)}")
    if not is_held(folder.lock):
        click.echo(f"The run does not go on at the moment; it will with: deep-research resume {folder.run_id}")
    return 0
