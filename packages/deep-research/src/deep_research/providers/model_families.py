"""The facts about a model by its name, from families.toml: sizes, prices, …."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, ValidationError

from deep_research.data import Usage
from deep_research.data.noun import Noun
from deep_research.errors import ConfigError

Structured = Literal["native", "tool", "json", "text"]
_PRICES = ("input_usd", "output_usd", "cached_usd", "cache_write_usd")
_SAME_MODEL = re.compile(r"[-@](?:\d{4}|\d{6}|\d{8}|\d{4}-\d\d-\d\d|latest)")


class Family(Noun):
    """Facts about a model family, in US dollars per million tokens for prices."""

    context_tokens: int = Field(ge=1024)
    output_tokens: int = Field(ge=256)
    structured: Structured
    output_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    parallel_tools: bool = False
    thinking_on: dict[str, Any] = Field(default_factory=dict)
    thinking_off: dict[str, Any] = Field(default_factory=dict)
    thinking_with_tools: bool = False
    thinking_tokens: int = Field(4096, ge=0)
    always_thinks: bool = False
    stream_only: bool = False
    thinking_streams: bool = False
    input_usd: float | None = Field(None, ge=0)
    output_usd: float | None = Field(None, ge=0)
    cached_usd: float | None = Field(None, ge=0)
    cache_write_usd: float | None = Field(None, ge=0)
    checked: date | None = None
    source: str = ""

    def cost_usd(self, usage: Usage) -> float | None:
        """Return a call's cost in US dollars, as told or by the table; None if unknown."""
        if usage.cost_usd is not None:
            return usage.cost_usd
        if self.input_usd is None or self.output_usd is None:
            return None
        read_usd = self.input_usd if self.cached_usd is None else self.cached_usd
        write_usd = self.input_usd if self.cache_write_usd is None else self.cache_write_usd
        fresh = usage.prompt_tokens - usage.cached_tokens - usage.cache_write_tokens
        paid = fresh * self.input_usd + usage.completion_tokens * self.output_usd
        return (paid + usage.cached_tokens * read_usd + usage.cache_write_tokens * write_usd) / 1e6


@cache
def _table() -> tuple[dict[str, Any], tuple[tuple[str, dict[str, Any]], ...]]:
    """Return the defaults, and (name prefix, facts) pairs with longer prefixes first."""
    parsed = tomllib.loads(files("deep_research.providers").joinpath("families.toml").read_text("utf-8"))
    rows = [
        (name, vendor | family | dict(zip(_PRICES, prices, strict=False)) | {"checked": parsed["checked"]})
        for vendor in parsed["vendor"]
        for family in vendor.pop("family")
        for name, prices in family.pop("models").items()
    ]
    rows.sort(key=lambda row: -len(row[0]))
    return parsed["default"], tuple(rows)


def family_of(model: str, overrides: Mapping[str, Any] | None = None) -> Family:
    """Return a model's facts: its family's or safe defaults, with `overrides` on top.

    Raises ConfigError for an override that is not a fact or does not fit.
    """
    facts = dict(_table()[0]) | _known(model) | dict(overrides or {})
    try:
        return Family(**facts)
    except ValidationError as error:
        first = error.errors()[0]
        name, given = ".".join(str(part) for part in first["loc"]), first["input"]
        message = f"The fact {name} = {given!r} about the model {model!r} does not fit: {first['msg'].lower()}."
        raise ConfigError(message, setting=f"models.{model}.{name}", value=given) from None


def _known(model: str) -> dict[str, Any]:
    name = model.lower().rsplit("/", 1)[-1]
    pattern, facts = next((row for row in _table()[1] if name.startswith(row[0])), (name, {}))
    if name == pattern or _SAME_MODEL.fullmatch(name, len(pattern)):
        return facts
    return {fact: value for fact, value in facts.items() if fact not in _PRICES}
