"""A process that dies between a node's stored writes and the next checkpoint leaves a run that can be resumed.

In that window nothing is left to be begun (`StateSnapshot.next` is empty), although the run has not ended: whether it
has is read from its own state.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Asked, Question
from deep_research.graph.run_graph import drive, open_checkpoints
from deep_research.graph.sqlite_checkpoints import ThreadedSqliteSaver
from deep_research.graph.workflows import compile_workflow
from tests.graph.harness import ENGINES, Bench, Planner, Shelf

TITLES = ("Alpha engine", "Beta engine")
QUESTION = "Which kinds of engines are there?"


class Killed(BaseException):
    """The process dies."""


class DyingSaver(ThreadedSqliteSaver):
    """Dies instead of storing a certain checkpoint of the whole graph, when all writes before it are stored."""

    def __init__(self, connection: Any, *, dies_at: int, **options: Any) -> None:
        super().__init__(connection, **options)
        self.stored, self.dies_at = 0, dies_at
        self._storing: set[asyncio.Future[None]] = set()

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        storing = asyncio.ensure_future(super().aput_writes(*args, **kwargs))
        self._storing.add(storing)
        await storing

    async def aput(self, config: Any, *args: Any, **kwargs: Any) -> Any:
        if not config["configurable"].get("checkpoint_ns"):
            if self.stored == self.dies_at:
                if self._storing:
                    await asyncio.wait(self._storing)
                raise Killed
            self.stored += 1
        return await super().aput(config, *args, **kwargs)


async def _unasked(_asked: Asked) -> str:
    return ""


def _start(workflow: str, question: str) -> dict[str, Any]:
    state = {"messages": [], "original_query": question, "question": Question(text=question, language="en")}
    own = {"understood": question, "assumptions": ()} if workflow == "follow_up" else {}
    return {**state, **own, "sections": []}


async def _sitting(folder: Path, workflow: str, question: str, *, dies_at: int | None = None) -> dict[str, Any] | None:
    """Work on the run in the folder; None when the process died."""
    settings = {} if workflow == "follow_up" else {"workflow": workflow}
    bench = Bench(folder, Shelf("shelf", **ENGINES), reasoner=Planner(*TITLES), **settings)
    try:
        async with open_checkpoints(folder / "checkpoints.db") as living:
            saver = living
            if dies_at is not None:
                assert isinstance(living, ThreadedSqliteSaver)
                saver = DyingSaver(living.conn, serde=living.serde, dies_at=dies_at)
            graph = compile_workflow(workflow, saver)
            return await drive(graph, bench.context, _start(workflow, question), ask=_unasked)
    except Killed:
        return None
    finally:
        bench.journal.close()
        bench.library.close()


async def _stop_everywhere(folder: Path, workflow: str, question: str) -> list[dict[str, Any]]:
    """The last states of runs that died before their first, second, … checkpoint and were resumed."""
    ended: list[dict[str, Any]] = []
    while True:
        own = folder / str(len(ended))
        if await _sitting(own, workflow, question, dies_at=len(ended)) is not None:
            return ended
        resumed = await _sitting(own, workflow, question)
        assert resumed is not None
        ended.append(resumed)


@pytest.mark.parametrize(
    ("workflow", "checkpoints"), [("sections", 9), ("loop", 7), ("supervisor", 7), ("follow_up", 5)]
)
def test_a_run_that_died_between_writes_and_checkpoint_comes_to_its_report(
    tmp_path: Path, workflow: str, checkpoints: int
) -> None:
    ended = asyncio.run(_stop_everywhere(tmp_path, workflow, QUESTION))
    assert len(ended) >= checkpoints
    for state in ended:
        assert "3,000 rpm" in state["report"].report


def test_a_run_that_has_ended_is_not_begun_again(tmp_path: Path) -> None:
    first = asyncio.run(_sitting(tmp_path, "sections", QUESTION))
    second = asyncio.run(_sitting(tmp_path, "sections", QUESTION))
    assert first is not None
    assert second is not None
    assert first["report"].report == second["report"].report
