"""deep-research: researches a question and hands over a report in which every claim can be checked.

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

_HOME = {
    "afollow_up": "deep_research.api",
    "aresearch": "deep_research.api",
    "averify": "deep_research.api",
    "build_deep_research_graph": "deep_research.graph_api",
    "export": "deep_research.api",
    "follow_up": "deep_research.api",
    "research": "deep_research.api",
    "run_deep_research": "deep_research.graph_api",
    "stream": "deep_research.api",
    "verify": "deep_research.api",
    "Claim": "deep_research.data",
    "FollowUp": "deep_research.data",
    "Gap": "deep_research.data",
    "ModelAnswer": "deep_research.data",
    "ModelMessage": "deep_research.data",
    "ModelRequest": "deep_research.data",
    "Passage": "deep_research.data",
    "Reference": "deep_research.data",
    "Report": "deep_research.data",
    "Verdict": "deep_research.data",
    "ConfigError": "deep_research.errors",
    "Declined": "deep_research.errors",
    "LimitReached": "deep_research.errors",
    "ModelError": "deep_research.errors",
    "NeedsAnswer": "deep_research.errors",
    "ReplayDiffers": "deep_research.errors",
    "ResearchError": "deep_research.errors",
    "RunBusy": "deep_research.errors",
    "RunNotFound": "deep_research.errors",
    "SourceError": "deep_research.errors",
    "Stopped": "deep_research.errors",
    "StoreError": "deep_research.errors",
    "Event": "deep_research.events",
    "OpenModel": "deep_research.providers.model_client",
    "Settings": "deep_research.settings",
}

__all__ = [*_HOME, "__version__"]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll] - the table is the one place


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'deep_research' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
