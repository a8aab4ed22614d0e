"""Whole runs over pages that were made to end their reader: each costs itself alone, and once."""

from pathlib import Path

from deep_research.isolated_reading import CRASHED
from tests.readers.hostile_files import corpus
from tests.runs.soundness import assert_sound
from tests.support.web_answers import page
from tests.web.world import ALPHA, QUESTION, World, research, why

_ENDING = ("form-loop.pdf",)
_OTHER = ("gridspan.docx", "row.xlsx", "laughs.docx")


def test_hostile_pages_end_no_run_and_are_read_once(world: World, own_state: Path) -> None:
    world.page("alpha.test", "/engine", "Alpha engine", ALPHA)
    for name in (*_ENDING, *_OTHER):
        world.web.site("bad.test").on(f"/{name}", page(corpus()[name](), "application/octet-stream"))
        world.list_page(f"http://bad.test/{name}", f"Alpha engine {name}", "Alpha engine Beta engine Gamma engine")
    first = research(world.web, QUESTION, home=own_state)
    assert_sound(first.report, first.folder)
    assert "3,000 rpm" in first.report.report
    assert all(f"{name} cannot be read: {CRASHED}" in why(first) for name in _ENDING)
    remembered = (own_state / "rejected-documents.txt").read_text().splitlines()
    assert len(remembered) == len(set(remembered)) >= len(_ENDING)
    again = research(world.web, QUESTION, home=own_state)
    assert all(f"{name} cannot be read: {CRASHED}" in why(again) for name in _ENDING)
    assert (own_state / "rejected-documents.txt").read_text().splitlines() == remembered
