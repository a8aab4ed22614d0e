"""The log of gaps: each is listed once and none is lost, also when the run is interrupted and resumed."""

from dataclasses import replace
from pathlib import Path

import pytest

from deep_research.data import Action, Gap, SearchResult
from deep_research.errors import Stopped
from deep_research.events import Event, GapFound, ReportReady, SectionWritten
from deep_research.steps import search
from deep_research.stores.event_log import read_events
from tests.graph.harness import Bench, Shelf
from tests.runs.running import Ran, begin, engines, go_on
from tests.support.unkept_log import unkept_log

QUESTION = "Which kinds of engines are there?"


def _begun(folder: Path) -> Ran:
    notes = engines(folder / "notes")
    (notes / "torn.pdf").write_bytes(b"%PDF-1.4 torn")
    return begin(QUESTION, home=folder / "home", docs=[notes])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run that was not interrupted."""
    return go_on(_begun(tmp_path_factory.mktemp("whole")))


@pytest.mark.parametrize("stop", [SectionWritten, ReportReady])
def test_an_interrupted_run_lists_the_gaps_of_one_that_was_not(whole: Ran, tmp_path: Path, stop: type) -> None:
    assert any("torn.pdf" in gap.what + gap.why for gap in whole.report.gaps)
    ran = _begun(tmp_path / "stopped")

    def listen(event: Event) -> None:
        if isinstance(event, stop):
            raise Stopped("The process ends here.")

    with pytest.raises(Stopped):
        go_on(ran, listener=listen)
    go_on(ran)
    assert len(set(ran.report.gaps)) == len(ran.report.gaps)
    assert {(gap.what, gap.codes) for gap in ran.report.gaps} == {(gap.what, gap.codes) for gap in whole.report.gaps}
    logged = [e for e in read_events(ran.folder.events) if isinstance(e, GapFound)]
    assert len({(e.what, e.why) for e in logged}) == len(logged)
    assert [e.what for e in logged] == [gap.what for gap in ran.report.gaps]


class Torn(Shelf):
    """Finds nothing, and could not open one file."""

    async def search(self, query: str, *, limit: int) -> SearchResult:
        self.asked[query] += 1
        return SearchResult(gaps=(Gap(what="a.pdf", why="torn"),))


async def test_the_gaps_of_a_search_in_the_journal_are_logged_by_whoever_reuses_it(tmp_path: Path) -> None:
    place = Torn("shelf")
    bench = Bench(tmp_path, place)
    actions = [Action(id="a", name="search", query="tides")]
    await search.perform(replace(bench.context, log=unkept_log()), actions)  # nobody asks for what this one has logged
    for _ in range(2):
        (seen,) = await search.perform(bench.context, actions)
        assert seen.failure == "torn"
    assert [gap.what for gap in bench.context.log.gaps] == ["a.pdf"]
    assert place.asked["tides"] == 1
