"""The base of every noun: frozen, nothing unknown in it."""

from pydantic import BaseModel, ConfigDict


class Noun(BaseModel):
    """A value that never changes after it is made; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
