"""Advice keeps what follows from its premises: a doubtful reason goes, a wrong step is put right, or cut."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from deep_research.data import Advice, Claim, Computation, Document, Found, Limit, Operand, Verdict
from deep_research.errors import ProviderDown
from deep_research.ports import Library
from deep_research.report.render import References, render_advice
from deep_research.steps.check_advice import check_advice, check_limits
from deep_research.steps.check_sentences import Ground
from deep_research.steps.work_out import computed_results
from deep_research.stores.sqlite_library import SqliteLibrary

ACTION = "Oil the Alpha engine before each start."
GROUND = Ground(known="Which engine, and what to do?", background=True)


@pytest.fixture
def library(tmp_path: Path) -> SqliteLibrary:
    made = SqliteLibrary(tmp_path / "library.db")
    source = made.add_source(Found(key="a", title="Engines", url="https://a.example", origin="web"))
    text = "The Alpha engine needs oil before each start. Without oil it stops after 5 minutes."
    made.add_snapshot(source.id, Document(text=text, title="Engines"), retrieved_at="2026-01-01T00:00:00+00:00")
    return made


def judging(*kinds: str):
    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        told = [*kinds, *[kinds[-1]] * len(claims)][: len(claims)]
        return [Verdict(kind=kind, reason="so") for kind in told]  # type: ignore[arg-type]

    return judge


def wording(text: str):
    async def rewrite(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        return [text for _ in claims]

    return rewrite


async def test_a_reason_that_brings_something_in_goes_and_the_step_stays(library: SqliteLibrary) -> None:
    advice = Advice(action=ACTION, why="It stops after 5 minutes.", fallback="Use 40 litres.", premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"))
    (kept,) = checked.advice
    assert (kept.action, kept.why, kept.fallback) == (ACTION, "It stops after 5 minutes.", "")


async def test_a_step_that_brings_something_in_is_cut(library: SqliteLibrary) -> None:
    advice = Advice(action="Buy 40 litres of oil.", premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"))
    assert checked.advice == ()
    assert [claim.stands for claim in checked.claims] == [False]


async def test_a_step_that_carries_out_what_the_report_designs_needs_no_premises_where_a_judge_decides(
    library: SqliteLibrary,
) -> None:
    advice = Advice(action="Check it at once, and go back if it fails.", how=("Go on when it runs.",))
    judged = GROUND._replace(is_judged=True)
    assert (await check_advice([advice], [], library, judged, judging("supported"))).advice == (advice,)
    assert (await check_advice([advice], [], library, judged, judging("unverified"))).advice == ()
    assert (await check_advice([advice], [], library, GROUND, judging("supported"))).advice == ()


async def test_what_the_judge_refuses_is_put_right_as_it_says(library: SqliteLibrary) -> None:
    advice = Advice(action=ACTION, why="It always stops.", premises=("s1p1",))
    mended = wording(f"{ACTION} Why: Without oil it stops after 5 minutes.")
    checked = await check_advice([advice], [], library, GROUND, judging("unverified"), mended)
    (kept,) = checked.advice
    assert (kept.action, kept.why) == (ACTION, "Without oil it stops after 5 minutes.")
    assert [(claim.stands, claim.repair) for claim in checked.claims] == [(True, "rewritten")]


@pytest.mark.parametrize("text", ["", f"{ACTION} Why: It always stops.", "Buy 40 litres."])
async def test_what_is_not_put_right_is_cut(text: str, library: SqliteLibrary) -> None:
    advice = Advice(action=ACTION, why="It always stops.", premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("unverified"), wording(text))
    assert checked.advice == ()


async def test_the_verb_of_a_step_is_no_name(library: SqliteLibrary) -> None:
    advice = Advice(case="you run it beside others", action="Give Alpha engines oil.", premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"))
    assert [kept.action for kept in checked.advice] == ["Give Alpha engines oil."]


async def test_general_knowledge_with_a_version_stays_beside_what_the_sources_say(library: SqliteLibrary) -> None:
    why = "Without oil it stops after 5 minutes. Engine 3.14 warns of it.†"
    fallback = "Use 40 litres. Newer engines oil themselves †."
    advice = Advice(action=ACTION, why=why, fallback=fallback, premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported", "unverified"))
    (kept,) = checked.advice
    assert kept.why == "Without oil it stops after 5 minutes. Engine 3.14 warns of it †."
    assert kept.fallback == "Newer engines oil themselves †."


COMMANDS = (
    (("engine --oil <litres>", "engine start"), True),
    (("engine --oil=1",), True),
    (("engine -ov",), True),
    (("engine --oil <litres>", "engine --keep-oiled †"), True),
)


@pytest.mark.parametrize(("commands", "stand"), COMMANDS)
async def test_commands_are_made_of_what_the_sources_have(
    commands: tuple[str, ...], stand: bool, library: SqliteLibrary
) -> None:
    source = library.add_source(Found(key="b", title="Commands", url="https://b.example", origin="web"))
    text = "Oil the engine by `engine --oil LITRES`; -o and -v make it talk."
    library.add_snapshot(source.id, Document(text=text, title="Commands"), retrieved_at="2026-01-01T00:00:00+00:00")
    advice = Advice(action=ACTION, commands=commands, premises=("s1p1", "s2p1"))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"))
    (kept,) = checked.advice
    assert kept.commands == (commands if stand else ())


@pytest.mark.parametrize("background", [True, False])
async def test_a_line_that_no_source_has_is_marked_as_general_knowledge(
    background: bool, library: SqliteLibrary
) -> None:
    source = library.add_source(Found(key="b", title="Commands", url="https://b.example", origin="web"))
    text = "Oil the engine by `engine --oil LITRES`."
    library.add_snapshot(source.id, Document(text=text, title="Commands"), retrieved_at="2026-01-01T00:00:00+00:00")
    lines = ("engine --oil <litres>", "engine.restart()")
    ground = GROUND._replace(background=background)
    advice = Advice(action=ACTION, commands=lines, premises=("s1p1", "s2p1"))
    (kept,) = (await check_advice([advice], [], library, ground, judging("supported"))).advice
    assert kept.commands == ((lines[0], "engine.restart() †") if background else ())


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("engine --oil 40", "engine --oil <…> †"),
        ("engine --oil-for '40 days' †", "engine --oil-for '<…>' †"),
        ("engine --wait=600 --check 1", "engine --wait=<…> --check 1 †"),
        ("allow 10.0.0.0/8 sha-256 †", "allow 10.0.0.0/8 sha-256 †"),
        ("sort -k 2 list †", "sort -k 2 list †"),
        ("engine --delay 2h", "engine --delay <…> †"),
        ("engine --rpm 3000", "engine --rpm 3000 †"),
    ],
)
async def test_a_value_that_no_source_has_is_left_to_the_reader(line: str, shown: str, library: SqliteLibrary) -> None:
    source = library.add_source(Found(key="b", title="Commands", url="https://b.example", origin="web"))
    text = "Oil the engine by `engine --oil LITRES`. It turns at 3000 a minute."
    library.add_snapshot(source.id, Document(text=text, title="Commands"), retrieved_at="2026-01-01T00:00:00+00:00")
    advice = Advice(action=ACTION, commands=(line,), premises=("s1p1", "s2p1"))
    (kept,) = (await check_advice([advice], [], library, GROUND, judging("supported"))).advice
    assert kept.commands == (shown,)
    ground = GROUND._replace(is_judged=True)
    (kept,) = (await check_advice([advice], [], library, ground, judging("supported"))).advice
    assert kept.commands == (f"{line.removesuffix(' †')} †",), "where a judge decides the writer chooses values"


async def test_advice_cites_in_its_sentences_and_is_judged_without_the_ids(library: SqliteLibrary) -> None:
    advice = Advice(action=ACTION, why="Without oil it stops after 5 minutes. [s1p1]", how=("Use the tap [s1p1].",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"))
    (kept,), (claim, *facts) = checked.advice, checked.claims
    assert all("[s1p1]" in text for text in (kept.why, *kept.how))
    assert kept.premises == claim.passages == ("s1p1",)
    assert "s1p1" not in claim.text
    assert [(fact.kind, fact.text) for fact in facts] == [
        ("fact", "Without oil it stops after 5 minutes."),
        ("fact", "Use the tap."),
    ]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("supported", "Without oil it stops. [s1p1] Engine 3.14 warns of it †."),
        ("unverified", "Without oil it stops. Engine 3.14 warns of it †."),
        ("contradicted", "Engine 3.14 warns of it †."),
    ],
)
async def test_a_sentence_of_a_step_keeps_its_citation_where_the_source_says_it(
    told: str, why: str, library: SqliteLibrary
) -> None:
    """A reader takes what is cited for what the source says, also in a step that follows from its premises as a whole."""
    said = "Without oil it stops. [s1p1] Engine 3.14 warns of it †."
    advice = Advice(action=ACTION, why=said, premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported", told, "unverified"))
    assert [kept.why for kept in checked.advice] == [why]


async def test_general_knowledge_of_a_step_that_a_passage_says_cites_it(library: SqliteLibrary) -> None:
    advice = Advice(action=ACTION, why="The Alpha engine stops without oil †.", premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"))
    assert [kept.why for kept in checked.advice] == ["The Alpha engine stops without oil. [s1p1]"]


async def test_a_judge_that_speaks_of_too_few_statements_is_not_believed(library: SqliteLibrary) -> None:
    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        return [Verdict(kind="supported", reason="")] * (len(claims) - 1)

    advice = Advice(action=ACTION, why="It stops. [s1p1]", premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judge)
    assert [failure.codes for failure in checked.failures] == [("judge_count",)]
    assert [claim.verdict.kind for claim in checked.claims] == ["unverified"]


async def test_what_the_reader_is_to_fill_in_is_no_figure(library: SqliteLibrary) -> None:
    said = ("Write `<version>-1` and start the engine.", "Write `<version>-7` and start the engine.")
    advice = Advice(action=ACTION, how=said, premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"))
    assert [kept.how for kept in checked.advice] == [said[:1]]


async def test_commands_are_put_right_as_the_judge_says(library: SqliteLibrary) -> None:
    advice = Advice(action=ACTION, commands=("engine stop",), premises=("s1p1",))
    mended = wording(f"{ACTION} Commands: `engine oil` `engine start`.")
    checked = await check_advice([advice], [], library, GROUND, judging("unverified"), mended)
    assert [kept.commands for kept in checked.advice] == [("engine oil", "engine start")]


@pytest.mark.parametrize(
    ("name", "verdict", "stands"),
    [("Beta pump", "supported", True), ("Beta pump", "unverified", False), ("Gamma pump", "supported", False)],
)
async def test_a_name_that_only_the_documents_behind_the_premises_have_is_for_the_judge(
    name: str, verdict: str, stands: bool, library: SqliteLibrary
) -> None:
    source = library.add_source(Found(key="b", title="Rules", url="https://b.example", origin="web"))
    text = "The Beta pump is new.\n\n" + "Engines need oil. " * 200 + "\n\nOil must be fresh."
    library.add_snapshot(source.id, Document(text=text, title="Rules"), retrieved_at="2026-01-01T00:00:00+00:00")
    last = library.passages("s2")[-1].id
    advice = Advice(action=f"Put fresh oil into the {name}.", premises=(last,))
    without = await check_advice([advice], [], library, GROUND, None)
    assert [claim.verdict.codes for claim in without.claims] == [("name_missing",)]
    checked = await check_advice([advice], [], library, GROUND, judging(verdict))
    assert bool(checked.advice) is stands


@pytest.mark.parametrize(
    ("case", "worded"),
    [("You run it dry", "You run it dry for more than 5 minutes"), ("You run it dry", "You run it dry")],
)
async def test_a_case_that_the_judge_narrows_is_no_part_of_the_action(
    case: str, worded: str, library: SqliteLibrary
) -> None:
    advice = Advice(case=case, action=ACTION, why="It always stops.", premises=("s1p1",))
    mended = wording(f"{worded}. {ACTION} Why: Without oil it stops after 5 minutes.")
    (kept,) = (await check_advice([advice], [], library, GROUND, judging("unverified"), mended)).advice
    assert (kept.case, kept.action) == (worded, ACTION)


async def test_a_step_that_is_worded_anew_keeps_its_commands(library: SqliteLibrary) -> None:
    typed = ("engine oil", "grep -n 'oil|start' notes †")
    advice = Advice(action=ACTION, why="It always stops.", commands=typed, premises=("s1p1",))
    mended = wording(f"{ACTION} Why: Without oil it stops after 5 minutes.")
    (kept,) = (await check_advice([advice], [], library, GROUND, judging("unverified"), mended)).advice
    assert (kept.why, kept.commands) == ("Without oil it stops after 5 minutes.", typed)


async def test_what_leads_to_the_lines_to_type_still_does_when_it_is_worded_anew(library: SqliteLibrary) -> None:
    advice = Advice(
        action=ACTION, why="It always stops.", how=("Then run:",), commands=("engine oil",), premises=("s1p1",)
    )
    mended = wording(f"{ACTION} Why: Without oil it stops after 5 minutes. How: Then run:. Commands: `engine oil`")
    (kept,) = (await check_advice([advice], [], library, GROUND, judging("unverified"), mended)).advice
    assert (kept.how, kept.commands) == (("Then run:",), ("engine oil",))


def fact(text: str, *passages: str) -> Claim:
    return Claim(
        id=f"c{text[:3]}", section="S", text=text, passages=passages, verdict=Verdict(kind="supported", reason="")
    )


async def down(_claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
    raise ProviderDown("away", provider="test")


async def down_too(_claims: Sequence[Claim], _library: Library) -> Sequence[str]:
    raise ProviderDown("away", provider="test")


async def test_where_the_judge_is_away_code_decides_and_says_so(library: SqliteLibrary) -> None:
    given = [
        Advice(action=ACTION, premises=("s1p1",)),
        Advice(action="Buy 40 litres of oil.", premises=("s1p1",)),
        Advice(action="Ask Zelnor for oil.", premises=("s1p1",)),
    ]
    checked = await check_advice(given, [], library, GROUND, down, wording(f"{ACTION} Why: It stops."))
    assert [advice.action for advice in checked.advice] == [ACTION]
    assert [(claim.verdict.kind, claim.verdict.codes) for claim in checked.claims] == [
        ("unverified", ("follows",)),
        ("unverified", ("number_missing",)),
        ("unverified", ("name_missing",)),
    ]
    assert [gap.what for gap in checked.failures] == ["judge"]


async def test_where_nobody_words_it_anew_what_the_judge_refused_is_cut(library: SqliteLibrary) -> None:
    given = [Advice(action=ACTION, premises=("s1p1",)), Advice(action="Start the engine.", premises=("s1p1",))]
    checked = await check_advice(given, [], library, GROUND, judging("unverified", "supported"), down_too)
    assert [advice.action for advice in checked.advice] == ["Start the engine."]
    assert [gap.what for gap in checked.failures] == ["rewrite"]


async def test_what_is_put_right_keeps_its_place(library: SqliteLibrary) -> None:
    given = [Advice(action=ACTION, premises=("s1p1",)), Advice(action="Start the engine.", premises=("s1p1",))]
    mended = wording("Oil the engine before it starts.")
    checked = await check_advice(given, [], library, GROUND, judging("unverified", "supported"), mended)
    assert [advice.action for advice in checked.advice] == ["Oil the engine before it starts.", "Start the engine."]


async def test_a_judge_and_a_writer_are_asked_only_where_there_is_something_to_ask(library: SqliteLibrary) -> None:
    checked = await check_advice([Advice(action="Buy 40 litres.", premises=("s9p1",))], [], library, GROUND, down)
    assert (checked.advice, checked.failures) == ((), ())
    advice = Advice(action=ACTION, premises=("s1p1",))
    checked = await check_advice([advice], [], library, GROUND, judging("supported"), down_too)
    assert ([kept.action for kept in checked.advice], checked.failures) == ([ACTION], ())


async def test_advice_stands_on_the_facts_of_its_passages_and_the_titles_of_its_sources(library: SqliteLibrary) -> None:
    other = library.add_source(Found(key="b", title="Boats of Kiel", url="https://b.example", origin="web"))
    library.add_snapshot(other.id, Document(text="A boat has oil."), retrieved_at="2026-01-01T00:00:00+00:00")
    facts = [fact("It needs oil.", "s1p1"), fact("A boat has oil.", "s2p1")]
    steps = [Advice(action="Oil the boats of Kiel.", premises=(key,)) for key in ("s1p1", "s2p1", "s2p1", "s99p1")]
    checked = await check_advice(steps, facts, library, Ground(), None)
    assert [claim.premises for claim in checked.claims] == [("cIt ",), ("cA b",), ("cA b",), ()]
    assert [claim.stands for claim in checked.claims] == [False, True, True, False]
    assert [claim.verdict.codes for claim in checked.claims][3] == ("no_premises",)
    assert [advice.premises for advice in checked.advice] == [("s2p1",), ("s2p1",)]
    assert len({claim.id for claim in checked.claims}) == 1


@pytest.mark.parametrize(
    ("advice", "text"),
    [
        (Advice(action="Oil it", why="it stops"), "Oil it. Why: it stops."),
        (Advice(case="it is cold", action="Oil it!"), "it is cold. Oil it!"),
        (Advice(action="Oil it.", condition="It is cold", fallback="Push it?"), "Oil it. Condition: It is cold. Otherwise: Push it?"),
        (Advice(action="Oil it", commands=("oil --engine †",)), "Oil it. Commands: `oil --engine` †"),
    ],
)  # fmt: skip
async def test_advice_is_one_claim_with_all_it_says(advice: Advice, text: str, library: SqliteLibrary) -> None:
    given = advice.model_copy(update={"premises": ("s1p1",)})
    checked = await check_advice([given], [], library, GROUND, None)
    assert [(claim.text, claim.kind, claim.stands) for claim in checked.claims] == [(text, "advice", True)]


@pytest.mark.parametrize(
    ("case", "said", "case_then", "action"),
    [
        ("it is cold", "it is cold. Oil it twice.", "it is cold", "Oil it twice."),
        ("it is cold", "Oil it twice.", "it is cold", "Oil it twice."),
        ("it is cold", "it is cold and wet. Oil it twice. Then start.", "it is cold and wet", "Oil it twice. Then start."),
        ("it is cold at sea", "the sea is far. Oil it twice.", "the sea is far", "Oil it twice."),
        ("it is cold at sea in spring", "the sea is far. Oil it twice.", "it is cold at sea in spring", "the sea is far. Oil it twice."),
        ("", "Oil it twice.", "", "Oil it twice."),
    ],
)  # fmt: skip
async def test_the_case_of_a_step_worded_anew(
    case: str, said: str, case_then: str, action: str, library: SqliteLibrary
) -> None:
    given = Advice(case=case, action=ACTION, premises=("s1p1",))
    checked = await check_advice(
        [given], [], library, GROUND, judging("unverified"), wording(f"{said} Why: It needs oil. [s1p1]")
    )
    assert [(kept.case, kept.action, kept.why) for kept in checked.advice] == [(case_then, action, "It needs oil.")]


async def test_an_error_is_no_advice(library: SqliteLibrary) -> None:
    steps = [
        Advice(action=text, premises=("s1p1",))
        for text in ("Error: rate limit exceeded.", "I could not open the page.")
    ]
    checked = await check_advice(steps, [], library, GROUND, None)
    assert [claim.verdict.codes for claim in checked.claims] == [("error_text",), ("error_text",)]


@pytest.mark.parametrize(
    ("text", "named", "searched", "kept"),
    [
        ("The price of the engine was not found.", ("Engine price",), ["engine price", "boats"], ("engine price",)),
        ("The price of the engine was not found.", ("engine price", "Engine Price"), ["engine price"], ("engine price",)),
        ("The price of the engine was not found.", (), ["engine price 2026", "boats"], ("engine price 2026",)),
        ("The price of the engine was not found.", (), ["engine of a boat at sea", "boats"], None),
        ("The price of the engine was not found.", ("engine price",), ["boats"], None),
        ("The price of the engine was not found.", (), [""], None),
        ("I could not open the page on the engine price.", (), ["engine price"], None),
        ("The engine price is open.", (), ["engine price", "price engine", "the engine price", "engine"], ("engine price", "price engine", "the engine price")),
    ],
)  # fmt: skip
async def test_a_limit_stands_where_it_was_searched_for(
    text: str, named: tuple[str, ...], searched: list[str], kept: tuple[str, ...] | None, library: SqliteLibrary
) -> None:
    checked = await check_limits([Limit(text=text, searched=named)], searched, library)
    (claim,) = checked.claims
    assert [limit.searched for limit in checked.limits] == ([] if kept is None else [kept])
    verdict = "unverified" if kept is None else "supported"
    assert (claim.text, claim.section, claim.kind, claim.verdict.kind) == (text, "", "limit", verdict)


async def test_a_step_may_say_what_was_computed_and_name_a_section_of_the_report(library: SqliteLibrary) -> None:
    operand = Operand(name="a", value="5 minutes", passage="s1p1")
    made = Computation(name="k1", expression="a / 2", unit="minutes", operands=(operand,))
    known = "\n".join([GROUND.known, "“Where it stops”", computed_results((made,), library, "")])
    ground = GROUND._replace(computations=(made,), known=known)
    how = ("Look after {k1}.", "Do as “Where it stops” says.", "Look after {k2}.", "Do as “Elsewhere” says.")
    advice = Advice(action=ACTION, how=how, premises=("s1p1",))
    (kept,) = (await check_advice([advice], [], library, ground, judging("supported"))).advice
    assert kept.how == ("Look after 2.5 minutes (= 5 minutes ÷ 2).", "Do as “Where it stops” says.")


async def test_a_version_that_general_knowledge_names_may_be_what_the_step_is_about(library: SqliteLibrary) -> None:
    how = ("Install Engine 3.14 or newer.", "Install Engine 3.15.")
    advice = Advice(action=ACTION, why="Engine 3.14 oils itself †.", how=how, premises=("s1p1",))
    (kept,) = (await check_advice([advice], [], library, GROUND, judging("supported"))).advice
    assert kept.how == ("Install Engine 3.14 or newer †.",)


async def test_what_a_step_types_needs_no_mark_but_a_name_that_it_brings_in_does(library: SqliteLibrary) -> None:
    how = ("Look at `SHOW oil_level;` first.", "Type `oil 40` then.", "Ask Mr Harlow.", "Wait until `3 May 2031`.")
    advice = Advice(action="Type `SHOW oil_level;`", how=how, premises=("s1p1",))
    ground = GROUND._replace(is_judged=True)
    (kept,) = (await check_advice([advice], [], library, ground, judging("supported"))).advice
    assert kept.how == (*how[:2], "Ask Mr Harlow †.")
    assert kept.action == "Type `SHOW oil_level;`"


async def test_a_label_within_the_name_of_a_section_parts_nothing(library: SqliteLibrary) -> None:
    how = "Do as “Another How: oil” says, each day."
    advice = Advice(action=ACTION, how=("Do as “Another How: oil” says.",), premises=("s1p1",))
    ground = GROUND._replace(known=f"{GROUND.known} “Another How: oil”", is_judged=True)
    mended = wording(f"{ACTION} How: {how}")
    (kept,) = (await check_advice([advice], [], library, ground, judging("unverified"), mended)).advice
    assert kept.how == (how,)


SCRIPT = ("cat > /etc/engine <<'EOF'", "if oil; then", "  start", "", "fi", "EOF")


async def test_a_script_keeps_its_lines_also_where_the_judge_words_its_step_anew(library: SqliteLibrary) -> None:
    advice = Advice(action=ACTION, why="It always stops.", commands=SCRIPT, premises=("s1p1",))
    asked: list[str] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        asked.extend(claim.text for claim in claims)
        return [Verdict(kind="unverified", reason="so")] * len(claims)

    async def rewrite(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        return [claim.text.replace("It always stops.", "Without oil it stops after 5 minutes.") for claim in claims]

    (kept,) = (await check_advice([advice], [], library, GROUND, judge, rewrite)).advice
    assert "\n  start\n\nfi\n" in asked[0]
    assert [line.removesuffix("†").rstrip() for line in kept.commands] == list(SCRIPT)
    shown = "\n".join(render_advice([kept], References(library), "en"))
    assert "\n".join(["```", *SCRIPT, "```"]) in shown


async def test_a_step_that_code_refuses_is_put_right_where_the_judge_says_how(library: SqliteLibrary) -> None:
    advice = Advice(action="Fill in 40 litres.", premises=("s1p1",))
    mended = wording("Fill it before each start.")
    checked = await check_advice([advice], [], library, GROUND, judging("unverified"), mended)
    assert [kept.action for kept in checked.advice] == ["Fill it before each start."]
    checked = await check_advice([advice], [], library, GROUND, judging("supported"), wording(advice.action))
    assert checked.advice == ()


async def test_the_steps_behind_one_that_is_cut_have_new_numbers(library: SqliteLibrary) -> None:
    steps = [
        Advice(action=action, premises=("s1p1",)) for action in (ACTION, "Fill in 40 litres.", "Start the engine.")
    ]
    checked = await check_advice(steps, [], library, GROUND, judging("supported"), wording("Fill in 40 litres."))
    assert [kept.action for kept in checked.advice] == [ACTION, "Start the engine."]
    assert checked.numbers == {1: 1, 3: 2}
    assert not (await check_advice(steps[:1], [], library, GROUND, judging("supported"))).numbers


async def test_a_point_of_two_sentences_stays_one_where_its_step_is_worded_anew(library: SqliteLibrary) -> None:
    how = ("Start with oil. It is what the engine needs. [s1p1]", "Look at the clock.")
    advice = Advice(action=ACTION, why="It always stops.", how=how, premises=("s1p1",))
    mended = wording(
        f"{ACTION} Why: Without oil it stops. How: Start with oil. It is what the engine needs. Look at the clock."
    )
    checked = await check_advice([advice], [], library, GROUND, judging("unverified", "supported"), mended)
    assert [kept.how for kept in checked.advice] == [how]
