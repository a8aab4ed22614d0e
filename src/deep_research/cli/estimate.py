"""`--estimate`: what a run would cost with a model."""

import click

from deep_research.settings import Settings, load_keys


def print_estimate(settings: Settings) -> None:
    """Say what a run with these settings would cost. Raises ConfigError for an unusable provider."""
    from deep_research.runs.estimate import estimate  # noqa: PLC0415 - only where it is asked for
    from deep_research.runs.thinking import key_variables  # noqa: PLC0415

    made = estimate(settings, load_keys(key_variables()))
    if made is None:
        click.echo("Without a model (provider extractive) a run makes no model calls and costs nothing.")
        return
    dollars = "price unknown" if made.usd is None else f"about {made.usd:.3f} US dollars"
    most = "" if made.most_usd is None else f" ({made.most_usd:.2f} US dollars)"
    click.echo(
        f"{made.model}: about {made.calls} calls, {made.prompt_tokens:,} prompt tokens, {made.completion_tokens:,}"
        f" written, {dollars}, for a plan of {made.sections} sections.\n"
        f"At most about {made.most_calls} calls{most}, if every section of the longest plan is sent out again each time."
    )
