"""Where a server listens: the port is open before its address is shown, so that what is shown can be reached."""

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from deep_research.errors import ConfigError

if TYPE_CHECKING:
    import uvicorn


def run_app(app: Any, *, host: str, port: int, on_listening: Callable[[str], None]) -> None:
    """Serve the ASGI application until the process is asked to stop.

    `on_listening` is told the address, such as "http://127.0.0.1:8000", once connections are taken; `port` 0 is any
    free one. Raises ConfigError where nothing can listen there.
    """
    import uvicorn  # noqa: PLC0415 - only where something is served

    with _listener(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        on_listening(f"http://{shown}:{listener.getsockname()[1]}")
        uvicorn.Server(server_config(app)).run([listener])


def server_config(app: Any, **settings: Any) -> "uvicorn.Config":
    """Return how uvicorn serves the application; `settings` are its own."""
    import uvicorn  # noqa: PLC0415 - only where something is served

    from deep_research_server.bounded_connection import AT_ONCE, BoundedConnection, most_connections  # noqa: PLC0415

    own = {
        "http": BoundedConnection,
        "ws": "none",
        "limit_concurrency": most_connections(),
        "backlog": AT_ONCE,
        "log_level": "error",  # what strangers send is no news
        "server_header": False,
        "timeout_graceful_shutdown": 5,
    }
    return uvicorn.Config(app, **own | settings)


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        errno = error.errno or 0  # `create_server` tells the address in the text once more
        reason = os.strerror(errno) if errno > 0 else error.strerror or str(error)
        message = f"Nothing can listen at {host}, port {port}: {reason}. Choose another with --host and --port."
        raise ConfigError(message, setting="port", value=port, reason=reason) from error
