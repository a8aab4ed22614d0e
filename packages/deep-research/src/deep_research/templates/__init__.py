"""Focus templates: usual aspects of a kind of topic, and questions (row A10).

A template is a TOML file (docs/templates.md): ours in this folder, the user's in `deep-research-templates/` of the
current folder and in `templates/` of the state folder. A file of the user's replaces one of the same name.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from deep_research.data import Clarification, Question, Template
from deep_research.errors import ConfigError
from deep_research.foreign_settings import read_toml

NONE = "none"
_MAX_FILES = 100
_OF_TOPIC = ("aspect", "focus")
_OF_THE_FOLDER = Path("deep-research-templates")


def _by_language(value: object) -> object:
    return value if isinstance(value, dict) else {"": value}


_Texts = Annotated[dict[str, Annotated[str, Field(max_length=300)]], BeforeValidator(_by_language)]
_Lists = Annotated[
    dict[str, Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=12)]],
    BeforeValidator(_by_language),
]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Asks(_Strict):
    missing: Literal["topic", "referent", "aspect", "focus"] = "aspect"
    question: _Texts
    options: _Lists = Field(default_factory=dict)


class TemplateFile(_Strict):
    """A template as it stands in its file, in all its languages."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")
    purpose: str = Field("", max_length=200)
    words: list[Annotated[str, Field(min_length=1, max_length=80)]] = Field(default_factory=list, max_length=200)
    patterns: list[str] = Field(default_factory=list, max_length=50)
    focus: _Lists
    clarifications: list[_Asks] = Field(default_factory=list, max_length=20)
    origin: str = Field("", exclude=True)

    @field_validator("patterns")
    @classmethod
    def _compile(cls, value: list[str]) -> list[str]:
        for pattern in value:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"the pattern {pattern!r} is no regular expression ({error})") from None
        return value

    def applies(self, text: str) -> bool:
        """Return whether a question is of this kind."""
        found = (re.search(pattern, text) for pattern in self.patterns)
        return any(_holds(text.casefold(), word.casefold()) for word in self.words) or any(found)

    def spoken(self, language: str) -> Template:
        """Return the template in a language, else in English, else in its first language."""
        focus = tuple(_said(self.focus, language) or ())
        asked = tuple(
            Clarification(
                question=_said(one.question, language) or "",
                options=tuple(_said(one.options, language) or (one.missing in _OF_TOPIC and focus) or ()),
                missing_info=one.missing,
            )
            for one in self.clarifications
        )
        return Template(name=self.name, focus=focus, clarifications=asked)


def _holds(text: str, word: str) -> bool:
    """Return whether a text holds a word; a Latin one counts whole or with plural s."""
    if not word.isascii():
        return word in text
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}s?(?![a-z0-9])", text) is not None


def _said(values: dict[str, Any], language: str) -> Any:
    return next((values[key] for key in (language, "", "en", *values) if key in values), None)


def template_folders(home: Path) -> tuple[Path, ...]:
    """Return the user's template folders, in the current and the state folder `home`."""
    return _OF_THE_FOLDER, home / "templates"


def load_templates(folders: Sequence[Path] = ()) -> tuple[TemplateFile, ...]:
    """Return all templates, each name once: `folders` in order, built-in ones last.

    Raises ConfigError for a file that is no template; it names the file and what is wrong.
    """
    own = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.toml"))[:_MAX_FILES]]
    found = [_from_file(path) for path in own] + list(_built_in())
    return tuple({template.name: template for template in reversed(found)}.values())[::-1]


@cache
def _built_in() -> tuple[TemplateFile, ...]:
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return tuple(_from_file(file).model_copy(update={"origin": "built in"}) for file in files)


def _from_file(path: Path) -> TemplateFile:
    place = str(path)
    try:
        made = TemplateFile.model_validate(read_toml(path)).model_copy(update={"origin": place})
    except OSError as error:
        raise ConfigError(_wrong(place, error.strerror or str(error)), setting="template") from error
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        raise ConfigError(_wrong(place, f"it is no TOML in UTF-8: {error}"), setting="template", value=place) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        why = f"{where}: {first['msg'].removeprefix('Value error, ')}"
        raise ConfigError(_wrong(place, why), setting="template", value=place) from None
    if made.patterns and path.parent == _OF_THE_FOLDER:  # it may be a stranger's, and a pattern can hold the program up
        raise ConfigError(_wrong(place, "patterns are for templates of the state folder; use words"))
    return made


def _wrong(place: str, why: str) -> str:
    return f"The focus template {place!r} cannot be used: {why}. Repair or remove the file (docs/templates.md)."


def choose(templates: Sequence[TemplateFile], question: Question, *, named: str = "") -> Template | None:
    """Return the `named`, else first fitting template in the question's language.

    Raises ConfigError for a name there is none of; `none` switches templates off.
    """
    if named == NONE:
        return None
    if named:
        return named_template(templates, named).spoken(question.language)
    said = " ".join([question.text, *(m.text for m in question.history if m.role == "user")])
    found = next((template for template in templates if template.applies(said)), None)
    return found.spoken(question.language) if found else None


def named_template(templates: Sequence[TemplateFile], name: str) -> TemplateFile:
    """Return the template of a name. Raises ConfigError when there is none."""
    if found := next((template for template in templates if template.name == name), None):
        return found
    message = f"There is no focus template {name!r}. There are: {', '.join(t.name for t in templates) or 'none'}."
    raise ConfigError(message, setting="template", value=name)
