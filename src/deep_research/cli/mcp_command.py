"""`deep-research mcp`: an MCP server, so that an agent can research, ask and check."""

import click

from deep_research.cli.wrapped_text import echo_wrapped


@click.command("mcp")
@click.option("--http", "over_http", is_flag=True, help="Serve over streamable HTTP at /mcp instead of standard input.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address for --http; others than this need tokens."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port for --http.")
@click.option("--require-tokens", is_flag=True, help="Require a token at this machine's own address too.")
@click.option("--max-runs", type=click.IntRange(1, 64), default=4, show_default=True, help="Runs at the same time.")
@click.option("--in-process", is_flag=True, help="Carry runs out in this process, also where there is a database.")
def mcp_command(over_http: bool, host: str, port: int, require_tokens: bool, max_runs: int, in_process: bool) -> None:
    """Serve MCP tools to an agent: research, ask, get_report, check_claim, search_library, read_passage.

    \b
    deep-research mcp                      over standard input and output: the agent starts it
    deep-research mcp --http               at http://127.0.0.1:8765/mcp

    With a database (DEEP_RESEARCH_DATABASE_URL) the runs are carried out by `deep-research worker`.
    """
    from deep_research.errors import ConfigError  # noqa: PLC0415 - help stays fast
    from deep_research.settings import database_url, home  # noqa: PLC0415

    try:
        from deep_research.server.mcp_server import McpOptions, serve_http, serve_stdio  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        message = "The MCP server needs the official SDK: pip install 'deep-research[mcp]'."
        raise ConfigError(message, setting="mcp", value="") from error
    queued = bool(database_url()) and not in_process
    if not over_http:
        serve_stdio(McpOptions(home(), max_runs=max_runs, queued=queued))
        return
    from deep_research.server.access_tokens import AccessTokens  # noqa: PLC0415
    from deep_research.server.request_guard import is_loopback  # noqa: PLC0415

    tokens = AccessTokens(home()) if require_tokens or not is_loopback(host) else None
    if tokens is not None and not tokens.records():
        message = f"There is no token yet, and {host} asks for one. Make one: deep-research token create NAME"
        raise ConfigError(message, setting="host", value=host)
    shown = f"[{host}]" if ":" in host else host
    echo_wrapped(f"MCP: http://{shown}:{port}/mcp   Stop: Ctrl-C", err=True)
    serve_http(McpOptions(home(), tokens, max_runs, queued), host=host, port=port)
