"""The prompt files: each renders with sample values, takes what it declares, and can be replaced by the user."""

import re
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Section
from deep_research.errors import ConfigError
from deep_research.prompts import check, load, names, render, variables

SECTION = Section(
    title="How it works", description="Which parts does it have?", queries=("parts", "mechanism"), content="[s7p3]"
)
PASSAGE = '<source id="s7" title="Engines">\n[s7p3] An engine has 4 parts.\n</source>'
CLAIM = {"number": 1, "where": "Parts", "text": "An engine has 5 parts.", "cited": "[s7p3]", "flags": ["the number 5"]}
PROBLEM = {
    "number": 1,
    "kind": "unsupported",
    "quote": "5 parts",
    "problem": "it is 4",
    "evidence": "",
    "passages": ["s7p3"],
}
VALUES: dict[str, Any] = {
    **{key: ["one", "two"] for key in ("parts", "focus", "assumptions", "searched", "failed", "remarks", "not_found")},
    **dict.fromkeys(("attempt", "rounds"), 1),
    **dict.fromkeys(("attempts", "calls", "lookups", "max_rounds", "max_sections", "most_words", "units"), 5),
    **dict.fromkeys(("has_appendix", "is_agreed", "is_own", "is_whole", "opens_addresses"), True),
    "claims": [CLAIM, CLAIM],
    "entities": ["Alpha (engine)"],
    "output_format": "table",
    "passages": PASSAGE,
    "problems": [PROBLEM],
    "query_type": "comparison",
    "section": SECTION,
    "sections": [SECTION],
    "sources": ["s7 Engines"],
    "texts": ["An engine has 5 parts.", "Engines are loud."],
}
"""Values of variables; each of the others is plain text."""
EMPTY: dict[str, Any] = {
    **{key: [] for key in ("parts", "focus", "assumptions", "searched", "failed", "remarks", "not_found")},
    **{key: [] for key in ("entities", "sections")},
    **dict.fromkeys(("style", "mcp_prompt", "report", "conversation", "terms"), ""),
    **dict.fromkeys(("has_appendix", "is_agreed", "is_own", "is_whole", "opens_addresses"), False),
    "background": "none",
    "query_type": "general",
    "template": "",
}
"""Values that optional parts of the prompts are left out for."""
_KEPT = {("review", "sections"), ("examine", "report"), ("assignment", "sections")}


def _sample(name: str) -> dict[str, Any]:
    """A value for each variable of a prompt."""
    given = {key: VALUES.get(key, f"some {key}") for key in variables(name)}
    if name == "discover":
        return given | {"places": ["papers", "web"]}
    return given | ({"sections": ["How it works: its parts"]} if name == "task" else {})


def _sparse(name: str) -> dict[str, Any]:
    """The sample of a prompt without its optional parts."""
    return {k: EMPTY[k] if k in EMPTY and (name, k) not in _KEPT else v for k, v in _sample(name).items()}


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("full", [True, False], ids=["full", "sparse"])
def test_a_rendered_prompt_has_no_leftovers(name: str, full: bool) -> None:
    text = render(name, **(_sample(name) if full else _sparse(name)))
    assert not re.search(r"\{[{%#]|[%}]\}|\bNone\b|Undefined|<deep_research|\(\)|: *;|\[\]", text)
    assert "\n\n\n" not in text
    assert text == text.strip()


@pytest.mark.parametrize("name", names())
def test_a_prompt_shows_its_values(name: str) -> None:
    given = _sample(name)
    text = render(name, **given)
    assert [
        value for value in given.values() if isinstance(value, str) and value.startswith("some ") and value not in text
    ] == [value for key, value in given.items() if key == "background"]


def test_a_file_of_the_user_replaces_ours_also_where_it_is_included_and_only_that_one(tmp_path: Path) -> None:
    (tmp_path / "notes_form.md").write_text("In my own form.\n", "utf-8")
    assert render("notes", folder=tmp_path, is_whole=False).endswith("In my own form.")
    assert render("judge", folder=tmp_path, **_sample("judge")) == render("judge", **_sample("judge"))


HEADER = "---\npurpose: mine\n---\n"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("One.\n{% for claim in claims %}", "line 5"),
        ("One.\nTwo {{ colour }}.", "line 5): there is no variable 'colour'"),
        ('{% include "nowhere.md" %}', "nowhere"),
    ],
    ids=["syntax", "unknown variable", "unknown include"],
)
def test_a_broken_file_of_the_user_is_found_before_a_run_begins(tmp_path: Path, template: str, said: str) -> None:
    (tmp_path / "judge.md").write_text(HEADER + template, "utf-8")
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        check(tmp_path)
    assert "judge.md" in refused.value.message or "nowhere" in refused.value.message


def test_a_file_of_the_user_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"judge\.md"):
        check(tmp_path)


def test_files_of_the_user_that_are_right_pass(tmp_path: Path) -> None:
    for name in ("judge", "frame"):
        text = '{{ claims }}{% if claims %}{% include "notes_form.md" %}{% endif %}'
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    check(tmp_path)


@pytest.mark.parametrize("name", names())
def test_the_page_of_prompts_names_each_with_its_purpose_and_variables(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text("utf-8")
    prompt = load(name)
    assert prompt.purpose
    taken = ", ".join(f"`{variable}`" for variable in sorted(variables(name)))
    assert f"| `{name}` | {prompt.purpose} | {taken} |" in page
