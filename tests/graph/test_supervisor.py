"""The `supervisor` workflow, rows D1–D4 and D8 of the contract."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Action, Brief, Move, Section, Turn
from deep_research.errors import MalformedOutput, StoreError, Unreachable
from deep_research.events import SectionStarted
from deep_research.ports import Library
from deep_research.verification.citations import cited_ids
from tests.graph.harness import Bench, Broken, Fragile, Meeting, Planner, Shelf, Trace, ask

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


@pytest.mark.parametrize("limit", [1, 3])
def test_d2_rounds_are_limited_and_what_is_left_is_named(tmp_path: Path, limit: int) -> None:
    lead = Lead(*([conduct(title)] for title in TITLES), plan=TITLES)
    trace = supervise(tmp_path, lead, max_researcher_iterations=limit)
    assert begun(trace) == list(TITLES[:limit])
    assert len(lead.shown) == limit, "no supervisor is asked whose answer cannot be carried out"
    assert trace.state["research_iterations"] == limit
    left = {gap.what for gap in trace.report.gaps if f"{limit} rounds" in gap.why}
    assert left == set(TITLES[limit:])


def test_d2_research_complete_ends_it_and_nothing_else_of_the_turn_is_begun(tmp_path: Path) -> None:
    lead = Lead([conduct("Alpha engine")], [conduct("Beta engine"), end()], [conduct("Gamma engine")])
    trace = supervise(tmp_path, lead)
    assert begun(trace) == ["Alpha engine"]
    assert {gap.what for gap in trace.report.gaps if "ended the research" in gap.why} == {"Beta engine"}


class Greedy(Lead):
    """Its researchers search for ever, three at a time; the third search goes to a place of one's choice."""

    place = ""

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Any:
        self.turns[section.title, len(turns)] = tuple(turns)
        made = [Action(id=f"t{len(turns)}n{i}", name="search", query=f"engine {len(turns)}.{i}") for i in range(3)]
        if len(turns) > 20:
            return Move()
        return Move(actions=(*made[:2], made[2].model_copy(update={"source": self.place})))


def test_d3_a_tool_that_fails_tells_the_researcher_and_the_others_answer(tmp_path: Path) -> None:
    lead = Greedy([conduct("Alpha engine")])
    lead.place = "nowhere"
    supervise(tmp_path, lead, max_tool_calls_per_researcher=6)
    first = lead.turns["Alpha engine", 1][0].observations
    assert [bool(seen.passages) for seen in first] == [True, True, False]
    assert "nowhere" in first[2].failure


def test_d4_compression_keeps_every_source_and_the_raw_notes(tmp_path: Path) -> None:
    lead = Lead([conduct("Alpha engine"), conduct("Beta engine")])
    trace = supervise(tmp_path, lead)
    turns = [turn for title in TITLES[:2] for turn in lead.turns[title, 1]]
    seen = {p for turn in turns for observation in turn.observations for p in observation.passages}
    raw = trace.state["raw_notes"]
    assert len(raw) == len(trace.state["notes"]) == 2
    assert {key for told in raw for key in cited_ids(told)} == seen
    assert all(told.startswith("search: ") for told in raw)
    assert all(section.sources for section in trace.report.sections)


class FragileLead(Fragile, Lead):
    """Delegates, and one of its researchers fails."""


@pytest.mark.parametrize(
    ("stage", "error"), [("next_move", MalformedOutput(SECRET)), ("take_notes", RuntimeError(SECRET))]
)
def test_d8_a_researcher_that_fails_ends_neither_the_run_nor_its_siblings(
    tmp_path: Path, stage: str, error: Exception
) -> None:
    lead = FragileLead([conduct(t) for t in TITLES[:3]], [conduct(TITLES[3])], stage=stage, error=error)
    trace = supervise(tmp_path, lead)
    assert status(trace) == {t: "failed" if t == "Beta engine" else "completed" for t in TITLES[:4]}
    assert any(gap.what == "Beta engine" for gap in trace.report.gaps)
    (failed,) = [o for turn in lead.shown[1] for o in turn.observations if o.failure]
    assert failed.action == "r0d-Beta engine"
    findings = [*trace.state["notes"], *(claim.text for claim in trace.report.claims)]
    assert SECRET not in "\n".join(findings)


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


async def test_d8_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class Torn(Lead):
        torn = True

        async def take_notes(self, section: Any, *args: Any) -> Any:
            if section.title == "Beta engine" and self.torn:
                raise StoreError("The disk is full.")
            return await super().take_notes(section, *args)

    lead = Torn([conduct("Alpha engine")], [conduct("Beta engine")])
    async with Bench(tmp_path, Shelf(**NOTES), reasoner=lead, workflow="supervisor") as bench:
        with pytest.raises(StoreError):
            await bench.ask("Engines")
        lead.torn = False
        trace = await bench._run(None)
    assert len(lead.shown) == 3
    assert status(trace) == {"Alpha engine": "completed", "Beta engine": "completed"}
