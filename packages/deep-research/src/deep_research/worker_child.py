"""The worker process: call requested functions within limits; see `worker_pool`.

What comes in are pickles of the parent, which it trusts; what goes out is JSON, because the parent trusts no process in
which somebody else's text is read.
"""

import importlib
import json
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic_core import to_jsonable_python

from deep_research import errors
from deep_research.errors import ResearchError

SIZE = 8  # bytes that tell how long a pickle is
RESULT, FAILURE, DEFECT, ASKS = b"=", b"!", b"#", b"?"
"""How a line of the child begins, and what follows: a result, an error of ours, any other error, a question."""
LAST = b"."  # the second sign of a line when the process has swollen and is to be given no more work
_SWOLLEN = 100_000_000
"""Memory that was not given back, from which the process is replaced: the next call has that much less."""
_LARGEST_FILE = 1_000_000_000  # of those in the folder that a process may be given; the parent takes it away


_WATCH_SECONDS = 1.0


class Limits(NamedTuple):
    """Limits of one call: bytes of memory beyond those at the start, and CPU seconds."""

    memory: int
    cpu_seconds: float

    @property
    def wall_seconds(self) -> float:
        """How long to wait for it on a busy machine."""
        return 30.0 + 4.0 * self.cpu_seconds


class _Parent:
    """The pipes to the parent; None while this process works for nobody."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests, self._answers = requests, answers

    def requests(self) -> Iterator[Any]:
        while len(size := self._requests.read(SIZE)) == SIZE:
            yield pickle.loads(self._requests.read(int.from_bytes(size)))  # noqa: S301 - the parent's

    def tell(self, kind: bytes, value: Any) -> None:
        sign = LAST if _address_space() > _at_start + _SWOLLEN else b" "
        said = json.dumps(to_jsonable_python(value), ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._answers.write(kind + sign + said + b"\n")
        self._answers.flush()


_parent: _Parent | None = None


def ask_parent(name: str, *args: Any, **named: Any) -> Any:
    """Return the result of the parent's function `name`; only during a worker's call."""
    assert _parent is not None
    _parent.tell(ASKS, [name, args, named])
    return next(_parent.requests())


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Limit this process in the block where the system can; excess time ends it."""
    if sys.platform == "win32":
        yield
        return
    import resource  # noqa: PLC0415 - not on every system

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if _at_start:
        resource.setrlimit(resource.RLIMIT_AS, (_at_start + limits.memory, most))
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)  # its signal ends the process
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _address_space() -> int:
    """Return the bytes of address space of this process; 0 where that is not known."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


_at_start = _address_space()


def _answer(parent: _Parent, function: str, args: tuple[Any, ...], limits: Limits | None) -> None:
    """Call a function within `limits`, or within its own; send its result or error."""
    module, _, name = function.partition(":")
    try:
        call = getattr(importlib.import_module(module), name)
        if limits is None:
            result = call(*args)
        else:
            with limited(limits):
                result = call(*args)
        parent.tell(RESULT, result)
    except ResearchError as error:
        known = type(error).__name__ if hasattr(errors, type(error).__name__) else ResearchError.__name__
        plain = {name: told for name, told in vars(error).items() if isinstance(told, str | int | float | None)}
        parent.tell(FAILURE, [known, plain])
    except MemoryError:
        parent.tell(FAILURE, [errors.WorkTooLarge.__name__, {"message": "it takes too much memory"}])
    except Exception as error:  # noqa: BLE001 - whatever a text brings about is the parent's to tell
        parent.tell(DEFECT, f"{type(error).__name__}: {error}"[:500])


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, also in the middle of a call."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def main() -> None:
    """Work until the parent closes the pipe."""
    global _parent  # noqa: PLW0603 - there is one
    tempfile.tempdir = sys.argv[1] or None
    # What a parser prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Ctrl-C and the end of a service are the parent's, which may want the result still.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = _LARGEST_FILE if tempfile.tempdir else 0  # without a folder it writes to its pipe alone
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _parent = _Parent(sys.stdin.buffer, answers)
    _parent.tell(RESULT, "ready")
    for function, args, limits in _parent.requests():
        _answer(_parent, function, args, limits)


if __name__ == "__main__":
    # The module under its own name, which is the one that others import.
    importlib.import_module("deep_research.worker_child").main()
