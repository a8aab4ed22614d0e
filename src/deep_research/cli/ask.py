"""`deep-research ask`: a quick question, answered in one turn with the same sources, citations and checks."""

from typing import Any

import click


@click.command("ask")
@click.argument("words", metavar="QUESTION", nargs=-1, required=True)
@click.option("--run", "run_id", metavar="RUN", help="Ask about the report of an earlier run, in what it has read.")
@click.option("-d", "--docs", multiple=True, metavar="PATH", help="A file or folder to search; may be given again.")
@click.option(
    "-p", "--provider", metavar="NAME", help="Who thinks (default: the first whose key is set, else extractive)."
)
@click.option("--model", metavar="NAME", help="Model of the provider.")
@click.option("--source", "sources", multiple=True, metavar="NAME", help="A web source to search; may be given again.")
@click.option("--strategy", metavar="NAME", help="Web sources by kind of question.")
@click.option(
    "-o", "--out", metavar="FILE", help="Also write the answer (Markdown) to this file; - for standard output."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object, and nothing else.")
@click.option("--quiet", is_flag=True, help="Show nothing while it runs.")
@click.option("-v", "--verbose", is_flag=True, help="Show every event.")
def command(words: tuple[str, ...], **flags: Any) -> int:
    """Answer QUESTION in one turn: no plan, no review, nothing asked back.

    With --run it is a question about that run's report: answered from what the run has read, with the same
    passages, and by new searches at the run's places where that says nothing.
    """
    from deep_research.cli.session import Session  # noqa: PLC0415

    run_id, question = flags.pop("run_id"), " ".join(words)
    if run_id is None:
        return Session({**flags, "workflow": "quick"}).start(question)
    if flags["docs"] or flags["sources"] or flags["strategy"]:
        raise click.UsageError("--run searches where that run did; leave --docs, --source and --strategy out.")
    return Session(flags).ask(run_id, question)
