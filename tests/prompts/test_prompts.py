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
    title="How it works",
    description="Which parts does it have?",
    queries=("parts", "mechanism"),
    covers=("number of parts", "weight, with date"),
)
ENTITY = DiscoveredItem(name="Alpha", category="engine", brief="A small engine.", priority="high")
PASSAGE = '<passage id="s7p3" source="Engines">\nAn engine has 4 parts.\n</passage>'
CLAIM = {
    "kind": "FACT",
    "text": "An engine has 5 parts.",
    "cited": "[s7p3]",
    "flag": "its source is old",
    "reason": "the passage says 4",
    "refused": "number: 5 is not in the passage",
    "lead": "Engines of today",
}
REVIEWED = {
    "title": SECTION.title,
    "description": SECTION.description,
    "content": "An engine has 4 parts. [s7p3]",
    "sites": ["engines.example (2)"],
    "supported": 1,
    "newest": "2025-03-01",
    "oldest": "2021-02-03",
    "missing": ("price",),
    "searched": ("engine price",),
    "attempt": 2,
    "pending": 0,
    "cut": 0,
}
TURNS = (Message(role="assistant", text="Which engine?"), Message(role="user", text="The small one."))
PLACES = ["papers (Papers of all fields.)", "web (General search.)"]
PLAN: dict[str, Any] = {
    "query_type": "list",
    "output_format": "table",
    "focus": ["parts"],
    "assumptions": ["small engines"],
    "wants_advice": True,
    "passages": PASSAGE,
    "max_sections": 5,
    "depth": "standard",
}
SAMPLES: dict[str, dict[str, Any]] = {
    "system": {
        "date": "2026-01-02",
        "question": "How do engines work?",
        "parts": ["how engines work", "which to buy"],
        "language": "한국어",
        "style": "한다체로 쓴다",
        "background": "all",
        "objective": "Explain engines.",
        "glossary": ["기관 (engine)", "부품 (part)"],
        "sections": [SECTION],
    },
    "decide": {
        "date": "2026-01-02",
        "conversation": TURNS,
        "message": "How do engines work?",
        "rounds": 1,
        "max_rounds": 3,
        "language": "中文",
        "style": "plain words",
        "template": Template(
            name="engines",
            focus=("power", "weight"),
            clarifications=(
                Clarification(question="Which engine?", options=("small", "large"), missing_info="referent"),
                Clarification(question="What for?", missing_info="aspect"),
            ),
        ),
        "terms": [
            {"name": "ENG7", "passage": PASSAGE, "searched": True},
            {"name": "ENG8", "passage": "", "searched": True},
            {"name": "ENG9", "passage": "", "searched": False},
        ],
        "places": "papers (Papers of all fields.)",
    },
    "analyze": {"question": "How do engines work?", "focus": ["parts"]},
    "discover": {"target": "engines", "places": PLACES},
    "entities": {"target": "engines", "passages": PASSAGE},
    "plan_from_query": PLAN,
    "plan_again": {"count": 2, "least": 3},
    "compose_again": {"length": "100 to 150 words"},
    "revise_plan": {
        "title": "Engines",
        "objective": "Compare engines.",
        "rows": [
            {
                "title": "Parts",
                "description": "What they have.",
                "covers": ["number"],
                "queries": ["parts"],
                "found": PASSAGE,
            },
            {"title": "Price", "description": "What they cost.", "covers": [], "queries": ["price"], "found": ""},
        ],
        "max_sections": 5,
    },
    "edit_plan": {"plan": "Engines\n1. Parts", "message": "more about their price"},
    "plan_from_clarification": {**PLAN, "conversation": TURNS},
    "plan_from_discovery": {**PLAN, "entities": [ENTITY]},
    "research": {
        "section": SECTION,
        "attempt": 2,
        "missing": "prices of 2026",
        "searched": ["engine price"],
        "earlier": "An engine has 4 parts. [s7p3]",
        "places": PLACES,
        "outside": ["search_stories", "get_story"],
        "mcp_prompt": "Ask for stories before all else.",
    },
    "read_page": {
        "question": "Which engine?",
        "section": SECTION,
        "passages": PASSAGE,
        "part": 2,
        "parts": 3,
        "most": 8,
    },
    "research_now": {
        "calls": 7,
        "leads": ["Superseded-By: 734"],
        "stock": "engines.example: 3 documents",
        "is_last": True,
    },
    "write_section": {
        "section": SECTION,
        "others": [SECTION],
        "passages": PASSAGE,
        "nothing": "not found",
        "uniform": "version 3.11.2",
        "earlier": "An engine has 4 parts. [s7p3]",
        "is_note": True,
        "missing": "prices of 2026",
        "faults": ["“only” goes too far"],
        "output_format": "table",
        "words": "200 to 420 words",
        "subsections": True,
    },
    "judge": {
        "date": "2026-01-02",
        "question": "How many parts?",
        "passages": PASSAGE,
        "claims": [CLAIM, CLAIM],
        "is_foreign": True,
    },
    "rewrite": {
        "date": "2026-01-02",
        "question": "How many parts?",
        "passages": PASSAGE,
        "claims": [CLAIM, CLAIM],
    },
    "rank": {"question": "How many parts has an engine?", "texts": ["An engine has 5 parts.", "Engines are loud."]},
    "review_section": {
        "section": SECTION,
        "is_note": True,
        "written": REVIEWED,
        "attempt": 1,
        "attempts": 3,
        "searched": ["engine price"],
        "places": PLACES,
        "stock": "engines.example: 3 documents, newest date 2026-01-02",
        "failed": ["engines.example"],
    },
    "review": {
        "title": "Engines",
        "parts": ["how engines work", "which to buy"],
        "sections": [REVIEWED, REVIEWED],
        "rows": [REVIEWED, REVIEWED],
    },
    "supervise": {"units": 3, "rounds": 4},
    "compose": {
        "title": "Engines",
        "parts": ["how engines work", "which to buy"],
        "wants_advice": True,
        "output_format": "table",
        "sections": [REVIEWED],
        "missing": ["price of the small one"],
        "searched": ["engine price"],
        "background": "advice",
        "nothing": "not found",
        "uniform": "version 3.1",
        "is_long": False,
        "is_judged": False,
        "is_agreed": False,
        "doubts": ["Parts: four of what?"],
        "passages": PASSAGE,
        "answer_length": "100 to 150 words",
        "body_length": "900 to 1600 words",
        "total_length": "1500 to 2300 words",
        "conclusion_length": "80 to 140 words",
    },
}
EMPTY: dict[str, Any] = {
    "focus": [],
    "assumptions": [],
    "conversation": [],
    "missing": "",
    "earlier": "",
    "others": [],
    "searched": [],
    "failed": [],
    "leads": [],
    "parts": ["how engines work"],
    "glossary": [],
    "style": "",
    "background": "none",
    "objective": "",
    "sections": [],
    "rounds": 0,
    "places": PLACES[:1],
    "template": None,
    "terms": [],
}
"""Values that optional parts of the prompts are left out for."""


_KEPT = {("review", "sections"), ("read_page", "parts"), ("compose", "parts"), ("system", "background")}


def _sparse(name: str) -> dict[str, Any]:
    """The sample of a prompt without its optional parts."""
    changed = {key: EMPTY[key] for key in SAMPLES[name] if key in EMPTY and (name, key) not in _KEPT}
    if name.startswith("plan_from"):
        changed |= {"passages": "", "max_sections": 3, "query_type": "general"}
    return SAMPLES[name] | changed


def _used(name: str) -> set[str]:
    """The variables a prompt reads, with those of the prompts it includes."""
    tree = Environment().parse(load(name).template)
    included = [node.template.value for node in tree.find_all(nodes.Include) if isinstance(node.template, nodes.Const)]
    inner = [_used(str(file).removesuffix(".md")) for file in included]
    return set(meta.find_undeclared_variables(tree)).union(*inner)


def test_every_prompt_has_a_sample() -> None:
    assert set(names()) <= set(SAMPLES)


@pytest.mark.parametrize("name", names())
def test_a_prompt_uses_exactly_what_it_declares(name: str) -> None:
    prompt = load(name)
    assert prompt.variables == _used(name)
    assert prompt.purpose


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("full", [True, False], ids=["full", "sparse"])
def test_a_rendered_prompt_has_no_leftovers(name: str, full: bool) -> None:
    text = render(name, **(SAMPLES[name] if full else _sparse(name)))
    assert not re.search(r"\{[{%#]|[%}]\}|\bNone\b|Undefined|<deep_research|\(\)|: *;|\[\]", text)
    assert "\n\n\n" not in text
    assert text == text.strip()


@pytest.mark.parametrize("name", names())
def test_a_prompt_shows_its_values(name: str) -> None:
    """A list is shown item by item; what is plain text stands there as it is."""
    text = render(name, **SAMPLES[name])
    plain = [v for key, v in SAMPLES[name].items() if isinstance(v, str) and key not in ("output_format", "query_type")]
    assert [value for value in plain if value not in text] == []


@pytest.mark.parametrize("name", names())
def test_a_missing_and_an_unknown_variable_are_refused(name: str) -> None:
    some = min(SAMPLES[name])
    with pytest.raises(ConfigError, match=some):
        render(name, **{key: value for key, value in SAMPLES[name].items() if key != some})
    with pytest.raises(ConfigError, match="colour"):
        render(name, **SAMPLES[name], colour="red")


def test_a_file_of_the_user_replaces_ours_and_only_that_one(tmp_path: Path) -> None:
    (tmp_path / "rewrite.md").write_text(
        "---\npurpose: mine\nvariables: claims\n---\nMine: {{ claims[0].text }}\n", "utf-8"
    )
    assert render("rewrite", folder=tmp_path, claims=[CLAIM]) == "Mine: An engine has 5 parts."
    assert render("judge", folder=tmp_path, **SAMPLES["judge"]) == render("judge", **SAMPLES["judge"])


def test_a_file_of_the_user_is_included_where_ours_would_be(tmp_path: Path) -> None:
    header = f"---\npurpose: mine\nvariables: {', '.join(PLAN)}\n---\n"
    (tmp_path / "plan_from_query.md").write_text(header + "Plan {{ max_sections }} sections.", "utf-8")
    text = render("plan_from_discovery", folder=tmp_path, **SAMPLES["plan_from_discovery"])
    assert text.endswith("Plan 5 sections.")


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
        render("judge", folder=tmp_path, **SAMPLES["judge"])


HEADER = "---\npurpose: mine\nvariables: {variables}\n---\n"


@pytest.mark.parametrize(
    ("variables", "template", "said"),
    [
        ("date, question, passages, claims, is_foreign", "One.\n{% for claim in claims %}", "line 6"),
        (
            "date, question, passages, claims, is_foreign",
            "One.\nTwo {{ colour }}.",
            "line 6): there is no variable 'colour'",
        ),
        ("date, question, passages, claims, is_foreign, colour", "One.", "line 3): there is no variable 'colour'"),
        ("date, question, claims, is_foreign", "{{ claims }}", "line 3): its header lacks the variable 'passages'"),
        ("date, question, passages, claims, is_foreign", '{% include "nowhere.md" %}', "nowhere"),
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
    own = {"judge": "date, question, passages, claims, is_foreign", "frame": "claims"}
    for name, variables in own.items():
        text = HEADER.format(variables=variables) + '{{ claims }}{% if claims %}{% include "rewrite.md" %}{% endif %}'
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    check(tmp_path)


def test_an_unknown_prompt_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match="write_section"):
        load("wirte_section")


def test_the_rules_come_before_what_changes_from_run_to_run() -> None:
    """Providers cache the beginning of a prompt: two runs in one language share it."""
    first = render("system", **SAMPLES["system"])
    other: dict[str, Any] = {**_sparse("system"), "question": "Another one?", "date": "2027-03-04"}
    second = render("system", **other)
    shared = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert "한국어" in first[:shared]


def test_a_retry_shows_the_text_so_far_what_it_lacks_and_the_searches_made() -> None:
    again = render("research", **SAMPLES["research"])
    first = render("research", **_sparse("research"))
    assert "prices of 2026" in again
    assert "An engine has 4 parts. [s7p3]" in again
    assert "Searched already: engine price" in again
    assert "attempt" not in first
    assert "Searched already" not in first


@pytest.mark.parametrize("name", names())
def test_the_page_of_prompts_names_each_with_its_purpose_and_variables(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text("utf-8")
    prompt = load(name)
    variables = ", ".join(f"`{variable}`" for variable in sorted(prompt.variables))
    assert f"| `{name}` | {prompt.purpose} | {variables} |" in page
