"""docs/providers.md: its examples run, its tables are those of the code."""

import re
from pathlib import Path

import pytest

from deep_research.providers.provider_catalog import PROVIDERS
from tests.support.scripted_faults import FAULTS

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(number: int) -> None:
    exec(compile(EXAMPLES[number], f"example {number}", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("name", PROVIDERS)
def test_providers_are_listed_as_they_are(name: str) -> None:
    known = PROVIDERS[name]
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    assert all(f"`{value}`" in row for value in (known.key, known.address, known.model) if value)


def test_all_faults_are_named() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE[PAGE.index("Faults:") :]))
    assert named == set(FAULTS)
