"""What is done with runs. A module of this room is imported when it is first asked for: `runs.replay.replay_run(…)`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deep_research.runs import cost_estimate as cost_estimate
    from deep_research.runs import deletion as deletion
    from deep_research.runs import follow_up_run as follow_up_run
    from deep_research.runs import graph_host as graph_host
    from deep_research.runs import refresh as refresh
    from deep_research.runs import replay as replay
    from deep_research.runs import report_changes as report_changes
    from deep_research.runs import research_run as research_run
    from deep_research.runs import single_step as single_step
    from deep_research.runs import steering_inbox as steering_inbox
    from deep_research.runs import verification_run as verification_run


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
