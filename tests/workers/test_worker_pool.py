"""Work that does not end, swells or crashes costs itself alone: the next call is answered, and who waits can leave."""

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from deep_research import worker_pool
from deep_research.concurrency import OWNER
from deep_research.errors import ResearchError, Stopped, Unreadable, WorkTooLarge
from deep_research.worker_child import Limits
from deep_research.worker_pool import StopSwitch, call_in_worker, in_worker_thread, own_worker

_SHORT, _LONG = Limits(memory=300_000_000, cpu_seconds=1.0), Limits(memory=300_000_000, cpu_seconds=60.0)


def _call(name: str, *args: Any, returns: Any = str, limits: Limits = _LONG, **offered: Any) -> Any:
    return call_in_worker(f"tests.workers.hostile_work:{name}", *args, returns=returns, limits=limits, offered=offered)


@pytest.mark.parametrize("work", ["never_end", "die"])
def test_what_exceeds_its_limit_or_crashes_is_ended_and_the_next_call_is_answered(work: str) -> None:
    with pytest.raises(WorkTooLarge):
        _call(work, limits=_SHORT)
    assert _call("say", "x\ud800水") == "x\ud800水"


def test_memory_has_a_limit() -> None:
    with pytest.raises(WorkTooLarge, match="too much memory"):
        _call("swell")


def test_errors_of_ours_come_back_as_themselves_and_defects_with_their_name() -> None:
    with pytest.raises(Unreadable, match="no text in it"):
        _call("refuse", "no text in it")
    with pytest.raises(ResearchError, match="KeyError"):
        _call("break_down")


def test_a_process_is_kept_for_the_next_call_and_none_is_that_of_the_program() -> None:
    first, second = (_call("tell_process", returns=int) for _ in range(2))
    assert first == second != os.getpid()


def test_a_worker_asks_for_what_is_offered_and_for_nothing_else() -> None:
    assert _call("ask_twice", "double", returns=list[int], double=lambda n: 2 * n) == [2, 4]
    with pytest.raises(WorkTooLarge):
        _call("ask_twice", "delete_everything", returns=list[int], double=lambda n: 2 * n)


def test_what_a_worker_returns_is_checked() -> None:
    with pytest.raises(ValueError, match="valid integer"):
        _call("say", "no number", returns=int)


async def test_whoever_is_cancelled_ends_the_work_at_once_and_frees_its_worker() -> None:
    waiting = [asyncio.create_task(in_worker_thread(_call, "never_end")) for _ in range(worker_pool._PROCESSES + 2)]
    done, _ = await asyncio.wait(waiting, timeout=0.5)
    assert not done
    for task in waiting:
        task.cancel()
    done, _ = await asyncio.wait(waiting)
    assert all(task.cancelled() for task in done)
    # The limit of the cancelled calls lies further away than this.
    assert await asyncio.wait_for(in_worker_thread(_call, "say", "free"), 30) == "free"


async def test_an_owner_with_long_work_leaves_workers_to_others() -> None:
    def begin(owner: str, *call: str) -> asyncio.Task[Any]:
        owned = contextvars.copy_context()
        owned.run(OWNER.set, owner)
        return asyncio.create_task(in_worker_thread(_call, *call), context=owned)

    waiting = [begin("mallory", "never_end") for _ in range(10 * worker_pool._PROCESSES)]
    await asyncio.wait(waiting, timeout=0.5)
    assert await asyncio.wait_for(begin("anna", "say", "mine"), 30) == "mine"
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


def test_a_switch_ends_the_calls_of_a_thread_and_those_that_come_later() -> None:
    switch = StopSwitch()
    ended: list[BaseException] = []

    def work() -> None:
        with switch.governing():
            for _ in range(2):
                try:
                    _call("never_end")
                except Stopped as error:
                    ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not switch._workers:
        thread.join(0.01)
    switch.set()
    thread.join(30)
    assert len(ended) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.process
def test_a_forked_process_has_workers_of_its_own(tmp_path: Path) -> None:
    kept = _call("tell_process", returns=int)
    child = os.fork()
    if not child:
        (tmp_path / "worker").write_text(str(_call("tell_process", returns=int)))
        worker_pool._pools[-1].close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert int((tmp_path / "worker").read_text()) != kept == _call("tell_process", returns=int)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.process
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_ends_with_the_program_it_works_for(
    sign: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.workers.test_worker_pool import _call\n"
        "_call('tell_and_go_on', told=lambda n: Path(sys.argv[1]).write_text(str(n)))"
    )
    told = tmp_path / "process"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with subprocess.Popen([sys.executable, "-c", code, str(told)]) as program:
        while not (told.exists() and told.read_text()):
            assert program.poll() is None
            time.sleep(0.05)
        program.send_signal(sign)
    until = time.monotonic() + 30
    while Path(f"/proc/{told.read_text()}/cmdline").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{told.read_text()}/cmdline").exists()


def test_of_a_long_answer_little_is_in_memory_before_there_is_room_for_it() -> None:
    held = list[int]()
    with own_worker() as worker:
        worker.send("tests.workers.hostile_work:say", text := "x" * 40_000_000)
        tracemalloc.start()
        try:
            answer = worker.result(str, 60.0, take_room=lambda: held.append(tracemalloc.get_traced_memory()[1]))
        finally:
            tracemalloc.stop()
    assert answer == text
    (most,) = held
    assert most < 10_000_000
