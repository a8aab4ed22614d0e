"""Modules imported at first use: commands need them to run, not for their help."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from deep_research import api
else:

    class _LazyModule:
        """Stands for a module that may not be imported yet."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    api, asyncio = _LazyModule("deep_research.api"), _LazyModule("asyncio")

__all__ = ["api", "asyncio"]
