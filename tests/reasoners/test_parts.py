"""The parts of a question: each has a search and blocks of its own."""

import pytest

from deep_research.data import Brief, Section
from deep_research.reasoners.extractive.block_ranking import enumerated
from deep_research.reasoners.extractive.query_selection import researching
from deep_research.text.quotable_blocks import outline, quotable_blocks

from .libraries import library

PARTS = tuple(f"how part{number} works" for number in range(8))


def test_each_of_many_parts_is_searched_for() -> None:
    section = Section(title="Answer", queries=PARTS)
    brief = Brief(title="Parts", objective="Parts", language="en", sections=(section,))
    assert [action.query for action in researching(section, brief, [], library())] == list(PARTS)


def test_what_is_searched_for_again_is_written_as_the_words_of_the_question_are() -> None:
    section = Section(title="Answer", queries=("why are databases locked by threads",), attempts=2)
    brief = Brief(title="Locks", objective="Locks", language="en", sections=(section,))
    queries = [action.query for action in researching(section, brief, [], library())]
    assert "databases locked threads" in queries
    assert not any("databas " in query or "thread " in f"{query} " for query in queries)


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("There are two approaches to backups:\n\n- Dump\n- Copy\n", True),
        ("以下是备份的方法：\n\n- 转储\n- 复制\n", True),
        ("백업 방법은 다음과 같다:\n\n- 덤프\n- 복사\n", True),
        ("Before a backup, see:\n\n- Dump\n- Copy\n", False),
    ],
)
def test_a_lead_in_says_whether_a_list_has_all_of_a_kind(text: str, is_whole: bool) -> None:
    outlined = outline(text)
    lists = [block for block in quotable_blocks(outlined) if block.kind == "list"]
    assert [bool(enumerated(outlined, block)) for block in lists] == [is_whole]


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("The pump has a valve.\n\nSee Section 5 for details.\n", False),
        ("泵有一个阀门。\n\n详见第五章。\n", False),
        ("펌프에는 밸브가 있다.\n\n자세한 내용은 5절을 참조하십시오.\n", False),
        ("The pump has a valve.\n\nSeeing the valve is easy.\n", True),
    ],
)
def test_a_paragraph_that_only_says_where_something_stands_is_not_quoted(text: str, quoted: bool) -> None:
    outlined = outline(text)
    last = len(outlined.atoms) - 1
    assert any(last in block.atoms for block in quotable_blocks(outlined)) is quoted


def test_an_item_that_is_a_piece_of_a_sentence_stands_in_its_list_alone() -> None:
    outlined = outline("A file is kept if:\n\n- it is shipped; and\n- it is signed.\n")
    blocks = quotable_blocks(outlined)
    assert [b.kind for b in blocks if [outlined.of(n) for n in b.atoms] == ["it is shipped; and"]] == []
    assert any(b.kind == "list" and len(b.atoms) == 3 for b in blocks)


def test_what_is_announced_behind_a_list_is_another_list() -> None:
    outlined = outline("It has benefits:\n\n- Fast\n- Small\n\nIt comes in these forms:\n\n- By range\n- By hash\n")
    lists = [[outlined.of(n) for n in b.atoms] for b in quotable_blocks(outlined) if b.kind == "list"]
    assert ["It has benefits:", "Fast", "Small"] in lists
    assert ["It comes in these forms:", "By range", "By hash"] in lists


def test_a_paragraph_between_two_entries_is_quoted_with_the_name_that_it_is_about() -> None:
    outlined = outline(
        "- pump_size (integer): Sets the size of the pump.\n\nIt may be any number. Other sizes run only on Linux.\n\n"
        "Larger pumps are loud.\n\n- valve_size: Sets the size of the valve.\n\nA valve is small.\n"
    )
    blocks = {" ".join(outlined.of(n) for n in b.atoms): b.kind for b in quotable_blocks(outlined)}
    assert blocks["pump_size (integer): Sets the size of the pump. Larger pumps are loud."] == "item"
    assert "Larger pumps are loud." not in blocks
    assert not any(text.startswith(("It may be", "Larger")) for text in blocks)
    assert blocks["A valve is small."] == "paragraph", "behind the last entry it may be about anything"
