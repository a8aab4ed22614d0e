"""Every row of the contract, without a model and with a scripted one; the page says the same."""

from pathlib import Path

import pytest

from tests.contract.table import PAGE, failures, rows

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]  # one of the rows starts a program


@pytest.mark.parametrize("reasoner", ["finder", "openai"])  # the other protocols: `make contract`, and tests/model
def test_every_row_is_green(reasoner: str, tmp_path: Path) -> None:
    assert [(row, why) for row, why in failures(reasoner, tmp_path) if why] == []


def test_the_page_is_what_the_rows_say() -> None:
    page = PAGE.read_text("utf-8")
    for row in rows():
        assert f"| {row.id} | {row.says} |" in page
    assert "**not**" not in page
