"""Routes of the server itself: choices, uploads, the page's session, health."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, File, Path, Request, Response, UploadFile

import deep_research
from deep_research import api
from deep_research.data.noun import copy_fields
from deep_research.errors import ConfigError
from deep_research.i18n.catalog import languages
from deep_research.settings import Settings, load_settings
from deep_research_server import api_models as models
from deep_research_server.fair_turns import OwnersRoute
from deep_research_server.http_context import Home, Owner, Service, problems
from deep_research_server.request_bodies import Refusal
from deep_research_server.request_guard import COOKIE
from deep_research_server.uploads import UploadedDocuments, UploadLimit

router = APIRouter(prefix="/api/v1", tags=["server"], route_class=OwnersRoute)
health = APIRouter(tags=["server"])
_DocumentId = Annotated[str, Path(pattern=r"^d[0-9a-f]{16}$")]


@router.get("/options", responses=problems())
def show_options(service: Service, owner: Owner) -> models.Options:
    """Show what can be chosen for a run on this server."""
    return offered_choices(service.options.uploads, owner)


def offered_choices(limit: UploadLimit, owner: str) -> models.Options:
    """Return the choices for a run, and the problem of the server's settings."""
    provider = model = web = problem = ""
    settings = Settings()
    try:
        settings = load_settings()
        seen = api.preview_run(settings)
        provider, model, web = seen.provider, seen.model, seen.web
    except ConfigError as error:
        problem = error.message
    named = {"owner": owner, "provider": provider, "model": model, "web": web, "problem": problem}
    return models.Options(
        **named,
        version=deep_research.__version__,
        providers=[models.NamedText(name=name, purpose=usual) for name, usual in api.list_models(settings).items()],
        strategies=[models.NamedText(name=name, purpose=purpose) for name, purpose in api.list_strategies().items()],
        templates=[models.NamedText(name=t.name, purpose=t.purpose) for t in api.list_templates()[0]],
        exports=[models.NamedText(name=one.name, purpose=one.purpose) for one in api.list_exporters()],
        languages=list(languages()),
        uploads=copy_fields(models.UploadLimits, limit, types=list(api.readable_suffixes())),
    )


@router.post("/documents", status_code=201, responses=problems(415, 429))
async def upload_document(service: Service, home: Home, file: Annotated[UploadFile, File()]) -> models.DocumentView:
    """Upload a document that runs can read (form field `file`)."""
    return await UploadedDocuments(home, service.options.uploads).add(file)


@router.get("/documents", responses=problems())
def list_documents(service: Service, home: Home) -> models.DocumentPage:
    """List the uploaded documents, newest first."""
    return models.DocumentPage(documents=UploadedDocuments(home, service.options.uploads).all())


@router.delete("/documents/{document}", status_code=204, responses=problems(404))
def delete_document(service: Service, home: Home, document: _DocumentId) -> None:
    """Delete an uploaded document; runs that have read it keep what they read."""
    UploadedDocuments(home, service.options.uploads).delete(document)


@router.post("/session", status_code=204, responses=problems())
async def open_session(given: models.SessionInput, request: Request, service: Service, response: Response) -> None:
    """Give the page a token: it is kept in a cookie that scripts cannot read."""
    if service.options.tokens is None:
        return
    if service.options.tokens.owner_of(given.token) is None:
        raise Refusal(401, "The token is not known.")
    safe = request.url.scheme == "https"
    response.set_cookie(COOKIE, given.token, httponly=True, samesite="strict", secure=safe, max_age=30 * 86_400)


@router.delete("/session", status_code=204, responses=problems())
async def close_session(response: Response) -> None:
    """Forget the token of the page."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


@health.get("/healthz", responses={200: {"description": "The process answers"}})
async def tell_health() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "ok"}


@health.get("/readyz", responses=problems(503))
async def tell_readiness(service: Service) -> dict[str, str | int]:
    """Say that the state can be read; with a queue, how many workers are alive."""
    # One look at the store: anybody may ask this, as often as they like.
    await asyncio.to_thread(lambda: api.open_run("none", home=service.home, is_known=True).has_report)
    if not service.is_queued:
        return {"status": "ready"}
    state = await asyncio.to_thread(api.queue_state, home=service.home)
    return {"status": "ready", "workers": state.workers}
