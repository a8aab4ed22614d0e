"""References, read back by libraries that know nothing of us."""

import json

import bibtexparser
import pytest
import rispy

from deep_research import registry
from deep_research.data import ExportInput
from deep_research.safe_text import safe_noun
from tests.support.made_reports import HOSTILE, make_input


def papers() -> ExportInput:
    """A report whose references are a preprint and a paper with a DOI."""
    given = make_input()
    first, second = given.report.references
    references = (
        first.model_copy(update={"url": "https://arxiv.org/abs/2302.01318", "published": "2023-02-02"}),
        second.model_copy(update={"url": "https://doi.org/10.1056/NEJMoa2103695", "published": "2021"}),
    )
    return given.model_copy(update={"report": given.report.model_copy(update={"references": references})})


def export(name: str, given: ExportInput) -> str:
    return registry.component("exporters", name)().export(safe_noun(given)).decode()


def test_bibtex_is_read_by_another_library() -> None:
    first, second = bibtexparser.loads(export("bibtex", papers())).entries
    assert first["ENTRYTYPE"] == "misc"
    assert first["author"] == "Maier, Rolf and Holm, Anna"
    assert (first["year"], first["eprint"], first["archiveprefix"]) == ("2023", "2302.01318", "arXiv")
    assert first["title"].strip("{}") == "Alpha manual"
    assert second["doi"] == "10.1056/NEJMoa2103695"
    assert first["ID"] != second["ID"]


def test_ris_is_read_by_another_library() -> None:
    first, second = rispy.loads(export("ris", papers()))
    assert (first["type_of_reference"], second["type_of_reference"]) == ("UNPB", "JOUR")
    assert first["authors"] == ["Maier, Rolf", "Holm, Anna"]
    assert first["year"] == "2023"
    assert second["doi"] == "10.1056/NEJMoa2103695"
    assert second["urls"] == ["https://doi.org/10.1056/NEJMoa2103695"]


@pytest.mark.parametrize("name", ["bibtex", "ris", "csl"])
def test_a_page_whose_source_is_not_kept_has_no_date_of_reading(name: str) -> None:
    given = papers()
    given = given.model_copy(update={"report": given.report.model_copy(update={"sources": {}})})
    made = export(name, given)
    assert "https://arxiv.org/abs/2302.01318" in made
    assert not any(date in made for date in ("Y2", "urldate", "accessed"))


def test_csl_has_types_dates_and_names() -> None:
    first, second = json.loads(export("csl", papers()))
    assert (first["type"], second["type"]) == ("article", "article-journal")
    assert first["issued"] == {"date-parts": [[2023, 2, 2]]}
    assert first["author"] == [{"family": "Maier", "given": "Rolf"}, {"family": "Holm", "given": "Anna"}]
    assert second["DOI"] == "10.1056/NEJMoa2103695"


@pytest.mark.parametrize("extra", HOSTILE)
def test_hostile_titles_make_neither_fields_nor_entries(extra: str) -> None:
    given = make_input(extra)
    entries = bibtexparser.loads(export("bibtex", given)).entries
    assert [entry["ENTRYTYPE"] for entry in entries] == ["misc", "misc"]
    fields = {"ENTRYTYPE", "ID", "title", "author", "year", "date", "howpublished", "url", "urldate", "note"}
    assert all(set(entry) <= fields for entry in entries)
    assert "\\input{" not in export("bibtex", given)
    records = rispy.loads(export("ris", given))
    assert [record["type_of_reference"] for record in records] == ["GEN", "ELEC"]
    items = json.loads(export("csl", given))
    assert [item["type"] for item in items] == ["document", "webpage"]
    assert "URL" not in items[0]
