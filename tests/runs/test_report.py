"""What a report without a model holds, over the bundled library: its parts, its language, its proof."""

import re
from pathlib import Path

import pytest

from claimcheck.language import detect
from deep_research.errors import StoreError
from deep_research.events import Event
from deep_research.i18n.catalog import phrase
from tests.runs.running import Ran, begin, engines, go_on, run, write_notes
from tests.runs.soundness import citations


def test_b8_title_text_gaps_proof_and_references_in_order(bundled: Ran) -> None:
    report = bundled.report
    assert report.report.startswith(f"# {report.title}\n")
    headings = re.findall(r"^## (.+)$", report.report, re.MULTILINE)
    last = [phrase(name, report.language) for name in ("gaps", "checked", "references")]
    assert [heading for heading in headings if heading in last] == [h for h in last if h in headings]
    assert headings[-2:] == last[-2:]
    assert citations(report.report)


def test_b8_references_name_title_place_and_a_sentence_of_their_source(bundled: Ran) -> None:
    report = bundled.report
    part = report.report.rpartition(f"## {phrase('references', report.language)}\n")[2]
    for reference in report.references:
        entry = re.search(rf"^{reference.number}\. \*\*(.+?)\*\* — (.+)$", part, re.MULTILINE)
        assert entry is not None
        assert reference.location in entry[2]
        texts = [" ".join(report.passages[key].text.split()) for key in reference.passages]
        assert any(reference.quote.removesuffix(" …") in text for text in texts)
        assert len(reference.quote) <= 242


def test_e3_the_question_decides_the_language_and_nobody_is_said_to_have_judged(bundled: Ran) -> None:
    report = bundled.report
    assert report.language == detect(report.question)
    cited = {key for claim in report.claims for key in claim.passages}
    assert phrase("checked_nobody", report.language, cited=len(cited)) in report.report
    assert {claim.verdict.kind for claim in report.claims} <= {"unverified", "own"}
    assert "°" not in report.report


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


def test_a_fence_that_is_quoted_takes_nothing_behind_it_for_code(tmp_path: Path) -> None:
    code = "    ```\n    reset valve"
    valve = f'# Valve\n\n!!! note ""\n    Reset the valve so.\n\n{code}\n\n## More\n\nEnd.\n'
    docs = write_notes(tmp_path / "docs", valve=valve, pump="# Pump\n\nReset of a pump needs a valve key.\n")
    report = run("How do I reset the valve?", home=tmp_path / "home", docs=[docs]).report
    cited = {key for reference in report.references for key in reference.passages}
    assert len(report.references) == 2
    assert cited == {key for claim in report.claims for key in claim.passages}
    assert phrase("checked_nobody", "en", cited=len(cited)) in report.report
