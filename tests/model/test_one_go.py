"""The report is written in one go from the sections that were researched, and all of it is checked."""

from pathlib import Path
from typing import Any

import pytest

from deep_research.events import ReportReady
from deep_research.reasoners.model.reporting_calls import _distinct_facts
from deep_research.verification.citations import cite_ids, cut_cited
from tests.model.harness import ENGINES, PLAN, assert_presentable, engines, research, served
from tests.support.scripted_provider import Script
from tests.support.scripted_replies import Reply, Request, instance_of
from tests.support.scripted_researcher import ScriptedResearcher, passages_in, schema_of, step_of

TITLE = "Two engines beside each other"
FALSE = "Both engines weigh 9999 kg"
LIMIT = "How loud the Alpha engine is when it runs without oil is not in the sources."


class Writer:
    """Joins the first two of three sections in one text, and leaves the third as it is."""

    def __init__(self) -> None:
        self._play = ScriptedResearcher(sections=PLAN, sentences=4)
        self.answer = ""

    def __call__(self, request: Request) -> Reply:
        """Return the answer to a request."""
        if step_of(request) != "compose":
            return self._play(request)
        shown = passages_in(request)
        told = [f"{_first(passage.text)} [{passage.id}]" for passage in shown[:4]]
        body = {
            "title": f"{TITLE}: 9999 kg",
            "notes": list(ENGINES[:2]),
            "content": f"{' '.join(told)} {FALSE}. [{shown[0].id}] → So an engine is chosen by where it runs.",
        }
        # The answer repeats, word for word, what a section says whose place the body takes, and the body does not.
        notes = (
            request["messages"][-1]["text"].partition(f'<section title="{ENGINES[1]}">')[2].partition("</section>")[0]
        )
        retold = {_first(passage.text) for passage in shown[:4]}
        repeated = next(s for s in cut_cited(notes, 0, "prose") if s.passages and s.text not in retold)
        self.answer = repeated.text
        data: dict[str, Any] = {
            "answer": f"{repeated.text} {cite_ids(repeated.passages)}",
            "sections": [body],
            "table": "",
            "advice": [],
            "conclusion": "",
            "limits": [{"text": LIMIT, "searched": list(PLAN[ENGINES[0]])}],
        }
        return Reply(data={**instance_of(schema_of(request) or {}), **data})


def _first(text: str) -> str:
    return next(line for line in text.splitlines() if line.endswith(".")).split(". ")[0].rstrip(".") + "."


def test_sections_that_were_researched_apart_become_one_text_that_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer()
    with served(monkeypatch, writer):
        report = research(tmp_path).report
    assert [section.title for section in report.sections] == [TITLE, ENGINES[2]]
    assert f"## {ENGINES[0]}" not in report.report
    assert FALSE not in report.report
    (wrong,) = [claim for claim in report.claims if claim.text.startswith(FALSE)]
    assert (wrong.section, wrong.stands) == (TITLE, False)
    assert "→ So an engine is chosen by where it runs." in report.sections[0].content
    assert {claim.section for claim in report.claims} == {"", TITLE, ENGINES[2]}
    assert writer.answer in {claim.text for claim in report.claims if claim.stands}
    assert report.sections[0].key_findings
    assert set(report.sections[0].sources) <= set(report.sources)


def test_a_name_that_another_section_cites_brings_nothing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(request: Request) -> Reply:
        if step_of(request) != "compose":
            return PLAY(request)
        alpha, beta = (next(p for p in passages_in(request) if name in p.text) for name in ("Graz", "Bergen"))
        said = f"{_first(beta.text)} [{beta.id}]\n\nSo ask in Graz first. So ask in Turin first."
        sections = [
            {"title": "First", "notes": list(ENGINES[:2]), "content": f"{_first(alpha.text)} [{alpha.id}]"},
            {"title": "Second", "notes": [ENGINES[2]], "content": said},
        ]
        return Reply(data={**instance_of(schema_of(request) or {}), "answer": "", "sections": sections})

    with served(monkeypatch, script):
        claims = research(tmp_path).report.claims
    assert {"So ask in Graz first.", "So ask in Turin first †."} <= {claim.text for claim in claims}


GUESS = "It pleases nearly everybody who tries it on a quiet summer evening."
PLAY = ScriptedResearcher(sections=PLAN, sentences=4)


def guessing(compose: Script) -> Script:
    """The scripted researcher, which adds to each section what its passages do not say, with a composer of its own."""

    def script(request: Request) -> Reply:
        if step_of(request) == "compose":
            return compose(request)
        reply = PLAY(request)
        if step_of(request) != "write_section" or not isinstance(reply.data, dict):
            return reply
        (shown, *_) = passages_in(request)
        return Reply(data={**reply.data, "content": f"{reply.data['content']}\n\n{GUESS} [{shown.id}]"})

    return script


def test_the_judge_is_asked_once_and_of_the_report_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stood in the notes and not in the report costs no judge; what the body takes over is judged as it stands there."""
    with served(monkeypatch, ScriptedResearcher(sections=PLAN, sentences=4, rewords=True)) as provider:
        report = research(tmp_path).report
    order = [step_of(call.request) for call in provider.calls]
    assert order.count("judge") == 1
    assert order.index("judge") > order.index("compose")
    assert all(claim.text.startswith("In other words") for claim in report.claims if claim.section and claim.stands)


@pytest.mark.parametrize("composes", [True, False])
def test_a_section_that_stays_as_it_was_researched_is_judged_before_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, composes: bool
) -> None:
    """Also where no report could be composed from the sections."""
    script = guessing(PLAY if composes else lambda _request: Reply(text="no object"))
    with served(monkeypatch, script) as provider:
        ran = research(tmp_path)
    assert any(
        GUESS in call.request["messages"][-1]["text"] for call in provider.calls if step_of(call.request) == "compose"
    )
    assert_presentable(ran)
    guessed = [claim for claim in ran.report.claims if GUESS in claim.text]
    assert {claim.section for claim in guessed} == set(ENGINES) - {""}
    assert not any(claim.stands for claim in guessed)
    assert ran.of(ReportReady)[0].claims == sum(claim.stands for claim in ran.report.claims) < len(ran.report.claims)
    assert GUESS not in ran.report.report.partition("What was cut")[0]


def test_sides_of_a_contradiction_are_judged_though_the_report_tells_them_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides: list[dict[str, Any]] = []

    def script(request: Request) -> Reply:
        reply = play(request)
        if step_of(request) != "review" or not isinstance(reply.data, dict):
            return reply
        found = cut_cited(request["messages"][-1]["text"], 0, "prose")
        told = {s.passages: s.text for s in found if s.text.startswith("In other words") and len(s.passages) == 1}
        sides[:] = [{"statement": text, "passages": list(keys)} for keys, text in told.items()][:2]
        return Reply(data={**reply.data, "contradictions": [{"topic": "engines", "sides": sides, "prevails": ""}]})

    play = ScriptedResearcher(sections=PLAN, sentences=4, rewords=True)
    with served(monkeypatch, script):
        report = research(tmp_path).report
    (found,) = report.contradictions
    assert [side.statement for side in found.sides] == [side["statement"] for side in sides]
    judged = {claim.text: claim.verdict for claim in report.claims}
    assert all(judged[side.statement].by_model for side in found.sides)


def test_a_further_attempt_adds_to_a_note_from_what_was_found_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written stays, word for word, and its passages are not sent again."""
    notes = engines(tmp_path / "notes")
    found_since = "At attempt 2 the motor ran for an hour, as detail 1 of the log says."
    (notes / "log.md").write_text(f"# Log\n\n{found_since}", "utf-8")
    play = ScriptedResearcher(sections=PLAN, sentences=2, retry=["Beta engine"], rewords=True)
    with served(monkeypatch, play) as provider:
        ran = research(tmp_path, docs=[notes])
    first, second = (
        call.request
        for call in provider.calls
        if step_of(call.request) == "write_section" and play.section_of(call.request) == "Beta engine"
    )
    assert "These notes stand" in second["messages"][-1]["text"]
    assert {shown.id for shown in passages_in(second)}.isdisjoint(shown.id for shown in passages_in(first))
    (composed,) = (call.request for call in provider.calls if step_of(call.request) == "compose")
    notes_of_beta = composed["messages"][-1]["text"].partition('<section title="Beta engine">')[2]
    told = notes_of_beta.partition("</section>")[0]
    assert "4,500 rpm" in told
    assert found_since in told
    assert_presentable(ran)


def test_a_further_attempt_takes_out_what_it_takes_the_place_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = engines(tmp_path / "notes")
    (notes / "log.md").write_text(
        "# Log\n\nAt attempt 2 the motor ran for an hour, as detail 1 of the log says.", "utf-8"
    )
    play = ScriptedResearcher(sections=PLAN, sentences=2, retry=["Beta engine"], rewords=True)
    taken_out: list[str] = []

    def script(request: Request) -> Reply:
        reply = play(request)
        text = request["messages"][-1]["text"]
        if step_of(request) != "write_section" or "These notes stand" not in text:
            return reply
        earlier = text.partition("<section>")[2].partition("</section>")[0]
        (told, *_) = [s.text for s in cut_cited(earlier, 0, "prose") if "4,500 rpm" in s.text]
        taken_out.append(told)
        assert isinstance(reply.data, dict)
        return Reply(data={**reply.data, "dropped": [f"{told} (settled by the log)"]})

    with served(monkeypatch, script) as provider:
        ran = research(tmp_path, docs=[notes])
    (composed,) = (call.request for call in provider.calls if step_of(call.request) == "compose")
    notes_of_beta = composed["messages"][-1]["text"].partition('<section title="Beta engine">')[2]
    told = notes_of_beta.partition("</section>")[0]
    assert taken_out
    assert taken_out[0] not in told
    assert "detail 1 of the log" in told
    assert_presentable(ran)


def test_the_steps_stand_behind_the_section_that_they_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer()

    def script(request: Request) -> Reply:
        reply = writer(request)
        if step_of(request) != "compose" or not isinstance(reply.data, dict):
            return reply
        (shown, *_) = passages_in(request)
        step = instance_of(schema_of(request)["$defs"]["AdviceAnswer"]) | {"action": "Stop it.", "premises": [shown.id]}
        blank = {name: "" for name, said in step.items() if isinstance(said, str) and name != "action"}
        empty = {"how": [], "commands": []}
        return Reply(data={**reply.data, "advice": [{**step, **blank, **empty}], "advice_after": ENGINES[2]})

    with served(monkeypatch, script):
        report = research(tmp_path).report.report
    assert report.index(f"## {ENGINES[2]}") < report.index("## What to do now")
    assert report.index("## Abstract") < report.index(f"## {ENGINES[2]}")


def test_a_missing_fact_that_two_sections_word_alike_is_told_once() -> None:
    facts = ["release dates of the Alpha engine", "the release date of the Alpha engine", "price of the Beta engine"]
    assert _distinct_facts(facts) == [facts[0], facts[2]]
