"""`deep-research sources`: every place to search, what for, and whether it is ready."""

import click


@click.command("sources")
@click.option("--json", "as_json", is_flag=True, help="Print the sources as JSON.")
def command(as_json: bool) -> None:
    """List all web sources and strategies: name, what for, key or keyless, ready or not."""
    import json  # noqa: PLC0415

    from deep_research.settings import load_keys, load_settings  # noqa: PLC0415
    from deep_research.sources import source_rows, strategies, variables  # noqa: PLC0415

    rows = source_rows(load_keys(variables()), load_settings().source_options)
    if as_json:
        told = [row._asdict() | {"ready": row.ready} for row in rows]
        click.echo(json.dumps({"sources": told, "strategies": strategies()}, ensure_ascii=False, indent=1))
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        key = f"key {row.needs}" if row.needs else "keyless"
        state = "ready" if row.ready else f"not ready: {row.missing}"
        click.echo(f"{row.name:<{width}}  {state:<38}  {key}\n{'':<{width}}  {row.purpose}")
    click.echo("\nStrategies (--strategy NAME):")
    for name, purpose in strategies().items():
        click.echo(f"{name:<{width}}  {purpose}")
