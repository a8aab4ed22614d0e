"""`deep-research steer`: say something to a run while it goes on, from another terminal."""

import click


@click.command("steer")
@click.argument("run_id", metavar="RUN")
@click.option("--remark", metavar="TEXT", help="Tell everybody who works at it.")
@click.option("--drop", metavar="SECTION", help="Leave a section out: its title or number.")
@click.option("--add", metavar="SECTION", help='Research a section more: "TITLE: what to look for".')
@click.option("--finish", is_flag=True, help="End the research and write the report now, from what is known.")
def command(run_id: str, remark: str | None, drop: str | None, add: str | None, finish: bool) -> int:
    """Say something to RUN while it goes on; without a flag its sections are listed.

    \b
    deep-research steer RUN --remark "Only trials after 2020"
    deep-research steer RUN --drop 3 --add "Costs: prices per patient and year"
    deep-research steer RUN --finish
    """
    from deep_research.runs.folder import open_run  # noqa: PLC0415
    from deep_research.runs.lock import is_held  # noqa: PLC0415
    from deep_research.runs.steering import sections_of, steer  # noqa: PLC0415
    from deep_research.settings import home  # noqa: PLC0415

    folder = open_run(home(), run_id)
    wanted = {"remark": remark, "drop": drop, "add": add, "finish": "" if finish else None}
    said = [steer(folder, kind, text) for kind, text in wanted.items() if text is not None]
    if not said:
        for number, title in enumerate(sections_of(folder), 1):
            click.echo(f"{number}. {title}")
        return 0
    for one in said:
        click.echo(f"Noted: {' '.join(part for part in (one.kind, one.section, one.text) if part)}")
    if not is_held(folder.lock):
        click.echo(f"The run does not go on at the moment; it will with: deep-research resume {folder.run_id}")
    return 0
