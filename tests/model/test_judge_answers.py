"""What becomes of a judge's answer that is cut off, which an answer on many statements may be."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest

from deep_research.data import Claim, Document, Found, ModelAnswer, ModelRequest, ReasonerInfo, Role, Verdict
from deep_research.errors import MalformedOutput
from deep_research.reasoners.extractive.extractive_reasoner import ExtractiveReasoner
from deep_research.reasoners.model.model_reasoner import ModelReasoner
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.support.scripted_replies import dumps

Complete = Callable[[ModelRequest, Role], Awaitable[ModelAnswer]]
PENDING = Verdict(kind="unverified", reason="open")


def _judge(complete: Complete) -> ModelReasoner:
    return ModelReasoner(
        complete, info=ReasonerInfo(kind="model"), fallback=ExtractiveReasoner(), places=(), date="2026-01-01",
        max_context_tokens=100_000, compression_target_tokens=2_000, max_tool_calls=10, max_sections=5,
        max_clarification_rounds=3, retries=0, on_gap=lambda gap: None,
    )  # fmt: skip


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

    reasoner = _judge(complete)
    claims = [
        Claim(id=f"c{n}", section="S", text=f"Alpha engine {n} turns.", passages=("s1p1",), verdict=PENDING)
        for n in range(count)
    ]
    return list(asyncio.run(reasoner.judge(claims, library))), asked


SAID = "The Alpha engine turns. It is never stopped on Sundays, whatever the weather\nmay be. Nobody hears it."


@pytest.mark.parametrize(
    ("words", "carrier"),
    [
        ("It is never stopped on Sundays", "It is never stopped on Sundays, whatever the weather may be."),
        ("“whatever the weather may…”", "It is never stopped on Sundays, whatever the weather may be."),
        ("It is always stopped on Sundays", ""),
        ("It is", ""),
    ],
)
def test_a_judge_names_the_sentence_that_carries_a_fact_in_another_language(words: str, carrier: str) -> None:
    """Code looks it up in the passage; what is not there is not quoted. In the language of the passage it is not asked for."""
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="k", title="Alpha engine", origin="pages"))
    library.add_snapshot(source.id, Document(text=SAID), retrieved_at="")
    prompts: list[str] = []

    async def complete(request: ModelRequest, role: Role) -> ModelAnswer:
        prompts.append(request.messages[-1].text)
        answer = {"checked": 1, "failures": [], "carriers": [{"number": 1, "words": words}]}
        return ModelAnswer(text=dumps(answer), model="scripted")

    def judged(text: str) -> Verdict:
        claim = Claim(id="c1", section="S", text=text, passages=("s1p1",), verdict=PENDING)
        (verdict,) = asyncio.run(_judge(complete).judge([claim], library))
        return verdict

    assert judged("알파 엔진은 일요일에도 멈추지 않는다.").carrier == carrier
    judged("The Alpha engine is never stopped on Sundays.")
    assert ["carriers: for each FACT" in prompt for prompt in prompts] == [True, False]


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
