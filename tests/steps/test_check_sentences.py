"""Which passages a sentence is given, what the judge sees of it, and the notes that a reader needs behind it."""

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import Literal

import pytest

from deep_research.data import Claim, Computation, Operand, Verdict
from deep_research.ports import Library
from deep_research.steps.check_claims import Checked, check_draft, note_draft
from deep_research.steps.check_sentences import NO_GROUND, Ground
from deep_research.steps.work_out import computed_results
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.verification.conclusions import BACKGROUND, is_unfounded
from tests.verification.test_check_claims import DOCUMENTS, UNSURE, Asked, check, judging, only, rewriting, shelf


def judged(
    draft: str,
    library: SqliteLibrary,
    kind: Literal["supported", "unverified"] = "supported",
    ground: Ground = NO_GROUND,
    instead: str | None = None,
) -> tuple[Checked, list[Claim]]:
    """Check a draft with a judge that says the same of every claim; return what it was asked."""
    asked: list[Claim] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        asked.extend(claims)
        return [Verdict(kind=kind, reason="judged", by_model=True)] * len(claims)

    rewrite = None if instead is None else rewriting(instead)
    done = check_draft(draft, section="S", library=library, judge=judge, rewrite=rewrite, ground=ground)
    return asyncio.run(done), asked


# --- Which passages --------------------------------------------------------------------------------------------

FLOOD = "The river floods the valley each spring. It is long."
NEARLY = "In wet years the river is said to flood parts of the valley in spring."
SAID = "Each spring the river floods the valley."


@pytest.mark.parametrize(
    ("cited", "draft", "alone", "before_a_judge"),
    [
        # A judge decides on a passage that says nearly this; without one, and for any other, a better one is looked for.
        (NEARLY, f"{SAID} [s1p1]", "s2p1", "s1p1"),
        ("Cold winters are said to harm the crop.", f"{SAID} [s1p1]", "s2p1", "s2p1"),
        ("In wet years the Elbe is said to flood parts of it.", f"{SAID} [s1p1]", "s2p1", "s2p1"),
        # So it is where the neighbours cite.
        (NEARLY, f"{SAID} {NEARLY} [s1p1]", "s2p1", "s1p1"),
    ],
)
def test_a_better_passage_is_looked_for_where_no_judge_decides(
    cited: str, draft: str, alone: str, before_a_judge: str
) -> None:
    library = shelf(One=cited, Two=FLOOD)
    assert check(draft, library).claims[0].passages == (alone,)
    assert judged(draft, library)[0].claims[0].passages == (before_a_judge,)


WAYS = "The memory of the cards differs in these ways"
ITEM = "- The H100 has 80 GB of memory. [s1p1]"


@pytest.mark.parametrize(
    ("lead", "passage"),
    [
        (f"{WAYS}:", "s1p1"),
        (f"{WAYS}：", "s1p1"),
        (f"{WAYS}: [s1p1]", "s2p1"),
        (f"{WAYS}.", "s2p1"),
    ],
)
def test_what_leads_to_a_list_rests_on_the_list(lead: str, passage: str) -> None:
    library = shelf(One="The H100 has 80 GB of memory.", Two=f"{WAYS}.")
    assert judged(f"{lead}\n\n{ITEM}", library)[0].claims[0].passages == (passage,)
    assert check(f"{lead}\n\n{ITEM}", library).claims[0].passages == ("s2p1",)


@pytest.mark.parametrize("cell", ["memory and a price of its own [s1p1]", "memory and a price of its own"])
def test_a_judge_sees_of_a_cell_all_that_its_row_cites(cell: str) -> None:
    library = shelf(One="The H100 is a card. It has memory.", Two="The price in Japan is high; it is from 2022.")
    table = f"| Card | Memory | From |\n|---|---|---|\n| H100 | {cell} | 2022 [s2p1] |"
    _, asked = judged(table, library)
    cells = {claim.text.partition(":")[0]: claim.passages for claim in asked}
    assert cells.get("H100 Memory", ("s1p1", "s2p1")) == ("s1p1", "s2p1")
    assert [claim.passages for claim in check(table, library).claims][:1] == [("s1p1",) if "[" in cell else ("s2p1",)]


def test_a_cell_that_cites_what_there_is_not_gets_no_passage_of_its_row() -> None:
    table = "| Drug | Dose | Maker |\n|---|---|---|\n| Adagrasib | 600 mg twice a day [s77p1] | nobody said [s1p1] |"
    checked, asked = judged(table, shelf(One="Adagrasib is new.", Two="Adagrasib is given at 600 mg twice a day."))
    assert (checked.claims[0].verdict.codes, checked.claims[0].passages) == (("unknown_passage",), ())
    assert [claim.text for claim in asked] == ["Adagrasib Maker: nobody said"]


def test_a_cell_that_rests_on_what_its_row_cites_was_given_no_other_passage() -> None:
    library = shelf(One="The H100 has 80 GB of memory and was released in 2022.")
    table = "| Card | Memory | From |\n|---|---|---|\n| H100 | 80 GB of memory [s1p1] | released in 2022 |"
    cells = check(table, library).claims
    assert [(cell.passages, cell.stands, cell.repair) for cell in cells] == [(("s1p1",), True, "")] * 2


def test_a_row_goes_with_a_figure_that_is_marked_as_general_knowledge() -> None:
    library = shelf(One="The H100 has 80 GB of memory.")
    row = "| chip | memory | price |\n|---|---|---|\n| H100 | 80 GB | {} † [s1p1] |"
    codes = [only(check(row.format(cell), library)).verdict.codes for cell in ("30,000 dollars", "much of it")]
    assert codes[0] == ("background_specific",) != codes[1]


NOTE = "The H100 has 80 GB of memory. [s1p1]"


@pytest.mark.parametrize(
    ("said", "kind", "code"),
    [
        # A judge has to decide on what follows from passages, and on what is not in them word for word.
        ("→ So the H100 has much memory. [s1p1]", "inference", "judged_later"),
        ("It has memory, as it is told.", "fact", "judged_later"),
        ("```\nh100 --memory 80\n```\n[s1p1]", "fact", "judged_later"),
        # On these code decides by itself.
        ("The speed of the H100 is not told [open].", "limit", "was_searched"),
        ("The H100 has 80 GB of memory.", "fact", "verbatim"),
        ("It has 90 GB of memory. [s1p1]", "fact", "number_missing"),
        ("```\nh100 --memory 80\n```", "fact", "uncited"),
        ("Error: rate limit exceeded. [s1p1]", "fact", "error_text"),
        ("```\nError: rate limit exceeded.\n```\n[s1p1]", "fact", "loose_code"),
        ("Something else is said. [s9p9]", "fact", "unknown_passage"),
    ],
)
def test_a_note_leaves_to_the_judge_what_code_cannot_settle(said: str, kind: str, code: str) -> None:
    draft = f"{NOTE}\n\n{said}" if said.startswith("`") else f"{NOTE} {said}"
    noted = asyncio.run(note_draft(draft, section="S", library=shelf(One="The H100 has 80 GB of memory.")))
    claim = noted.claims[1]
    assert (claim.kind, claim.verdict.codes) == (kind, (code,))
    assert claim.stands is (code in ("judged_later", "was_searched", "verbatim"))
    assert claim.repair == ""


AROUND = {
    "One": "wal_log_hints (boolean)\n\nIt writes all of a page.\n\n"
    + "\n\n".join(f"Line {n} is about something else altogether, and long." for n in range(40))
    + "\n\nThis parameter can only be set at server start.\n\nwait_seconds integer DEFAULT 60\n\nWith wait set, promotion waits "
    "until wait_seconds seconds have passed."
}


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("`wal_log_hints` can only be set at server start.", True),
        ("Promotion waits for 60 seconds.", True),
        ("`full_page_writes` can only be set at server start.", False),
        ("Promotion waits for 90 seconds.", False),
    ],
)
def test_a_note_keeps_a_name_and_a_number_that_stand_around_its_passage(said: str, stands: bool) -> None:
    library = shelf(**AROUND)
    last = library.passages("s1")[-1].id
    assert last != "s1p1"
    (claim,) = asyncio.run(note_draft(f"{said} [{last}]", section="S", library=library)).claims
    assert (claim.stands, "judged_later" in claim.verdict.codes) == (stands, stands)


RUNBOOK = (
    "→ To bring it back, in this order: [s1p1]\n\n1. Run `engine stop` on the old host.\n2. Start it with `--oil`."
)


def test_a_runbook_of_the_writers_own_rests_on_what_leads_it_in() -> None:
    library = shelf(One="To restart it, stop the engine. Then start the engine with --oil.")
    checked = asyncio.run(check_draft(RUNBOOK, section="S", library=library, ground=Ground(known="engine")))
    assert checked.content == RUNBOOK
    assert {(c.kind, c.passages) for c in checked.claims} == {("inference", ("s1p1",))}
    set_to = RUNBOOK.replace("`--oil`", "`--oil 40`")
    opened = asyncio.run(
        check_draft(set_to, section="S", library=library, ground=Ground(known="engine", background=True))
    )
    assert "`--oil <…>` †." in opened.content, "a figure that no source has is not brought in by code"
    other = RUNBOOK.replace("`--oil`", "`--oil 40`")
    assert (
        "40" not in asyncio.run(check_draft(other, section="S", library=library, ground=Ground(known="engine"))).content
    )


def test_code_that_no_source_has_stands_as_general_knowledge_where_that_may_stand() -> None:
    library = shelf(One="The archive command gets a path and a name, and must not overwrite a file.")
    draft = '→ The script refuses to overwrite. [s1p1]\n\n```bash\ncp --no-clobber "$1" /backup/wal.d || exit 1\n```'
    for background in (True, False):
        ground = Ground(background=background, language="en")
        checked = asyncio.run(check_draft(draft, section="S", library=library, ground=ground))
        assert ("no-clobber" in checked.content) is background
        assert checked.content.endswith("```\n\n†") is background
    telling = draft.replace("|| exit 1", "|| echo 'download failed'")
    checked = asyncio.run(check_draft(telling, section="S", library=library, ground=Ground(background=True)))
    assert "download failed" in checked.content
    error = draft.replace("cp --no-clobber", "Error: rate limit exceeded")
    checked = asyncio.run(check_draft(error, section="S", library=library, ground=Ground(background=True)))
    assert "rate limit" not in checked.content


def test_a_conclusion_may_say_again_what_was_computed() -> None:
    operands = (Operand(name="a", value="2 TB", passage="question"),)
    made = Computation(name="k1", expression="a * 1000 * 1000 / 60 / 60", unit="MB/s", operands=operands)
    library = shelf(One="A restore copies the whole backup.")
    said = computed_results((made,), library, "We have 2 TB.")
    assert "555.6 MB/s" in said
    conclusion = "→ A restore within the hour must copy 555.6 MB/s. [s1p1]"
    for known, stands in ((said, True), ("", False)):
        (claim,) = asyncio.run(check_draft(conclusion, section="S", library=library, ground=Ground(known=known))).claims
        assert claim.stands is stands


@pytest.mark.parametrize(
    "said", ["Look at step 3 again.", "3단계를 다시 본다.", "再看第 3 步。", "The ratio is near 1 or 0."]
)
def test_the_number_of_a_step_and_a_bare_one_are_no_figures_of_a_conclusion(said: str) -> None:
    assert is_unfounded(said, ["What is told there."]) is None
    assert is_unfounded(said.replace("3", "37").replace("1 or", "14 or"), ["What is told there."]) is not None


def test_code_that_a_judge_doubts_stands_with_the_doubt_and_without_a_reason_goes() -> None:
    draft = "→ Together: [s1p1]\n\n```python\nengine.start()\n```"
    library = shelf(One="Call engine.start() to run it.")

    def judged(reason: str) -> str:
        async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
            kinds = ["unverified" if "```" in claim.text else "supported" for claim in claims]
            return [Verdict(kind=kind, reason=reason, by_model=True) for kind in kinds]  # type: ignore[arg-type]

        draft_ = check_draft(draft, section="S", library=library, judge=judge, ground=Ground(background=True))
        return asyncio.run(draft_).content

    assert judged("It is never stopped.").endswith("```\n\n† It is never stopped.")
    assert "engine.start()" not in judged("")


def test_an_instruction_keeps_a_command_that_no_source_has_and_is_marked() -> None:
    library, said = shelf(One="Stop the old engine first."), "→ First run `crane stop old-engine`. [s1p1]"
    for background in (True, False):
        ground = Ground(background=background, known="engine crane")
        checked = asyncio.run(
            check_draft(said.replace("crane", "Crane_7"), section="S", library=library, ground=ground)
        )
        assert ("`Crane_7 stop old-engine` †." in checked.content) is background


@pytest.mark.parametrize(
    ("said", "stands"), [("→ Change Limit_Max in Pump_7. [s1p1]", True), ("→ Give it 4711 litres. [s1p1]", False)]
)
def test_code_of_the_report_gives_its_names_and_none_of_its_figures(said: str, stands: bool) -> None:
    ground = Ground(named="Limit_Max = 4711\nPump_7(Limit_Max)", background=True)
    (claim,) = asyncio.run(
        check_draft(said, section="S", library=shelf(One="It can be changed."), ground=ground)
    ).claims
    assert claim.stands is stands, claim


def test_words_of_a_query_language_and_one_in_code_are_no_names_and_no_figures() -> None:
    library = shelf(One="Promotion is begun by pg_promote. List both standbys, so that a commit waits for one of them.")
    for said in (
        "→ Run `SELECT pg_promote();` there. [s1p1]",
        "→ List both with `ANY 1` so that a commit waits. [s1p1]",
    ):
        (claim,) = asyncio.run(check_draft(said, section="S", library=library, ground=Ground(known="ANY"))).claims
        assert claim.stands, claim


def test_a_limit_may_name_an_amount_of_the_question() -> None:
    library, said = (
        shelf(One="Backups are kept."),
        "Whether 2 TB are restored within an hour is not in the sources [open].",
    )
    ground = Ground(known="Can we restore 2 TB within an hour?", sought="restore sources hour")
    for known, stands in ((ground, True), (ground._replace(known="Can we restore?"), False)):
        (claim,) = asyncio.run(check_draft(said, section="S", library=library, ground=known)).claims
        assert claim.stands is stands


def test_what_is_reckoned_with_figures_of_the_question_needs_no_passage() -> None:
    operands = tuple(Operand(name=n, value=v, passage="question") for n, v in (("a", "9 hours"), ("b", "24 hours")))
    ground = Ground(
        computations=(Computation(name="k1", expression="a + b", unit="hours", operands=operands),),
        question="Our dump takes 9 hours, every 24 hours.",
    )
    checked = asyncio.run(
        check_draft("At worst you lose {k1}.", section="S", library=shelf(One="Backups are kept."), ground=ground)
    )
    (claim,) = checked.claims
    assert (claim.kind, claim.stands, claim.passages) == ("computed", True, ())
    assert "33.0 hours (= 9 hours + 24 hours)" in checked.content


def test_a_computation_rests_on_the_passages_of_its_operands() -> None:
    library = shelf(Cards="The H100 weighs 30 kg. The A100 weighs 20 kg.", Cold="Cold winters harm the crop.")
    operands = tuple(Operand(name=n, value=v, passage="s1p1") for n, v in (("a", "30 kg"), ("b", "20 kg")))
    computation = Computation(name="k1", expression="a - b", unit="kg", operands=operands)
    for ids, passages in (("", ("s1p1",)), (" [s2p1]", ("s2p1", "s1p1")), (" [s1p1]", ("s1p1",))):
        draft = f"→ The first is heavier by {{k1}}.{ids}"
        done = check_draft(draft, section="S", library=library, ground=Ground(computations=(computation,)))
        claim = only(asyncio.run(done))
        assert (claim.passages, claim.stands, "10.0 kg" in claim.text) == (passages, True, True)
        for said, code in ((draft, "judged_later"), (draft[2:], "follows")):  # arithmetic alone needs no judge
            noted = note_draft(said, section="S", library=library, ground=Ground(computations=(computation,)))
            assert only(asyncio.run(noted)).verdict.codes == (code,)
    missing = only(check("→ The first is heavier by {k1}. [s1p1]", library))
    assert (missing.verdict.codes, missing.text) == (("computation_missing",), "The first is heavier by ….")


@pytest.mark.parametrize(
    "said", ["I could not access the page.", "Error: rate limit exceeded.", "The request timed out: ReadTimeout."]
)
def test_a_failure_of_the_research_is_no_conclusion(said: str) -> None:
    claim = only(check(f"→ {said} [s1p1]", shelf(One="The limit is high.")))
    assert claim.verdict.codes == ("error_text",)
    asked_about = Ground(sought="access to the page, the request, the rate limit")
    done = check_draft(f"{said} [open]", section="S", library=shelf(One="A page."), ground=asked_about)
    assert only(asyncio.run(done)).verdict.codes == ("not_searched",)


def test_a_conclusion_may_tell_of_the_error_that_its_passage_is_about() -> None:
    library = shelf(Manual="Error: rate limit exceeded. This is raised after 9 calls a second.")
    assert only(check("→ Error: rate limit exceeded. [s1p1]", library)).stands


# --- What a judge is told, and what stands behind a sentence -----------------------------------------------------

OLD, DRAFT = "Created: 13 March 2023", "Status: Draft\n\nCreated: 13 March 2023"
BUILD = "The build is currently around 10 % slower than the other one."
PARSER = "The parser is currently around 20 % faster than the other one."
LINKER = "The linker is currently around 30 % slower than the other one."
S_BUILD, S_PARSER, S_LINKER = (said.replace(" one.", "") for said in (BUILD, PARSER, LINKER))
SLOW, FAST, S_SLOW, S_FAST = (said.replace("currently ", "") for said in (BUILD, PARSER, S_BUILD, S_PARSER))
TODAY = Ground(today=date(2026, 1, 2))
DATED = " (as of 13 March 2023)"


def test_a_judge_is_told_what_is_of_another_time() -> None:
    library = shelf(Old=f"{OLD}\n\n{BUILD}")
    checked, asked = judged(f"{S_BUILD}. [s1p1]", library, ground=TODAY)
    assert [claim.flags for claim in (*asked, *checked.claims)] == [("relative_time",)] * 2
    checked, asked = judged(f"{S_BUILD}. [s1p1]", library, "unverified", ground=TODAY)
    assert [claim.flags for claim in (*asked, *checked.claims)] == [("relative_time",), ()]
    _, asked = judged(f"→ {S_BUILD}. [s1p1]", library, ground=TODAY)
    assert [claim.flags for claim in asked] == [()]
    _, asked = judged(f"{S_BUILD}. [s1p1]", library)
    assert [claim.flags for claim in asked] == [()]


def test_a_judge_is_told_of_steps_left_out() -> None:
    steps = ["Stop the server and its clients.", "Back up the data directory.", "Install the new packages."]
    library = shelf(Manual="\n".join(f"{number}. {step}" for number, step in enumerate([*steps, "Start it."], 1)))
    draft = "1. Stop the server with its clients. [s1p1]\n2. Install here the new packages. [s1p1]"
    _, asked = judged(draft, library)
    assert [claim.flags for claim in asked] == [(), ("steps",)]
    cut = f"{draft}\n3. Back up the data directory 9 times. [s1p1]"
    assert [claim.flags for claim in judged(cut, library)[0].claims] == [(), ("steps",), ()]


@pytest.mark.parametrize(
    ("texts", "draft", "content"),
    [
        # The time of a text is said once, and so is that it is a draft.
        ([f"{OLD}\n\n{BUILD} {PARSER}"], f"{S_BUILD}. [s1p1] {S_PARSER}. [s1p1]", f"{S_BUILD}{DATED}. [s1p1] {S_PARSER}. [s1p1]"),
        (
            [f"{DRAFT}\n\n{BUILD} {PARSER}"],
            f"{S_BUILD}. [s1p1] {S_PARSER}. [s1p1]",
            f"{S_BUILD} (as of 13 March 2023; its source: a draft). [s1p1] {S_PARSER}. [s1p1]",
        ),
        # A quotation stays as it is, and says nothing for those after it.
        (
            [f"{DRAFT}\n\n{BUILD} {PARSER}"],
            f"{BUILD} [s1p1] {S_PARSER}. [s1p1]",
            f"{BUILD} [s1p1] {S_PARSER} (as of 13 March 2023; its source: a draft). [s1p1]",
        ),
        # What was cut says nothing either.
        (
            [f"{DRAFT}\n\n{BUILD} {PARSER}"],
            f"{S_BUILD.replace('10', '15')}. [s1p1] {S_PARSER}. [s1p1]",
            f"{S_PARSER} (as of 13 March 2023; its source: a draft). [s1p1]",
        ),
        # Another source has a time of its own, and a standing of its own.
        (
            [f"{DRAFT}\n\n{BUILD}", f"Status: Draft\n\nCreated: 5 May 2022\n\n{LINKER}"],
            f"{S_BUILD}. [s1p1] {S_LINKER}. [s2p1]",
            f"{S_BUILD} (as of 13 March 2023; its source: a draft). [s1p1] "
            f"{S_LINKER} (as of 5 May 2022; its source: a draft). [s2p1]",
        ),
        (
            [f"{OLD}\n\n{BUILD}", f"{DRAFT}\n\n{LINKER}"],
            f"{S_BUILD}. [s1p1] {S_LINKER}. [s2p1]",
            f"{S_BUILD}{DATED}. [s1p1] {S_LINKER} (its source: a draft). [s2p1]",
        ),
        (
            [f"{DRAFT}\n\n{BUILD} {PARSER.replace('currently ', '')}", "A boat."],
            f"{S_PARSER.replace('currently ', '')}. [s1p1] {S_BUILD}. [s1p1]",
            f"{S_PARSER.replace('currently ', '')} (its source: a draft). [s1p1] {S_BUILD}{DATED}. [s1p1]",
        ),
        (
            [f"Status: {status}\n\n{SLOW} {FAST}" for status in ("Draft", "Proposed", "Preprint")],
            f"{S_SLOW}. [s1p1][s2p1][s3p1] {S_FAST}. [s1p1][s2p1][s3p1]",
            f"{S_SLOW} (its source: a draft). [s1p1][s2p1][s3p1] {S_FAST}. [s1p1][s2p1][s3p1]",
        ),
        # That a source is out of force is said each time.
        (
            [f"Status: Rejected\n\n{BUILD} {PARSER}"],
            f"{S_BUILD}. [s1p1] {S_PARSER}. [s1p1]",
            f"{S_BUILD} (its source: rejected). [s1p1] {S_PARSER} (its source: rejected). [s1p1]",
        ),
        # A conclusion is the writer's own, and of today.
        ([f"{OLD}\n\n{BUILD}"], f"→ {S_BUILD}. [s1p1]", f"→ {S_BUILD}. [s1p1]"),
    ],
)  # fmt: skip
def test_time_and_standing_are_said_where_a_reader_needs_them(texts: list[str], draft: str, content: str) -> None:
    library = shelf(**{f"Note {'abc'[number]}": text for number, text in enumerate(texts)})
    done = check_draft(draft, section="S", library=library, ground=TODAY)
    assert asyncio.run(done).content == content


def test_the_date_that_the_report_names_is_not_said_again() -> None:
    library = shelf(Note=f"{DRAFT}\n\n{BUILD}")
    for told, note in (
        ("2023-03-13", "its source: a draft"),
        ("2023-03-14", "as of 13 March 2023; its source: a draft"),
    ):
        ground = TODAY._replace(told_date=told)
        done = check_draft(f"{S_BUILD}. [s1p1]", section="S", library=library, ground=ground)
        assert asyncio.run(done).content == f"{S_BUILD} ({note}). [s1p1]"


# --- What a judge puts in place of a sentence -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "known", "stands"),
    [
        ("→ The Zephyr would be easier to carry than this one.", "", True),  # its own document names it elsewhere
        ("→ The Quasar would be easier to carry than this one.", "Quasar or Alpha?", True),
        ("→ The Quasar would be easier to carry than this one.", "", False),
        ("→ The Zephyr would be 10 kg lighter than this one.", "", False),
    ],
)
def test_a_conclusion_that_the_judge_repeats_may_take_a_name_from_its_sources(
    said: str, known: str, stands: bool
) -> None:
    long = " ".join(["The Alpha engine weighs 80 kg and turns at 3,000 rpm when the boat is at sea."] * 20)
    library = shelf(Engines=f"The Zephyr is the other one.\n\n{long}\n\n{long}\n\n{long}")
    last = [passage.id for passage in library.passages("s1")][-1]
    checked, _ = judged(f"{said} [{last}]", library, ground=Ground(known=known), instead=said[2:])
    assert checked.content == (f"{said} [{last}]" if stands else "")
    if not known:
        assert check(f"{said} [{last}]", library).content == ""


def test_a_row_that_the_judge_words_anew_keeps_its_columns() -> None:
    library = shelf(Cards="The H100 has 80 GB of memory and is from 2022.")
    table = "| Card | Memory | From | |\n| --- | --- | --- | --- |\n| H100 | some 45 GB | 2022 | [s1p1] |"
    for instead, row in (
        ("| H100 | 80 GB of memory | 2022 [s1p1] |", "| H100 | 80 GB of memory | 2022 [s1p1] |"),
        ("H100 | 80 GB of memory | 2022", "| H100 | 80 GB of memory | 2022 [s1p1] |"),
        ("H100 | 80 GB of memory", ""),
        ("The H100 has 80 GB of memory.", ""),
    ):
        checked, _ = judged(table, library, "unverified", instead=instead)
        assert checked.content == (f"| Card | Memory | From |\n| --- | --- | --- |\n{row}" if row else "")


def test_a_note_keeps_a_term_that_another_passage_of_it_has() -> None:
    library = shelf(
        One="Continuous archiving depends on the version.", Two="A WAL segment is archived when it is full."
    )
    note = "- WAL archiving depends on the version. [s1p1]\n- A WAL segment is archived when it is full. [s2p1]"
    assert asyncio.run(note_draft(note, section="S", library=library)).content == note
    other = note.split("\n", maxsplit=1)[0]
    assert asyncio.run(note_draft(other, section="S", library=library)).content == ""


# --- What stands by the judge's word ----------------------------------------------------------------------------


@pytest.fixture
def library() -> SqliteLibrary:
    return shelf(**{text.split("\n")[0][2:]: text for text in DOCUMENTS.values()})


async def agreeing(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
    return [Verdict(kind="supported", reason="", by_model=True)] * len(claims)


LEAD = "Two cards differ most in one respect."
CARD = "The H100 has 80 GB of HBM3 memory. [s2p1]"
WRONG = "The H100 has 90 GB of HBM3 memory. [s2p1]"
DRUG = "Sotorasib is a covalent inhibitor of KRAS G12C."
DOSE = "The recommended dose is 960 mg once daily. [s1p1]"


@pytest.mark.parametrize(
    ("draft", "content"),
    [
        # Beside what the same passage carries it needs no citation, wherever that stands in the paragraph.
        (f"{CARD} {LEAD}", f"{CARD} {LEAD}"),
        (f"{CARD} {DRUG} [s1p1] {LEAD}", f"{CARD} {DRUG} [s1p1] {LEAD}"),
        (f"{LEAD} {LEAD} {CARD}", f"{LEAD} {LEAD} {CARD}"),
        # Where what carried it is cut, it says itself what it rests on; another paragraph does not say it.
        (f"{LEAD} {WRONG}", f"{LEAD} [s2p1]"),
        (f"{WRONG} {LEAD}", f"{LEAD} [s2p1]"),
        (f"{CARD}\n\n{LEAD} {WRONG}", f"{CARD}\n\n{LEAD} [s2p1]"),
        (f"{LEAD} {WRONG}\n\n{CARD}", f"{LEAD} [s2p1]\n\n{CARD}"),
        (f"{LEAD} {LEAD} {WRONG}", f"{LEAD} [s2p1] {LEAD} [s2p1]"),
    ],
)
def test_what_a_judge_lets_stand_cites_where_no_neighbour_does(
    draft: str, content: str, library: SqliteLibrary
) -> None:
    assert check(draft, library, judge=agreeing).content == content


@pytest.mark.parametrize(
    ("draft", "content"),
    [
        (f"{DRUG} {DOSE}", f"{DRUG} {DOSE}"),
        (f"{DRUG} {WRONG} {DOSE}", f"{DRUG} {DOSE}"),
        (f"{DRUG} {CARD} {DOSE}", f"{DRUG} [s1p1] {CARD} {DOSE}"),
        (f"{DRUG} [s1p1] {DOSE}", f"{DRUG} [s1p1] {DOSE}"),
        (f"- {DRUG} {DOSE}", f"- {DRUG} {DOSE}"),
    ],
)
def test_a_verbatim_stretch_is_cited_once_at_its_end(draft: str, content: str, library: SqliteLibrary) -> None:
    assert check(draft, library).content == content


def test_a_judge_is_shown_nothing_that_has_no_passage(library: SqliteLibrary) -> None:
    asked = Asked()
    check(f"{UNSURE} [s1p1]\n\nIt heals.", library, judge=asked.judge, rewrite=asked.rewrite)
    assert (asked.judged, asked.rewritten) == ([[UNSURE]], [])


def test_general_knowledge_that_a_judge_confirms_stays_marked(library: SqliteLibrary) -> None:
    draft = "Fire is hot. †"
    checked = asyncio.run(
        check_draft(draft, section="S", library=library, judge=agreeing, ground=Ground(background=True))
    )
    assert (only(checked).verdict, checked.content) == (BACKGROUND, "Fire is hot †.")


def test_a_conclusion_that_code_refused_is_worded_anew_also_where_the_judge_likes_it(library: SqliteLibrary) -> None:
    rewrite = rewriting("→ The H100 is the best choice. [s2p1]")
    checked = check("→ The H200 is the best choice. [s2p1]", library, judge=agreeing, rewrite=rewrite)
    assert checked.content == "→ The H100 is the best choice. [s2p1]"


LONG = " ".join(["Lumakras cost 900 dollars in the trial, far more than had been thought."] * 20)


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("In the trial Amgen asked 900 dollars for Lumakras, more than had been thought.", True),
        ("In the trial Zelnor asked 900 dollars for Lumakras, more than had been thought.", False),
        ("In the trial Amgen asked 700 dollars for Lumakras, more than had been thought.", False),
    ],
)
def test_a_name_may_stand_in_the_passage_before_where_the_judge_agrees(said: str, stands: bool) -> None:
    asked: list[str] = []

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        asked.extend(claim.text for claim in claims)
        return [""] * len(claims)

    library = shelf(News=f"The trial of Amgen ended early.\n\n{LONG}")
    assert [p.text[:9] for p in library.passages("s1")] == ["The trial", "Lumakras "]
    other = "By this trial Lumakras became dearer than had been thought. [s1p2]"
    checked = check(f"{other} {said} [s1p2]", library, judge=agreeing, rewrite=rewrite)
    assert checked.content == (f"{other} {said} [s1p2]" if stands else other)
    assert asked == ([] if stands else [said])
    refusing = judging("unverified", "unverified")
    assert check(f"{other} {said} [s1p2]", library, judge=refusing, rewrite=rewriting("")).content == ""


def test_two_sentences_that_the_judge_saves_alike_are_said_once(library: SqliteLibrary) -> None:
    rewrite = rewriting(DOSE.removesuffix(" [s1p1]"))
    checked = check("The dose is 960 g a day. [s1p1] The dose is 96 mg a day. [s1p1]", library, rewrite=rewrite)
    assert checked.content == DOSE


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_rewrite_leaves_nothing(text: str, library: SqliteLibrary) -> None:
    checked = check(f"{WRONG}", library, judge=agreeing, rewrite=rewriting(text))
    assert (checked.content, only(checked).text) == ("", WRONG.removesuffix(" [s2p1]"))


def test_a_conclusion_names_the_facts_that_stand_on_its_passages(library: SqliteLibrary) -> None:
    draft = f"{CARD} {WRONG} {DOSE} Fire is hot. †\n\n→ The H100 is the safer choice. [s2p1]"
    checked = asyncio.run(check_draft(draft, section="S", library=library, ground=Ground(background=True)))
    premises = {claim.text: claim.premises for claim in checked.claims}
    card = next(claim.id for claim in checked.claims if f"{claim.text} [s2p1]" == CARD)
    assert premises.pop("The H100 is the safer choice.") == (card,)
    assert set(premises.values()) == {()}


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        (
            "| Call | Up to then | Later |\n| --- | --- | --- |\n| `start()` | always warns | an error since 3.14 † [s1p1] |",
            "`start()` | warns where no engine runs | an error since 3.14 †",
        ),
        (
            "It always warns and is an error by now. [s1p1]",
            "It warns where no engine runs. Since 3.14 it is an error †.",
        ),
    ],
    ids=["row", "sentences"],
)
def test_what_a_judge_words_anew_may_hold_general_knowledge(said: str, instead: str) -> None:
    library = shelf(Calls="The call `start()` warns where no engine runs. It does nothing else.")

    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        return [Verdict(kind="unverified", reason="not always", by_model=True)] * len(claims)

    async def rewrite(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        return [instead] * len(claims)

    done = check_draft(said, section="S", library=library, judge=judge, rewrite=rewrite, ground=Ground(background=True))
    checked = asyncio.run(done)
    assert "since 3.14" in checked.content.lower()
    assert "where no engine runs" in checked.content
    assert "always" not in checked.content


@pytest.mark.parametrize("said", ["The card “carries 80 GB” and was released in 2022.", "→ So it “carries 80 GB”."])
def test_what_the_judge_finds_supported_stands_without_the_marks_of_a_quotation_that_nobody_said(said: str) -> None:
    library = shelf(One="The H100 has 80 GB of memory and was released in 2022.")
    asked: list[Claim] = []

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        asked.extend(claims)
        return ["" for _ in claims]

    checked = check(f"The H100 was released in 2022. [s1p1]\n\n{said} [s1p1]", library, judge=agreeing, rewrite=rewrite)
    assert "carries 80 GB" in checked.content
    assert "“" not in checked.content
    assert asked == []


@pytest.mark.parametrize(
    ("note", "kept"),
    [
        ("- 官方把“少做检查点”列为防线。 [s1p1]", "- 官方把‘少做检查点’列为防线。 [s1p1]"),
        ("- It is a “line of defence” of theirs. [s1p1]", ""),
        ("- It checks UNIQUE/CHECK rules and keeps the first checkpoint rare. [s1p1]", None),
        ("- Keep Checkpoint 7 rare. It runs rarely on purpose. [s1p1]", None),
    ],
    ids=["translated", "no quotation of the source", "several names in one", "a sentence that joins"],
)
def test_a_note_keeps_what_the_report_made_from_it_is_checked_for(note: str, kept: str | None) -> None:
    library = shelf(
        One="Run checkpoints rarely: this is a defence. UNIQUE and CHECK rules are checked at the first one."
    )
    assert asyncio.run(note_draft(note, section="S", library=library)).content == (note if kept is None else kept)
