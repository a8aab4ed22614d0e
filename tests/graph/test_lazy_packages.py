"""Packages that are executed when they are needed."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from deep_research.graph.lazy_packages import defer_package


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a package of which `__init__` imports a module that imports a name of the package."""
    folder = tmp_path / "deferred_example"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "EARLY = 1\nfrom deferred_example.part import PART\n__all__ = ['EARLY', 'PART']\n"
    )
    (folder / "part.py").write_text("from deferred_example import EARLY\nPART = EARLY + 1\n")
    (folder / "alone.py").write_text("ALONE = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("deferred_example", "deferred_example.part", "deferred_example.alone"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder.name


def test_a_module_of_the_package_is_imported_without_it(package: str) -> None:
    defer_package(package)
    assert import_module(f"{package}.alone").ALONE == 3
    assert "EARLY" not in vars(sys.modules[package])
    assert import_module(package).PART == 2
    assert sys.modules[package].EARLY == 1


def test_what_is_loaded_or_missing_stays_so(package: str) -> None:
    loaded = import_module(package)
    defer_package(package)
    assert sys.modules[package] is loaded
    defer_package("no_such_package_at_all")
    defer_package("no_such_package_at_all.part")
    assert "no_such_package_at_all" not in sys.modules
