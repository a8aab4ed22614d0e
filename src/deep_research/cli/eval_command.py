"""`deep-research eval`: how far the reports of a set of questions can be trusted."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deep_research.cli.lazy_modules import api, asyncio
from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research.data.evaluation import Evaluation, QuestionResult
    from deep_research.settings import Settings

_QUESTION_CHARS = 46


@click.command("eval")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("-d", "--docs", multiple=True, metavar="PATH", help="Searched for questions that name no documents.")
@click.option("-p", "--provider", metavar="NAME", help="Model provider (default: first with a key, else extractive).")
@click.option("--model", metavar="NAME", help="Model of the provider.")
@click.option("--judge", metavar="PROVIDER:MODEL", help="A model that judges every citation as a second opinion.")
@click.option("--source", "sources", multiple=True, metavar="NAME", help="Web source to search; may be given again.")
@click.option("--strategy", metavar="NAME", help="Set of web sources.")
@click.option("--budget", metavar="AMOUNT", help="Ceiling of each run: US dollars (0.50) or tokens (200000tokens).")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="Any setting.")
@click.option("--limit", type=click.IntRange(1), help="Ask only the first N questions.")
@click.option("--min-precision", type=click.FloatRange(0, 1), help="End with 1 where a precision is lower.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Show each statement that did not pass.")
def eval_command(file: str, as_json: bool, **flags: Any) -> int:
    """Research the questions in FILE and print what can be relied on: citations, answered parts, cost, time.

    FILE has one question a line, or JSON Lines: {"question": "…", "docs": ["…"], "settings": {…}}.

    Every statement of the report's text that cites passages is held against nothing but these passages: by the check
    (code) and, with --judge, by a model. Exit code 1: a run or the judge failed, or a precision is below
    --min-precision.
    """
    from deep_research.cli.flags import values_of  # noqa: PLC0415
    from deep_research.data.evaluation import summarise  # noqa: PLC0415
    from deep_research.settings import load_settings  # noqa: PLC0415

    asked = api.read_evaluation(Path(file))[: flags["limit"]]
    values = {"allow_clarification": False, **values_of({**flags, "workflow": None})}
    judge = _judge_settings(flags["judge"], values)
    results: list[QuestionResult] = []
    for number, question in enumerate(asked, 1):
        settings = load_settings(**{**values, **question.settings})
        results.append(asyncio.run(api.evaluate(question, settings, docs=flags["docs"], judge=judge)))
        if not as_json:
            _print_result(number, results[-1], verbose=flags["verbose"])
    made = summarise(results)
    if as_json:
        click.echo(made.model_dump_json(indent=1))
    else:
        _print_totals(made)
    least = flags["min_precision"] or 0.0
    precisions = [p for p in (made.precision_by_check, made.precision_by_judge) if p is not None]
    failed = made.runs_failed or any(result.judge_error for result in results)
    return 1 if failed or any(precision < least for precision in precisions) else 0


def _judge_settings(name: str | None, values: dict[str, Any]) -> "Settings | None":
    """Return the settings of a judge named PROVIDER:MODEL, or MODEL of the provider in force."""
    if name is None:
        return None
    from deep_research.settings import load_settings  # noqa: PLC0415

    provider, colon, model = name.partition(":")
    named = {"model_provider": provider, "model_name": model} if colon else {"model_name": provider}
    return load_settings(**{**values, **named})


def _print_result(number: int, result: "QuestionResult", *, verbose: bool) -> None:
    question = " ".join(result.question.split())
    shown = question if len(question) <= _QUESTION_CHARS else f"{question[: _QUESTION_CHARS - 1]}…"
    if result.error:
        echo_wrapped(f"{number:>3}  {shown}\n     failed: {result.error}")
        return
    by_judge = f", judge {result.agreed}/{result.judged}" if result.judged else ""
    echo_wrapped(
        f"{number:>3}  {shown}\n     citations: check {result.checked}/{result.statements}{by_judge} · parts "
        f"{result.answered:g}/{result.parts} · {result.sources} sources · {result.cost_usd:.4f} US dollars · "
        f"{result.seconds:.1f} s · {result.run_id}"
    )
    if result.judge_error:
        echo_wrapped(f"     The judge failed, {result.statements - result.judged} not judged: {result.judge_error}")
    for failed in result.failed if verbose else ():
        echo_wrapped(
            f"     {failed.by}: {failed.verdict}: {failed.text} ({', '.join(failed.passages)}) — {failed.reason}"
        )


def _print_totals(made: "Evaluation") -> None:
    def percent(value: float | None) -> str:
        return "—" if value is None else f"{value:.1%}"

    statements = sum(result.statements for result in made.questions)
    echo_wrapped(
        f"\nCitation precision  by the check {percent(made.precision_by_check)} of {statements} statements, "
        f"by a judge {percent(made.precision_by_judge)}\n"
        f"Parts answered      {percent(made.parts_answered)}\n"
        f"Runs                {len(made.questions)}, failed {made.runs_failed}\n"
        f"Cost, time          {made.cost_usd:.4f} US dollars, median {made.seconds:.1f} s"
    )
