"""The command as a user runs it: a process of its own, with its output, exit code and state folder."""

import io
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deep_research.cli.main import run

COMMAND = Path(sys.executable).with_name("deep-research")
DEADLINE = 90.0


@dataclass
class Said:
    """What a finished command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON value it must be."""
        return json.loads(self.out)

    @property
    def run(self) -> str:
        """The id of the run that was started or resumed."""
        line = next(line for line in self.err.splitlines() if " run " in f" {line}" and "reasoner:" in line)
        return line.split("run ", 1)[1].split()[0]


def told(*arguments: str, stdin: str | bytes = "", env: dict[str, str] | None = None) -> Said:
    """Run the command in this process: what a start of its own would add is seen by the tests that use `call`."""
    given = stdin if isinstance(stdin, bytes) else stdin.encode()
    with pytest.MonkeyPatch.context() as patch, io.TextIOWrapper(io.BytesIO(given), "utf-8") as read:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
        patch.setattr(sys, "stdin", read)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        with redirect_stdout(out), redirect_stderr(err):
            code = run(list(arguments))
        for stream in (out, err):
            stream.flush()
        return Said(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def call(
    *arguments: str | bytes,
    stdin: str | bytes = "",
    env: dict[str, str] | None = None,
    module: bool = False,
    max_file_bytes: int | None = None,
    stdout: Any = subprocess.PIPE,
) -> Said:
    """Run the command to its end. `max_file_bytes` stands for a disk that is full at that size."""
    start: Sequence[str | bytes] = [sys.executable, "-m", "deep_research"] if module else [str(COMMAND)]

    def limit() -> None:
        if max_file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_bytes, max_file_bytes))

    done = subprocess.run(
        [*start, *arguments],
        input=stdin if isinstance(stdin, bytes) else stdin.encode(),
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})},  # noqa: TID251 - the child sees what the test was given
        timeout=DEADLINE,
        preexec_fn=limit,
        check=False,
    )
    return Said(done.returncode, (done.stdout or b"").decode(errors="replace"), done.stderr.decode(errors="replace"))


def stop_at(mark: str, sign: signal.Signals, *arguments: str) -> Said:
    """Run the command, send it `sign` when it says `mark` on standard error, and wait for its end."""
    with signalled_at(mark, sign, *arguments) as (process, lines, more):
        lines.extend(more)
        out, _ = process.communicate(timeout=DEADLINE)
    return Said(process.returncode, out.decode(), "".join(lines))


@contextmanager
def signalled_at(
    mark: str, sign: signal.Signals, *arguments: str
) -> Iterator[tuple["subprocess.Popen[bytes]", list[str], Iterable[str]]]:
    """Run the command and send it `sign` when it says `mark`; give the process, what it said, and what it goes on to
    say. Whatever is left of it at the end of the block is killed.

    Its standard error is a socket that holds a few lines only: the command cannot run ahead of us by
    more than those, so the signal always arrives while it works.
    """
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    ours.settimeout(DEADLINE)
    lines: list[str] = []
    with ours, theirs:
        process = subprocess.Popen(
            [str(COMMAND), *arguments], stdout=subprocess.PIPE, stderr=theirs.fileno(), stdin=subprocess.DEVNULL
        )
        theirs.close()
        with process, ours.makefile("r", encoding="utf-8") as stream:
            try:
                for line in stream:
                    lines.append(line)
                    if mark in line:
                        process.send_signal(sign)
                        break
                else:
                    raise AssertionError(f"it never said {mark!r}:\n{''.join(lines)}")
                yield process, lines, stream
            finally:
                process.kill()


def shows_no_traceback(said: Said) -> bool:
    """Whether an error was explained instead of dumped."""
    return "Traceback" not in said.err + said.out and 'File "' not in said.err
