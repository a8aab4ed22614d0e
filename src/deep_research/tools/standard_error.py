"""What the program of an MCP server writes to its standard error: into the log, never onto the screen."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable

_LONGEST_LINE = 2_000
_log = logging.getLogger(__name__)


class StandardError:
    """A pipe for a program to write to, and a thread that reads it until nobody holds it any more."""

    def __init__(self, name: str, hide: Callable[[str], str]) -> None:
        reader, writer = os.pipe()
        self.file = os.fdopen(writer, "w")
        self._name = name
        self._hide = hide
        self._last = ""
        self._thread = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Let go of our end: from now on only the program holds it."""
        self.file.close()

    async def last_line(self) -> str:
        """Return what an ended program has said last."""
        self.release()
        await asyncio.to_thread(self._thread.join, 1)
        return self._last

    def _read(self, reader: int) -> None:
        with os.fdopen(reader, errors="replace") as lines:
            while line := lines.readline(_LONGEST_LINE):
                if said := self._hide(line.strip()):
                    self._last = said
                    _log.info("%s: %s", self._name, said)
