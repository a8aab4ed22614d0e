"""What the house law measures in the sources: sizes of files and functions, and who reads the environment."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("packages", "tests", "lab")
MAX_FILE_LINES, MAX_BODY_LINES = 800, 60


def python_files(*folders: str) -> Iterator[Path]:
    """All Python files of these folders of the repository."""
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def within(path: Path) -> tuple[str, ...]:
    """Return the parts of the name of a file of a package: `("steps", "write.py")`; other packages' with their name."""
    package, *rest = path.relative_to(ROOT / "packages").parts[2:]
    return tuple(rest) if package == "deep_research" else (package, *rest)


@cache
def parsed(path: Path) -> ast.Module:
    """Return a file as Python reads it."""
    return ast.parse(path.read_text("utf-8"))


def oversized() -> dict[str, int]:
    """Files and functions beyond the limits, with their lines; a function is named `path::Class.name`."""
    found: dict[str, int] = {}
    for path in python_files(*FOLDERS):
        text, name = path.read_text("utf-8"), path.relative_to(ROOT).as_posix()
        if (lines := text.count("\n")) > MAX_FILE_LINES:
            found[name] = lines
        for function, lines in _bodies(parsed(path)):
            if lines > MAX_BODY_LINES:
                found[f"{name}::{function}"] = lines
    return found


def _bodies(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Every function with the lines of its body, its docstring not counted."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body:
                yield prefix + node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1
            yield from _bodies(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from _bodies(node, f"{prefix}{node.name}.")
        else:
            yield from _bodies(node, prefix)


def readers_of_the_environment() -> set[str]:
    """Files of the package that touch os.environ or os.getenv, in whatever spelling."""
    found: set[str] = set()
    for path in python_files("packages"):
        for node in ast.walk(parsed(path)):
            names = (
                {alias.name for alias in node.names}
                if isinstance(node, ast.ImportFrom) and node.module == "os"
                else set()
            )
            spelled = node.attr if isinstance(node, ast.Attribute) else ""
            if {"environ", "environb", "getenv"} & {*names, spelled}:
                found.add(path.relative_to(ROOT).as_posix())
    return found
