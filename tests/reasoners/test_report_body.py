"""What a report without a model quotes around the best blocks: whole sections, whole procedures, announced pages."""

import pytest

from deep_research.data import Brief, Decision, Question, Section, SectionDraft
from deep_research.i18n.catalog import phrase
from deep_research.reasoners.extractive.asked_words import Vocabulary, abbreviations
from deep_research.reasoners.extractive.block_ranking import ranked
from deep_research.reasoners.extractive.composing import _first_quotation, compose
from deep_research.reasoners.extractive.document_names import announced_titles
from deep_research.reasoners.extractive.question_analysis import analyze
from deep_research.reasoners.extractive.question_reading import read_around
from deep_research.reasoners.extractive.section_plans import plan
from deep_research.reasoners.extractive.section_writing import write_section
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.reasoners.libraries import all_passages, library

CHAPTER = """# 7. Tuning

Table of Contents

- 7.1. Reading Plans, 7.1.1. Costs, 7.1.2. Timing
- 7.2. Loading Data, 7.2.1. Copying

Tuning is affected by many things. This chapter gives hints on tuning.
"""
PAGES = {
    "7._Tuning": CHAPTER,
    "7.1._Reading_Plans": "# 7.1. Reading Plans\n\nThe server makes a plan for each query. Reading plans takes practice.\n",
    "7.2._Loading_Data": "# 7.2. Loading Data\n\nLoading data goes faster without indexes. Make the indexes last.\n",
}
COMMAND = """# Drain

## Description

Drain removes the water of a basin through its valve. Without a valve it removes nothing.

Fill is the faster way to the same level, as Drain and Fill share one pump.

## Notes

Drain needs the right to open valves.
"""
OTHER = "# Fill\n\n## Description\n\nFill brings water into a basin. Fill takes as long as Drain, and both share one pump.\n"
RESTORE = """# Backups

## Restoring a harbour database

The worst has happened. Follow these steps to restore the harbour database:

{steps}

The most important setting is restore_source, which names the archive.
"""
STEP = "{n}. {verb} the harbour database. Be careful with the rights of its files, as they are easily lost on the way from the archive to the disk.\n"
VERBS = ("Stop", "Copy", "Remove", "Fetch", "Unpack", "Check", "Configure", "Start", "Inspect")


def _planned(text: str, made: SqliteLibrary) -> tuple[Brief, dict[str, SectionDraft]]:
    hits = all_passages(made)
    decision = Decision(next_action="START_RESEARCH", confidence=0.9)
    brief = plan(Question(text=text, language="en"), analyze(text), decision, None, hits, made)
    return brief, {s.title: write_section(s, brief, hits, made) for s in brief.sections}


def test_an_introduction_announces_pages_of_the_highest_rank() -> None:
    made = library(**PAGES)
    intro, page, _ = made.sources()
    assert announced_titles(intro.id, made) == ("7.1. Reading Plans", "7.2. Loading Data")
    assert announced_titles(page.id, made) == ()


def test_a_topic_with_an_introduction_is_told_by_the_pages_that_it_announces() -> None:
    _, written = _planned("tuning", library(**PAGES))
    assert list(written) == ["Tuning", "Reading Plans", "Loading Data"]
    assert "Table of Contents" not in written["Tuning"].content
    assert "Loading data goes faster without indexes" in written["Loading Data"].content


def test_the_page_that_bears_the_name_of_a_topic_introduces_it_before_a_section_that_names_it_too() -> None:
    other = (
        "# 3. Pumps\n\n## Planning for tuning\n\nTuning of pumps needs planning, as the tuning of a pump takes time. Plan"
        " the tuning before the pump is mounted, and repeat the tuning each year.\n"
    )
    _, written = _planned("tuning", library(**{"3._Pumps": other, **PAGES}))
    assert list(written) == ["Tuning", "Reading Plans", "Loading Data"]


MANUAL = """# Harbour manual

## Opening the gate

To open the gate, turn the wheel to the left.

## Closing the gate

To close the gate, turn the wheel to the right.

## Examples

The gate of Bergen is opened at noon.
"""


def test_what_a_document_has_beside_the_quoted_sections_is_named() -> None:
    _, written = _planned("How do I open the gate, step by step?", library(Harbour_manual=MANUAL))
    (gap,) = [gap for gap in written["Answer"].gaps if "not_quoted" in gap.codes]
    assert (gap.what, gap.values["headings"]) == ("Harbour manual", "Closing the gate")


def test_of_a_fact_no_further_sections_are_named() -> None:
    _, written = _planned("When is the gate of Bergen opened?", library(Harbour_manual=MANUAL))
    assert "noon" in written["Answer"].content
    assert not written["Answer"].gaps


def test_what_stands_below_a_heading_that_says_what_is_asked_is_quoted_whatever_it_repeats() -> None:
    calls = "The first opens the great gate at dawn, when the lock keeper has looked at the tide and the wind. " * 5
    scripts = f"# Guide\n\n## Harbour scripts\n\nHere is what the harbour scripts do.\n\n{calls}\n\n{calls}\n\nThe last turns off every lamp.\n"
    _, written = _planned("What do the harbour scripts do?", library(Guide=scripts))
    assert "The last turns off every lamp" in written["Answer"].content


def test_the_section_about_a_thing_begins_where_its_description_begins() -> None:
    _, written = _planned("What is the difference between Drain and Fill?", library(Drain=COMMAND, Fill=OTHER))
    told = written["Drain"].content
    assert 0 <= told.find("Drain removes the water") < told.find("Fill is the faster way")


def test_a_report_has_all_of_each_step_and_what_follows_them() -> None:
    steps = "".join(STEP.format(n=n, verb=verb) for n, verb in enumerate(VERBS, 1))
    made = library(Backups=RESTORE.format(steps=steps))
    _, written = _planned("How do I restore the harbour database, step by step?", made)
    told = written["Answer"].content
    assert told.count("easily lost on the way") == len(VERBS)
    assert "The most important setting is restore_source" in told


YARD = """# Standby pumps

## Preparing the main pump

Pumps are old. To prepare the main pump, open its valve to the standby pump.

To watch the pump, you need a lamp.

To connect the standby pump, lay the long hose.

## Choosing

A standby pump costs money.

## Setting up the standby pump

To set up the standby pump, do this:

1. Mount the standby pump on its frame.
2. Fill the standby pump with oil.
"""


@pytest.mark.parametrize(
    ("question", "prepared"),
    [("How do I set up a standby pump?", True), ("How do I fill the standby pump with oil?", False)],
)
def test_setting_up_takes_what_the_page_has_to_be_done_before(question: str, prepared: bool) -> None:
    _, written = _planned(question, library(Standby_pumps=YARD))
    told = written["Answer"].content
    assert "Fill the standby pump with oil" in told
    assert (0 <= told.find("lay the long hose") < told.find("Mount the standby pump")) is prepared
    assert "costs money" not in told


def test_a_table_that_a_quotation_names_is_quoted_with_it() -> None:
    table = "Table 3.1. Gates\n\n| Gate | Width |\n| --- | --- |\n| North | 7 m |\n| South | 9 m |\n"
    filler = "The keeper of the harbour sleeps in a hut above the eastern quay with his dog. " * 12
    text = f"# Harbour\n\nThe harbour lets boats in by gates of several widths, which are listed in Table 3.1.\n\n{filler}\n\n{table}"
    made = library(Harbour=text, Boats="# Boats\n\nA boat has a hull and a mast.\n")
    _, written = _planned("By what does the harbour let boats in?", made)
    assert "| South | 9 m |" in written["Answer"].content


def test_each_of_many_parts_stands_below_its_question() -> None:
    made = library(
        Capacity="# Capacity\n\nThe ferry carries 300 passengers on its lower deck.\n",
        Crew="# Crew\n\nThe captain of the ferry is Ada Moor, who came from the coast guard.\n",
        History="# History\n\nThe ferry was built in 1998 on the northern wharf.\n",
    )
    _, written = _planned(
        "How many passengers does the ferry carry? Who is the captain of the ferry? When was the ferry built?", made
    )
    told = written["Answer"].content
    assert 0 <= told.find("### Who is the captain of the ferry") < told.find("Ada Moor") < told.find("1998")


def test_the_abstract_of_an_answer_is_its_best_paragraph_as_a_whole() -> None:
    made = library(
        Valve="# Valve\n\n## Notes\n\nThe valve cannot be opened by hand.\n\n## Description\n\nThe great valve blocks the"
        " flow and the draining of the basin. It does so for hours. This takes an exclusive lock on the basin.\n"
    )
    text = "Does the great valve block the flow and the draining?"
    brief, written = _planned(text, made)
    sections = [s.model_copy(update={"content": written[s.title].content}) for s in brief.sections]
    abstract = compose(text, analyze(text), brief, sections, [], made).abstract
    assert abstract.startswith("The great valve blocks")
    assert "exclusive lock" in abstract
    assert "by hand" not in abstract


@pytest.mark.parametrize("language", ["en", "zh", "ja", "ko"])
def test_what_comes_close_and_what_is_denied_are_announced_in_a_few_words(language: str) -> None:
    for name in ("only_closest", "unsaid"):
        assert len(phrase(name, language).split()) <= 8  # a longer line would be taken for a statement


def test_pages_with_several_good_blocks_are_believed_more() -> None:
    told = "The lamp of the pier burns at night. {more}"
    made = library(
        Quirks="# Quirks\n\n" + told.format(more="It is a quirk."),
        Lamps="# Lamps\n\n"
        + "\n\n".join(told.format(more=f"Its keeper {name} sees to it.") for name in ("Ada", "Bo", "Cy", "Di")),
    )
    reading = read_around("When does the lamp of the pier burn?", "en", all_passages(made), made)
    best = ranked(reading.regions, reading.words("When does the lamp of the pier burn?"))
    assert best[0].region.title == "Lamps"


def test_a_word_that_is_two_words_elsewhere_weighs_as_both() -> None:
    made = library(Standby="Streaming replication sends rows.", Notes="The replication of rows.", 复制="流复制发送行。")
    vocabulary = Vocabulary(made, all_passages(made))
    one, both = ((frozenset(way),) for way in ({"replic"}, {"stream", "replic"}))
    assert vocabulary.weight(both) > vocabulary.weight(one)
    assert vocabulary.weight((frozenset({"流复", "复制"}),)) == vocabulary.weight((frozenset({"流复"}),))


def test_lines_above_a_page_that_other_pages_have_too_are_not_quoted() -> None:
    pages = {
        name: f"Small. Fast. Reliable.\n\nThe {name} opens its gate to the boats every morning.\n"
        for name in ("Lock", "Dock", "Weir", "Pier")
    }
    _, written = _planned("When does the Dock open its gate?", library(**pages))
    assert "every morning" in written["Answer"].content
    assert "Reliable" not in written["Answer"].content


@pytest.mark.parametrize(
    "question", ["What is the difference between velmadon and tolmadon?", "velmadon 和 tolmadon 有什么区别？"]
)
def test_a_thing_is_told_from_its_own_page_whatever_the_page_says_of_both(question: str) -> None:
    """The page's title has a subtitle; its last heading names both things, and more often than any other block."""
    page = (
        "# {name}: the {trial} trials in gout\n\n## Mechanism\n\n{name} blocks one enzyme of the liver. The dose of "
        "{name} is {dose} mg.\n\n## {trial} in adults\n\n{trial} treated 900 adults with {name}. {name} halved the "
        "attacks in {trial}.\n"
    )
    both = "\n## Tolmadon and velmadon\n\nTolmadon and velmadon have not been compared in one trial.\n"
    made = library(
        velmadon=page.format(name="Velmadon", trial="HARBOUR", dose=5),
        tolmadon=page.format(name="Tolmadon", trial="ANCHOR", dose=9) + both,
    )
    _, sections = _planned(question, made)
    told = sections["tolmadon"].content
    assert "9 mg" in told
    assert "ANCHOR treated 900 adults" in told
    assert "have not been compared" not in told
    assert any("have not been compared" in section.content for section in sections.values())


CHOICE = """# Boats

## When rowing boats work well

- Ponds

A rowing boat works well on ponds.

- Canals

A rowing boat fits between the walls of canals.

## When steam boats work better

If the sea is rough, use a steam boat instead of a rowing boat.

## Paint

Paint a rowing boat every spring.
"""


def test_when_to_use_a_thing_is_told_with_what_speaks_against_it() -> None:
    made = library(Boats=CHOICE)
    _, written = _planned("When should I use a rowing boat instead of a steam boat?", made)
    told = written["Answer"].content
    assert told.find("Ponds") < told.find("works well on ponds") < told.find("between the walls")
    assert "If the sea is rough" in told
    assert "every spring" not in told


def test_the_short_form_of_a_name_says_its_words() -> None:
    headings = ["gc — Garbage Collector interface", "Recovery", "IT support"]
    assert abbreviations("How does the garbage collector work?", headings) == {
        "garbage": (frozenset({"gc"}),),
        "collector": (frozenset({"gc"}),),
    }
    assert not abbreviations("How is it told?", headings)
    assert not abbreviations("What is a global cache?", headings)


def test_how_something_works_is_told_by_what_says_how_it_goes_on() -> None:
    page = "# Keeper\n\n## {first}\n\n{one}\n\n## {second}\n\n{two}\n"
    made = library(
        Keeper=page.format(
            first="Clothes of the keeper",
            one="The lock keeper of the harbour wears a blue coat, and the lock keeper has a hat. " * 3,
            second="Hours of the keeper",
            two="The lock keeper decides when the tide is high, and opens the lock whenever a boat calls. " * 3,
        )
    )
    _, written = _planned("How does the lock keeper work?", made)
    assert "decides when the tide" in "".join(draft.content for draft in written.values())


def test_rows_cite_the_passage_of_their_header_too() -> None:
    rows = "".join(
        f"| Gate {n} | {n} m wide and made of old oak from the northern woods of the county |\n" for n in range(60)
    )
    made = library(Gates=f"# Gates\n\nAll gates.\n\n| Gate | Width |\n| --- | --- |\n{rows}")
    passages = all_passages(made)
    far = next(p for p in passages if "Gate 55" in p.text)
    head = next(p for p in passages if "| Width |" in p.text)
    _, written = _planned("How wide is Gate 55?", made)
    row = next(line for line in written["Answer"].content.splitlines() if "Gate 55" in line)
    assert far.id != head.id
    assert row.endswith(f"[{far.id}][{head.id}]")


def test_the_abstract_shows_the_row_that_has_the_value_which_a_text_speaks_of() -> None:
    text = "What is the maximum number of boats in a harbour basin?"
    page = (
        "# Limits\n\n| Item | Upper limit |\n| --- | --- |\n| boats per basin | 170 |\n| lamps per quay | 32 |\n"
        + "".join(f"| ropes of the thick kind on the pier with the number {n} | {n + 5} |\n" for n in range(20))
        + "\nThe maximum number of boats in a harbour basin is further reduced where the boats are long, for each of the boats in "
        "the basin must be able to turn in the harbour before the maximum tide.\n"
    )
    made = library(Limits=page, Fog="# Fog\n\nFog lies above the quay in the morning.\n")
    brief, written = _planned(text, made)
    sections = [s.model_copy(update={"content": written[s.title].content}) for s in brief.sections]
    abstract = compose(text, analyze(text), brief, sections, [], made).abstract
    assert "| boats per basin | 170 |" in abstract
    assert "lamps per quay" not in abstract


def test_the_abstract_opens_with_the_answer_where_that_was_chosen_for_what_it_names() -> None:
    answer = Section(
        title="Answer", content="**Which boat**\n- Canoes go up. [s1p1]\n- Ferries cross. [s1p1]\n\n**Notes**\n\nMore."
    )
    assert _first_quotation(answer) == "- Canoes go up. [s1p1]\n- Ferries cross. [s1p1]"
    assert not _first_quotation(Section(title="Answer", content="A long sentence. " * 90))
