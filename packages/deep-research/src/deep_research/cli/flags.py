"""What the flags of a command mean as settings."""

import re
from pathlib import Path
from typing import Any

from deep_research import settings as settings_module
from deep_research.cli.lazy_modules import api
from deep_research.errors import ConfigError

_BUDGET = re.compile(
    r"(?i)\$?\s*+(?P<number>(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9][0-9_]*)(?:\.[0-9]+)?|\.[0-9]+)"
    r"\s*+(?P<unit>k?\s*tok(?:ens?)?|usd|\$)?"
)


def settings_of(flags: dict[str, Any]) -> settings_module.Settings:
    """Return the settings in force with the flags of a command. Raises ConfigError."""
    return settings_module.load_settings(**values_of(flags))


def values_of(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the flags of a command name. Raises ConfigError."""
    values: dict[str, Any] = {}
    for pair in flags.get("pairs") or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(f"--set {pair!r} must be NAME=VALUE.", setting="set", value=pair)
        values[name.strip().replace("-", "_")] = value.strip()
    named = {"model_provider": "provider", "model_name": "model", "workflow": "workflow", "depth": "depth"}
    values |= {name: flags[flag] for name, flag in named.items() if flags.get(flag) is not None}
    # The workflow may also come from the environment or the file.
    values |= settings_module.limit_rounds(flags.get("max_iterations"), values.get("workflow"))
    given = ("strategy", "confirm_plan", "confirm_review", "template")
    values |= {name: flags[name] for name in given if flags.get(name)}
    if flags.get("sources"):
        values["sources"] = ",".join(flags["sources"])
    if flags.get("budget"):
        values |= budget_of(flags["budget"])
    return values | ({"allow_clarification": False} if flags.get("no_clarify") else {})


def budget_of(amount: str) -> dict[str, Any]:
    """Return a --budget's setting: dollars (`0.50`) or tokens. Raises ConfigError."""
    found = _BUDGET.fullmatch(amount.strip())
    if found is None:
        message = f"--budget {amount!r} is neither US dollars (0.50) nor tokens (200000tokens)."
        raise ConfigError(message, setting="budget", value=amount)
    number, unit = float(found["number"].replace(",", "").replace("_", "")), (found["unit"] or "").lower()
    if "tok" not in unit:
        return {"budget_usd": number}
    return {"budget_tokens": int(number * (1000 if unit.startswith("k") else 1))}


def write_export(made: "api.Export", path: Path | None) -> Path:
    """Write an export to a file and return it; by default it is named by its title."""
    path = path or Path(made.file_name).absolute()
    api.write_bytes_atomically(path, made.data)
    return path


def output_file(flags: dict[str, Any]) -> Path | None:
    """Return --out's file; None for none or stdout. Raises ConfigError, StoreError."""
    out = flags.get("out")
    if not out or out == "-":
        return None
    path = Path(out).expanduser().absolute()
    if not path.parent.is_dir():
        raise ConfigError(f"The folder of --out {out!r} does not exist.", setting="out", value=out)
    if path.is_dir():
        raise ConfigError(f"--out {out!r} is a folder; name a file.", setting="out", value=out)
    others = {} if path.suffix in ("", ".md") else {made.suffix: made.name for made in api.list_exporters()}
    if not flags.get("to") and (other := others.get(path.suffix.lower())):
        message = f"--out writes Markdown (.md). Of the finished run then: deep-research export RUN --to {other}"
        raise ConfigError(message, setting="out", value=out)
    api.check_writable(path)
    return path
