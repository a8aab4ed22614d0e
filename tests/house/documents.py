"""The pages of docs/ that code knows better than people: `make docs` writes them anew.

`docs/result.schema.json` is the JSON schema of the result (`--json`), `docs/settings.md` lists the settings,
`docs/python-api.md` the public names, `docs/cli.md` the help of all commands; `docs/sources.md` and `docs/prompts.md` hold tables made from the code.
"""

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import deep_research
from deep_research import build_deep_research_graph, prompts
from deep_research.cli.main import _Commands, cli
from deep_research.data import Report
from deep_research.foreign_settings import SHAPES_REPORT
from deep_research.settings import GROUPS, PREFIX, Settings, settings_of
from deep_research.sources import api_sources, strategies
from tests.house.arguments import setting_arguments

DOCS = Path(__file__).parents[2] / "docs"

_SETTINGS = """# Settings

Written by `make docs` from `packages/deep-research/src/deep_research/settings.py`; do not edit by hand.

A flag or argument wins over the environment (`{prefix}` and the name in capitals), the environment over
a file (`settings.toml` in the state folder and, over it, `deep-research.toml` in the current folder; or the one that
`{prefix}CONFIG` names), the file over the default. On the command line any setting is `--set NAME=VALUE`; in a
program it is an argument of `research()` or a key of `RunnableConfig["configurable"]`. Unknown names and values
out of range are refused. `deep-research settings` shows the values in force.

A folder may come from somebody else, so `deep-research.toml` of the current folder can only say what a report is like:
{shaping}. Anything else in it is left out, and a line says so,
unless `{prefix}CONFIG` names that file. One option of a source: `--set source_options.arxiv.since=2024-01-01`.

`{prefix}HOME` names the folder that holds all state.

{tables}
"""

_TABLE = """## {title}

| name | default | range | meaning |
|---|---|---|---|
{rows}
"""


def result_schema() -> str:
    """Return the JSON schema of the result as the text of its file."""
    schema = Report.model_json_schema(mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Report"}
    return json.dumps({**head, **schema}, indent=2, ensure_ascii=False) + "\n"


def settings_page() -> str:
    """Return the page of settings."""
    groups = [(group.capitalize(), settings_of(group)) for group in GROUPS]
    advanced = [name for group in GROUPS for name in settings_of(group, advanced=True)]
    tables = [
        _TABLE.format(title=title, rows="\n".join(_row(name, Settings.model_fields[name]) for name in names))
        for title, names in [*groups, ("Advanced", advanced)]
    ]
    shaping = ", ".join(f"`{name}`" for name in Settings.model_fields if name in SHAPES_REPORT)
    return _SETTINGS.format(prefix=PREFIX, shaping=shaping, tables="\n".join(tables).rstrip())


def _row(name: str, field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    default = "" if value is None else f"`{value}`"
    return f"| `{name}` | {default} | {_range(name)} | {field.description} |"


def _range(name: str) -> str:
    """The range of a setting in words, from its JSON schema."""
    schema: dict[str, Any] = Settings.model_json_schema()["properties"][name]
    if "minimum" in schema:
        return f"{schema['minimum']:,}–{schema['maximum']:,}"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kinds = [part["type"] for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    return {"boolean": "true, false", "string": "text"}.get(kinds[0], kinds[0])


def _sources_table() -> str:
    lines = [
        "| source | what for | key | also used | calls per second | at once | documented limit |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, kind in api_sources().items():
        key = f"`{kind.needs}`" if kind.needs else "keyless"
        options = kind.read_options(None)
        pace = f"{options.requests_per_second:.2g} | {options.burst} | {kind.pace.why}"
        lines.append(f"| `{name}` | {kind.purpose} | {key} | {_names(kind.also) or '–'} | {pace} |")
    return "\n".join(lines) + "\n"


def _strategies_table() -> str:
    data = tomllib.loads(resources.files("deep_research.sources").joinpath("strategies.toml").read_text("utf-8"))
    lines = ["| strategy | what for | sources before the web |", "| --- | --- | --- |"]
    for name, purpose in strategies().items():
        lines.append(f"| `{name}` | {purpose} | {_names(data[name]['sources']) if name in data else '–'} |")
    first = "; ".join(f"{language}: {_names(order['web'])}" for language, order in data["first_for"].items())
    lines += ["", f"Web: {_names(data['web']['sources'])}. First for questions in another language: {first}."]
    return "\n".join(lines) + "\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def sources_page() -> str:
    """Return the page of sources with its tables made anew; what is around them is written by hand."""
    page = (DOCS / "sources.md").read_text("utf-8")
    for name, table in (("sources", _sources_table()), ("strategies", _strategies_table())):
        head, mark, rest = page.partition(f"<!-- table: {name} -->\n")
        page = f"{head}{mark}{table}<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return page


def python_api() -> str:
    """Return the page of the public names, with their signatures and docstrings."""
    public = {name: getattr(deep_research, name) for name in deep_research.__all__ if name != "__version__"}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    errors = {n: v for n, v in public.items() if inspect.isclass(v) and issubclass(v, Exception)}
    nouns = {n: v for n, v in public.items() if inspect.isclass(v) and issubclass(v, BaseModel) and v is not Settings}
    parts = [_API, "## Functions"]
    parts += [f"### `{name}`\n\n```python\n{_signature(f)}\n```\n\n{_text(f)}" for name, f in functions.items()]
    parts += ["## What comes back"]
    parts += [f"### `{name}`\n\n{_text(noun)}\n\n{_fields(noun)}" for name, noun in nouns.items()]
    parts += ["## Errors", "| error | is a | when |\n|---|---|---|\n" + "\n".join(_error(*e) for e in errors.items())]
    return "\n\n".join(parts) + "\n"


_API = """# Python

Written by `make docs` from the public names of `deep_research`; do not edit by hand. Settings are keyword arguments:
[settings.md](settings.md) lists them. `Event` is the union of what `stream` yields before the report."""


def _signature(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    kind = "async def" if inspect.iscoroutinefunction(function) else "def"
    lines = [f"    {parameter}," for parameter in map(_shortened, signature.parameters.values())]
    if any(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values()):
        first = next(n for n, p in enumerate(signature.parameters.values()) if p.kind is p.KEYWORD_ONLY)
        lines.insert(first, "    *,")
    return "\n".join([f"{kind} {function.__name__}(", *lines, f") -> {_plain(signature.return_annotation)}"])


def _shortened(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{stars}{parameter.name}: {_plain(parameter.annotation)}{default}"


def _plain(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text.strip("'\""))


def _text(value: object) -> str:
    return inspect.getdoc(value) or ""


def _fields(noun: type[BaseModel]) -> str:
    rows = [f"| `{n}` | `{_plain(f.annotation).replace('|', chr(92) + '|')}` |" for n, f in noun.model_fields.items()]
    return "\n".join(["| field | type |", "|---|---|", *rows])


def _error(name: str, error: type[Exception]) -> str:
    return f"| `{name}` | `{error.__mro__[1].__name__}` | {' '.join(_text(error).split())} |"


def prompts_page() -> str:
    """Return the page of prompts with its table as the prompts say it; their order on the page is kept."""
    page = (DOCS / "prompts.md").read_text("utf-8")
    known = [name for name in re.findall(r"(?m)^\| `(\w+)` \|", page) if name in prompts.names()]
    rows = [
        f"| `{name}` | {prompt.purpose} | {', '.join(f'`{variable}`' for variable in sorted(prompts.variables(name)))} |\n"
        for name in dict.fromkeys([*known, *prompts.names()])
        for prompt in [prompts.load(name)]
    ]
    table = "".join(["| prompt | purpose | variables |\n", "|---|---|---|\n", *rows])
    return re.sub(r"(?m)^\|.*\n(?:\|.*\n)+", lambda _: table, page, count=1)


_CLI = """# Command line

Written by `make docs` from the commands themselves; do not edit by hand. `deep-research COMMAND --help` shows the same.

"""


def cli_page() -> str:
    """Return the help of all commands."""
    names = ["", *sorted(cli.commands_by_name)] if isinstance(cli, _Commands) else []
    return _CLI + "\n".join(f"## deep-research{' ' * bool(name)}{name}\n\n{_help(name)}" for name in names)


def _help(name: str) -> str:
    """Return the help of a command, and of the commands below it."""
    names = ["-h", "--help"]  # click keeps the first option that it makes, also for later contexts
    top = click.Context(
        cli, info_name="deep-research", terminal_width=100, max_content_width=100, help_option_names=names
    )
    if not name:
        return f"```text\n{cli.get_help(top)}\n```\n"
    command = cli.get_command(top, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=top, terminal_width=100, max_content_width=100)
    texts = [command.get_help(context)]
    for below in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, below)
        assert inner is not None
        texts.append(
            inner.get_help(
                click.Context(inner, info_name=below, parent=context, terminal_width=100, max_content_width=100)
            )
        )
    return "\n".join(f"```text\n{text}\n```\n" for text in texts)


def langgraph_page() -> str:
    """Return the page about LangGraph with the picture of the graph as it is."""
    page = (DOCS / "langgraph.md").read_text("utf-8")
    drawn = build_deep_research_graph().get_graph().draw_mermaid()
    graph = drawn[drawn.index("graph TD") :].replace("\t", "    ").replace(";\n", "\n").rstrip()
    return re.sub(r"(?s)```mermaid\n.*?```", lambda _: f"```mermaid\n{graph}\n```", page, count=1)


PAGES: dict[str, Callable[[], str]] = {
    "result.schema.json": result_schema,
    "settings.md": settings_page,
    "python-api.md": python_api,
    "sources.md": sources_page,
    "prompts.md": prompts_page,
    "cli.md": cli_page,
    "../packages/deep-research/src/deep_research/setting_arguments.py": setting_arguments,
    "langgraph.md": langgraph_page,
}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), "utf-8")
