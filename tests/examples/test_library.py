"""The bundled library keeps its form: title, sources, date, headings, language; the questions cover all kinds."""

import re
from pathlib import Path

import pytest

from claimcheck.language import detect
from claimcheck.text.sentences import sentences
from deep_research.assembly.environment import bundled_library

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTES = sorted(bundled_library().iterdir())
LANGUAGES = ("en", "zh", "ko")
QUERY_TYPES = ("list", "comparison", "deep_dive", "general")


def language_of(note: Path) -> str:
    return next((code for code in ("zh", "ko") if note.name.startswith(f"{code}-")), "en")


def body_of(note: Path) -> str:
    lines = note.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith(("Source: ", "Published: ")))


def questions() -> list[tuple[str, str, str]]:
    rows = re.findall(
        r"^\| (\w\w) \| (\w+) \| (.+) \|$", (EXAMPLES / "questions.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return [(language, kind, question) for language, kind, question in rows]


def test_there_are_enough_notes_in_each_language() -> None:
    counts = {code: sum(language_of(note) == code for note in NOTES) for code in LANGUAGES}
    assert sum(counts.values()) >= 48
    assert counts["en"] >= 28
    assert counts["zh"] >= 10
    assert counts["ko"] >= 10


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_a_note_has_its_form_its_language_and_its_length(note: Path) -> None:
    text = note.read_text(encoding="utf-8")
    assert note.suffix == ".md"
    assert re.match(r"# \S.*\n\n", text)
    assert re.findall(r"^Source: .{20,}$", text, re.MULTILINE)
    assert len(re.findall(r"^Published: \d{4}(?:-(?:0[1-9]|1[0-2]))?$", text, re.MULTILINE)) == 1
    assert 2 <= len(re.findall(r"^## \S", text, re.MULTILINE)) <= 4
    assert text.endswith("\n")
    assert not re.search(r"[ \t]$|\n\n\n", text, re.MULTILINE)
    assert detect(text) == language_of(note)
    body = body_of(note)
    if language_of(note) == "en":
        assert 120 <= len(body.split()) <= 450
    else:
        assert 250 <= len(re.sub(r"\s", "", body)) <= 1000
    assert len(sentences(body)) >= 6


def test_no_sentence_begins_with_a_pronoun() -> None:
    """Each sentence is understandable when quoted alone."""
    weak = re.compile(r"(?:It|Its|They|Their|He|She|This|These)\b|그것|이것|它")
    found = [
        (note.name, body[s.start : s.end])
        for note in NOTES
        for body in [body_of(note)]
        for s in sentences(body)
        if weak.match(body[s.start : s.end])
    ]
    assert found == []


def test_questions_cover_every_language_and_query_type() -> None:
    asked = questions()
    assert len(asked) >= 12
    assert {(language, kind) for language, kind, _ in asked} == {(a, b) for a in LANGUAGES for b in QUERY_TYPES}
    assert [question for language, _, question in asked if detect(question) != language] == []
