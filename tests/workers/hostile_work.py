"""Functions for a worker: one that never ends in an extended regular expression, one that swells, and some that fail."""

import os
import re
import signal

from deep_research.errors import Unreadable
from deep_research.worker_child import ask_parent


def never_end() -> str:
    """Hold the interpreter: no thread goes on, and no signal handler is called."""
    re.fullmatch("(a|a)*", "a" * 60 + "b")
    return "ended"


def tell_and_go_on() -> str:
    """Tell the parent which process this is, and work on."""
    ask_parent("told", os.getpid())
    while True:
        sum(range(1000))


def swell() -> int:
    """Take more memory than there is."""
    return len(bytearray(10**12))


def refuse(why: str) -> None:
    """Fail as a reader does."""
    raise Unreadable(why)


def break_down() -> None:
    """Fail as a defect does."""
    raise KeyError("missing")


def die() -> None:
    """Crash as a parser in C does."""
    os.kill(os.getpid(), signal.SIGKILL)


def ask_twice(name: str) -> list[str]:
    """Ask the parent for two things."""
    return [ask_parent(name, 1), ask_parent(name, 2)]


def say(text: str) -> str:
    """Return the text."""
    return text


def tell_process() -> int:
    """Return the number of the process."""
    return os.getpid()
