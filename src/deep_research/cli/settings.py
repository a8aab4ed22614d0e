"""`deep-research settings`: every setting with its value and what it is."""

import click


@click.command("settings")
def command() -> None:
    """List all settings: name, value in force, what it is."""
    from deep_research.settings import PREFIX, Settings, home, load_settings  # noqa: PLC0415

    values = load_settings()
    click.echo(f"State folder: {home()} (DEEP_RESEARCH_HOME)\n")
    for name, field in Settings.model_fields.items():
        click.echo(f"{name} = {getattr(values, name)!r}\n    {field.description}  [{PREFIX}{name.upper()}]")
