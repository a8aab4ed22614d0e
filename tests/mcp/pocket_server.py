"""A small MCP server about engines that do not exist, shaped like one for Hacker News; runs by itself over stdio.

`CALLS` names a file to which every call is appended, `REACHED` a pipe that tells of a call that hangs; `FAULT`
chooses how the server breaks.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, WithJsonSchema


class Graded(BaseModel):
    """An answer that is not as its declared schema has it; to find that out takes twice as long for each letter."""

    grade: Annotated[str, WithJsonSchema({"type": "string", "pattern": "^(a|a)*$"})]


def grade(engine: str) -> Graded:
    """The grade of an engine."""
    return Graded(grade="a" * 22 + "!" * bool(engine))


STORIES: list[dict[str, Any]] = [
    {
        "objectID": "101",
        "title": "Alpha engine",
        "url": "https://alpha.test/engine",
        "author": "rolf",
        "points": 120,
        "created_at": "2024-05-01T08:00:00Z",
        "story_text": "<p>The Alpha engine is a rotary engine that turns at 3,000 rpm.</p><p>The Alpha engine was built "
        "in 1999 by Rolf Maier in Graz. The Alpha engine runs without oil.</p>",
    },
    {
        "objectID": "102",
        "title": "Beta engine",
        "url": "https://beta.test/engine",
        "author": "anna",
        "points": 80,
        "created_at": "2024-06-01T08:00:00Z",
        "story_text": "The Beta engine is a piston engine that turns at 4,500 rpm. The Beta engine was built in 2004 "
        "by Anna Holm in Bergen. The Beta engine weighs 85 kg.",
    },
    {
        "objectID": "103",
        "title": "Gamma engine",
        "url": "https://gamma.test/engine",
        "author": "luis",
        "points": 60,
        "created_at": "2024-07-01T08:00:00Z",
        "story_text": "The Gamma engine is a turbine engine that turns at 21,000 rpm. The Gamma engine was built in "
        "2011 by Luis Prado in Porto. The Gamma engine is used in aircraft.",
    },
]


def matching(query: str) -> list[dict[str, Any]]:
    """The stories that share a word with the query, and all that are about engines in general."""
    words = set(query.lower().split())
    return [story for story in STORIES if words & {*story["title"].lower().split(), "engines", "kinds"}]


def _burn() -> None:
    raise ToolError("the index of stories is on fire")


def _hang() -> None:
    """Say that the call has arrived, where somebody waits for it at the other end of a pipe, and never answer."""
    if pipe := os.environ.get("REACHED"):  # noqa: TID251
        Path(pipe).write_text("reached")
    time.sleep(600)


FAULTS: dict[str, Callable[[], Any]] = {
    "crash": lambda: os._exit(3),
    "hang": _hang,
    "tool_error": _burn,
    "brackets": lambda: [{"title": "Alpha engine", "story_text": "![" * 150_000}],
}
"""What happens in a search; what is returned is answered."""


def environment() -> str:
    """The variables of this program."""
    return " ".join(f"{name}={value}" for name, value in sorted(os.environ.items()))  # noqa: TID251


def build(calls: Path | None = None, fault: str = "") -> MCPServer:
    """Return the server."""
    server = MCPServer("pocket", log_level="CRITICAL")

    def note(line: str) -> None:
        if calls is not None:
            with calls.open("a") as file:
                file.write(line + "\n")

    note(f"started {os.getpid()}")

    @server.tool(description="Search stories by keywords.", annotations=ToolAnnotations(read_only_hint=True))
    def search_stories(query: str) -> list[dict[str, Any]]:
        note(f"search_stories {query}")
        return FAULTS.get(fault, lambda: None)() or matching(query)

    @server.tool(description="Read a story with its comments.")
    def get_story(story_id: str) -> dict[str, Any]:
        note(f"get_story {story_id}")
        found = next(story for story in STORIES if story["objectID"] == story_id)
        return {
            **found,
            "comments": [{"author": "kim", "text": f"The {found['title']} needs service every 200 hours."}],
        }

    @server.tool(description="Open any address.")
    def open_page(url: str) -> str:
        note(f"open_page {url}")
        return f"# A page\n\nThe page at {url} says that the Alpha engine costs 400 euros."

    @server.tool(description="Recall what was stored.")
    def open(query: str) -> str:  # noqa: A001 - a name that the program has too
        note(f"open {query}")
        return "The Alpha engine was stored in a shed in Graz for eleven years."

    @server.tool(description="Search documents.")
    def documents(text: str) -> str:  # a name that a place of the program has too
        note(f"documents {text}")
        return "The Alpha engine was described in two documents of 1999."

    @server.tool(description="Publish a story.", annotations=ToolAnnotations(read_only_hint=False))
    def publish_story(title: str) -> str:
        note(f"publish_story {title}")
        return "published"

    @server.tool(description="A drawing of an engine.")
    def draw(engine: str) -> CallToolResult:
        note(f"draw {engine}")
        if engine == "nothing":
            return CallToolResult(content=[TextContent(type="text", text="")] * 10_000)
        picture = ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")
        return CallToolResult(content=[picture, TextContent(type="text", text=f"A drawing of the {engine} engine.")])

    server.tool(description="Grade an engine.")(grade)
    server.tool(description="The variables of the server.")(environment)

    return server


def main() -> None:
    """Serve over stdio, or break first."""
    fault = os.environ.get("FAULT", "")  # noqa: TID251 - a program of its own
    print("the pocket server starts", file=sys.stderr)
    if fault == "start":
        print("no module named engines", file=sys.stderr)
        sys.exit(1)
    if fault == "garbage":
        print("Welcome to the pocket server!\n{not json", flush=True)
    if fault == "silent":
        time.sleep(600)
    calls = os.environ.get("CALLS")  # noqa: TID251
    build(Path(calls) if calls else None, fault).run("stdio")


if __name__ == "__main__":
    main()
