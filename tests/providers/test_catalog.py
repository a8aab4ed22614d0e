import subprocess
import sys
import tomllib
from importlib.resources import files
from typing import Any

import pytest

from deep_research.data import Usage
from deep_research.errors import ConfigError
from deep_research.providers.model_families import family_of
from deep_research.providers.provider_catalog import (
    PROVIDERS,
    auto_provider,
    open_model,
)
from tests.providers.served import KEYS, asking, completed
from tests.support import ScriptedProvider


@pytest.mark.parametrize(
    ("keys", "base_url", "provider"),
    [
        ({}, "", None),
        ({"OPENAI_API_KEY": "k", "DASHSCOPE_API_KEY": "k"}, "", "aliyun"),
        ({"DEEPSEEK_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "", "anthropic"),
        ({"DEEPSEEK_API_KEY": ""}, "", None),
        ({"OPENAI_COMPATIBLE_BASE_URL": "http://localhost:8000/v1"}, "", "compatible"),
        ({}, "http://localhost:8000/v1", "compatible"),
        ({"OPENAI_API_KEY": "k"}, "http://localhost:8000/v1", "openai"),
    ],
)
def test_auto_takes_the_first_whose_key_is_set(keys: dict[str, str], base_url: str, provider: str | None) -> None:
    assert auto_provider(keys, base_url=base_url) == provider


@pytest.mark.parametrize("name", [name for name, known in PROVIDERS.items() if known.model])
def test_default_models_open_without_sending_anything(name: str) -> None:
    model = open_model(name, keys=KEYS)
    assert (model.provider, model.model) == (name, PROVIDERS[name].model)
    assert model.family.source


@pytest.mark.parametrize(
    ("call", "setting"),
    [
        (lambda: open_model("opanai", keys=KEYS), "model_provider"),
        (lambda: open_model("openai", keys={"OPENAI_API_KEY": "  "}), "OPENAI_API_KEY"),
        (lambda: open_model("compatible", base_url="http://x/v1"), "model_name"),
        (lambda: open_model("compatible", "m"), "model_base_url"),
        (lambda: open_model("openai", keys=KEYS, base_url="localhost:8000"), "model_base_url"),
        (lambda: open_model("openai", keys=KEYS, facts={"contxt": 1}), "models.gpt-5.4-mini.contxt"),
        (lambda: open_model("openai", "m", keys=KEYS, chat_model=object()), "model_provider"),
        (lambda: open_model("langchain", "no_such_vendor:m"), "model_name"),
    ],
)
def test_wrong_settings_are_named(call: Any, setting: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert caught.value.setting == setting


def test_ollama_host_without_a_port_has_that_of_ollama() -> None:
    model = open_model("ollama", "m", keys={"OLLAMA_HOST": "192.0.2.7"})
    assert "http://192.0.2.7:11434" in str(vars(model))


@pytest.mark.parametrize("address", ["127.0.0.1:{}", "http://127.0.0.1:{}/"])
async def test_ollama_host_in_all_its_forms(address: str) -> None:
    with ScriptedProvider(["Yes."]) as provider:
        port = provider.base_url.rsplit(":", 1)[1]
        keys = {"OLLAMA_HOST": address.format(port)}
        assert (await completed(asking(), "", provider="ollama", keys=keys)).text == "Yes."


async def test_a_server_of_ones_own_needs_no_key() -> None:
    with ScriptedProvider(["Yes."]) as provider:
        await completed(asking(), f"{provider.base_url}/v1", keys={})
    assert "authorization" not in provider.calls[0].headers


@pytest.mark.parametrize(
    ("provider", "model", "thinking", "expected"),
    [
        ("aliyun", "qwen3-max", False, {"enable_thinking": False, "stream": None}),
        ("deepseek", "deepseek-flash", False, {"thinking": {"type": "disabled"}}),
        ("openrouter", "qwen/qwen3-max", True, {"reasoning": {"enabled": True}, "enable_thinking": None}),
        ("openai", "gpt-5.4", True, {"reasoning_effort": "medium", "max_completion_tokens": 5096}),
        ("anthropic", "claude-haiku-4-5", True, {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("ollama", "qwen3", True, {"think": True, "enable_thinking": None}),
    ],
)
async def test_thinking_is_switched_as_the_family_does(
    provider: str, model: str, thinking: bool, expected: dict[str, Any]
) -> None:
    with ScriptedProvider(lambda _: "Yes.") as server:
        asked = asking(max_output_tokens=1000)
        await completed(asked, server.base_url, provider=provider, name=model, thinking=thinking)
    body = server.calls[0].request["body"]
    assert {name: body.get(name) for name in expected} == expected


async def test_long_answers_are_streamed() -> None:
    with ScriptedProvider(lambda _: "Yes.") as server:
        for name in ("openai", "anthropic"):
            model = open_model(name, "gpt-4o" if name == "openai" else None, keys=KEYS, base_url=server.base_url)
            await model.complete(asking(max_output_tokens=1000))
            await model.complete(asking(max_output_tokens=12_000))
            await model.close()
    assert [call.request["stream"] for call in server.calls] == [False, True, False, True]


def test_facts_are_dated_and_have_a_source() -> None:
    parsed = tomllib.loads(files("deep_research.providers").joinpath("families.toml").read_text("utf-8"))
    names = [name for vendor in parsed["vendor"] for family in vendor["family"] for name in family["models"]]
    assert len(names) == len(set(names))
    for name in names:
        family = family_of(name)
        assert family.source
        assert family.checked
        assert family.output_tokens <= family.context_tokens


def test_cached_and_written_tokens_have_their_own_prices() -> None:
    usage = Usage(prompt_tokens=1_000_000, cached_tokens=500_000, cache_write_tokens=100_000, completion_tokens=100_000)
    assert family_of("claude-haiku-4-5").cost_usd(usage) == pytest.approx(0.4 + 0.05 + 0.125 + 0.5)


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("gpt-5", 1.25),
        ("claude-haiku-4-5@20251001", 1.0),
        ("gpt-4o-latest", 2.5),
        ("gpt-5-pro-2025-10-06", 15.0),
        ("gpt-5.7", None),
        ("gpt-4.1-pro", None),
    ],
)
def test_a_price_holds_for_the_model_itself_and_its_dates(name: str, price: float | None) -> None:
    assert family_of(name).input_usd == price
    assert family_of(name).structured == "native"


def test_a_run_with_a_model_loads_no_sdk_and_no_command_line_of_its_http_client() -> None:
    code = (
        "import sys; from pathlib import Path; from deep_research.assembly.reasoner_choice import open_reasoner\n"
        "from deep_research.settings import Settings; from deep_research.stores.journal import SqliteJournal\n"
        "named = Settings(model_provider='compatible', model_name='m', model_base_url='http://127.0.0.1:9')\n"
        "open_reasoner(named, {'OPENAI_COMPATIBLE_API_KEY': 'k'}, journal=SqliteJournal(':memory:'), home=Path(), on_gap=print)\n"
        "print([m for m in ('openai', 'anthropic', 'langchain', 'httpx', 'rich', 'pygments') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['httpx']"
