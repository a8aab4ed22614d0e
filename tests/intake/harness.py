"""The front door with a scripted model over real HTTP, or with the finder, over shelves of texts."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from claimcheck.language import detect
from deep_research.assembly.reasoner_choice import open_reasoner
from deep_research.data import Decision, Gap, Message, Question
from deep_research.ports import SearchPlace
from deep_research.providers.provider_catalog import VARIABLES
from deep_research.run_context.context import Outside, RunContext
from deep_research.settings import Settings, load_keys
from deep_research.steps.intake import decide
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.templates import TemplateFile
from tests.model.harness import served
from tests.support.scripted_replies import Reply, Request, instance_of
from tests.support.scripted_researcher import ScriptedResearcher, step_of
from tests.support.unkept_log import unkept_log

_MESSAGE = re.compile(r"<message>\n(.*?)\n</message>", re.DOTALL)
Judgement = Mapping[str, Any]


def start(goal: str, *focus: str, confidence: float = 0.85, **more: Any) -> Judgement:
    """What a model says of a message that it understands."""
    points = list(focus) or ["mechanism", "evidence", "latest progress"]
    said = {"next_action": "START_RESEARCH", "confidence": confidence, "goal": goal, "research_focus": points}
    return {**said, "question": "", "refined_question": goal, "unknown_terms": [], **more}


def ask(question: str, *options: str, missing: str = "topic", confidence: float = 0.2, **more: Any) -> Judgement:
    """What a model says of a message that it does not understand."""
    said = {"next_action": "NEED_CLARIFICATION", "confidence": confidence, "goal": "", "research_focus": []}
    return {
        **said,
        "question": question,
        "options": list(options),
        "missing_info": missing,
        "unknown_terms": [],
        **more,
    }


class Judge(ScriptedResearcher):
    """A scripted researcher that judges each message as told: one judgement, or one for each time it is asked."""

    def __init__(self, judgements: Mapping[str, Judgement | Sequence[Judgement]], **more: Any) -> None:
        super().__init__(**more)
        self.judgements = judgements
        self.prompts: list[str] = []

    def _decide(self, request: Request) -> dict[str, Any]:
        prompt = "\n".join(message["text"] for message in request["messages"])
        found = _MESSAGE.search(prompt)
        assert found is not None, prompt
        before = sum(found[0] in said for said in self.prompts)
        self.prompts.append(prompt)
        told = self.judgements[found[1]]
        said = told if isinstance(told, Mapping) else told[min(before, len(told) - 1)]
        return {**instance_of(request["schema"]), "assumptions": [], "missing_info": "", "options": [], **said}

    def __call__(self, request: Request) -> Reply:
        assert step_of(request)
        return super().__call__(request)


async def decided(
    question: Question, *places: SearchPlace, settings: Settings, templates: Sequence[TemplateFile], rounds: int
) -> Decision:
    """What intake decides; the model is the one of the environment."""
    journal = SqliteJournal(":memory:")
    gaps: list[Gap] = []
    outside = Outside(places=places)
    reasoner, held = open_reasoner(
        settings, load_keys(VARIABLES), journal=journal, home=Path(), on_gap=gaps.append, outside=outside
    )
    ctx = RunContext(
        run_id="run",
        settings=settings,
        reasoner=reasoner,
        library=SqliteLibrary(":memory:"),
        journal=journal,
        log=unkept_log(),
        outside=outside,
        templates=tuple(templates),
    )
    try:
        return await decide(ctx, question, rounds=rounds)
    finally:
        if held is not None:
            await held.close()
        journal.close()
        assert [*gaps, *ctx.log.gaps] == []


def question_of(text: str, history: Sequence[Message] = ()) -> Question:
    """A question in the language it is written in."""
    return Question(text=text, language=detect(text), history=tuple(history))


def finderly(
    text: str,
    *places: SearchPlace,
    history: Sequence[Message] = (),
    rounds: int = 0,
    templates: Sequence[TemplateFile] = (),
    **settings: Any,
) -> Decision:
    """What the program decides without a model."""
    made = Settings(model_provider="finder", **settings)
    return asyncio.run(decided(question_of(text, history), *places, settings=made, templates=templates, rounds=rounds))


def with_model(
    patch: pytest.MonkeyPatch,
    judge: Judge,
    text: str,
    *places: SearchPlace,
    history: Sequence[Message] = (),
    rounds: int = 0,
    templates: Sequence[TemplateFile] = (),
    **settings: Any,
) -> Decision:
    """What the program decides with a model that says what `judge` is told."""
    with served(patch, judge):
        made = Settings(model_provider="compatible", model_name="scripted", **settings)
        question = question_of(text, history)
        return asyncio.run(decided(question, *places, settings=made, templates=templates, rounds=rounds))


def user(text: str) -> Message:
    """A turn of the user."""
    return Message(role="user", text=text)


def assistant(text: str) -> Message:
    """A turn of ours."""
    return Message(role="assistant", text=text)
