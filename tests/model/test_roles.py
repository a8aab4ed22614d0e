"""Each role of a model has a longest answer of its own."""

from pathlib import Path

import pytest

from tests.model.harness import assert_presentable, research, served
from tests.support.scripted_researcher import step_of


def test_d6_each_role_has_its_output_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, write_max_tokens=3000, research_max_tokens=700, report_max_tokens=2500)
    assert_presentable(ran)
    limits = {step_of(call.request): call.request["max_output_tokens"] for call in provider.calls}
    assert limits["write_section"] == 3000
    assert limits["compose"] == 2500
    assert limits["research"] == limits["plan"] == 700
