"""Tools that a program hands in: LangChain's, objects of their shape, functions.

Wanted of each are `name`, `description`, `args_schema` (a Pydantic model or a JSON schema) and `ainvoke`.
"""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from deep_research.data.outside_tools import OfferedTool, ToolAnswer
from deep_research.errors import ConfigError, SourceError, Unreachable
from deep_research.mcp.tool_answers import answer_of, shortened


class GivenTools:
    """Tools of one origin, called through `ainvoke`; nothing is opened or closed."""

    def __init__(
        self, name: str, tools: Sequence[Any], *, timeout_seconds: float = 60, argument: str = "hn_mcp_tools"
    ) -> None:
        """Take the tools given as `argument`; raise ConfigError for one that is no tool."""
        self.name = name
        made = [_as_tool(tool, argument) for tool in tools]
        self._tools = {str(getattr(tool, "name", "")): tool for tool in made}
        self._seconds = timeout_seconds

    async def open(self) -> tuple[OfferedTool, ...]:
        """Return the tools in the order they were given."""
        return tuple(_offered(name, tool) for name, tool in self._tools.items())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Return what the tool answers. Raises SourceError for whatever it raises."""
        given = self._tools[tool]
        try:
            async with asyncio.timeout(self._seconds):
                return _answer(await given.ainvoke(_input(given, tool, arguments)))
        except TimeoutError as error:
            message = f"The tool {tool!r} did not answer within {self._seconds:g} seconds."
            raise Unreachable(message, source=self.name) from error
        except Exception as error:
            said = shortened(str(error)) or type(error).__name__
            raise SourceError(f"The tool {tool!r} failed: {said}", source=self.name) from error

    async def close(self) -> None:
        """Nothing is held: the tools belong to whoever gave them."""


def _as_tool(given: Any, argument: str) -> Any:
    """Return a tool as it is; wrap a function by name, docstring and parameters."""
    if getattr(given, "name", "") and hasattr(given, "ainvoke"):
        return given
    if not inspect.isroutine(given):
        message = f"{argument} holds {given!r:.100}, which is no tool: it needs name, description and ainvoke, or be a function."
        raise ConfigError(message, setting=argument, value=str(given)[:100])
    from langchain_core.tools import StructuredTool  # noqa: PLC0415 - only with functions

    function: dict[str, Any] = {"coroutine" if inspect.iscoroutinefunction(given) else "func": given}
    try:
        return StructuredTool.from_function(**function)
    except ValueError as error:  # a function without a docstring
        message = f"The function {given.__name__!r} of {argument} cannot be a tool: {error}"
        raise ConfigError(message, setting=argument, value=given.__name__) from error


def _input(given: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's input: the arguments, or a tool call to get the artifact too."""
    if getattr(given, "response_format", "") == "content_and_artifact":
        return {"name": tool, "args": dict(arguments), "id": "call", "type": "tool_call"}
    return dict(arguments)


def _answer(result: Any) -> ToolAnswer:
    if getattr(result, "status", "") == "error":
        raise SourceError(shortened(str(getattr(result, "content", ""))))
    artifact = getattr(result, "artifact", None)
    structured = artifact.get("structured_content") if isinstance(artifact, Mapping) else None
    content = getattr(result, "content", result)
    blocks = [content] if isinstance(content, str) else content
    if isinstance(blocks, list) and all(isinstance(b, str) or (isinstance(b, Mapping) and "type" in b) for b in blocks):
        return answer_of(blocks, structured)
    return answer_of([], content)


def _offered(name: str, tool: Any) -> OfferedTool:
    schema: Any = getattr(tool, "args_schema", None)
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    elif not isinstance(schema, Mapping):
        schema = {"type": "object", "properties": getattr(tool, "args", None) or {}}
    return OfferedTool(name=name, description=str(getattr(tool, "description", "") or ""), parameters=dict(schema))
