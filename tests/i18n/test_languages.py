"""Languages are data: complete, read when needed, and added by new files alone."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import claimcheck
import deep_research
from claimcheck import lexicon
from deep_research.i18n import catalog

PACKAGE = Path(deep_research.__file__).parent
MESSAGES = PACKAGE / "i18n" / "messages"
WORDS_OF = Path(claimcheck.__file__).parent
LEXICA = WORDS_OF / "lexicon_data"


def _messages(language: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((MESSAGES / f"{language}.toml").read_text("utf-8"))


@pytest.mark.parametrize("language", catalog.languages())
def test_every_language_says_all_that_english_says(language: str) -> None:
    english, own = _messages("en"), _messages(language)
    assert {group: set(said) for group, said in own.items()} == {group: set(said) for group, said in english.items()}


def _fragments(table: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _fragments(value, f"{path}{key}.")
        elif key.endswith("patterns"):
            yield from ((f"{path}{key}", fragment) for fragment in value)


@pytest.mark.parametrize("language", lexicon.languages())
def test_patterns_are_regular_expressions_without_numbered_groups(language: str) -> None:
    found = tomllib.loads((LEXICA / f"{language}.toml").read_text("utf-8"))
    for name, fragment in _fragments(found):
        pattern = re.compile(fragment)
        assert pattern.groups == len(pattern.groupindex), (name, fragment)


def test_an_unknown_language_has_no_words_and_speaks_english() -> None:
    assert lexicon.words("question.furniture", "tlh") == ()
    assert catalog.phrase("gaps", "tlh") == "What could not be found or done"
    with pytest.raises(KeyError):
        catalog.phrase("no such message", "en")


ESPERANTO = """
[typography]
colon = ": "
[report]
references = "Fontoj"
gaps = "Kio ne troviĝis"
"""
REASONS = 'number_missing = "nombro: {number} ne estas en la teksto"'
WORDS = """
[language]
name = "Esperanto"
function_words = "la kaj estas de en kio kiel por kun ĝi ne al el pri tio"
"""
FRAME = """
from deep_research.i18n import catalog
from claimcheck.language import detect, language_name
from deep_research.i18n.catalog import explain, verdict_of

assert "eo" in catalog.languages()
language = detect("Kio estas la plej granda urbo kaj kiel oni vivas en ĝi?")
print(language, language_name(language))
print("## " + catalog.phrase("assumptions", language))
print("## " + catalog.phrase("gaps", language))
print(explain(verdict_of("unverified", "number_missing", number="42"), language))
print("## " + catalog.phrase("references", language))
"""


def test_a_fifth_language_is_new_files_alone(tmp_path: Path) -> None:
    for package in (PACKAGE, WORDS_OF):
        left_out = shutil.ignore_patterns("__pycache__", "bundled_library")
        shutil.copytree(package, tmp_path / package.name, ignore=left_out)
    (tmp_path / "deep_research/i18n/messages/eo.toml").write_text(ESPERANTO, "utf-8")
    (tmp_path / "claimcheck/lexicon_data/eo.toml").write_text(WORDS, "utf-8")
    (tmp_path / "claimcheck/reasons/eo.toml").write_text(REASONS, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", FRAME], capture_output=True, text=True, timeout=90, check=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "eo Esperanto",
        "## Assumptions",  # what a language does not say yet is said in English
        "## Kio ne troviĝis",
        "nombro: 42 ne estas en la teksto",
        "## Fontoj",
    ]
