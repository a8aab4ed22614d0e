"""The page: its files, read once, compressed, with a tag by which browsers keep them; and its texts by language."""

import gzip
import hashlib
import json
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
_PACKED = frozenset({"woff2"})


class PageFile(NamedTuple):
    """A file of the page as it is sent; `packed` is empty where gzip saves nothing."""

    media_type: str
    plain: bytes
    packed: bytes
    tag: str


@cache
def page_files() -> dict[str, PageFile]:
    """Return the files of the page by their path below `/page/`, texts as `texts/LANGUAGE.json` among them."""
    folder = files("deep_research.server").joinpath("page")
    found = {entry.name: entry.read_bytes() for entry in folder.iterdir() if "." in entry.name}
    texts = page_texts()
    found |= {f"texts/{language}.json": _json(said) for language, said in texts.items()}
    found["texts/languages.json"] = _json({language: said["language_name"] for language, said in texts.items()})
    return {name: _file(name, data) for name, data in found.items() if _ending(name) in _TYPES}


def page_texts() -> dict[str, dict[str, str]]:
    """Return the texts of the page by language and name, English first."""
    folder = files("deep_research.i18n").joinpath("page")
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]
    found.sort(key=lambda entry: (entry.name != "en.toml", entry.name))
    return {entry.name.removesuffix(".toml"): tomllib.loads(entry.read_text("utf-8")) for entry in found}


def _json(value: dict[str, str]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


def _file(name: str, data: bytes) -> PageFile:
    packed = b"" if _ending(name) in _PACKED else gzip.compress(data, 9, mtime=0)
    return PageFile(_TYPES[_ending(name)], data, packed, f'"{hashlib.sha256(data).hexdigest()[:20]}"')


async def _serve(request: Request) -> Response:
    found = page_files().get(request.path_params.get("name", "index.html"))
    if found is None:
        return Response("There is no such file.", status_code=404, media_type="text/plain")
    headers = {"etag": found.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if found.packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, media_type=found.media_type, headers={**headers, "content-encoding": "gzip"})
    return Response(found.plain, media_type=found.media_type, headers=headers)


async def _icon(request: Request) -> Response:
    request.path_params["name"] = "icon.svg"
    return await _serve(request)


ROUTES = [
    Route("/", _serve, methods=["GET", "HEAD"]),
    Route("/favicon.ico", _icon, methods=["GET"]),
    Route("/page/{name:path}", _serve, methods=["GET", "HEAD"]),
]
