"""Contract rows B5, B8 and E3 over the bundled library: plan, parts of the report, its language."""

import re
from pathlib import Path

import pytest

from deep_research.errors import StoreError
from deep_research.events import Event
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from tests.runs.running import Ran, begin, engines, go_on
from tests.runs.soundness import citations


def _headings(ran: Ran) -> list[str]:
    return re.findall(r"^## (.+)$", ran.report.report, re.MULTILINE)


def _part(ran: Ran, name: str) -> str:
    heading = phrase(name, ran.report.language)
    return ran.report.report.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0].strip()


def test_b5_three_to_seven_sections_with_different_titles(bundled: Ran) -> None:
    titles = [section.title for section in bundled.report.sections]
    assert 3 <= len(titles) <= 7
    assert len({title.casefold() for title in titles}) == len(titles)


def test_b8_parts_in_order(bundled: Ran) -> None:
    report, language = bundled.report, bundled.report.language
    written = [section.title for section in report.sections if section.content]
    frame = {name: phrase(name, language) for name in ("abstract", "conclusion", "gaps", "checked", "references")}
    assert report.report.startswith(f"# {report.title}\n")
    extra = {phrase("at_a_glance", language), phrase("key_findings", language)}
    headings = [heading for heading in _headings(bundled) if heading not in extra]
    assert headings == [
        frame["abstract"], *written, frame["conclusion"], frame["gaps"], frame["checked"], frame["references"],
    ]  # fmt: skip


def test_b8_the_abstract_has_100_to_200_words(english: Ran) -> None:
    words = re.sub(r"\[\d+\]", "", _part(english, "abstract")).split()
    assert 100 <= len(words) <= 200


def test_b8_abstract_and_conclusion_cite(bundled: Ran) -> None:
    assert citations(_part(bundled, "abstract"))
    assert citations(_part(bundled, "conclusion"))


def test_b8_the_body_is_the_sections_own_text(bundled: Ran) -> None:
    abstract, body = _part(bundled, "abstract"), bundled.report.report
    for section in bundled.report.sections:
        if section.content and f"\n## {section.title}\n\n" in body:
            shown = body.split(f"\n## {section.title}\n\n")[1].split("\n\n## ")[0]
            assert section.content.endswith(shown) or shown == phrase("said_above", bundled.report.language)
            front = section.content.removesuffix(shown)
            for paragraph in re.sub(r"\[\d+\]", "", front).split("\n\n"):
                said = " ".join(paragraph.split())
                assert said.startswith("**") or said in " ".join(re.sub(r"\[\d+\]", "", abstract).split())


def test_b8_references_name_title_place_and_the_sentences_that_carry_the_claims(bundled: Ran) -> None:
    part = _part(bundled, "references")
    for reference in bundled.report.references:
        entry = re.search(rf"^{reference.number}\. \*\*(.+?)\*\* — (.+)$", part, re.MULTILINE)
        assert entry is not None
        assert entry.group(1) == reference.title
        assert reference.location in entry.group(2)
        quoted = re.findall(r"“(.+?)”", part[entry.end() :].split("\n\n")[0])
        assert 1 <= len(quoted) <= 2
        assert sum(map(len, quoted)) <= 320, "the sentences that carry the claims, not whole passages"
        texts = [" ".join(bundled.report.passages[key].text.split()) for key in reference.passages]
        assert all(any(quote.removesuffix(" …") in text for text in texts) for quote in quoted)


def test_b8_a_list_question_gets_a_table(english: Ran) -> None:
    rows = [line for line in _part(english, "at_a_glance").splitlines() if line.startswith("|")]
    assert len(rows) >= 4


def test_e3_the_question_decides_the_language(bundled: Ran) -> None:
    report = bundled.report
    assert report.language == detect(report.question)
    assert phrase("no_model", report.language) in report.report
    assert phrase("checked_how", report.language) in report.report


def test_e3_sentences_in_the_readers_language_are_quoted_where_the_library_has_them(bundled: Ran) -> None:
    report = bundled.report
    standing = [claim.text for claim in report.claims if claim.stands]
    own = [text for text in standing if detect(text, default=report.language) == report.language]
    assert len(own) >= 3
    assert _part(bundled, "abstract").removeprefix("- ").startswith(tuple(own)), (
        "the answer opens in the reader's language"
    )


def test_the_counts_of_the_proof_are_those_of_the_claims(english: Ran) -> None:
    report = english.report
    supported = sum(claim.stands for claim in report.claims)
    cut = len(report.claims) - supported
    said = phrase("checked_counts", "en", claims=len(report.claims), supported=supported, cut=cut, left=0)
    assert said in report.report


def test_the_ledger_counts_what_was_paid(english: Ran) -> None:
    ledger = english.report.ledger
    assert ledger.searches > 0
    assert ledger.fetches >= len(english.report.references)
    assert ledger.seconds > 0
    assert (ledger.model_calls, ledger.cost_usd) == (0, 0.0)


def test_a_run_that_ends_between_its_report_and_its_record_reports_once(tmp_path: Path) -> None:
    ran = begin("Which kinds of engines are there?", home=tmp_path / "home", docs=[engines(tmp_path / "docs")])

    def end(event: Event) -> None:
        if event.kind == "report_ready":
            raise ConnectionAbortedError("the process ends here")

    with pytest.raises(StoreError):
        go_on(ran, listener=end)
    assert ran.folder.has_report()
    assert go_on(ran).report.answered
    assert ran.folder.load().status == "finished"
    assert [event.kind for event in ran.folder.read_events()].count("report_ready") == 1
