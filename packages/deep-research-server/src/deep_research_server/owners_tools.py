"""An MCP server whose every tool and resource is its owner's: counted, done in a turn, with our errors as answers."""

from collections.abc import Callable, Collection
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError

from deep_research.concurrency import OWNER
from deep_research.errors import ConfigError, ResearchError
from deep_research_server.fair_turns import UnderWay, in_turn

_MOST_CALLS, _MOST_WAITING = 8, 48
"""Calls of an owner at a time: each may hold half a megabyte; and those that wait for runs, also when a client has left."""


class OwnersServer(MCPServer):
    """What is offered takes its context by the name `context`; a plain method is done in a thread, in its owner's turn."""

    def __init__(self, owner_of: Callable[[Context], str], waiting: Collection[str], **options: Any) -> None:
        """`owner_of` tells whose request it is; tools named in `waiting` wait for runs."""
        super().__init__(**options)
        self._owner_of, self._under_way = owner_of, UnderWay(_MOST_CALLS, "calls of yours")
        self._waiting = dict.fromkeys(waiting, UnderWay(_MOST_WAITING, "calls of yours that wait for runs"))

    def add_tool(self, fn: Callable[..., Any], *about: Any, **options: Any) -> None:
        """See MCPServer; an argument that the tool does not know is refused instead of left out."""
        super().add_tool(self._owned(fn, ToolError), *about, **options)
        tool = self._tool_manager.list_tools()[-1]  # the package offers no way
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters["additionalProperties"] = False

    def resource(self, uri: str, *about: Any, **options: Any) -> Any:
        """See MCPServer."""
        add = super().resource(uri, *about, **options)
        return lambda fn: add(self._owned(fn, ResourceError))

    def _owned(self, work: Callable[..., Any], failed: type[Exception]) -> Callable[..., Any]:
        doing = work if iscoroutinefunction(work) else in_turn(work)

        @wraps(work)
        async def call(*, context: Context, **given: Any) -> Any:
            owner = self._owner_of(context)
            OWNER.set(owner)
            try:
                with self._waiting.get(work.__name__, self._under_way).one_of(owner):
                    return await doing(context=context, **given)
            except ResearchError as error:
                hint = f" (setting {error.setting})" if isinstance(error, ConfigError) and error.setting else ""
                raise failed(f"{error.message}{hint}") from error

        return call
