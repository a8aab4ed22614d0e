"""Answers without a model: whole blocks in their context, one for each part, nothing for what is not there."""

from pathlib import Path

import pytest

from deep_research.api import research
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from deep_research.reasoners.extractive.asked_words import Vocabulary, asked_words
from deep_research.reasoners.extractive.block_ranking import regions

from .libraries import FILLER, all_passages, answer, library

SHORT = (
    "Berlin has 3.7 million inhabitants. The bridge over the Spree opened in 1932. Marie Curie won two Nobel prizes. "
    "Water boils at 100 degrees Celsius at sea level. The museum closes at six in the evening."
)


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Paris is the capital of France.", "What is the capital of France?", "Paris"),
        ("The pump moves 7 litres per second.", "How many litres per second does the pump move?", "7 litres"),
        ("The turbine rotates at 3000 rpm.", "How fast does the turbine rotate?", "3000 rpm"),
        ("Our CEO is Maria Lopez.", "Who is our CEO?", "Maria Lopez"),
        ("The warranty lasts 24 months", "How long does the warranty last?", "24 months"),
        ("保修期为24个月。", "保修期为多长时间？", "24个月"),
        ("柏林有370万居民。", "柏林有多少居民？", "370万"),
        ("보증 기간은 24개월이다.", "보증 기간은 얼마인가요?", "24개월"),
        ("베를린의 인구는 370만 명이다.", "베를린의 인구는 몇 명인가요?", "370만"),
        (SHORT, "How many inhabitants does Berlin have?", "3.7 million"),
        (SHORT, "How many Nobel prizes did Marie Curie win?", "two Nobel prizes"),
        ("The Zeta battery stores 300 watt hours per kilogram.", "How much energy does the Zeta battery store?", "300"),
        ("The Omega valve opens at 77 bar.", "At what pressure does the Omega valve open?", "77 bar"),
    ],
)
def test_a_short_sentence_is_an_answer(text: str, question: str, expected: str) -> None:
    assert expected in answer(question, library(notes=text)).content


NOTES = """# Weekly meeting

## Decisions
- The release date is 14 July.
- Anna owns the migration.
- Budget: 40,000 euros.

## Mail
the new server costs 3,200 euros. It arrives on Monday.
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is the release date?", "14 July"),
        ("Who owns the migration?", "Anna"),
        ("What is the budget?", "40,000"),
        ("What does the new server cost?", "3,200"),
        ("When does the new server arrive?", "Monday"),
    ],
)
def test_a_team_s_own_notes_answer(question: str, expected: str) -> None:
    assert expected in answer(question, library(notes=NOTES)).content


LIMITS = """# Limits

Table K.1. Limits of the database

| Item | Upper limit | Comment |
| --- | --- | --- |
| relation size | 32 TB | with the default block size |
| columns per table | 1,600 | see the note below |
| field size | 1 GB | |
"""


def test_a_row_is_quoted_under_its_header_and_cites_as_a_whole() -> None:
    said = answer("What is the maximum number of columns per table?", library(limits=LIMITS)).content
    assert "| Item | Upper limit | Comment |\n| --- | --- | --- |" in said
    assert "| columns per table | 1,600 | see the note below | [s1p1]" in said


def test_two_rows_of_a_captioned_table_answer_two_parts() -> None:
    said = answer(
        "How many columns may a table have, and what is the field size limit?", library(limits=LIMITS)
    ).content
    assert "1,600" in said
    assert "1 GB" in said


def test_a_verb_with_its_particle_is_said_by_its_noun() -> None:
    made = library(backup="The backup of a cluster is taken by pg_basebackup.")
    draft = answer("How do I back up a cluster?", made)
    assert "pg_basebackup" in draft.content
    assert draft.missing == ()


@pytest.mark.parametrize(
    "contents", ["Start, 18.2. Stop the server, 18.2.1. Stop modes", "Start, 2. Stop the server, 3. Modes"]
)
def test_contents_in_one_line_are_not_quoted(contents: str) -> None:
    text = f"# Server\n\n- {contents} of the server\n\nTo stop the server, send SIGTERM."
    said = answer("How do I stop the server?", library(manual=text)).content
    assert "SIGTERM" in said
    assert "of the server" not in said


GLOSSARY = """# Glossary

- Multi-version concurrency control (MVCC): A mechanism that lets readers and writers of a row not wait for each other.
- Null: A value that is not there.

# Index checks

Because of MVCC, it is always necessary to allow duplicate entries in an index. MVCC snapshots see one of them, and
MVCC is why an index scan of the MVCC model looks at the MVCC data of a row.
"""


def test_the_entry_of_an_acronym_says_what_it_is() -> None:
    said = answer("What is MVCC?", library(manual=GLOSSARY)).content
    assert said.startswith("**Glossary**\n\n- Multi-version")


def test_a_value_is_not_quoted_without_the_sentence_that_corrects_it() -> None:
    text = (
        "SERIALIZABLE is the default transaction isolation level in the standard. In PostgreSQL the default is "
        "ordinarily READ COMMITTED, but you can change it in the configuration file."
    )
    said = answer("Which transaction isolation level is the default in PostgreSQL?", library(set=text)).content
    assert "READ COMMITTED" in said


def test_code_that_begins_before_what_is_read_stays_code() -> None:
    lines = "\n".join(f"row {n} of a listing that is as long as a page is | {n}" for n in range(120))
    text = f"# Listing\n\nThe listing begins here:\n\n```\n{lines}\n```\n\nThe frobnicator stops at row 119 of the listing.\n"
    said = answer("Where does the frobnicator stop?", library(listing=text)).content
    assert "The frobnicator stops at row 119" in said
    assert "```\n\n" not in said.split("The frobnicator")[1]


def test_several_identifiers_are_asked_for_one_by_one() -> None:
    text = (
        "# Memory\n\n- work_mem (integer): Memory of a query. The default is four megabytes.\n"
        "- hash_mem (integer): Memory of hashes as a share of work_mem and of keep_work_mem. The default is two.\n"
        "- keep_work_mem (integer): Memory of upkeep beside work_mem. The default is 64 megabytes.\n"
    )
    said = answer("What are the defaults of work_mem and keep_work_mem?", library(memory=text)).content
    assert "four megabytes" in said
    assert "64 megabytes" in said


def test_a_list_is_quoted_whole_where_its_heading_says_what_it_lists() -> None:
    text = "# Crew\n\n## What a new crew member brings\n\n- a passport\n- a certificate\n- two photographs\n- bank details\n"
    said = answer("What must a new crew member bring?", library(crew=text)).content
    assert all(item in said for item in ("passport", "certificate", "photographs", "bank details"))


def test_a_name_that_stands_nowhere_is_not_answered_by_its_neighbour() -> None:
    assert not answer("What is the capital of Norway?", library(s="Paris is the capital of France.")).content


def test_steps_are_quoted_in_order() -> None:
    text = (
        "# Recovery\n\nTo recover from a backup, follow this procedure:\n\n1. Stop the server.\n2. Restore the files.\n"
        "3. Create the file recovery.signal.\n4. Start the server.\n"
    )
    said = answer("How do I recover from a backup, step by step?", library(recovery=text)).content
    assert "1. Stop the server. [s1p1]\n2. Restore the files. [s1p1]\n3. Create" in said


def test_what_only_comes_close_stands_below_a_line_that_says_so() -> None:
    made = library(notes=NOTES, mail="The budget of the museum is small. The invoices of the museum are blue.")
    draft = answer("Who audits the budget of the museum quarterly?", made)
    assert draft.missing == ("Who audits the budget of the museum quarterly",)
    assert "do not say" in draft.content.partition("The budget of the museum")[0]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What is the phone number of Petra Kesselmann?", "Closest passages; they do not say all:"),
        ("王晓东的月薪是多少？", "未找到完整的回答；最接近的段落："),
    ],
)
def test_the_line_over_what_only_comes_close_stands_in_the_report(tmp_path: Path, question: str, line: str) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "mail.md").write_text("# Delay\n\nThe order is late.\n\nBest regards,\n\nPetra Kesselmann\n", "utf-8")
    (docs / "会议.md").write_text(
        "# 供应链会议\n\n主持：李梅；记录：王晓东\n\n## 待办\n\n- 王晓东：比较报价\n", "utf-8"
    )
    report = research(question, docs=[docs], workflow="quick").report
    assert f"**{line}" in report.partition("Petra Kesselmann [")[0].partition("王晓东 [")[0]


def test_a_part_without_an_answer_is_a_gap_that_names_the_closest_passage() -> None:
    draft = answer("Who owns the migration, and who audits the invoices?", library(notes=NOTES))
    assert "Anna" in draft.content
    (gap,) = draft.gaps
    assert gap.what == "who audits the invoices"
    assert gap.codes == ("part_not_found",)


@pytest.mark.parametrize(
    "question",
    [
        "How do I bake sourdough bread?",
        "Which one is better?",
        "How does it work?",
        "那个呢？",
        "どうすればいいですか？",
    ],
)
def test_nothing_unrelated_answers(question: str) -> None:
    assert not answer(question, library(notes=NOTES, limits=LIMITS)).content


WINDOWS = """# Window Functions

A window function performs a calculation across a set of table rows that are related to the current row. The rows keep
their identities.

# Release 15

- Improve the performance of window functions.
- Prevent DROP DATABASE from failing on Windows.
- Remove support for Python 2 in procedures. Python 2 has reached its end.
"""


@pytest.mark.parametrize(
    "question",
    [
        "Why did version 15 drop support for window functions?",
        "Since when has support for window functions been removed?",
        "为什么第15版取消了对窗口函数的支持？",
    ],
)
def test_a_premise_that_no_document_has_is_named_and_corrected(question: str) -> None:
    written = answer(question, library(manual=WINDOWS))
    assert "A window function performs a calculation" in written.content
    assert written.content.startswith(f"**{phrase('unsaid', detect(question))}**")
    assert written.missing


def test_a_premise_that_a_document_has_is_answered() -> None:
    written = answer("Why did version 15 remove support for Python 2?", library(manual=WINDOWS))
    assert "Remove support for Python 2" in written.content
    assert not written.missing


def test_a_question_in_another_script_than_the_documents_finds_them_by_its_terms() -> None:
    made = library(
        Standby_Servers="# Streaming Replication\n\nTo use streaming replication, set up a standby server first.\n",
        Protocol="# Logical Decoding\n\nThe stream of a replication slot is decoded by a plugin of the server.\n",
    )
    for question in ("如何设置流复制？", "스트리밍 복제를 설정하는 방법은?"):
        assert "To use streaming replication" in answer(question, made).content.split("**")[2]


def test_advantages_and_disadvantages_are_told_apart() -> None:
    made = library(
        Partitioning="# Overview\n\nPartitioning can provide several benefits:\n\n- Old rows are dropped quickly.\n"
        "- Queries read fewer rows.\n\n# Limitations\n\nPartitioning has these limitations:\n\n"
        "- A key must hold all columns.\n- Triggers cannot move rows.\n"
    )
    written = answer("What are the advantages and disadvantages of partitioning?", made).content
    assert "dropped quickly" in written
    assert "cannot move rows" in written


def test_what_changed_comes_behind_what_is() -> None:
    made = library(
        Policy="# Copyright file\n\nThe copyright file of a package must say where its sources were obtained.\n\n"
        "# Version 4.3.0\n\nThe copyright file of a package must say that it is copied from its sources.\n"
    )
    written = answer("What must the copyright file of a package say?", made).content
    assert "were obtained" in written.partition("copied from its sources")[0]


def test_a_word_of_a_run_is_not_said_by_the_translation_of_another() -> None:
    made = library(
        公众="微信可以安装在手机上。这个号码向公众开放。\n",
        密钥="密码保存在密钥环中。\n",
        服务="服务在系统启动时运行。\n",
        Keyring="The password is stored in a keyring.\n",
    )
    read = all_passages(made)
    found = asked_words("微信公众密码是多少？", "zh", read, Vocabulary(made, read))
    said = {word.text: word.share({"password"}) for word in found}
    assert said["密码"] == 1.0
    assert all(not share for text, share in said.items() if text != "密码")
    assert len(said) > 1


CHOICE = """# Appropriate uses of Quill

Quill is a database in a file. It does not compete with a client/server database.

## Situations where Quill works well

- Embedded devices

A device needs no administrator with Quill.

- Application files

Quill holds the documents of an application.

## Situations where a client/server database works better

- Many writers

If many clients write to the same database at once, then use a client/server database instead of Quill.
"""


def test_a_question_when_to_use_a_thing_is_answered_by_the_list_of_its_uses_and_not_by_those_of_what_is_turned_down() -> (
    None
):
    content = answer("When should I use Quill instead of a client/server database?", library(uses=CHOICE)).content
    assert content.index("Embedded devices") < content.index("Application files")
    assert "Many writers" not in content.partition("Application files")[0]


def test_a_page_on_an_old_version_gives_way_to_the_page_without_one() -> None:
    made = library(
        Types_in_Acme_version_2="Acme is typeless: a column of Acme holds any type of data, and types of data are ignored.",
        Types_in_Acme="A value of Acme has one of five types of data.",
    )
    assert "five types" in answer("What types of data does Acme have?", made).content.split("\n\n")[1]


def test_an_acronym_is_defined_by_the_beginning_of_the_page_that_spells_it_out() -> None:
    pages = {
        "Write_Ahead_Logging": f"# Write-Ahead Logging\n\nChanges go to a second file first.\n\n{FILLER}\n\n## Setup\n\nWAL is set up "
        "by the WAL pragma in a mode of its own. The WAL mode keeps.\n",
        "Other": "The WAL mode is old. WAL mode has a mode.",
    }
    assert "Changes go to a second file first." in answer("What is WAL mode?", library(**pages)).content.split("##")[0]


def test_when_not_to_use_a_thing_is_told_where_something_else_works_better() -> None:
    made = library(
        Uses_for_Quill="# Uses for Quill\n\n## Situations where Quill works well\n\n- Embedded devices\n- Application files\n\n"
        "## Situations where a server may work better\n\n- Many writers at once\n- Very large datasets\n",
        About_Quill="Quill is a small library. Quill is fast. Quill is used by many.",
    )
    told = answer("When should I not use Quill?", made).content
    assert "Many writers" in told
    assert "Embedded devices" not in told.partition("Many writers")[0]


def test_things_of_a_kind_that_have_headings_of_their_own_are_told_one_by_one() -> None:
    kinds = "".join(
        f"## {name}\n\nThis signal is sent {when}. It has no answer.\n\n"
        for name, when in (("halt", "at noon"), ("start", "at dawn"), ("drift", "at sea"))
    )
    made = library(
        Signals=f"# SIGNALS\n\n{kinds}",
        Harbour="# Harbour\n\nThe harbour has signals. It takes several signals and boats: a signal is seen, signals are old.\n",
    )
    told = answer("Which signals are there?", made).content
    assert [f"**{name}**" in told for name in ("halt", "start", "drift")] == [True] * 3
    assert "This signal is sent at sea." in told
    assert "It has no answer." not in told


def test_a_list_elsewhere_gives_way_to_the_page_with_the_name_of_the_kind() -> None:
    kinds = "".join(
        f"## {name}\n\n{name} valves close {how}.\n\n"
        for name, how in (("Ball", "fast"), ("Gate", "slowly"), ("Disc", "well"))
    )
    made = library(
        Valve_Types=f"# Valve types\n\nThere is much to say.\n\n{kinds}",
        Pump="# Pump\n\nThe pump supports several types of valves:\n\n- ball valve of the pump\n- gate valve of the pump\n",
    )
    assert "Disc valves close well." in answer("Which valve types are available?", made).content


def test_an_option_that_does_it_is_told_and_not_the_list_of_all_options() -> None:
    options = "".join(
        f"- --{name}: {what} a branch.\n"
        for name, what in (
            ("list", "Show"),
            ("copy", "Copy"),
            ("rename", "Rename"),
            ("track", "Follow"),
            ("sort", "Sort"),
            ("mark", "Mark"),
        )
    )
    told = answer("How do I rename a branch?", library(branch=f"# OPTIONS\n\n{options}")).content
    assert "Rename a branch." in told
    assert "Sort a branch." not in told


def test_a_comparison_is_answered_by_what_says_how_they_differ() -> None:
    made = library(
        Types="# Types\n\nPlain and packed take the same values. The difference between plain and packed is how fast they are read.\n",
        Functions="# Functions\n\n- plain -> packed: Gives packed for plain.\n- packed -> plain: Gives plain for packed.\n- plain(packed): plain\n",
    )
    told = answer("What is the difference between plain and packed?", made).content
    assert "how fast they are read" in told.partition("\n- ")[0]


@pytest.mark.parametrize(("question", "head"), [("How do I print?", "Printing"), ("怎样打印？", "打印服务")])
def test_a_plain_question_is_not_vague_where_a_text_has_a_heading_about_it(question: str, head: str) -> None:
    text = {"Printing": "You print with lp. It prints three copies.", "打印服务": "用 lp 打印文件。打印三份。"}[head]
    assert "lp" in answer(question, library(Manual=f"# {head}\n\n{text}\n")).content
    assert not answer(question, library(Manual="# Gates\n\nThe gate is open at noon.\n")).content


def test_how_large_asks_for_a_size_and_not_for_what_is_large() -> None:
    made = library(
        Limits="The size of an archive is at most 281 terabytes.",
        Tuning="An archive can be large: a large archive is checked in part, for large archives are slow.",
    )
    assert "281 terabytes" in answer("How large can an archive be?", made).content.partition("\n\n")[2].split("\n")[0]


def test_words_that_a_document_writes_as_one_say_both() -> None:
    made = library(
        Use="The kernel is threadsafe since version 3.",
        Safe="A safe kernel has a thread. The thread of the kernel is a kernel thread.",
    )
    content = answer("Is the kernel thread safe?", made).content
    assert "threadsafe since version 3" in content


def test_a_name_at_the_end_of_what_was_found_brings_what_it_tells() -> None:
    rooms = FILLER.split("\n\n")
    told = " ".join(["It has seven metres where the wall is highest, as all the gates of the town have."] * 8)
    for count in range(8, len(rooms)):
        text = "\n\n".join(["# Gate", *rooms[:count], "1. Height of the gate", told])
        passages = all_passages(library(Gate=text))
        ends = [n for n, p in enumerate(passages) if p.text.endswith("Height of the gate")]
        if ends and ends[0] >= 2:
            break
    made = library(Gate=text)
    (region,) = regions(passages[ends[0] - 2 : ends[0] - 1], made)
    assert region.outline.text.endswith("of the town have.")


def test_a_menu_below_the_title_of_several_pages_is_not_quoted() -> None:
    slogan = "Every mill. Always turning."
    pages = {
        name: f"# {name}\n\n{slogan}\n\n{name} is made of {name.lower()} wood." for name in ("Gate", "Wheel", "Roof")
    }
    made = library(**pages)
    found = regions(all_passages(made), made)
    assert len(found) == len(pages)
    assert [slogan in region.outline.text for region in found] == [False] * len(pages)
    two = library(**{name: pages[name] for name in ("Gate", "Wheel")})
    assert all(slogan in region.outline.text for region in regions(all_passages(two), two))


@pytest.mark.parametrize(
    ("asked", "spelled"),
    [
        ("the databse", "the database"),
        ("how to intall it", "how to install it"),
        ("one server runs", "one server runs"),
        ("temprary tables", "temporary tables"),
    ],
)
def test_a_word_is_spelled_as_a_whole_word_of_the_documents(asked: str, spelled: str) -> None:
    made = library(
        Notes="Several connections read the database under severe load. You can install it. Temporary tables are dropped."
    )
    assert Vocabulary(made, all_passages(made)).corrected(asked) == spelled
