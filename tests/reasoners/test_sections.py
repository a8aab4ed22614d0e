"""Planning and writing sections: an answer alone, headings of the best documents, comparisons, nothing for no answer."""

import pytest

from deep_research.data import Brief, Claim, Decision, Question, SectionDraft, Verdict
from deep_research.reasoners.extractive.composing import compose
from deep_research.reasoners.extractive.document_headings import is_telling
from deep_research.reasoners.extractive.question_analysis import analyze, topic_of
from deep_research.reasoners.extractive.section_plans import plan, whole_names
from deep_research.reasoners.extractive.section_writing import write_section
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.verification.drafts import parse_draft
from tests.reasoners.libraries import all_passages, library

MANUAL = """# Maintenance

## The Autovacuum Daemon

Autovacuum removes dead rows in the background. Autovacuum wakes up once a minute for every database.

## Memory of Autovacuum

Autovacuum workers use at most one gigabyte of memory for dead rows. More memory lets autovacuum finish in one pass.

## Logging Autovacuum

The server logs every autovacuum action that takes long. A log of autovacuum shows which tables are visited often.

## EXPLAIN

The command EXPLAIN shows the plan of a query. The planner needs fresh statistics for a good plan.
"""
THREADS = "# Threads\n\nThreading suits tasks that wait. Threading shares memory between all tasks of a program.\n"
PROCESSES = (
    "# Processes\n\nMultiprocessing uses one process for each task. Multiprocessing copies data, while threading"
    " shares it between tasks. Prefer multiprocessing over threading when the work needs the processor.\n"
)


def _planned(text: str, made: SqliteLibrary, language: str = "en") -> tuple[Brief, dict[str, SectionDraft]]:
    hits = all_passages(made)
    decision = Decision(next_action="START_RESEARCH", confidence=0.9)
    brief = plan(Question(text=text, language=language), analyze(text), decision, None, hits, made)
    return brief, {s.title: write_section(s, brief, hits, made) for s in brief.sections}


def test_sections_are_the_headings_that_answer_and_share_no_sentence() -> None:
    _, written = _planned("Explain how autovacuum works", library(Maintenance=MANUAL))
    assert list(written)[:3] == ["Answer", "The Autovacuum Daemon", "Memory of Autovacuum"]
    said = [line for draft in written.values() for line in draft.content.split("] ") if line]
    assert said
    assert len(said) == len(set(said))


@pytest.mark.parametrize(
    "question",
    ["How often does autovacuum wake up?", "What is autovacuum?", "How do I limit the memory of autovacuum?"],
)
def test_a_narrow_question_gets_one_answer(question: str) -> None:
    brief, written = _planned(question, library(Maintenance=MANUAL))
    assert [section.title for section in brief.sections] == ["Answer"]
    assert "utovacuum" in written["Answer"].content


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do penguins survive the Antarctic winter?", "en"),
        ("企鹅如何在南极越冬？", "zh"),
        ("펭귄은 남극의 겨울을 어떻게 보내나요?", "ko"),
    ],
)
def test_a_question_that_nothing_answers_gets_empty_sections(text: str, language: str) -> None:
    _, written = _planned(text, library(Maintenance=MANUAL, Threads=THREADS), language)
    assert all(draft.content == "" for draft in written.values())


RULES = """# Rules

## Labels

The label of a crate must be printed on paper. Every label must show the name of the harbour.

In addition, the sender must be reachable: an address or a telephone number is enough.

## Ropes

A rope must be dry.
"""


def test_a_report_of_one_answer_quotes_the_rest_of_its_section_and_a_quick_one_does_not() -> None:
    made = library(Rules=RULES)
    question = "What must the label of a crate show?"
    brief, written = _planned(question, made)
    assert "the sender must be reachable" in written["Answer"].content
    assert "A rope must be dry" not in written["Answer"].content
    quick = write_section(brief.sections[0], brief.model_copy(update={"question": ""}), all_passages(made), made)
    assert written["Answer"].content.startswith(quick.content)


def test_a_bare_topic_is_told_by_the_headings_that_name_it() -> None:
    made = library(Tips="# Tide tips\n\nThe tide turns twice a day.\n\n# Boats\n\nA boat waits for the tide to sail.\n")
    brief, _ = _planned("tide", made)
    assert [section.title for section in brief.sections] == ["Tide tips"]


INDEXES = """# Indexes

## Gin indexes

A gin index is an inverted index. Gin suits values of several parts, such as arrays.

## Gin functions

The function gin_page_info returns the pages of a gin index as a record.

## Zed indexes

A zed index stores summaries of ranges. Zed suits very large tables that are loaded in order.
"""
BOOK = """# Gin book

Table of Contents

- Gin introduction
- Gin examples

Published: 2022-11

Author: Gin writers
"""


def test_a_section_about_a_thing_begins_with_it_and_quotes_no_contents_list() -> None:
    made = library(Indexes=INDEXES, Gin_book=BOOK)
    text = "Compare gin indexes and zed indexes"
    _, written = _planned(text, made)
    said = written["gin indexes"].content
    assert said.startswith("A gin index is an inverted index.")
    assert "summaries of ranges" not in said
    assert "introduction" not in said
    assert "Published" not in said


def test_a_comparison_has_a_section_for_each_subject_and_one_for_what_names_both() -> None:
    _, written = _planned("Compare threading and multiprocessing", library(Threads=THREADS, Processes=PROCESSES))
    assert list(written) == ["threading", "multiprocessing", "Direct comparison"]
    assert "while threading shares it" in written["Direct comparison"].content
    assert "Threading suits tasks" not in written["Direct comparison"].content
    assert "one process for each task" in written["multiprocessing"].content


def test_the_table_of_a_comparison_has_a_dash_where_nothing_is_said() -> None:
    made = library(
        Alpha="# Alpha\n\nAlpha is a database for boats. The concurrency of Alpha rests on locks.",
        Beta="# Beta\n\nBeta is a database for trains.",
    )
    text = "Compare Alpha and Beta regarding concurrency"
    brief, written = _planned(text, made)
    sections = [s.model_copy(update={"content": written[s.title].content}) for s in brief.sections]
    table = compose(text, analyze(text), brief, sections, (), made).table
    assert table.splitlines()[0] == "| Subject | concurrency |"
    assert "| Alpha | The concurrency of Alpha rests on locks. [s1p1] |" in table
    assert "| Beta | — |" in table


def test_a_cell_says_what_its_own_subject_is_whatever_else_names_it() -> None:
    made = library(
        Engines="# Engines\n\n## 1.1. Alpha\n\nA boat may have an Alpha or a Beta. Alpha drives boats with steam.\n\n"
        "## 1.2. Beta\n\nThe functions of Beta are listed in Table 3. Like Alpha, Beta can run on oil. "
        "Beta engines (made in Bergen) keep oil in a tank.\n",
        Functions="# Functions\n\n## Beta functions\n\n- beta_page(page) returns text: beta_page returns the Beta page.\n",
    )
    text = "Compare Alpha and Beta"
    brief, written = _planned(text, made)
    sections = [s.model_copy(update={"content": written[s.title].content}) for s in brief.sections]
    table = compose(text, analyze(text), brief, sections, (), made).table
    assert "| Alpha | Alpha drives boats with steam. [s1p1] |" in table
    assert "| Beta | Beta engines (made in Bergen) keep oil in a tank. [s1p2] |" in table
    assert "beta_page" not in written["Beta"].content.split("\n")[0]


@pytest.mark.parametrize(
    "others", ["Every database other than Alpha uses rigid types.", "Unlike Alpha, most use rigid types."]
)
def test_a_cell_tells_of_its_subject_and_not_of_all_others(others: str) -> None:
    made = library(
        Alpha=f"# Alpha\n\n## Data types in Alpha\n\n{others} Alpha has types for each value.\n",
        Beta="# Beta\n\n## Data types\n\nBeta has nine data types.\n",
    )
    text = "Compare Alpha and Beta regarding data types"
    brief, written = _planned(text, made)
    sections = [s.model_copy(update={"content": written[s.title].content}) for s in brief.sections]
    table = compose(text, analyze(text), brief, sections, (), made).table
    assert "| Alpha | Alpha has types for each value. [s1p1] |" in table


def test_a_cell_about_a_point_begins_below_the_heading_that_names_it() -> None:
    made = library(
        Alpha="# Alpha\n\n## Hull paint\n\nAlpha carries eleven kinds of freight.\n\n"
        "## Tools\n\nThe paint shop looks at the Alpha hull first.\n",
        Beta="# Beta\n\n## Hullpaint in Beta\n\nBeta carries whatever it is given.\n",
    )
    text = "Compare Alpha and Beta regarding hull paint"
    brief, written = _planned(text, made)
    sections = [s.model_copy(update={"content": written[s.title].content}) for s in brief.sections]
    table = compose(text, analyze(text), brief, sections, (), made).table
    assert "| Alpha | Alpha carries eleven kinds of freight. [s1p1] |" in table
    assert "| Beta | Beta carries whatever it is given. [s2p1] |" in table


def test_what_lists_the_subjects_side_by_side_compares_nothing() -> None:
    made = library(
        Alpha="# Alpha\n\nAlpha is a database for boats.",
        Rights="# Rights\n\nThere are rights for Alpha, Beta and Gamma. Ask for Alpha or Beta at the desk.",
        Beta="# Beta\n\nBeta is a database for trains.",
    )
    _, written = _planned("Compare Alpha and Beta", made)
    assert written["Direct comparison"].content == ""


def test_what_stands_under_the_name_of_another_subject_is_told_there_alone() -> None:
    made = library(
        Engines="# Motor\n\nA motor turns a screw.\n\n## Diesel\n\nA diesel is a motor that burns oil.\n",
    )
    _, written = _planned("Compare motor and diesel", made)
    assert "burns oil" in written["diesel"].content
    assert "burns oil" not in written["motor"].content


@pytest.mark.parametrize(
    ("text", "subjects", "facets"),
    [
        ("Compare PostgreSQL and SQLite regarding concurrency and data types", ("PostgreSQL", "SQLite"), 2),
        ("VACUUM vs VACUUM FULL: what is the difference?", ("VACUUM", "VACUUM FULL"), 0),
        ("git reset vs git restore vs git revert, when do I use which?", ("git reset", "git restore", "git revert"), 0),
    ],
)
def test_points_of_a_comparison_are_no_subjects(text: str, subjects: tuple[str, ...], facets: int) -> None:
    found = topic_of(text)
    assert found.subjects == subjects
    assert len(found.facets) == facets


def test_the_noun_that_subjects_share_is_given_back_where_the_documents_use_it() -> None:
    used = all_passages(library(A="Logical replication sends rows. Logical replication needs a key."))
    assert whole_names(("logical", "streaming replication"), used) == ("logical replication", "streaming replication")
    assert whole_names(("Rust", "Go modules"), used) == ("Rust", "Go modules")


def test_abstract_and_conclusion_are_sentences_of_the_sections() -> None:
    text = "Compare threading and multiprocessing"
    made = library(Threads=THREADS, Processes=PROCESSES)
    brief, written = _planned(text, made)
    sections = [s.model_copy(update={"content": written[s.title].content}) for s in brief.sections]
    claims: list[Claim] = []
    for section in sections:
        passages: tuple[str, ...] = ()
        for said in reversed(parse_draft(section.content).sentences):
            passages = said.passages or passages  # a citation holds for the sentences before it
            verdict = Verdict(kind="supported", reason="")
            claims.append(Claim(id="", section=section.title, text=said.text, passages=passages, verdict=verdict))
    claims.reverse()
    made_up = compose(text, analyze(text), brief, sections, claims, made)
    assert made_up.abstract.startswith("Threading suits tasks that wait.")
    assert "one process for each task" in made_up.abstract
    quoted = [claim.text for claim in claims]
    for part in (made_up.abstract, made_up.conclusion):
        assert all(said.text in quoted for said in parse_draft(part).sentences)


def test_headings_that_tell_nothing_make_no_section() -> None:
    assert is_telling("The Autovacuum Daemon")
    assert is_telling("投机解码")
    assert is_telling("비절단형 링커")
    assert not any(
        map(is_telling, ["Notes", "SYNOPSIS", "PyObject *foo(void)", "Migration to Version 15.6", "概述", "개요"])
    )
