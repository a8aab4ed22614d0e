"""A model reads a page for its section: all of it, in a bounded number of calls, and only ids that are there count."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

from deep_research.data import Brief, Document, Found, Gap, ModelAnswer, ModelRequest, ReasonerInfo, Role, Section
from deep_research.errors import ContextTooLong, LimitReached, ProviderDown
from deep_research.reasoners.extractive.extractive_reasoner import ExtractiveReasoner
from deep_research.reasoners.model.model_reasoner import ModelReasoner
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.support.scripted_replies import dumps

SECTION = Section(title="Dock 700", description="How often the Alpha engine turns at dock 700.")
BRIEF = Brief(title="Alpha engine", objective="Alpha engine", sections=(SECTION,))
_ID = re.compile(r'<passage id="([^"]+)"')
Answers = Callable[[str], Any]
"""Answers a prompt with the ids it names, or raises."""


def _library(lines: int) -> SqliteLibrary:
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="k", title="Alpha engine", origin="pages"))
    said = "At dock {n} the Alpha engine was measured in rain and in calm weather, and turned {n} times a minute."
    text = "\n\n".join(said.format(n=n) for n in range(lines))
    library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    return library


def _read(
    library: SqliteLibrary, answers: Answers, *, budget: int = 2_000, depth: str = "deep"
) -> tuple[list[str], list[str], list[Gap]]:
    """What is named, the prompts, and the gaps."""
    prompts: list[str] = []
    gaps: list[Gap] = []

    async def complete(request: ModelRequest, role: Role) -> ModelAnswer:
        assert role == "read"
        prompts.append(request.messages[-1].text)
        return ModelAnswer(text=dumps({"relevant": answers(prompts[-1])}), model="scripted")

    reasoner = ModelReasoner(
        complete, info=ReasonerInfo(kind="model"), fallback=ExtractiveReasoner(), places=(), date="2026-01-01",
        max_context_tokens=8_000, compression_target_tokens=budget, max_tool_calls=10, max_sections=5,
        max_clarification_rounds=3, retries=0, on_gap=gaps.append, depth=depth,
    )  # fmt: skip
    passages = library.passages("s1")
    return list(asyncio.run(reasoner.read_page(SECTION, BRIEF, passages, library))), prompts, gaps


def test_a_page_of_one_part_is_one_call_and_made_up_ids_are_dropped() -> None:
    library = _library(20)
    named, prompts, gaps = _read(library, lambda _: ["[s1p2]", "s99p1", "s1p1", "s1p2"])
    assert named == ["s1p2", "s1p1"]
    assert (len(prompts), gaps) == (1, [])
    assert all(passage.text.strip() in prompts[0] for passage in library.passages("s1"))


def test_of_a_short_page_no_model_chooses_except_in_depth() -> None:
    library = _library(20)
    named, prompts, gaps = _read(library, lambda _: ["s1p1"], depth="standard")
    assert (prompts, gaps) == ([], [])
    assert {passage.id for passage in library.passages("s1")} >= {*named} != set()


def test_a_longer_page_is_read_to_its_end_and_the_best_of_each_part_comes_first() -> None:
    library = _library(200)
    parts = iter((["s1p1", "s1p2"], ["s1p9999"], ["s1p30"], []))
    named, prompts, _ = _read(library, lambda _: list(next(parts)))
    assert 2 <= len(prompts) <= 4
    shown = "\n".join(prompts)
    assert all(passage.text.strip() in shown for passage in library.passages("s1"))
    assert named[0] == "s1p1"
    assert "s1p9999" not in named


def test_what_the_parts_of_a_page_name_first_comes_first() -> None:
    library = _library(200)
    named, prompts, _ = _read(library, lambda prompt: re.findall(r'id="(s1p\d+)"', prompt)[-2:])
    ids = [re.findall(r'id="(s1p\d+)"', prompt)[-2:] for prompt in prompts]
    assert {*named[: len(ids)]} == {first for first, _second in ids}
    assert {*named} == {key for pair in ids for key in pair}


def test_of_a_very_long_page_what_has_the_words_of_the_section_is_read_wherever_it_stands() -> None:
    library = _library(800)
    wanted = next(p.id for p in library.passages("s1") if "dock 700 " in p.text)
    _, prompts, _ = _read(library, lambda _: [])
    assert len(prompts) == 4
    assert any(f'id="{wanted}"' in prompt for prompt in prompts)


def test_at_the_usual_depth_one_part_holds_what_has_the_words_of_the_section() -> None:
    library = _library(800)
    wanted = next(p.id for p in library.passages("s1") if "dock 700 " in p.text)
    _, prompts, _ = _read(library, lambda _: [], depth="standard")
    assert len(prompts) == 1
    assert f'id="{wanted}"' in prompts[0]


def _raising(error: Exception) -> Answers:
    def answers(_prompt: str) -> Any:
        raise error

    return answers


def test_a_model_that_fails_leaves_a_gap_and_the_passages_by_their_words() -> None:
    library = _library(20)
    for error in (ProviderDown("It is away."), LimitReached("It is spent.", kind="usd", used=1, limit=1)):
        named, _, gaps = _read(library, _raising(error))
        assert set(named) <= {passage.id for passage in library.passages("s1")}
        assert named
        assert [gap.what for gap in gaps] == ["reading: Dock 700"]


def test_a_part_that_fails_costs_only_itself() -> None:
    failing = iter((True, False, False, False))

    def answers(prompt: str) -> list[str]:
        if next(failing):
            raise ProviderDown("It is away.")
        return _ID.findall(prompt)[:1]

    named, prompts, gaps = _read(_library(200), answers)
    assert len(named) == len(prompts) - 1 > 0
    assert ["A part of a page was not read" in gap.why for gap in gaps] == [True]


def test_a_part_that_is_too_long_for_the_model_is_read_in_halves() -> None:
    def answers(prompt: str) -> list[str]:
        if len(_ID.findall(prompt)) > 2:
            raise ContextTooLong("Too long.")
        return _ID.findall(prompt)

    library = _library(40)
    named, _, gaps = _read(library, answers, budget=4_000)
    assert named == [passage.id for passage in library.passages("s1")]
    assert gaps == []
