"""`deep-research settings`, `sources` and `templates`: what can be configured, searched and chosen."""

from collections.abc import Iterator
from typing import Any

import click


@click.command("settings")
def settings_command() -> None:
    """List all settings by group: name, value in force, meaning, environment variable."""
    from deep_research.settings import GROUPS, PREFIX, Settings, home, load_settings, settings_of  # noqa: PLC0415

    values = load_settings()
    click.echo(f"State folder: {home()} (DEEP_RESEARCH_HOME)")
    groups = {group.capitalize(): settings_of(group) for group in GROUPS}
    groups["Advanced"] = [name for group in GROUPS for name in settings_of(group, advanced=True)]
    for title, names in groups.items():
        click.echo(f"\n{title}")
        for name in names:
            meaning = Settings.model_fields[name].description
            click.echo(f"  {name} = {getattr(values, name)!r}\n      {meaning}  [{PREFIX}{name.upper()}]")


@click.command("sources")
@click.option("--json", "as_json", is_flag=True, help="Print the sources as JSON.")
@click.option("--check", is_flag=True, help="Connect to the MCP servers, and list their tools.")
def sources_command(as_json: bool, check: bool) -> None:
    """List all web sources, strategies and MCP servers: name, purpose, key, ready or not."""
    import json  # noqa: PLC0415

    from deep_research import api  # noqa: PLC0415
    from deep_research.settings import load_settings  # noqa: PLC0415

    settings = load_settings()
    rows, strategies = api.list_sources(settings), api.list_strategies()
    servers = api.list_mcp_servers(settings, connect=check)
    if as_json:
        told = [row._asdict() | {"ready": row.ready} for row in rows]
        tools = [row._asdict() | {"ready": row.ready, "tools": dict(row.tools)} for row in servers]
        click.echo(
            json.dumps({"sources": told, "strategies": strategies, "mcp_servers": tools}, ensure_ascii=False, indent=1)
        )
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        key = f"key {row.needs}" if row.needs else "keyless"
        state = "ready" if row.ready else f"not ready: {row.missing}"
        click.echo(f"{row.name:<{width}}  {state:<38}  {key}\n{'':<{width}}  {row.purpose}")
    click.echo("\nStrategies (--strategy NAME):")
    for name, purpose in strategies.items():
        click.echo(f"{name:<{width}}  {purpose}")
    if servers:
        click.echo("\nMCP servers (settings mcp_servers):")
        click.echo("\n".join(line for row in servers for line in _server_lines(row, width)))


def _server_lines(row: Any, width: int) -> Iterator[str]:
    state = "ready" if row.ready else f"not ready: {row.missing}"
    yield f"{row.name:<{width}}  {state:<38}  {row.reached_by}"
    for name, use in row.tools:
        yield f"{'':<{width}}  {name}: {use}"


@click.command("templates")
@click.option("--json", "as_json", is_flag=True, help="Print the templates as JSON.")
@click.option("--language", default="en", metavar="CODE", help="Language of the points shown (default: en).")
def templates_command(as_json: bool, language: str) -> None:
    """List all focus templates: name, file, purpose, words that select it, focus points."""
    import json  # noqa: PLC0415

    from deep_research import api  # noqa: PLC0415

    found, folders = api.list_templates()
    if as_json:
        rows = [{**t.model_dump(mode="json"), "origin": t.origin} for t in found]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for template in found:
        click.echo(f"{template.name}  ({template.origin})")
        click.echo(f"    for: {template.purpose or '—'}; words: {', '.join(template.words) or '—'}")
        click.echo("".join(f"    - {point}\n" for point in template.spoken(language).focus))
    click.echo(f"Your own: {' or '.join(str(folder) for folder in folders)} (docs/templates.md)")
