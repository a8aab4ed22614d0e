"""`deep-research check` and `step`: one part of the program by itself."""

import sys
from pathlib import Path
from typing import Any

import click

from deep_research.cli import shared_flags
from deep_research.cli.lazy_modules import api, asyncio
from deep_research.cli.wrapped_text import echo_wrapped


@click.command("step")
@click.argument("name")
@click.argument("question", required=False, default="")
@click.option("--run", "run_id", metavar="RUN", help="Take the state and the sources of an earlier run.")
@shared_flags.PROVIDER
@shared_flags.MODEL
@shared_flags.SETTING
@shared_flags.AS_JSON
def step_command(name: str, question: str, run_id: str | None, as_json: bool, **flags: Any) -> int:
    """Run one node (clarify, researcher, …) for QUESTION; show prompt, answer, cost.

    An unknown name lists all steps.
    """
    from pydantic_core import to_json  # noqa: PLC0415

    from deep_research.cli.flags import settings_of  # noqa: PLC0415
    from deep_research.errors import ConfigError  # noqa: PLC0415

    if not question and not run_id:
        raise ConfigError('Give a question, or --run RUN: deep-research step clarify "…"', setting="question", value="")
    run = api.open_run(run_id) if run_id else None
    result = asyncio.run(api.run_step(name, question, settings_of(flags), run=run))
    if not as_json:
        for role, request in result.requests:
            click.echo(f"── asked as {role} " + "─" * 60)
            click.echo("\n\n".join(f"[{message.role}]\n{message.text}" for message in request.messages) + "\n")
        click.echo("── answer " + "─" * 60)
    click.echo(to_json(result.answer, indent=1))
    for gap in result.gaps:
        echo_wrapped(f"gap: {gap.what}: {gap.why}", err=True)
    echo_wrapped(_cost(result.calls), err=True)
    return 1 if result.gaps else 0


def _cost(calls: Any) -> str:
    known = [call.cost_usd for call in calls if call.cost_usd is not None]
    dollars = f"{sum(known):.5f} US dollars" if len(known) == len(calls) and calls else "price unknown"
    prompt = sum(call.answer.usage.prompt_tokens for call in calls)
    written = sum(call.answer.usage.completion_tokens for call in calls)
    return f"{len(calls)} calls · {prompt} prompt tokens · {written} written · {dollars}"


_VERDICT_CODES = {"supported": 0, "unverified": 1, "contradicted": 2}


@click.command("check", epilog="Exit codes: 0 supported, 1 unverified, 2 contradicted. An error (2) prints no verdict.")
@click.option("--claim", required=True, help="The sentence to judge.")
@click.option(
    "--evidence",
    required=True,
    type=shared_flags.PATH,
    metavar="FILE",
    help="The file to hold it against; - for standard input.",
)
@shared_flags.AS_JSON
def check_command(claim: str, evidence: str, as_json: bool) -> int:
    """Judge by numbers, names, quotations and support if FILE supports a claim.

    No model is used.
    """
    from deep_research.errors import ConfigError, Unreadable  # noqa: PLC0415

    path = Path(evidence).expanduser()
    try:
        data = sys.stdin.buffer.read() if evidence == "-" else path.read_bytes()
        text = api.read_text(data, "evidence.txt" if evidence == "-" else path.name)
    except (OSError, Unreadable) as error:
        reason = error.message if isinstance(error, Unreadable) else error.strerror or error
        raise ConfigError(f"Cannot read {evidence}: {reason}", setting="evidence", value=evidence) from error
    verdict = api.check_claim(claim, text)
    if as_json:
        click.echo(verdict.model_dump_json())
    else:
        echo_wrapped(f"{verdict.kind}: {verdict.reason}")
    return _VERDICT_CODES[verdict.kind]
