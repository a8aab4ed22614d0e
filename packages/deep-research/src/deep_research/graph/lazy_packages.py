"""Delay a third-party package's `__init__` until a name of it is used.

Its modules can be imported at once.

`importlib.util.LazyLoader` does not do for packages: it executes one as soon as a module in it is imported.
"""

import sys
import threading
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_loading = threading.RLock()


class _Deferred(ModuleType):
    """A package that is not executed yet."""

    def __getattr__(self, name: str) -> Any:
        """Execute the package and return what `name` is in it. Raises AttributeError."""
        with _loading:
            spec: ModuleSpec | None = self.__dict__["__spec__"]
            if type(self) is _Deferred and spec is not None and spec.loader is not None:
                object.__setattr__(self, "__class__", ModuleType)
                spec.loader.exec_module(self)
        return getattr(self, name)


def defer_package(name: str) -> None:
    """Delay executing the package `name` until a name of it is asked for.

    Nothing changes where it is loaded already or missing.
    """
    parent, _, last = name.rpartition(".")
    try:
        spec = find_spec(name) if name not in sys.modules else None
    except ImportError:
        return
    if spec is None or spec.submodule_search_locations is None:
        return
    package = module_from_spec(spec)
    package.__class__ = _Deferred
    sys.modules[name] = package
    if parent:
        setattr(sys.modules[parent], last, package)
