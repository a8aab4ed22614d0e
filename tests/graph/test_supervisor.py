"""The `supervisor` workflow, rows D1–D4 and D8 of the contract."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deep_research.data import Action, Brief, Question, Section, Turn
from deep_research.errors import Unreachable
from deep_research.events import SectionStarted
from deep_research.ports import Library
from tests.graph.harness import Broken, Meeting, Planner, Shelf, Trace, ask

NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Zeta", "Kappa", "Omega")
NOTES = {
    name.lower(): f"# {name} engine\n\nThe {name} engine is a rotary engine that turns at {number},500 rpm. "
    f"The {name} engine was built in {1990 + number} by Anna Holm. The {name} engine weighs {number}40 kg."
    for number, name in enumerate(NAMES, 1)
}
TITLES = tuple(f"{name} engine" for name in NAMES)
SECRET = "traceback 0xdeadbeef upstream exploded"


def conduct(title: str, topic: str = "") -> Action:
    return Action(id=f"d-{title}", name="conduct_research", query=topic or title, source=title)


def end() -> Action:
    return Action(id="end", name="research_complete")


class Lead(Planner):
    """Delegates what it is told, round by round; remembers what it was shown each time."""

    def __init__(self, *rounds: Sequence[Action], plan: Sequence[str] = ()) -> None:
        super().__init__(*plan)
        self.rounds = rounds
        self.shown: list[tuple[Turn, ...]] = []
        self.sections: list[tuple[Section, ...]] = []

    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        self.shown.append(tuple(turns))
        self.sections.append(tuple(sections))
        number = len(self.shown) - 1
        wanted = self.rounds[number] if number < len(self.rounds) else [end()]
        return [a.model_copy(update={"id": f"r{number}{a.id}"}) for a in wanted]

    def answer(self, asked: int, action: str) -> str:
        """What the supervisor read about an action when it was asked for the time `asked`."""
        seen = {o.action: o for turn in self.shown[asked] for o in turn.observations}
        return seen[action].text


def supervise(folder: Path, lead: Any, *places: Any, **settings: Any) -> Trace:
    return ask(folder, "Engines", *(places or [Shelf(**NOTES)]), reasoner=lead, workflow="supervisor", **settings)


def begun(trace: Trace) -> list[str]:
    return [event.section for event in trace.of(SectionStarted)]


def status(trace: Trace) -> dict[str, str]:
    return {section.title: section.status for section in trace.report.sections}


def outer(trace: Trace) -> list[str]:
    inner = {"researcher_invoke", "tools", "compress_output"}
    return [node for node in trace.nodes if node not in inner]


def test_d1_brief_then_supervisor_and_its_tools_in_turn_then_the_report(tmp_path: Path) -> None:
    trace = supervise(tmp_path, Lead([conduct("Alpha engine")], [conduct("Beta engine")]))
    one_round = ["supervisor", "supervisor_tools", "researcher"]
    assert outer(trace) == [
        "clarify", "write_research_brief", *one_round, *one_round, "supervisor", "supervisor_tools", "final_report"
    ]  # fmt: skip
    assert "1,500 rpm" in trace.report.report
    assert "2,500 rpm" in trace.report.report
    assert trace.report.workflow == "supervisor"


def test_d1_a_planned_section_gets_the_supervisors_instructions(tmp_path: Path) -> None:
    class Noting(Lead):
        seen: list[Section]

        async def next_move(self, section: Section, *args: Any) -> Any:
            self.seen.append(section)
            return await super().next_move(section, *args)

    lead = Noting([conduct("ALPHA  engine", "Its speed.")], [conduct("Alpha engine", "Its weight.")], plan=TITLES[:1])
    lead.seen = []
    supervise(tmp_path, lead)
    told = {(s.attempts, s.title, s.description, s.notes) for s in lead.seen}
    assert told == {(1, "Alpha engine", "Its speed.", ""), (2, "Alpha engine", "Its speed.", "Its weight.")}


def test_a12_the_supervisors_own_topics_search_for_the_focus_points_of_the_plan(tmp_path: Path) -> None:
    class Focused(Lead):
        async def plan(self, question: Question, *args: Any, **kwargs: Any) -> Brief:
            brief = await super().plan(question, *args, **kwargs)
            sections = tuple(s.model_copy(update={"focus": (f"{s.title} speed",)}) for s in brief.sections)
            return brief.model_copy(update={"sections": sections})

    lead = Focused([conduct(TITLES[0]), conduct("All engines"), conduct("Others")], plan=TITLES[:3])
    trace = supervise(tmp_path, lead)
    searched = {s.title: s.searched for s in trace.report.sections}
    assert [query for query in searched["All engines"] if query.endswith("speed")] == [
        f"{t} speed" for t in TITLES[1:3]
    ]
    assert not any(query.endswith("speed") for query in searched["Others"])
    lead = Focused(
        [conduct(TITLES[0]), conduct("All engines")], [Action(id="t", name="think", query="Go on.")], plan=TITLES[:2]
    )
    waited = supervise(tmp_path / "waited", lead, max_concurrent_research_units=1)
    assert f"{TITLES[1]} speed" in {s.title: s.searched for s in waited.report.sections}["All engines"]


def test_d2_delegations_of_a_round_run_side_by_side(tmp_path: Path) -> None:
    lead = Lead([conduct(title) for title in TITLES[:4]])
    trace = supervise(tmp_path, lead, Meeting(4, *TITLES, **NOTES), max_concurrent_research_units=4)
    assert begun(trace) == list(TITLES[:4])
    assert trace.failures == []


def test_d2_what_overflows_is_told_and_comes_first_in_the_next_round(tmp_path: Path) -> None:
    lead = Lead([conduct(title) for title in TITLES[:4]], [conduct(TITLES[4])])
    trace = supervise(tmp_path, lead, max_concurrent_research_units=3)
    assert begun(trace)[:3] == list(TITLES[:3])
    assert set(begun(trace)[3:]) == set(TITLES[3:5])
    assert lead.answer(1, f"r0d-{TITLES[3]}").startswith("Not begun: at most 3 delegations")
    assert "4,500 rpm" in lead.answer(2, f"r0d-{TITLES[3]}w")
    assert set(status(trace).values()) == {"completed"}
    assert not trace.report.gaps, "nothing was left out"


def test_d2_overflow_that_the_supervisor_gives_up_is_named_in_the_report(tmp_path: Path) -> None:
    trace = supervise(tmp_path, Lead([conduct(title) for title in TITLES[:3]]), max_concurrent_research_units=2)
    assert status(trace)[TITLES[2]] == "failed"
    (gap,) = [gap for gap in trace.report.gaps if gap.what == TITLES[2]]
    assert "the supervisor ended the research" in gap.why
    assert gap.why in trace.report.report


def test_d2_rounds_are_limited_and_what_is_left_is_named(tmp_path: Path) -> None:
    lead = Lead(*([conduct(title)] for title in TITLES), plan=TITLES)
    trace = supervise(tmp_path, lead, max_researcher_iterations=3)
    assert begun(trace) == list(TITLES[:3])
    assert len(lead.shown) == 3, "no supervisor is asked whose answer cannot be carried out"
    assert trace.state["research_iterations"] == 3
    left = {gap.what for gap in trace.report.gaps if "3 rounds" in gap.why}
    assert left == set(TITLES[3:])


def test_d2_research_complete_ends_it_and_nothing_else_of_the_turn_is_begun(tmp_path: Path) -> None:
    lead = Lead([conduct("Alpha engine")], [conduct("Beta engine"), end()], [conduct("Gamma engine")])
    trace = supervise(tmp_path, lead)
    assert begun(trace) == ["Alpha engine"]
    assert {gap.what for gap in trace.report.gaps if "ended the research" in gap.why} == {"Beta engine"}


def test_d8_thoughts_unknown_tools_and_errors_never_enter_the_findings(tmp_path: Path) -> None:
    odd = [
        Action(id="t", name="think", query=f"I wonder about {SECRET}."),
        Action(id="u", name="unknown", query=f"there is no tool named {SECRET}"),
        conduct("Alpha engine"),
    ]
    lead = Lead(odd, odd[:2])
    trace = supervise(tmp_path, lead, Shelf(**NOTES), Broken(Unreachable("down")))
    assert len(lead.shown) == 3, "an unknown tool is answered, it does not end the research"
    assert [turn.observations[0].action for turn in lead.shown[2]] == ["r0t", "r1t"]
    assert {o.action for o in lead.shown[2][0].observations} == {"r0t", "r0u", "r0d-Alpha engine"}
    assert SECRET not in trace.report.report
    assert SECRET not in "\n".join(trace.state["notes"])
    assert "down" not in "\n".join(trace.state["notes"])
    assert any(gap.why == "down" for gap in trace.report.gaps)
