"""The pages that were kept for runs go with them."""

from pathlib import Path

from deep_research.runs.deletion import delete_runs
from tests.runs.test_deletion import holding
from tests.web.world import ALPHA, BETA, World, research


def test_pages_that_no_other_run_has_read_go_too(world: World, own_state: Path) -> None:
    world.page("alpha.test", "/engine", "Alpha engine", ALPHA + " CANARYALPHA.")
    first = research(world.web, "How fast does the Alpha engine turn?", home=own_state)
    world.listed.clear()
    world.texts.clear()
    world.page("beta.test", "/engine", "Beta engine", BETA + " CANARYBETA.")
    research(world.web, "How fast does the Beta engine turn?", home=own_state)
    assert own_state / "pages.db" in holding(own_state, "CANARYALPHA")
    delete_runs(own_state, [first.folder.run_id])
    assert holding(own_state, "CANARYALPHA") == []
    assert own_state / "pages.db" in holding(own_state, "CANARYBETA")


def test_when_no_run_is_left_only_settings_and_templates_are(world: World, own_state: Path) -> None:
    world.engines()
    own_state.mkdir()
    (own_state / "settings.toml").write_text("")
    ran = research(world.web, home=own_state)
    (own_state / "history").write_text("a line")
    (own_state / "rejected-documents.txt").write_text("")
    delete_runs(own_state, [ran.folder.run_id])
    assert [path.name for path in own_state.rglob("*") if path.is_file()] == ["settings.toml"]
