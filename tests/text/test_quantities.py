"""How quantities are read: value, unit, the words that are the number, and whether it is a bound.

Each row is a text and what is read of it, as `bound value unit «words»`.
"""

import pytest

from claimcheck.text.quantities import quantities

QUANTITIES = [
    # dates
    ("May 5, 2024", ["20240505 date «May 5, 2024»"]),
    ("march 3 abreast", ["3 «3»"]),
    ("dec 3", ["3 «3»"]),
    ("june 5", ["605 date «june 5»"]),
    ("2024-12-32", ["2024 year «2024»", "12 «12»", "32 «32»"]),
    ("2024-00-10", ["2024 year «2024»", "0 «00»", "10 «10»"]),
    ("13月1日", ["13 «13»", "1 «1»"]),
    ("2024-05", ["202405 yearmonth «2024-05»"]),
    ("5 May 2024 and 6 June", ["20240505 date «5 May 2024»", "606 date «6 June»"]),
    ("the 5 of June, 2021", ["20210605 date «5 of June, 2021»"]),
    ("3 May,", ["503 date «3 May»"]),
    # decades and times of day
    ("80年代", ["1980 decade «80年代»"]),
    ("20年代", ["2020 decade «20年代»"]),
    ("30年代", ["1930 decade «30年代»"]),
    ("20世纪80年代", ["1980 decade «20世纪80年代»"]),
    ("19世纪90年代", ["1890 decade «19世纪90年代»"]),
    ("the 1980s", ["1980 decade «1980s»"]),
    ("the 2010’s", ["2010 decade «2010’s»"]),
    ("at 14:30", ["1430 clock «14:30»"]),
    ("at 09:05", ["905 clock «09:05»"]),
    ("23:59", ["2359 clock «23:59»"]),
    ("24:00", ["24 «24»", "0 «00»"]),
    # Chinese numerals
    ("百分之三十", ["30 % «百分之三十»"]),
    ("一点二万亿元", ["1200000000000 cny «一点二万亿元»"]),
    ("重一百二十点五千克", ["120.5 kg «一百二十点五千克»"]),
    ("百分之12.5", ["12.5 % «百分之12.5»"]),
    ("二〇二四年", ["2024 year «二〇二四年»"]),
    ("十二个月", ["12 month «十二个月»"]),
    ("第三方案", ["3 ordinal «第三»"]),
    ("第十二", ["12 ordinal «第十二»"]),
    ("三分之一", []),
    ("十二万三千四百五十六", ["123456 «十二万三千四百五十六»"]),
    ("一百零五人", ["105 «一百零五»"]),
    # Korean numerals
    ("두 번째", ["2 ordinal «두»"]),
    ("이십 명", ["20 «이십»"]),
    ("십 년", []),
    ("다섯 번", ["5 «다섯»"]),
    ("만 원", []),
    ("구백 개", ["900 «구백»"]),
    # English numerals
    ("one hundred and five days", ["105 day «one hundred and five days»"]),
    ("one month", ["1 month «one month»"]),
    ("one year", []),
    ("two-sided", []),
    ("two-thirds", ["2 «two»"]),
    ("sixty-five", ["65 «sixty-five»"]),
    ("six and seven", ["6 «six»", "7 «seven»"]),
    ("three million five hundred thousand", ["3500000 «three million five hundred thousand»"]),
    # fractions
    ("3/4", ["0.75 fraction «3/4»"]),
    ("3/0", ["3 «3»", "0 «0»"]),
    ("1/3 of patients", ["0.333333 fraction «1/3»"]),
    ("2/3", ["0.666667 fraction «2/3»"]),
    ("12/2024", ["0.005929 fraction «12/2024»"]),
    # bounds
    ("about 5%", ["~5 % «5%»"]),
    ("around $5", ["~5 usd «$5»"]),
    ("약 30%", ["~30 % «30%»"]),
    ("more than 500", [">500 «500»"]),
    ("over 26 patients", [">26 «26»"]),
    ("over 500", [">500 «500»"]),
    ("at least 3", [">3 «3»"]),
    ("이하 50", ["50 «50»"]),
    ("<0.001", ["<0.001 «0.001»"]),
    ("up to 5", ["5 «5»"]),
    ("more than €5", [">5 eur «€5»"]),
    # scales
    ("5k", ["5000 «5k»"]),
    ("7b", ["7000000000 «7b»"]),
    ("2m", ["2 m «2m»"]),
    ("£3bn", ["3000000000 gbp «£3bn»"]),
    ("5m tall", ["5 m «5m»"]),
    ("12 nM", ["12 nM «12 nM»"]),
    ("6 mW", ["6 mW «6 mW»"]),
    ("5 Mb", ["5 MB «5 Mb»"]),
    ("2.5万亿", ["2500000000000 «2.5万亿»"]),
    ("4百万", ["4000000 «4百万»"]),
    # money
    ("$5", ["5 usd «$5»"]),
    ("NT$4", ["4 twd «NT$4»"]),
    ("¥700", ["700 ¥ «¥700»"]),
    ("USD 5", ["5 usd «USD 5»"]),
    ("KRW 7", ["7 krw «KRW 7»"]),
    ("100 yen", ["100 jpy «100 yen»"]),
    ("5 dollars", ["5 usd «5 dollars»"]),
    # signs
    ("-5", ["-5 «-5»"]),
    ("−5%", ["-5 % «−5%»"]),
    ("to -3", ["-3 «-3»"]),
    ("a-5", []),
    ("(-5)", ["-5 «-5»"]),
    ("5-6", ["5 «5»", "6 «6»"]),
    ("10 - 20", ["10 «10»", "20 «20»"]),
    ("x -4", ["-4 «-4»"]),
    # digits
    ("1,234,567", ["1234567 «1,234,567»"]),
    ("3,5%", ["3.5 % «3,5%»"]),
    ("1.5.2", []),
    (".5", []),
    ("1,2,3", ["1 «1»", "2 «2»", "3 «3»"]),
    # years and ages
    ("aged 45", ["45 years «45»"]),
    ("in 1999", ["1999 year «1999»"]),
    ("999", ["999 «999»"]),
    ("2024年", ["2024 year «2024年»"]),
    ("3 years", ["3 years «3 years»"]),
    ("in 2024 GB", ["2024 GB «2024 GB»"]),
    # ranges and series
    ("10–20%", ["10 % «10»", "20 % «20%»"]),
    ("5, 10 and 15%", ["5 % «5»", "10 % «10»", "15 % «15%»"]),
    ("$5–6 million", ["5000000 usd «$5»", "6000000 usd «6 million»"]),
    ("2018–19", ["2018 year «2018»", "2019 year «19»"]),
    ("10到20公里", ["10 km «10»", "20 km «20公里»"]),
    ("5 ± 2 mm", ["5 mm «5»", "2 mm «2 mm»"]),
    ("10 mg to 20 kg", ["10 mg «10 mg»", "20 kg «20 kg»"]),
    ("0–5 million", ["0 «0»", "5000000 «5 million»"]),
    ("2018–101", ["2018 year «2018»", "101 «101»"]),
    ("10%–20", ["10 % «10%»", "20 «20»"]),
    ("5 compared with 6%", ["5 % «5»", "6 % «6%»"]),
    # rates
    ("3.35 TB/s", ["3.35 TB/s «3.35 TB/s»"]),
    ("10 per day", ["10 «10»"]),
    ("3次/天", ["3 «3»"]),
    ("5 mg per kg per day", ["5 mg/kg/day «5 mg per kg per day»"]),
    ("5 GB/user/region", ["5 GB/user «5 GB/user»"]),
    ("4/person", ["4 «4»"]),
    # units
    ("lot 01999", ["1999 «01999»"]),
    ("3x", ["3 times «3x»"]),
    ("4×", ["4 times «4×»"]),
    ("7 a.m.", ["7 «7»"]),
    ("8 h-long", ["8 h «8 h»"]),
    ("9 feet", ["9 ft «9 feet»"]),
    ("5 %", ["5 % «5 %»"]),
    ("5个百分点", ["5 pp «5个百分点»"]),
    ("3 degrees Celsius", ["3 °C «3 degrees Celsius»"]),
    ("7 天", ["7 day «7 天»"]),
    # identifiers
    ("GPT-4", []),
    ("Python 3.11", []),
    ("The 3.11", ["3.11 «3.11»"]),
    ("10.1000/182", []),
    ("US 5", ["5 «5»"]),
    ("R2D2", []),
    ("By 5.1 is", ["5.1 «5.1»"]),
]


@pytest.mark.parametrize(("text", "expected"), QUANTITIES)
def test_quantities_are_read_with_unit_bound_and_place(text: str, expected: list[str]) -> None:
    read = quantities(text)
    assert [
        f"{q.bound}{q.value.normalize():f} {q.unit}".strip() + f" «{text[q.start : q.end]}»" for q in read
    ] == expected
