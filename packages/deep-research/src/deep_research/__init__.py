"""deep-research: research a question, and return a report with checkable claims.

The public names; each is loaded when it is first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deep_research.api import afollow_up as afollow_up
    from deep_research.api import aresearch as aresearch
    from deep_research.api import averify as averify
    from deep_research.api import export as export
    from deep_research.api import follow_up as follow_up
    from deep_research.api import research as research
    from deep_research.api import stream as stream
    from deep_research.api import verify as verify
    from deep_research.data import Claim as Claim
    from deep_research.data import FollowUp as FollowUp
    from deep_research.data import Gap as Gap
    from deep_research.data import ModelAnswer as ModelAnswer
    from deep_research.data import ModelMessage as ModelMessage
    from deep_research.data import ModelRequest as ModelRequest
    from deep_research.data import Passage as Passage
    from deep_research.data import Reference as Reference
    from deep_research.data import Report as Report
    from deep_research.data import Verdict as Verdict
    from deep_research.errors import ConfigError as ConfigError
    from deep_research.errors import Declined as Declined
    from deep_research.errors import LimitReached as LimitReached
    from deep_research.errors import ModelError as ModelError
    from deep_research.errors import NeedsAnswer as NeedsAnswer
    from deep_research.errors import ReplayDiffers as ReplayDiffers
    from deep_research.errors import ResearchError as ResearchError
    from deep_research.errors import RunBusy as RunBusy
    from deep_research.errors import RunNotFound as RunNotFound
    from deep_research.errors import SourceError as SourceError
    from deep_research.errors import Stopped as Stopped
    from deep_research.errors import StoreError as StoreError
    from deep_research.events import Event as Event
    from deep_research.graph_api import build_deep_research_graph as build_deep_research_graph
    from deep_research.graph_api import run_deep_research as run_deep_research
    from deep_research.providers.model_client import OpenModel as OpenModel
    from deep_research.settings import Settings as Settings

__version__ = "0.1.0+unpublished"

_NAMES_OF = {
    "api": "afollow_up aresearch averify export follow_up research stream verify",
    "graph_api": "build_deep_research_graph run_deep_research",
    "data": "Claim FollowUp Gap ModelAnswer ModelMessage ModelRequest Passage Reference Report Verdict",
    "errors": "ConfigError Declined LimitReached ModelError NeedsAnswer ReplayDiffers ResearchError RunBusy RunNotFound "
    "SourceError Stopped StoreError",
    "events": "Event",
    "providers.model_client": "OpenModel",
    "settings": "Settings",
}
_HOME = {name: f"deep_research.{module}" for module, names in _NAMES_OF.items() for name in names.split()}

__all__ = [*_HOME, "__version__"]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll] - the table is the one place


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'deep_research' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
