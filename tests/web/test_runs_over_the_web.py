"""Whole runs over web sources, some of which fail."""

from pathlib import Path

from deep_research.testing.web_answers import HANG, page, status
from tests.runs.soundness import assert_sound
from tests.web.world import ALPHA, BETA, GAMMA, World, research, why

FIVE = ("arxiv", "openalex", "hackernews", "wikipedia", "searxng")


def _three_fail(world: World) -> None:
    for host in ("export.arxiv.org", "api.openalex.org", "hn.algolia.com"):
        world.web.dns.set(host, "8.8.4.5")
    world.web.site("export.arxiv.org").on("/api/query", status(429, "slow down", retry_after="3600"))
    world.web.site("api.openalex.org").on("/works", page("<!doctype html><html><body>Welcome</body></html>"))
    world.web.site("hn.algolia.com").on("/api/v1/search", HANG)


def test_five_sources_of_which_three_fail_give_a_good_report_that_names_them(world: World, own_state: Path) -> None:
    world.engines()
    world.wikipedia({"Alpha engine": ALPHA, "Beta engine": BETA, "Gamma engine": GAMMA})
    _three_fail(world)
    ran = research(world.web, home=own_state, sources=FIVE, web_timeout_seconds=1)
    assert_sound(ran.report, ran.folder)
    assert ran.report.answered
    for number in ("3,000 rpm", "4,500 rpm", "21,000 rpm"):
        assert number in ran.report.report
    assert {source.origin for source in ran.report.sources.values()} == {"wikipedia", "searxng"}
    told = why(ran)
    assert "3600" in told
    assert "HTML page instead of JSON" in told
    assert "did not answer in time" in told
