"""Texts that are checked side by side are judged in one call, in a fixed order, and none waits for one that has ended."""

import asyncio
from collections.abc import Sequence

import pytest

from deep_research.data import Claim, Verdict
from deep_research.errors import ProviderDown
from deep_research.ports import Library
from deep_research.steps.judging_together import JudgingTogether
from deep_research.stores.sqlite_library import SqliteLibrary

LIBRARY = SqliteLibrary(":memory:")


def statement(text: str) -> Claim:
    return Claim(id=text, section="", text=text, passages=(), verdict=Verdict(kind="unverified", reason=""))


class Heard:
    """A judge that finds every statement supported, and says why by its text."""

    def __init__(self, error: Exception | None = None, loses: int = 0, at: str = "") -> None:
        """`at` is a statement whose call fails; without it all do."""
        self.calls: list[list[str]] = []
        self._error, self._loses, self._at = error, loses, at

    async def __call__(self, claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        self.calls.append([claim.text for claim in claims])
        if self._error is not None and self._at in ("", *self.calls[-1]):
            raise self._error
        return [Verdict(kind="supported", reason=claim.text) for claim in claims][self._loses :]


async def checks(judge: Heard, texts: Sequence[Sequence[str]], order: Sequence[int]) -> list[list[str] | Exception]:
    """Let checks ask in `order`; one without texts ends without asking. Return the reasons each was given."""
    together = JudgingTogether(judge, len(texts))
    turns = [asyncio.Event() for _ in texts]

    async def check(number: int) -> list[str]:
        with together.check(number) as ask:
            await turns[number].wait()
            if not texts[number]:
                return []
            return [verdict.reason for verdict in await ask([statement(text) for text in texts[number]], LIBRARY)]

    async def one_after_the_other() -> None:
        for number in order:
            turns[number].set()
            await asyncio.sleep(0)

    running = [asyncio.create_task(check(number)) for number in range(len(texts))]
    await one_after_the_other()
    done, waiting = await asyncio.wait(running, timeout=10)
    assert not waiting
    return [
        error if isinstance(error := task.exception(), Exception) else task.result() for task in running if task in done
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_one_call_has_all_statements_in_the_order_of_the_checks(order: tuple[int, ...]) -> None:
    judge = Heard()
    told = asyncio.run(checks(judge, [["a", "b"], [], ["c"]], order))
    assert judge.calls == [["a", "b", "c"]]
    assert told == [["a", "b"], [], ["c"]]


def test_many_statements_go_in_several_calls() -> None:
    judge = Heard()
    many = [[f"{number}" for number in range(150)], [f"{number}" for number in range(150, 300)]]
    assert asyncio.run(checks(judge, many, (0, 1))) == many
    assert [len(call) for call in judge.calls] == [150, 150]


def test_a_failure_reaches_every_check_and_a_short_answer_speaks_for_none() -> None:
    error = ProviderDown("away")
    judge = Heard(error)
    assert asyncio.run(checks(judge, [["a"], ["b"]], (0, 1))) == [error, error]
    assert len(judge.calls) == 1
    assert asyncio.run(checks(Heard(loses=1), [["a"], ["b"]], (1, 0))) == [[], []]


def test_a_call_that_fails_costs_only_the_checks_that_had_a_part_in_it() -> None:
    error = ProviderDown("away")
    many = [[f"{number}" for number in range(150)], [f"{number}" for number in range(150, 300)]]
    assert asyncio.run(checks(Heard(error, at="199"), many, (0, 1))) == [many[0], error]
