"""What a user without a model and key gets for questions that small documents answer, do not, or answer in part."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import told

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
    home = {"DEEP_RESEARCH_HOME": str(folder.with_name(f"{folder.name} read"))}
    said = told("ask", question, "--docs", str(folder), "--json", env=home)
    return said.code, json.loads(said.out)


def _places(report: dict[str, Any]) -> str:
    """Return what a report quotes: its text without the title and note above it and what it says of itself below."""
    text: str = report["report"]
    assert "> Places that a search found." in text or "> 以下是搜索找到的位置。" in text
    return text.partition("\n\n**")[2].partition("\n## By document")[0].partition("\n## 按文档")[0]


@pytest.mark.parametrize(
    ("question", "expected", "quote"),
    [
        ("When does the new server arrive?", "It arrives on Monday. [1]", ""),
        ("What is the price of Widget?", "| Widget | 12 | 40 |", "Widget | 12 | 40"),
        ("How many litres per second does the pump move?", "The pump moves 7 litres per second. [1]", ""),
        ("软件产品线的毛利率是多少?", "| 软件 | 68% |", ""),
        ("Which transaction isolation level is the default in PostgreSQL?", "READ COMMITTED", ""),
    ],
)
def test_what_a_document_says_stands_in_a_quoted_place(question: str, expected: str, quote: str, folder: Path) -> None:
    code, report = _asked(question, folder)
    assert code == 0
    assert report["report"].startswith(f"# {question}\n")
    assert expected in _places(report)
    assert "[1]" in _places(report)
    assert quote in ("", report["references"][0]["quote"])


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Note\n\n2. Zymurgist\n", ""),
        ("Rain fell. (Of a zymurgist.) Lee came.\n", "Lee came."),
    ],
)
def test_a_reference_quotes_a_sentence_or_nothing(text: str, quote: str, tmp_path: Path) -> None:
    (docs := tmp_path / "docs").mkdir()
    (docs / "a.md").write_text(f"# Log\n\n{text}", "utf-8")
    assert _asked("What did the zymurgist Lee do?", docs)[1]["references"][0]["quote"] == quote


def test_nobodys_statements_reviews_and_counts_stand_in_a_result_of_places(folder: Path, tmp_path: Path) -> None:
    said = told("research", "When is the release, and what does the server cost?", "--docs", str(folder), "--json")
    report = json.loads(said.out)
    assert report["claims"]
    assert all(claim["passages"] and claim["verdict"]["codes"] == ["not_judged"] for claim in report["claims"])
    assert report["reviews"] == report["parts"] == []
    assert "or judged whether they answer the question" in report["report"]
    assert "## Answer" not in report["report"]
    assert not any(word in said.err for word in ("statements", "revised", "answered as", "form:", "of 10", "review: "))
    new = sum(map(int, re.findall(r"\((\d+) new", said.err)))
    assert f"sources found: {new}." in report["report"]
    page = tmp_path / "report.html"
    assert told("export", report["run_id"], "--to", "html", "--out", str(page)).code == 0
    counts = page.read_text("utf-8").partition('<ul class="counts">')[2].partition("</ul>")[0]
    assert counts == f"<li>{len(report['references'])} sources cited</li>"


def test_sources_are_numbered_and_parts_without_a_place_named_in_order(folder: Path) -> None:
    _, report = _asked("What is the price of Gadget? Who owns the migration, or the release?", folder)
    numbers = re.findall(r"\[(\d+)\]", report["report"])
    assert [*dict.fromkeys(numbers)] == [str(entry["number"]) for entry in report["references"]]
    asked = ["Why did the saxophone sing", "How do I bake sourdough", "Where is the zymurgist"]
    gaps = told("research", f"{'? '.join(asked)}?", "--docs", str(folder), "--json")
    assert [gap["what"] for gap in json.loads(gaps.out)["gaps"]] == asked


def test_a_reference_quotes_what_the_body_shows(tmp_path: Path) -> None:
    (docs := tmp_path / "docs").mkdir()
    for n in range(12):
        (docs / f"f{n}.md").write_text(f"# Filter {n}\n\nThe filter of a tank is cleaned with water.\n", "utf-8")
    told = "The zymurgist Lee came by. " + "Rain fell on the roof of the hall all day long and all night. " * 3
    (docs / "log.md").write_text(f"# Log\n\n{told}A tank holds water, its filter lets water through.\n", "utf-8")
    (docs / "a.md").write_text("# Orders\n\nThe zymurgist Lee ordered a filter, a tank and water.\n", "utf-8")
    code, report = _asked("Did the zymurgist Lee order a filter for the water of the tank?", docs)
    assert code == 0
    quotes = {reference["title"]: reference["quote"] for reference in report["references"]}
    assert "Log: The zymurgist Lee came by." in report["report"]
    assert quotes["Log"] == "The zymurgist Lee came by."


def test_a_word_that_no_place_has_is_named_above_the_places(folder: Path) -> None:
    code, report = _asked("What is the capital of Norway?", folder)
    assert code == 0
    above, _, below = report["report"].partition("\n\n**")
    assert "As written, none of the passages that the search brought has: “Norway”." in above
    assert "Paris is the capital of France. [1]" in below


def test_each_question_of_two_has_its_own_places_and_missing_words(folder: Path) -> None:
    code, report = _asked("Who owns the migration, and who audits the invoices?", folder)
    assert code == 0
    first, _, second = report["report"].partition("## who audits the invoices")
    assert "## Who owns the migration" in first
    assert "Anna owns the migration. [1]" in first
    assert "None of the passages" not in first
    assert "As written, none of the passages that the search brought has: “audits”, “invoices”." in second
