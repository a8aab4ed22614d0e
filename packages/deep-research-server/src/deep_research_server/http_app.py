"""The assembled HTTP application: guard, routes and page."""

import asyncio
import gzip
import hashlib
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from fastapi import FastAPI
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import deep_research
from deep_research.errors import ResearchError
from deep_research_server import evidence_routes, openai_routes, run_routes, server_routes
from deep_research_server.http_context import add_error_handlers
from deep_research_server.request_guard import RequestGuard
from deep_research_server.run_service import ServerOptions, make_run_service
from deep_research_server.uploads import UploadLimit, UploadsUnderWay

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
_NAMED = {"/": "index.html", "/favicon.ico": "icon.svg", "/openapi.json": "openapi.json"}


class PageFile(NamedTuple):
    """A file of the page as it is sent; `packed` is empty where gzip saves nothing."""

    media_type: str
    plain: bytes
    packed: bytes
    tag: str


@cache
def page_files() -> dict[str, PageFile]:
    """Return the page's files by path below `/page/`, with `texts/LANGUAGE.json`."""
    folder = files("deep_research_server").joinpath("page")
    found = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
    texts = page_texts()
    texts["languages"] = {language: said["language_name"] for language, said in texts.items()}
    found |= {f"texts/{name}.json": to_json(said) for name, said in texts.items()}
    return {name: _page_file(name, data) for name, data in found.items() if name.endswith(tuple(_TYPES))}


def page_texts() -> dict[str, dict[str, str]]:
    """Return the texts of the page by language and name, English first."""
    folder = files("deep_research.i18n").joinpath("page")
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]
    found.sort(key=lambda entry: (entry.name != "en.toml", entry.name))
    return {entry.name.removesuffix(".toml"): tomllib.loads(entry.read_text("utf-8")) for entry in found}


def _page_file(name: str, data: bytes) -> PageFile:
    ending = name.rpartition(".")[2]
    packed = b"" if ending == "woff2" else gzip.compress(data, 9, mtime=0)
    return PageFile(_TYPES[ending], data, packed, f'"{hashlib.sha256(data).hexdigest()[:20]}"')


async def _serve(request: Request) -> Response:
    name = _NAMED.get(request.url.path) or request.path_params["name"]
    found = await asyncio.shield(request.app.state.document) if name == "openapi.json" else page_files().get(name)
    if found is None:
        return Response("There is no such file.", status_code=404, media_type="text/plain")
    headers = {"etag": found.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if found.packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, media_type=found.media_type, headers={**headers, "content-encoding": "gzip"})
    return Response(found.plain, media_type=found.media_type, headers=headers)


def warm_up(app: FastAPI) -> PageFile:
    """Load all that the first visitor needs, and return the document of the routes."""
    page_files()
    with suppress(ResearchError):
        server_routes.offered_choices(UploadLimit(), "")
    return _page_file("openapi.json", to_json(app.openapi()))


def make_app(options: ServerOptions) -> FastAPI:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = make_run_service(options)
        app.state.document = asyncio.create_task(asyncio.to_thread(warm_up, app))  # once: anybody may ask for it
        yield
        app.state.document.cancel()
        await app.state.service.close()

    app = FastAPI(
        title="deep-research",
        version=deep_research.__version__,
        description="Research a question; get a report in which every claim can be checked.",
        lifespan=lifespan,
        openapi_url=None,  # and no pages about it
        routes=[Route(path, _serve, methods=["GET", "HEAD"]) for path in (*_NAMED, "/page/{name:path}")],
    )
    app.include_router(server_routes.health)
    for routes in (run_routes, evidence_routes, server_routes, openai_routes):
        app.include_router(routes.router)
    add_error_handlers(app)
    app.add_middleware(RequestGuard, tokens=options.tokens, uploads=UploadsUnderWay(options.home, options.uploads))
    return app
