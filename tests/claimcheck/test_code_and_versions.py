"""Versions and names of code are found as documentation writes them; other versions and names are not."""

import pytest

from claimcheck.claim_verdicts import Evidence
from tests.verification.kit import flagged

FOUND = [
    ("`to_thread()` exists since 3.9.", Evidence("to_thread() runs a function.\n\nNew in version 3.9.", "Coroutines")),
    ("On macOS spawn is the default since 3.8.", Evidence("Changed in version 3.8: On macOS, spawn is the default.")),
    *(
        (f"The newest release is {said}.", Evidence("The newest release is v1.56.0."))
        for said in ("1.56.0", "1.56", "version 1.56", "tool@1.56.0")
    ),
]
ABSENT = [
    ("`to_thread()` exists since 3.7.", Evidence("to_thread() runs a function.\n\nNew in version 3.9.", "Coroutines")),
    ("`asyncio.TaskFarm` holds tasks.", Evidence("Added the TaskGroup class, which holds tasks.", "What's New")),
    *(
        (f"The newest release is {said}.", Evidence("The newest release is 1.56.0, and 2 people made it."))
        for said in ("v1.55.0", "version 1.55", "v.1.55", "tool@1.55.0", "v2")
    ),
]


@pytest.mark.parametrize(("claim", "evidence"), FOUND)
def test_found(claim: str, evidence: Evidence) -> None:
    assert flagged(claim, [evidence]) is None


@pytest.mark.parametrize(("claim", "evidence"), ABSENT)
def test_not_found(claim: str, evidence: Evidence) -> None:
    assert flagged(claim, [evidence]) is not None


@pytest.mark.parametrize(
    ("claim", "stands"),
    [
        ("asyncio.run() dates from Python 3.9.", False),
        ("asyncio.run() dates from Ruby 3.7.", False),
    ],
)
def test_a_page_on_something_names_its_versions_without_it(claim: str, stands: bool) -> None:
    page = Evidence(
        "asyncio.run()\n\nNew in version 3.7.\n\nChanged in version 3.8: On macOS, spawn is the default.", "Python"
    )
    assert (flagged(claim, [page]) is None) is stands


@pytest.mark.parametrize(
    ("claim", "binds"), [("《开发者参考》建议使用 dh。", False), ("《Developer Guide》建议使用 dh。", True)]
)
def test_a_translated_title_is_for_a_judge(claim: str, binds: bool) -> None:
    evidence = Evidence("The Developer's Reference advises to use dh.", "Policy")
    assert (flagged(claim, [evidence]) is not None) == binds
