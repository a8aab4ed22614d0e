"""What the routes share: the service, the owner of a request, and how errors become answers."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deep_research import api
from deep_research.api import Run
from deep_research.errors import (
    ConfigError,
    Declined,
    LimitReached,
    ResearchError,
    RunBusy,
    RunNotFound,
    StoreError,
    WorkTooLarge,
)
from deep_research.settings import Settings, load_settings
from deep_research_server.access_tokens import AccessTokens
from deep_research_server.api_models import Problem
from deep_research_server.request_bodies import Refusal
from deep_research_server.request_guard import problem
from deep_research_server.run_service import RunService
from deep_research_server.uploads import UploadLimit

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerContext:
    """What the application was built with; `tokens` is None where only the user of this machine is served."""

    service: RunService
    tokens: AccessTokens | None
    uploads: UploadLimit


def context_of(request: Request) -> ServerContext:
    """Return what the application was built with."""
    return request.app.state.context


def owner_of(request: Request) -> str:
    """Return the owner that the request belongs to, "" for the user of this machine."""
    return request.scope["state"]["owner"]


def settings_of_client(given: Mapping[str, Any], before: Mapping[str, Any] = MappingProxyType({})) -> Settings:
    """Return the settings that a client gives, over those of a run `before` and the server's. Raises ConfigError.

    Models of LangChain load packages and files by their names: those of the server's own settings are used alone.
    """
    settings = load_settings(**before, **given)
    if given.keys() & {"model_provider", "model_name"} and api.loads_by_name(settings):
        message = (
            "Models of LangChain are named by the server's own settings alone; name none, or one of /api/v1/options."
        )
        raise ConfigError(message, setting="model_provider", value="langchain")
    return settings


Context = Annotated[ServerContext, Depends(context_of)]
Owner = Annotated[str, Depends(owner_of)]
RunId = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$", description="Whole id of a run.")]


async def run_of(context: Context, owner: Owner, run_id: RunId) -> Run:
    """Return the run that a path names. Raises RunNotFound."""
    return await context.service.open(owner, run_id)


OwnRun = Annotated[Run, Depends(run_of)]

_TEXTS = {
    400: "The request cannot be carried out as it is",
    401: "A token is needed",
    403: "Requests of other sites are refused",
    404: "There is no such thing, or it belongs to another owner",
    409: "The run is in another state",
    413: "The body is too large",
    415: "The media type is not taken",
    421: "The server answers to another name",
    422: "The request does not fit its description",
    429: "The server is busy",
    503: "The disk or database of the server failed",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of errors, those that every route may give included."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    every = sorted({*statuses, 400, 401, 403, 413, 421, 422, 503})
    return {status: {"description": _TEXTS[status], "model": Problem, "content": content} for status in every}


def status_of(error: ResearchError) -> int:
    """Return the HTTP status of an error of ours."""
    match error:
        case RunNotFound():
            return 404
        case RunBusy() | Declined():
            return 409
        case LimitReached():
            return 429
        case ConfigError(reason="reused") | WorkTooLarge():
            return 422
        case ConfigError():
            return 400
        case StoreError():
            return 503
    return 500


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error in one form; what is not ours is logged, and the client is told nothing of it."""

    async def on_research_error(request: Request, error: Exception) -> Response:
        if isinstance(error, StoreError) and (gone := await _deleted_meanwhile(request)) is not None:
            error = gone
        status = status_of(error) if isinstance(error, ResearchError) else 500
        detail = str(getattr(error, "message", "")) if status != 503 else "The state could not be read or written."
        if status >= 500:
            _log.error("%s %s: %s", request.method, request.url.path, error)
        return _answer(request, status, detail)

    async def on_invalid(request: Request, error: Exception) -> Response:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        said = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:5])
        return _answer(request, 422, said or "The request does not fit its description.")

    async def on_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        detail = str(error.detail) if isinstance(error, HTTPException) else ""
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
        return _answer(request, status, detail, headers)

    async def on_refusal(request: Request, error: Exception) -> Response:
        status = error.status if isinstance(error, Refusal) else 500
        return _answer(request, status, str(error))

    async def on_defect(request: Request, error: Exception) -> Response:
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return _answer(request, 500, "Something failed in the server; its log says what.")

    app.add_exception_handler(ResearchError, on_research_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Refusal, on_refusal)
    app.add_exception_handler(Exception, on_defect)


async def _deleted_meanwhile(request: Request) -> RunNotFound | None:
    """Return why the run of a path is not there any more, None where it is or none is named."""
    run_id = request.path_params.get("run_id")
    try:
        if run_id is not None:
            await context_of(request).service.open(owner_of(request), str(run_id))
    except RunNotFound as gone:
        return gone
    except ResearchError:
        return None
    return None


def _answer(request: Request, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    openai = request.url.path.startswith("/v1/")
    body = problem(status, HTTPStatus(status).phrase, detail, openai=openai)
    media_type = "application/json" if openai else "application/problem+json"
    more = {"retry-after": "30"} if status == 429 else {}
    return Response(body, status_code=status, media_type=media_type, headers={**more, **(headers or {})})
