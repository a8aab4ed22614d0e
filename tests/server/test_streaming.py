"""The report is seen while it is written: its pieces reach everybody who looks on, and no log keeps them."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deep_research import api
from deep_research.events import Event, ReportPiece, ReportReady, Revised, RunStarted, StageStarted, Verified
from deep_research.stores.run_store import RunStore
from tests.server.serving import TIMEOUT, Served, client, events_of, followed, serving_runs
from tests.support.made_reports import RUN_ID, make_report, save_run

WORDS = [f"word{n} " for n in range(40)]


class Writer:
    """Carries a run out as far as others see it: it writes, waits for `go` after each step, and hands the report over."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self.steps = [threading.Event() for _ in range(3)]
        self.written = threading.Event()

    async def __call__(self, listener: Callable[[Event], None]) -> None:
        log = self._store.open_log(listener)
        told = {"run_id": RUN_ID, "question": "Which engine?", "language": "en", "reasoner": "model", "sources": ()}
        log.emit(RunStarted(**told))
        log.emit(StageStarted(stage="report"))
        log.emit(ReportPiece(text="# Draft\n\n"))
        for word in WORDS:
            log.emit(ReportPiece(text=word))
            await asyncio.sleep(0)
        self.written.set()
        await asyncio.to_thread(self.steps[0].wait, TIMEOUT)
        log.emit(Verified(statements=12, problems=3, round=1))
        await asyncio.to_thread(self.steps[1].wait, TIMEOUT)
        log.emit(Revised(edits=2, failed=1))
        await asyncio.to_thread(self.steps[2].wait, TIMEOUT)
        self._store.save_result(make_report())
        log.emit(ReportReady(title="Engines compared", path="", claims=12, references=2, gaps=1))
        log.close()
        self._store.save(self._store.load().model_copy(update={"status": "finished"}))


@contextmanager
def writing(home: Path) -> Iterator[tuple[Served, Writer]]:
    """Give a server that carries out a run of a writer."""
    store = save_run(home)
    (store.path / "result.json").unlink()  # type: ignore[attr-defined]
    (store.path / "events.jsonl").unlink()  # type: ignore[attr-defined]
    store.save(store.load().model_copy(update={"status": "running"}))
    writer = Writer(store)
    run = api.open_run(RUN_ID, home=home)
    with serving_runs(home) as served:

        async def begin() -> None:
            served.service._launch(run, writer)  # as the service begins a run, with a script for the research

        asyncio.run_coroutine_threadsafe(begin(), served.loop).result(TIMEOUT)
        try:
            assert writer.written.wait(TIMEOUT)
            yield served, writer
        finally:
            for step in writer.steps:
                step.set()


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["data"]["text"] for event in events if event["event"] == "report_piece")


def test_who_looks_on_gets_the_text_as_it_is_written_and_who_comes_late_all_of_it(own_state: Path) -> None:
    path = f"/api/v1/runs/{RUN_ID}/events"
    with writing(own_state) as (served, writer), client(served.address) as http:
        early: list[dict[str, Any]] = []
        for event in followed(http, path):
            early.append(event)
            if text_of(early).endswith(WORDS[-1]):
                break  # nobody has said yet that it is verified
        assert text_of(early) == "# Draft\n\n" + "".join(WORDS)
        assert [event["event"] for event in early][:2] == ["run_started", "stage_started"]
        writer.steps[0].set()
        writer.steps[1].set()
        late = []
        for event in followed(http, path, last=1):
            late.append(event)
            if event["event"] == "revised":
                break
        assert text_of(late) == text_of(early)
        kinds = [event["event"] for event in late]
        assert (
            kinds.index("stage_started")
            < kinds.index("report_piece")
            < kinds.index("verified")
            < kinds.index("revised")
        )
        assert {event.get("id") for event in late if event["event"] == "report_piece"} == {None}
        writer.steps[2].set()
        events = events_of(http, path)
        assert [event["id"] for event in events[:-1]] == ["1", "2", "3", "4", "5"]
    kept = api.open_run(RUN_ID, home=own_state).tail_events().read()
    assert len(kept) == 5
    assert not [line for line in kept if b"report_piece" in line]
