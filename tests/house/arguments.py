"""`src/deep_research/setting_arguments.py`, written from the settings by `make docs`."""

import types
from typing import Any, Literal, Union, get_args, get_origin

from deep_research.settings import Settings

_HEAD = '''"""The settings as keyword arguments of the front door, for editors and type checkers; written by `make docs`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from deep_research.data.outside_tools import McpServer
    from deep_research.providers.model_client import OpenModel

# fmt: off


class SettingArguments(TypedDict, total=False):
    """Any of the settings, by name; docs/settings.md says what each does.

    `home` is the state folder. `model` is a chat model of LangChain, an object of our port, or the name of a model;
    models of single roles may be given in the same ways. `tools` are tools of LangChain or of MCP adapters, and plain
    functions with a docstring.
    """

    home: "str | PathLike[str]"
    model: "str | OpenModel | BaseChatModel"
    tools: "Sequence[Any]"
'''


def setting_arguments() -> str:
    """Return the text of the module."""
    rows = [
        f"    {name}: {_quoted(_type_of(name, field.annotation))}\n" for name, field in Settings.model_fields.items()
    ]
    return _HEAD + "".join(rows)


def _quoted(text: str) -> str:
    return f"'{text}'" if '"' in text else f'"{text}"'


def _type_of(name: str, kind: Any) -> str:
    """Return the type of what may be given; a list may be given as one text, as flags do."""
    if name.endswith("_model"):
        return "str | OpenModel | BaseChatModel | None"
    if name == "mcp_servers":
        return "Mapping[str, McpServer | Mapping[str, Any]]"
    made = get_origin(kind)
    if made is tuple:
        return "Sequence[str] | str"
    if made is dict:
        return "Mapping[str, Mapping[str, Any]]"
    if made is Literal:
        return f"Literal[{', '.join(chr(34) + str(value) + chr(34) for value in get_args(kind))}]"
    if made in (Union, types.UnionType):
        return " | ".join(_type_of("", part) for part in get_args(kind))
    return "None" if kind is types.NoneType else kind.__name__
