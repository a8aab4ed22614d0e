"""What a user without a model and key gets for questions that small documents answer, do not, or answer in part."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import call

NOTES = """# Weekly meeting

## Decisions
- The release date is 14 July.
- Anna owns the migration.
- Budget: 40,000 euros.
"""
MAIL = "From: Tom\n\nthe new server costs 3,200 euros. It arrives on Monday.\n"
ISOLATION = (
    "# Isolation\n\nSERIALIZABLE is the default transaction isolation level in the standard. In PostgreSQL the default "
    "is ordinarily READ COMMITTED, but you can change it in the configuration file.\n"
)
MARGINS = "# 毛利率\n\n| 产品线 | 毛利率 |\n| --- | --- |\n| 硬件 | 21% |\n| 软件 | 68% |\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as a team has it: notes, a mail, tables, one sentence."""
    made = tmp_path_factory.mktemp("team")
    (made / "notes.md").write_text(NOTES, "utf-8")
    (made / "mail.txt").write_text(MAIL, "utf-8")
    (made / "france.txt").write_text("Paris is the capital of France.\n", "utf-8")
    (made / "prices.csv").write_text("item,price,stock\nGadget,99,0\nWidget,12,40\n", "utf-8")
    (made / "pumps.jsonl").write_text('{"text": "The pump moves 7 litres per second."}\n', "utf-8")
    (made / "isolation.md").write_text(ISOLATION, "utf-8")
    (made / "毛利率.md").write_text(MARGINS, "utf-8")
    return made


def _asked(question: str, folder: Path) -> tuple[int, dict[str, Any]]:
    said = call("ask", question, "--docs", str(folder), "--json")
    return said.code, json.loads(said.out)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the capital of France?", "Paris is the capital of France."),
        ("Who owns the migration?", "Anna owns the migration."),
        ("When does the new server arrive?", "Monday"),
        ("What is the price of Gadget?", "| Gadget | 99 | 0 |"),
        ("How many litres per second does the pump move?", "7 litres"),
        ("软件产品线的毛利率是多少?", "68%"),
        ("Which transaction isolation level is the default in PostgreSQL?", "READ COMMITTED"),
    ],
)
def test_what_a_document_says_is_shown_first(question: str, expected: str, folder: Path) -> None:
    code, report = _asked(question, folder)
    assert code == 0
    assert expected in report["report"].split("[1]")[0] + report["report"].split("\n## ")[0]
    assert report["parts"] == [], "nobody judged whether it answers"


def test_where_nothing_has_the_words_nothing_is_shown(folder: Path) -> None:
    code, report = _asked("How do I bake sourdough bread?", folder)
    assert code == 3
    assert report["claims"] == report["references"] == []


def test_words_that_stand_nowhere_are_named_beside_the_closest_place(folder: Path) -> None:
    code, report = _asked("What is the capital of Norway?", folder)
    assert code == 0
    assert "No passage that was read has: “Norway”." in report["report"]
    assert "nobody judged whether they answer" in report["report"]


def test_what_is_too_general_is_asked_back_or_refused(folder: Path) -> None:
    assert _asked("Which one is better?", folder)[0] in (3, 4)


def test_each_part_of_a_question_has_its_places(folder: Path) -> None:
    code, report = _asked("Who owns the migration, and who audits the invoices?", folder)
    assert code == 0
    first, second = report["report"].split("## who audits the invoices")
    assert "Anna owns the migration." in first.partition("## Who owns the migration")[2]
    assert "No passage that was read has: “audits”, “invoices”." in second
