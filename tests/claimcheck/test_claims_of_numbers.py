"""Claims with amounts, dates, units and versions against a passage: limits, rounding, scales and conversions."""

import pytest

from deep_research.api import check_claim

# Of each passage: its claims with what the check must say of them.
CLAIMS = {
    "The ferry weighs 100 tonnes and carries 150 cars, and it was built for 40 million euros by 24 men.": {
        "The ferry weighs about 105 tonnes.": "supported words_together",
        "The ferry weighs about 106 tonnes.": "contradicted number_rival",
        "The ferry carries more than 100 cars.": "supported words_together",
        "The ferry carries more than 99 cars.": "contradicted number_rival",
        "The ferry carries fewer than 225 cars.": "unverified low_support",
        "The ferry carries fewer than 226 cars.": "unverified number_missing",
        "The ferry was built for 0.04 billion euros.": "supported words_together",
        "The ferry weighs 100,000 kg.": "supported words_together",
    },
    "The survey of March 2019 cost $1.2 million, about £0.9m, and US$30 per head; NT$900 went to each of 1,050 helpers.": {
        "The survey cost 1.2 million pounds.": "unverified number_unit",
        "The survey cost 30 dollars per head.": "supported words_together",
        "The survey of March 2019 had 1050 helpers.": "supported words_together",
        "The survey of April 2019 cost $1.2 million.": "contradicted number_rival",
    },
    "Version 3.9 of the tool came in May; release 2.1.4 needs Python 3.8 and 512 MB, see bugs/581186 and printf(3).": {
        "Tool 3.9 came in May.": "supported words_together",
        "Release 2.1.4 needs 512 MB.": "supported words_together",
        "Release 2.1.5 needs Python 3.8.": "contradicted name_rival",
    },
    "The lake is 2.5 square kilometres large and holds 32 million cubic metres of water; its park has 40 hectares.": {
        "The lake is 2.5 km² large.": "supported words_together",
        "The lake is 2.5 square metres large.": "contradicted number_rival",
        "The lake is 250 hectares large.": "supported words_together",
        "The lake holds 32 billion litres of water.": "supported words_together",
        "Its park has 40 acres.": "unverified number_unit",
    },
    "メモリは1 ギガバイトである。": {"メモリは1GBである。": "supported words_together"},
}


@pytest.mark.parametrize(
    ("passage", "claim", "verdict"),
    [(p, claim, said) for p, claims in CLAIMS.items() for claim, said in claims.items()],
)
def test_what_is_said_of_a_claim_with_numbers(passage: str, claim: str, verdict: str) -> None:
    found = check_claim(claim, passage)
    assert " ".join((found.kind, *found.codes)) == verdict
