"""What a reviewer doubts in single sentences of a checked text is decided by the judge, who sees what they rest on."""

import asyncio
from collections.abc import Sequence

import pytest

from deep_research.data import AskedClaim, Claim, Verdict
from deep_research.errors import ProviderDown
from deep_research.ports import Library
from deep_research.steps.check_claims import Checked, check_draft, settle_doubts
from deep_research.steps.review import faulted_claims
from tests.verification.test_check_claims import shelf

PASSAGE = "In our tests on Linux the new build was up to 10% faster. The old build is kept for Windows until May 2027."
TEXT = "The new build was up to 10% faster. [s1p1]\n\nThe old build is kept for Windows until May 2027. [s1p1]"


def settle(fault: str, verdict: str, instead: str) -> tuple[Checked, list[str]]:
    """Doubt what `fault` quotes of TEXT; the judge gives `verdict` on it, and `instead`."""
    library, asked = shelf(Builds=PASSAGE), list[str]()

    async def stands(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        return [Verdict(kind="supported", reason="", by_model=True)] * len(claims)

    async def judge(claims: Sequence[Claim], _library: Library) -> list[Verdict]:
        asked.extend(f"{claim.text} | {claim.doubt}" for claim in claims if isinstance(claim, AskedClaim))
        if verdict == "down":
            raise ProviderDown("down", provider="test")
        if verdict == "silent":
            return []
        return [Verdict(kind=verdict, reason="", by_model=True)] * len(claims)  # type: ignore[arg-type]

    async def rewrite(claims: Sequence[Claim], _library: Library) -> list[str]:
        return [instead] * len(claims)

    async def run() -> Checked:
        first = await check_draft(TEXT, section="S", library=library, judge=stands)
        doubts = {key: fault for ids in faulted_claims(first.claims, [fault]).values() for key in ids}
        return await settle_doubts(
            first.content, doubts, library=library, judge=judge, rewrite=rewrite, claims=first.claims
        )

    return asyncio.run(run()), asked


FAULT = "“up to 10% faster”: on which system?"
BETTER = "In tests on Linux the new build was up to 10% faster."


def test_a_doubt_that_the_passages_bear_out_changes_this_sentence_alone() -> None:
    checked, asked = settle(FAULT, "unverified", BETTER)
    assert asked == [f"The new build was up to 10% faster. | {FAULT}"]
    assert checked.content == TEXT.replace("The new build was up to 10% faster.", BETTER)
    assert [(c.text, c.stands, c.repair) for c in checked.claims] == [
        (BETTER, True, "rewritten"),
        ("The old build is kept for Windows until May 2027.", True, ""),
    ]


@pytest.mark.parametrize(
    ("verdict", "instead"),
    [
        ("supported", ""),  # the doubt is unfounded
        ("down", ""),
        ("silent", ""),
    ],
)
def test_what_stood_before_stays_where_nothing_better_stands(verdict: str, instead: str) -> None:
    checked, asked = settle(FAULT, verdict, instead)
    assert len(asked) == 1
    assert checked.content == TEXT
    assert all(claim.stands for claim in checked.claims)
    assert len(checked.failures) == (verdict in ("down", "silent"))


@pytest.mark.parametrize("instead", ["", "The new build was up to 30% faster."])
def test_a_sentence_of_which_nothing_stands_is_cut_and_listed(instead: str) -> None:
    checked, _ = settle(FAULT, "contradicted", instead)
    assert checked.content == "The old build is kept for Windows until May 2027. [s1p1]"
    assert [claim.verdict.kind for claim in checked.claims] == ["contradicted", "supported"]


def test_two_sentences_may_stand_in_place_of_one() -> None:
    instead = "The new build was up to 10% faster. This was so in tests on Linux."
    checked, _ = settle(FAULT, "unverified", instead)
    assert checked.content == TEXT.replace("The new build was up to 10% faster.", instead)
    checked, _ = settle(FAULT, "unverified", "The new build was up to 10% faster. It was 30% smaller.")
    assert checked.content == "The old build is kept for Windows until May 2027. [s1p1]"


def test_a_fault_that_quotes_no_sentence_of_the_text_asks_nobody() -> None:
    for fault in ("The order of the paragraphs misleads.", "“twice as fast” goes too far"):
        checked, asked = settle(fault, "contradicted", "")
        assert (checked.content, asked) == (TEXT, [])
