"""Every text of the page exists in every language, with the same places to fill, and is used by the page."""

import re
from importlib.resources import files
from typing import get_args

import pytest

from deep_research.data import Problem, ProblemKind, VerdictKind
from deep_research_server.http_app import page_files, page_texts

TEXTS = page_texts()
SCRIPTS = {
    entry.name: entry.read_text("utf-8")
    for entry in files("deep_research_server").joinpath("page").iterdir()
    if entry.name.endswith(".js")
}
_FILLED = re.compile(r"\{(\w+)\}")
_USED = re.compile(r"""\bt\(\s*["'](\w+)["']""")


def base(names: object) -> set[str]:
    """Return the names without those that say a thing of one."""
    return {name for name in names if not name.endswith("_one")}  # type: ignore[attr-defined]


@pytest.mark.parametrize("language", sorted(set(TEXTS) - {"en"}))
def test_every_text_exists_in_every_language_with_the_same_places(language: str) -> None:
    assert base(TEXTS[language]) == base(TEXTS["en"])
    for name in base(TEXTS["en"]):
        assert set(_FILLED.findall(TEXTS[language][name])) == set(_FILLED.findall(TEXTS["en"][name])), name


def test_the_languages_are_those_of_the_interface() -> None:
    assert set(TEXTS) == {"en", "zh", "ko", "ja"}
    assert f"texts/{'ko'}.json" in page_files()


def test_every_text_that_the_page_uses_exists() -> None:
    used = {name for script in SCRIPTS.values() for name in _USED.findall(script)}
    assert used - set(TEXTS["en"]) == set()
    assert len(used) > 100


def test_verdicts_problems_and_their_outcomes_have_their_words() -> None:
    kinds = {"verdict": VerdictKind, "problem": ProblemKind, "outcome": Problem.model_fields["outcome"].annotation}
    wanted = {f"{name}_{kind}" for name, values in kinds.items() for kind in get_args(values)}
    assert {"verdict_own", "problem_missing", "outcome_open"} <= wanted <= set(TEXTS["en"])


def test_the_page_holds_no_way_to_turn_text_into_markup() -> None:
    for name, script in SCRIPTS.items():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script), (
            name
        )


def test_no_words_of_a_language_stand_in_the_scripts() -> None:
    signs = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")
    assert [name for name, script in SCRIPTS.items() if signs.search(script)] == []
