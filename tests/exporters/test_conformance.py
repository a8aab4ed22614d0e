"""What holds for every exporter, ours and those of plug-ins."""

import csv
import io

import pytest

from deep_research import registry
from deep_research.safe_text import safe_noun
from deep_research.worker_child import Limits
from deep_research.worker_pool import call_in_worker
from tests.support.made_reports import HOSTILE, SAID, exported, make_input

NAMES = registry.names("exporters")
TEXTS = ("bibtex", "csl", "csv", "html", "json", "markdown", "ris")


def test_every_format_that_is_promised_is_there() -> None:
    assert {"markdown", "html", "pdf", "docx", "pptx", "json", "bibtex", "ris", "csl", "csv", "xlsx"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_report_gives_the_same_text_and_no_two_formats_are_one(name: str) -> None:
    first, second = exported(name), exported(name)
    assert len(first) > 100
    if name in TEXTS:
        assert first == second
        assert first.decode()


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_report_is_exported(name: str) -> None:
    given = make_input()
    empty = given.report.model_copy(
        update={"report": "", "claims": (), "references": (), "passages": {}, "sections": (), "parts": (), "gaps": ()}
    )
    made = registry.component("exporters", name)().export(given.model_copy(update={"report": empty}))
    assert isinstance(made, bytes)


def test_the_table_of_evidence_calculates_nothing() -> None:
    formulas = (
        "＝1+1",
        "\u00a0=1+1",
        'text;=1+1;"@SUM(1)"',
        "one\ttwo\t-3+cmd",
        "a line\n+1+1\n ＠SUM(1)",
        'quoted;""=1+1',
    )
    for extra in (*HOSTILE, *formulas):
        report = make_input(extra).report
        claims = tuple(claim.model_copy(update={"text": extra, "where": extra}) for claim in report.claims)
        given = safe_noun(make_input(extra).model_copy(update={"report": report.model_copy(update={"claims": claims})}))
        text = registry.component("exporters", "csv")().export(given).decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text)))
        assert {len(row) for row in rows} == {20}
        for separator in (",", ";", "\t", "|"):
            cells = [cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row]
            assert not [cell for cell in cells if cell.lstrip(' \u00a0\ufeff"').startswith(tuple("=+-@＝＋－＠\t\r"))]


def test_the_table_of_evidence_has_a_row_for_each_statement_and_passage() -> None:
    rows = list(csv.DictReader(io.StringIO(exported("csv").decode("utf-8-sig"))))
    assert [(row["claim_id"], row["passage_id"]) for row in rows][:4] == [
        ("c1", ""), ("c2", "s1p2"), ("c3", "s1p2"), ("c4", "s1p1"),
    ]  # fmt: skip
    assert len(rows) == 13  # one statement rests on two passages
    assert rows[1]["statement"] == SAID
    assert rows[1]["passage"].startswith(SAID)
    assert (rows[1]["page"], rows[1]["reference"], rows[1]["verdict"]) == ("3", "1", "supported")
    assert (rows[0]["kind"], rows[0]["verdict"], rows[3]["where"]) == ("own", "own", "Alpha")
    assert rows[4]["problems"] == "Its manual forbids cold. (open)"
    assert "home/user" not in exported("csv").decode()


def export_many() -> int:
    """Return how long the page is of a statement that cites 200,000 passages, in a worker."""
    given = make_input()
    claim = given.report.claims[1].model_copy(update={"passages": ("s1p1", "s1p2") * 100_000})
    report = given.report.model_copy(update={"claims": (claim,)})
    return len(registry.component("exporters", "html")().export(given.model_copy(update={"report": report})))


def test_the_passages_of_a_statement_cost_what_they_are_long() -> None:
    limits = Limits(memory=2_000_000_000, cpu_seconds=30.0)
    assert call_in_worker(f"{__name__}:export_many", returns=int, limits=limits) > 1_000


def test_a_statement_of_many_passages_does_not_fill_a_table_with_itself() -> None:
    given = make_input()
    claim = given.report.claims[1].model_copy(update={"text": "word " * 20_000, "passages": ("s1p1", "s1p2") * 500})
    report = given.report.model_copy(update={"claims": (claim,)})
    made = registry.component("exporters", "csv")().export(given.model_copy(update={"report": report}))
    assert made.decode().count("word " * 20_000) == 1
    assert len(made) < 3_000_000
