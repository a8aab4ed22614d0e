"""Saying something to a run at a known moment: when a place is asked a certain thing."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from deep_research.data import SearchResult, Steer
from deep_research.ports import Reasoner
from deep_research.run_context.steering import Steering
from tests.graph.harness import ENGINES, Bench, Shelf, Trace

QUESTION = "Which kinds of engines are there?"
TITLES = ("Alpha engine", "Beta engine", "Gamma engine")


class Voice:
    """What the user of a test says; it is heard at once."""

    def __init__(self) -> None:
        self.said: list[Steer] = []
        self.heard: Callable[[], None] = lambda: None

    def say(self, kind: str, text: str = "", section: str = "") -> None:
        steer = {"kind": kind, "text": text, "section": section, "id": f"{kind}{len(self.said)}"}
        self.said.append(Steer.model_validate(steer))
        self.heard()


class Attentive(Shelf):
    """The engines; does something once when it is asked a certain thing, and may then keep silent for ever."""

    def __init__(self, at: str, then: Callable[[], None], *, silent: bool = False) -> None:
        super().__init__("shelf", **ENGINES)
        self._at, self._then, self._silent = at, then, silent
        self.cancelled = 0

    async def search(self, query: str, *, limit: int) -> SearchResult:
        if query == self._at and not self.asked[query]:
            self.asked[query] += 1
            self._then()
            if self._silent:
                await self._for_ever()
        return await super().search(query, limit=limit)

    async def _for_ever(self) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def steered(folder: Path, voice: Voice, place: Shelf, reasoner: Reasoner, **settings: Any) -> Trace:
    """Ask the question of the whole graph, listening to the voice."""

    async def work() -> Trace:
        bench = Bench(folder, place, reasoner=reasoner, **settings)
        steering = Steering(lambda: voice.said, bench.trace.events.append)
        voice.heard = steering.refresh
        steering.refresh()
        bench.context = replace(bench.context, steering=steering)
        async with bench:
            return await bench.ask(QUESTION)

    return asyncio.run(work())
