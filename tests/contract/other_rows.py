"""What the rows C1–E4 say, asserted for one reasoner."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from claimcheck.language import detect
from deep_research.api import open_run
from deep_research.assembly.run_settings import settle
from deep_research.errors import ConfigError
from deep_research.events import Reviewed, Searched, SectionStarted, SectionWritten, StageStarted
from deep_research.graph.loop import LoopState
from deep_research.graph.supervisor import SupervisorState
from deep_research.settings import Settings
from deep_research.sources import api_sources, strategies, strategy_sources
from tests.contract.recorded_places import ask_places, host_of
from tests.contract.scenes import BRIEF, COMPARE, ENGINES, Broken, Player, Scenes
from tests.graph.harness import Shelf
from tests.mcp.serving import stdio
from tests.model.harness import korean
from tests.runs.running import Ran
from tests.sources.answers import ScriptedClient, answer, bodies, opened
from tests.sources.test_strategies import SEEDS
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import step_of

NOTES = {
    "alpha": "# Alpha engine\n\nThe Alpha engine turns at 3,000 rpm and was built in 1999 by Rolf Maier in Graz.",
    "beta": "# Beta engine\n\nThe Beta engine turns at 4,500 rpm and was built in 2004 by Anna Holm in Bergen.",
    "gamma": "# Gamma engine\n\nThe Gamma engine turns at 21,000 rpm and was built in 2011 by Luis Prado in Porto.",
}


def c1(s: Scenes) -> None:
    stages = [event.stage for event in s.loop.of(StageStarted)]
    assert stages.index("plan") < stages.index("research") < stages.index("review")
    assert 1 <= len(s.loop.of(Reviewed)) <= 2
    assert s.loop.report.answered
    with s.playing(Player(retry=["Beta engine"] * 5)):
        limited = s.run(COMPARE, workflow="loop", max_iterations=1)
    assert len(limited.of(Reviewed)) == 1
    if s.has_model:  # an insufficient last reflection is told
        assert any("more on Beta engine" in f"{gap.what} {gap.why}" for gap in limited.report.gaps)
        assert {row.status for row in limited.report.reviews if row.section == "Beta engine"} == {"partial"}


def c2(s: Scenes) -> None:
    wanted = "clarified_query gathered_info visited_sources iteration_count max_iterations is_sufficient"
    assert {*wanted.split(), "current_queries", "pending_question"} <= set(get_type_hints(LoopState))
    state = s.state(s.loop)
    assert state["gathered_info"] or not s.has_model
    assert len(state["visited_sources"]) == len(set(state["visited_sources"])) > 0
    assert 1 <= state["iteration_count"] <= state["max_iterations"] == 2
    assert state["pending_question"] == ""


def c3(s: Scenes) -> None:
    found = s.state(s.loop)["gathered_info"]
    assert all("[s" in line for line in found)
    assert len(found) == len(set(found))
    assert not any("7919" in line for line in found)
    least = 1 if s.has_model else 0  # 0: nobody has judged it
    assert all(least <= event.score <= 10 for event in s.loop.of(Reviewed))


def c4(_: Scenes) -> None:
    from deep_research.settings import load_settings  # noqa: PLC0415

    assert load_settings().max_iterations == 5
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEEP_RESEARCH_MAX_ITERATIONS", "7")
        assert load_settings().max_iterations == 7
        assert load_settings(max_iterations=3).max_iterations == 3
    for wrong in (0, 11, "abc"):
        with pytest.raises(ConfigError, match="max_iterations"):
            load_settings(max_iterations=wrong)


def d1(s: Scenes) -> None:
    names = "messages supervisor_messages research_brief notes raw_notes research_iterations final_report"
    assert set(names.split()) <= set(get_type_hints(SupervisorState))
    state = s.state(s.supervisor)
    assert all(isinstance(message, BaseMessage) for message in state["supervisor_messages"])
    assert any(message.tool_calls for message in state["supervisor_messages"] if isinstance(message, AIMessage))
    assert all(isinstance(note, str) and note for note in state["notes"])
    assert state["notes"]
    assert s.supervisor.report.answered


def d2(s: Scenes) -> None:
    state = s.state(s.supervisor)
    limits = Settings(workflow="supervisor")
    assert (limits.max_concurrent_research_units, limits.max_researcher_iterations) == (5, 6)
    assert state["research_iterations"] <= 6
    done = {event.section for event in s.supervisor.of(SectionWritten)}
    named = {gap.what for gap in s.supervisor.report.gaps}
    for section in s.supervisor.report.sections:
        assert section.title in done or any(section.title in what for what in named), section.title
    told = [str(message.content) for message in state["supervisor_messages"]]
    if len(s.supervisor.report.sections) > 2 and s.has_model:
        assert any("at most 2 delegations" in text for text in told)


def d3(s: Scenes) -> None:
    broken, good = Broken("broken", **NOTES), Busy(**NOTES)
    with s.playing():
        ran = s.run(COMPARE, workflow="supervisor", places=[broken, good], max_tool_calls_per_researcher=4)
    assert ran.report.answered
    assert any("broken is closed" in gap.why for gap in ran.report.gaps)
    assert "is closed" not in "".join(section.notes for section in ran.report.sections)
    for section in ran.report.sections if s.has_model else ():
        queries = {
            event.query for event in ran.of(Searched) if event.section == section.title and event.source != "broken"
        }
        assert len(queries) <= 4
    assert good.most_at_once > 1
    native, _ = ask_places(s, "openai_web_search", "anthropic_web_search")
    assert _heard(native) == {"openai_web_search", "anthropic_web_search"}
    assert native.report.answered


class Busy(Shelf):
    """A shelf that waits a moment for a second search of a section beside the first, and counts how many ask at once."""

    def __init__(self, **notes: str) -> None:
        super().__init__(**notes)
        self.most_at_once = self._now = 0
        self._two = asyncio.Event()

    async def search(self, query: str, *, limit: int) -> Any:
        if query == COMPARE:  # the question itself is searched for before all else, alone
            return await super().search(query, limit=limit)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        if self._now > 1:
            self._two.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._two.wait(), 2)
        try:
            return await super().search(query, limit=limit)
        finally:
            self._now -= 1


def d4(s: Scenes) -> None:
    state = s.state(s.supervisor)
    written = [section for section in state["sections"] if section.content]
    assert written
    raw = set(re.findall(r"s\d+p\d+", "\n".join(state["raw_notes"])))
    run = open_run(s.supervisor.folder.run_id, home=s.supervisor.home)
    assert all(run.read_passage(key).passage.text for key in raw)
    for section in written:
        assert raw >= set(section.passages)
        cited = set(re.findall(r"\[(s\d+)p\d+\]", section.content))
        assert cited == set(section.sources)
        assert {key.partition("p")[0] for key in section.passages} >= cited
    if not s.has_model:
        return
    with s.playing(_overflowing("research", 3, refused := [])):
        ran = s.run(COMPARE, workflow="supervisor")
    assert len(refused) == 3
    assert sum(bool(section.notes) for section in ran.report.sections) == len(ENGINES)
    assert not any("without_model" in gap.codes for gap in ran.report.gaps)


def _overflowing(step: str, times: int, refused: list[Request]) -> Callable[[Request], Any]:
    """Return a player that finds the first requests of a step too long; they are noted in `refused`."""
    player = Player()

    def script(request: Request) -> Any:
        if step_of(request) == step and len(refused) < times:
            refused.append(request)
            return Reply(fault="context_too_long")
        return player(request)

    return script


def d5(s: Scenes) -> None:
    if not s.has_model:
        return
    with s.playing(_overflowing("write", 3, refused := []), context_limit=12_000):
        ran = s.run(COMPARE)
    assert ran.report.answered
    lengths = [len(request["prompt"]) for request in refused]
    assert len(lengths) == 3
    assert lengths == sorted(lengths, reverse=True)
    assert "## Conclusion" in ran.report.report
    assert not any("without_model" in gap.codes for gap in ran.report.gaps)


def d6(s: Scenes) -> None:
    roles = ("research", "write", "report")
    assert all(f"{role}_model" in Settings.model_fields for role in roles)
    assert all(f"{role}_max_tokens" in Settings.model_fields for role in roles)
    if not s.has_model:
        return
    base = s.model["model_name"]
    limits = {"research_max_tokens": 2_000, "write_max_tokens": 900, "report_max_tokens": 3_000}
    player, judged = Player(), list[Request]()

    def malformed(request: Request) -> Any:
        if step_of(request) == "plan":
            judged.append(request)
            return Reply(text="no object") if len(judged) <= 2 else player(request)
        return player(request)

    with s.playing(malformed):
        ran = s.run(
            COMPARE, write_model=f"{base}-w", report_model=f"{base}-r", max_structured_output_retries=2, **limits
        )
    for step, model, limit in (("research", base, 2_000), ("notes", f"{base}-w", 900), ("write", f"{base}-r", 3_000)):
        used = {(request["model"], request["max_output_tokens"]) for request in s.steps(ran, step)}
        assert used == {(model, limit)}
    assert len(judged) == 3
    assert not any("without_model" in gap.codes for gap in ran.report.gaps)


@cache
def d7(s: Scenes) -> None:
    calls = s.folder / "mcp-calls.jsonl"

    class Caller(Player):
        """Calls the tool of the server in the first turn of each researcher."""

        def _research(self, request: Request) -> Reply:
            own = [name for name in request["tools"] if name.endswith("search_stories")]
            if own and not any(call["name"] in own for m in request["messages"] for call in m["tool_calls"]):
                return Reply(tool_calls=(Call(own[0], {"query": self.section_of(request) or "Alpha engine"}),))
            return super()._research(request)

    servers = {"hn": stdio(calls), "forum": stdio(), "gone": stdio(fault="start")}
    with s.playing(Caller()):
        ran = s.run(COMPARE, mcp_servers=servers, mcp_prompt="Ask the forum before the library.")
    assert calls.exists()
    assert any("gone" in f"{gap.what} {gap.why} {gap.source}" for gap in ran.report.gaps)
    assert ran.report.answered
    if s.has_model:
        turns = s.steps(ran, "research")
        own = {name for turn in turns for name in turn["tools"] if name.endswith("search_stories")}
        assert len(own) == 2  # one tool of that name from each server, told apart by the server's
        assert all("Ask the forum before the library." in turn["prompt"] for turn in turns)


def d8(s: Scenes) -> None:
    class Unlucky(Player):
        """Refuses everything that is about the Beta engine."""

        def _research(self, request: Request) -> Reply:
            if self.section_of(request) == "Beta engine":
                raise RuntimeError("no")
            return super()._research(request)

    class NoBeta(Shelf):
        async def search(self, query: str, *, limit: int) -> Any:
            if "Beta" in query and "Alpha" not in query:
                raise ValueError("a defect of this place")
            return await super().search(query, limit=limit)

    player = Unlucky()

    def script(request: Request) -> Any:
        try:
            return player(request)
        except RuntimeError:
            return Reply(fault="content_filter")

    with s.playing(script):
        ran = s.run(COMPARE, workflow="supervisor", places=[NoBeta(**NOTES)])
    assert ran.report.answered
    assert any("Beta" in gap.what for gap in ran.report.gaps)
    assert "defect" not in "".join(section.notes for section in ran.report.sections)
    assert len([x for x in ran.of(SectionStarted) if x.attempt == 1]) >= (2 if s.has_model else 1)


PAPERS = ("arxiv", "huggingface_papers", "huggingface_blog", "bocha", "tavily")
CODE = ("github", "github_issues", "zyte")
TALK = ("hackernews", "bocha", "tavily")


def _heard(ran: Ran) -> set[str]:
    """Return the places whose searches brought something."""
    return {event.source for event in ran.of(Searched) if event.found + event.new}


def d9(s: Scenes) -> None:
    for ran in (s.sections, s.supervisor):
        brief = s.state(ran)["research_brief"]
        if not s.has_model:
            assert COMPARE in brief
            continue
        assert brief == BRIEF
        (planned,) = s.steps(ran, "plan")
        wanted = (
            "first person",
            "every constraint",
            "open named as open",
            "primary and official sources",
            "question's language",
        )
        assert all(words in planned["prompt"] for words in wanted)
        assert all(BRIEF in request["prompt"] for step in ("research", "write") for request in s.steps(ran, step))


def d10(s: Scenes) -> None:
    state = s.state(s.supervisor)
    first, *rest = state["supervisor_messages"]
    assert first.content == state["research_brief"]
    assert all(isinstance(message, BaseMessage) for message in (first, *rest))
    calls = [call for message in rest if isinstance(message, AIMessage) for call in message.tool_calls]
    delegated = [call["args"] for call in calls if call["name"] == "conduct_research"]
    assert delegated
    assert all(set(args) == {"title", "research_topic"} and args["research_topic"] for args in delegated)
    assert all(isinstance(note, str) for note in (*state["notes"], *state["raw_notes"]))
    results = [m for m in rest if isinstance(m, ToolMessage) and m.name == "conduct_research"]
    done = [str(m.content) for m in results if "**Findings**" in str(m.content)]
    assert done
    for section in s.supervisor.report.sections:
        if not section.notes:
            continue
        assert section.tool_calls
        assert all(call.startswith(("search: ", "search (", "open (")) for call in section.tool_calls)
        told = next(text for text in done if section.notes in text)
        assert all(call in told for call in section.tool_calls)
        assert all(f"[{key}] " in told for key in section.sources)


def e1(s: Scenes) -> None:
    for places in (PAPERS[:3], CODE, TALK):
        ran, asked = ask_places(s, *(PAPERS if places == PAPERS[:3] else places))
        assert set(places) <= _heard(ran)
        assert ran.report.answered
        assert {"github.test"} & {host for host, _ in asked} == ({"github.test"} & {host_of(name) for name in places})
    asked = {address for places in (PAPERS, CODE, TALK) for address in ask_places(s, *places)[1]}
    assert ("github.test", "/repos/ada/sparse/readme") in asked
    assert {("huggingface.co", "/blog/sparse"), ("example.cn", "/a"), ("tavily.test", "/extract")} <= asked
    assert {name for name in api_sources() if name.startswith("huggingface_")} >= {*PAPERS[1:3]}
    one = ScriptedClient({"": answer(bodies("arxiv", "one")[""])})
    papers = asyncio.run(opened("arxiv", one).search("2401.00001", limit=5)).found
    assert [call.params["id_list"] for call in one.calls] == ["2401.00001"]
    assert [paper.key for paper in papers] == ["arxiv:2401.00001"]


def e1_mcp(s: Scenes) -> None:
    d7(s)  # any server: its tools are called, and what they bring is cited
    servers = {"hn": stdio(tools=["search_stories"])}
    with s.playing(Player(sections={"Engines": ["rotary engine"]})):
        ran = s.run(COMPARE, docs=[], mcp_servers=servers, sources=("hackernews",))
    assert {event.source for event in ran.of(Searched)} == {"hackernews"}
    assert {source.origin for source in ran.report.sources.values()} == {"mcp:hn"}


def e2(s: Scenes) -> None:
    web = {"duckduckgo", "searxng", "bocha", "brave", "tavily", "serper", "google_cse", "exa", "jina", "perplexity"}
    for name in strategies().keys() - {"none"}:
        places = [place for place in strategy_sources(name) if place]
        general = [place in web for place in places]
        assert general == sorted(general), (name, places)
        assert not general[0], name
    enough, _ = ask_places(s, *PAPERS)
    found = Counter({event.query: 0 for event in enough.of(Searched)})
    found.update(event.query for event in enough.of(Searched) if event.source not in web and event.found + event.new)
    assert max(found.values()) >= len(PAPERS[:3])
    assert all(found[event.query] < len(PAPERS[:3]) for event in enough.of(Searched) if event.source in web)
    little, _ = ask_places(s, *TALK)
    order = list(dict.fromkeys(event.source for event in little.of(Searched)))
    assert order[0] == "hackernews"
    assert set(order[1:]) == {"bocha", "tavily"}


def e3(s: Scenes) -> None:
    with s.playing(Player(sections={})):
        in_korean = s.run("알파 엔진과 베타 엔진은 어떻게 다른가요?", docs=[korean(s.folder / "notes-ko")])
    for language, ran in (("zh", s.chinese), ("ko", in_korean)):
        assert ran.report.language == language
        assert detect(ran.report.report) == language
        assert ran.report.answered
    assert s.sections.report.language == "en"


def e4(s: Scenes) -> None:
    named = {"arxiv", "huggingface_papers", "huggingface_blog", "github", "hackernews", "pubmed", "clinicaltrials"}
    general = {"arxiv", "github", "pubmed"}
    auto = {"strategy": "auto"} if not s.has_model else {}
    with s.playing():
        for question in SEEDS:
            chosen = set(settle(Settings(**{**s.model, **auto}), [], question).sources)
            assert chosen >= (named if s.has_model else general), question
    assert {"arxiv", "huggingface_papers"} <= _heard(ask_places(s, *PAPERS)[0])
    if s.has_model:  # the places by name and purpose, and the one that is named is the one that is asked

        class Chooser(Player):
            def _research(self, request: Request) -> Reply:
                told.append(request)
                reply = super()._research(request)
                calls = tuple(c._replace(arguments={**c.arguments, "source": "beta"}) for c in reply.tool_calls)
                return replace(reply, tool_calls=calls)

        told = list[Request]()
        alpha, beta = Shelf("alpha", **NOTES), Shelf("beta", **NOTES)
        with s.playing(Chooser()):
            s.run(COMPARE, places=[alpha, beta], max_review_iterations=0)
        assert all(f"{place.name}: {place.purpose}" in request["prompt"] for request in told for place in (alpha, beta))
        assert sum(beta.asked.values()) > sum(alpha.asked.values())
