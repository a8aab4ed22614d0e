"""Verdicts on claims; reasons come from `reasons/LANGUAGE.toml`, else in English."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, Self

Kind = Literal["supported", "contradicted", "unverified"]
"""*supported*: the evidence says it. *contradicted*: it says the opposite. *unverified*: words alone do not settle it."""


class Verdict(NamedTuple):
    """The verdict on a claim; `code` names its reason, `values` fill it."""

    kind: Kind
    code: str
    values: Mapping[str, str]

    @classmethod
    def of(cls, kind: Kind, code: str, /, **values: str) -> Self:
        """Return a verdict whose reason is `code`, filled with `values`."""
        return cls(kind, code, values)

    @property
    def reason(self) -> str:
        """Return the reason in English."""
        return self.explain("en")

    def explain(self, language: str) -> str:
        """Return the reason in `en`, `zh`, `ko` or `ja`; English for other languages."""
        return reasons(language)[self.code].format(**self.values)


@cache
def reasons(language: str) -> Mapping[str, str]:
    """Return the verdict reasons by code in a language, in English where missing."""
    file = files("claimcheck").joinpath("reasons", f"{language}.toml")
    own = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    return own if language == "en" else {**reasons("en"), **own}
