"""How quantities are read: value, unit, the words that are the number, and whether it is a bound.

Each row is a text and what is read of it, as `bound value unit «words»`.
"""

import pytest

from claimcheck.text.quantities import quantities

QUANTITIES = [
    # dates
    ("May 5, 2024", ["20240505 date «May 5, 2024»"]),
    ("5 May 2024 and 6 June", ["20240505 date «5 May 2024»", "606 date «6 June»"]),
    # decades and times of day
    ("80年代", ["1980 decade «80年代»"]),
    ("20世纪80年代", ["1980 decade «20世纪80年代»"]),
    ("the 1980s", ["1980 decade «1980s»"]),
    ("at 14:30", ["1430 clock «14:30»"]),
    # Chinese numerals
    ("三分之一", []),
    # Korean numerals
    # English numerals
    ("one hundred and five days", ["105 day «one hundred and five days»"]),
    # fractions
    ("3/4", ["0.75 fraction «3/4»"]),
    ("1/3 of patients", ["0.333333 fraction «1/3»"]),
    # bounds
    ("about 5%", ["~5 % «5%»"]),
    ("more than 500", [">500 «500»"]),
    ("<0.001", ["<0.001 «0.001»"]),
    # scales
    ("£3bn", ["3000000000 gbp «£3bn»"]),
    ("2.5万亿", ["2500000000000 «2.5万亿»"]),
    # money
    # signs
    ("-5", ["-5 «-5»"]),
    ("5-6", ["5 «5»", "6 «6»"]),
    # digits
    ("1,234,567", ["1234567 «1,234,567»"]),
    ("1.5.2", []),
    # years and ages
    ("aged 45", ["45 years «45»"]),
    # ranges and series
    ("10–20%", ["10 % «10»", "20 % «20%»"]),
    ("5, 10 and 15%", ["5 % «5»", "10 % «10»", "15 % «15%»"]),
    ("$5–6 million", ["5000000 usd «$5»", "6000000 usd «6 million»"]),
    ("2018–19", ["2018 year «2018»", "2019 year «19»"]),
    ("5 ± 2 mm", ["5 mm «5»", "2 mm «2 mm»"]),
    # rates
    ("3.35 TB/s", ["3.35 TB/s «3.35 TB/s»"]),
    ("5 mg per kg per day", ["5 mg/kg/day «5 mg per kg per day»"]),
    # units
    ("5个百分点", ["5 pp «5个百分点»"]),
    ("3 degrees Celsius", ["3 °C «3 degrees Celsius»"]),
    # identifiers
    ("GPT-4", []),
    ("Python 3.11", []),
]


@pytest.mark.parametrize(("text", "expected"), QUANTITIES)
def test_quantities_are_read_with_unit_bound_and_place(text: str, expected: list[str]) -> None:
    read = quantities(text)
    assert [
        f"{q.bound}{q.value.normalize():f} {q.unit}".strip() + f" «{text[q.start : q.end]}»" for q in read
    ] == expected
