"""Small steps between the graph and the evidence: notes, searches, numbering."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import (
    Action,
    Advice,
    Claim,
    Document,
    Found,
    Gap,
    Observation,
    SearchResult,
    Section,
    Span,
    Turn,
    Verdict,
)
from deep_research.events import Searched
from deep_research.reasoners.extractive.extractive_reasoner import ExtractiveReasoner
from deep_research.reasoners.model.research_turns import messages_of
from deep_research.report.render import _CONCLUDED, References, _reference_list, quoted_line, render_advice
from deep_research.run_context.context import RunContext
from deep_research.search.source_standing import uniform_standing
from deep_research.settings import Settings
from deep_research.steps import search
from deep_research.steps.research import _doubted, _room, found_by_others, joined_notes, noted_passages
from deep_research.steps.review import send_back
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.graph.harness import Shelf

TEXT = "# Tides\n\n" + "\n\n".join(
    f"## Part {n}\n\nTide {n} rises {n} metres. " + f"Harbour {n} fills slowly with grey water. " * 12
    for n in range(1, 7)
)


@pytest.fixture
def library() -> SqliteLibrary:
    library = SqliteLibrary(":memory:")
    for name in ("one", "two"):
        source = library.add_source(Found(key=name, title=name, origin="shelf"))
        library.add_snapshot(source.id, Document(text=TEXT.replace("Tide", name)), retrieved_at="2025-01-01T00:00:00Z")
    return library


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path / "journal.db")
    yield journal
    journal.close()


def _turn(*rankings: tuple[str, ...]) -> Turn:
    actions = tuple(Action(id=str(i), name="search", query="x") for i in range(len(rankings)))
    return Turn(actions=actions, observations=tuple(Observation(action="x", passages=r) for r in rankings))


def test_notes_fuse_the_rankings_of_several_searches(library: SqliteLibrary) -> None:
    turns = [_turn(("s1p1", "s1p2"), ("s2p1", "s1p2")), _turn(("s1p2",))]
    assert next(p.id for p in noted_passages(turns, library, limit=9)) == "s1p2"
    assert len(noted_passages(turns, library, limit=2)) == 2


def test_of_what_the_last_calls_brought_the_best_of_each_comes_first() -> None:
    """A page that was read has been chosen from; behind a passage that was named nobody has chosen."""
    library = SqliteLibrary(":memory:")
    for name in ("one", "two"):
        source = library.add_source(Found(key=name, title=name, origin="shelf"))
        text = "\n\n".join(f"## Part {n}\n\nThe {name} dock has {n} berths for ferries." for n in range(1, 13))
        library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    here, there = ([p.id for p in library.passages(key)] for key in ("s1", "s2"))
    calls = [("read", "s1p1"), ("read", "s2"), ("research_complete", here[9])]
    turn = Turn(
        actions=tuple(Action(id=str(i), name=name, query=query) for i, (name, query) in enumerate(calls)),
        observations=(
            Observation(action="0", passages=tuple(here)),
            Observation(action="1", passages=tuple(there)),
            Observation(action="2"),
        ),
    )
    noted = [p.id for p in noted_passages([turn], library, limit=12)]
    assert _room([turn], 1) == 1 + 10 + 3
    assert noted[0] == here[9]
    assert noted[1:11] == there[:10]
    assert noted[11:] == here[:1]


def test_what_a_reviewer_doubts_is_shown_again_with_its_passages(library: SqliteLibrary) -> None:
    text = "Engines turn at 3,000 rpm in the test. [s1p1] Boats are painted red each spring. [s2p1]"
    section = Section(title="Engines", content=text, faults=("“engines turn at 3,000 rpm”: in the test alone",))
    assert [p.id for p in _doubted(section, library)] == ["s1p1"]
    assert _doubted(section.model_copy(update={"faults": ("Nothing of this is about the weather",)}), library) == []


def test_the_same_words_on_several_pages_are_noted_once_where_they_rank_best() -> None:
    library = SqliteLibrary(":memory:")
    texts = (
        "The strategy runs no gc.", "Berths are for ferries.", "The  strategy runs no\ngc.",
        "The :term:`strategy <a>` runs *no* ``gc``, as :func:`~gc.collect` tells, when the loop has ended at 5 o'clock.",
        "The strategy <a> runs no gc, as gc.collect tells, when the loop has ended at 5 o'clock.",
        "The strategy <a> runs no gc, as gc.collect tells, when the loop has ended at 7 o'clock.",
    )  # fmt: skip
    for name, text in enumerate(texts):
        source = library.add_source(Found(key=str(name), title=str(name), origin="shelf"))
        library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    turn = _turn(("s3p1", "s2p1", "s1p1", "s4p1", "s5p1", "s6p1"))
    assert [p.id for p in noted_passages([turn], library, limit=9)] == ["s3p1", "s2p1", "s4p1", "s6p1"]


def test_notes_leave_out_ids_that_do_not_exist(library: SqliteLibrary) -> None:
    assert [p.id for p in noted_passages([_turn(("s9p9", "s1p1"))], library, limit=9)] == ["s1p1"]


def test_the_same_words_on_another_page_are_shown_to_a_researcher_once() -> None:
    library = SqliteLibrary(":memory:")
    for name in ("push", "pull", "fetch"):
        source = library.add_source(Found(key=name, title=name, origin="shelf"))
        text = "The same option is told of on several pages." if name != "fetch" else "Another thing is told here."
        library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    search = Action(id="a", name="search", query="option")
    brought = (("s1p1", "s2p1"), ("s2p1", "s3p1"))
    turns = [Turn(actions=(search,), observations=(Observation(action="a", passages=ids),)) for ids in brought]
    said = "\n".join(message.text for message in messages_of(turns, library, budget=9000))
    assert [said.count(f'id="s{n}p1"') for n in (1, 2, 3)] == [1, 0, 1]


def test_references_are_numbered_in_order_of_first_use(library: SqliteLibrary) -> None:
    references = References(library)
    assert references.cite(["s2p1", "s2p2"]) == "[1]"
    assert references.cite(["s1p1", "s2p1", "s77p1"]) == "[2][1]"
    assert references.cite(["s77p1"]) == ""
    assert [(r.number, r.source, r.passages) for r in references.entries()] == [
        (1, "s2", ("s2p1", "s2p2")),
        (2, "s1", ("s1p1",)),
    ]


def _told(text: str, passage: str) -> Claim:
    verdict = Verdict(kind="supported", reason="")
    return Claim(id=text, section="", text=text, passages=(passage,), verdict=verdict)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://user@localhost/db?x=1 and more",
        "See also: PRAGMA busy_timeout",
        "rows, user, _ = split(busy_timeout, state=rng) means = Means(n_init=auto) settled by the state of it.",
    ],
)
def test_a_reference_quotes_no_address_no_pointer_and_no_code(text: str) -> None:
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="x", title="Settings", origin="shelf"))
    library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    references = References(library)
    references.cite(["s1p1"])
    assert references.quotes(references.entries()[0], [_told(f"PRAGMA busy_timeout user {text}", "s1p1")]) == []


def test_a_reference_quotes_the_sentence_that_a_judge_has_named_where_its_passage_has_it() -> None:
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="x", title="Engines", origin="shelf"))
    library.add_snapshot(
        source.id, Document(text="Engines need oil each day. Nobody hears them run at night."), retrieved_at=""
    )
    references = References(library)
    references.cite(["s1p1"])
    for named, quoted in (("Nobody hears them run at night.", True), ("Everybody hears them.", False)):
        claim = _told("Engines need oil each day, and are silent.", "s1p1")
        claim = claim.model_copy(update={"verdict": claim.verdict.model_copy(update={"carrier": named})})
        assert (references.quotes(references.entries()[0], [claim]) == [named]) is quoted


def test_where_the_list_of_references_is_long_what_carries_least_is_not_quoted() -> None:
    library = SqliteLibrary(":memory:")
    claims: list[Claim] = []
    for n in range(1, 4):
        source = library.add_source(Found(key=str(n), title=f"Page {n}", origin="shelf"))
        text = f"The ferry number {n} leaves the northern harbour of the old town every morning in spring."
        library.add_snapshot(source.id, Document(text=text), retrieved_at="")
        claims += [_told(f"Ferry {n} leaves every morning, says {i}.", f"s{n}p1") for i in range(4 - n)]
    references = References(library)
    references.cite(["s1p1", "s2p1", "s3p1"])
    entries = references.entries()

    def listed(room: int) -> list[bool]:
        text = _reference_list(entries, claims, references, "en", room, is_dated=False)
        return [f"number {n} leaves" in text for n in (1, 2, 3)]

    assert listed(1000) == [True, True, True]
    assert listed(250) == [True, True, False]
    assert listed(10) == [False, False, False]


def test_notes_that_are_added_go_below_the_heading_that_they_share() -> None:
    earlier = "### Oil\n\n- Engines need oil. [s1p1]\n\n### Fuel\n\n- They burn it. [s2p1]"
    added = "### Oil\n\n- Twice a year. [s1p2]\n\n### Water\n\n- None. [s2p2]"
    assert joined_notes(earlier, added) == (
        "### Oil\n\n- Engines need oil. [s1p1]\n\n- Twice a year. [s1p2]\n\n"
        "### Fuel\n\n- They burn it. [s2p1]\n\n### Water\n\n- None. [s2p2]"
    )
    assert joined_notes("", added) == added
    assert joined_notes("Told above.", "Told below.") == "Told above.\n\nTold below."


def _step(*commands: str) -> Advice:
    return Advice(action="Start it.", commands=commands, premises=("s1p1",))


@pytest.mark.parametrize(
    ("commands", "shown"),
    [
        (("a", "b †"), "```\na\nb\n```\n\n†"),
        (
            ("a †", "b †", "c"),
            "```\na\nb\nc\n```\n\n†",
        ),
    ],
)
def test_commands_of_general_knowledge_are_marked_once(
    commands: tuple[str, ...], shown: str, library: SqliteLibrary
) -> None:
    assert "\n\n".join(render_advice([_step(*commands)], References(library), "en")).endswith(shown)


def test_grounds_that_no_sentence_of_a_step_cites_are_not_shown_as_if_it_did(library: SqliteLibrary) -> None:
    step = Advice(action="Start it.", why="It is cold.", how=("Use the tap.",), premises=("s1p1", "s2p1"))
    text = "\n\n".join(render_advice([step], References(library), "en"))
    assert text.endswith("1. **Start it.** It is cold. Use the tap.")


def test_a_chinese_step_has_no_spaces_between_its_sentences(library: SqliteLibrary) -> None:
    step = Advice(action="启动它", why="天冷。", how=("用水龙头",), premises=("s1p1",))
    assert render_advice([step], References(library), "zh")[-1] == "1. **启动它。** 天冷。用水龙头。"


def test_lines_to_type_stand_behind_the_sentence_that_leads_to_them(library: SqliteLibrary) -> None:
    how = ("Choose a name.", "Then run, on the primary: [s1p1]", "It works when a file appears.")
    steps = [Advice(action="Start it.", how=how, commands=("a", "b")), Advice(action="Stop it.")]
    text = "\n\n".join(render_advice(steps, References(library), "en"))
    assert "primary: [1]\n\n```\na\nb\n```\n\n   - It works when a file appears.\n2. **Stop it.**" in text


def test_a_step_cites_in_its_sentences(library: SqliteLibrary) -> None:
    step = Advice(
        action="Start it.", why="It is cold. [s1p1]", how=("Use the tap [s2p1].",), premises=("s1p1", "s2p1", "s2p2")
    )
    text = "\n\n".join(render_advice([step], References(library), "en"))
    assert text.endswith("It is cold. [1] Use the tap [2].")


def test_a_reference_quotes_what_carries_a_fact_rather_than_what_is_like_a_conclusion() -> None:
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="x", title="Settings", origin="shelf"))
    text = (
        "Another setting updates the working tree of the branch. If set to true, updates that lose history are denied."
    )
    library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    own = _told("Protect the main branch and its tree.", "s1p1")
    concluded = [own.model_copy(update={"id": kind, "kind": kind}) for kind in ("inference", "advice")]
    claims = [*concluded, _told("Updates that lose history can be denied.", "s1p1")]
    references = References(library)
    references.cite(["s1p1"])
    (entry,) = references.entries()
    assert references.quotes(entry, claims) == ["If set to true, updates that lose history are denied."]
    assert references.quotes(entry, claims[:2]) != references.quotes(entry, claims)


def _context(place: Any, library: SqliteLibrary, journal: SqliteJournal, events: list[Any]) -> RunContext:
    return RunContext(
        run_id="run",
        settings=Settings(),
        reasoner=ExtractiveReasoner(),
        library=library,
        journal=journal,
        places=(place,),
        emit=events.append,
    )


class Exact(Shelf):
    """Knows where in its text the answer is, and what it could not open."""

    async def search(self, query: str, *, limit: int) -> SearchResult:
        start = TEXT.index("Tide 5 rises")
        spans = (Span(start=start, end=start + 20, score=1.0),)
        found = Found(key="tides", title="Tides", origin="shelf", spans=spans, document=Document(text=TEXT))
        return SearchResult(found=(found,), gaps=(Gap(what="a.pdf", why="torn"), Gap(what="b.pdf", why="locked")))


async def test_a_search_notes_the_passages_the_place_points_at(journal: SqliteJournal) -> None:
    library, events = SqliteLibrary(":memory:"), []
    ctx = _context(Exact(), library, journal, events)
    (seen,) = await search.perform(
        ctx, [Action(id="a", name="search", query="tide five")], section=Section(title="Tides")
    )
    passage = library.passage(seen.passages[0])
    assert passage is not None
    assert "Tide 5 rises 5 metres" in passage.text
    assert (seen.found, seen.new) == (1, 1)
    assert [gap.what for gap in ctx.gaps] == ["a.pdf", "b.pdf"]
    assert seen.failure == "torn"
    (event,) = [event for event in events if isinstance(event, Searched)]
    assert (event.section, event.source, event.found, event.new, event.reused) == ("Tides", "shelf", 1, 1, False)


async def test_a_source_nobody_has_is_a_gap(journal: SqliteJournal) -> None:
    ctx = _context(Exact(), SqliteLibrary(":memory:"), journal, [])
    (seen,) = await search.perform(ctx, [Action(id="a", name="search", query="x", source="nowhere")])
    assert "nowhere" in seen.failure
    assert [gap.why for gap in ctx.gaps] == [seen.failure]


async def test_a_failed_call_is_not_kept_and_a_kept_one_is_not_repeated(journal: SqliteJournal) -> None:
    made: list[str] = []

    async def fail() -> str:
        made.append("fail")
        raise ValueError("no")

    async def work() -> str:
        made.append("work")
        await asyncio.sleep(0)
        return "answer"

    with pytest.raises(ValueError, match="no"):
        await journal.call("search", "q", fail)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(journal.call("search", "q", work)) for _ in range(5)]
    assert [task.result()[0] for task in tasks] == ["answer"] * 5
    assert sorted(task.result()[1] for task in tasks) == [False, True, True, True, True]
    assert await journal.call("search", "q", fail) == ("answer", True)
    assert made == ["fail", "work"]
    assert journal.count("search") == 1
    assert await journal.call("fetch", "q", work) == ("answer", False)


async def test_a_failure_reaches_everybody_who_waits_for_the_same_call(journal: SqliteJournal) -> None:
    gate = asyncio.Event()

    async def fail() -> str:
        await gate.wait()
        raise ValueError("no")

    tasks = [asyncio.create_task(journal.call("search", "q", fail)) for _ in range(3)]
    await asyncio.sleep(0)
    gate.set()
    results = await asyncio.wait_for(asyncio.wait(tasks), 20)
    assert [str(task.exception()) for task in results[0]] == ["no"] * 3


def test_send_back_changes_the_named_sections_only() -> None:
    from deep_research.data import Review, SectionReview  # noqa: PLC0415

    sections = [Section(title=t, status="completed", content=t, attempts=1) for t in ("a", "b")]
    review = Review(
        is_sufficient=False,
        overall_score=3,
        section_coverage=(SectionReview(title="b", status="partial", notes="dates"),),
        sections_to_retry=("b",),
    )
    (back,) = send_back(sections, review)
    assert (back.title, back.status, back.notes, back.content) == ("b", "pending", "dates", "b")


def test_a_section_goes_back_with_the_searches_that_the_review_names() -> None:
    from deep_research.data import Review, SectionReview  # noqa: PLC0415

    section = Section(title="b", status="completed", content="b", queries=("old",), missing=("stale",), faults=("x",))
    row = SectionReview(title="b", status="partial", notes="the date; who pays", queries=("b date", "b payer"))
    review = Review(is_sufficient=False, overall_score=3, section_coverage=(row,), sections_to_retry=("b",))
    (back,) = send_back([section], review)
    assert back.queries == ("b date", "b payer")
    assert back.missing == ("the date", "who pays")


def test_a_cell_gets_the_passage_that_a_colleague_has_found(library: SqliteLibrary) -> None:
    wanted = Section(title="Tides", covers=("how high one 4 rises", "price of a boat"))
    found = found_by_others(wanted, library, [])
    assert [("one 4 rises 4 metres" in passage.text) for passage in found] == [True]
    assert found_by_others(wanted, library, found) != found


def test_nearly_all_sources_of_one_version_are_told_so() -> None:
    library = SqliteLibrary(":memory:")
    for number in range(5):
        title = f"Part {number} — Engine 3.11.2 documentation" if number else "Another thing"
        source = library.add_source(Found(key=str(number), title=title, origin="shelf"))
        library.add_snapshot(source.id, Document(text="Text."), retrieved_at="2025-01-01T00:00:00Z")
    assert uniform_standing(library) == "version 3.11.2"
    assert uniform_standing(library, ["s1", "s2", "s3"]) == ""
    assert uniform_standing(library, ["s1", "s2", "s3", "s4"]) == ""


def test_a_reference_quotes_paragraphs_not_the_frame_of_a_page(library: SqliteLibrary) -> None:
    text = (
        "Navigation index | next | previous | Manual » Oil » Engines\n\nresult = wait()\n\nEngines need¶ oil each year."
    )
    source = library.add_source(Found(key="web", title="Oil", origin="shelf"))
    library.add_snapshot(source.id, Document(text=text), retrieved_at="2025-01-01T00:00:00Z")
    references = References(library)
    references.cite(["s3p1"])
    (entry,) = references.entries()
    quotes = references.quotes(entry, [_told("Engines need oil, says the next manual.", "s3p1")])
    line = quoted_line(quotes, 300)
    assert "“Engines need oil each year.”" in line
    assert "“Engines need …”" in quoted_line(quotes, 16)
    assert "Navigation" not in line
    assert "result" not in line


def test_a_reference_quotes_a_sentence_rather_than_a_bare_name(library: SqliteLibrary) -> None:
    said = "전체 이력이 필요하면 `--unshallow`를 준다."
    text = "--unshallow\n\nWith --unshallow a complete source repository makes the shallow one complete."
    source = library.add_source(Found(key="manual", title="Fetch", origin="shelf"))
    library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    references = References(library)
    references.cite(["s3p1"])
    (entry,) = references.entries()
    (quote,) = references.quotes(entry, [_told(said, "s3p1")])
    assert quote.startswith("With --unshallow a complete")


def test_a_step_of_one_case_keeps_its_place_among_those_of_all(library: SqliteLibrary) -> None:
    first, own, last, other = (
        Advice(action="Build it once.", why="There must be something to compare."),
        Advice(case="It has a diff", action="Import the diff.", commands=("git apply <diff>", "git commit")),
        Advice(action="Raise the level."),
        Advice(case="No time", action="Leave it.", commands=("git stash",)),
    )
    text = "\n\n".join(render_advice([first, own, last, other], References(library), "en"))
    assert (
        "1. **Build it once.** There must be something to compare.\n2. *It has a diff:* **Import the diff.**\n\n"
        "```\ngit apply <diff>\ngit commit\n```\n\n3. **Raise the level.**\n4. *No time:* **Leave it.**" in text
    )
    assert text.endswith("```\ngit stash\n```")


def test_what_a_step_needs_stands_before_its_actions_and_its_way_out_behind_them(library: SqliteLibrary) -> None:
    step = Advice(action="Dry it.", how=("Open it.",), condition="It must be cold.", fallback="Without a fan, wait.")
    text = "\n".join(render_advice([step], References(library), "en"))
    assert "1. **Dry it.** *Condition*: It must be cold. Open it. Without a fan, wait." in text


def test_a_step_of_many_words_is_told_in_points(library: SqliteLibrary) -> None:
    step = Advice(action="Dry it.", how=("Open it" + " and wait" * 60, "Shut it."), condition="It must be cold.")
    text = "\n".join(render_advice([step], References(library), "en"))
    assert "1. **Dry it.**\n   - *Condition*: It must be cold.\n   - Open it and wait" in text
    assert text.endswith("\n   - Shut it.")


@pytest.mark.parametrize(
    ("text", "is_mark"),
    [("→ So take it.", True), ("It runs. [1] → So take it.", True), ("- → Take it.", True), ("3.2 → 4.2 → 5.2", False)],
)
def test_an_arrow_within_a_sentence_marks_no_conclusion(text: str, is_mark: bool) -> None:
    assert (_CONCLUDED.search(text) is not None) is is_mark
