"""Runs that the rows of the contract are read off, done once for each reasoner: without a model, and over four wires."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from deep_research.assembly.environment import Answer, MakeWeb, RunEnvironment
from deep_research.data import Asked, Decision, Message
from deep_research.errors import ResearchError
from deep_research.graph.run_graph import open_checkpoints
from deep_research.graph.workflows import compile_workflow
from deep_research.ports import SearchPlace
from deep_research.runs.research_run import resume_run
from deep_research.settings import Settings
from deep_research.templates import TemplateFile
from tests.graph.harness import Shelf
from tests.intake.harness import Judgement, decided, question_of
from tests.model.harness import chinese, served
from tests.runs.running import Ran, begin, engines
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

REASONERS = ("finder", "openai", "anthropic", "dashscope", "ollama")
"""Without a model, and a scripted model behind each protocol."""
_PROVIDER = {"dashscope": "aliyun"}
_MODEL = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet-5", "aliyun": "qwen3.5-plus", "ollama": "qwen3"}

KINDS = "Which kinds of engines are there, and how do they differ?"
COMPARE = "Compare the Alpha engine, the Beta engine and the Gamma engine in a table."
ENGINES = ("Alpha engine", "Beta engine", "Gamma engine")
PLAN = {name: [f"{name} speed weight", f"{name} used for"] for name in ENGINES}
BRIEF = "I want the engines compared for a small boat of mine; the price is open; I prefer the makers' own pages."


class Player(ScriptedResearcher):
    """A scripted researcher that judges messages as told, plans by `BRIEF`, and writes a table where one is wanted."""

    def __init__(self, judgements: dict[str, Judgement] | None = None, **more: Any) -> None:
        super().__init__(**{"sections": PLAN, "sentences": 4, **more})
        self.judgements = judgements or {}
        self.prompts: list[str] = []

    def _decide(self, request: Request) -> dict[str, Any]:
        said = "\n".join(message["text"] for message in request["messages"])
        self.prompts.append(said)
        told = next((j for text, j in self.judgements.items() if f"<message>\n{text}\n</message>" in said), None)
        if told is None:
            known = {"goal": "Know the engines", "research_focus": ["speed", "weight", "use"], "unknown_terms": []}
            return {**super()._decide(request), **known, "assumptions": []}
        return {"assumptions": [], "missing_info": "", "options": [], "unknown_terms": [], **told}

    def _plan(self, request: Request) -> dict[str, Any]:
        return {**super()._plan(request), "brief": BRIEF}

    def _write(self, request: Request) -> Reply:
        reply = super()._write(request)
        cited = re.search(r"\[s\d+p\d+\]", reply.text)
        if self.output_format != "table" or cited is None:
            return reply
        table = f"| Engine | Speed |\n|---|---|\n| Alpha engine | 3,000 rpm {cited[0]} |"
        return replace(reply, text=reply.text.replace("\n\n## ", f"\n\n{table}\n\n## ", 1))


class Broken(Shelf):
    """A place that fails whenever it is asked."""

    async def search(self, query: str, *, limit: int) -> Any:
        self.asked[query] += 1
        raise ResearchError(f"The {self.name} is closed.")


class Scenes:
    """The runs of one reasoner in a folder."""

    def __init__(self, reasoner: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.reasoner = reasoner
        self.has_model = reasoner != "finder"
        self.folder, self._patch = folder, patch
        self.home = folder / "runs"  # of all runs: the notes are indexed once
        self._played: ScriptedProvider | None = None
        self._requests: dict[str, list[Request]] = {}
        self.provider = _PROVIDER.get(reasoner, reasoner)
        folder.mkdir(parents=True, exist_ok=True)
        patch.setenv("DEEP_RESEARCH_HOME", str(self.home))

    @property
    def model(self) -> dict[str, Any]:
        """The settings that choose the reasoner."""
        more = {"model_name": _MODEL[self.provider], "model_timeout_seconds": 5} if self.has_model else {}
        return {"model_provider": self.provider, **more}

    @cached_property
    def docs(self) -> Path:
        """Notes on three engines."""
        return engines(self.folder / "docs")

    @contextmanager
    def playing(
        self, script: Callable[[Request], Any] | None = None, **server: Any
    ) -> Iterator[ScriptedProvider | None]:
        """Serve the scripted model; nothing without one."""
        if not self.has_model:
            yield None
            return
        with served(self._patch, script or Player(), wire=self.provider, **server) as provider:
            self._played = provider
            yield provider

    def run(
        self,
        question: str,
        *,
        answer: Answer | None = None,
        places: Sequence[SearchPlace] | None = None,
        make_web: MakeWeb | None = None,
        **settings: Any,
    ) -> Ran:
        """Do a whole run where a model plays already, or without one."""
        docs = settings.pop("docs", [self.docs] if places is None else [])
        ran = begin(question, home=self.home, docs=docs, **{**self.model, **settings})
        servers = Settings(mcp_servers=settings["mcp_servers"]).mcp_servers if "mcp_servers" in settings else None
        return self.go_on(ran, answer=answer, places=places, make_web=make_web, mcp_servers=servers)

    def go_on(self, ran: Ran, **given: Any) -> Ran:
        """Do what is left of a run; `given` are parts of its environment."""
        environment = RunEnvironment(self.home, listener=ran.events.append, **given)
        ran.finished = asyncio.run(resume_run(ran.folder, environment))
        calls = self._played.calls if self._played else ()
        self._requests[ran.folder.run_id] = [call.request for call in calls]
        return ran

    def decide(
        self,
        text: str,
        judgement: Judgement | None = None,
        *,
        history: Sequence[Message] = (),
        rounds: int = 0,
        place: Shelf | None = None,
        templates: Sequence[TemplateFile] = (),
        **settings: Any,
    ) -> Decision:
        """Return what the front door decides; a model says `judgement` of the message."""
        made = Settings(**{**self.model, **settings})
        place = place or Shelf(note="# A note\n\nNothing that has to do with any of it.")
        with self.playing(Player({text: judgement} if judgement else None)):
            return asyncio.run(
                decided(question_of(text, history), place, settings=made, templates=templates, rounds=rounds)
            )

    @cached_property
    def sections(self) -> Ran:
        """The default workflow on a comparison that wants a table."""
        with self.playing(Player(query_type="comparison", output_format="table")) as provider:
            ran = self.run(COMPARE)
        self.duplicates = provider.duplicates if provider else 0
        return ran

    @cached_property
    def listed(self) -> Ran:
        """A list question, which discovers first."""
        with self.playing(Player(query_type="list", output_format="list")):
            return self.run(KINDS)

    @cached_property
    def weak(self) -> Ran:
        """A run in which the section on the Gamma engine is found weak: nothing speaks of it, or a model says so."""
        notes = {
            "alpha": "# Alpha engine\n\nThe Alpha engine turns at 3,000 rpm and was built in 1999 by Rolf Maier.",
            "beta": "# Beta engine\n\nThe Beta engine turns at 4,500 rpm and was built in 2004 by Anna Holm.",
        }
        if self.has_model:
            notes["gamma"] = (
                "# Gamma engine\n\nThe Gamma engine turns at 21,000 rpm and was built in 2011 by Luis Prado."
            )
        with self.playing(Player(retry=["Gamma engine"])):
            return self.run("Compare the Alpha engine, the Beta engine and the Gamma engine.", places=[Shelf(**notes)])

    @cached_property
    def loop(self) -> Ran:
        """The workflow `loop`."""
        with self.playing():
            return self.run(COMPARE, workflow="loop", max_iterations=2)

    @cached_property
    def supervisor(self) -> Ran:
        """The workflow `supervisor`, two delegations at a time."""
        with self.playing():
            return self.run(COMPARE, workflow="supervisor", max_concurrent_research_units=2)

    @cached_property
    def quick(self) -> Ran:
        """A quick question."""
        with self.playing():
            return self.run("How fast is the Gamma engine?", workflow="quick")

    @cached_property
    def chinese(self) -> Ran:
        """A question and notes in Chinese."""
        with self.playing(Player(sections={})):
            return self.run("甲型发动机和乙型发动机有什么区别？", docs=[chinese(self.folder / "notes-zh")])

    def state(self, ran: Ran) -> dict[str, Any]:
        """Return the last state of a run from its checkpoints."""

        async def read() -> dict[str, Any]:
            async with open_checkpoints(ran.folder.checkpoints) as saver:
                graph = compile_workflow(ran.report.workflow, saver)
                return (await graph.aget_state({"configurable": {"thread_id": ran.folder.run_id}})).values

        return asyncio.run(read())

    def steps(self, ran: Ran, step: str) -> list[Request]:
        """Return the requests of a run for one step."""
        return [request for request in self._requests[ran.folder.run_id] if step_of(request) == step]


def answering(*answers: str) -> tuple[Answer, list[Asked]]:
    """Return what answers one question after the other, the last one for ever, and the questions so far."""
    asked: list[Asked] = []

    def answer(question: Asked) -> str:
        asked.append(question)
        return answers[min(len(asked), len(answers)) - 1]

    return answer, asked
