"""What was not found is held against what was read."""

import asyncio
from collections.abc import Sequence

import pytest

from deep_research.data import Claim, Limit, Verdict
from deep_research.errors import ProviderDown
from deep_research.ports import Library
from deep_research.steps.check_advice import CheckedLimits, check_limits
from tests.verification.test_check_claims import shelf

PRICE = Limit(text="The price of the Alpha engine is not in the sources.", searched=("price Alpha engine",))
NOISE = Limit(text="How loud the Beta pump is when it runs is not in the sources.", searched=("noise Beta pump",))
SEARCHED = ("price Alpha engine", "noise Beta pump")


def _checked(verdict: Verdict | Exception) -> tuple[CheckedLimits, list[Claim]]:
    asked: list[Claim] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        asked.extend(claims)
        if isinstance(verdict, Exception):
            raise verdict
        return [verdict] * len(claims)

    library = shelf(Engines="The price of the Alpha engine fell to 5,000 euros in 2010. Boats use it in summer.")
    return asyncio.run(check_limits([PRICE, NOISE], SEARCHED, library, judge)), asked


def test_a_limit_is_judged_by_the_passage_that_comes_closest() -> None:
    told = Verdict(kind="contradicted", reason="the passage has the price", by_model=True)
    done, asked = _checked(told)
    assert [(claim.text, claim.kind, bool(claim.passages)) for claim in asked] == [(PRICE.text, "limit", True)]
    assert done.limits == (NOISE,)
    assert [(claim.text, claim.stands) for claim in done.claims] == [(PRICE.text, False), (NOISE.text, True)]


@pytest.mark.parametrize(
    ("verdict", "failures"),
    [(Verdict(kind="supported", reason="", by_model=True), 0), (ProviderDown("away"), 1)],
    ids=["not told", "no judge"],
)
def test_a_limit_stays_that_nothing_speaks_against(verdict: Verdict | Exception, failures: int) -> None:
    done, _ = _checked(verdict)
    assert done.limits == (PRICE, NOISE)
    assert len(done.failures) == failures


def test_a_limit_in_another_language_is_held_against_what_its_search_comes_closest_to() -> None:
    limit = Limit(text="알파 엔진의 가격은 출처에서 찾지 못했다.", searched=("price Alpha engine",))
    asked: list[Claim] = []

    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        asked.extend(claims)
        return [Verdict(kind="contradicted", reason="told", by_model=True)] * len(claims)

    library = shelf(Engines="The price of the Alpha engine fell to 5,000 euros in 2010. Boats use it in summer.")
    done = asyncio.run(check_limits([limit], SEARCHED, library, judge))
    assert [claim.passages for claim in asked] == [("s1p1",)]
    assert done.limits == ()
