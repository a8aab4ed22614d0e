"""External tools: the user's MCP servers, and tool descriptions."""

import re
from collections.abc import Mapping
from pathlib import PureWindowsPath
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from deep_research.data.noun import Noun

SERVER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
"""What a server may be called: the name becomes part of names of tools."""
_VARIABLE = re.compile(r"\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_SECRET = re.compile(r"auth|key|token|secret|pass|pwd|credential|cookie|session", re.IGNORECASE)
"""What a header or variable is called that holds a secret."""
_MOST, _LONGEST, _SHORTEST_SECRET = 100, 8_000, 6


class McpServer(Noun):
    """One MCP server: a program (`command`, stdio) or a `url` (streamable HTTP).

    `$NAME` and `${NAME}` in args, env, url and headers stand for variables of the environment, `$$` for a
    dollar. What is in env and headers is never shown and never written down.
    """

    command: str = Field("", max_length=4096, description="Program to start: a name on the PATH, or an absolute path.")
    args: tuple[str, ...] = Field((), description="Its arguments.")
    env: dict[str, str] = Field({}, repr=False, exclude=True, description="Variables it gets beside PATH, HOME, …")
    cwd: str = Field("", max_length=4096, description="Folder it is started in: an absolute path.")
    url: str = Field("", max_length=8_000, repr=False, description="Address of the server, instead of a command.")
    headers: dict[str, str] = Field({}, repr=False, exclude=True, description="Headers of every request.")
    tools: tuple[str, ...] = Field((), description="The tools to offer; empty: all that change nothing.")
    timeout_seconds: float = Field(60, ge=1, le=600, description="Longest wait for the start and for a call, seconds.")

    @field_validator("args", "tools", "env", "headers")
    @classmethod
    def _bounded(cls, value: Any) -> Any:
        parts = [*value, *(value.values() if isinstance(value, dict) else ())]
        if len(value) > _MOST or any(len(part) > _LONGEST for part in parts):
            raise ValueError(f"at most {_MOST} entries of at most {_LONGEST} characters are taken")
        if any("\0" in part or "\n" in part or "\r" in part for part in parts):
            raise ValueError("line breaks and null characters are not taken")
        return value

    @field_validator("command", "cwd")
    @classmethod
    def _means_one_place(cls, value: str) -> str:
        """Refuse a relative path: it would start another program in every folder."""
        if value and "\0" in value:
            raise ValueError("null characters are not taken")
        if ("/" in value or "\\" in value or value.startswith(".")) and not _is_absolute(value):
            raise ValueError("give a name on the PATH or an absolute path, not a relative one")
        return value

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        if value and not (value.startswith(("https://", "http://")) and urlsplit(value).hostname):
            raise ValueError("an address begins with https:// or http://")
        return value

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either a command (a program to start) or a url")
        if self.url and (self.args or self.env or self.cwd):
            raise ValueError("args, env and cwd belong to a command, not to a url")
        if self.command and self.headers:
            raise ValueError("headers belong to a url, not to a command")
        if self.cwd and not _is_absolute(self.cwd):
            raise ValueError("cwd must be an absolute path")
        return self

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the environment that it names, sorted."""
        texts = (*self.args, *self.env.values(), self.url, *self.headers.values())
        found = (match[1] or match[2] for text in texts for match in _VARIABLE.finditer(text))
        return tuple(sorted({name for name in found if name}))

    def missing(self, values: Mapping[str, str]) -> str:
        """Return the setup needed to reach the server ("set HN_TOKEN"), "" if none."""
        lacking = [name for name in self.variables if not values.get(name)]
        return f"set {', '.join(lacking)}" if lacking else ""

    def filled(self, values: Mapping[str, str]) -> Self:
        """Return the server with variables replaced by `values`, missing ones by ""."""

        def fill(text: str) -> str:
            return _VARIABLE.sub(lambda m: values.get(m[1] or m[2], "") if m[1] or m[2] else "$", text)

        changed = {
            "args": tuple(fill(arg) for arg in self.args),
            "env": {name: fill(value) for name, value in self.env.items()},
            "url": fill(self.url),
            "headers": {name: fill(value) for name, value in self.headers.items()},
        }
        return self.model_copy(update=changed)

    def secrets(self, values: Mapping[str, str]) -> frozenset[str]:
        """Return values never to be written: variables, and secrets in env and headers."""
        filled = self.filled(values)
        named = {values.get(name, "") for name in self.variables}
        written = {text for name, text in (*filled.env.items(), *filled.headers.items()) if _SECRET.search(name)}
        # "Bearer abc": an echo may leave the first word out.
        parts = {part for text in named | written for part in (text, text.split(" ")[-1])}
        return frozenset(part for part in parts if len(part) >= _SHORTEST_SECRET)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~/")) or PureWindowsPath(path).is_absolute()


class OfferedTool(Noun):
    """A tool as its server describes it: outside text, not yet fit for a prompt.

    `parameters` is a JSON schema of an object; `changes` is set when the tool says that it changes something, `unfit`
    when it is not described as the protocol wants it.
    """

    name: str
    title: str = ""
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    changes: bool = False
    unfit: bool = False


class ToolContent(Noun):
    """A part of a tool's answer: text (or a resource's), or an unread `kind`."""

    text: str = ""
    media_type: str = ""
    url: str = ""
    title: str = ""
    kind: str = "text"


class ToolAnswer(Noun):
    """A tool's answer: its parts, and the server's JSON form if any (`structured`)."""

    parts: tuple[ToolContent, ...] = ()
    structured: Any = None
