"""`deep-research list` and `deep-research show`: earlier runs."""

import click


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the runs as JSON.")
def list_command(as_json: bool) -> None:
    """List earlier runs, newest first."""
    from deep_research.runs.folder import list_runs  # noqa: PLC0415
    from deep_research.settings import home  # noqa: PLC0415

    records = list_runs(home())
    if as_json:
        import json  # noqa: PLC0415

        click.echo(json.dumps([r.model_dump(mode="json") for r in records], ensure_ascii=False, indent=1))
        return
    if not records:
        click.echo('No runs yet. Start one: deep-research "your question"')
    for record in records:
        question = record.question if len(record.question) <= 70 else record.question[:69] + "…"
        click.echo(f"{record.run_id}  {record.status:<9}{record.created[:16].replace('T', ' ')}  {question}")


@click.command("show")
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--passage", metavar="ID", help="Show one passage (s7p3) and where it was read.")
def show_command(run_id: str, as_json: bool, passage: str | None) -> None:
    """Show the report of RUN (its id, or an unambiguous part of it), or one passage behind it."""
    from deep_research.cli.session import print_report  # noqa: PLC0415
    from deep_research.runs.folder import open_run  # noqa: PLC0415
    from deep_research.settings import home  # noqa: PLC0415

    folder = open_run(home(), run_id)
    if passage:
        click.echo(_passage(folder.library, passage))
        return
    report = folder.load_result()
    if as_json:
        click.echo(report.model_dump_json(indent=1))
    else:
        print_report(report)


def _passage(path: object, wanted: str) -> str:
    from deep_research.errors import ConfigError  # noqa: PLC0415
    from deep_research.stores.sqlite import SqliteLibrary  # noqa: PLC0415

    library = SqliteLibrary(str(path))
    try:
        found = library.passage(wanted)
        source = library.source(found.source) if found else None
        if found is None or source is None:
            raise ConfigError(f"The run has no passage {wanted!r}.", setting="passage", value=wanted)
        place = f", page {found.page}" if found.page else ""
        head = f"{found.id}: {source.title}{place} ({source.url or source.key}), characters {found.start}–{found.end}"
        return f"{head}\n{found.heading}\n\n{found.text}"
    finally:
        library.close()
