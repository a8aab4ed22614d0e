"""Strategies, the table of sources, and the documentation made from it."""

import subprocess
import sys
import tomllib
from importlib import resources

import pytest

from deep_research.errors import ConfigError
from deep_research.sources import api_rates, api_sources, open_source, source_rows, strategies, strategy_sources
from deep_research.sources._catalog import chosen_strategy
from tests.sources.answers import ScriptedClient

STRATEGIES = resources.files("deep_research.sources").joinpath("strategies.toml")
WEB = tomllib.loads(STRATEGIES.read_text("utf-8"))["web"]["sources"]
NAMES = sorted(set(strategies()) - {"auto"})


def test_a11_there_are_seven_strategies():
    assert set(strategies()) == {"academic", "patents", "news", "code", "community", "general", "auto"}
    assert all(purpose.endswith(".") for purpose in strategies().values())


@pytest.mark.parametrize("name", NAMES)
def test_e2_web_search_is_the_last_resort(name):
    ordered = strategy_sources(name)
    web = [source for source in ordered if source in WEB]
    assert ordered[-len(web) :] == tuple(web)
    assert len(ordered) > len(web)
    assert set(ordered) <= set(api_sources())
    assert len(set(ordered)) == len(ordered)


def test_only_what_is_ready_is_asked():
    keyless = {row.name for row in source_rows() if row.ready}
    for name in NAMES:
        ordered = strategy_sources(name, "en", keyless)
        assert set(ordered) <= keyless
        if name != "patents":
            assert ordered[0] not in WEB
    assert strategy_sources("academic", "en", ()) == ()


def test_the_language_of_the_question_moves_sources_forward():
    chinese = [name for name in strategy_sources("general", "zh") if name in WEB]
    assert chinese[0] == "bocha"
    assert sorted(chinese) == sorted(WEB)


@pytest.mark.parametrize(
    ("question", "strategy"),
    [
        ("Which papers study sparse retrieval?", "academic"),
        ("Who holds patents on solid-state batteries?", "patents"),
        ("What was announced this week?", "news"),
        ("Which Python library implements BM25?", "code"),
        ("关于大模型推理的论文综述", "academic"),
        ("固态电池的专利有哪些", "patents"),
        ("오픈소스 프레임워크 비교", "code"),
        ("What is the capital of France?", "general"),
        ("Decode the paperwork", "general"),
        ("", "general"),
    ],
)
def test_a11_auto_goes_by_the_words_of_the_question(question, strategy):
    assert chosen_strategy(question) == strategy
    assert strategy_sources("auto", question=question) == strategy_sources(strategy)


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ConfigError, match="academic"):
        strategy_sources("acadmic")


def test_keyless_sources_are_ready_and_the_others_name_their_variable():
    rows = {row.name: row for row in source_rows()}
    for row in rows.values():
        assert row.ready or (row.needs or "option source_options.") in row.missing
    needing = [row for row in rows.values() if row.needs]
    assert all(not row.ready for row in needing)
    keys = {variable: "x" for row in rows.values() for variable in (row.needs, *row.also) if variable}
    assert all(row.ready for row in source_rows(keys, {"feeds": {"feeds": ["https://example.org/feed"]}}))


def test_unknown_sources_and_options_are_refused():
    with pytest.raises(ConfigError, match="Did you mean 'arxiv'"):
        source_rows({}, {"arxiw": {}})
    with pytest.raises(ConfigError, match="There is no source"):
        open_source("nowhere", ScriptedClient({}), {})
    with pytest.raises(ConfigError, match=r"source_options\.tavily\.include_domains"):
        open_source("tavily", ScriptedClient({}), {}, {"include_domains": ["https://example.org/a"]})
    with pytest.raises(ConfigError, match=r"source_options\.feeds\.feeds"):
        open_source("feeds", ScriptedClient({}), {}, {"feeds": ["file:///etc/passwd"]})


def test_rates_by_host():
    options = [kind.read_options(None) for kind in api_sources().values()]
    rates = dict(api_rates(options))
    assert rates["export.arxiv.org"] == (pytest.approx(1 / 3), 1)
    assert rates["api.github.com"].per_second * 60 + rates["api.github.com"].burst <= 10


def test_listing_sources_imports_nothing_heavy():
    code = (
        "import sys; from deep_research.sources import source_rows, strategy_sources; source_rows();"
        "strategy_sources('academic'); print([m for m in ('lxml', 'langgraph', 'rich', 'openpyxl') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "[]"
