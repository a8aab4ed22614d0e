"""The house law: light imports, public names, sizes, the environment, phrases, generated pages, the wheel."""

import json
import re
import string
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import deep_research
from deep_research.data import Report
from deep_research.i18n import catalog as phrases
from tests.house import ratchets
from tests.house.documents import DOCS, PAGES
from tests.house.sources import ROOT, oversized, readers_of_the_environment
from tests.runs.running import Ran

HEAVY = {
    *("langgraph", "langchain_core", "lxml", "pydantic", "rich", "click", "pypdfium2", "docx", "openpyxl"),
    *("sqlite3", "asyncio"),
}
_COMMAND = "from deep_research.cli.main import run\n"
_LISTS = "run(['settings']), run(['list'])\nimport deep_research, deep_research.cli.session\ndeep_research.Settings"
LIGHT = [
    ("import deep_research\ndir(deep_research)", HEAVY),
    *((f"{_COMMAND}assert run({flags}) == 0", HEAVY - {"click"}) for flags in (["--version"], ["research", "--help"])),
    (_COMMAND + _LISTS, {"langgraph", "langchain_core", "lxml", "pypdfium2", "rich.live"}),
]


@pytest.mark.parametrize(("script", "heavy"), LIGHT)
def test_what_must_start_at_once_loads_nothing_heavy(script: str, heavy: set[str]) -> None:
    command = [sys.executable, "-c", f"import sys\n{script}\nprint('LOADED', *sys.modules)"]
    environment = {"PATH": "/usr/bin:/bin", "DEEP_RESEARCH_HOME": "/nonexistent"}
    said = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True, env=environment).stdout
    loaded = said.split("LOADED ")[1].split()
    assert "deep_research" in loaded
    assert heavy.isdisjoint(loaded)


def test_public_names_are_those_listed_and_all_load() -> None:
    assert sorted(dir(deep_research)) == sorted(deep_research.__all__)
    assert len(set(deep_research.__all__)) == len(deep_research.__all__)
    for name in deep_research.__all__:
        assert getattr(deep_research, name) is not None
    for expected in ("research", "build_deep_research_graph", "run_deep_research", "Settings", "Report"):
        assert expected in deep_research.__all__
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = deep_research.nothing_like_it


def test_the_names_shown_to_type_checkers_are_the_public_ones() -> None:
    text = Path(deep_research.__file__).read_text("utf-8")
    shown = {line.split(" as ")[1] for line in text.splitlines() if line.startswith("    from deep_research")}
    assert shown == set(deep_research.__all__) - {"__version__"}


def test_files_and_functions_keep_to_the_limits() -> None:
    assert oversized() == {}, "split these"


def test_only_settings_reads_the_environment() -> None:
    assert readers_of_the_environment() == {"packages/deep-research/src/deep_research/settings.py"}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_generated_pages_are_current(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), "run: python -m tests.house.documents"


def test_every_setting_is_documented_with_its_unit() -> None:
    for name, field in deep_research.Settings.model_fields.items():
        assert field.description, name
        if name.endswith(("_tokens", "_chars", "_megabytes", "_seconds")):
            assert name.rsplit("_", 1)[1][:4] in field.description.lower(), name


def test_every_number_among_the_settings_is_bounded() -> None:
    properties: dict[str, Any] = deep_research.Settings.model_json_schema()["properties"]
    for name, schema in properties.items():
        if schema.get("type") in ("integer", "number"):
            assert {"minimum", "maximum"} <= set(schema), name


def test_a_result_fits_the_published_schema(english: Ran) -> None:
    schema = Draft202012Validator(json.loads((DOCS / "result.schema.json").read_text("utf-8")))
    value = json.loads(english.folder.result.read_text("utf-8"))
    assert list(schema.iter_errors(value)) == []
    for wrong, rule in (({"surprise": 1}, "additionalProperties"), ({"title": 1}, "type")):
        assert [error.validator for error in schema.iter_errors({**value, **wrong})] == [rule]


def test_the_published_schema_has_the_keys_that_are_fixed() -> None:
    properties = json.loads((DOCS / "result.schema.json").read_text("utf-8"))["properties"]
    assert list(properties) == [
        "run_id", "question", "language", "query_type", "output_format", "workflow", "title", "report", "sections",
        "claims", "references", "sources", "passages", "gaps", "assumptions", "ledger", "reasoner",
        "parts", "reviews", "problems", "edits", "disagreements", "queries", "diff",
    ]  # fmt: skip
    assert list(Report.model_fields) == list(properties)


def _placeholders(language: str) -> dict[str, set[str | None]]:
    """Return the names that each phrase of a language wants filled in."""
    fields = string.Formatter().parse
    return {
        name: {field for _, field, _, _ in fields(text)} - {None} for name, text in phrases.messages(language).items()
    }


@pytest.mark.parametrize("language", sorted(set(phrases.languages()) - {"en"}))
def test_every_phrase_exists_in_every_language_with_the_same_placeholders(language: str) -> None:
    assert {"zh", "ko"} <= set(phrases.languages())
    assert _placeholders(language) == _placeholders("en")


def test_the_wheel_holds_the_bundled_library_and_the_licence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT / "packages" / "deep-research", check=True, capture_output=True, timeout=110)
    (built,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(built).namelist())
    assert len([name for name in names if re.fullmatch(r"deep_research/bundled_library/[\w-]+\.md", name)]) >= 40
    package = ROOT / "packages" / "deep-research" / "src" / "deep_research"
    ours = {p.relative_to(package.parent).as_posix() for p in package.rglob("*") if p.is_file()}
    assert {name for name in ours if "__pycache__" not in name} <= names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests/", "lab/")) for name in names)


@pytest.mark.process  # ruff
@pytest.mark.parametrize("name", sorted(ratchets.RATCHETS))
def test_what_may_only_shrink_has_not_grown(name: str) -> None:
    found = ratchets.grown(ratchets.RATCHETS[name](), ratchets.allowed().get(name, {}))
    assert found == {}, "found and allowed; see tests/house/ratchets.toml"


def test_a_ratchet_is_lowered_and_never_raised() -> None:
    found, limits = Counter(cli=5, text=900, mcp=3), {"cli": 9, "text": 800, "gone": 7}
    assert ratchets.lowered(found, limits) == {"cli": 5, "text": 800}
    assert ratchets.grown(found, limits) == {"text": (900, 800), "mcp": (3, 0)}
