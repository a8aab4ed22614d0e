"""`deep-research enqueue` and `worker`: runs that outlive the command, carried out by any number of workers."""

from typing import Any

import click


@click.command("enqueue")
@click.argument("question", metavar="QUESTION|RUN")
@click.option("-d", "--docs", multiple=True, metavar="PATH", help="File or folder to search, as the workers see it.")
@click.option("--priority", type=int, default=0, metavar="N", help="Higher comes first among your own runs.")
@click.option("--owner", default="", metavar="NAME", help="Whose run it is; owners take turns.")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="Any setting of the run.")
def enqueue_command(question: str, docs: tuple[str, ...], priority: int, owner: str, pairs: tuple[str, ...]) -> int:
    """Queue a QUESTION, or what is left of RUN, for the workers of DEEP_RESEARCH_DATABASE_URL; print the run's id.

    \b
    deep-research enqueue "How does speculative decoding work?"
    deep-research worker
    """
    from deep_research import api, settings  # noqa: PLC0415 - help stays fast
    from deep_research.errors import RunNotFound  # noqa: PLC0415
    from deep_research.state_files import OWNERS  # noqa: PLC0415

    home = settings.home() / OWNERS / owner if owner else settings.home()
    try:
        run = api.open_run(question, home=home)
    except RunNotFound:
        values: dict[str, Any] = {name: value for name, _, value in (pair.partition("=") for pair in pairs)}
        named = settings.load_settings(**{"allow_clarification": False, **values})
        run = api.start_run(question, named, docs=docs, home=home)
    run.enqueue(priority=priority)
    click.echo(run.id)
    return 0


@click.command("worker")
@click.option("--runs", type=click.IntRange(1, 64), default=4, metavar="N", help="Runs at a time (default: 4).")
@click.option("--until-empty", is_flag=True, help="End when the queue is empty.")
@click.option("--metrics-port", type=int, metavar="PORT", help="Serve Prometheus metrics on this port of 127.0.0.1.")
@click.option("--json-logs", is_flag=True, help="Log to standard error, a line of JSON each.")
def worker_command(runs: int, until_empty: bool, metrics_port: int | None, json_logs: bool) -> int:
    """Carry out the queued runs of DEEP_RESEARCH_DATABASE_URL, on this machine beside any others.

    SIGTERM lets the runs go on for 20 seconds; what is left then is taken up by other workers. So is the work of a
    worker that dies, within a minute.
    """
    import asyncio  # noqa: PLC0415 - help stays fast

    from deep_research import api  # noqa: PLC0415 - help stays fast

    work = api.work(runs_at_once=runs, until_empty=until_empty, metrics_port=metrics_port, json_logs=json_logs)
    asyncio.run(work)
    return 0
