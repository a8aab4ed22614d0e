"""Shared parts of the routes: service, request owner, and error responses."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deep_research import api, errors
from deep_research.api import Run
from deep_research.settings import Settings, load_settings
from deep_research_server.api_models import Problem
from deep_research_server.request_bodies import Refusal
from deep_research_server.request_guard import problem_response
from deep_research_server.run_service import RunService, within_budgets

_log = logging.getLogger(__name__)


def service_of(request: Request) -> RunService:
    """Return what carries out the runs of the application."""
    return request.app.state.service


def owner_of(request: Request) -> str:
    """Return the owner that the request belongs to, "" for the user of this machine."""
    return request.scope["state"]["owner"]


def settings_of_client(given: Mapping[str, Any], before: Mapping[str, Any] = MappingProxyType({})) -> Settings:
    """Return a client's settings over those of an earlier run and the server.

    Raises ConfigError. Models of LangChain load packages and files by their names, and `own` ones are objects of a
    program: the server's own settings alone name them.
    """
    settings, own = within_budgets(load_settings(**before, **given)), load_settings()
    named = api.named_providers(settings)
    if given.keys() & {"model_provider", "model_name"} and {"langchain", "own"}.intersection(named):
        message = "Models of `langchain` and `own` are named by the server's own settings alone; name none, or one of /api/v1/options."
        raise errors.ConfigError(message, setting="model_provider", value=named[0])
    own = own.model_copy(update={"model_name": own.model_name or "any"})  # clients may name the model
    is_at_own = settings.model_base_url and settings.model_base_url == own.model_base_url
    if is_at_own and named[named[0] == "auto"] not in ("", "finder", api.provider_of(own)):
        message = "This server has a model server of its own: no other provider's key is sent there; name no provider."
        raise errors.ConfigError(message, setting="model_provider", value=settings.model_provider)
    return settings


Service = Annotated[RunService, Depends(service_of)]
Owner = Annotated[str, Depends(owner_of)]
RunId = Annotated[str, InPath(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$", description="Whole id of a run.")]


async def home_of(service: Service, owner: Owner) -> Path:
    """Return the state folder of the owner that the request belongs to."""
    return service.home_of(owner)


Home = Annotated[Path, Depends(home_of)]


async def run_of(service: Service, owner: Owner, run_id: RunId) -> Run:
    """Return the run that a path names. Raises RunNotFound."""
    return await service.open(owner, run_id)


OwnRun = Annotated[Run, Depends(run_of)]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of errors, those that every route may give included."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    every = sorted({*statuses, 400, 401, 403, 413, 421, 422, 503})
    about = {"model": Problem, "content": content}
    return {status: {"description": HTTPStatus(status).phrase, **about} for status in every}


def _told(error: Exception) -> tuple[int, str]:  # noqa: PLR0911 - one line per kind of error
    """Return an error's HTTP status and client message, generic for foreign errors."""
    match error:
        case RequestValidationError():
            said = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
            return 422, said or "The request does not fit its description."
        case HTTPException():
            return error.status_code, str(error.detail)
        case Refusal():
            return error.status, error.detail
        case errors.RunNotFound():
            return 404, error.message
        case errors.RunBusy() | errors.Declined():
            return 409, error.message
        case errors.LimitReached():
            return 429, error.message
        case errors.ConfigError(setting="docs"):  # its message names a file of this machine
            return 404, "A document that it reads is not there any more; upload it again, and ask anew."
        case errors.ConfigError(reason="reused") | errors.WorkTooLarge():
            return 422, error.message
        case errors.ConfigError():
            return 400, error.message
        case errors.StoreError():
            return 503, "The state could not be read or written."
        case errors.ResearchError():
            return 500, error.message
    return 500, "Something failed in the server; its log says what."


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error in one form; what is not ours is logged with its traceback."""

    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, errors.StoreError):
            error = await _deleted_meanwhile(request) or error
        status, detail = _told(error)
        if status >= 500:
            defect = None if isinstance(error, errors.ResearchError | HTTPException) else error
            _log.error("%s %s: %s", request.method, request.url.path, error, exc_info=defect)
        headers = error.headers if isinstance(error, HTTPException) else None
        return problem_response(status, detail, request.url.path, headers)

    for kind in (errors.ResearchError, RequestValidationError, HTTPException, Refusal, Exception):
        app.add_exception_handler(kind, answer)


async def _deleted_meanwhile(request: Request) -> errors.RunNotFound | None:
    """Return the error for a deleted run of the path, or None."""
    try:
        if run_id := request.path_params.get("run_id"):
            await service_of(request).open(owner_of(request), run_id)
    except errors.RunNotFound as error:
        return error
    except errors.ResearchError:
        pass
    return None
