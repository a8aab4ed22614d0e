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
        ("What is the price of Gadget?", "| Gadget | 99 | 0 [1] |"),
        ("How many litres per second does the pump move?", "7 litres"),
        ("软件产品线的毛利率是多少?", "68%"),
        ("Which transaction isolation level is the default in PostgreSQL?", "READ COMMITTED"),
    ],
)
def test_what_a_document_says_is_answered(question: str, expected: str, folder: Path) -> None:
    code, report = _asked(question, folder)
    assert code == 0
    assert expected in report["report"].split("## How this was checked")[0]
    assert [part["answered"] for part in report["parts"]] == ["yes"]


@pytest.mark.parametrize("question", ["How do I bake sourdough bread?", "What is the capital of Norway?"])
def test_what_no_document_says_is_refused(question: str, folder: Path) -> None:
    code, report = _asked(question, folder)
    assert code == 3
    assert [part["answered"] for part in report["parts"]] == ["no"]


def test_what_is_too_general_is_asked_back_or_refused(folder: Path) -> None:
    assert _asked("Which one is better?", folder)[0] in (3, 4)


def test_a_part_without_an_answer_is_named_and_marked(folder: Path) -> None:
    code, report = _asked("Who owns the migration, and who audits the invoices?", folder)
    assert code == 0
    assert [(part["text"], part["answered"]) for part in report["parts"]] == [
        ("Who owns the migration", "yes"),
        ("who audits the invoices", "no"),
    ]
    assert "**who audits the invoices**" in report["report"].split("could not be found")[1]


def test_the_review_of_a_report_lowers_its_score_for_what_is_missing(folder: Path) -> None:
    said = call("Who owns the migration, and who audits the invoices?", "--docs", str(folder), "--json")
    report = json.loads(said.out)
    (review,) = report["reviews"]
    assert (review["status"], review["missing"]) == ("partial", "who audits the invoices")
    assert review["score"] <= 5
