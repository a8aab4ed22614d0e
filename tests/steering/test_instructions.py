"""The snapshot of what the user has said: replaced when the inbox is read, and by nothing else."""

import asyncio

import pytest

from deep_research.data import Section, Steer
from deep_research.events import Event, Steered
from deep_research.run_context.steering import Instructions, Interrupted, Steering


def _said(kind: str, text: str = "", section: str = "") -> Steer:
    return Steer.model_validate({"kind": kind, "text": text, "section": section, "id": f"{kind}-{section}{text}"})


class Inbox:
    """What was said so far, and how often it was read."""

    def __init__(self, *said: Steer) -> None:
        self.said, self.reads = list(said), 0
        self.events: list[Event] = []

    def read(self) -> list[Steer]:
        self.reads += 1
        return self.said


def _steering(inbox: Inbox) -> Steering:
    return Steering(inbox.read, inbox.events.append)


def test_the_inbox_is_read_by_refresh_alone() -> None:
    inbox = Inbox(_said("drop", section="B"), _said("remark", "Only boats."), _said("add", "what it is", "C"))
    steering = _steering(inbox)
    assert steering.now == Instructions()
    steering.refresh()
    before = steering.now
    assert before.kept([Section(title="A"), Section(title="B")]) == [Section(title="A")]
    assert before.remarks == ("Only boats.",)
    assert [s.title for s in before.added_to()] == ["C"]
    assert inbox.reads == 1
    inbox.said.append(_said("finish"))
    assert not steering.now.finishing
    steering.refresh()
    assert steering.now.finishing
    assert not before.finishing, "a snapshot never changes"
    assert inbox.reads == 2


def test_a_section_added_when_the_report_begins_is_late_and_a_remark_before_it_is_not() -> None:
    inbox = Inbox(_said("add", section="C"), _said("remark", "One."))
    steering = _steering(inbox)
    steering.close()
    inbox.said.append(_said("remark", "Two."))
    steering.refresh()
    late = {(e.section or e.text): e.late for e in inbox.events if isinstance(e, Steered)}
    assert late == {"C": True, "One.": False, "Two.": True}
    assert steering.now.changes().added == ()
    assert steering.now.remarks == ("One.",)


async def test_work_ends_when_the_snapshot_says_so() -> None:
    inbox = Inbox()
    steering = _steering(inbox)
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    waiting = asyncio.create_task(steering.unless_stopped("A", work()))
    await begun.wait()
    inbox.said.append(_said("drop", section="B"))
    steering.refresh()
    inbox.said.append(_said("drop", section="A"))
    assert not waiting.done()
    steering.refresh()
    with pytest.raises(Interrupted):
        await waiting
    with pytest.raises(Interrupted):
        await steering.unless_stopped("A", work(), finish_stops=False)
