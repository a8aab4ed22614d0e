"""Test a state folder against racing processes, full disks and clock jumps.

    python lab/home_faults.py        (as root on Linux; the clock needs Debian's libfaketime)

The command works without a model over four small notes. Each try must end with a report, or with one line that says what
is wrong, without a traceback and without a lost run: once the fault is gone, `resume` comes to the same report.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.cli.terminal import COMMAND
from tests.runs.running import engines

from deep_research.stores.run_folder import FolderRuns

QUESTION = "Which kinds of engines are there, and how do they differ?"
SIZES = (200, 400, 700, 1000, 1400, 2000, 3000)
"""Kilobytes of the full disks."""
_JUMPS = ("-3600", "+86400", "-86400", "+0", "-40000000")
_FAKETIME = next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)


class Trial:
    """The command over a state folder, and what was wrong about it."""

    def __init__(self, folder: Path) -> None:
        self.docs, self.folder = engines(folder / "docs"), folder
        self.failed = 0

    def start(self, home: Path, *words: str, **more: str) -> "subprocess.Popen[str]":
        """Start the command."""
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "DEEP_RESEARCH_HOME": str(home), **more}
        asked = words or (QUESTION, "--no-clarify", "-p", "finder", "--docs", str(self.docs))
        return subprocess.Popen(
            [str(COMMAND), *asked], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def tell(self, what: str, process: "subprocess.Popen[str]", *, good: bool) -> None:
        """Wait for the command and print its end; `good` tells if success was expected."""
        out, said = process.communicate(timeout=120)
        last = (said.strip().splitlines() or out.strip().splitlines() or [""])[-1]
        wrong = "Traceback" in said + out or (process.returncode == 0) != good
        self.failed += wrong
        print(f"{'WRONG' if wrong else 'ok   '} {what}: exit {process.returncode}: {last[:230]}", flush=True)

    def check(self, what: str, *, right: bool) -> None:
        """Print whether something holds."""
        self.failed += not right
        print(f"{'ok   ' if right else 'WRONG'} {what}", flush=True)


@contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    """Give a file system in memory."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def two_processes(trial: Trial) -> None:
    """Two questions at one folder at a time; then two processes at one run."""
    home = trial.folder / "shared"
    for number, process in enumerate([trial.start(home) for _ in range(3)]):
        trial.tell(f"three processes on one folder, number {number}", process, good=True)
    trial.check(
        "three runs are there, with reports", right=[r.status for r in FolderRuns(home).list()] == ["finished"] * 3
    )
    record = FolderRuns(home).list()[0]
    store = FolderRuns(home).store(record.run_id)
    store.save(record.model_copy(update={"status": "stopped"}))
    with store.held():
        trial.tell("a run that another process carries out", trial.start(home, "resume", record.run_id), good=False)
        trial.tell("its deletion meanwhile", trial.start(home, "delete", record.run_id, "--yes"), good=False)
    trial.tell("the same run afterwards", trial.start(home, "resume", record.run_id), good=True)


def full_disk(trial: Trial) -> None:
    """Fill the disk at different moments, then free space and continue the run."""
    for size in SIZES:
        with mounted(trial.folder / f"full{size}", f"size={size}k,mode=700") as home:
            trial.tell(f"a disk of {size} kB", trial.start(home), good=False)
            subprocess.run(["mount", "-o", "remount,size=100m", str(home)], check=True)
            if runs := FolderRuns(home).list():
                trial.tell("  and with room, resumed", trial.start(home, "resume", runs[0].run_id), good=True)
            else:
                trial.tell("  and with room, asked again", trial.start(home), good=True)


def read_only(trial: Trial) -> None:
    """A folder that may only be read: runs can be looked at, and none begun."""
    with mounted(trial.folder / "readonly", "size=100m,mode=700") as home:
        trial.tell("a run", trial.start(home), good=True)
        run_id = FolderRuns(home).list()[0].run_id
        subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
        trial.tell("a read-only folder: a new run", trial.start(home), good=False)
        trial.tell("a read-only folder: list", trial.start(home, "list"), good=True)
        trial.tell("a read-only folder: show", trial.start(home, "show", run_id), good=True)
        subprocess.run(["mount", "-o", "remount,rw", str(home)], check=True)


def jumping_clock(trial: Trial) -> None:
    """A clock that goes back an hour, on a day, back a year while a run goes on."""
    if _FAKETIME is None:
        print("      clock: not tried, there is no libfaketime")
        return
    home, jump = trial.folder / "clock", trial.folder / "jump"
    jump.write_text("+0")
    faked = {
        "LD_PRELOAD": str(_FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(jump),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    process = trial.start(home, **faked)
    jumps = 0
    while process.poll() is None:
        jump.write_text(_JUMPS[jumps % len(_JUMPS)])
        jumps += 1
        time.sleep(0.15)
    trial.tell(f"a clock that jumped {jumps} times", process, good=True)
    store = FolderRuns(home).store(FolderRuns(home).list()[0].run_id)
    events = store.read_events()
    trial.check("its events have no holes", right=[e.number for e in events] == list(range(1, len(events) + 1)))
    trial.check(
        "their seconds never go back",
        right=all(a.seconds <= b.seconds for a, b in pairwise(events)),
    )
    trial.tell("its replay", trial.start(home, "replay", store.run_id), good=True)


def main() -> int:
    """Try everything; return 1 when something was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        two_processes(trial)
        full_disk(trial)
        read_only(trial)
        jumping_clock(trial)
    print(f"{trial.failed} wrong")
    return 1 if trial.failed else 0


if __name__ == "__main__":
    sys.exit(main())
