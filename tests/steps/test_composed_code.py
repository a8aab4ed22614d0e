"""Code that a report puts together from what its sources name may stand as its own; code with other names may not."""

import asyncio
from collections.abc import Sequence

import pytest

from deep_research.data import Claim, Verdict
from deep_research.ports import Library
from deep_research.steps.check_claims import Checked, check_draft
from tests.verification.test_check_claims import shelf

PASSAGE = (
    "A pool takes a context: ProcessPoolExecutor(mp_context=...). Get it from multiprocessing.get_context('spawn')."
)
CODE = '```python\nctx = multiprocessing.get_context("spawn")\npool = ProcessPoolExecutor(mp_context=ctx)\n```'
TEXT = f"A pool takes a context. [s1p1]\n\n→ Together: [s1p1]\n\n{CODE}"


def _checked(text: str, verdict: str = "supported") -> tuple[Checked, list[Claim]]:
    asked: list[Claim] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        asked.extend(claims)
        kinds = [verdict if "```" in claim.text else "supported" for claim in claims]
        return [Verdict(kind=kind, reason="", by_model=True) for kind in kinds]  # type: ignore[arg-type]

    return asyncio.run(check_draft(text, section="S", library=shelf(Pools=PASSAGE), judge=judge)), asked


def test_code_of_known_names_is_judged_as_the_report_s_own() -> None:
    checked, asked = _checked(TEXT)
    assert checked.content.endswith(CODE)
    (code,) = [claim for claim in asked if "```" in claim.text]
    assert (code.kind, code.passages) == ("inference", ("s1p1",))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (TEXT.replace("get_context(", "get_loop("), "supported"),
        (TEXT.replace("spawn", "x").replace("mp_context=ctx", "mp_context=ctx, max_workers=7"), "supported"),
        (TEXT, "unverified"),
    ],
    ids=["another name", "another figure", "refused by the judge"],
)
def test_code_that_brings_something_in_or_is_refused_goes(text: str, verdict: str) -> None:
    checked, _ = _checked(text, verdict)
    assert "```" not in checked.content
    assert "Together" not in checked.content, "what leads to it goes with it"
    assert "A pool takes a context." in checked.content


def test_the_guard_of_a_script_is_no_name_that_a_source_must_have() -> None:
    guarded = CODE.replace("ctx =", "def main():\n    ctx =").replace(
        "\n```", "\n\nif __name__ == '__main__':\n    main()\n```"
    )
    checked, _ = _checked(TEXT.replace(CODE, guarded))
    assert checked.content.endswith(guarded)


SETTINGS = (
    "Source: pumps\n\nMaintainer: Ada <ada@example.org>\n\nBuild-Depends: pumphelper (= 13), dh-pump\n\nHomepage: none"
)
CONTROL = "```\nSource: <package>\nBuild-Depends: pumphelper (= 13), dh-pump\nHomepage: <url>\n```"
LED = "A package needs a source. [s1p1]\n\n→ Fill in the skeleton below. [s1p1]"


def _settings(text: str) -> str:
    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        return [Verdict(kind="supported", reason="", by_model=True) for _ in claims]

    library = shelf(Control=f"A package needs a source.\n\n{SETTINGS}")
    return asyncio.run(check_draft(text, section="S", library=library, judge=judge)).content


def test_a_file_of_settings_whose_words_stand_in_the_passages_is_the_report_s_own() -> None:
    assert CONTROL in _settings(f"{LED}\n\n{CONTROL}")
    two = f"{CONTROL}\n\n```\nMaintainer: <name>\n```"
    assert two in _settings(f"{LED}\n\n{two}"), "the second rests on what leads to both"


@pytest.mark.parametrize("brought", ["Build-Depends: pumphelper (= 14)", "Architecture: all"])
def test_a_file_of_settings_with_words_of_its_own_goes_with_what_shows_it(brought: str) -> None:
    content = _settings(f"{LED}\n\n```\nSource: <package>\n{brought}\n```")
    assert "```" not in content
    assert "skeleton below" not in content
