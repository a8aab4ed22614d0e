"""Bodies of requests: each route reads what it can need and no more, and uploads on their way have few places and room."""

import contextlib
import json
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deep_research_server import request_bodies
from deep_research_server.access_tokens import AccessTokens
from deep_research_server.http_app import make_app
from deep_research_server.run_service import ServerOptions
from deep_research_server.uploads import UploadLimit
from tests.server.serving import client, serving

HOSTILE = {
    "many keys": b"{" + b",".join(b'"%x":1' % n for n in range(110_000)) + b"}",
    "many numbers": b'{"messages":[{"role":"user","content":[' + b"1," * 490_000 + b"1]}]}",
    "many empty objects": b'{"input":[' + b"{}," * 330_000 + b"{}]}",
    "many empty strings": b'{"question":[' + b'"",' * 330_000 + b'""]}',
    "deep lists": b"[" * 900_000,
    "many values between escapes": b"[" + rb'"\\","\"",' * 60_000 + b"1]",
}


def _routes() -> list[tuple[str, str, dict[str, Any]]]:
    """Return method, path and schema of every route that takes JSON."""
    told = make_app(ServerOptions(Path("nowhere"))).openapi()
    return [
        (method.upper(), path.replace("{run_id}", "none"), _resolved(content["schema"], told))
        for path, methods in told["paths"].items()
        for method, about in methods.items()
        if (content := about.get("requestBody", {}).get("content", {}).get("application/json"))
    ]


def _resolved(schema: Any, told: dict[str, Any]) -> Any:
    """Return a schema with what it refers to in its place."""
    if isinstance(schema, list):
        return [_resolved(one, told) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _resolved(told["components"]["schemas"][schema["$ref"].rpartition("/")[2]], told)
    return {name: _resolved(value, told) for name, value in schema.items()}


def _largest(schema: dict[str, Any], *, within: int = 0) -> Any:
    """Return the most that fits a schema: long texts at the top, as many items as there may be, short texts in them."""
    if "anyOf" in schema:
        return _largest(schema["anyOf"][0], within=within)
    if "enum" in schema or "const" in schema:
        return schema.get("const") or schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _largest(one, within=within) for name, one in schema["properties"].items()}
        case "array":
            return [_largest(schema["items"], within=within + 1)] * schema.get("maxItems", 1)
        case "string":
            return "中" * (20 if within else schema.get("maxLength", 20_000))
        case "boolean":
            return True
    return 1_000_000


ROUTES = _routes()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("served")) as served:
        yield served


def test_a_route_reads_what_it_can_need_and_no_more(address: str) -> None:
    assert {"/api/v1/session", "/api/v1/runs", "/v1/responses"} < {path for _, path, _ in ROUTES}
    headers = {"content-type": "application/json"}
    with client(address) as http:
        for method, path, schema in ROUTES:
            for name, body in HOSTILE.items():
                assert http.request(method, path, content=body, headers=headers).status_code == 413, (path, name)
            most = json.dumps(_largest(schema)).encode()  # each sign of Chinese as six bytes
            assert http.request(method, path, content=most, headers=headers).status_code != 413, (path, len(most))


def test_of_a_list_the_first_wrong_item_is_told_alone(address: str) -> None:
    with client(address) as http:
        for method, path, schema in ROUTES:
            for name in [name for name, one in schema["properties"].items() if '"array"' in json.dumps(one)]:
                told = http.request(method, path, json={name: [[], []]}).text
                assert ".0: " in told or "There is no run" in told
                assert ".1: " not in told, told
        for wrong in (0, {"role": "user", "content": [0, 0]}):
            answer = http.post("/v1/responses", json={"input": [wrong] * 2_000})
            assert answer.status_code == 422
            said = answer.json()["error"]["message"]
            assert "body.input.list[ChatMessage].0" in said
            assert ".1" not in said


def test_a_body_is_in_the_code_in_which_it_is_counted(address: str) -> None:
    hidden = json.dumps({"question": "∢ " + "x" * 2_000 + " ∢", "sources": [1] * 500}, ensure_ascii=False)
    with client(address) as http:
        assert http.post("/api/v1/runs", content=hidden.encode("utf-16")).status_code == 400


def test_a_document_comes_in_a_form_of_parts(address: str) -> None:
    with client(address) as http:
        given = {"content-type": "application/x-www-form-urlencoded"}
        answer = http.post("/api/v1/documents", content=b"&" * 1_000, headers=given)
    assert (answer.status_code, "multipart/form-data" in answer.text) == (415, True)


def test_a_text_of_many_signs_of_json_is_one_value(address: str) -> None:
    with client(address) as http:
        asked = {"question": '","[{ \\" \n\\' * 1_800, "model_provider": "finder", "workflow": "quick"}
        made = http.post("/api/v1/runs", json=asked)
        assert made.status_code == 201, made.text
        http.post(f"/api/v1/runs/{made.json()['id']}/cancel")


class _Sending:
    """Uploads of a document that say how long they are and are not sent to their end."""

    def __init__(self, address: str, token: str, size: int) -> None:
        self._port, self._token, self._size = int(address.rsplit(":", 1)[1]), token, size

    @contextlib.contextmanager
    def begun(self) -> Iterator[socket.socket]:
        head = (
            "POST /api/v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Type: multipart/form-data; boundary=XX\r\n"
            f'Content-Length: {self._size}\r\n\r\n--XX\r\nContent-Disposition: form-data; name="file"; '
            'filename="a.txt"\r\n\r\n'
        )
        with socket.create_connection(("127.0.0.1", self._port), 20) as one:
            one.sendall(head.encode() + b"a" * (self._size // 2))
            yield one


def _upload(address: str, token: str, size: int = 1_000) -> httpx.Response:
    with client(address, headers={"Authorization": f"Bearer {token}"}) as http:
        return http.post("/api/v1/documents", files={"file": ("b.txt", b"word " * (size // 5))})


def _until(status: int, address: str, token: str, size: int = 1_000) -> None:
    """Upload until it is answered so: what others have sent comes in meanwhile."""
    for _ in range(600):
        if _upload(address, token, size).status_code == status:
            return
        threading.Event().wait(0.05)
    pytest.fail(f"never {status}")


def test_two_uploads_of_an_owner_are_on_their_way_at_a_time(own_state: Path) -> None:
    with serving(own_state, require_tokens=True) as address:
        anna, ben = (AccessTokens(own_state).create(name) for name in ("anna", "ben"))
        sending = _Sending(address, anna, 2_000_000)
        with sending.begun(), sending.begun():
            _until(429, address, anna)
            assert _upload(address, ben).status_code == 201
        _until(201, address, anna)


def test_room_for_an_upload_is_kept_before_it_comes(own_state: Path) -> None:
    with serving(own_state, require_tokens=True, uploads=UploadLimit(2, 100, total_megabytes=3)) as address:
        anna = AccessTokens(own_state).create("anna")
        with _Sending(address, anna, 2_000_000).begun():
            _until(429, address, anna, 1_500_000)
        _until(201, address, anna, 1_500_000)


def test_an_upload_ends_within_minutes(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert request_bodies._LONGEST_SECONDS <= 600
    monkeypatch.setattr(request_bodies, "_LONGEST_SECONDS", 0.3)
    with serving(own_state) as address, _Sending(address, "", 2_000_000).begun() as one:
        assert one.recv(12) == b"HTTP/1.1 408"


def test_large_bodies_of_an_owner_have_few_places(own_state: Path) -> None:
    with serving(own_state, require_tokens=True) as address, contextlib.ExitStack() as stack:
        anna, ben = (AccessTokens(own_state).create(name) for name in ("anna", "ben"))
        head = (
            "POST /api/v1/verifications HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {anna}\r\nContent-Length: 3000000\r\n\r\n{{"
        )
        port = int(address.rsplit(":", 1)[1])
        sockets = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 20)) for _ in range(9)]
        for one in sockets:
            one.sendall(head.encode())
        answered, _, _ = select.select(sockets, [], [], 30)
        assert [one.recv(12) for one in answered] == [b"HTTP/1.1 429"]
        asked = {"text": "x" * 200_000, "model_provider": "nobody"}
        with client(address, headers={"Authorization": f"Bearer {ben}"}) as http:
            assert http.post("/api/v1/verifications", json=asked).status_code == 400
