"""The pages of docs/ that code knows better than people: `python -m tests.house.documents` writes them anew.

`docs/result.schema.json` is the JSON schema of the result (`--json`), `docs/settings.md` lists the settings, and
`docs/sources.md` holds the tables of sources and strategies.
"""

import json
import tomllib
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from deep_research.data import Report
from deep_research.settings import GROUPS, PREFIX, Settings, settings_of
from deep_research.sources import api_sources, strategies

DOCS = Path(__file__).parents[2] / "docs"

_SETTINGS = """# Settings

Written by `python -m tests.house.documents` from `src/deep_research/settings.py`; do not edit by hand.

A flag or argument wins over the environment (`{prefix}` and the name in capitals), the environment over
a file (`deep-research.toml` in the current folder, else `settings.toml` in the state folder; another one can be
named by `{prefix}CONFIG`), the file over the default. On the command line any setting is `--set NAME=VALUE`; in a
program it is an argument of `research()` or a key of `RunnableConfig["configurable"]`. Unknown names and values
out of range are refused. `deep-research settings` shows the values in force.

What starts programs or says where keys and requests go (`mcp_servers`, `model_base_url`, `proxy`,
`allowed_internal_hosts`, `base_url` of a source) is not taken from `deep-research.toml` of the current folder unless
`{prefix}CONFIG` names that file. One option of a source: `--set source_options.arxiv.since=2024-01-01`.

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
    return _SETTINGS.format(prefix=PREFIX, tables="\n".join(tables).rstrip())


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
    lines = ["| source | what for | key | also used | calls per second |", "| --- | --- | --- | --- | --- |"]
    for name, kind in api_sources().items():
        key = f"`{kind.needs}`" if kind.needs else "keyless"
        calls = kind.read_options(None).requests_per_second
        lines.append(f"| `{name}` | {kind.purpose} | {key} | {_names(kind.also) or '–'} | {calls:.2g} |")
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


PAGES: dict[str, Callable[[], str]] = {
    "result.schema.json": result_schema,
    "settings.md": settings_page,
    "sources.md": sources_page,
}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), "utf-8")
