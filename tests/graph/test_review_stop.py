"""The stop at the review, the question that is on disk before it is asked, and what a plan or report must hold."""

from pathlib import Path
from typing import Any, get_type_hints

from langchain_core.messages import AIMessage, ToolMessage

from deep_research.data import Action, Observation, Review, Section, SectionReview, Turn
from deep_research.events import SectionStarted
from deep_research.graph.graph_state import ResearcherState
from deep_research.graph.researcher import messages_of
from deep_research.steps.review import remark_of
from deep_research.steps.review_stop import question_of, wanted_sections
from tests.graph.harness import Bench, Planner, Shelf, ask
from tests.graph.test_supervisor import Lead, conduct

NOTES = {
    "alpha": "# Alpha engine\n\nThe Alpha engine turns at 1,500 rpm and was built in 1999 by Ada Long in Turin.",
    "beta": "# Beta engine\n\nThe Beta engine turns at 2,500 rpm and weighs 85 kg without its fuel tank and its pump.",
}
TITLES = ("Alpha engine", "Beta engine")


def _bench(folder: Path, **settings: Any) -> Bench:
    return Bench(folder, Shelf(**NOTES), reasoner=Planner(*TITLES), confirm_review=True, **settings)


async def test_the_sections_that_the_user_names_or_numbers_are_researched_again(tmp_path: Path) -> None:
    """Numbers are those of one list: the report is 1, each section has its own; "write" is the report."""
    async with _bench(tmp_path) as bench:
        waiting = await bench.ask("How do the Alpha and the Beta engine differ?")
        asked, begun = waiting.interrupts[0], len(waiting.of(SectionStarted))
        assert list(asked["options"]) == ["Write the report", *(f"Research again: {title}" for title in TITLES)]
        assert not any(line[:1].isdigit() for line in asked["question"].splitlines())
        for number, said in enumerate(("more about Beta engine: its weight", "3"), 1):
            again = await bench.answer(said)
            assert [event.section for event in again.of(SectionStarted)][begun:] == ["Beta engine"] * number
            assert again.interrupts[0]["kind"] == "review"
        done = await bench.answer("write")
    assert "report" in done.state


async def test_b15_only_what_the_user_names_is_researched_again(tmp_path: Path) -> None:
    class Strict(Planner):
        async def review(self, *args: Any, **named: Any) -> Review:
            rows = tuple(SectionReview(title=t, status="partial", retry=True, notes="thin") for t in TITLES)
            told = {"section_coverage": rows, "sections_to_retry": TITLES, "gaps": ("No price.",)}
            return Review(is_sufficient=False, overall_score=4, **told)

    async with Bench(tmp_path, Shelf(**NOTES), reasoner=Strict(*TITLES), confirm_review=True) as bench:
        waiting = await bench.ask("How do the Alpha and the Beta engine differ?")
        begun = len(waiting.of(SectionStarted))
        again = await bench.answer("Research again: Beta engine")
        assert [event.section for event in again.of(SectionStarted)][begun:] == ["Beta engine"]
        done = await bench.answer("write")
    assert [gap.what for gap in done.report.gaps if gap.why.startswith("No price")] == ["coverage"]


def test_b15_what_to_look_for_reaches_the_researcher_of_a_weak_section() -> None:
    weak = Section(title="Memory", missing=("price",))
    asked = question_of([weak], {}, "en")
    (again,) = wanted_sections("Memory: look for euros", asked, [weak], {}) or []
    assert "Memory: look for euros; price" in remark_of(again)


async def test_c2_the_pending_question_is_in_the_state_before_the_user_is_asked(tmp_path: Path) -> None:
    async with Bench(tmp_path, Shelf(**NOTES), workflow="loop", allow_clarification=True) as bench:
        waiting = await bench.ask("blockchain")
        assert waiting.state["pending_question"] == waiting.interrupts[0]["question"]
        done = await bench.answer("How fast does the Alpha engine turn?")
    assert done.state["pending_question"] == ""
    assert "1,500 rpm" in done.report.report


def test_b2_a_researcher_tells_its_calls_as_messages() -> None:
    names = {"researcher_messages", "research_topic", "compressed_research", "raw_notes", "tool_call_iterations"}
    assert names <= set(get_type_hints(ResearcherState))
    search = Action(id="a1", name="search", query="Alpha engine")
    seen = Observation(action="a1", passages=("s1p1", "s1p2"))
    call, brought = messages_of([Turn(actions=(search,), observations=(seen,))])
    assert isinstance(call, AIMessage)
    assert call.tool_calls[0]["args"] == {"queries": ["Alpha engine"], "source": ""}
    assert isinstance(brought, ToolMessage)
    assert (brought.tool_call_id, brought.content) == ("a1", "s1p1 s1p2")
    think = Turn(actions=(Action(id="a2", name="think", query="Beta next"),), observations=(Observation(action="a2"),))
    _, *told = messages_of([think])
    assert [message.content for message in told] == ["Reflection recorded: Beta next"]


def test_d1_topics_of_the_supervisors_own_choice_leave_one_line_for_the_plan(tmp_path: Path) -> None:
    lead = Lead([conduct("Beta engine")], plan=["Alpha engine", "Gamma engine"])
    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=lead, workflow="supervisor")
    about = [gap for gap in trace.report.gaps if "Gamma engine" in gap.what]
    assert [gap.codes for gap in about] == [("replaced_by_own",)]
