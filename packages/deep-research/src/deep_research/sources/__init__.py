"""Places to search, one file each or per family: user documents and web APIs.

A file holds the options of a source, its class, and pure `parse_…` functions from an API's answer to results.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deep_research.sources._catalog import SourceRow as SourceRow
    from deep_research.sources._catalog import api_rates as api_rates
    from deep_research.sources._catalog import api_sources as api_sources
    from deep_research.sources._catalog import named_source as named_source
    from deep_research.sources._catalog import open_source as open_source
    from deep_research.sources._catalog import source_rows as source_rows
    from deep_research.sources._catalog import strategies as strategies
    from deep_research.sources._catalog import strategy_sources as strategy_sources
    from deep_research.sources._catalog import variables as variables

FAMILIES = {
    "github": ("github", "github_code", "github_issues"),
    "huggingface": ("huggingface_blog", "huggingface_models", "huggingface_papers"),
    "model_web_search": ("anthropic_web_search", "openai_web_search"),
    "own_index": ("opensearch", "postgres_index"),
    "paper_indexes": ("arxiv", "crossref", "europepmc", "openalex", "semantic_scholar", "unpaywall"),
    "patents": ("patents_epo", "patents_uspto"),
    "web_engines": tuple("bocha brave duckduckgo exa google_cse jina perplexity searxng serper tavily".split()),
}
"""The modules that hold several sources, with the names of these; any other holds the one that it is named after."""


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        return getattr(import_module("deep_research.sources._catalog"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
