"""Which tests start a process, found in their code: those wait for others and are left out of the short lane.

A test starts one when it, a fixture it asks for, or a helper of the tests that one of them names uses `subprocess`,
`pty`, `multiprocessing`, or hands `sys.executable` to what starts a program.
"""

import functools
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

_STARTERS = frozenset({"subprocess", "pty", "multiprocessing", "executable", "forkpty", "posix_spawn", "get_server"})
_EVENTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"})


def starts_process(item: pytest.Item) -> bool:
    """Tell whether a test, one of its fixtures or a helper of theirs starts a process."""
    functions = [getattr(item, "obj", None)]
    fixtures = getattr(item, "_fixtureinfo", None)
    for definitions in fixtures.name2fixturedefs.values() if fixtures else ():
        functions.extend(definition.func for definition in definitions)
    return any(_starts(function) for function in map(inspect.unwrap, filter(None, functions)))


def _starts(function: Any) -> bool:
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        for function_ in _functions(found):
            names = _names(function_.__code__)
            if names & _STARTERS:
                return True
            waiting.extend(v for n in names if _is_of_tests(v := function_.__globals__.get(n)))
    return False


def _functions(found: Any) -> Iterator[FunctionType]:
    """Yield a function, or the functions of a class."""
    if isinstance(found, type):
        for value in vars(found).values():
            yield from _functions(inspect.unwrap(getattr(value, "__func__", getattr(value, "fget", None)) or value))
    found = getattr(found, "__func__", found)
    found = getattr(found, "_fixture_function", found)
    if isinstance(found := inspect.unwrap(found), FunctionType):
        yield found


@functools.cache
def _names(code: CodeType) -> frozenset[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*map(_names, inner))


def _is_of_tests(value: Any) -> bool:
    if value is None or isinstance(value, ModuleType):
        return False
    return str(getattr(value, "__module__", "")).startswith("tests.")


_WORKER = "deep_research.worker_child"
"""The program's own process that works on texts: it may run in any test."""


_SERVER = "pg_ctl"
"""Stops the tests' database, at the end of whatever test is the last."""


class Watch:
    """Refuses to start a process in a test that is not marked as one that does."""

    def __init__(self) -> None:
        self._item: pytest.Item | None = None
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS or self._item is None:
            return
        given = arguments[1] if len(arguments) > 1 else ()
        program = [str(part) for part in given] if isinstance(given, list | tuple) else []
        if _WORKER in program or "".join(program[:1]).endswith(_SERVER):
            return
        if self._item.get_closest_marker("process") is None:
            item, self._item = self._item, None
            raise RuntimeError(f"{item.nodeid} starts a process: mark it with pytest.mark.process")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._item = item
        try:
            return (yield)
        finally:
            self._item = None
