"""`deep-research serve` and `token`: the HTTP API with the page, and who may use it from elsewhere."""

from typing import TYPE_CHECKING

import click

from deep_research.cli.wrapped_text import echo_wrapped

if TYPE_CHECKING:
    from deep_research.server.access_tokens import AccessTokens


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; others need tokens.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port to listen at.")
@click.option("--max-runs", type=click.IntRange(1, 64), default=4, show_default=True, help="Runs at the same time.")
@click.option(
    "--max-upload", type=click.IntRange(1, 1000), default=64, show_default=True, help="Megabytes of a document."
)
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
    from deep_research.server.http_app import ServerOptions, serve  # noqa: PLC0415 - help stays fast
    from deep_research.server.uploads import UploadLimit  # noqa: PLC0415
    from deep_research.settings import database_url, home  # noqa: PLC0415

    queued = bool(database_url()) and not in_process
    options = ServerOptions(home(), host, port, require_tokens, max_runs, queued, UploadLimit(max_upload))
    shown = f"[{host}]" if ":" in host else host
    echo_wrapped(
        f"The page: http://{shown}:{port}/   The API: http://{shown}:{port}/openapi.json   Stop: Ctrl-C", err=True
    )
    serve(options)


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
    from deep_research.server.access_tokens import AccessTokens  # noqa: PLC0415 - help stays fast
    from deep_research.settings import home  # noqa: PLC0415

    return AccessTokens(home())
