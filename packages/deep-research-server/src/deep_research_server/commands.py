"""`deep-research serve`, `token`, `mcp`, `enqueue` and `worker`."""

from typing import TYPE_CHECKING

import click

from deep_research.cli.lazy_modules import api, asyncio
from deep_research.cli.shared_flags import PATH
from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research_server.access_tokens import AccessTokens
    from deep_research_server.run_service import ServerOptions


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; others need tokens.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port to listen at.")
@click.option("--max-runs", type=click.IntRange(1, 48), default=4, show_default=True, help="Runs at the same time.")
@click.option("--max-upload", type=click.IntRange(1, 1000), default=64, show_default=True, help="MB of a document.")
@click.option("--require-tokens", is_flag=True, help="Require a token at this machine's own address too.")
@click.option("--in-process", is_flag=True, help="Carry runs out in this process, also where there is a database.")
def serve_command(host: str, port: int, max_runs: int, max_upload: int, require_tokens: bool, in_process: bool) -> None:
    """Serve the page and the HTTP API until Ctrl-C.

    At this machine's own address (127.0.0.1) no token is needed. At any other one each request needs a token, and each
    owner sees their own runs alone. With a database (DEEP_RESEARCH_DATABASE_URL) the runs are carried out by
    `deep-research worker`, on this machine or others.

    \b
    deep-research serve
    deep-research token create anna
    deep-research serve --host 0.0.0.0 --port 8000
    """
    from deep_research_server.http_app import make_app  # noqa: PLC0415 - help stays fast
    from deep_research_server.listening import run_app  # noqa: PLC0415
    from deep_research_server.uploads import UploadLimit  # noqa: PLC0415

    options = _server_options(host, max_runs, require_tokens=require_tokens, in_process=in_process)
    app = make_app(options._replace(uploads=UploadLimit(max_upload)))

    def tell(at: str) -> None:
        echo_wrapped(f"The page: {at}/   The API: {at}/openapi.json   Stop: Ctrl-C", err=True)

    run_app(app, host=host, port=port, on_listening=tell)


def _server_options(host: str, max_runs: int, *, require_tokens: bool, in_process: bool) -> "ServerOptions":
    """Return a server's options. Raises ConfigError if all could come in, StoreError."""
    from deep_research.settings import database_url, home  # noqa: PLC0415 - help stays fast
    from deep_research.state_files import PAGES  # noqa: PLC0415
    from deep_research_server.request_guard import is_loopback  # noqa: PLC0415
    from deep_research_server.run_service import ServerOptions  # noqa: PLC0415

    api.check_writable(home() / PAGES)
    tokens = _tokens() if require_tokens or not is_loopback(host) else None
    if tokens is not None and not is_loopback(host):
        tokens.check(host)
    queued = bool(database_url()) and not in_process
    if queued and not api.queue_state(home=home()).workers:
        echo_wrapped("No worker is alive: runs wait until `deep-research worker` is started.", err=True)
    return ServerOptions(home(), tokens, max_runs, queued)


@click.group("token")
def token_command() -> None:
    """Make, list and revoke access tokens for `deep-research serve`."""


@token_command.command("create")
@click.argument("owner")
def create_token(owner: str) -> None:
    """Make a token for OWNER and print it; only its hash is kept."""
    click.echo(_tokens().create(owner))


@token_command.command("list")
def list_tokens() -> None:
    """List the tokens by their ids."""
    for record in _tokens().records():
        echo_wrapped(f"{record.id}  {record.owner}  {record.created[:16].replace('T', ' ')}")


@token_command.command("revoke")
@click.argument("token_id", metavar="ID")
def revoke_token(token_id: str) -> None:
    """Revoke the token ID."""
    echo_wrapped(f"Revoked a token of {_tokens().revoke(token_id).owner}.")


def _tokens() -> "AccessTokens":
    from deep_research.settings import home  # noqa: PLC0415
    from deep_research_server.access_tokens import AccessTokens  # noqa: PLC0415 - help stays fast

    return AccessTokens(home())


@click.command("mcp")
@click.option("--http", "over_http", is_flag=True, help="Serve over streamable HTTP at /mcp instead of standard input.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address for --http; others need tokens.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port for --http.")
@click.option("--require-tokens", is_flag=True, help="Require a token at this machine's own address too.")
@click.option("--max-runs", type=click.IntRange(1, 48), default=4, show_default=True, help="Runs at the same time.")
@click.option("--in-process", is_flag=True, help="Carry runs out in this process, also where there is a database.")
def mcp_command(over_http: bool, host: str, port: int, require_tokens: bool, max_runs: int, in_process: bool) -> None:
    """Serve MCP tools to an agent: research, ask, get_report, check_claim, a desk.

    The research desk has tools such as begin_research, by which the agent researches itself.

    \b
    deep-research mcp                      over standard input and output: the agent starts it
    deep-research mcp --http               at http://127.0.0.1:8765/mcp

    With a database (DEEP_RESEARCH_DATABASE_URL) the runs are carried out by `deep-research worker`.
    """
    from deep_research.errors import ConfigError  # noqa: PLC0415 - help stays fast

    try:
        from deep_research_server.mcp_server import make_http_app, make_server  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        message = "The MCP server needs the official SDK: pip install 'deep-research-server[mcp]'."
        raise ConfigError(message, setting="mcp", value="") from error
    if not over_http:
        make_server(_server_options("localhost", max_runs, require_tokens=False, in_process=in_process)).run("stdio")
        return
    from deep_research_server.listening import run_app  # noqa: PLC0415

    app = make_http_app(_server_options(host, max_runs, require_tokens=require_tokens, in_process=in_process))
    run_app(app, host=host, port=port, on_listening=lambda at: echo_wrapped(f"MCP: {at}/mcp   Stop: Ctrl-C", err=True))


@click.command("enqueue")
@click.argument("question", metavar="QUESTION|RUN")
@click.option(
    "-d", "--docs", multiple=True, type=PATH, metavar="PATH", help="File or folder to search, as the workers see it."
)
@click.option("--priority", type=int, default=0, metavar="N", help="Higher comes first among your own runs.")
@click.option("--owner", default="", metavar="NAME", help="Whose run it is; owners take turns.")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="Any setting of the run.")
def enqueue_command(question: str, docs: tuple[str, ...], priority: int, owner: str, pairs: tuple[str, ...]) -> int:
    """Queue QUESTION, or the rest of RUN, for the workers, and print the run's id.

    The workers are those of DEEP_RESEARCH_DATABASE_URL.

    \b
    deep-research enqueue "How does speculative decoding work?"
    deep-research worker
    """
    from deep_research import settings  # noqa: PLC0415 - help stays fast
    from deep_research.cli.flags import values_of  # noqa: PLC0415
    from deep_research.errors import RunNotFound  # noqa: PLC0415
    from deep_research_server.access_tokens import owner_home  # noqa: PLC0415

    home = owner_home(settings.home(), owner)
    try:
        run = api.open_run(question, home=home)
    except RunNotFound:
        named = settings.load_settings(**{"allow_clarification": False, **values_of({"pairs": pairs})})
        run = api.start_run(question, named, docs=docs, home=home)
    run.enqueue(priority=priority)
    click.echo(run.id)
    return 0


@click.command("worker")
@click.option("--runs", type=click.IntRange(1, 48), default=4, metavar="N", help="Runs at a time (default: 4).")
@click.option("--until-empty", is_flag=True, help="End when the queue is empty.")
@click.option("--metrics-port", type=int, metavar="PORT", help="Serve Prometheus metrics on this port of 127.0.0.1.")
@click.option("--json-logs", is_flag=True, help="Log to standard error, a line of JSON each.")
def worker_command(runs: int, until_empty: bool, metrics_port: int | None, json_logs: bool) -> int:
    """Carry out the queued runs of DEEP_RESEARCH_DATABASE_URL beside other workers.

    SIGTERM lets the runs go on for 20 seconds; what is left then is taken up by other workers. So is the work of a
    worker that dies, within a minute.
    """
    from deep_research import settings  # noqa: PLC0415 - help stays fast
    from deep_research_server.workers import run_queue  # noqa: PLC0415

    if json_logs:
        run_queue.log_as_json()
    asyncio.run(run_queue.work(settings.home(), runs_at_once=runs, until_empty=until_empty, metrics_port=metrics_port))
    return 0
