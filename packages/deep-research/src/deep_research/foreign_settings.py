"""What a folder or a bundle that somebody else made may say.

Nothing of theirs decides where anything is written, read, sent, started or paid. So a setting is taken over because it
is named here; a new one is not, until somebody adds it.
"""

import errno
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deep_research.protocol.media_type import text_of
from deep_research.safe_text import safe_text

SHAPES_REPORT = frozenset(("workflow", "template", "depth", "allow_clarification", "max_clarification_rounds"))
"""Settings that say what a report is like, and lead nowhere."""
MOST_BYTES = 64_000
_MOST_DOTS = 1_000
"""In one line: reading a dotted name takes the square of its parts, of 64 kB seven seconds and four gigabytes."""
_MOST_TOLD, _LONGEST_NAME = 12, 60


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says that may be a stranger's.

    Raises OSError for what is no file or too large, UnicodeError, and TOMLDecodeError also for deep nesting.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe or a device does not end
        raise OSError(errno.EINVAL, "it is no file")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES:,} bytes")
    try:
        if max(line.count(b".") for line in data.split(b"\n")) > _MOST_DOTS:
            raise RecursionError
        return tomllib.loads(text_of(data))
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits is one as well
        raise tomllib.TOMLDecodeError(str(error)) from None


def take_over(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that a stranger may bring, and the names of the others.

    Tables are flattened before they are compared, so that `a.b`, `"a.b"` and `[a] b` are one name.
    """
    names = {path for name, value in values.items() for path in _paths(name, value)}
    allowed = names & SHAPES_REPORT
    return {name: value for name, value in values.items() if name in allowed}, sorted(names - allowed)


def _paths(name: str, value: Any) -> Iterator[str]:
    """Yield the dotted names of a value: its own, or those of all that is in a table."""
    open_tables = [(name, value)]
    while open_tables:
        path, inside = open_tables.pop()
        if isinstance(inside, Mapping) and inside:
            open_tables += [(f"{path}.{key}", one) for key, one in inside.items()]
        else:
            yield f"{path}." if isinstance(inside, Mapping) else path


def name_all(names: Iterable[str]) -> str:
    """Return names, which are a stranger's, as a short list for people."""
    listed = [" ".join(safe_text(name).split())[:_LONGEST_NAME] for name in names]
    more = len(listed) - _MOST_TOLD
    return ", ".join(listed[:_MOST_TOLD]) + (f" and {more} more" if more > 0 else "")
