"""Rows B7 and C1 at their edges: reviews as models write them, over real HTTP."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.events import Reviewed, Searched, SectionStarted
from tests.model.harness import PLAN, research, served
from tests.runs.running import Ran
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher

GOOD = {"is_sufficient": True, "overall_score": 8, "reasoning": "All is there."}
BAD = {"is_sufficient": False, "overall_score": 4, "gaps": ["the price of the Beta engine"], "reasoning": "A price."}


def _row(title: str, *queries: str) -> dict[str, Any]:
    return {"title": title, "status": "partial", "score": 4, "missing": ["a price"], "queries": list(queries)}


class Reviewer(ScriptedResearcher):
    """Reviews all sections together as told, then finds that they suffice."""

    def __init__(self, said: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(sections=PLAN, sentences=4)
        self.said = [*said]

    def _review(self, request: Request) -> dict[str, Any]:
        said = self.said.pop(0) if self.said else GOOD
        return {"section_coverage": [], "sections_to_retry": [], "gaps": [], **said}


def _ran(folder: Path, patch: pytest.MonkeyPatch, *said: Mapping[str, Any], **settings: Any) -> Ran:
    with served(patch, Reviewer(said)):
        return research(folder, **settings)


@pytest.mark.parametrize(
    "said",
    [
        {"section_coverage": [_row("Beta engine", "Beta engine price")]},
        {"section_coverage": [_row("Beta engine", "Beta engine speed weight")], "sections_to_retry": ["Beta engine"]},
        {},
    ],
    ids=["no section is named", "only searches that were made", "gaps alone"],
)
def test_c1_what_does_not_suffice_goes_on_below_the_limit(
    said: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _ran(tmp_path, monkeypatch, {**BAD, **said}, workflow="loop", max_iterations=3)
    assert [event.sufficient for event in ran.of(Reviewed)] == [False, True]
    assert not [event.query for event in ran.of(Searched) if event.query in BAD["gaps"]], "a gap is no query"


def test_c1_a_researcher_who_is_told_gaps_alone_searches_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told again, it has nothing more to search for: that ends it, before the limit."""

    class Curious(Reviewer):
        def _research(self, request: Request) -> Reply:
            said = request["messages"][-1]["text"]
            if "price of the Beta engine" in said and "Beta engine cost euro" not in str(request["messages"]):
                return Reply(tool_calls=(Call("search", {"queries": ["Beta engine cost euro"], "source": ""}),))
            return super()._research(request)

    with served(monkeypatch, Curious([BAD] * 9)):
        ran = research(tmp_path, workflow="loop", max_iterations=9)
    assert [event.query for event in ran.of(Searched)].count("Beta engine cost euro") == 1
    assert len(ran.of(Reviewed)) == 3


def test_b7_a_section_is_known_in_other_case_and_with_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    title = "2. beta engine"
    said = {**BAD, "section_coverage": [_row(title, "Beta engine price")], "sections_to_retry": [title]}
    ran = _ran(tmp_path, monkeypatch, said)
    assert [e.section for e in ran.of(SectionStarted) if e.attempt > 1] == ["Beta engine"]


@pytest.mark.parametrize("workflow", ["sections", "loop"])
def test_b7_every_section_has_a_status_and_so_has_the_whole(
    workflow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _ran(tmp_path, monkeypatch, {**BAD, "sections_to_retry": ["Beta engine"]}, workflow=workflow)
    assert {row.section: (row.status, row.score) for row in ran.report.reviews} == dict.fromkeys(
        [*PLAN, ""], ("sufficient", 8)
    )
    never = _ran(tmp_path / "never", monkeypatch, *[BAD] * 9, workflow=workflow, max_iterations=1)
    assert {row.section: row.status for row in never.report.reviews}[""] == "partial"
    last = never.of(Reviewed)[-1]
    assert (last.gaps, last.reasoning) == (tuple(BAD["gaps"]), "A price.")
