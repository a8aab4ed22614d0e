"""The HTTP application put together: guard, routes, page; and the server that runs it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

import deep_research
from deep_research import api
from deep_research.errors import ConfigError, ResearchError
from deep_research.server import evidence_routes, openai_routes, run_routes, server_routes
from deep_research.server.access_tokens import AccessTokens
from deep_research.server.http_context import ServerContext, add_error_handlers
from deep_research.server.page_files import ROUTES, page_files
from deep_research.server.request_guard import RequestGuard, is_loopback
from deep_research.server.run_service import make_run_service
from deep_research.server.uploads import UploadLimit

_log = logging.getLogger(__name__)
_MAX_BODY = 1_000_000


@dataclass(frozen=True)
class ServerOptions:
    """How the server is run; `home` is the state folder. Any address but loopback requires tokens.

    With `queued` runs are carried out by the workers of the database, else in this process, `max_runs` at a time.
    """

    home: Path
    host: str = "127.0.0.1"
    port: int = 8000
    require_tokens: bool = False
    max_runs: int = 4
    queued: bool = False
    uploads: UploadLimit = field(default_factory=UploadLimit)


def warm_up() -> None:
    """Load what the first visitor would wait for."""
    page_files()
    with suppress(ResearchError):
        server_routes.offered_choices(UploadLimit(), "")


def make_app(options: ServerOptions) -> FastAPI:
    """Return the application."""
    tokens = AccessTokens(options.home) if options.require_tokens or not is_loopback(options.host) else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = make_run_service(options.home, queued=options.queued, max_runs=options.max_runs)
        app.state.context = ServerContext(service, tokens, options.uploads)
        warming = asyncio.create_task(asyncio.to_thread(warm_up))
        yield
        warming.cancel()
        await service.close()

    app = FastAPI(
        title="deep-research",
        version=deep_research.__version__,
        description="Research a question; get a report in which every claim can be checked.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        routes=list(ROUTES),
        responses={},
    )
    for router in (
        run_routes.router,
        evidence_routes.router,
        server_routes.router,
        server_routes.health,
        openai_routes.router,
    ):
        app.include_router(router)
    add_error_handlers(app)
    upload = options.uploads.megabytes * 1_000_000 + _MAX_BODY
    app.add_middleware(RequestGuard, tokens=tokens, max_body=_MAX_BODY, max_upload=upload)
    return app


def server_config(options: ServerOptions, **settings: Any) -> uvicorn.Config:
    """Return how uvicorn serves the application; `settings` are its own."""
    usual: dict[str, Any] = {"log_level": "warning", "server_header": False, "timeout_graceful_shutdown": 5}
    return uvicorn.Config(make_app(options), host=options.host, port=options.port, **{**usual, **settings})


def serve(options: ServerOptions) -> None:
    """Serve until the process is asked to stop. Raises ConfigError where anybody could come in."""
    if not is_loopback(options.host) and not AccessTokens(options.home).records():
        message = (
            f"The address {options.host} can be reached by others, and there is no token yet. "
            "Make one for each owner: deep-research token create NAME"
        )
        raise ConfigError(message, setting="host", value=options.host)
    if options.queued and not api.queue_state(home=options.home).workers:
        _log.warning("No worker is alive: runs wait until `deep-research worker` is started.")
    uvicorn.Server(server_config(options)).run()
