"""What must hold for every report, whatever the question: evidence behind every sentence."""

import hashlib
import re

from deep_research.data import Claim, Report
from deep_research.stores.run_folder import RunFolder
from deep_research.stores.sqlite_library import SqliteLibrary

_CITATION = re.compile(r"\[(\d+)\]")


def assert_sound(report: Report, folder: RunFolder) -> None:
    """Citations resolve, passages are verbatim text of the kept snapshots, claims know their passages."""
    assert_citations_resolve(report)
    assert_passages_are_verbatim(report, folder)
    assert_claims_have_passages(report)


def body(report: Report) -> str:
    """The Markdown without the reference list, whose quotations may carry brackets of their own."""
    lines = report.report.splitlines()
    quoted = [line for line in lines if line.startswith("   >") or re.match(r"\d+\. \*\*", line)]
    return "\n".join(line for line in lines if line not in quoted)


def citations(text: str) -> set[int]:
    """The numbers cited in a text."""
    return {int(number) for number in _CITATION.findall(text)}


def assert_citations_resolve(report: Report) -> None:
    """Every `[n]` is a reference, every reference is cited, and no passage id is left in the text."""
    numbers = [reference.number for reference in report.references]
    assert numbers == list(range(1, len(numbers) + 1))
    assert citations(body(report)) == set(numbers)
    assert not re.search(r"\[s\d+p\d+\]", body(report))
    for reference in report.references:
        assert reference.source in report.sources
        assert all(report.passages[p].source == reference.source for p in reference.passages)


def assert_passages_are_verbatim(report: Report, folder: RunFolder) -> None:
    """`passages[p].text` is `snapshot[start:end]` of the snapshot whose hash the report gives."""
    library = SqliteLibrary(folder.library)
    try:
        for key, passage in report.passages.items():
            snapshot = library.snapshot(passage.source)
            assert snapshot is not None, key
            assert snapshot.text[passage.start : passage.end] == passage.text
            said = hashlib.sha256(snapshot.text.encode()).hexdigest()
            assert snapshot.sha256 == report.sources[passage.source].sha256 == said
            assert library.passage(key) is not None
    finally:
        library.close()


def assert_claims_have_passages(report: Report) -> None:
    """Every claim's passages are in the report, and what stands cites at least one."""
    ids = [claim.id for claim in report.claims]
    assert len(ids) == len(set(ids))
    for claim in report.claims:
        assert set(claim.passages) <= set(report.passages)
        assert claim.passages or not claim.stands
        if claim.end:
            told = report.report[claim.start : claim.end]
            assert (
                set(claim.text.split()[:1]) <= set(re.findall(r"\S+", told.replace("*", ""))) or claim.text[:4] in told
            )


def is_quoted(claim: Claim, report: Report) -> bool:
    """Whether the claim stands word for word in a passage it cites, line breaks aside."""
    said = " ".join(claim.text.split())
    return any(said in " ".join(report.passages[p].text.split()) for p in claim.passages)
