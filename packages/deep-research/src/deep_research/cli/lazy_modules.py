"""Modules that commands need when they run, not for their help: imported when something of theirs is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import json

    from deep_research import api
else:

    class _LazyModule:
        """Stands for a module that may not be imported yet."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    api, asyncio, json = (_LazyModule(name) for name in ("deep_research.api", "asyncio", "json"))

__all__ = ["api", "asyncio", "json"]
