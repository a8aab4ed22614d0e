"""MCP servers among the settings: bounded, secret where they hold secrets, and never from a folder's own file."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deep_research.data.outside_tools import McpServer
from deep_research.errors import ConfigError
from deep_research.settings import Settings, load_settings
from tests.mcp.serving import HIDDEN, server_of


@pytest.mark.parametrize(
    ("server", "place", "why"),
    [
        ({}, "mcp_servers.hn", "either a command"),
        ({"command": "hn", "url": "https://hn.test/mcp"}, "mcp_servers.hn", "either a command"),
        ({"command": "./server.py"}, "mcp_servers.hn.command", "not a relative one"),
        ({"command": "hn", "cwd": "somewhere"}, "mcp_servers.hn", "absolute path"),
        ({"command": "hn", "headers": {"Authorization": HIDDEN}}, "mcp_servers.hn", "belong to a url"),
        ({"url": "https://hn.test", "env": {"KEY": HIDDEN}}, "mcp_servers.hn", "belong to a command"),
        ({"url": "ftp://hn.test"}, "mcp_servers.hn.url", "begins with https"),
        ({"url": "https://hn.test", "headers": {"A": f"{HIDDEN}\r\nB: 1"}}, "mcp_servers.hn.headers", "line breaks"),
        ({"command": "hn", "args": ["x"] * 101}, "mcp_servers.hn.args", "at most 100 entries"),
        ({"command": "hn", "timeout_seconds": 601}, "mcp_servers.hn.timeout_seconds", "less than or equal to 600"),
        ({"command": "hn", "shell": True}, "mcp_servers.hn.shell", "not permitted"),
        (HIDDEN, "mcp_servers.hn", "valid dictionary"),
    ],
)  # fmt: skip
def test_d7_what_does_not_fit_is_refused_and_secrets_are_not_repeated(server: Any, place: str, why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_settings(mcp_servers={"hn": server})
    assert refused.value.setting == place
    assert why in refused.value.message
    assert HIDDEN not in refused.value.message + repr(vars(refused.value))


@pytest.mark.parametrize("name", ["", "1hn", "hn/x", "h" * 33, "新闻"])
def test_d7_names_of_servers_are_fit_for_names_of_tools(name: str) -> None:
    with pytest.raises(ConfigError, match="at most 32 letters"):
        load_settings(mcp_servers={name: {"command": "hn"}})


LEADS_OUT = {
    "mcp_servers.hn.command": '[mcp_servers.hn]\ncommand = "curl"\n',
    "mcp_servers.hn.url": '"mcp_servers.hn.url" = "http://elsewhere.test"\n',
    "model_base_url": 'model_base_url = "http://elsewhere.test"\n',
    "model_provider": 'model_provider = "openai"\n',
    "proxy": "proxy = 'http://elsewhere.test'\n",
    "allowed_internal_hosts": 'allowed_internal_hosts = ["intranet.test"]\n',
    "sources": 'search_api = "tavily"\n',
    "source_options.brave.base_url": '[source_options.brave]\nbase_url = "http://elsewhere.test"\n',
    "source_options.tavily.base_url": '"source_options.tavily.base_url" = "http://elsewhere.test"\n',
    "source_options.searxng.base_url": '"source_options.searxng" = {base_url = "http://elsewhere.test"}\n',
    "source_options.jina.reader_url": 'source_options.jina.reader_url = "http://elsewhere.test"\n',
    "budget_usd": "budget_usd = 9999.0\n",
}


@pytest.mark.parametrize("name", LEADS_OUT)
def test_d7_what_a_folder_brings_along_starts_nothing_and_sends_keys_nowhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("deep_research.settings._told", set())
    (tmp_path / "deep-research.toml").write_text(f'depth = "brief"\n{LEADS_OUT[name]}')
    monkeypatch.chdir(tmp_path)
    with caplog.at_level("WARNING"):
        assert load_settings() == load_settings(depth="brief") == Settings(depth="brief")
    assert [record.getMessage().partition(": ")[2].partition(". ")[0] for record in caplog.records] == [name]
    monkeypatch.setenv("DEEP_RESEARCH_CONFIG", "deep-research.toml")
    if "." not in name or not LEADS_OUT[name].startswith('"'):
        assert load_settings() != Settings(depth="brief")


def test_what_a_folder_brings_along_does_not_take_the_place_of_the_users_own_settings(
    own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_state.mkdir()
    (own_state / "settings.toml").write_text('budget_usd = 1.0\nmodel_provider = "ollama"\ndepth = "deep"\n')
    (tmp_path / "deep-research.toml").write_text('depth = "brief"\n')
    monkeypatch.chdir(tmp_path)
    assert load_settings() == Settings(budget_usd=1.0, model_provider="ollama", depth="brief")


_HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (os.mkfifo, "it is no file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "it is no file"),
    "dotted name": (lambda path: path.write_text(f"{'a.' * 30_000}b = 1"), "it is nested too deeply"),
    "brackets": (lambda path: path.write_text(f"a = {'[' * 30_000}"), "it is nested too deeply"),
    "size": (lambda path: path.write_text("# long\n" * 10_000), "it is larger than 64,000 bytes"),
}


@pytest.mark.parametrize("name", ["deep-research.toml", "deep-research-templates/engines.toml"])
def test_a_folders_file_that_cannot_be_read_to_its_end_is_refused(name: str, tmp_path: Path) -> None:
    folders = [tmp_path / kind for kind in _HOSTILE]
    for folder, (make, _) in zip(folders, _HOSTILE.values(), strict=True):
        (folder / name).parent.mkdir(parents=True)
        make(folder / name)
    command = (
        "import os, resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000,) * 2)\n"
        "from deep_research.cli.main import run\n"
        "for folder in sys.argv[2:]: os.chdir(folder); print(run([sys.argv[1]]), flush=True)"
    )
    line = [sys.executable, "-c", command, "templates" if "templates" in name else "settings", *map(str, folders)]
    said = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert said.stdout.split() == ["2"] * len(_HOSTILE), said.stderr
    lines = said.stderr.splitlines()
    assert [why in line for (_, why), line in zip(_HOSTILE.values(), lines, strict=True)] == [True] * len(_HOSTILE)


def test_an_unknown_name_in_a_folders_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep-research.toml").write_text('dept = "brief"\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="Did you mean 'depth'"):
        load_settings()


def test_an_option_of_a_source_can_be_set_beside_those_of_the_file(
    own_state: Path,
) -> None:
    own_state.mkdir()
    (own_state / "settings.toml").write_text('[source_options.arxiv]\nuntil = "2025-01-01"\n')
    options = load_settings(**{"source_options.arxiv.since": "2024-01-01"}).source_options
    assert options == {"arxiv": {"until": "2025-01-01", "since": "2024-01-01"}}
    for name in ("source_options.arxiv", "source_options..since", "workflow.x.y"):
        with pytest.raises(ConfigError, match=r"source_options\.NAME\.OPTION"):
            load_settings(**{name: "x"})


def test_d7_variables_are_filled_in_where_they_are_named() -> None:
    server = server_of(
        url="https://hn.test/mcp?key=${HN_KEY}", headers={"Authorization": "Bearer $HN_TOKEN", "X-Price": "5$$ or $"}
    )
    assert server.variables == ("HN_KEY", "HN_TOKEN")
    assert server.missing({"HN_KEY": "k"}) == "set HN_TOKEN"
    values = {"HN_KEY": "key-of-hn", "HN_TOKEN": HIDDEN}
    assert server.missing(values) == ""
    filled = server.filled(values)
    assert filled.url == "https://hn.test/mcp?key=key-of-hn"
    assert filled.headers == {"Authorization": f"Bearer {HIDDEN}", "X-Price": "5$ or $"}
    assert server.secrets(values) == {"key-of-hn", HIDDEN, f"Bearer {HIDDEN}"}


def test_d7_plain_values_are_no_secrets_but_what_is_called_one_is() -> None:
    server = server_of(command="hn", env={"MODE": "production", "API_KEY": HIDDEN})
    assert server.secrets({}) == {HIDDEN}


def test_d7_what_may_be_secret_is_neither_shown_nor_written_down() -> None:
    server = McpServer.model_validate({"url": f"https://hn.test/?k={HIDDEN}", "headers": {"Authorization": HIDDEN}})
    settings = Settings(mcp_servers={"hn": server})
    assert HIDDEN not in repr(settings)
    assert "headers" not in server.model_dump()
