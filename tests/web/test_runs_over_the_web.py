"""Whole runs over web sources, some of which fail."""

from contextlib import closing
from pathlib import Path

import pytest

from deep_research.assembly.environment import RunEnvironment, open_context
from deep_research.data import Action, Observation
from deep_research.errors import ConfigError
from deep_research.runs.research_run import ResearchRun
from deep_research.steps.search import perform
from tests.model.harness import served
from tests.runs.soundness import assert_sound, body
from tests.support.scripted_researcher import ScriptedResearcher
from tests.support.web_answers import HANG, json_answer, page, status
from tests.web.world import ALPHA, BETA, GAMMA, QUESTION, SEARCH, World, begin, research, web_of, why

FIVE = ("arxiv", "openalex", "hackernews", "wikipedia", "searxng")


def _three_fail(world: World) -> None:
    for host in ("export.arxiv.org", "api.openalex.org", "hn.algolia.com"):
        world.web.dns.set(host, "8.8.4.5")
    world.web.site("export.arxiv.org").on("/api/query", status(429, "slow down", retry_after="3600"))
    world.web.site("api.openalex.org").on("/works", page("<!doctype html><html><body>Welcome</body></html>"))
    world.web.site("hn.algolia.com").on("/api/v1/search", HANG)


def test_five_sources_of_which_three_fail_give_a_good_report_that_names_each_once(
    world: World, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.engines()
    world.wikipedia({"Alpha engine": ALPHA, "Beta engine": BETA, "Gamma engine": GAMMA})
    _three_fail(world)
    script = ScriptedResearcher(sections={name: [name] for name in ("Alpha engine", "Beta engine", "Gamma engine")})
    with served(monkeypatch, script):
        ran = research(
            world.web, home=own_state, sources=FIVE, model_timeout_seconds=1,
            model_provider="compatible", model_name="scripted",
        )  # fmt: skip
    assert_sound(ran.report, ran.folder)
    assert ran.report.answered
    for number in ("3,000 rpm", "4,500 rpm", "21,000 rpm"):
        assert number in ran.report.report
    assert {source.origin for source in ran.report.sources.values()} == {"wikipedia", "searxng"}
    told = why(ran)
    assert "3600" in told
    assert "HTML page instead of JSON" in told
    assert "did not answer in time" in told
    for source in ("openalex", "hackernews"):
        failed = [gap for gap in ran.report.gaps if gap.what.startswith(f"{source}: ")]
        assert len(failed) > 1
        (line,) = [
            line
            for line in body(ran.report).splitlines()
            if line.startswith(f"- {source}: ") and "Not asked again" not in line
        ]
        assert failed[0].why in line


def test_refused_keys_and_used_up_plans_are_told_and_not_asked_again(
    world: World, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "secret-brave-key")
    monkeypatch.setenv("TAVILY_API_KEY", "secret-tavily-key")
    world.engines()
    world.web.site("brave.test").on("/res/v1/web/search", json_answer({"detail": "no secret-brave-key"}, 401))
    world.web.site("tavily.test").on("/search", json_answer({"detail": {"error": "plan"}}, 432), method="POST")
    ran = research(
        world.web, home=own_state, sources=("brave", "tavily", "searxng"),
        source_options={"brave": {"base_url": "http://brave.test"}, "tavily": {"base_url": "http://tavily.test"}},
    )  # fmt: skip
    told = why(ran)
    assert "BRAVE_API_KEY was refused (HTTP 401" in told
    assert "the plan of the key in TAVILY_API_KEY is used up" in told
    assert "secret" not in told + ran.report.report
    asked = [request.host for request in world.web.requests]
    # Only the first searches, which are made at the same moment, reach those who refuse.
    assert 1 <= asked.count("brave.test") < asked.count(SEARCH)
    assert 1 <= asked.count("tavily.test") < asked.count(SEARCH)
    assert ran.report.answered


def test_what_was_found_before_every_place_failed_is_shown(world: World, own_state: Path) -> None:
    for name, text in (("Alpha", ALPHA), ("Beta", BETA), ("Gamma", GAMMA)):
        world.page(f"{name.lower()}.test", "/engine", f"{name} engine", text)
    found = [
        {"title": f"{name} engine", "url": f"http://{name.lower()}.test/engine", "content": ""}
        for name in ("Alpha", "Beta", "Gamma")
    ]
    world.web.site(SEARCH).on("/search", [json_answer({"results": found}), status(500, "boom")])
    ran = research(world.web, home=own_state, sources=("searxng",))
    assert "boom" in why(ran)
    assert ran.report.answered
    assert "21,000 rpm" in ran.report.report


def test_what_was_searched_for_is_what_a_place_has_answered(world: World, own_state: Path) -> None:
    """All places refuse from the first query on: nothing was searched for."""
    world.web.site(SEARCH).on("/search", status(429, "slow down", retry_after="3600"))
    ran = research(world.web, home=own_state, sources=("searxng",))
    assert "3600" in why(ran)
    assert not [query for section in ran.report.sections for query in section.searched]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"sources": ("wikpedia",)}, "There is no source 'wikpedia'. Did you mean 'wikipedia'"),
        ({"strategy": "nonsense"}, "no strategy 'nonsense'; there are: academic"),
        ({"sources": ("brave",)}, "'brave' is not ready: set BRAVE_API_KEY"),
        ({"source_options": {"arxiv": {"since": "2025-02-01", "until": "2024-01-01"}}}, "later than until"),
        ({"source_options": {"nothing": {}}}, "There is no source 'nothing'"),
    ],
)
def test_wrong_choices_of_sources_are_refused_before_anything_is_made(
    own_state: Path, chosen: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        begin(QUESTION, home=own_state, **chosen)  # pyright: ignore[reportArgumentType]
    assert not list(own_state.rglob("run.json"))


def test_where_nothing_is_found_the_places_that_were_searched_are_named(world: World, own_state: Path) -> None:
    world.wikipedia({})
    ran = research(world.web, home=own_state, sources=("searxng", "wikipedia"), workflow="quick")
    assert not ran.report.answered
    assert "Searched in: searxng; wikipedia." in ran.report.report


async def test_what_a_page_named_before_a_run_stopped_may_be_opened_after_it(world: World, own_state: Path) -> None:
    named = world.page("delta.test", "/engine", "Delta engine", "The Delta engine is a steam engine.", listed=False)
    world.page("kinds.test", "/", "Kinds of engines", f"The Delta engine is told of at {named} by its maker.")
    begun = begin("Which kinds of engines are there?", home=own_state)

    async def opened(url: str) -> Observation:
        environment = RunEnvironment(own_state, make_web=web_of(world.web))
        with closing(begun.folder.open_log(lambda _event: None)) as log:
            async with open_context(ResearchRun(begun.folder).job(log), environment) as ctx:
                if url == "":
                    await ctx.outside.places[0].prepare(lambda *_told: None)
                action = Action(id=f"open {url}", name="open", source=url)
                if not url:
                    action = Action(id="search", name="search", query="kinds of engines")
                (seen,) = await perform(ctx, [action])
                return seen

    assert (await opened("")).passages
    assert (await opened(named)).passages
    assert not (await opened("http://delta.test/other")).passages
