"""Planning and writing sections: themes with one owner per passage, comparisons, and nothing for no answer."""

from deep_research.data import Brief, Decision, Question, SectionDraft
from deep_research.reasoners.extractive.question_analysis import analyze
from deep_research.reasoners.extractive.section_plans import plan, whole_names
from deep_research.reasoners.extractive.section_writing import write_section
from deep_research.reasoners.extractive.topic_clusters import is_telling
from deep_research.stores.sqlite_library import SqliteLibrary
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


def test_themes_are_the_headings_that_answer_and_share_no_sentence() -> None:
    _, written = _planned("Explain how autovacuum works", library(Maintenance=MANUAL))
    assert {"The Autovacuum Daemon", "Memory of Autovacuum", "Logging Autovacuum"} <= set(written)
    assert "EXPLAIN" not in written
    said = [line for draft in written.values() for line in draft.content.split("] ") if line]
    assert said
    assert len(said) == len(set(said))


def test_a_question_that_nothing_answers_gets_empty_sections() -> None:
    made = library(Maintenance=MANUAL, Threads=THREADS)
    for text, language in [
        ("How do penguins survive the Antarctic winter?", "en"),
        ("企鹅如何在南极越冬？", "zh"),
        ("펭귄은 남극의 겨울을 어떻게 보내나요?", "ko"),
    ]:
        _, written = _planned(text, made, language)
        assert all(draft.content == "" for draft in written.values())


def test_sentences_on_both_and_advice_have_sections_of_their_own() -> None:
    _, written = _planned("Compare threading and multiprocessing", library(Threads=THREADS, Processes=PROCESSES))
    assert "while threading shares it" in written["Direct comparison"].content
    assert "Prefer multiprocessing over threading" in written["When to use which"].content
    assert "Threading shares memory" not in written["Direct comparison"].content
    assert "one process for each task" in written["multiprocessing"].content


def test_a_comparison_without_advice_says_nothing_about_choosing() -> None:
    made = library(Threads="# Threads\n\nThreading shares memory. Multiprocessing copies memory.\n")
    _, written = _planned("Compare threading and multiprocessing", made)
    assert written["When to use which"].content == ""


def test_the_noun_that_subjects_share_is_given_back_where_the_documents_use_it() -> None:
    used = all_passages(library(A="Logical replication sends rows. Logical replication needs a key."))
    assert whole_names(("logical", "streaming replication"), used) == ("logical replication", "streaming replication")
    assert whole_names(("Rust", "Go modules"), used) == ("Rust", "Go modules")


def test_headings_that_tell_nothing_make_no_section() -> None:
    assert is_telling("The Autovacuum Daemon")
    assert is_telling("投机解码")
    assert is_telling("비절단형 링커")
    assert not any(
        map(is_telling, ["Notes", "SYNOPSIS", "PyObject *foo(void)", "Migration to Version 15.6", "概述", "개요"])
    )
