"""What is read in a text as its quantities, names and tokens, and what is said of each claim with one thing changed."""

import pytest

from tests.claimcheck import readings

READ = [(name, text, recorded) for name in readings.READERS for text, recorded in readings.texts(name)]
PASSAGES = list(readings.passages())


@pytest.mark.parametrize(("name", "text", "recorded"), READ)
def test_a_text_is_read_as_it_was(name: str, text: str, recorded: str) -> None:
    assert readings.READERS[name](readings.unescaped(text)) == recorded


@pytest.mark.parametrize(("language", "passage", "claims"), PASSAGES)
def test_a_claim_is_judged_as_it_was(language: str, passage: str, claims: list[str]) -> None:
    recorded = readings.verdicts()
    assert {claim: readings.read_verdict(claim, passage) for claim in claims} == {c: recorded[c] for c in claims}
