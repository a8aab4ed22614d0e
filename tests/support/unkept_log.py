"""A log of events that keeps nothing, for steps and graphs without a run's folder."""

from collections.abc import Callable

from deep_research.events import Event
from deep_research.stores.event_log import EventLog


def unkept_log(listener: Callable[[Event], None] = lambda _event: None) -> EventLog:
    """Return a log that passes its events on to a listener alone."""
    return EventLog(lambda _number, _line: None, [], listener)
