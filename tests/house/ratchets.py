"""Counts that may only shrink, by room or file: `python -m tests.house.ratchets` lowers tests/house/ratchets.toml."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from vulture import Vulture

from tests.house.sources import ROOT, parsed, python_files, within

FILE = Path(__file__).with_name("ratchets.toml")
PACKAGES = sorted((ROOT / "packages").glob("*/src/*"))
MAX_PARAMETERS = 7
MAX_FIRST_LINE = 80
_HEAD = """\
# Counts that may only shrink, by room or file; `python -m tests.house.ratchets` lowers them to what is there.
# A number may be raised by hand where a room gets something new: the commit says what.
"""
_KINDS = re.compile(r'info\.kind\b|\bmodel_provider ==|[!=]= "finder"')
"""How code asks which kind of reasoner thinks; only the reasoners and what chooses one may."""
_CALLED_BY_OTHERS = {"function", "class", "method", "property", "import"}
_DECORATORS = [
    "@router.*",
    "@health.*",
    "@*.command",
    "@*.group",
    "@command",
    "@*validator",
    "@*serializer",
    "@overload",
    "@property",
]
_MAGIC = re.compile(r"__\w+__|get_|list_commands|get_command")


def room_of(path: Path) -> str:
    """Return the room of a file of the package: its first folder, or "root"."""
    parts = within(path)
    return parts[0] if len(parts) > 1 else "root"


def lines() -> Counter[str]:
    """Count the source lines of each room."""
    found: Counter[str] = Counter()
    for path in python_files("packages"):
        found[room_of(path)] += path.read_text("utf-8").count("\n")
    return found


@cache
def _ruff() -> list[tuple[str, Path]]:
    """The rule and the file of each docstring that does not begin with a verb, and each long list of parameters."""
    rules = ["--select", "D401,PLR0913", "--config", f"lint.pylint.max-args={MAX_PARAMETERS}", "--isolated"]
    command = [sys.executable, "-m", "ruff", "check", *rules, "--exit-zero", "--output-format", "json"]
    found = json.loads(
        subprocess.run([*command, *map(str, PACKAGES)], capture_output=True, check=True, timeout=60).stdout
    )
    return [(entry["code"], Path(entry["filename"])) for entry in found]


def docstrings() -> Counter[str]:
    """Count by room the docstrings that do not begin with a verb in the imperative."""
    return Counter(room_of(path) for rule, path in _ruff() if rule == "D401")


def first_lines() -> Counter[str]:
    """Count by room the docstrings whose first line has 80 characters or more."""
    found: Counter[str] = Counter()
    for path in python_files("packages"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found[room_of(path)] += len((ast.get_docstring(node) or "").partition("\n")[0]) >= MAX_FIRST_LINE
    return +found


def parameters() -> Counter[str]:
    """Count by file the functions with more parameters than allowed."""
    return Counter(_name(path) for rule, path in _ruff() if rule == "PLR0913")


def repeated_names() -> Counter[str]:
    """Count the modules of the package that share their name with another."""
    names = Counter(path.stem for path in python_files("packages") if not path.stem.startswith("__"))
    return Counter({name: n for name, n in names.items() if n > 1})


def private_imports() -> Counter[str]:
    """Count by file the imports of `_modules` from another folder."""
    found: Counter[str] = Counter()
    for path in python_files("packages"):
        own = ".".join(path.relative_to(ROOT / "packages").parts[2:-1])
        for node in ast.walk(parsed(path)):
            module = node.module if isinstance(node, ast.ImportFrom) and node.module else ""
            folder, _, private = module.partition("._")
            if private and module.startswith(("deep_research", "claimcheck")) and not own.startswith(folder):
                found[_name(path)] += 1
    return found


def reasoner_branches() -> Counter[str]:
    """Count by file the branches on the kind of reasoner outside reasoners/ and assembly/."""
    return Counter(
        {
            _name(path): n
            for path in python_files("packages")
            if room_of(path) not in ("reasoners", "assembly")
            if (n := len(_KINDS.findall(path.read_text("utf-8"))))
        }
    )


def dead_code() -> Counter[str]:
    """Count by file the functions, classes and imports that nothing in the package uses."""
    checker = Vulture(ignore_decorators=_DECORATORS)
    checker.scavenge([*map(str, PACKAGES)])
    unused = [item for item in checker.get_unused_code() if item.typ in _CALLED_BY_OTHERS]
    return Counter(f"{_name(Path(item.filename))}::{item.name}" for item in unused if not _MAGIC.fullmatch(item.name))


def _name(path: Path) -> str:
    return "/".join(within(path))


RATCHETS: dict[str, Callable[[], Counter[str]]] = {
    "lines": lines,
    "docstrings_without_a_verb": docstrings,
    "docstrings_of_long_first_lines": first_lines,
    "functions_of_many_parameters": parameters,
    "modules_of_one_name": repeated_names,
    "imports_of_private_modules": private_imports,
    "branches_on_the_reasoner": reasoner_branches,
    "unused_code": dead_code,
}


def allowed() -> dict[str, dict[str, int]]:
    """Return the counts of the file, by ratchet."""
    return tomllib.loads(FILE.read_text("utf-8"))


def grown(found: Counter[str], limits: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return what is larger than its limit: found and allowed."""
    return {key: (n, limits.get(key, 0)) for key, n in found.items() if n > limits.get(key, 0)}


def lowered(found: Counter[str], limits: dict[str, int]) -> dict[str, int]:
    """Return the limits at what was found where that is less; none is raised, and what is gone goes."""
    return {key: min(limit, found[key]) for key, limit in sorted(limits.items()) if found[key]}


def text() -> str:
    """Return the file with every count that shrank at its new value."""
    parts = [_HEAD.rstrip("\n")]
    for name, measure in RATCHETS.items():
        kept = lowered(measure(), allowed().get(name, {}))
        parts.append("\n".join([f"[{name}]", *(f'"{key}" = {n}' for key, n in kept.items())]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
