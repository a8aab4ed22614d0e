"""Questions whether to do something, and parts that ask more of what was named before them."""

from deep_research.data import Decision, Question
from deep_research.reasoners.extractive.question_analysis import analyze
from deep_research.reasoners.extractive.section_plans import plan

from .libraries import FILLER, all_passages, answer, library

WAL = (
    "# Overview\n\nA journal mode named WAL is there since version 3.\n\nAdvantages include:\n\n"
    "- Readers do not block writers.\n- It is faster in most cases.\n\nBut there are also disadvantages:\n\n"
    "- It does not work over a network.\n- There is one more file.\n\n"
    "# Persistence\n\nThe mode WAL is persistent, unlike the other modes of the journal.\n"
)
SWITCHES = "# Switches\n\nRepeatedly switching a file to WAL and back was once seen to harm it.\n"


def test_whether_to_do_something_is_answered_by_what_speaks_for_and_against_it() -> None:
    told = answer("Should we switch to WAL?", library(Write=WAL, Harm=SWITCHES, Other=FILLER)).content
    front = told.partition("**Switches**")[0]
    assert "do not block writers" in front
    assert "does not work over a network" in front


def test_a_part_that_names_only_an_aspect_asks_for_that_of_what_was_named_before() -> None:
    costs = "# Prices\n\nThe cost of a query is an estimate. Costs are added by the planner, and a cost may be high.\n"
    made = library(Write=WAL.replace("WAL", "Walrus"), Planner=costs, Other=FILLER)
    told = answer("What is the journal mode Walrus, and what does it cost us?", made).content
    assert "does not work over a network" in told
    assert "planner" not in told


def test_which_of_them_is_asked_of_what_was_named_before() -> None:
    made = library(
        Columns="# Columns\n\nGenerated columns hold a derived value. Triggers keep a derived value up to date.\n",
        Planner="# Planner\n\nThe planner was written anew and is faster. A plan is made faster than before.\n",
        Other=FILLER,
    )
    told = answer("Do generated columns or triggers keep a derived value, and which is faster?", made)
    assert "which is faster" in told.missing


def test_a_situation_told_beside_a_question_need_not_be_said_whole() -> None:
    made = library(
        Backup="# Backup\n\nThe backup method makes a copy of a live archive.\n",
        Uses="# Uses\n\nThe archive works well in watches and in other devices.\n",
        Other=FILLER,
    )
    told = answer(
        "We want to back up a live archive every night without stopping the pumps. "
        "Which way should we choose, and what must we watch out for?",
        made,
    ).content
    assert "copy of a live archive" in told.partition("watches")[0]


def test_a_message_that_a_question_quotes_is_found_word_for_word() -> None:
    made = library(
        Codes="# Codes\n\nThe pump says that the valve is locked when another hand holds it; wait a second.\n",
        Valves="# Valves\n\nA locked valve is a valve that is locked by a pump. The pump of a valve is locked first.\n",
        Other=FILLER,
    )
    told = answer("Our pump tells us 'the valve is locked'. What is that?", made).content
    assert "wait a second" in told.partition("locked first")[0]


def test_a_message_that_no_text_has_is_not_found() -> None:
    made = library(
        Valves="# Valves\n\nA valve of a pump is locked by hand. The pump tells what its valve does.\n", O=FILLER
    )
    question = "Our pump tells us '{}'. What does the pump tell with its valve?"
    assert answer(question.format("valve is gone"), made).missing
    assert not answer(question.format("locked by hand"), made).missing


def test_a_whole_file_of_settings_is_no_answer_for_having_every_word() -> None:
    lines = "\n".join(f"valve_{n} = pump  # the pump starts with its valve" for n in range(60))
    made = library(
        File=f"# File\n\nThe pump starts with this valve file:\n\n```\n{lines}\n```\n",
        Valve="# Pump\n\nThe pump of the well starts by itself, and its valve opens then.\n",
        Other=FILLER,
    )
    assert "```" not in answer("Which valve file starts the pump?", made).content


def test_a_part_is_searched_for_with_what_it_asks_of() -> None:
    text = "Should we switch to WAL, what does it cost us, and what else should we change?"
    question = Question(text=text, language="en")
    made = library(Write=WAL)
    decision = Decision(next_action="START_RESEARCH", confidence=0.9)
    brief = plan(question, analyze(text), decision, None, all_passages(made), made)
    assert brief.sections[0].queries[-2:] == ("Should we switch to WAL", "what does it cost us WAL")
