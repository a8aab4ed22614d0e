"""User and password in the addresses of settings: sent where they belong, and in nothing that is kept or shown; proxies."""

import asyncio
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deep_research import address_credentials, api
from deep_research.cli.main import cli
from deep_research.errors import ConfigError, ResearchError
from deep_research.providers.rankers import open_ranker
from deep_research.safe_text import safe_text
from deep_research.settings import Settings, load_keys, load_settings
from deep_research.stores.run_bundle import write_bundle
from deep_research.stores.run_folder import list_runs
from tests.runs.running import engines, run
from tests.support.scripted_http import HttpRequest, HttpResponse, LoopbackServer, json_response

PASSWORD = "CANARY-pass.word-77"
BASIC = f"Basic {b64encode(f'me:{PASSWORD}'.encode()).decode()}"
Seen = list[tuple[str, dict[str, str]]]


@pytest.fixture(autouse=True)
def another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials are known from other tests."""
    monkeypatch.setattr(address_credentials, "_known", {})
    monkeypatch.setattr("deep_research.safe_text._secrets", set())


@contextmanager
def listening(status: int = 400, body: object = None) -> Iterator[tuple[str, Seen]]:
    """A server, or a proxy, that notes addresses and headers; gives its host and port."""
    seen: Seen = []

    async def answer(request: HttpRequest) -> HttpResponse:
        seen.append((request.path, dict(request.headers)))
        return json_response(status, body or {"error": {"message": f"refused {request.headers.get('authorization')}"}})

    server = LoopbackServer(answer)
    server.start()
    try:
        yield f"127.0.0.1:{server.port}", seen
    finally:
        server.close()


def _kept_in(folder: Path) -> list[str]:
    """Return the files that hold the password, in any of its forms."""
    forms = (PASSWORD.encode(), BASIC.partition(" ")[2].encode())
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(form in path.read_bytes() for form in forms)]


def test_settings_and_variables_hold_addresses_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"https://me:{PASSWORD}@models.test/v1"
    nested: dict[str, Any] = {
        "searxng": {"base_url": address},
        "jina": {"reader_url": address},
        "feeds": {"feeds": [address]},
    }
    settings = Settings(
        model_base_url=address, ranker_base_url=address, proxy=address, contact=address, source_options=nested
    )
    assert PASSWORD not in settings.model_dump_json() + repr(settings)
    assert settings.proxy == "https://models.test/v1"
    assert settings.source_options["feeds"]["feeds"] == ["https://models.test/v1"]
    monkeypatch.setenv("SEARXNG_URL", address)
    assert load_keys(["SEARXNG_URL"]) == {"SEARXNG_URL": "https://models.test/v1"}
    assert address_credentials.credentials_for("https://MODELS.test:443/other") == ("me", PASSWORD)
    for other in ("http://models.test", "https://models.test:8443", "https://models.test.evil.test"):
        assert address_credentials.credentials_for(other) is None


@pytest.mark.parametrize("address", ["localhost", '"http://models.test:1"'])
def test_the_host_of_a_model_server_is_no_secret(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", address)
    bare = address.strip('"')
    assert load_keys(["OLLAMA_HOST"]) == {"OLLAMA_HOST": bare}
    assert safe_text(f"It listens on {bare}.") == f"It listens on {bare}."
    monkeypatch.setenv("OLLAMA_HOST", f"me:{PASSWORD}@{bare}")
    load_keys(["OLLAMA_HOST"])
    assert PASSWORD not in safe_text(f"No answer of me:{PASSWORD}@{bare}.")


@pytest.mark.parametrize("around", ['"{}"', " {}\r\n"])
def test_a_key_is_read_without_what_files_put_around_it(around: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, around.format("sk-0123456789"))
    read = load_keys(["OPENAI_API_KEY", "GEMINI_API_KEY"])
    assert set(read.values()) == {"sk-0123456789"}
    assert len(read) == 2


def test_a_message_about_an_address_shows_no_password() -> None:
    for shown in (f"cannot use 'wrong://me:{PASSWORD}@host/x'", f"no: ftp://me:{PASSWORD}@host"):
        assert PASSWORD not in ResearchError(shown).message
    with pytest.raises(ConfigError) as refused:
        load_settings(source_options=f"http://me:{PASSWORD}@host")
    assert PASSWORD not in refused.value.message
    assert PASSWORD not in ResearchError(f"the password is {PASSWORD}, me:{PASSWORD}").message


def test_words_stay_in_texts_though_somebody_uses_one_as_a_password() -> None:
    Settings(proxy="http://research:postgres@proxy.test:3128")
    assert "postgres" in ResearchError("postgres is a database; research uses it").message
    assert "postgres" not in ResearchError("http://research:postgres@proxy.test:3128 failed").message


def _begin(folder: Path, place: str) -> api.Run:
    address = f"http://me:{PASSWORD}@{place}/v1"
    settings = load_settings(model_provider="compatible", model_name="m", model_base_url=address)
    docs = [str(engines(folder / "docs"))]
    return api.start_run("Which kinds of engines are there?", settings, docs=docs, home=folder / "home")


def test_the_password_of_a_model_server_is_sent_there_and_kept_nowhere(tmp_path: Path) -> None:
    told: list[str] = []
    with listening() as (place, seen), suppress(ResearchError):
        run = _begin(tmp_path, place)
        report = asyncio.run(run.carry_out(listener=lambda event: told.append(event.model_dump_json())))
        told.append(report.model_dump_json())
    assert {headers["authorization"] for _, headers in seen} == {BASIC}
    assert "refused" in "".join(told)
    assert PASSWORD not in "".join(told)
    assert _kept_in(tmp_path) == []


def test_a_run_that_another_process_takes_up_uses_the_credentials_of_the_settings_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as (place, seen), suppress(ResearchError):
        begun = _begin(tmp_path, place)
        monkeypatch.setattr(address_credentials, "_known", {})
        monkeypatch.setenv("DEEP_RESEARCH_MODEL_BASE_URL", f"http://me:{PASSWORD}@{place}/v1")
        asyncio.run(api.open_run(begun.id, home=tmp_path / "home").carry_out())
    assert {headers["authorization"] for _, headers in seen} == {BASIC}
    assert _kept_in(tmp_path) == []


def test_a_source_gets_the_password_of_its_address_and_the_run_its_report_and_its_bundle_hold_none(
    tmp_path: Path,
) -> None:
    with listening(200, {"results": []}) as (place, seen):
        address = f"http://me:{PASSWORD}@{place}"
        ran = run(
            "Which kinds of engines are there?",
            home=tmp_path / "home",
            docs=[engines(tmp_path / "docs")],
            model_provider="finder",
            proxy=address,
            model_base_url=address,
            ranker_base_url=address,
            source_options={"searxng": {"base_url": address}},
            sources=("searxng",),
        )
    assert {headers.get("authorization") for _, headers in seen} == {BASIC}
    write_bundle(ran.folder, tmp_path / "run.zip")
    assert _kept_in(tmp_path) == []


def test_rankers_use_the_proxy_of_the_settings_and_none_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = {"data": [{"index": number, "embedding": [1.0]} for number in range(2)]}
    with listening(200, embedded) as (proxy, asked), listening(200, embedded) as (here, seen):
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://{proxy}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        # The environment names a proxy, and nobody asks it.
        _rank(f"http://{here}/v1")
        assert [path for path, _ in seen] == ["/v1/embeddings"]
        assert asked == []
        # The setting names one: what is outside is asked by way of it, this machine is not.
        named = Settings(proxy=f"http://me:{PASSWORD}@{proxy}").proxy
        _rank("http://models.test/v1", proxy=named)
        _rank(f"http://{here}/v1", proxy=named)
        assert [path for path, _ in asked] == ["http://models.test/v1/embeddings"]
        assert {headers["proxy-authorization"] for _, headers in asked} == {BASIC}
        assert len(seen) == 2


def _rank(address: str, **proxy: str) -> None:
    async def rank() -> None:
        ranker = open_ranker("compatible:m", {}, base_url=address, **proxy)
        try:
            await ranker.rank("why", ["because"])
        finally:
            await ranker.close()

    asyncio.run(rank())


def test_a_model_is_asked_by_way_of_the_proxy(tmp_path: Path) -> None:
    with listening() as (proxy, asked):
        with suppress(ResearchError):
            run(
                "Which kinds of engines are there?",
                home=tmp_path / "home",
                docs=[engines(tmp_path / "docs")],
                model_provider="compatible",
                model_name="m",
                model_base_url="http://models.test/v1",
                proxy=f"http://{proxy}",
            )
        assert {path for path, _ in asked} == {"http://models.test/v1/chat/completions"}


@pytest.mark.parametrize(
    "proxy",
    ["127.0.0.1:7890", "socks5://me:{}@127.0.0.1:1", "http://me:{}@a b", "http://a:99999"],
)
def test_a_proxy_that_cannot_be_one_is_refused_before_a_run(
    proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_HOME", str(tmp_path))
    shown = CliRunner().invoke(cli, ["research", "Why?", "--set", f"proxy={proxy.format(PASSWORD)}"])
    assert isinstance(shown.exception, ConfigError)
    assert "The setting proxy = " in shown.exception.message
    assert PASSWORD not in shown.output + shown.exception.message + str(shown.exception.value)
    assert not list_runs(tmp_path)


@pytest.mark.parametrize("scheme", ["wrong", "postgresql"])
def test_the_password_of_a_database_that_cannot_be_used_is_not_shown(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_DATABASE_URL", f"{scheme}://me:{PASSWORD}@127.0.0.1:1/x?connect_timeout=1")
    shown = CliRunner().invoke(cli, ["list"])
    assert PASSWORD not in shown.output + str(getattr(shown.exception, "message", ""))


@pytest.mark.parametrize("sign", ["/", " "])
def test_a_password_that_is_not_encoded_is_refused_and_not_shown(sign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_PROXY", f"http://me:{PASSWORD}{sign}more@127.0.0.1:9")
    with pytest.raises(ConfigError, match="has a password with a sign that ends it") as refused:
        load_settings()
    assert PASSWORD not in refused.value.message
