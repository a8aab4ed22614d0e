"""`deep-research list`, `show`, `export`, `delete`, `steer`: use and guide runs."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from claimcheck.text.cleaning import shorten
from deep_research.cli import shared_flags
from deep_research.cli.lazy_modules import api
from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research.api import Run, RunHead, RunRecord

_R = TypeVar("_R", bound="RunHead")
_QUESTION_CHARS = 70
_SHOWN = 20  # runs that are listed before they are deleted


@click.command("list")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Show only the newest N runs.")
@click.option("--status", metavar="STATUS", help="Show only the runs of this status: finished, waiting, failed, …")
@shared_flags.AS_JSON
def list_command(limit: int | None, status: str | None, as_json: bool) -> None:
    """List earlier runs, newest first. A run that waits or failed shows why."""
    records = [record for record in map(as_it_is, api.list_runs()) if status in (None, record.status)][:limit]
    if as_json:
        click.echo(json.dumps([r.model_dump(mode="json") for r in records], ensure_ascii=False, indent=1))
        return
    if not records:
        start = 'No runs yet. Start one: deep-research "your question"'
        echo_wrapped(f"No run has the status {status!r}." if status else start)
    for record in records:
        echo_wrapped(list_lines(record))


def as_it_is(record: _R) -> _R:
    """Return a run's record, as stopped if its process died (kill -9, a power cut)."""
    if record.status != "running" or api.open_run(record.run_id).is_running:
        return record
    return record.model_copy(update={"status": "stopped", "error": "Its process ended without a report."})


def list_lines(record: "RunHead") -> Iterator[str]:
    """Yield a run's list lines: id, status, time, question; then its wait or failure."""
    yield f"{record.run_id}  {record.status:<9}{record.created[:16].replace('T', ' ')}  {shorten(record.question, _QUESTION_CHARS)}"
    if record.status == "waiting":
        yield f"    asks you: {shorten(record.waiting_for, _QUESTION_CHARS)}"
    if record.error and record.status in ("failed", "damaged", "stopped"):
        yield f"    {shorten(record.error, _QUESTION_CHARS)}"
    if record.status == "stopped":
        yield f"    Go on with: deep-research resume {record.run_id}"


@click.command("show")
@shared_flags.RUN
@shared_flags.AS_JSON
@click.option("--passage", metavar="ID", help="Show one passage (s7p3) and its source.")
@shared_flags.SHORT
@shared_flags.NO_PAGER
@click.option("--followup", "number", type=int, metavar="N", help="Show the answer to the Nth follow-up question.")
def show_command(
    run_id: str, as_json: bool, passage: str | None, short: bool, no_pager: bool, number: int | None
) -> int:
    """Show the report of RUN (its id, or an unambiguous part), a passage or answer.

    The answer is one to a question about the report. For a run without a report, its state is shown: what it waits for,
    or why it ended.
    """
    from deep_research.cli.report_printer import came_from, print_markdown, print_report  # noqa: PLC0415

    run = api.open_run(run_id)
    if passage:
        echo_wrapped(passage_text(run, passage))
        return 0
    if not run.has_report:
        record = as_it_is(run.record)
        if as_json:
            click.echo(record.model_dump_json(indent=1))
        return _say_state(record)
    if number is not None:
        made = run.numbered_follow_up(number)
        click.echo(made.model_dump_json(indent=1)) if as_json else print_markdown(str(made))
        return 0
    report = run.report
    if as_json:
        click.echo(report.model_dump_json(indent=1))
        return 0
    print_report(report, short=short, paged=not no_pager)
    if asked := run.follow_ups():
        listed = (f"  {one.number}. {one.question} — {came_from(one)}" for one in asked)
        how = f"Show an answer: deep-research show {run.id} --followup N"
        echo_wrapped("\n".join(["\nAsked about this report:", *listed, how]))
    return 0


def _say_state(record: "RunRecord") -> int:
    lines = [f"The run {record.run_id} has no report yet: {record.status}.", f"Question: {record.question}"]
    again = f"Go on with: deep-research resume {record.run_id}"
    if record.status == "waiting":
        lines.append(f"It asks you: {record.waiting_for}")
        options = record.asked.options if record.asked is not None else ()
        lines += [f"  {number}. {option}" for number, option in enumerate(options, 1)]
        again += ' --answer "…"'
    if record.error:
        lines.append(f"Reason: {record.error}")
    echo_wrapped([*lines, again], err=True)
    return 4 if record.status == "waiting" else 1


def passage_text(run: "Run", wanted: str) -> str:
    """Return a run's passage with its place. Raises RunNotFound for an unknown id."""
    read = run.read_passage(wanted)
    found, source = read.passage, read.facts.source
    place = f", page {found.page}" if found.page else ""
    head = f"{found.id}: {source.title}{place} ({source.url or source.key}), characters {found.start}–{found.end}"
    return f"{head}\n{found.heading}\n\n{found.text}"


@click.command("delete")
@click.argument("run_ids", metavar="RUN", nargs=-1, shell_complete=shared_flags.complete_run_ids)
@click.option("--older-than", metavar="AGE", default="", help="Delete the runs begun longer ago: 12h, 30d, 8w, 6m, 1y.")
@click.option("--all", "everything", is_flag=True, help="Delete all runs, and all that was kept for them.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def delete_command(run_ids: tuple[str, ...], older_than: str, everything: bool, yes: bool) -> int:
    """Delete RUN (its id, or an unambiguous part) and all its unshared data.

    That is its folder, the index of documents that no other run names, and the pages of the web that no other run has
    read. A run that is being carried out is left. Settings and templates are never deleted.

    \b
    deep-research delete 20260731-0912
    deep-research delete --older-than 30d --yes
    """
    if not (run_ids or older_than or everything):
        raise click.UsageError("Name runs, --older-than AGE or --all. `deep-research list` shows all runs.")
    found = api.find_runs(run_ids, older_than=older_than, everything=everything)
    if not found:
        echo_wrapped("There are no such runs.")
        return 0
    if not yes and not _is_confirmed(found):
        return 2
    done = api.delete_runs([record.run_id for record in found])
    echo_wrapped(f"Deleted {_count(len(done.runs))} and {done.freed / 1e6:,.1f} MB.")
    for run_id in done.busy:
        echo_wrapped(f"Left, because a process is carrying it out: {run_id}", err=True)
    if done.unreadable:
        why = "because what these runs have read is not readable"
        echo_wrapped(f"Pages of the web were left, {why}: {', '.join(done.unreadable)}", err=True)
    return 1 if done.busy else 0


def _count(number: int) -> str:
    return f"{number:,} run{'' if number == 1 else 's'}"


def _is_confirmed(records: "list[RunHead]") -> bool:
    for record in records[:_SHOWN]:
        echo_wrapped(next(iter(list_lines(record))), err=True)
    if len(records) > _SHOWN:
        echo_wrapped(f"… and {len(records) - _SHOWN:,} more", err=True)
    if not sys.stdin.isatty():
        echo_wrapped(f"Nothing was deleted: to delete {_count(len(records))} without being asked, add --yes.", err=True)
        return False
    return click.confirm(f"Delete {_count(len(records))} for good?", default=False, err=True)


@click.command("steer")
@shared_flags.RUN
@click.option("--remark", metavar="TEXT", help="A remark for all researchers of the run.")
@click.option("--drop", metavar="SECTION", help="Remove a section, by title or number.")
@click.option("--add", metavar="SECTION", help='Add a section: "TITLE: what to look for".')
@click.option("--finish", is_flag=True, help="Stop the research, and write the report now from what is known.")
@click.option("--stop", is_flag=True, help="Stop the run, in whichever process it goes on; it can be resumed.")
def steer_command(run_id: str, remark: str | None, drop: str | None, add: str | None, finish: bool, stop: bool) -> int:
    """Give instructions to RUN while it goes on; without a flag, list its sections.

    \b
    deep-research steer RUN --remark "Only trials after 2020"
    deep-research steer RUN --drop 3 --add "Costs: prices per patient and year"
    deep-research steer RUN --finish
    """
    run = api.open_run(run_id)
    if stop:
        told = "It stops; go on with: " if run.stop() else "It is not going on. Go on with: "
        echo_wrapped(f"{told}deep-research resume {run.id}")
        return 0
    wanted = {"remark": remark, "drop": drop, "add": add, "finish": "" if finish else None}
    said = [run.steer(kind, text) for kind, text in wanted.items() if text is not None]
    if not said:
        for number, title in enumerate(run.sections(), 1):
            echo_wrapped(f"{number}. {title}")
        return 0
    for one in said:
        echo_wrapped(f"Noted: {' '.join(part for part in (one.kind, one.section, one.text) if part)}")
    if not run.is_running:
        echo_wrapped(f"The run is not going on at the moment. It takes this in with: deep-research resume {run.id}")
    return 0


@click.command("export")
@click.argument("run_id", metavar="[RUN]", default="", shell_complete=shared_flags.complete_run_ids)
@click.option("--to", "to", metavar="FORMAT", default="", help="The format; without it, the formats are listed.")
@click.option(
    "--out",
    type=shared_flags.PATH,
    metavar="FILE",
    help="Where to write it (default: a name of the title; - for standard output).",
)
@click.option("--followup", "number", type=int, metavar="N", help="Export the answer to the Nth follow-up question.")
@click.option(
    "--fonts", type=shared_flags.PATH, metavar="FOLDER", help="A folder with fonts for PDF, beside those of the system."
)
def export_command(run_id: str, to: str, out: str | None, number: int | None, fonts: str | None) -> int:
    """Write the report of RUN (its id, or an unambiguous part) in another format.

    \b
    deep-research export RUN --to html
    deep-research export RUN --to pdf --out report.pdf
    deep-research export                              list the formats
    """
    from deep_research.cli.flags import output_file, write_export  # noqa: PLC0415

    if not to:
        for exporter in api.list_exporters():
            echo_wrapped(f"{exporter.name:<10}{exporter.suffix:<11}{exporter.purpose}")
        return 0
    if not run_id:
        raise click.UsageError("Name a run. `deep-research list` shows all runs.")
    path = output_file({"out": out, "to": to})
    made = api.open_run(run_id).export(to, followup=number, font_folder=Path(fonts).expanduser() if fonts else None)
    if out == "-":
        sys.stdout.buffer.write(made.data)
        return 0
    echo_wrapped(f"Written: {write_export(made, path)}")
    return 0
