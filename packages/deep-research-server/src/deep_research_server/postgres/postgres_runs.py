"""Runs in PostgreSQL, each held by one process with a renewed lease and a fence.

A process that dies lets its lease run out; the next one raises the fence, and whatever the first one still writes is
refused. So a run is never carried out twice at once, also when a process was only asleep.
"""

import hashlib
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from deep_research.data.brief import Steer
from deep_research.data.result import FollowUp, FollowUpHead, Report
from deep_research.errors import RunBusy, RunNotFound, StoreError
from deep_research.events import Event, event_adapter
from deep_research.safe_text import safe_noun
from deep_research.settings import snapshots_url
from deep_research.state_files import SPOOL
from deep_research.stores import run_store
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import Checkpoints, Guard, Kept, RunHead, RunRecord, RunStores
from deep_research_server.postgres.postgres_database import Database, database_at
from deep_research_server.postgres.postgres_journal import AnswerSpool, PostgresJournal, delete_spools
from deep_research_server.postgres.postgres_library import PostgresLibrary, objects_with, text_objects

LEASE_SECONDS = 30
"""After so long a process that has not renewed its lease counts as dead."""
_RENEW_SECONDS = 5.0
_KEPT = """
SELECT count(*), coalesce(sum(pg_column_size(record) + coalesce(pg_column_size(result), 0)
  + (SELECT coalesce(sum(pg_column_size(request) + pg_column_size(answer)), 0) FROM deep_research.calls o
     WHERE o.run_id = r.run_id)
  + (SELECT coalesce(sum(pg_column_size(request) + pg_column_size(answer)), 0) FROM deep_research.notes o
     WHERE o.run_id = r.run_id)
  + (SELECT coalesce(sum(pg_column_size(line)), 0) FROM deep_research.events o WHERE o.run_id = r.run_id)
  + (SELECT coalesce(sum(pg_column_size(made)), 0) FROM deep_research.follow_ups o WHERE o.run_id = r.run_id)
  + (SELECT coalesce(sum(pg_column_size(passages) + coalesce(pg_column_size(body), 0)), 0)
     FROM deep_research.snapshots o JOIN deep_research.texts USING (sha256) WHERE o.run_id = r.run_id)
), 0) FROM deep_research.runs r WHERE owner = %s"""
"""Bytes as they are stored, compressed; a text that several runs have read counts for each."""
_BEING_TAKEN_IN = " being imported"
"""The owner of runs that are being imported: no owner's name begins with a space."""


def _machine() -> str:
    """Return this machine's name with a hash of its boot and process namespace."""
    told = b""
    with suppress(OSError):
        told = Path("/proc/sys/kernel/random/boot_id").read_bytes() + os.readlink("/proc/self/ns/pid").encode()
    return f"{socket.gethostname()}-{hashlib.sha256(told).hexdigest()[:8]}" if told else socket.gethostname()


_HOST = f"{_machine()} "


def _is_gone(holder: str) -> bool:
    """Return whether a holder is a process of this machine that runs no more."""
    number = holder.removeprefix(f"{_HOST}process ")
    try:
        if holder.startswith(_HOST) and number.isdecimal():
            os.kill(int(number), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


class PostgresRun:
    """What is kept of one run (`RunStore`)."""

    poll_seconds = 1.0

    def __init__(self, database: Database, run_id: str, spools: Path | None = None) -> None:
        """Open a run; `spools` is this machine's folder for unsaved answers."""
        self.run_id, self._spools = run_id, spools
        self.place = f"the database, run {run_id}"
        self.report_place = f"deep-research show {run_id}"
        self._database = database
        self._fence: int | None = None
        self._journals: list[PostgresJournal] = []

    def _check(self, connection: Any) -> None:
        """Fail the transaction with RunTakenOver if another process took over the run."""
        if self._fence is not None:
            connection.execute("SELECT deep_research.check_fence(%s, %s)", (self.run_id, self._fence))

    def _write(self, query: str, values: tuple[Any, ...], *, soon: bool = False) -> None:
        """Write in one round; `soon` does not wait for the server's disk."""
        self._database.write(self._check, (query, [values]), on_disk=not soon)

    def _keep_event(self, part: str, number: int, line: str) -> None:
        # The next call that is kept waits for the disk, and what was written before it is on the disk with it.
        query = "INSERT INTO deep_research.events VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
        self._write(query, (self.run_id, part, number, line), soon=True)

    def _one(self, column: str) -> Any:
        query = f"SELECT {column} FROM deep_research.runs WHERE run_id = %s"  # noqa: S608 - our own names
        rows = self._database.rows(query, (self.run_id,))
        return rows[0][0] if rows else None

    def exists(self) -> bool:
        return self._one("1") is not None

    def load(self) -> RunRecord:
        if (found := self._one("record")) is None:
            raise run_store.no_run(self.run_id)
        return RunRecord.model_validate_json(found)

    def head(self, begins: str) -> RunHead | None:
        """Return the head of the record that starts with `begins`; None if deleted."""
        with suppress(RunNotFound):
            return run_store.read_head(RunHead, begins, lambda: self.load().model_dump_json())
        return None

    def save(self, record: RunRecord) -> None:
        safe = safe_noun(record)
        query = "UPDATE deep_research.runs SET status = %s, record = %s WHERE run_id = %s"
        self._write(query, (safe.status, safe.model_dump_json(), self.run_id))

    def has_report(self) -> bool:
        return bool(self._one("result IS NOT NULL"))

    def save_result(self, report: Report) -> str:
        data = safe_noun(report).model_dump_json().encode("utf-8", "replace")
        self._write("UPDATE deep_research.runs SET result = %s WHERE run_id = %s", (data, self.run_id))
        return self.report_place

    def load_result(self) -> Report:
        if (found := self._one("result")) is None:
            raise run_store.no_report(self.run_id)
        return Report.model_validate_json(found)

    def open_library(self, shown: str | None = None) -> PostgresLibrary:
        return PostgresLibrary(self._database, self.run_id, self._check, text_objects(snapshots_url()), shown)

    def open_journal(self) -> PostgresJournal:
        spool = None
        if self._spools is not None and self._fence is not None:
            spool = AnswerSpool(self._spools, self.run_id, self._fence)
        journal = PostgresJournal(self._database, self.run_id, self._check, spool)
        if self._fence is not None:
            self._journals.append(journal)
        return journal

    def open_log(self, listener: Callable[[Event], None], *, part: str = "", seconds_before: float = 0.0) -> EventLog:
        keep = partial(self._keep_event, part)
        return EventLog(keep, self.read_events(part), listener, seconds_before=seconds_before)

    def read_events(self, part: str = "") -> list[Event]:
        return [event_adapter.validate_json(line) for line in self.tail_events(part).read()]

    def restore_events(self, events: Sequence[Event], part: str = "") -> None:
        for event in events:
            self._keep_event(part, event.number, event.model_dump_json())

    def tail_events(self, part: str = "") -> "_EventTail":
        return _EventTail(self._database, self.run_id, part)

    def checkpoints_at(self, part: str = "") -> Checkpoints:
        guard = Guard(self.run_id, self._fence, self._write_notes)
        return Checkpoints(self._database.url, f"{self.run_id}/{part}" if part else self.run_id, guard)

    def _write_notes(self) -> None:
        for journal in self._journals:
            journal.write_notes()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lease of the run, renewed while the block lasts. Raises RunBusy."""
        fence = self._take()
        self._fence = fence
        ended = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(fence, ended), name=f"lease-{self.run_id}", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            ended.set()
            renewing.join()
            self._fence = None
            self._journals.clear()
            query = "UPDATE deep_research.runs SET lease_until = '-infinity' WHERE run_id = %s AND fence = %s"
            with suppress(StoreError):
                self._database.execute(query, (self.run_id, fence))

    def _take(self) -> int:
        """Take a lease that has expired or whose process here is dead. Raises RunBusy."""
        query = f"""
        UPDATE deep_research.runs SET fence = fence + 1, holder = %s, lease_until = now() + '{LEASE_SECONDS} seconds'
        WHERE run_id = %s AND (lease_until < now() OR holder = %s) RETURNING fence"""  # noqa: S608 - our own number
        holder = self._one("holder") or ""
        values = (f"{_HOST}process {os.getpid()}", self.run_id, holder if _is_gone(holder) else None)
        taken = self._database.rows(query, values)
        if taken:
            return taken[0][0]
        self.load()
        raise run_store.busy_run(self.run_id, holder)

    def _renew(self, fence: int, ended: threading.Event) -> None:
        query = f"""
        UPDATE deep_research.runs SET lease_until = now() + '{LEASE_SECONDS} seconds'
        WHERE run_id = %s AND fence = %s"""  # noqa: S608 - our own number
        while not ended.wait(_RENEW_SECONDS):
            with suppress(StoreError):
                if not self._database.execute(query, (self.run_id, fence)):
                    return

    def is_held(self) -> bool:
        return bool(self._one("lease_until > now()"))

    def add_steer(self, steer: Steer) -> None:
        query = "INSERT INTO deep_research.steers (run_id, steer) VALUES (%s, %s)"
        self._database.execute(query, (self.run_id, steer.model_dump_json()))

    def read_steers(self) -> list[Steer]:
        query = "SELECT steer FROM deep_research.steers WHERE run_id = %s ORDER BY number"
        return [Steer.model_validate_json(steer) for (steer,) in self._database.rows(query, (self.run_id,))]

    def read_follow_ups(self) -> list[FollowUp]:
        query = "SELECT made FROM deep_research.follow_ups WHERE run_id = %s ORDER BY number"
        return [FollowUp.model_validate_json(made) for (made,) in self._database.rows(query, (self.run_id,))]

    def list_follow_ups(self) -> list[FollowUpHead]:
        query = f"""
        SELECT number, left(convert_from(made, 'UTF8'), {run_store.HEAD_CHARS}) FROM deep_research.follow_ups
        WHERE run_id = %s ORDER BY number"""  # noqa: S608 - our own number
        rows = self._database.rows(query, (self.run_id,))
        return [run_store.read_head(FollowUpHead, begins, partial(self._made, number)) for number, begins in rows]

    def read_follow_up(self, number: int) -> FollowUp | None:
        made = self._made(number)
        return FollowUp.model_validate_json(made) if made else None

    def _made(self, number: int) -> str:
        query = "SELECT made FROM deep_research.follow_ups WHERE run_id = %s AND number = %s"
        return "".join(made.decode() for (made,) in self._database.rows(query, (self.run_id, number)))

    def next_follow_up(self) -> int:
        query = "SELECT coalesce(max(number), 0) + 1 FROM deep_research.follow_ups WHERE run_id = %s"
        return self._database.rows(query, (self.run_id,))[0][0]

    def save_follow_up(self, made: FollowUp) -> str:
        query = """
        INSERT INTO deep_research.follow_ups (run_id, number, made) VALUES (%s, %s, %s)
        ON CONFLICT (run_id, number) DO UPDATE SET made = excluded.made"""
        data = safe_noun(made).model_dump_json().encode("utf-8", "replace")
        self._write(query, (self.run_id, made.number, data))
        return f"{self.report_place} --followup {made.number}"

    def delete(self) -> None:
        """Delete the run, its checkpoints, and the texts that no other run has read."""

        def delete(connection: Any) -> None:
            query = "SELECT lease_until >= now() FROM deep_research.runs WHERE run_id = %s FOR UPDATE"
            if (True,) in connection.execute(query, (self.run_id,)).fetchall():
                raise RunBusy(f"The run {self.run_id} is being carried out.", run_id=self.run_id)
            connection.execute("DELETE FROM deep_research.runs WHERE run_id = %s", (self.run_id,))
            unused = connection.execute("SELECT deleted FROM deep_research.delete_unused_texts()").fetchall()
            for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):  # langgraph's own
                if connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()[0] is not None:
                    by_thread = f"DELETE FROM {table} WHERE thread_id = %s OR starts_with(thread_id, %s)"  # noqa: S608
                    connection.execute(by_thread.encode(), (self.run_id, f"{self.run_id}/"))
            # Last, and while their rows are held: who reads the same text now puts it there again.
            for (sha256,) in unused:
                if sha256 is not None:
                    objects_with(sha256, text_objects(snapshots_url())).delete(sha256)

        self._database.run(delete)
        if self._spools is not None:
            delete_spools(self._spools, self.run_id)


class _EventTail:
    """Reads the events of a run while it goes on (`EventTail`)."""

    def __init__(self, database: Database, run_id: str, part: str) -> None:
        self.place = f"{run_id}/{part}"
        self._database, self._run_id, self._part, self._last = database, run_id, part, 0

    def read(self) -> list[bytes]:
        query = """
        SELECT number, line FROM deep_research.events WHERE run_id = %s AND part = %s AND number > %s ORDER BY number"""
        rows = self._database.rows(query, (self._run_id, self._part, self._last))
        self._last = rows[-1][0] if rows else self._last
        return [line.encode() for _, line in rows]


class PostgresRuns(RunStores):
    """An owner's runs in a database; the owner "" is the command line's user."""

    def __init__(self, url: str, owner: str = "", home: Path | None = None) -> None:
        """`home` is the state folder, for what lies on this machine."""
        self._database, self._owner = database_at(url), owner
        self._spools = home / SPOOL if home is not None else None

    def create(self, record: RunRecord) -> PostgresRun:
        safe = safe_noun(record).model_copy(update={"owner": record.owner or self._owner})
        query = "INSERT INTO deep_research.runs (run_id, owner, created, status, record) VALUES (%s, %s, %s, %s, %s)"
        self._database.execute(query, (safe.run_id, safe.owner, safe.created, safe.status, safe.model_dump_json()))
        return self.store(safe.run_id)

    @contextmanager
    def taking_in(self, record: RunRecord) -> Iterator[PostgresRun]:
        """See `RunStores.taking_in`: the run belongs to nobody until all of it is there."""
        left = """
        SELECT run_id FROM deep_research.runs WHERE owner = %s AND lease_until > '-infinity' AND lease_until < now()"""
        for (run_id,) in self._database.rows(left, (_BEING_TAKEN_IN,)):
            self.store(run_id).delete()
        store = self.create(record.model_copy(update={"owner": _BEING_TAKEN_IN}))
        try:
            with store.held():
                yield store
                owned = safe_noun(record.model_copy(update={"owner": self._owner}))
                query = "UPDATE deep_research.runs SET owner = %s, record = %s WHERE run_id = %s"
                self._database.execute(query, (self._owner, owned.model_dump_json(), record.run_id))
        except BaseException:
            store.delete()
            raise

    def store(self, run_id: str) -> PostgresRun:
        return PostgresRun(self._database, run_id, self._spools)

    def has(self, run_id: str) -> bool:
        query = "SELECT 1 FROM deep_research.runs WHERE run_id = %s AND owner = %s"
        return bool(self._database.rows(query, (run_id, self._owner)))

    def ids(self) -> Sequence[str]:
        query = "SELECT run_id FROM deep_research.runs WHERE owner = %s"
        return [run_id for (run_id,) in self._database.rows(query, (self._owner,))]

    def list(self) -> Sequence[RunHead]:
        query = f"""
        SELECT run_id, left(record, {run_store.HEAD_CHARS}) FROM deep_research.runs
        WHERE owner = %s ORDER BY created DESC, run_id DESC"""  # noqa: S608 - our own number
        rows = self._database.rows(query, (self._owner,))
        return [head for run_id, begins in rows if (head := self.store(run_id).head(begins)) is not None]

    def kept(self) -> Kept:
        ((runs, size),) = self._database.rows(_KEPT, (self._owner,))
        return Kept(runs, int(size))

    def is_free(self, run_id: str) -> bool:
        return not self.store(run_id).exists()
