"""Reading one file named on the command line, through the readers."""

import sys
from pathlib import Path

from deep_research.errors import ConfigError
from deep_research.registry import reader_for


def read_evidence(name: str) -> str:
    """Return the text of the file `name` (- for standard input). Raises ConfigError, Unreadable."""
    if name == "-":
        return sys.stdin.read()
    path = Path(name).expanduser()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"Cannot read {name!r}: {error.strerror or error}.", setting="evidence", value=name
        ) from error
    reader = reader_for(path.name, data[:4096])
    if reader is None:
        raise ConfigError(f"{name!r} is of no format that is read.", setting="evidence", value=name)
    return reader.read(data, name=path.name).text
