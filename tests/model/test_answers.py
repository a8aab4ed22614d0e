"""Answers of a model: what is thought before what is decided, and sections as they fit into a report."""

from typing import Any

import pytest

from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, Role
from deep_research.providers.openai_compatible import is_strict
from deep_research.providers.provider_catalog import open_model
from deep_research.reasoners.model import answer_schemas as answers
from deep_research.reasoners.model.answer_mapping import section_draft_of
from deep_research.reasoners.model.answer_schemas import Answer, SectionAnswer
from deep_research.reasoners.model.structured_calls import Asker, schema_of
from tests.providers.served import KEYS
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Reply

KINDS = [kind for kind in vars(answers).values() if isinstance(kind, type) and issubclass(kind, Answer)]
THOUGHT_FIRST = [
    ("DecideAnswer", "reasoning", "next_action"),
    ("AnalyzeAnswer", "reasoning", "query_type"),
    ("FailureAnswer", "reason", "verdict"),
    ("SectionReviewAnswer", "missing", "status"),
    ("SectionCoverage", "notes", "status"),
    ("ReviewAnswer", "reasoning", "is_sufficient"),
    ("ReviewAnswer", "section_coverage", "overall_score"),
]


@pytest.mark.parametrize(("kind", "thought", "decision"), THOUGHT_FIRST)
def test_what_a_decision_rests_on_is_written_before_it(kind: str, thought: str, decision: str) -> None:
    schema: dict[str, Any] = schema_of(getattr(answers, kind))
    fields = list(schema["properties"])
    assert fields.index(thought) < fields.index(decision)
    assert schema["required"] == fields


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_schema_is_of_the_strict_kind(kind: type[Answer]) -> None:
    assert is_strict(schema_of(kind))


def _content(text: str, title: str = "How it works") -> str:
    return section_draft_of(SectionAnswer(content=text, key_findings=[]), title).content


@pytest.mark.parametrize("heading", ["## How it works", "**How it works**", "# 2. How It Works:", "How it works"])
def test_a_heading_that_repeats_the_title_is_left_out(heading: str) -> None:
    assert _content(f"{heading}\n\nIt turns. [s1p1]") == "It turns. [s1p1]"


def test_other_headings_stay_below_the_section_s_own() -> None:
    text = "It turns. [s1p1]\n\n## Parts\n\nFour. [s1p2]\n\n```\n# a comment\n```\n\n#### Wheels\n\nTwo. [s1p3]"
    assert _content(text) == text.replace("## Parts", "### Parts")


def test_a_sentence_is_no_heading() -> None:
    assert _content("How it works is known. [s1p1]") == "How it works is known. [s1p1]"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_written_for_readers_of_the_code_is_not_sent_to_models(kind: type[Answer]) -> None:
    schema = schema_of(kind)
    assert "description" not in schema
    assert not any("description" in nested for nested in schema.get("$defs", {}).values())


class _Spoken(Answer):
    words: str
    number: int = 0


async def test_an_answer_cut_at_its_limit_is_asked_for_again_and_never_repaired() -> None:
    cut = Reply(text='{"words": "The rate was 12}', finish_reason="length")
    whole = Reply(text="{'words': 'The rate was 120', 'number': 1,}")
    with ScriptedProvider([cut, whole]) as provider:
        model = open_model(
            "compatible", "scripted", keys=KEYS, base_url=provider.base_url, facts={"structured": "text"}
        )

        async def complete(request: ModelRequest, role: Role) -> ModelAnswer:
            return await model.complete(request)

        asked = [ModelMessage(role="user", text="Say it.")]
        answer = await Asker(complete).structured("write", asked, _Spoken)
        await model.close()
    assert answer == _Spoken(words="The rate was 120", number=1)
    assert "be brief" in str(provider.calls[1].request)
