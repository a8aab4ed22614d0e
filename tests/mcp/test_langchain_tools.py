"""Tools that a program hands in: LangChain's own, those of the shape that langchain-mcp-adapters gives, and look-alikes."""

import asyncio
from typing import Any, ClassVar

import pytest
from langchain_core.tools import StructuredTool, ToolException, tool

from deep_research.data.outside_tools import ToolAnswer
from deep_research.errors import SourceError
from deep_research.mcp.langchain_tools import GivenTools
from tests.mcp.pocket_server import STORIES, matching


def adapted(name: str = "search_stories") -> StructuredTool:
    """A tool as langchain-mcp-adapters makes it: a JSON schema, content blocks, and the structured form beside."""

    async def call(query: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        found = matching(query)
        return [{"type": "text", "text": str(found)}], {"structured_content": {"result": found}}

    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    return StructuredTool(
        name=name, description="Search.", args_schema=schema, coroutine=call, response_format="content_and_artifact"
    )


@tool
async def top_stories(count: int) -> str:
    """The stories of the day."""
    return "\n".join(story["title"] for story in STORIES[:count])


@tool
async def broken(query: str) -> str:
    """Never works."""
    raise ToolException(f"nothing for {query}")


class Plain:
    """Not LangChain's, but of its shape."""

    name = "plain"
    description = "Answers plain data."
    args: ClassVar = {"query": {"type": "string"}}

    async def ainvoke(self, arguments: dict[str, Any]) -> Any:
        return {"result": matching(arguments["query"])}


def _call(given: Any, arguments: dict[str, Any], **options: Any) -> ToolAnswer:
    return asyncio.run(GivenTools("hackernews", [given], **options).call(given.name, arguments))


def test_b11_tools_of_every_kind_are_listed_with_their_schemas() -> None:
    listed = asyncio.run(GivenTools("hackernews", [adapted(), top_stories, Plain()]).open())
    assert [(one.name, list(one.parameters["properties"])) for one in listed] == [
        ("search_stories", ["query"]), ("top_stories", ["count"]), ("plain", ["query"]),
    ]  # fmt: skip


def test_b11_a_tool_of_the_adapters_gives_its_structured_form() -> None:
    assert _call(adapted(), {"query": "alpha"}).structured["result"][0]["title"] == "Alpha engine"


def test_b11_a_tool_of_langchain_gives_its_text_and_a_plain_one_its_data() -> None:
    assert _call(top_stories, {"count": 2}).parts[0].text == "Alpha engine\nBeta engine"
    assert _call(Plain(), {"query": "beta"}).structured["result"][0]["title"] == "Beta engine"


def test_b11_whatever_a_tool_raises_is_an_error_of_the_tool() -> None:
    with pytest.raises(SourceError, match="The tool 'broken' failed: nothing for alpha"):
        _call(broken, {"query": "alpha"})
    with pytest.raises(SourceError, match="'top_stories' failed"):
        _call(top_stories, {"count": "many"})
