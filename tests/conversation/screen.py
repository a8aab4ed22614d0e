"""A terminal with somebody at it: the command on a pseudo-terminal of its own, what it shows, what is typed."""

import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path

from tests.cli.terminal import COMMAND, DEADLINE

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][0-9A-B]?")
PROMPT = "\n> "
"""How the conversation asks for a line."""


class Screen:
    """What a command shows, as it comes; `raw` is all of it, `plain` without control sequences."""

    def __init__(self, process: "subprocess.Popen[bytes]", terminal: int) -> None:
        self._process, self._terminal = process, terminal
        self._seen = 0
        self._bytes = b""

    @property
    def raw(self) -> str:
        return self._bytes.decode("utf-8", "replace")

    @property
    def plain(self) -> str:
        return _ESCAPES.sub("", self.raw).replace("\r", "")

    def until(self, text: str) -> str:
        """Wait until `text` is shown after what was waited for before; return what came up to it."""
        while (place := self.plain.find(text, self._seen)) < 0:
            assert self._read(), f"it ended without {text!r}:\n{self.plain[self._seen :]}"
        begun, self._seen = self._seen, place + len(text)
        return self.plain[begun : self._seen]

    def type(self, text: str | bytes) -> None:
        """Type; what is longer than the terminal takes at once follows as it is read."""
        left = text.encode() if isinstance(text, str) else text
        if left.startswith(b"\x03"):
            self._rests()
        while left:
            left = left[os.write(self._terminal, left[:512]) :]
            while select.select([self._terminal], [], [], 0)[0] and self._read():
                pass

    def say(self, line: str | bytes) -> None:
        """Wait for the prompt and type a line."""
        self.until(PROMPT)
        self.type(line if isinstance(line, bytes) else line.encode())
        self.type("\n")

    def _rests(self) -> None:
        """Wait until the command sleeps for input: Python loses a Ctrl-C that comes while it handles other keys."""
        waits, end = Path(f"/proc/{self._process.pid}/wchan"), time.monotonic() + 5
        with suppress(OSError):
            while time.monotonic() < end and not any(word in waits.read_text() for word in ("poll", "select")):
                time.sleep(0.01)

    def ends(self) -> int:
        """Wait for the end; return the exit code."""
        while self._read():
            pass
        return self._process.wait(DEADLINE)

    def kill(self, sign: int) -> None:
        """Send a signal to the command."""
        self._process.send_signal(sign)
        self._process.wait(DEADLINE)

    def attributes(self) -> list[object]:
        """The modes of the terminal (echo, line editing, …)."""
        return termios.tcgetattr(self._terminal)[:4]

    def _read(self) -> bool:
        ready = select.select([self._terminal], [], [], DEADLINE)[0]
        assert ready, f"nothing more came:\n{self.plain[self._seen :]}"
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # what Linux says when the other side is gone
            return False
        self._bytes += data
        return bool(data)


@contextmanager
def at_terminal(*arguments: str, columns: int = 100, **environment: str) -> Iterator[Screen]:
    """The command at a terminal of its own, which Ctrl-C reaches; what is left of it at the end is killed."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    process = subprocess.Popen(
        [str(COMMAND), *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "PAGER": "cat", **environment},  # noqa: TID251 - the child sees what the test was given
        start_new_session=True,
        preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - a system call, no lock
    )
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        process.kill()
        process.wait(DEADLINE)
        os.close(ours)
