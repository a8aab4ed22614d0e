"""Who may use the server: tokens by owner, owners apart, other sites refused, limits, headers; hostile texts do nothing."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from click.testing import CliRunner

from deep_research import api
from deep_research.cli.main import cli
from deep_research_server.access_tokens import AccessTokens, owner_home
from deep_research_server.http_app import make_app
from deep_research_server.http_context import OwnRun
from deep_research_server.run_service import ServerOptions
from deep_research_server.uploads import UploadLimit
from tests.server.serving import client, client_of, events_of, serving
from tests.support.made_reports import RUN_ID, save_run

QUESTION = {"question": "How does speculative decoding work?", "model_provider": "finder", "workflow": "quick"}


class Owners(NamedTuple):
    """Two owners of one server."""

    address: str
    tokens: AccessTokens
    anna: httpx.Client
    ben: httpx.Client


@pytest.fixture
def owners(own_state: Path) -> Iterator[Owners]:
    with (
        serving(own_state, require_tokens=True) as address,
        client_of(own_state, address, "anna") as anna,
        client_of(own_state, address, "ben") as ben,
    ):
        yield Owners(address, AccessTokens(own_state), anna, ben)


def test_runs_and_documents_of_another_owner_are_not_there(owners: Owners, own_state: Path) -> None:
    save_run(owner_home(own_state, "anna"))
    for method, path, body in (
        ("GET", "", None), ("GET", "/report", None), ("GET", "/events", None), ("GET", "/passages/s1p1", None),
        ("GET", "/sources/s1/snapshot", None), ("GET", "/export/json", None), ("DELETE", "", None),
        ("POST", "/cancel", None), ("POST", "/answer", {"answer": "yes"}), ("POST", "/follow-ups", {"question": "Why?"}),
    ):  # fmt: skip
        assert owners.ben.request(method, f"/api/v1/runs/{RUN_ID}{path}", json=body).status_code == 404, path
    assert owners.ben.get("/api/v1/runs").json()["total"] == 0
    assert owners.ben.get(f"/v1/responses/resp_{RUN_ID}").status_code == 404
    assert owners.anna.get("/api/v1/runs").json()["total"] == 1
    document = owners.anna.post("/api/v1/documents", files={"file": ("a.md", b"# Secret")}).json()["id"]
    assert owners.ben.post("/api/v1/runs", json={**QUESTION, "documents": [document]}).status_code == 404
    assert owners.ben.delete(f"/api/v1/documents/{document}").status_code == 404
    assert len(owners.anna.get("/api/v1/documents").json()["documents"]) == 1


def test_without_a_token_only_the_page_is_served_which_keeps_its_own_out_of_reach(owners: Owners) -> None:
    with client(owners.address) as http:
        for path in ("/api/v1/runs", "/api/v1/options", "/api/v1/documents", "/v1/models"):
            answer = http.get(path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        assert http.get("/").status_code == 200
        assert http.get("/healthz").json() == {"status": "ok"}
        assert http.post("/api/v1/session", json={"token": "drt_wrong"}).status_code == 401
        # What needs no token reads no more than a token.
        assert http.post("/api/v1/session", json={"token": "x" * 5_000}).status_code == 413
        assert owners.anna.post("/api/v1/runs", json={"question": "x" * 5_000}).status_code != 413
        # The page keeps its token where scripts cannot read it.
        token = owners.tokens.create("carla")
        opened = http.post("/api/v1/session", json={"token": token})
        assert opened.status_code == 204
        assert "HttpOnly" in opened.headers["set-cookie"]
        assert "SameSite=strict" in opened.headers["set-cookie"]
        assert http.get("/api/v1/options").json()["owner"] == "carla"


def test_a_token_is_kept_as_a_hash_and_revoked_at_once(owners: Owners, own_state: Path) -> None:
    token = owners.tokens.create("dora")
    kept = own_state / "access-tokens.json"
    assert token not in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) & 0o077 == 0
    with client(owners.address, headers={"Authorization": f"Bearer {token}"}) as http:
        assert http.get("/api/v1/runs").status_code == 200
        owners.tokens.revoke(owners.tokens.records()[-1].id)
        assert http.get("/api/v1/runs").status_code == 401


def test_tokens_by_the_command_line(own_state: Path) -> None:
    token = CliRunner().invoke(cli, ["token", "create", "anna"]).output.strip()
    assert AccessTokens(own_state).owner_of(token) == "anna"
    shown = CliRunner().invoke(cli, ["token", "list"]).output.split()
    assert shown[1] == "anna"
    assert CliRunner().invoke(cli, ["token", "revoke", shown[0]]).exit_code == 0
    assert AccessTokens(own_state).owner_of(token) is None


def test_tokens_made_at_the_same_time_are_all_kept(own_state: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from deep_research_server.access_tokens import AccessTokens\n"
        "for _ in range(20): AccessTokens(Path(sys.argv[1])).create(sys.argv[2])"
    )
    making = [subprocess.Popen([sys.executable, "-c", code, str(own_state), name]) for name in "abc"]
    assert [one.wait() for one in making] == [0, 0, 0]
    assert len(AccessTokens(own_state).records()) == 60


def test_an_address_that_others_reach_is_not_served_without_tokens(own_state: Path) -> None:
    for command in (["serve"], ["mcp", "--http"]):
        refused = CliRunner().invoke(cli, [*command, "--host", "0.0.0.0"])
        assert "deep-research token create" in str(refused.exception), refused.output


def test_other_sites_cannot_use_the_server_and_what_comes_through_a_proxy_is_told_what_to_do(
    http: httpx.Client,
) -> None:
    for name, value, status in (
        ("Host", "evil.example", 421), ("Host", "testserver", 421), ("X-Forwarded-For", "203.0.113.9", 403),
        ("X-Forwarded-Host", "research.example.org", 403), ("Forwarded", "for=203.0.113.9", 403),
        ("X-Real-IP", "203.0.113.9", 403), ("Via", "1.1 proxy", 403), ("Origin", "http://evil.example", 403),
        ("Sec-Fetch-Site", "cross-site", 403), ("Origin", "null", 403), ("Origin", "http://[", 403), ("Via", "", 201),
    ):  # fmt: skip
        headers = {name: value} if value else {}
        assert http.post("/api/v1/runs", json=QUESTION, headers=headers).status_code == status, headers
    answer = http.get("/api/v1/runs", headers={"X-Forwarded-For": "203.0.113.9"})
    assert answer.status_code == 403
    assert "deep-research token create" in answer.json()["detail"]
    assert "--require-tokens" in answer.json()["detail"]


def test_every_answer_has_the_headers_of_safety_and_errors_are_problem_details(http: httpx.Client) -> None:
    for path in ("/", "/page/main.js", "/api/v1/runs", "/api/v1/runs/none", "/nothing"):
        answer = http.get(path)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    assert problem_of(http.get("/api/v1/runs/none"))["status"] == 404
    assert "question" in problem_of(http.post("/api/v1/runs", json={}))["detail"]
    wrong = problem_of(http.post("/api/v1/runs", json={**QUESTION, "model_provider": "nobody"}))
    assert (wrong["status"], "nobody" in wrong["detail"]) == (400, True)


def test_a_body_over_the_limit_is_refused_as_it_comes(http: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(30):
            yield b" " * 100_000

    answer = http.post("/api/v1/runs", content=pieces(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_an_upload_over_the_limit_leaves_nothing(own_state: Path) -> None:
    with serving(own_state, uploads=UploadLimit(1, 2)) as address, client(address) as http:
        files = {"file": ("a.txt", b"a" * 1_500_000)}
        assert http.post("/api/v1/documents", files=files).status_code == 400
        assert http.post("/api/v1/documents", files={"file": ("a.txt", b"a" * 4_500_000)}).status_code == 413
        assert not [path for path in (own_state / "uploads").rglob("*") if path.is_file()]
        for status in (201, 201, 429):
            assert http.post("/api/v1/documents", files={"file": ("a.txt", b"text")}).status_code == status


def test_a_run_that_is_deleted_while_it_is_read_is_not_there(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_slow_reader(options: ServerOptions) -> Any:
        app = make_app(options)

        @app.get("/api/v1/runs/{run_id}/read-slowly")
        def read_slowly(run: OwnRun) -> str:
            api.delete_runs([run.id], home=own_state)
            return run.read_passage("s1p1").passage.text

        return app

    save_run(own_state)
    monkeypatch.setattr("tests.server.serving.make_app", with_slow_reader)
    with serving(own_state) as address, client(address) as http:
        assert http.get(f"/api/v1/runs/{RUN_ID}/read-slowly").status_code == 404


def test_a_defect_tells_the_client_nothing(own_state: Path) -> None:
    save_run(own_state)
    with serving(own_state) as address, client(address) as http:
        library = own_state / "runs" / RUN_ID / "library.db"
        library.write_bytes(b"nothing that a database could read" * 100)
        answer = http.get(f"/api/v1/runs/{RUN_ID}/passages/s1p1")
        assert answer.status_code in (500, 503)
        assert str(own_state) not in answer.text
        assert "Traceback" not in answer.text


def problem_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"].startswith("application/problem+json")
    return answer.json()


def test_settings_that_cannot_be_used_are_told_and_not_shown_as_choices_without_content(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert http.get("/api/v1/options").json()["problem"] == ""
    for name, value, told in (
        ("DEEP_RESEARCH_MODEL_PROVIDER", "nobody", "nobody"),
        ("DEEP_RESEARCH_MAX_ITERATIONS", "99", "max_iterations"),
    ):
        monkeypatch.setenv(name, value)
        options = http.get("/api/v1/options").json()
        assert told in options["problem"]
        assert options["strategies"]
        monkeypatch.delenv(name)


def test_a_client_names_no_model_that_is_loaded_by_its_name(
    own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "langchain_huggingface"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"from pathlib import Path\nPath({str(tmp_path / 'loaded')!r}).touch()\n")
    monkeypatch.syspath_prepend(package.parent)
    save_run(own_state)
    with serving(own_state) as address, client(address) as http:
        for path, asked in (
            ("/api/v1/runs", {"question": "What is it?"}),
            ("/api/v1/verifications", {"text": "It is 5 [1]."}),
            (f"/api/v1/runs/{RUN_ID}/follow-ups", {"question": "And then?"}),
        ):
            for named in (
                {"model_provider": "langchain", "model_name": "huggingface:attacker/model"},
                {"model_provider": "auto", "model_name": "langchain:huggingface:attacker/model"},
                {"model_name": "langchain:huggingface:attacker/model"},
                {"model_provider": "own"},
            ):
                assert http.post(path, json={**asked, **named}).status_code == 400, (path, named)
    assert not (tmp_path / "loaded").exists()
    sys.modules.pop("langchain_huggingface", None)


KEYS_OF_OTHERS: tuple[tuple[str, dict[str, str], int], ...] = (
    ("compatible", {"model_provider": "openai"}, 201),
    ("compatible", {"model_provider": "auto", "model_name": "anthropic:x"}, 201),
    ("compatible", {"model_name": "anthropic:x"}, 201),
    ("auto", {"model_provider": "openai"}, 201),
    ("auto", {"model_provider": "anthropic"}, 400),
    ("auto", {"model_name": "anthropic:x"}, 400),
    ("auto", {"judge_model": "anthropic:x"}, 422),
    ("auto", {"model_provider": "finder"}, 201),
)


def test_the_key_of_another_provider_is_not_sent_to_the_server_s_own_model_server(
    own_state: Path, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        monkeypatch.setenv(name, f"sk-{name}")
    for own, named, status in KEYS_OF_OTHERS:
        monkeypatch.setenv("DEEP_RESEARCH_MODEL_PROVIDER", own)
        made = http.post("/api/v1/runs", json={**QUESTION, "model_provider": None, **named})
        assert made.status_code == status, made.text
        if status != 201:
            assert ("model server of its own" if status == 400 else "judge_model") in made.text
            continue
        run = made.json()["id"]
        http.post(f"/api/v1/runs/{run}/cancel")
        settings = json.loads((own_state / "runs" / run / "run.json").read_text())["settings"]
        belongs = {"compatible": "compatible", "auto": "openai"}[own]  # the first whose key is set
        assert settings["model_provider"] in (belongs, "finder") or not settings.get("model_base_url")


def _until_end(one: socket.socket) -> str:
    data = b""
    while b"event: end" not in data:
        piece = one.recv(1 << 16)
        assert piece
        data += piece
    one.close()
    return data.decode()


def _memory() -> int:
    """The memory that this process holds, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_readers_of_one_run_lose_nothing(indexed: Path) -> None:
    readers = 200
    with serving(indexed) as address, client(address) as http:
        before = _memory()
        run = http.post("/api/v1/runs", json=QUESTION).json()["id"]
        sockets = [socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1]))) for _ in range(readers)]
        for one in sockets:
            one.settimeout(60)
            one.sendall(
                f"GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
            )
        texts = [_until_end(one) for one in sockets]
        wanted = [event["id"] for event in events_of(http, f"/api/v1/runs/{run}/events")[:-1]]
        for text in texts:
            assert [line[4:] for line in text.splitlines() if line.startswith("id: ")] == wanted
        assert _memory() - before < 150_000_000
