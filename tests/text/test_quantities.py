"""How quantities are read: value, unit, the words that are the number, and whether it is a bound.

Each row is a text and what is read of it, as `bound value unit «words»`.
"""

import pytest

from claimcheck.text.quantities import quantities

QUANTITIES = [
    # dates
    ("May 5, 2024", ["20240505 date «May 5, 2024»"]),
    ("dec 3", ["3 «3»"]),
    ("2024-12-32", ["2024 year «2024»", "12 «12»", "32 «32»"]),
    ("13月1日", ["13 «13»", "1 «1»"]),
    ("5 May 2024 and 6 June", ["20240505 date «5 May 2024»", "606 date «6 June»"]),
    # decades and times of day
    ("80年代", ["1980 decade «80年代»"]),
    ("20世纪80年代", ["1980 decade «20世纪80年代»"]),
    ("the 1980s", ["1980 decade «1980s»"]),
    ("at 14:30", ["1430 clock «14:30»"]),
    ("24:00", ["24 «24»", "0 «00»"]),
    # Chinese numerals
    ("一点二万亿元", ["1200000000000 cny «一点二万亿元»"]),
    ("二〇二四年", ["2024 year «二〇二四年»"]),
    ("第三方案", ["3 ordinal «第三»"]),
    ("三分之一", []),
    ("十二万三千四百五十六", ["123456 «十二万三千四百五十六»"]),
    # Korean numerals
    ("이십 명", ["20 «이십»"]),
    ("다섯 번", ["5 «다섯»"]),
    # English numerals
    ("one hundred and five days", ["105 day «one hundred and five days»"]),
    ("one year", []),
    ("two-thirds", ["2 «two»"]),
    ("six and seven", ["6 «six»", "7 «seven»"]),
    # fractions
    ("3/4", ["0.75 fraction «3/4»"]),
    ("1/3 of patients", ["0.333333 fraction «1/3»"]),
    # bounds
    ("about 5%", ["~5 % «5%»"]),
    ("약 30%", ["~30 % «30%»"]),
    ("more than 500", [">500 «500»"]),
    ("at least 3", [">3 «3»"]),
    ("<0.001", ["<0.001 «0.001»"]),
    ("up to 5", ["5 «5»"]),
    # scales
    ("2m", ["2 m «2m»"]),
    ("£3bn", ["3000000000 gbp «£3bn»"]),
    ("6 mW", ["6 mW «6 mW»"]),
    ("2.5万亿", ["2500000000000 «2.5万亿»"]),
    # money
    ("NT$4", ["4 twd «NT$4»"]),
    ("KRW 7", ["7 krw «KRW 7»"]),
    # signs
    ("-5", ["-5 «-5»"]),
    ("a-5", []),
    ("5-6", ["5 «5»", "6 «6»"]),
    # digits
    ("1,234,567", ["1234567 «1,234,567»"]),
    ("3,5%", ["3.5 % «3,5%»"]),
    ("1.5.2", []),
    # years and ages
    ("aged 45", ["45 years «45»"]),
    ("2024年", ["2024 year «2024年»"]),
    ("in 2024 GB", ["2024 GB «2024 GB»"]),
    # ranges and series
    ("10–20%", ["10 % «10»", "20 % «20%»"]),
    ("5, 10 and 15%", ["5 % «5»", "10 % «10»", "15 % «15%»"]),
    ("$5–6 million", ["5000000 usd «$5»", "6000000 usd «6 million»"]),
    ("2018–19", ["2018 year «2018»", "2019 year «19»"]),
    ("10到20公里", ["10 km «10»", "20 km «20公里»"]),
    ("5 ± 2 mm", ["5 mm «5»", "2 mm «2 mm»"]),
    ("5 compared with 6%", ["5 % «5»", "6 % «6%»"]),
    # rates
    ("3.35 TB/s", ["3.35 TB/s «3.35 TB/s»"]),
    ("3次/天", ["3 «3»"]),
    ("5 mg per kg per day", ["5 mg/kg/day «5 mg per kg per day»"]),
    ("5 GB/user/region", []),
    # units
    ("3x", ["3 times «3x»"]),
    ("9 feet", ["9 ft «9 feet»"]),
    ("5个百分点", ["5 pp «5个百分点»"]),
    ("3 degrees Celsius", ["3 °C «3 degrees Celsius»"]),
    # identifiers
    ("GPT-4", []),
    ("Python 3.11", []),
    ("10.1000/182", []),
    ("R2D2", []),
]


@pytest.mark.parametrize(("text", "expected"), QUANTITIES)
def test_quantities_are_read_with_unit_bound_and_place(text: str, expected: list[str]) -> None:
    read = quantities(text)
    assert [
        f"{q.bound}{q.value.normalize():f} {q.unit}".strip() + f" «{text[q.start : q.end]}»" for q in read
    ] == expected
