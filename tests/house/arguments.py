"""The settings in `packages/deep-research/src/deep_research/setting_arguments.py`, written from the settings by `make docs`."""

import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from deep_research import setting_arguments as setting_arguments_module
from deep_research.settings import Settings

_PAGE = Path(setting_arguments_module.__file__)


def setting_arguments() -> str:
    """Return the text of the module: what stands before its first setting by hand, and a line for each setting."""
    head, first, _ = _PAGE.read_text("utf-8").partition(f"    {next(iter(Settings.model_fields))}: ")
    assert first
    rows = [
        f"    {name}: {_quoted(_type_of(name, field.annotation))}\n" for name, field in Settings.model_fields.items()
    ]
    return head + "".join(rows)


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
