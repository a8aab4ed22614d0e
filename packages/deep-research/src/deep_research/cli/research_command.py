"""`deep-research "question"`, `ask` and `resume`: start or continue a run, live."""

import sys
from typing import Any

import click

from deep_research.cli import shared_flags
from deep_research.cli.main import EXIT_CODES


@click.command("research", epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("words", metavar="QUESTION", nargs=-1)
@click.option("-q", "--query", "query", help="The question, instead of the argument.")
@shared_flags.DOCS
@shared_flags.SOURCE
@shared_flags.STRATEGY
@click.option(
    "--workflow",
    type=click.Choice(["sections", "loop", "supervisor", "quick"]),
    help="How the run works (default: sections).",
)
@click.option(
    "--depth",
    type=click.Choice(["brief", "standard", "deep"]),
    help="Length of the report: about 500, 2,000 or 7,000 words (default: standard).",
)
@click.option(
    "--max-iterations",
    type=int,
    metavar="N",
    help="Maximum number of times that weak sections are researched again (0–10).",
)
@shared_flags.PROVIDER
@shared_flags.MODEL
@shared_flags.SETTING
@shared_flags.BUDGET
@shared_flags.ESTIMATE
@click.option("--confirm-plan", is_flag=True, help="Show the plan, and wait for a yes, a no or changes.")
@click.option("--confirm-review", is_flag=True, help="Show the review of the sections, and wait for what follows.")
@click.option("--template", metavar="NAME", help="Focus template (deep-research templates); none: no template.")
@click.option("--no-clarify", is_flag=True, help="Never ask; start with stated assumptions.")
@shared_flags.report_flags
@click.option("--deep-research", "_deep", is_flag=True, hidden=True)
def research_command(words: tuple[str, ...], query: str | None, **flags: Any) -> int:
    """Research QUESTION in documents (--docs), on the web or in the bundled library.

    The web is searched with --source or --strategy. Without QUESTION, standard input is read; at a terminal a
    conversation begins: questions, answers, and further questions about the report.
    """
    question = query if query is not None else " ".join(words)
    if query is not None and words:
        raise click.UsageError("Give the question once: as an argument or with -q.")
    given = query is not None or bool(words)
    silent = flags["as_json"] or flags["quiet"] or flags["estimate"]
    if not given and not silent and sys.stdin.isatty() and sys.stderr.isatty():
        from deep_research.cli.chat import Conversation  # noqa: PLC0415 - help stays fast

        return Conversation(flags).hold()
    if question == "-" or (not given and not sys.stdin.isatty()):
        question = _read_question()
    if not question.strip():
        raise click.UsageError(
            'No question was given. Example: deep-research "How does speculative decoding work?"\n'
            "At a terminal, deep-research without a question begins a conversation."
        )
    from deep_research.cli.session import Session  # noqa: PLC0415

    return Session(flags).start(question)


def _read_question() -> str:
    from deep_research.protocol.media_type import text_of  # noqa: PLC0415 - help stays fast

    if sys.stdin is None or sys.stdin.closed:
        return ""
    try:
        return text_of(sys.stdin.buffer.read())
    except UnicodeError as error:
        raise click.UsageError(f"Standard input cannot be read: {error}.") from error


@click.command("ask")
@click.argument("words", metavar="QUESTION", nargs=-1, required=True)
@click.option(
    "--run", "run_id", metavar="RUN", help="Ask about the report of an earlier run; what it has read is searched first."
)
@shared_flags.DOCS
@shared_flags.PROVIDER
@shared_flags.MODEL
@shared_flags.SOURCE
@shared_flags.STRATEGY
@shared_flags.OUT
@shared_flags.AS_JSON
@click.option("--quiet", "no_progress", is_flag=True, help="Show no progress, only the answer.")
@shared_flags.VERBOSE
def ask_command(words: tuple[str, ...], **flags: Any) -> int:
    """Answer QUESTION in one turn, without a plan, a review or questions back.

    With --run, QUESTION is about the report of that run. The answer comes from what the run has read, with the same
    passages; if that does not answer it, the sources of the run are searched again.
    """
    from deep_research.cli.session import Session  # noqa: PLC0415

    run_id, question = flags.pop("run_id"), " ".join(words)
    if run_id is None:
        return Session({**flags, "workflow": "quick"}).start(question)
    if flags["docs"] or flags["sources"] or flags["strategy"]:
        raise click.UsageError(
            "--run searches where that run did; --docs, --source and --strategy cannot be combined with it."
        )
    return Session(flags).ask(run_id, question)


@click.command("resume")
@shared_flags.RUN
@click.option("--answer", help="Answer to the question the run waits for.")
@shared_flags.report_flags
def resume_command(run_id: str, **flags: Any) -> int:
    """Continue RUN from where it stopped, repeating nothing; show a finished run.

    Of a verification the exit codes are those of `verify`.
    """
    from deep_research.cli.session import Session  # noqa: PLC0415

    return Session(flags).resume(run_id)
