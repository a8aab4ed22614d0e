"""Write, verify, revise: who finds what is wrong, who changes it, and how what still fails is shown."""

import json
import re
from typing import Any

import pytest

from deep_research.data import Claim, Edit, Report
from deep_research.i18n.catalog import phrase
from deep_research.steps.revise import apply_edits
from deep_research.steps.write import clean_report
from deep_research.verification.chart_points import chart_problems, read_charts
from tests.model.harness import Scene, citing, failing, of_step, playing, quickly, steps, writing
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import SLIP, step_of

TRUE = "The Alpha engine is a rotary engine that turns at 3,000 rpm. [{Alpha}]"
FALSE = "The Alpha engine swims under seven frozen lakes. [{Alpha}]"
TEXT = f"# Engines\n\n{TRUE} {FALSE}\n\n## Details\n\nIt was built in 1999 by Rolf Maier in Graz. [{{Alpha}}]"
_CITED = re.compile(r"[ \t]*(?:\[(?:s\d+p\d+|\d+)\])+°?[ \t]*")


def _bare(text: str) -> str:
    return re.sub(r"[ \t]+\n", "\n", _CITED.sub(" ", text)).strip()


def _body(report: Report) -> str:
    ends = "|".join(phrase(name, report.language) for name in ("checked", "gaps"))
    return re.split(rf"\n## (?:{ends})\n", report.report)[0]


def _claim(report: Report, words: str) -> Claim:
    return next(claim for claim in report.claims if words in claim.text)


def _rejecting(_request: Request) -> Reply:
    return Reply(data={"edits": [], "rejected": [{"number": n, "why": "The sources say so."} for n in (1, 2, 3)]})


def _judging(verdict: str, words: str = "frozen lakes", **more: Any) -> Any:
    """The step `judge` of one that finds fault with the statements that hold these words."""

    def judge(request: Request) -> Reply:
        rows = re.findall(r"^(\d+)\. (.+)$", request["messages"][-1]["text"].partition("The statements")[2], re.M)
        wrong = [
            {"number": int(n), "verdict": verdict, "problem": "no lakes", "evidence": "", "passages": []}
            for n, said in rows
            if words in said
        ]
        return Reply(data={"problems": wrong, "reckonings": [], "checked": len(rows), **more})

    return judge


def test_the_judge_finds_the_slip_and_only_the_writer_s_edits_change_the_text(scene: Scene) -> None:
    report = scene.research().report
    (written,), (problem,) = of_step(scene.provider, "write"), report.problems
    assert written.reply is not None
    assert SLIP in written.reply.text
    assert (problem.kind, problem.by, problem.outcome, problem.quote) == ("unsupported", "judge", "revised", SLIP)
    text, edits = apply_edits(
        clean_report(written.reply.text), [e.model_copy(update={"applied": False}) for e in report.edits]
    )
    assert edits == list(report.edits)
    assert _bare(_body(report)) == _bare(text)
    assert SLIP not in report.report
    assert all(claim.stands for claim in report.claims if claim.passages)
    assert "°" not in report.report


def test_every_statement_stands_where_its_claim_says(scene: Scene) -> None:
    text = f"{TEXT}\n\n| Engine | Speed |\n|---|---|\n| Alpha | 3,000 rpm [{{Alpha}}] |\n\n- I would take it.\n"
    report = scene.quickly(playing(write=writing(text), revise=_rejecting)).report
    assert len(report.claims) == 5
    for claim in report.claims:
        shown = report.report[claim.start : claim.end]
        assert _bare(shown).strip("| ").replace(" | ", " ") in claim.text.replace(" | ", " ") or claim.text in _bare(
            shown
        )
        assert bool(re.search(r"\[\d+\]", shown)) == bool(claim.passages)
    own = _claim(report, "I would take it")
    assert (own.kind, own.verdict.kind, own.where) == ("own", "own", "Details")


def test_what_still_fails_after_two_rounds_carries_the_mark_and_its_reason(scene: Scene) -> None:
    rounds = iter(["eight frozen lakes", "nine frozen lakes", "ten frozen lakes"])

    def revise(request: Request) -> Reply:
        quote = re.findall(r"“(The Alpha engine swims[^”]*)”", request["messages"][-1]["text"])[0]
        new = re.sub(r"\w+ frozen lakes", next(rounds), quote)
        return Reply(data={"edits": [{"problems": [1], "old": quote, "new": new}], "rejected": []})

    report = scene.quickly(playing(write=writing(TEXT), revise=revise, judge=_judging("unsupported"))).report
    assert steps(scene.provider)["revise"] == 2
    claim = _claim(report, "frozen lakes")
    assert claim.text == "The Alpha engine swims under nine frozen lakes."
    assert (claim.verdict.kind, claim.verdict.reason, claim.verdict.by_model) == ("unverified", "no lakes", True)
    assert report.report[claim.start : claim.end].endswith("[1]°")
    assert _body(report).count("°") == 1
    assert "°" in report.report.split("How this was checked")[1]
    # The verifier of a revised text is shown what changed, and nothing else.
    judged = [
        call.request["messages"][-1]["text"].partition("The statements")[2] for call in of_step(scene.provider, "judge")
    ]
    assert ["3,000 rpm" in said for said in judged] == [True, False, False]
    assert all("frozen lakes" in said for said in judged)


def test_b8_an_opening_much_longer_or_shorter_than_asked_goes_back_to_its_writer(scene: Scene) -> None:
    """Code counts and says so, in each round anew; the writer changes the text."""
    told: list[tuple[str, str]] = []
    many = " ".join(f"Point {n} is told here." for n in range(66))
    few = " ".join(f"Point {n} is told here." for n in range(20))
    rounds = iter([(f" {many}", ""), ("## Details", f"{few}\n\n## Details")])

    def revise(request: Request) -> Reply:
        told.extend(re.findall(r"has (\d+) (\w+); asked were 100 to 200", request["messages"][-1]["text"]))
        old, new = next(rounds)
        return Reply(data={"edits": [{"problems": [1], "old": old, "new": new}], "rejected": []})

    text = f"# Engines\n\n{TRUE} {many}\n\n## Details\n\nIt was built in 1999 by Rolf Maier in Graz. [{{Alpha}}]"
    report = scene.research(playing(write=writing(text), revise=revise)).report
    assert told == [("342", "words"), ("12", "words")]
    assert [(p.by, p.kind, p.outcome) for p in report.problems] == [("code", "unclear", "revised")] * 2


def test_a_contradicted_statement_that_its_writer_keeps_stays_marked_and_is_a_gap(scene: Scene) -> None:
    script = playing(write=writing(TEXT), revise=_rejecting, judge=_judging("contradicted"))
    report = scene.quickly(script).report
    assert _bare(_body(report)) == _bare(TEXT.replace("{Alpha}", "1")), "nobody edits a sentence but its writer"
    claim = _claim(report, "frozen lakes")
    assert claim.verdict.kind == "contradicted"
    assert report.report[claim.start : claim.end].endswith("[1]°")
    (gap,) = [gap for gap in report.gaps if gap.codes == ("contradicted",)]
    assert "frozen lakes" in gap.what
    (problem,) = report.problems
    assert (problem.outcome, problem.reply) == ("rejected", "The sources say so.")


LAKES = "\n\n".join(f"The Alpha engine swims under {n} frozen lakes. [{{Alpha}}]" for n in range(2, 9))
WHOLE = f"# Engines\n\n{TRUE}\n\n## Details\n\n{'It was built in 1999 by Rolf Maier in Graz. [{Alpha}] ' * 8}"


@pytest.mark.parametrize(("answers", "kept"), [([WHOLE], False), (["# Engines", WHOLE], False), (["# E", "# E"], True)])
def test_where_much_was_found_the_writer_writes_its_report_anew(
    scene: Scene, answers: list[str], *, kept: bool
) -> None:
    said = iter(answers)
    script = playing(
        write=writing(f"{TEXT}\n\n{LAKES}"),
        revise=lambda request: Reply(text=citing(request, next(said))),
        judge=_judging("unsupported"),
    )
    report = scene.quickly(script).report
    assert steps(scene.provider)["revise"] == len(answers), "all was put right at once, or nothing"
    assert ("frozen lakes" in _body(report)) is kept
    assert {p.outcome for p in report.problems} == {"open" if kept else "revised"}
    assert bool(report.edits) is not kept
    assert [gap.what for gap in report.gaps if gap.what == "revision"] == ["revision"] * kept
    if not kept:
        assert _bare(_body(report)) == _bare(WHOLE.replace("{Alpha}", "1"))
        assert all("frozen lakes" not in edit.new for edit in report.edits)


@pytest.mark.parametrize("said", [WHOLE.replace("It was", "Now it was"), "# Engines\n\nA part.", "No, {Alpha}."])
def test_a_report_written_anew_is_read_and_written_once_more_without_its_sources(scene: Scene, said: str) -> None:
    script = playing(
        write=writing(f"{TEXT}\n\n{LAKES}"),
        revise=lambda request: Reply(text=citing(request, WHOLE)),
        reread=lambda request: Reply(
            text=said.replace("{Alpha}", re.findall(r"s\d+p\d+", str(request["messages"]))[0])
        ),
        judge=_judging("unsupported"),
    )
    report = scene.quickly(script).report
    (asked,) = of_step(scene.provider, "reread")
    assert not asked.request["tools"]
    assert "<source" not in asked.request["messages"][0]["text"]
    taken = said if "Now" in said else WHOLE
    assert _bare(_body(report)) == _bare(taken.replace("{Alpha}", "1"))
    assert not [gap for gap in report.gaps if gap.what == "revision"]


def test_a_report_written_anew_is_read_as_a_whole_once_more_by_the_same_reader(scene: Scene) -> None:
    told = {"quote": "3,000 rpm", "verdict": "misleading", "problem": "only cold", "evidence": "", "passages": []}

    def examine(request: Request) -> Reply:
        is_again = "written the report anew" in request["messages"][-1]["text"]
        return Reply(text=json.dumps({"problems": [told] * is_again, "parts": []}))

    def revise(request: Request) -> Reply:
        if "only cold" not in request["messages"][-1]["text"]:
            return Reply(text=citing(request, WHOLE))
        edit = {"problems": [1], "old": citing(request, TRUE), "new": citing(request, f"Cold: {TRUE}")}
        return Reply(data={"edits": [edit], "rejected": []})

    script = playing(write=writing(f"{TEXT}\n\n{LAKES}"), revise=revise, judge=_judging("unsupported"), examine=examine)
    report = scene.quickly(script).report
    first, again = (call.request["messages"] for call in of_step(scene.provider, "examine"))
    assert again[: len(first)] == first
    assert _bare(WHOLE.replace("{Alpha}", "1"))[:80] in _bare(re.sub(r"s\d+p\d+", "1", again[-1]["text"]))
    assert "Cold: The Alpha engine" in _body(report)
    assert [(p.problem, p.outcome) for p in report.problems if p.by == "verifier"] == [("only cold", "revised")]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The Alpha engine turns at 3,000 rpm. [s99p1]", "s99p1"),
        ('A source says: "Its advantage is that it runs without any oil". [{Alpha}]', "without any oil"),
    ],
)
def test_code_is_sure_of_ids_and_quotations(scene: Scene, said: str, told: str) -> None:
    script = playing(
        write=writing(f"# Engines\n\n{TRUE}\n\n{said}"), judge=_judging("unsupported", "nothing"), revise=_rejecting
    )
    report = scene.quickly(script).report
    (problem,) = report.problems
    assert (problem.by, problem.kind) == ("code", "unsupported")
    assert told in problem.problem
    assert told in of_step(scene.provider, "revise")[0].request["messages"][-1]["text"]
    assert "[s99p1]" not in report.report
    claim = _claim(report, problem.quote)
    assert (claim.kind, claim.verdict.kind, claim.verdict.by_model) == ("fact", "unverified", False)
    assert report.report[claim.start : claim.end].endswith("°")


def test_a_figure_that_is_reckoned_wrong_and_a_chart_that_shows_another_value_are_problems(scene: Scene) -> None:
    def chart(value: int) -> str:
        points = [{"label": "Alpha", "value": 3000, "id": "{Alpha}"}, {"label": "Beta", "value": value, "id": "{Beta}"}]
        given = {"kind": "bar", "title": "Speed", "unit": "rpm", "points": points}
        return f"```chart\n{json.dumps(given)}\n```"

    text = f"# Engines\n\n{TRUE}\n\nTwo of them make 6,500 turns. [{{Alpha}}]\n\n{chart(4500)}\n\n{chart(4000)}"
    reckoned = [{"number": 2, "quote": "6,500", "expression": "2 * 3000"}]
    script = playing(
        write=writing(text), revise=_rejecting, judge=_judging("unsupported", "nothing", reckonings=reckoned)
    )
    report = scene.quickly(script).report
    by_kind = {problem.kind: problem for problem in report.problems}
    assert {problem.by for problem in report.problems} == {"code"}
    assert len(report.problems) == 2
    assert "2 * 3000 = 6000" in by_kind["inconsistent"].problem
    assert "4000" in by_kind["unsupported"].quote


def test_a_judge_is_asked_in_batches_and_answers_for_what_it_has_judged(scene: Scene) -> None:
    many = "\n\n".join(f"Sentence {n} says that it turns at 3,000 rpm. [{{Alpha}}]" for n in range(1, 86))

    def judge(request: Request) -> Reply:
        count = len(re.findall(r"^\d+\. ", request["messages"][-1]["text"].partition("The statements")[2], re.M))
        return Reply(data={"problems": [], "reckonings": [], "checked": count if count == 40 else 0})

    report = scene.quickly(playing(write=writing(f"# Engines\n\n{many}"), judge=judge), depth="brief").report
    assert steps(scene.provider)["judge"] == 3
    assert steps(scene.provider)["examine"] == 0, "a brief report has no verifier of the whole"
    assert [claim.verdict.kind for claim in report.claims] == ["supported"] * 80 + ["unverified"] * 5


def test_a_judge_that_fails_leaves_statements_unverified_and_says_so(scene: Scene) -> None:
    script = failing(playing(write=writing(TEXT)), "content_filter", where=lambda r: step_of(r) in ("judge", "examine"))
    report = scene.quickly(script).report
    assert {claim.verdict.kind for claim in report.claims} == {"unverified"}
    assert {gap.what for gap in report.gaps} >= {"judge", "verifier"}
    assert "swims under seven frozen lakes" in report.report, "nobody has found anything wrong with it"
    assert "confirmed" not in report.report.split("How this was checked")[1].split("## ")[0]


def test_the_verifier_of_the_whole_looks_up_twelve_times_at_most_and_its_problems_reach_the_writer(
    scene: Scene,
) -> None:
    problem = {
        "quote": "3,000 rpm",
        "verdict": "misleading",
        "problem": "only without a load",
        "evidence": "",
        "passages": ["s99p1"],
    }
    part = {"text": "how fast", "answered": "partly", "where": ["Details"]}

    def examine(request: Request) -> Reply:
        if any("No more look-ups" in m["text"] for m in request["messages"]):
            return Reply(text=f"Here they are:\n```json\n{json.dumps({'problems': [problem], 'parts': [part]})}\n```")
        number = sum(len(m["tool_calls"]) for m in request["messages"])
        return Reply(
            tool_calls=tuple(Call("search", {"queries": [f"look {number + n}"], "source": ""}) for n in range(5))
        )

    with scene.served(
        playing(write=writing(TEXT), examine=examine, judge=_judging("none", "nothing"), revise=_rejecting)
    ) as provider:
        ran = quickly(scene.folder)
    report = ran.report
    last = of_step(provider, "examine")[-1].request["messages"]
    answered = [m["text"] for m in last if m["role"] == "tool"]
    assert sum(not text.startswith("Not done: no calls are left") for text in answered) == 12
    assert len(answered) == 15
    assert ran.report.ledger.searches == 13
    found = report.problems[-1]
    assert (found.by, found.kind, found.passages, found.outcome) == ("verifier", "misleading", (), "rejected")
    assert _claim(report, "3,000 rpm").verdict.kind == "misleading"
    assert [(p.text, p.answered, p.where) for p in report.parts] == [("how fast", "partly", ("Details",))]
    assert "only without a load" in of_step(provider, "revise")[0].request["messages"][-1]["text"]


def test_an_edit_that_does_not_fit_is_asked_for_once_more_and_then_told(scene: Scene) -> None:
    def revise(request: Request) -> Reply:
        again = "Not made, because" in request["messages"][-1]["text"]
        old = citing(request, FALSE) if again else "These words stand nowhere."
        return Reply(data={"edits": [{"problems": [1], "old": old, "new": ""}], "rejected": []})

    with scene.served(playing(write=writing(TEXT), revise=revise, judge=_judging("unsupported"))) as provider:
        report = quickly(scene.folder / "a").report
    assert steps(provider)["revise"] == 2
    assert "- These words stand nowhere." in of_step(provider, "revise")[1].request["messages"][-1]["text"]
    assert [problem.outcome for problem in report.problems] == ["revised"]
    assert "frozen lakes" not in report.report

    def stubborn(_request: Request) -> Reply:
        return Reply(data={"edits": [{"problems": [1], "old": "Nowhere.", "new": ""}], "rejected": []})

    with scene.served(playing(write=writing(TEXT), revise=stubborn, judge=_judging("unsupported"))) as provider:
        report = quickly(scene.folder / "b").report
    assert steps(provider)["revise"] == 2
    assert ("edits_not_made",) in {gap.codes for gap in report.gaps}
    assert (report.edits, [p.outcome for p in report.problems]) == ((), ["open"])
    assert _claim(report, "frozen lakes").verdict.kind == "unverified"


def test_a_writer_that_fails_to_revise_leaves_its_text(scene: Scene) -> None:
    script = failing(playing(write=writing(TEXT)), "content_filter", where=lambda r: step_of(r) == "revise")
    report = scene.quickly(script).report
    assert "revision" in {gap.what for gap in report.gaps}
    assert "frozen lakes. [1]°" in report.report


def test_edits_apply_where_their_words_stand_exactly_once() -> None:
    text = "# T\n\nOne engine. [s1p1] Two engines. Two engines."
    wanted = [
        Edit(old="One engine. [s1p1]", new="One old engine. (s1p2)"),
        Edit(old="old engine", new="older engine"),
        Edit(old="Two engines.", new="Three."),
        Edit(old="four", new="five"),
        Edit(old="", new="six", reply="No."),
        Edit(old="# T\n\n", new=""),
    ]
    changed, made = apply_edits(text, wanted)
    assert changed == "One older engine. [s1p2] Two engines. Two engines."
    assert [edit.applied for edit in made] == [True, True, False, False, False, True]
    assert [edit.old for edit in made] == [edit.old for edit in wanted]


@pytest.mark.parametrize("unit", ["tokens/s", "$"])
def test_a_wrong_value_of_a_chart_is_told_whatever_its_unit(unit: str) -> None:
    points = [{"label": "a", "value": 4500, "id": "s1p1"}, {"label": "b", "value": 4000, "id": "s1p1"}]
    given = {"kind": "bar", "title": "t", "unit": unit, "points": points}
    (chart,) = read_charts(f"```chart\n{json.dumps(given)}\n```")
    assert ["“b”" in told for told in chart_problems(chart, {"s1p1": f"It is 4,500 {unit} or $4,500."})] == [True]


def test_a_source_cited_as_a_whole_is_held_against_its_nearest_passages(scene: Scene) -> None:
    whole = re.compile(r"(\[s\d+)p\d+\]")

    def write(request: Request) -> Reply:
        return Reply(text=whole.sub(r"\1]", citing(request, TEXT)))

    report = scene.quickly(playing(write=write, judge=_judging("none", "nothing"))).report
    claim = _claim(report, "3,000 rpm")
    assert claim.verdict.kind == "supported"
    assert claim.passages
    assert all(key in of_step(scene.provider, "judge")[0].request["messages"][-1]["text"] for key in claim.passages)
    assert "[1]" in report.report[claim.start : claim.end]


@pytest.mark.parametrize("around", ["Here is it:\n\n```\n{}\n```\nDone.", "<report>\n{}\n</report>"])
def test_a_fence_or_tag_around_the_whole_report_is_no_part_of_it(scene: Scene, around: str) -> None:
    report = scene.quickly(playing(write=writing(around.replace("{}", TEXT)), judge=_judging("none", "nothing"))).report
    assert report.title == "Engines"
    assert _claim(report, "3,000 rpm").verdict.kind == "supported"
    assert not re.search(r"```|<report>|Here is it|\[s\d", _body(report))


@pytest.mark.parametrize(
    ("text", "edit", "changed"),
    [
        ("| a |\n| --- |\n| b |\n| c |\n", ("| b |\n", "| b |\n| d |\n"), "| a |\n| --- |\n| b |\n| d |\n| c |\n"),
        ("```xml\n<a>1</a>\n```\n", ("<a>1</a>", "<a>![2](s1p2)</a>"), "```xml\n<a>![2](s1p2)</a>\n```\n"),
        ("It turns [s1p1][s2p2].", ("It turns [s1p1, s2p2].", "It flies [s1p1]."), "It flies [s1p1]."),
    ],
    ids=["line ends stay", "code to the letter", "citations that were joined"],
)
def test_an_edit_changes_its_words_and_nothing_else(text: str, edit: tuple[str, str], changed: str) -> None:
    assert apply_edits(text, [Edit(old=edit[0], new=edit[1])])[0] == changed
