"""`deep-research sources`: every place to search, what for, and whether it is ready."""

import click


@click.command("sources")
@click.option("--json", "as_json", is_flag=True, help="Print the sources as JSON.")
@click.option("--check", is_flag=True, help="Connect to the MCP servers, and show the tools of each.")
def command(as_json: bool, check: bool) -> None:
    """List all web sources, strategies and MCP servers: name, what for, key or keyless, ready or not."""
    import asyncio  # noqa: PLC0415
    import json  # noqa: PLC0415

    from deep_research.runs import mcp_listing  # noqa: PLC0415
    from deep_research.settings import load_keys, load_settings  # noqa: PLC0415
    from deep_research.sources import source_rows, strategies, variables  # noqa: PLC0415

    settings = load_settings()
    rows = source_rows(load_keys(variables()), settings.source_options)
    servers = asyncio.run(mcp_listing.checked_rows(settings)) if check else mcp_listing.server_rows(settings)
    if as_json:
        told = [row._asdict() | {"ready": row.ready} for row in rows]
        tools = [row._asdict() | {"ready": row.ready, "tools": dict(row.tools)} for row in servers]
        click.echo(
            json.dumps(
                {"sources": told, "strategies": strategies(), "mcp_servers": tools}, ensure_ascii=False, indent=1
            )
        )
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        key = f"key {row.needs}" if row.needs else "keyless"
        state = "ready" if row.ready else f"not ready: {row.missing}"
        click.echo(f"{row.name:<{width}}  {state:<38}  {key}\n{'':<{width}}  {row.purpose}")
    click.echo("\nStrategies (--strategy NAME):")
    for name, purpose in strategies().items():
        click.echo(f"{name:<{width}}  {purpose}")
    if servers:
        click.echo("\nMCP servers (settings mcp_servers):")
        click.echo(mcp_listing.shown(servers, width))
