"""The prompt files: each renders with sample values, takes what it declares, and can be replaced by the user."""

import re
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, meta, nodes

from deep_research.data import Clarification, DiscoveredItem, Message, Section, Template
from deep_research.errors import ConfigError
from deep_research.prompts import check, load, names, render

SECTION = Section(
    title="How it works", description="Which parts does it have?", queries=("parts", "mechanism"), content="[s7p3]"
)
ENTITY = DiscoveredItem(name="Alpha", category="engine", brief="A small engine.", priority="high")
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
TEMPLATE = Template(
    name="engines",
    focus=("power", "weight"),
    clarifications=(Clarification(question="Which engine?", options=("small", "large"), missing_info="referent"),),
)
TURNS = (Message(role="assistant", text="Which engine?"), Message(role="user", text="The small one."))
VALUES: dict[str, Any] = {
    **{key: ["one", "two"] for key in ("parts", "focus", "assumptions", "searched", "failed", "remarks", "not_found")},
    **dict.fromkeys(("attempt", "rounds"), 1),
    **dict.fromkeys(("attempts", "calls", "lookups", "max_rounds", "max_sections", "units"), 5),
    **dict.fromkeys(("is_agreed", "is_own", "is_whole", "opens_addresses"), True),
    "claims": [CLAIM, CLAIM],
    "conversation": TURNS,
    "entities": [ENTITY],
    "output_format": "table",
    "passages": PASSAGE,
    "problems": [PROBLEM],
    "query_type": "comparison",
    "section": SECTION,
    "sections": [SECTION],
    "sources": ["s7 Engines"],
    "terms": [
        {"name": "ENG7", "passage": PASSAGE, "searched": True},
        {"name": "ENG8", "passage": "", "searched": True},
    ],
    "texts": ["An engine has 5 parts.", "Engines are loud."],
}
"""Values of variables; each of the others is plain text."""
EMPTY: dict[str, Any] = {
    **{key: [] for key in ("parts", "focus", "assumptions", "searched", "failed", "remarks", "not_found", "terms")},
    **{key: [] for key in ("conversation", "entities", "sections")},
    **dict.fromkeys(("style", "mcp_prompt", "report"), ""),
    **dict.fromkeys(("is_agreed", "is_own", "is_whole", "opens_addresses"), False),
    "background": "none",
    "query_type": "general",
    "template": None,
}
"""Values that optional parts of the prompts are left out for."""
_KEPT = {("review", "sections"), ("examine", "report"), ("assignment", "sections")}


def _sample(name: str) -> dict[str, Any]:
    """A value for each variable that a prompt declares."""
    given = {key: VALUES.get(key, f"some {key}") for key in load(name).variables}
    if name == "discover":
        return given | {"places": ["papers", "web"]}
    return given | ({"template": TEMPLATE} if name == "decide" else {})


def _sparse(name: str) -> dict[str, Any]:
    """The sample of a prompt without its optional parts."""
    return {k: EMPTY[k] if k in EMPTY and (name, k) not in _KEPT else v for k, v in _sample(name).items()}


def _used(name: str) -> set[str]:
    """The variables a prompt reads, with those of the prompts it includes."""
    tree = Environment().parse(load(name).template)
    included = [node.template.value for node in tree.find_all(nodes.Include) if isinstance(node.template, nodes.Const)]
    inner = [_used(str(file).removesuffix(".md")) for file in included]
    return set(meta.find_undeclared_variables(tree)).union(*inner)


def test_all_prompts_together_stay_short() -> None:
    """A rule for one observed sentence does not go in."""
    assert sum(len(load(name).template.split()) for name in names()) <= 4_000


@pytest.mark.parametrize("name", names())
def test_a_prompt_uses_exactly_what_it_declares(name: str) -> None:
    prompt = load(name)
    assert prompt.variables == _used(name)
    assert prompt.purpose


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


@pytest.mark.parametrize("name", names())
def test_a_missing_and_an_unknown_variable_are_refused(name: str) -> None:
    some = min(_sample(name), default="")
    if not some:
        pytest.skip("it takes nothing")
    with pytest.raises(ConfigError, match=some):
        render(name, **{key: value for key, value in _sample(name).items() if key != some})
    with pytest.raises(ConfigError, match="colour"):
        render(name, **_sample(name), colour="red")


def test_a_file_of_the_user_replaces_ours_also_where_it_is_included_and_only_that_one(tmp_path: Path) -> None:
    (tmp_path / "notes_form.md").write_text("---\npurpose: mine\nvariables:\n---\nIn my own form.\n", "utf-8")
    assert render("notes", folder=tmp_path, is_whole=False).endswith("In my own form.")
    assert render("judge", folder=tmp_path, **_sample("judge")) == render("judge", **_sample("judge"))


@pytest.mark.parametrize(
    "text",
    [
        "Judge.",
        "---\npurpose: no variables\n---\nJudge.",
        "---\npurpose: broken\nvariables: passages, claims\n---\n{% for claim in claims %}",
        "---\npurpose: undeclared\nvariables: passages, claims\n---\n{{ colour }}",
    ],
    ids=["no header", "no variables", "broken template", "undeclared variable"],
)
def test_a_broken_file_of_the_user_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "judge.md").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="judge"):
        render("judge", folder=tmp_path, **_sample("judge"))


HEADER = "---\npurpose: mine\nvariables: {variables}\n---\n"


@pytest.mark.parametrize(
    ("variables", "template", "said"),
    [
        ("date, question, passages, claims", "One.\n{% for claim in claims %}", "line 6"),
        (
            "date, question, passages, claims",
            "One.\nTwo {{ colour }}.",
            "line 6): there is no variable 'colour'",
        ),
        ("date, question, passages, claims, colour", "One.", "line 3): there is no variable 'colour'"),
        ("date, question, claims", "{{ claims }}", "line 3): its header lacks the variable 'passages'"),
        ("date, question, passages, claims", '{% include "nowhere.md" %}', "nowhere"),
    ],
    ids=["syntax", "unknown variable", "unknown in the header", "missing in the header", "unknown include"],
)
def test_a_broken_file_of_the_user_is_found_before_a_run_begins(
    tmp_path: Path, variables: str, template: str, said: str
) -> None:
    (tmp_path / "judge.md").write_text(HEADER.format(variables=variables) + template, "utf-8")
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        check(tmp_path)
    assert "judge.md" in refused.value.message or "nowhere" in refused.value.message


def test_a_file_of_the_user_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"judge\.md"):
        check(tmp_path)


def test_files_of_the_user_that_are_right_pass(tmp_path: Path) -> None:
    own = {"judge": "date, question, passages, claims", "frame": "claims"}
    for name, variables in own.items():
        text = (
            HEADER.format(variables=variables) + '{{ claims }}{% if claims %}{% include "notes_form.md" %}{% endif %}'
        )
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    check(tmp_path)


def test_an_unknown_prompt_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match="write"):
        load("wirte")


@pytest.mark.parametrize("name", names())
def test_the_page_of_prompts_names_each_with_its_purpose_and_variables(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text("utf-8")
    prompt = load(name)
    variables = ", ".join(f"`{variable}`" for variable in sorted(prompt.variables))
    assert f"| `{name}` | {prompt.purpose} | {variables} |" in page
