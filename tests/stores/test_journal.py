"""The journal under cancellation: a call that was cancelled is not kept, and whoever else waits for it makes it."""

import asyncio
from pathlib import Path

import pytest

from deep_research.errors import ModelError
from deep_research.safe_text import register_secrets
from deep_research.stores.journal import SqliteJournal


async def test_b14_who_waits_for_a_call_that_is_cancelled_makes_it(tmp_path: Path) -> None:
    journal, begun = SqliteJournal(tmp_path / "journal.db"), asyncio.Event()

    async def never() -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    async def answer() -> str:
        return "answer"

    owner = asyncio.create_task(journal.call("search", "q", never))
    await begun.wait()
    async with asyncio.TaskGroup() as group:
        waiters = [group.create_task(journal.call("search", "q", answer)) for _ in range(2)]
        await asyncio.sleep(0)
        owner.cancel()
    assert sorted(waiter.result() for waiter in waiters) == [("answer", False), ("answer", True)]
    assert owner.cancelled()
    assert journal.count("search") == 1
    journal.close()


async def test_b14_a_waiter_that_is_cancelled_leaves_the_call_to_the_others(tmp_path: Path) -> None:
    journal, begun, go_on = SqliteJournal(tmp_path / "journal.db"), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        begun.set()
        await go_on.wait()
        return "answer"

    owner = asyncio.create_task(journal.call("search", "q", slow))
    await begun.wait()
    waiter = asyncio.create_task(journal.call("search", "q", slow))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    go_on.set()
    assert await owner == ("answer", False)
    journal.close()


async def test_a_key_that_comes_back_is_not_kept(tmp_path: Path) -> None:
    register_secrets([key := "sk-returned-to-the-journal"])
    journal = SqliteJournal(tmp_path / "journal.db")

    async def answer() -> str:
        return f'{{"request_id": "{key}"}}'

    async def fail() -> str:
        raise ModelError("no", request_id=key)

    await journal.call("model", "a", answer)
    with pytest.raises(ModelError):
        await journal.call("model", "b", fail)
    kept = [*journal.answers("model"), *(note.answer for note in journal.all_notes())]
    assert len(kept) == 2
    assert not any(key in row for row in kept)
