"""A command that works on a text which was made to hold it up ends at once when the user says so."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import COMMAND, call

_UNIT = "The unit 7 has 7 kg. "


def _hear_interrupts() -> None:
    """Let Ctrl-C be heard also where what starts the tests ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _worker_of(process: "subprocess.Popen[bytes]") -> bool:
    """Tell whether the process has begun a worker."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return any("worker_child" in Path(f"/proc/{child}/cmdline").read_text() for child in children)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_check_that_is_held_up_hears_ctrl_c(tmp_path: Path) -> None:
    # So long a text may be worked on for a minute of computing.
    (tmp_path / "evidence.txt").write_text(_UNIT * 300_000)
    command = [COMMAND, "check", "--claim", (_UNIT * 190)[:4000], "--evidence", str(tmp_path / "evidence.txt")]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_hear_interrupts,  # noqa: PLW1509 - it calls the system alone
    ) as process:
        try:
            while not _worker_of(process):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
            assert b"Traceback" not in process.communicate()[0]
        finally:
            process.kill()


def test_a_claim_that_takes_too_long_to_judge_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "evidence.txt").write_text(_UNIT * 9_000)
    said = call("check", "--claim", (_UNIT * 190)[:4000], "--evidence", str(tmp_path / "evidence.txt"))
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("Error: The claim was not judged:")
    assert "Give a shorter claim" in said.err
    assert "Traceback" not in said.err
