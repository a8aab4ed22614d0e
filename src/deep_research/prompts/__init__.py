"""Prompts: one Markdown file each, with a header that names its purpose and variables.

Rendering is strict: a missing or unknown variable is an error, not an empty hole. A file of the same
name in the user's prompt folder replaces ours.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from deep_research.errors import ConfigError


@dataclass(frozen=True)
class Prompt:
    """A prompt as written: its purpose, the variables it takes, and its template."""

    name: str
    purpose: str
    variables: frozenset[str]
    template: str

    @property
    def digest(self) -> str:
        """Short SHA-256 of the template, kept with what it caused."""
        return hashlib.sha256(self.template.encode()).hexdigest()[:12]


def names() -> tuple[str, ...]:
    """Return the names of all prompts."""
    folder = resources.files("deep_research.prompts")
    return tuple(sorted(f.name.removesuffix(".md") for f in folder.iterdir() if f.name.endswith(".md")))


@lru_cache(maxsize=128)
def load(name: str, folder: Path | None = None) -> Prompt:
    """Return the prompt `name`, the user's when `folder` has one. Raises ConfigError when there is none or its
    header is broken.
    """
    own = folder / f"{name}.md" if folder else None
    if own is not None and own.is_file():
        text = own.read_text("utf-8")
    elif name in names():
        text = (resources.files("deep_research.prompts") / f"{name}.md").read_text("utf-8")
    else:
        message = f"There is no prompt {name!r}. Prompts: {', '.join(names())}."
        raise ConfigError(message, setting="prompt", value=name)
    return _parse(name, text)


def _parse(name: str, text: str) -> Prompt:
    head, mark, template = text.removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(":", 1) for line in head.splitlines() if ":" in line)
    if not mark or not text.startswith("---\n") or "variables" not in fields:
        message = f"The prompt {name!r} needs a header: ---, purpose: …, variables: a, b, ---."
        raise ConfigError(message, setting="prompt", value=name)
    variables = frozenset(v.strip() for v in fields["variables"].split(",") if v.strip())
    return Prompt(name, fields.get("purpose", "").strip(), variables, template)


def render(name: str, *, folder: Path | None = None, **values: Any) -> str:
    """Return the prompt `name` with `values` filled in, white space at its ends removed.

    Raises ConfigError when the values are not exactly the variables of its header, or the template is broken.
    """
    prompt = load(name, folder)
    if missing := prompt.variables - values.keys():
        raise ConfigError(f"The prompt {name!r} lacks {sorted(missing)}.", setting="prompt", value=name)
    if unknown := values.keys() - prompt.variables:
        raise ConfigError(f"The prompt {name!r} takes no {sorted(unknown)}.", setting="prompt", value=name)
    from jinja2 import TemplateError  # noqa: PLC0415 - only when a model thinks

    try:
        return _compiled(prompt.template, folder).render(**values).strip()
    except TemplateError as error:
        raise ConfigError(f"The prompt {name!r} cannot be rendered: {error}.", setting="prompt", value=name) from error


@lru_cache(maxsize=128)
def _compiled(template: str, folder: Path | None) -> Any:
    return _environment(folder).from_string(template)


@lru_cache(maxsize=8)
def _environment(folder: Path | None) -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415

    def included(name: str) -> str:
        return load(name.removesuffix(".md"), folder).template

    # The output is text for a model, not HTML: text is made safe where it is fenced.
    return Environment(  # noqa: S701
        undefined=StrictUndefined, loader=FunctionLoader(included), trim_blocks=False, keep_trailing_newline=False
    )
