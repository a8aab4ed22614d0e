"""What a writer says between and beside what is cited: thoughts that join it, parts of known figures, steps of the report."""

import asyncio
from collections.abc import Sequence
from datetime import date
from functools import partial

import pytest

from deep_research.data import Claim, Computation, Operand, Verdict
from deep_research.ports import Library
from deep_research.reasoners.model.prompt_views import numbered
from deep_research.steps.check_claims import check_draft
from deep_research.steps.check_sentences import Ground
from deep_research.steps.work_out import Worked, computed_results, results_of, with_results
from deep_research.verification.conclusions import is_too_specific, is_unfounded
from deep_research.verification.own_figures import renumbered, without_true_sums, written_quantities
from tests.steps.test_check_sentences import judged
from tests.verification.test_check_claims import check, rewriting, shelf

JUDGED = Ground(is_judged=True)
OIL = "The engine needs oil before each start. Without oil it stops after 5 minutes."


def test_a_thought_between_cited_sentences_is_judged_as_one_and_cites_nothing() -> None:
    draft = "The engine needs oil before each start. [s1p1] So fill it in the evening already."
    checked, asked = judged(draft, shelf(One=OIL), ground=JUDGED)
    assert checked.content == draft
    (thought,) = [claim for claim in asked if "evening" in claim.text]
    assert (thought.kind, thought.passages) == ("inference", ("s1p1",))


def test_a_thought_that_does_not_follow_goes() -> None:
    draft = "The engine needs oil before each start. [s1p1] So fill it early."
    checked, _ = judged(draft, shelf(One=OIL), "unverified", JUDGED)
    assert "So fill it early" not in checked.content


@pytest.mark.parametrize(
    ("thought", "shown"),
    [
        ("So fill it within 7 minutes.", "So fill it within 7 minutes."),
        ("So ask Mr Harlow to fill it.", "So ask Mr Harlow to fill it †."),
        ("So fill it before 3 May 2031.", ""),
        ("So “fill it quickly” is the rule.", "So ‘fill it quickly’ is the rule."),
        ("Encrypt SSH keys, fill it early.", "Encrypt SSH keys, fill it early."),
        ("So run `fill 6000` before it.", "So run `fill 6000` before it."),
        ("So run `Fill_Up` before it.", "So run `Fill_Up` before it †."),
        ("So run `fill --until 3 May 2031`.", ""),
    ],
    ids=[
        "figure",
        "name",
        "date",
        "quotation",
        "verb before a short form",
        "figure to type",
        "name to type",
        "date to type",
    ],
)
def test_what_a_thought_brings_in_is_marked_where_a_judge_lets_it_stand(thought: str, shown: str) -> None:
    draft = f"The engine needs oil before each start. [s1p1] {thought}"
    ground = JUDGED._replace(background=True)
    checked, asked = judged(draft, shelf(One=OIL), ground=ground)
    assert checked.content == f"The engine needs oil before each start. [s1p1] {shown}".strip()
    assert [claim.text for claim in asked if claim.kind == "inference"] == [shown] * bool(shown)
    refused, _ = judged(draft, shelf(One=OIL), "unverified", ground)
    assert "So " not in refused.content


@pytest.mark.parametrize("draft", ["→ Fill it within 7 minutes. [s1p1]", f"{OIL} [s1p1]\n\nFill it within 7 minutes."])
def test_a_flag_tells_the_judge_and_the_result_of_a_value_of_our_own(draft: str) -> None:
    checked, (*_, asked) = judged(draft, shelf(One=OIL), ground=JUDGED)
    assert (checked.content, asked.flags) == (draft, ("own_value",))
    assert checked.claims[-1].flags == ("own_value",)


def test_a_row_that_cites_nothing_is_a_thought_as_a_whole() -> None:
    table = "| Oil | Starts |\n| --- | --- |\n| little | 30 a day |\n| much | 90 a day |\n| none | 5 minutes at most [s1p1] |"
    draft = f"The engine needs oil before each start. [s1p1]\n\nSo you get:\n\n{table}"
    checked, asked = judged(draft, shelf(One=OIL), ground=JUDGED)
    assert checked.content == draft
    rows = [(claim.kind, claim.flags) for claim in asked if " | " in claim.text]
    assert rows == [("inference", ("own_value",))] * 2
    assert {row["kind"] for row in numbered(asked) if " | " in row["text"]} == {"CONCLUSION, ROW"}
    assert "30 a day" not in judged(draft, shelf(One=OIL), "unverified", JUDGED)[0].content


@pytest.mark.parametrize(
    ("said", "cites"),
    [
        ("So fill it early.", ""),
        ("Without oil the engine stops after 5 minutes. [s1p1]", " [s1p1]"),
        ("Ask somebody else to fill the tank. [s1p1]", ""),  # no word of what it cites
    ],
)
def test_a_thought_that_a_judge_words_anew_stays_one_unless_it_cites(said: str, cites: str) -> None:
    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        return [
            Verdict(kind="unverified" if "late" in c.text else "supported", reason="Too late.", by_model=True)
            for c in claims
        ]

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        return [said for _ in claims]

    draft = "The engine needs oil before each start. [s1p1] So fill it late."
    done = check_draft(draft, section="S", library=shelf(One=OIL), judge=judge, rewrite=rewrite, ground=JUDGED)
    checked = asyncio.run(done)
    assert checked.content.endswith(said.removesuffix(" [s1p1]") + cites)
    assert checked.claims[-1].kind == ("fact" if cites else "inference")


def test_an_instruction_in_a_paragraph_of_its_own_rests_on_what_is_cited_before_it() -> None:
    draft = "The engine needs oil before each start. [s1p1]\n\nCompare the level with the mark each week."
    checked, asked = judged(draft, shelf(One=OIL), ground=JUDGED)
    assert checked.content == draft
    assert asked[-1].passages == ("s1p1",)


def test_without_a_judge_what_cites_nothing_and_stands_nowhere_goes() -> None:
    draft = "The engine needs oil before each start. [s1p1] So fill it in the evening already."
    assert check(draft, shelf(One=OIL)).content == "The engine needs oil before each start. [s1p1]"


def test_what_explains_code_rests_on_what_leads_to_it() -> None:
    draft = "→ Start it so: [s1p1]\n\n```sh\nengine start --oil\n```\n\nPut the line into the script that starts the engine."
    passage = "Type `engine start --oil`: the engine needs oil before each start."
    checked, _ = judged(draft, shelf(One=passage), ground=JUDGED)
    assert checked.content == draft


def test_a_table_of_chosen_values_may_reckon_and_name_what_the_report_s_code_sets() -> None:
    question = "The server has 8 GB of memory; a process takes 60 MB."
    operands = tuple(Operand(name=n, value=v, passage="question") for n, v in (("m", "8 GB"), ("p", "60 MB")))
    ground = Ground(
        computations=(Computation(name="k1", expression="m*1024/2/p", decimals=0, operands=operands),),
        question=question,
        own="MaxWorkers 150",
        is_judged=True,
    )
    table = "→ Set these:\n\n| Setting | Now | Then |\n| --- | --- | --- |\n| MaxWorkers | {k1} (default 256) | {then} [s1p1] |"
    library = shelf(One="MaxWorkers limits the processes. The default is 256.")
    for then, flags in (("150", ()), ("170", ("own_value",))):
        checked, asked = judged(table.replace("{then}", then), library, ground=ground)
        assert "68 (= 8 GB × 1024 ÷ 2 ÷ 60 MB) (default 256)" in checked.content
        assert [claim.flags for claim in asked if claim.kind == "computed"] == [flags]


def test_a_row_of_chosen_values_that_cites_nothing_rests_on_what_is_cited_near_it() -> None:
    draft = "Workers wait for a request. [s1p1]\n\n→ Set these:\n\n| Setting | Value |\n| --- | --- |\n| MaxIdle | 40 seconds |"
    checked, asked = judged(draft, shelf(One="Workers wait for a request. MaxIdle ends them."), ground=JUDGED)
    assert "| MaxIdle | 40 seconds |" in checked.content
    assert any("40 seconds" in claim.text and claim.passages == ("s1p1",) for claim in asked)


def test_a_row_may_hold_what_a_source_says_and_behind_it_what_the_writer_decides() -> None:
    row = "| Oil | Without oil it stops after 5 minutes [s1p1] | Revoke the SSH key; 40 litres |"
    draft = f"| What | So it is | For us |\n| --- | --- | --- |\n{row}"
    checked, asked = judged(draft, shelf(One=OIL), ground=JUDGED)
    assert row in checked.content
    assert [(claim.kind, claim.flags) for claim in asked] == [("inference", ("own_value",))]
    refused, _ = judged(draft, shelf(One=OIL), "unverified", JUDGED)
    assert "| Oil | Without oil it stops after 5 minutes [s1p1] | — |" in refused.content


def test_what_is_reckoned_from_an_assumption_says_so() -> None:
    operands = (Operand(name="n", value="800", passage="question"), Operand(name="p", value="15 %", passage="assumed"))
    ground = Ground(
        computations=(Computation(name="k1", expression="n*p/100", decimals=0, operands=operands),),
        question="We can call 800 customers.",
        is_judged=True,
    )
    draft = "→ The calls reach {k1} leavers. [s1p1]\n\n→ If 15 % of them would leave, they reach {k1} of those. [s1p1]"
    library = shelf(One="Calls are made each month.")
    known = computed_results(ground.computations, library, ground.question)
    checked, _ = judged(draft, library, ground=ground._replace(known=known))
    assert "120 (= 800 × 15 %; assumed: 15 %) leavers" in checked.content
    assert "120 (= 800 × 15 %) of those" in checked.content, "the sentence tells what it assumes"


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("Alarm at 150 seconds, half of the five minutes.", True),
        ("Alarm when the 95th percentile rises.", True),
        ("平时看 95 分位。", True),
        ("95 백분위가 오르면 알린다.", True),
        ("Alarm when 95 workers wait.", False),
        ("Alarm at 140 seconds, half of the five minutes.", False),
        ("Alarm at 150 seconds.", False),
        ("警报设为150秒，即5分钟的一半。", True),
        ("경보는 5분의 절반인 150초로 한다.", True),
        ("Plan 10 minutes, double the five.", False),
    ],
)
def test_a_part_of_a_known_figure_is_reckoned_in_words(said: str, stands: bool) -> None:
    premises = ["Lose at most five minutes.", "最多丢5分钟。", "최대 5분의 데이터만 잃는다."]
    assert (is_unfounded(said, premises) is None) is stands


@pytest.mark.parametrize(
    ("said", "known", "stands"),
    [
        ("5.2는 PostgreSQL 14 이상을 요구한다 †.", "Django 3.2를 계속 써도 되는가?", True),
        ("4.1 brought the asynchronous queries †.", "We use Django 3.2.", True),
        ("4.1 brought the asynchronous queries †.", "We use Django.", False),
        ("It takes 4.1 seconds †.", "We use Django 3.2.", False),
        ("It grows by 4.1 % †.", "We use Django 3.2.", False),
    ],
)
def test_general_knowledge_may_name_a_release_where_the_question_does(said: str, known: str, stands: bool) -> None:
    assert (is_too_specific(said, known) is None) is stands


def test_words_of_the_trade_are_no_names_of_a_thought() -> None:
    assert is_unfounded("So keep JSON values under the URL.", ["It keeps values."], is_judged=True) is None
    assert is_unfounded("So keep JSON values under the URL.", ["It keeps values."]) is not None


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ("Points 1 to 3 take 7 minutes.", ["7 minutes"]),
        ("steps 2, 4 and 6", []),
        ("步骤 2 至 4 完成后", []),
        ("2~4단계를 마친 뒤 두 배씩 늘린다", []),
        ("手順2と3の後", []),
        ("Give it -1, 0 or 1.", []),
        ("step 40", ["40"]),
    ],
)
def test_numbers_of_steps_and_words_of_language_are_no_figures(said: str, figures: list[str]) -> None:
    assert [said[q.start : q.end].strip() for q in written_quantities(said)] == figures


def test_a_judge_decides_on_a_fact_that_names_a_point_of_the_report() -> None:
    draft = "Point 6 comes first: the engine needs oil before each start. [s1p1]"
    checked, asked = judged(draft, shelf(One=OIL), ground=Ground(known="engine"))
    assert asked
    assert checked.content == draft


@pytest.mark.parametrize(("kind", "shown"), [("supported", "[s1p1]"), ("unverified", "†")])
def test_general_knowledge_that_a_passage_of_the_run_says_cites_it(kind: str, shown: str) -> None:
    told: list[str] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        told.extend(claim.text for claim in claims if claim.kind == "fact")
        return [
            Verdict(kind=kind if c.kind == "fact" else "supported", reason="", by_model=True)  # type: ignore[arg-type]
            for c in claims
        ]

    draft = "The engine stops without oil †."
    done = check_draft(draft, section="S", library=shelf(One=OIL), judge=judge, ground=Ground(background=True))
    content = asyncio.run(done).content
    assert told == ["The engine stops without oil."]
    assert content in ("The engine stops without oil. [s1p1]", draft)
    assert shown in content


def test_general_knowledge_that_no_passage_may_say_is_not_asked_about_as_a_fact() -> None:
    asked = judged("Boats rust in salt water †.", shelf(One=OIL), ground=Ground(background=True))[1]
    assert [claim.kind for claim in asked] == ["background"]


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("`month` is text such as 2025-03.", True),
        ("Replace 1900-01-01 by nothing.", True),
        ("`month`는 2025-03 같은 글자다.", True),
        ("它是形如 2025-03 的文本。", True),
        ("It was written 2025-03-01.", False),
        ("It ended like 2025-03-01.", False),
        ("Such a thing ended on 2025-03-01.", False),
    ],
)
def test_a_date_that_shows_how_dates_are_written_is_no_date_where_a_judge_decides(said: str, stands: bool) -> None:
    premise = ["`month` is text; `month`는 글자다. 它是文本。"]
    assert (is_unfounded(said, premise, is_judged=True) is None) is stands
    assert is_unfounded(said, premise) is not None


CODE = "```\nengine oil\nengine start --dry\n```"


@pytest.mark.parametrize(
    ("draft", "said", "shown"),
    [
        (CODE, CODE.replace("--dry", "--wet"), True),
        (CODE, "```\nrm -r engine\n```", False),  # another block is no repair
        ("Engines rust in a year or so †.", "Engines rust in salt water.", True),
        ("Engines rust in a year or so †.", "Engines rust within 7 days.", False),
    ],
    ids=["code", "other code", "general knowledge", "a figure"],
)
def test_a_judge_puts_right_what_rests_on_no_passage(draft: str, said: str, shown: bool) -> None:
    ground = JUDGED._replace(background=True)
    judge, rewrite = partial(_judge_of, ""), rewriting(said)
    done = check_draft(draft, section="S", library=shelf(One=OIL), judge=judge, rewrite=rewrite, ground=ground)
    content = asyncio.run(done).content
    assert (said.rstrip(".") in content) is shown
    assert "†" in content or not shown


def test_a_formula_in_quotation_marks_is_no_quotation() -> None:
    for said, stands in (
        ("Reckon “starts × minutes”.", True),
        ("它约等于“每秒启动数 × 分钟”。", True),
        ("Take “the oil”.", False),
    ):
        assert (is_unfounded(said, ["Engines start for minutes; 每秒启动数按分钟。"], is_judged=True) is None) is stands


def test_a_judge_decides_on_a_small_count_of_our_own() -> None:
    for said, stands in (("Start with 2 workers.", True), ("Start with 20 workers.", False), ("Wait 2 hours.", False)):
        assert (is_unfounded(said, ["Workers wait."], is_judged=True) is None) is stands
        assert is_unfounded(said, ["Workers wait."]) is not None


@pytest.mark.parametrize(
    ("said", "now"),
    [
        ("Repeat step 5, then steps 2 and 6.", "Repeat step 4, then steps 2 and 5."),
        ("5단계에서 429가 거듭되면", "4단계에서 429가 거듭되면"),
        ("步骤 6 之后等 6 秒", "步骤 5 之后等 6 秒"),
        ("Step 4 takes 5 minutes.", "Step 4 takes 5 minutes."),
    ],
)
def test_steps_are_named_by_the_numbers_that_they_have(said: str, now: str) -> None:
    assert renumbered(said, {1: 1, 2: 2, 3: 3, 5: 4, 6: 5}) == now
    assert renumbered(said, {}) == said


def test_a_judge_decides_on_the_unit_of_a_number_that_stands_without_one() -> None:
    for said, stands in (("It waits 60 seconds.", True), ("It waits 90 seconds.", False)):
        assert (is_unfounded(said, ["It waits (wait_seconds: 60)."], is_judged=True) is None) is stands
    assert is_unfounded("It waits 60 seconds.", ["It waits (wait_count: 60)."]) is not None


def test_a_step_of_a_runbook_is_the_writer_s_own_also_where_it_cites() -> None:
    runbook = "→ Do it in this order: [s1p1]\n\n1. Fill it. [s1p1]\n2. Type `start('engine2');` next. [s1p1]"
    ground = JUDGED._replace(background=True)
    checked, asked = judged(runbook, shelf(One=OIL), ground=ground)
    assert [claim.kind for claim in asked] == ["inference"] * 3
    assert "2. Type `start('engine2');` next †. [s1p1]" in checked.content
    points = runbook.replace("1. ", "- ").replace("2. ", "- ")
    assert "fact" in {claim.kind for claim in judged(points, shelf(One=OIL), ground=ground)[1]}


@pytest.mark.parametrize(
    ("sums", "right"),
    [
        ("3 × 200 = 600", True),
        ("80 ÷ 5.5 ≈ 14.5", True),
        ("1,000 + 24 - 4 = 1,020", True),
        ("2 + 3 × 4 = 14", True),
        ("80 ÷ 5.5 ≈ 14.6", False),
        ("8 ÷ 0 = 8", False),
    ],
)
def test_sums_that_are_written_out_are_reckoned_again(sums: str, right: bool) -> None:
    assert (without_true_sums(f"So {sums}.") == "So  .") is right


@pytest.mark.parametrize(
    ("figures", "shown"), [("3 × 200 = 600 starts", True), ("3 × 200 = 700 starts", False), ("90 starts", False)]
)
def test_a_cited_sentence_may_reckon_with_what_the_report_chooses(figures: str, shown: bool) -> None:
    draft = f"The engine needs oil before each start, here before {figures}. [s1p1]"
    ground = JUDGED._replace(chosen="Plan 200 starts.")
    assert (judged(draft, shelf(One=OIL), ground=ground)[0].content == draft) is shown


def test_a_text_of_the_report_that_cites_nothing_at_all_is_judged() -> None:
    draft = "If the starts double, plan the oil anew."
    checked, (asked,) = judged(draft, shelf(One=OIL), ground=JUDGED)
    assert (checked.content, asked.kind, asked.passages) == (draft, "inference", ())
    assert judged(draft, shelf(One=OIL), "unverified", JUDGED)[0].content == ""
    assert judged(draft, shelf(One=OIL))[0].content == "", "without a judge it has nothing to rest on"


def test_code_that_handles_failures_is_no_error_of_the_research() -> None:
    code = "```python\ntry:\n    start()\nexcept OSError:  # connection failed: timed out\n    fail('Request failed: HTTP 503')\n```"
    draft = f"The engine needs oil before each start. [s1p1] So start it like this:\n\n{code}"
    checked, _ = judged(draft, shelf(One=OIL), ground=JUDGED._replace(background=True))
    assert "HTTP 503" in checked.content


def test_words_of_the_trade_and_of_the_question_need_no_passage_where_a_judge_decides() -> None:
    draft = "The HTTP engine of the ORM needs oil before each start. [s1p1]"
    ground = JUDGED._replace(known="How do we oil our ORM?", chosen="Oil it.")
    assert judged(draft, shelf(One=OIL), ground=ground)[0].content == draft
    assert judged(draft, shelf(One=OIL), ground=JUDGED)[0].content == ""


def test_a_fact_that_mixes_in_a_choice_is_parted_into_what_the_source_says_and_our_own() -> None:
    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        return [
            Verdict(kind="unverified" if "300" in c.text else "supported", reason="", by_model=True) for c in claims
        ]

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        return ["The engine needs oil before each start. [s1p1] Plan 300 starts." for _ in claims]

    draft = "So fill it early. Plan 300 starts, because the engine needs oil before each of them. [s1p1]"
    done = check_draft(draft, section="S", library=shelf(One=OIL), judge=judge, rewrite=rewrite, ground=JUDGED)
    told = "So fill it early. The engine needs oil before each start. [s1p1] Plan 300 starts."
    assert asyncio.run(done).content == told


def test_a_word_in_code_is_no_quotation_of_a_thought() -> None:
    draft = 'The engine needs oil before each start. [s1p1] Call the rest `"other"`.'
    assert judged(draft, shelf(One=OIL), ground=JUDGED)[0].content == draft


def test_a_cell_beside_one_of_general_knowledge_is_judged_as_our_own() -> None:
    table = "| Find | Do |\n| --- | --- |\n| old oil | change it early |\n| rust in the tank † | empty the tank |"
    draft = f"The engine needs oil before each start. [s1p1]\n\nSo do this:\n\n{table}"
    assert "empty the tank" in judged(draft, shelf(One=OIL), ground=JUDGED._replace(background=True))[0].content


def test_what_is_reckoned_without_a_citation_shows_none_in_a_report() -> None:
    operands = (Operand(name="a", value="5 minutes", passage="s1p1"), Operand(name="b", value="3", passage="question"))
    ground = JUDGED._replace(
        computations=(Computation(name="k1", expression="a*b", unit="minutes", decimals=0, operands=operands),),
        question="We have 3 engines.",
    )
    checked, _ = judged("All of them stop within {k1}.", shelf(One=OIL), ground=ground)
    assert checked.content == "All of them stop within 15 minutes (= 5 minutes × 3)."
    assert checked.claims[0].passages == ("s1p1",)


JOINED = "The engine needs oil before each start [s1p1], so fill it within 7 minutes."


def test_behind_the_citation_of_a_fact_the_writer_may_go_on_with_a_thought() -> None:
    checked, (asked,) = judged(JOINED, shelf(One=OIL), ground=JUDGED)
    assert checked.content == JOINED
    assert (asked.kind, asked.flags) == ("fact", ("own_part",))
    assert "so fill it within 7 minutes." in numbered([asked])[0]["flag"]
    assert "7 minutes" not in judged(JOINED, shelf(One=OIL), "unverified", JUDGED)[0].content


@pytest.mark.parametrize(
    "draft",
    [
        "The engine needs oil after 9 starts [s1p1], so fill it within 7 minutes.",
        "The engine needs oil before each start [s1p1], so Mr Harlow fills it.",
        "The engine needs oil before each start [s1p1], so fill it by 3 May 2031.",
    ],
    ids=["the fact is wrong", "the thought names", "the thought dates"],
)
def test_neither_the_fact_nor_the_thought_brings_in_what_it_may_not(draft: str) -> None:
    assert "so " not in judged(draft, shelf(One=OIL), ground=JUDGED)[0].content


@pytest.mark.parametrize("stop", ["", ". [s1p1]"])
def test_a_fact_worded_anew_before_a_thought_keeps_its_citation_between_the_two(stop: str) -> None:
    better = "Before each start the engine needs oil, so fill it within 7 minutes."
    asked: list[Claim] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        asked.extend(claims)
        return [Verdict(kind="unverified", reason="", by_model=True) for _ in claims]

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        return [better.replace(", so", f"{stop}, so") for _ in claims]

    done = check_draft(JOINED, section="S", library=shelf(One=OIL), judge=judge, rewrite=rewrite, ground=JUDGED)
    assert asyncio.run(done).content == better.replace(", so", " [s1p1], so")


@pytest.mark.parametrize(("said", "shown"), [("Two starts take 10 minutes.", True), ("Two starts take ….", False)])
def test_a_figure_that_code_could_not_reckon_is_the_judge_s_to_put_in(said: str, shown: bool) -> None:
    asked: list[Claim] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        asked.extend(claims)
        return [Verdict(kind="unverified" if "…" in c.text else "supported", reason="", by_model=True) for c in claims]

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        return [said for _ in claims]

    draft = "Before it starts the engine needs its oil. [s1p1] Two starts take {k1}."
    done = check_draft(draft, section="S", library=shelf(One=OIL), judge=judge, rewrite=rewrite, ground=JUDGED)
    assert (said in asyncio.run(done).content) is shown
    assert "Two starts take …." in [claim.text for claim in asked]


def _worked(unit: str, text: str, language: str) -> str:
    """Return a text with 5 × 6 in place of its {k1}."""
    operands = [Operand(name=name, value=value, passage="question") for name, value in (("a", "5"), ("b", "6"))]
    made = Computation(name="k1", expression="a*b", operands=tuple(operands), unit=unit, decimals=0)
    done = with_results(text, results_of([made], shelf(One=OIL), "5 and 6"), language)
    assert isinstance(done, Worked)
    return done.text


@pytest.mark.parametrize(
    ("unit", "text", "shown"),
    [
        (
            "starts",
            "It takes {k1} starts a day, {k1} in all.",
            "It takes 30 starts (= 5 × 6) a day, 30 starts (= 5 × 6) in all.",
        ),
        ("个", "约 {k1} 个请求。", "约 30个 (= 5 × 6)请求。"),
        ("s", "It takes {k1} seconds.", "It takes 30 s (= 5 × 6) seconds."),
    ],
)
def test_the_unit_of_a_result_is_not_said_twice(unit: str, text: str, shown: str) -> None:
    assert _worked(unit, text, "en") == shown


def test_a_note_on_a_fact_stands_before_the_thought_behind_it() -> None:
    old = "Status: Deprecated\n\nThe engine needs oil before each start."
    draft = "The engine needs oil before each start [s1p1], so fill it within 7 minutes."
    ground = JUDGED._replace(today=date(2026, 1, 1))
    content = judged(draft, shelf(One=old), ground=ground)[0].content
    assert content.count("so fill it") == 1
    assert content.endswith(", so fill it within 7 minutes.")


def test_a_result_is_set_as_the_writer_sets_figures() -> None:
    assert _worked("个请求", "约 {k1}。", "zh") == "约 30 个请求（= 5 × 6）。"
    assert _worked("个请求", "约{k1}。", "zh") == "约30个请求（= 5 × 6）。"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [("it stops by itself", "it stops by itself †"), ("it stops after 9 hours", "—")],
    ids=["without a figure", "with one"],
)
def test_a_cell_that_no_source_says_is_general_knowledge_or_goes(cell: str, shown: str) -> None:
    draft = f"| What | So it is | For us |\n| --- | --- | --- |\n| Oil | {cell} [s1p1] | Fill it early |"
    judge = partial(_judge_of, "it stops")
    done = check_draft(draft, section="S", library=shelf(One=OIL), judge=judge, ground=JUDGED._replace(background=True))
    assert f"| Oil | {shown} | Fill it early |" in asyncio.run(done).content


async def _judge_of(refused: str, claims: Sequence[Claim], _library: Library) -> list[Verdict]:
    return [
        Verdict(kind="unverified" if refused in claim.text else "supported", reason="judged", by_model=True)
        for claim in claims
    ]


def test_a_row_of_the_writers_own_that_rests_on_nothing_is_put_right_too() -> None:
    row = "Oil | Only before each start"
    draft = f"| What | To do |\n| --- | --- |\n| {row} |"
    better = f"{row} and each stop"
    done = check_draft(
        draft,
        section="S",
        library=shelf(One=OIL),
        judge=partial(_judge_of, row),
        rewrite=rewriting(better),
        ground=JUDGED,
    )
    assert f"| {better} |" in asyncio.run(done).content


@pytest.mark.parametrize(("about", "stands"), [("Errors are counted; a connection may fail.", True), ("", False)])
def test_advice_may_be_about_failures_that_some_passage_of_the_report_speaks_of(about: str, stands: bool) -> None:
    said = "연결 오류가 늘지 않는지 밤마다 본다."
    draft = f"엔진은 시동할 때마다 기름이 필요하다. [s1p1] {said}"
    checked, _ = judged(draft, shelf(One=OIL), ground=JUDGED._replace(named=about, language="ko"))
    assert (said in checked.content) is stands


def test_of_two_sentences_that_a_judge_puts_in_place_of_one_the_first_may_stand_alone() -> None:
    draft = "The engine wants much oil before it starts [s1p1]."
    for better, shown in (
        ("Fill in 40 litres. It stops after 9 minutes [s1p1].", "Fill in 40 litres."),
        ("It stops after 9 minutes [s1p1]. Fill in 40 litres.", ""),
        ("Fill in 40 litres. It stops after 5 minutes [s1p1].", "Fill in 40 litres. It stops after 5 minutes. [s1p1]"),
    ):
        judge = partial(_judge_of, "much oil")
        done = check_draft(
            draft, section="S", library=shelf(One=OIL), judge=judge, rewrite=rewriting(better), ground=JUDGED
        )
        assert asyncio.run(done).content == shown


@pytest.mark.parametrize(
    ("unit", "text", "shown"),
    [
        ("개 연결", "최대 {k1}를 쓴다.", "최대 30개 연결(= 5 × 6)을 쓴다."),
        ("초", "{k1}을 기다린다.", "30초(= 5 × 6)를 기다린다."),
        ("", "{k1}를 넘는다.", "30(= 5 × 6)를 넘는다."),
    ],
)
def test_a_korean_particle_fits_the_result_before_it(unit: str, text: str, shown: str) -> None:
    assert _worked(unit, text, "ko").replace(" (=", "(=") == shown
