"""What a failure costs: its own part of the work, told as a gap; only what no part can survive ends the run."""

import logging

from deep_research.errors import ConfigError, ResearchError, Stopped, StoreError

_log = logging.getLogger(__name__)


def reason_of(error: Exception, what: str) -> str:
    """Return why `what` failed, for its gap; a defect is logged. Raises what ends the run."""
    if ends_the_run(error):
        raise error
    if isinstance(error, ResearchError):
        return error.message
    _log.error("%s failed", what, exc_info=error)
    return f"Internal error: {type(error).__name__}."


def ends_the_run(error: Exception) -> bool:
    """Return whether no part of the work can go on: a full disk, a stop, or what the user must set right first.

    A key that a model's provider does not accept fails every section alike; a request that it does not accept is
    only that one's matter.
    """
    if isinstance(error, ConfigError):
        return error.reason != "bad_request"
    return isinstance(error, StoreError | Stopped)
