"""Prompts: one Markdown file each, with a header that names its purpose.

Rendering is strict: a variable that nobody gives is an error, not an empty hole. A file of the same name in the user's
prompt folder replaces ours, and may use what ours uses.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from deep_research.errors import ConfigError
from deep_research.protocol.media_type import text_of


@dataclass(frozen=True)
class Prompt:
    """A prompt as written: its purpose and its template."""

    name: str
    purpose: str
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
    """Return the prompt `name`, from `folder` if there; raise ConfigError if nowhere."""
    own = folder / f"{name}.md" if folder else None
    if own is not None and own.is_file():
        text = _text_of(own)
    elif name in names():
        text = (resources.files("deep_research.prompts") / f"{name}.md").read_text("utf-8")
    else:
        message = f"There is no prompt {name!r}. Prompts: {', '.join(names())}."
        raise ConfigError(message, setting="prompt", value=name)
    return _parse(name, text)


def _text_of(path: Path) -> str:
    try:
        return text_of(path.read_bytes()).replace("\r\n", "\n")
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"The prompt file {str(path)!r} cannot be read: {error}.", setting="prompt") from error


def check(folder: Path) -> None:
    """Look through the user's prompt files before a run begins.

    Raises ConfigError, which names file, line and variable, for the first that could not be rendered.
    """
    for path in sorted(folder.glob("*.md")):
        _check_file(path, folder)


def _check_file(path: Path, folder: Path) -> None:
    from jinja2 import TemplateError, TemplateSyntaxError, meta  # noqa: PLC0415 - only when a model thinks

    prompt = load(path.stem, folder)
    environment = _environment(folder)
    first = _text_of(path).removesuffix(prompt.template).count("\n")
    try:
        tree = environment.parse(prompt.template)
        for included in meta.find_referenced_templates(tree):
            environment.get_template(included or "")
    except TemplateSyntaxError as error:
        raise _broken(path, first + error.lineno, f"{error.message}") from error
    except TemplateError as error:
        raise _broken(path, _line(path, "include"), str(error)) from error
    if path.stem in names():
        ours = variables(path.stem)
        if unknown := meta.find_undeclared_variables(tree) - ours:
            why = f"there is no variable {min(unknown)!r} in this prompt, only {', '.join(sorted(ours))}"
            raise _broken(path, _line(path, min(unknown)), why)


@lru_cache(maxsize=32)
def variables(name: str) -> frozenset[str]:
    """Return the variables of a built-in prompt and of the prompts it includes."""
    from jinja2 import meta  # noqa: PLC0415 - only when a model thinks

    tree = _environment(None).parse(load(name).template)
    inner = (variables((file or "").removesuffix(".md")) for file in meta.find_referenced_templates(tree))
    return frozenset(meta.find_undeclared_variables(tree)).union(*inner)


def _line(path: Path, word: str) -> int:
    """Return the first line in which a word stands; 1 when there is none."""
    lines = enumerate(_text_of(path).splitlines(), 1)
    return next((number for number, line in lines if re.search(rf"\b{re.escape(word)}\b", line)), 1)


def _broken(path: Path, line: int, why: str) -> ConfigError:
    message = f"The prompt file {str(path)!r} cannot be used (line {line}): {why.rstrip('.')}."
    return ConfigError(message, setting="prompt", value=str(path))


def _parse(name: str, text: str) -> Prompt:
    head, mark, template = text.removeprefix("---\n").partition("\n---\n")
    if not mark or not text.startswith("---\n"):
        return Prompt(name, "", text)
    fields = dict(line.split(":", 1) for line in head.splitlines() if ":" in line)
    return Prompt(name, fields.get("purpose", "").strip(), template)


def render(name: str, *, folder: Path | None = None, **values: Any) -> str:
    """Return the prompt `name` filled with `values`, white space at its ends removed.

    Raises ConfigError when a variable has no value, or the template is broken.
    """
    prompt = load(name, folder)
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
    made = Environment(  # noqa: S701
        undefined=StrictUndefined, loader=FunctionLoader(included), trim_blocks=False, keep_trailing_newline=False
    )
    made.filters["bullets"] = lambda lines: "\n".join(f"- {line}" for line in lines)
    return made
