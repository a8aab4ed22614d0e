"""`deep-research settings`, `sources` and `templates`: available choices."""

import json
from typing import Any

import click

from deep_research.cli import shared_flags
from deep_research.cli.lazy_modules import api
from deep_research.cli.wrapped_text import echo_wrapped


@click.command("settings")
@click.argument("part", metavar="[PART]", default="")
@shared_flags.AS_JSON
def settings_command(part: str, as_json: bool) -> None:
    """List all settings by group: name, current value, meaning, variable.

    With PART, only the group of this name, or the settings whose name or meaning has it.
    """
    from deep_research.settings import GROUPS, PREFIX, Settings, home, load_settings, settings_of  # noqa: PLC0415

    loaded = load_settings()
    values = {name: getattr(loaded, name) for name in Settings.model_fields}
    groups = {group.capitalize(): settings_of(group) for group in GROUPS}
    groups["Advanced"] = [name for group in GROUPS for name in settings_of(group, advanced=True)]
    meanings = {name: Settings.model_fields[name].description or "" for names in groups.values() for name in names}
    wanted = part.casefold()
    chosen = {
        title: [n for n in names if wanted in title.casefold() or wanted in f"{n} {meanings[n]}".casefold()]
        for title, names in groups.items()
        if not (exact := [t for t in groups if t.casefold() == wanted]) or title in exact
    }
    if as_json:
        told = {
            title: {
                n: {"value": _plain(values[n]), "meaning": meanings[n], "variable": PREFIX + n.upper()} for n in names
            }
            for title, names in chosen.items()
            if names
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    if part and not any(chosen.values()):
        raise click.UsageError(f"No setting has {part!r} in its name or meaning. `deep-research settings` lists all.")
    echo_wrapped(f"State folder: {home()} (DEEP_RESEARCH_HOME)")
    for title, names in chosen.items():
        lines = [
            line
            for name in names
            for line in (f"  {name} = {values[name]!r}", f"      {meanings[name]}  [{PREFIX}{name.upper()}]")
        ]
        echo_wrapped([f"\n{title}", *lines] if names else [])


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what holds secrets as it is shown."""
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


@click.command("sources")
@shared_flags.AS_JSON
@click.option("--check", is_flag=True, help="Connect to the MCP servers, and list their tools.")
def sources_command(as_json: bool, check: bool) -> None:
    """List all web sources, strategies and MCP servers: name, purpose, key, ready."""
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
        echo_wrapped([f"{row.name:<{width}}  {state:<38}  {key}", f"{'':<{width}}  {row.purpose}"])
    echo_wrapped("\nStrategies (--strategy NAME):")
    echo_wrapped(f"{name:<{width}}  {purpose}" for name, purpose in strategies.items())
    if servers:
        echo_wrapped("\nMCP servers (settings mcp_servers):")
    for row in servers:
        state = "ready" if row.ready else f"not ready: {row.missing}"
        tools = (f"{'':<{width}}  {name}: {use}" for name, use in row.tools)
        echo_wrapped([f"{row.name:<{width}}  {state:<38}  {row.reached_by}", *tools])


@click.command("templates")
@shared_flags.AS_JSON
@click.option("--language", default="en", metavar="CODE", help="Language of the points shown (default: en).")
def templates_command(as_json: bool, language: str) -> None:
    """List all focus templates: name, file, purpose, trigger words, focus points."""
    found, folders = api.list_templates()
    if as_json:
        rows = [{**t.model_dump(mode="json"), "origin": t.origin} for t in found]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for template in found:
        echo_wrapped(f"{template.name}  ({template.origin})")
        echo_wrapped(f"    for: {template.purpose or '—'}; words: {', '.join(template.words) or '—'}")
        echo_wrapped("".join(f"    - {point}\n" for point in template.spoken(language).focus))
    echo_wrapped(f"Your own: {' or '.join(str(folder) for folder in folders)} (docs/templates.md)")
