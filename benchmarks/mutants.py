"""Mutation tests of the code that judges claims: python benchmarks/mutants.py [--sample N] [--only TEXT].

Every mutant is one small change of a function or constant in the modules of benchmarks/mutants.toml: another
comparison, a dropped operand or guard, a changed constant, a removed statement, another return value. It is killed
when a test that runs the changed line fails, runs without end, or breaks. All tests are collected once; each mutant
is put into the loaded modules of a forked process, which runs those tests until the first failure.

Without `--sample` all mutants are tried. The last line printed is one JSON object with the score, the share of
killed mutants among those that are not listed as equivalent in the toml file; exit 1 when it is below the floor.
Needs os.fork.
"""

import argparse
import ast
import contextlib
import functools
import gc
import json
import os
import random
import re
import resource
import select
import signal
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from pydantic import BaseModel

from mutant_operators import Mutant, apply, mutants_of

ROOT = Path(__file__).resolve().parent.parent
CONFIG = Path(__file__).with_suffix(".toml")
_DATA = (str, int, float, NoneType, BaseModel, re.Pattern)
CPU_SECONDS, WALL_SECONDS, EXTRA_MEMORY = 60, 240, 2 << 30
"""What one mutant may use; one that uses more runs without end and is killed."""


def install(mutant: Mutant) -> None:
    """Change the loaded module (and every module that imported from it) as the mutant says."""
    module = sys.modules[mutant.module]
    assert module.__file__ is not None
    code = compile(apply(mutant), module.__file__, "exec")
    if mutant.function:
        function = _function(module, mutant.function)
        function.__code__ = next(c for c in _codes(code) if c.co_qualname == mutant.function)
    if not mutant.function or _runs_on_import(mutant):
        _rebind(module, code)
    for cached in caches():
        cached.cache_clear()


def _function(module: ModuleType, qualname: str) -> FunctionType:
    found: Any = module
    for part in qualname.split("."):
        found = vars(found)[part]
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    assert isinstance(found, FunctionType), qualname
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _rebind(module: ModuleType, code: CodeType) -> None:
    """Run the changed module apart, and give its changed data to all modules that have the data of the first."""
    apart = {"__name__": module.__name__, "__file__": module.__file__}
    exec(code, apart)
    for name, old in list(vars(module).items()):
        new = apart.get(name)
        if isinstance(old, type) and old.__module__ == module.__name__:
            for attribute, method in vars(old).items():
                _give_defaults(method, vars(new).get(attribute))
        _give_defaults(old, new)
        if isinstance(old, dict) and isinstance(new, dict):
            for key in old.keys() & new.keys():
                if getattr(old[key], "__name__", "") == "<lambda>":
                    old[key].__code__ = new[key].__code__
        if not (_is_data(old) and _is_data(new)) or old == new:
            continue
        for other in list(sys.modules.values()):
            if getattr(other, "__name__", "").startswith("deep_research"):
                for key in [key for key, value in vars(other).items() if value is old]:
                    setattr(other, key, new)


def _give_defaults(old: object, new: object) -> None:
    if isinstance(old, FunctionType):
        assert isinstance(new, FunctionType)
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__


def _is_data(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_data, value.keys())) and all(map(_is_data, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_data, value))
    return isinstance(value, _DATA) or type(value).__name__ in ("Decimal", "_CompiledOnUse")


@functools.cache
def caches() -> tuple[Any, ...]:
    """Return every cache of the package: what is kept there would hide a change."""
    return tuple(
        found
        for found in gc.get_objects()
        if hasattr(type(found), "cache_clear") and str(getattr(found, "__module__", "")).startswith("deep_research")
    )


@functools.cache
def executors() -> tuple[ThreadPoolExecutor, ...]:
    """Return the pools of threads of the package."""
    return tuple(found for found in gc.get_objects() if isinstance(found, ThreadPoolExecutor))


def renew_threads() -> None:
    """Let every pool of threads begin anew: threads live on in no forked process."""
    for pool in executors():
        pool.__init__(pool._max_workers, pool._thread_name_prefix or "")


# --- Which tests run which lines -------------------------------------------------------------------------------


class Tracer:
    """Notes which statements of some modules run: each is preceded by a note of its line."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._kept: list[tuple[FunctionType, CodeType]] = []
        for module in modules:
            assert module.__file__ is not None
            tree = ast.parse(Path(module.__file__).read_text("utf-8"))
            names = [qualname for qualname, node in _functions(tree) for _ in [_note_lines(node, module.__file__)]]
            vars(module)["__lines__"] = self.lines
            codes = {
                c.co_qualname: c for c in _codes(compile(ast.fix_missing_locations(tree), module.__file__, "exec"))
            }
            for name in names:
                function = _function(module, name)
                self._kept.append((function, function.__code__))
                function.__code__ = codes[name]

    def stop(self) -> None:
        """Give the functions their own code back."""
        for function, code in self._kept:
            function.__code__ = code


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a module and the methods of its classes, with their names."""
    scopes = [("", tree.body), *((f"{c.name}.", c.body) for c in tree.body if isinstance(c, ast.ClassDef))]
    for scope, body in scopes:
        yield from ((f"{scope}{n.name}", n) for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _note_lines(node: ast.AST, file: str) -> None:
    """Put before each statement within a node what notes its line."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if not isinstance(body, list):
            continue
        noted: list[ast.stmt] = []
        for statement in body:
            note = ast.parse(f"__lines__.add(({file!r}, {statement.lineno}))").body[0]
            noted += [ast.copy_location(note, statement), statement]
            _note_lines(statement, file)
        setattr(node, name, noted)
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        _note_lines(part, file)


class Tests:
    """The collected tests: what each runs, and how long it takes."""

    def __init__(self, items: Sequence[pytest.Item], tracer: Tracer) -> None:
        self.items = items
        self.running: dict[tuple[str, int], set[int]] = defaultdict(set)
        self.seconds: list[float] = []
        self.failed: list[str] = []
        for number, item in enumerate(items):
            for cached in caches():
                cached.cache_clear()
            tracer.lines.clear()
            begun = time.perf_counter()
            if not passes(item):
                self.failed.append(item.nodeid)
            self.seconds.append(time.perf_counter() - begun)
            for line in tracer.lines:
                self.running[line].add(number)
        tracer.stop()

    def of(self, mutant: Mutant) -> set[int]:
        """Return the tests that run the lines of a mutant; of a constant, those that run functions which read it."""
        if not mutant.function:
            return self._of_readers(mutant)
        file = str(sys.modules[mutant.module].__file__)
        found = self._of_lines(file, range(mutant.first, mutant.last + 1))
        return found or (self._of_readers(mutant) if _runs_on_import(mutant) else set())

    def _of_lines(self, file: str, lines: Iterable[int]) -> set[int]:
        return set().union(*(self.running.get((file, line), ()) for line in lines))

    def _of_readers(self, mutant: Mutant) -> set[int]:
        """The tests of all functions that name what the mutant's statement defines, or what is made of it."""
        names = _defined_by(mutant)
        found: set[int] = set()
        for file in {file for file, _line in self.running}:
            for code in _codes(compile(Path(file).read_text("utf-8"), file, "exec")):
                if names & set(code.co_names):
                    found |= self._of_lines(file, {line for *_, line in code.co_lines() if line})
        return found


def _runs_on_import(mutant: Mutant) -> bool:
    """Tell whether something of the module is made by the mutant's function when it is loaded."""
    return _defined_by(mutant) > {mutant.function.partition(".")[0]}


def _defined_by(mutant: Mutant) -> set[str]:
    """The names of a module that depend on the statement of a mutant, and the functions it is a part of."""
    names: set[str] = set()
    for statement in mutant.tree.body:
        own = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            touched, made = False, {statement.name}
        else:
            touched = bool(own & names)
            made = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        last = statement.end_lineno or statement.lineno
        if touched or statement.lineno <= mutant.first <= last:
            names |= made
    return names


def passes(item: pytest.Item) -> bool:
    """Run one test with its fixtures and tell whether it passed (or was skipped)."""
    return all(report.outcome != "failed" for report in runtestprotocol(item, log=False, nextitem=None))


# --- The run ---------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What became of a mutant: "killed", "survived", "untested" or "endless", by which test, in which time."""

    mutant: Mutant
    state: str
    by: int = -1
    tests: int = 0


class Runner:
    """Runs mutants in forked processes, several at a time."""

    def __init__(self, tests: Tests, jobs: int, tell: Callable[[Outcome], None]) -> None:
        self._tests, self._jobs, self._tell = tests, jobs, tell
        self._killers: dict[str, Counter[int]] = defaultdict(Counter)
        self._running: dict[int, tuple[int, Mutant, float, int]] = {}

    def run(self, mutants: Sequence[Mutant]) -> list[Outcome]:
        """Return the outcome of each mutant, in the order in which they ended."""
        done: list[Outcome] = []
        waiting = list(mutants)[::-1]
        while waiting or self._running:
            while waiting and len(self._running) < self._jobs:
                mutant = waiting.pop()
                order = self._order(mutant)
                if order:
                    self._begin(mutant, order)
                else:
                    done.append(Outcome(mutant, "untested"))
                    self._tell(done[-1])
            for outcome in self._ended():
                done.append(outcome)
                self._tell(outcome)
                if outcome.by >= 0:
                    self._killers[f"{outcome.mutant.module}.{outcome.mutant.function}"][outcome.by] += 1
        return done

    def _order(self, mutant: Mutant) -> list[int]:
        """The tests of a mutant: what killed its neighbours first, then the fastest."""
        killers = self._killers[f"{mutant.module}.{mutant.function}"]
        return sorted(self._tests.of(mutant), key=lambda n: (-killers[n], self._tests.seconds[n]))

    def _begin(self, mutant: Mutant, order: Sequence[int]) -> None:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os.close(reader)
                _run_child(mutant, [(n, self._tests.items[n]) for n in order], writer)
            os._exit(3)
        os.close(writer)
        self._running[reader] = (pid, mutant, time.monotonic(), len(order))

    def _ended(self) -> Iterator[Outcome]:
        ready, _, _ = select.select(list(self._running), [], [], 1.0)
        late = [r for r, (*_, since, _n) in self._running.items() if time.monotonic() - since > WALL_SECONDS]
        for reader in {*ready, *late}:
            pid, mutant, _since, tests = self._running.pop(reader)
            said = os.read(reader, 100).decode() if reader in ready else ""
            os.close(reader)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            if not said:
                yield Outcome(mutant, "endless", tests=tests)
            else:
                yield Outcome(mutant, "survived" if said == "-1" else "killed", int(said), tests)


def _run_child(mutant: Mutant, tests: Sequence[tuple[int, pytest.Item]], writer: int) -> None:
    """In a process of its own: install the mutant, run the tests until one fails, and say which; -1 for none."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    memory = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (memory + EXTRA_MEMORY, memory + EXTRA_MEMORY))
    killer = -1
    renew_threads()
    try:
        install(mutant)
    except Exception:  # noqa: BLE001
        killer = tests[0][0]  # the module does not even load
    else:
        for number, item in tests:
            if not passes(item):
                killer = number
                break
    os.write(writer, str(killer).encode())


class Plugin:
    """Takes over the run of the tests, once pytest has collected them."""

    def __init__(self, given: argparse.Namespace, config: dict[str, Any]) -> None:
        self.given, self.config = given, config
        self.code = 2

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the mutants in place of the tests."""
        items = [item for item in session.items if item.get_closest_marker("hypothesis") is None]
        modules = [name for pattern in self.config["modules"] for name in _modules(pattern)]
        files = {str(sys.modules[name].__file__): name for name in modules}
        found = [m for f, name in sorted(files.items()) for m in mutants_of(name, Path(f).read_text("utf-8"))]
        begun = time.monotonic()
        executors()
        tests = Tests(items, Tracer(sys.modules[name] for name in modules))
        print(f"{len(items)} tests traced in {time.monotonic() - begun:.0f} s", flush=True)
        if tests.failed:
            print("These tests fail without any mutant:", *tests.failed, sep="\n  ")
            return True
        gc.collect()
        gc.freeze()
        self.code = self._judge(found, tests)
        return True

    def _judge(self, found: Sequence[Mutant], tests: Tests) -> int:
        equivalent = {entry["mutant"]: entry["reason"] for entry in self.config.get("equivalent", [])}
        chosen = [m for m in found if m.key not in equivalent and self.given.only in m.key]
        if self.given.sample:
            chosen = random.Random(self.given.seed).sample(chosen, min(self.given.sample, len(chosen)))
        if self.given.list:
            print(*(m.key for m in chosen), sep="\n")
            return 0
        begun = time.monotonic()
        runner = Runner(tests, self.given.jobs, self._tell)
        done = runner.run(chosen)
        states = Counter(outcome.state for outcome in done)
        killed = states["killed"] + states["endless"]
        score = round(100 * killed / len(done), 1) if done else 0.0
        floor = self.config["floor_sample" if self.given.sample else "floor"]
        by_module = defaultdict(lambda: [0, 0])
        for outcome in done:
            by_module[outcome.mutant.module.rsplit(".", 1)[-1]][0] += outcome.state in ("killed", "endless")
            by_module[outcome.mutant.module.rsplit(".", 1)[-1]][1] += 1
        for name, (dead, tried) in sorted(by_module.items()):
            print(f"{name:16} {dead:4} of {tried:4} killed")
        unknown = sorted(set(equivalent) - {m.key for m in found})
        if unknown:
            print("Listed as equivalent, but no mutant any more:", *unknown, sep="\n  ")
        result = {"mutants": len(done), **states, "score": score, "floor": floor, "equivalent": len(equivalent),
                  "tests": len(tests.items), "seconds": round(time.monotonic() - begun)}  # fmt: skip
        print(json.dumps(result))
        failed = unknown or (not self.given.only and score < floor)
        return 1 if failed else 0

    def _tell(self, outcome: Outcome) -> None:
        if outcome.state in ("survived", "untested") or self.given.verbose:
            by = f" by {outcome.by}" if outcome.by >= 0 else ""
            print(f"{outcome.state}{by} (line {outcome.mutant.first}, {outcome.tests} tests): {outcome.mutant.key}")


def _modules(pattern: str) -> list[str]:
    """Load the modules of a pattern, whose last part may hold "*", and return their names."""
    package, _, name = pattern.rpartition(".")
    files = sorted((ROOT / "src" / Path(*package.split("."))).glob(f"{name}.py"))
    names = [f"{package}.{file.stem}" for file in files if not file.stem.startswith("_")]
    for name in names:
        __import__(name)
    return names


def main() -> int:
    """Read the options, collect the tests and run the mutants."""
    config = tomllib.loads(CONFIG.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sample", type=int, default=0, help="how many mutants to try, drawn by the seed; 0: all")
    parser.add_argument("--seed", type=int, default=config["seed"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="only mutants whose name has this text")
    parser.add_argument("--list", action="store_true", help="name the mutants and run none")
    parser.add_argument("--verbose", action="store_true", help="name the killed ones as well")
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    plugin = Plugin(given, config)
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist"]
    pytest.main([*options, *config["tests"]], plugins=[plugin])
    return plugin.code


if __name__ == "__main__":
    sys.exit(main())
