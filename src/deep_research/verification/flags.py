"""Stand-in until the real one is merged."""
from typing import NamedTuple


class Flag(NamedTuple):
    told: str
    is_sure: bool = False


def flags_of(text, ids, library, question):
    return [Flag(f"the passage {key} does not exist", True) for key in ids if "p" in key and library.passage(key) is None]
