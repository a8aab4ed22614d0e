"""The base of every noun: frozen, nothing unknown in it."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

_M = TypeVar("_M", bound=BaseModel)


class Noun(BaseModel):
    """A value that never changes after it is made; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def copy_fields(kind: type[_M], source: object, /, **more: Any) -> _M:
    """Return a value of `kind`: fields from `more`, else by name from `source`."""
    names = (name for name in kind.model_fields if name not in more and hasattr(source, name))
    return kind(**{name: getattr(source, name) for name in names}, **more)
