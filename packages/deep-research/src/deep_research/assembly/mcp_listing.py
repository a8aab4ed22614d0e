"""The MCP part of `deep-research sources`: readiness, and checked tools."""

import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deep_research.concurrency import side_by_side
from deep_research.data.outside_tools import McpServer
from deep_research.errors import SourceError
from deep_research.safe_text import register_secrets
from deep_research.settings import Settings, load_keys

if TYPE_CHECKING:
    from deep_research.mcp.mcp_connection import McpConnection


class ServerRow(NamedTuple):
    """One server: `missing` setup steps ("": ready), `tools` (name, use) of a check."""

    name: str
    reached_by: str
    missing: str
    tools: tuple[tuple[str, str], ...] = ()

    @property
    def ready(self) -> bool:
        return not self.missing


def server_rows(settings: Settings) -> list[ServerRow]:
    """Return one row per server of the settings; nothing is started."""
    values = variables_of(settings.mcp_servers)
    return [_row(name, server, values) for name, server in settings.mcp_servers.items()]


async def checked_rows(settings: Settings) -> list[ServerRow]:
    """Return the same after connecting to every server that is ready, side by side."""
    values = variables_of(settings.mcp_servers)
    return await side_by_side(_checked(row, settings, values) for row in server_rows(settings))


def variables_of(servers: Mapping[str, McpServer]) -> dict[str, str]:
    """Return the values of the variables that servers name, as far as they are set."""
    return load_keys({name for server in servers.values() for name in server.variables})


def connection_to(name: str, server: McpServer, values: Mapping[str, str], settings: Settings) -> "McpConnection":
    """Return an unopened connection; the server's secrets are masked from now on."""
    from deep_research.mcp.mcp_connection import McpConnection  # noqa: PLC0415 - only with a server

    # Of an address that is a secret, all but its scheme.
    register_secrets(part for secret in server.secrets(values) for part in (secret, secret.partition("://")[2]))
    return McpConnection(name, server.filled(values), proxy=settings.proxy)


def _row(name: str, server: McpServer, values: Mapping[str, str]) -> ServerRow:
    reached_by = "HTTP" if server.url else f"program {server.command}"
    missing = server.missing(values)
    if find_spec("mcp") is None:
        missing = "pip install 'deep-research[mcp]'"
    elif not missing and server.command and shutil.which(str(Path(server.command).expanduser())) is None:
        missing = f"there is no program {server.command}"
    return ServerRow(name, reached_by, missing)


async def _checked(row: ServerRow, settings: Settings, values: Mapping[str, str]) -> ServerRow:
    if not row.ready:
        return row
    from deep_research.mcp.tool_offers import chosen, query_argument  # noqa: PLC0415 - only with a server

    server = settings.mcp_servers[row.name]
    connection = connection_to(row.name, server, values, settings)
    try:
        tools = await connection.open()
    except SourceError as error:
        return row._replace(missing=error.message)
    finally:
        await connection.close()
    offered = {tool.name for tool in chosen(tools, server.tools)[0]}

    def use(name: str, parameters: Mapping[str, object], changes: bool) -> str:
        if name not in offered:
            return "not offered: it changes something" if changes and not server.tools else "not offered"
        return "searched" if query_argument(parameters) and not changes else "offered"

    return row._replace(tools=tuple((t.name, use(t.name, t.parameters, t.changes)) for t in tools))
