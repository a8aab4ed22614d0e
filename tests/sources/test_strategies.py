"""Strategies, the table of sources, and the documentation made from it."""

import tomllib
from importlib import resources

import pytest

from deep_research.assembly.run_settings import settle
from deep_research.errors import ConfigError
from deep_research.settings import Settings
from deep_research.sources import api_sources, open_source, source_rows, strategies, strategy_sources
from deep_research.sources._catalog import fitting_strategies
from tests.sources.answers import ScriptedClient

STRATEGIES = resources.files("deep_research.sources").joinpath("strategies.toml")
WEB = tomllib.loads(STRATEGIES.read_text("utf-8"))["web"]["sources"]
NAMES = sorted(set(strategies()) - {"auto", "none"})


@pytest.mark.parametrize("name", NAMES)
def test_e2_web_search_is_the_last_resort(name):
    ordered = strategy_sources(name)
    web = [source for source in ordered if source in WEB]
    assert ordered[-len(web) :] == tuple(web)
    assert len(ordered) > len(web)
    assert set(ordered) <= set(api_sources())
    assert len(set(ordered)) == len(ordered)


def test_e4_a_source_that_needs_no_key_is_in_a_strategy():
    keyless = {row.name for row in source_rows() if row.ready and row.name in api_sources()}
    assert keyless <= {source for name in NAMES for source in strategy_sources(name)}


@pytest.mark.parametrize(
    ("question", "fitting"),
    [
        ("Which papers study sparse retrieval?", ["academic"]),
        ("Who holds patents on solid-state batteries?", ["patents"]),
        ("What was announced this week?", ["news"]),
        ("Which Python library implements BM25?", ["code"]),
        ("오픈소스 프레임워크 비교", ["code"]),
        ("What is the capital of France?", ["general"]),
        ("Decode the paperwork", ["general"]),
    ],
)
def test_a11_auto_goes_by_the_words_of_the_question_where_no_model_chooses(question, fitting):
    assert fitting_strategies(question) == fitting
    assert set(strategy_sources("auto", question=question)) == {s for name in fitting for s in strategy_sources(name)}


SEEDS = [
    "LLM 推理优化技术",
    "RAG 技术的最新进展有哪些？",
    "GPT-4 和 Claude 3 的区别",
    "KRAS G12C 靶点",
    "GLP-1 激动剂最新进展",
]
NAMED = {"arxiv", "huggingface_papers", "huggingface_blog", "github", "hackernews", "pubmed", "clinicaltrials"}


@pytest.mark.parametrize("question", SEEDS)
def test_e4_the_questions_of_the_documents_reach_their_sources(question, monkeypatch):
    monkeypatch.setenv("DASHSCOPE_API_KEY", "test-key")
    settled = settle(Settings(model_provider="aliyun"), [], question)
    keyless = {row.name for row in source_rows() if row.ready and not row.needs}
    assert set(settled.sources) >= NAMED
    assert set(settled.sources) == keyless & {s for name in NAMES for s in strategy_sources(name)}
    assert {"arxiv", "github", "pubmed"} <= set(settle(Settings(strategy="auto"), [], question).sources)


def test_keyless_sources_are_ready_and_the_others_name_their_variable():
    rows = {row.name: row for row in source_rows()}
    for row in rows.values():
        assert row.ready or (row.needs or "option source_options.") in row.missing
    needing = [row for row in rows.values() if row.needs]
    assert all(not row.ready for row in needing)
    keys = {variable: "x" for row in rows.values() for variable in (row.needs, *row.also) if variable}
    assert all(row.ready for row in source_rows(keys, {"feeds": {"feeds": ["https://example.org/feed"]}}))


def test_unknown_sources_and_options_are_refused():
    with pytest.raises(ConfigError, match="academic"):
        strategy_sources("acadmic")
    with pytest.raises(ConfigError, match="Did you mean 'arxiv'"):
        source_rows({}, {"arxiw": {}})
    with pytest.raises(ConfigError, match="There is no source"):
        open_source("nowhere", ScriptedClient({}), {})
    with pytest.raises(ConfigError, match=r"source_options\.tavily\.include_domains"):
        open_source("tavily", ScriptedClient({}), {}, {"include_domains": ["https://example.org/a"]})
    with pytest.raises(ConfigError, match=r"source_options\.feeds\.feeds"):
        open_source("feeds", ScriptedClient({}), {}, {"feeds": ["file:///etc/passwd"]})
