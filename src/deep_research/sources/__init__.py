"""Places to search, one file each: the documents of the user, and everything behind a web API.

A source file holds a class `COMPONENT`, pure `parse_…` functions from an API's answer to results, and for
whoever lists them NAME, PURPOSE, NEEDS (the variable of its key, or None) and `build(options, client, keys)`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deep_research.sources._catalog import SourceRow as SourceRow
    from deep_research.sources._catalog import api_rates as api_rates
    from deep_research.sources._catalog import api_sources as api_sources
    from deep_research.sources._catalog import open_source as open_source
    from deep_research.sources._catalog import source_rows as source_rows
    from deep_research.sources._catalog import strategies as strategies
    from deep_research.sources._catalog import strategy_sources as strategy_sources
    from deep_research.sources._catalog import variables as variables

_WHERE = {
    **dict.fromkeys(("SourceRow", "api_rates", "api_sources", "open_source", "source_rows", "variables"), "_catalog"),
    **dict.fromkeys(("strategies", "strategy_sources"), "_catalog"),
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"deep_research.sources.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
