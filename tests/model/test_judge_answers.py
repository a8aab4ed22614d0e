"""What becomes of a judge's answer that is cut off, which an answer on many statements may be."""

import asyncio
import re

import pytest

from deep_research.data import Claim, Document, Found, ModelAnswer, ModelRequest, ReasonerInfo, Role, Verdict
from deep_research.errors import MalformedOutput
from deep_research.reasoners.extractive.extractive_reasoner import ExtractiveReasoner
from deep_research.reasoners.model.model_reasoner import ModelReasoner
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.support.scripted_replies import dumps

PENDING = Verdict(kind="unverified", reason="open")


def _judged(count: int, *, most: int) -> tuple[list[Verdict], list[int]]:
    """Return the verdicts of a judge whose answer on more than `most` statements is cut off, and how many it was asked about
    each time. It refuses every statement that has a 7."""
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="k", title="Alpha engine", origin="pages"))
    library.add_snapshot(source.id, Document(text="The Alpha engine turns."), retrieved_at="")
    asked: list[int] = []

    async def complete(request: ModelRequest, role: Role) -> ModelAnswer:
        assert role == "judge"
        numbers = re.findall(r"^(\d+)\. .*engine (\d+) turns", request.messages[-1].text, re.MULTILINE)
        asked.append(len(numbers))
        failures = [
            {"number": int(n), "verdict": "unverified", "reason": "no", "instead": ""} for n, k in numbers if "7" in k
        ]
        text = dumps({"checked": len(numbers), "failures": failures})
        return ModelAnswer(text=text if len(numbers) <= most else text[:-9], model="scripted")

    reasoner = ModelReasoner(
        complete, info=ReasonerInfo(kind="model"), fallback=ExtractiveReasoner(), places=(), date="2026-01-01",
        max_context_tokens=100_000, compression_target_tokens=2_000, max_tool_calls=10, max_sections=5,
        max_clarification_rounds=3, retries=0, on_gap=lambda gap: None,
    )  # fmt: skip
    claims = [
        Claim(id=f"c{n}", section="S", text=f"Alpha engine {n} turns.", passages=("s1p1",), verdict=PENDING)
        for n in range(count)
    ]
    return list(asyncio.run(reasoner.judge(claims, library))), asked


def test_statements_whose_answer_was_cut_off_are_judged_in_halves() -> None:
    verdicts, asked = _judged(90, most=50)
    assert [n for n, verdict in enumerate(verdicts) if verdict.kind == "unverified"] == [
        n for n in range(90) if "7" in str(n)
    ]
    assert asked == [90, 45, 45]


def test_a_model_that_answers_nothing_usable_is_not_asked_on_and_on() -> None:
    with pytest.raises(MalformedOutput):
        _judged(90, most=0)
    with pytest.raises(MalformedOutput):
        _judged(20, most=0)
