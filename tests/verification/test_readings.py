"""What is read in a text as its quantities, names and tokens, and what is said of each claim with one thing changed."""

import pytest

from tests.verification import readings

READ = [(name, text, told) for name in readings.READERS for text, told in readings.texts(name)]
PASSAGES = list(readings.passages())


@pytest.mark.parametrize(("name", "text", "told"), READ)
def test_a_text_is_read_as_it_was(name: str, text: str, told: str) -> None:
    assert readings.READERS[name](readings.unescaped(text)) == told


@pytest.mark.parametrize(("language", "passage", "claims"), PASSAGES)
def test_a_claim_is_judged_as_it_was(language: str, passage: str, claims: list[str]) -> None:
    told = readings.verdicts()
    assert {claim: readings.read_verdict(claim, passage) for claim in claims} == {c: told[c] for c in claims}
