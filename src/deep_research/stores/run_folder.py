"""A run on disk: one folder with its record, library, journal, checkpoints, events and result."""

import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from deep_research.data.brief import Asked, Message
from deep_research.data.noun import Noun
from deep_research.data.result import Report
from deep_research.errors import RunNotFound, StoreError
from deep_research.safe_text import safe_noun
from deep_research.state_files import RUNS, make_private, make_private_folder, open_private

RunStatus = Literal["running", "waiting", "finished", "failed", "stopped", "declined", "damaged"]
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class RunRecord(Noun):
    """What is known about a run without opening its stores; `settings` are the ones it began with.

    Of its MCP servers it keeps the names: what is started is decided by the settings in force when it goes on.
    """

    run_id: str
    question: str
    language: str
    status: RunStatus
    created: str
    docs: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)
    title: str = ""
    error: str = ""
    waiting_for: str = ""
    asked: Asked | None = None
    seconds: float = 0.0


class RunFolder:
    """The files of one run under `home/runs/`."""

    def __init__(self, home: Path, run_id: str) -> None:
        self.run_id = run_id
        self.path = home / RUNS / run_id
        self.library = self.path / "library.db"
        self.journal = self.path / "journal.db"
        self.checkpoints = self.path / "checkpoints.db"
        self.events = self.path / "events.jsonl"
        self.report = self.path / "report.md"
        self.result = self.path / "result.json"
        self.lock = self.path / "lock"
        self.steering = self.path / "steering.jsonl"
        self._record = self.path / "run.json"

    def create(self, record: RunRecord) -> None:
        """Make the folder with its record. Raises StoreError when the disk refuses."""
        try:
            make_private_folder(self.path)
            make_private(self.path.parent)
            make_private(self.path)
        except OSError as error:
            raise _refused(self.path, error) from error
        self.save(record)

    def save(self, record: RunRecord) -> None:
        """Replace the record in one step, so that a crash leaves the old one or the new one."""
        write_atomically(self._record, safe_noun(record).model_dump_json(indent=1))

    def load(self) -> RunRecord:
        """Return the record. Raises RunNotFound."""
        try:
            return RunRecord.model_validate_json(self._record.read_text("utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            message = f"There is no run {self.run_id!r}. `deep-research list` shows all runs."
            if self._record.exists():
                message = f"The run {self.run_id!r} is damaged: {str(self._record)!r} cannot be read."
                message += " What else there is of it lies in that folder." if self.report.exists() else ""
            raise RunNotFound(message, run_id=self.run_id) from error

    def load_or_describe(self) -> RunRecord:
        """Return the record, or one that says that it is damaged. Raises RunNotFound where there is none at all."""
        try:
            return self.load()
        except RunNotFound as error:
            if not self._record.exists():
                raise
            made = datetime.fromtimestamp(self._record.stat().st_mtime, UTC).isoformat(timespec="seconds")
            return RunRecord(
                run_id=self.run_id, question="", language="", status="damaged", created=made, error=error.message
            )

    def save_result(self, report: Report) -> None:
        """Write the result for programs and the report for people."""
        report = safe_noun(report)
        write_atomically(self.result, report.model_dump_json(indent=1))
        write_atomically(self.report, report.report)

    def load_result(self) -> Report:
        """Return the result. Raises RunNotFound when the run has none yet."""
        try:
            return Report.model_validate_json(self.result.read_text("utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            message = f"The run {self.run_id!r} has no report yet. Go on with: deep-research resume {self.run_id}"
            raise RunNotFound(message, run_id=self.run_id) from error


def new_run_id(home: Path, *, wanted: str = "", now: datetime | None = None) -> str:
    """Return an id that no run has: `wanted` when it is free and fit for a folder name, else a dated one."""
    if _RUN_ID.fullmatch(wanted) and not (home / RUNS / wanted).exists():
        return wanted
    moment = (now or datetime.now(UTC)).strftime("%Y%m%d-%H%M%S")
    return f"{moment}-{secrets.token_hex(2)}"


def open_run(home: Path, run_id: str) -> RunFolder:
    """Return the folder of an earlier run; `run_id` may be shortened as long as it is unique.

    Raises RunNotFound for an unknown or ambiguous id.
    """
    matches = [r.run_id for r in list_runs(home) if r.run_id == run_id] or [
        r.run_id for r in list_runs(home) if run_id and run_id in r.run_id
    ]
    if len(matches) != 1:
        why = f"{run_id!r} fits {len(matches)} runs" if matches else f"There is no run {run_id!r}"
        raise RunNotFound(f"{why}. `deep-research list` shows all runs.", run_id=run_id)
    return RunFolder(home, matches[0])


def list_runs(home: Path) -> Sequence[RunRecord]:
    """Return the records of all runs, newest first, damaged ones too; folders that hold no run are passed over."""
    records: list[RunRecord] = []
    folder = home / RUNS
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(RunNotFound, OSError):
            if _RUN_ID.fullmatch(path.name):
                records.append(RunFolder(home, path.name).load_or_describe())
    return sorted(records, key=lambda r: (r.created, r.run_id), reverse=True)


def write_atomically(path: Path, text: str, *, private: bool = True) -> None:
    """Write `text` to `path` in one step, for its owner alone if `private`. Raises StoreError when the disk refuses."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with (
            open_private(temporary, "w") if private else temporary.open("w", encoding="utf-8", errors="replace") as file
        ):
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _refused(path, error) from error


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path` in one step. Raises StoreError when the disk refuses."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"Cannot write {str(path)!r}: {error.strerror or error}. Check the disk and the rights.", path=str(path)
    )
