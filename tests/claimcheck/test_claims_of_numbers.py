"""Claims with amounts, dates, units and versions against a passage: limits, rounding, scales and conversions."""

import pytest

from deep_research.api import check_claim

# Of each passage: its claims with what the check must say of them.
CLAIMS = {
    "The ferry weighs 100 tonnes and carries 150 cars, and it was built for 40 million euros by 24 men.": {
        "The ferry weighs about 105 tonnes.": "supported words_together",
        "The ferry weighs about 106 tonnes.": "contradicted number_rival",
        "The ferry weighs about 95 tonnes.": "supported words_together",
        "The ferry weighs about 94 tonnes.": "contradicted number_rival",
        "The ferry carries more than 100 cars.": "supported words_together",
        "The ferry carries more than 99 cars.": "contradicted number_rival",
        "The ferry carries more than 151 cars.": "contradicted number_rival",
        "The ferry carries fewer than 225 cars.": "unverified low_support",
        "The ferry carries fewer than 226 cars.": "unverified number_missing",
        "The ferry carries fewer than 149 cars.": "unverified number_missing",
        "The ferry was built for 0.04 billion euros.": "supported words_together",
        "The ferry was built for €40m.": "supported words_together",
        "The ferry was built for 40 million dollars.": "contradicted number_rival",
        "The ferry weighs 100,000 kg.": "supported words_together",
        "The ferry weighs 100,000 tonnes.": "contradicted number_rival",
    },
    "The yard lost 3.5% of its orders in 2021, and its profit fell by 12 million kroner to -4 million kroner.": {
        "Orders of the yard changed by -3.5% in 2021.": "unverified low_support",
        "The profit of the yard fell to -4 million kroner.": "supported words_together",
        "The profit of the yard fell by 12 million kroner.": "supported words_together",
        "The profit of the yard fell to -5 million kroner.": "contradicted number_rival",
        "The profit of the yard changed by -12 million kroner.": "supported words_together",
    },
    "Wages rose by 2 to 3% a year between 2010 and 2015, from €12–14 an hour to 1–2 thousand euros a month.": {
        "Wages rose by 2% to 3% a year.": "supported words_together",
        "Wages rose by 4 to 5% a year.": "contradicted number_rival",
        "Wages rose between 2010 and 2015.": "supported words_together",
        "Wages rose to 1,000 to 2,000 euros a month.": "supported words_together",
    },
    "The trial ran over 12 weeks with over 300 patients aged 19, half of whom took 5, 10 or 15 mg; 3/4 finished.": {
        "The trial ran for 12 weeks.": "supported words_together",
        "The trial ran with more than 300 patients.": "supported words_together",
        "The trial ran with patients aged 19 years.": "supported words_together",
        "The patients took 5 mg, 10 mg or 15 mg.": "supported words_together",
        "The patients took 20 mg.": "contradicted number_rival",
    },
    "The lake lies at 1,200 m, is 3 km long and 40–60 m deep; at 4 °C it holds 2.5 million m³ of water.": {
        "The lake is 3,000 m long.": "supported words_together",
        "The lake is 3,000 km long.": "contradicted number_rival",
        "The lake lies at 1.2 km.": "supported words_together",
        "The lake is 40 to 60 metres deep.": "supported words_together",
        "The lake is 40 to 70 metres deep.": "contradicted number_rival",
        "At 4 °C the lake holds 2,500,000 m³ of water.": "supported words_together",
        "At 4 °F the lake holds 2.5 million m³ of water.": "contradicted number_rival",
        "The lake holds 2.5 billion m³ of water.": "contradicted number_rival",
    },
    "In the 1990s the club won 12 of 20 matches (60%), in 2003/04 only 3; its 21st title came on 5 May 2011 at 17:30.": {
        "In the 1980s the club won 12 of 20 matches.": "contradicted number_rival",
        "In the 1990s the club won 60% of its matches.": "supported words_together",
        "In the 1990s the club won 12 of 30 matches.": "contradicted number_rival",
        "Its 21st title came on 5 May 2011.": "supported words_together",
        "Its 22nd title came on 5 May 2011.": "contradicted number_rival",
        "Its 21st title came at 17:45.": "contradicted number_rival",
        "Its 21st title came in May 2011.": "supported words_together",
        "Its 21st title came on 6 May 2011.": "contradicted number_rival",
    },
    "The survey of March 2019 cost $1.2 million, about £0.9m, and US$30 per head; NT$900 went to each of 1,050 helpers.": {
        "The survey cost 1.2 million dollars.": "supported words_together",
        "The survey cost 1.2 million pounds.": "unverified number_unit",
        "The survey cost 30 dollars per head.": "supported words_together",
        "The survey of March 2019 had 1050 helpers.": "supported words_together",
        "The survey of April 2019 cost $1.2 million.": "contradicted number_rival",
        "The survey of 2019 cost $1.2 million.": "supported words_together",
    },
    "该湖海拔1200米，长3公里，面积约2.5平方公里，蓄水量为三千二百万立方米，1998年有十二万五千人到访。": {
        "该湖长3000米。": "unverified low_support",
        "该湖长3000公里。": "unverified number_missing",
        "该湖蓄水量为3200万立方米。": "supported words_together",
        "该湖蓄水量为2300万立方米。": "contradicted number_rival",
        "1998年有12.5万人到访该湖。": "unverified low_support",
        "1998年有15.2万人到访该湖。": "contradicted number_rival",
        "该湖面积约2.5平方公里。": "supported words_together",
        "该湖面积约2.5平方米。": "unverified number_unit",
        "该湖海拔1.2公里。": "supported words_together",
    },
    "该厂去年产值为3亿5000万元，比前年增长百分之八，其中第一季度占三成，每吨成本下降了15元。": {
        "该厂去年产值为3.5亿元。": "supported words_together",
        "该厂去年产值为5.3亿元。": "contradicted number_rival",
        "该厂去年产值比前年增长8%。": "supported words_together",
        "该厂去年产值比前年增长18%。": "contradicted number_rival",
        "第二季度占三成。": "contradicted number_rival",
        "每吨成本下降了15元。": "supported words_together",
        "每吨成本下降了50元。": "contradicted number_rival",
    },
    "同社の売上高は3億5000万円で前年より8パーセント増え、従業員は約1万2千人、平均年齢は四十二歳である。": {
        "同社の売上高は3.5億円である。": "supported words_together",
        "同社の売上高は5.3億円である。": "contradicted number_rival",
        "同社の従業員は約12000人である。": "supported words_together",
        "同社の従業員は約21000人である。": "contradicted number_rival",
        "従業員の平均年齢は42歳である。": "supported words_together",
        "従業員の平均年齢は24歳である。": "contradicted number_rival",
        "同社の売上高は前年より8%増えた。": "supported words_together",
    },
    "회사의 매출은 3억 5000만 원으로 전년보다 8퍼센트 늘었고 직원은 약 1만 2천 명이며 평균 나이는 마흔두 살이다.": {
        "회사의 매출은 3.5억 원이다.": "unverified low_support",
        "회사의 매출은 5.3억 원이다.": "unverified number_missing",
        "회사의 직원은 약 12000명이다.": "supported words_together",
        "회사의 직원은 약 21000명이다.": "unverified number_missing",
        "회사의 매출은 전년보다 8% 늘었다.": "supported words_together",
        "회사의 매출은 전년보다 18% 늘었다.": "contradicted number_rival",
    },
    "Version 3.9 of the tool came in May; release 2.1.4 needs Python 3.8 and 512 MB, see bugs/581186 and printf(3).": {
        "Tool 3.9 came in May.": "supported words_together",
        "Release 2.1.4 needs 512 MB.": "supported words_together",
        "Release 2.1.4 needs 512 GB.": "contradicted number_rival",
        "Release 2.1.5 needs Python 3.8.": "contradicted name_rival",
        "Release 2.1.4 needs Python 3.8.": "supported words_together",
    },
    "The bus takes 45 minutes on weekdays and an hour and a half on Sundays; a dozen stops are served twice a day.": {
        "The bus takes 45 minutes on weekdays.": "supported words_together",
        "The bus takes 45 seconds on weekdays.": "contradicted number_rival",
        "Twenty stops are served twice a day.": "unverified number_missing",
    },
    "| Year | Share (%) | Cost (€) |\n|---|---|---|\n| 2019 | 12.5 | 300 |\n| 2020 | 14 | 350 |": {
        "The share of 2019 was 12.5%.": "supported words_together",
        "The cost of 2020 was 350 euros.": "unverified number_unit",
        "The share of 2020 was 41%.": "unverified number_missing",
    },
    "The lake is 2.5 square kilometres large and holds 32 million cubic metres of water; its park has 40 hectares.": {
        "The lake is 2.5 km² large.": "supported words_together",
        "The lake is 2.5 square metres large.": "contradicted number_rival",
        "The lake is 2.5 km large.": "contradicted number_rival",
        "The lake is 250 hectares large.": "supported words_together",
        "The lake holds 32 billion litres of water.": "supported words_together",
        "The lake holds 32 million litres of water.": "contradicted number_rival",
        "Its park has 40 acres.": "unverified number_unit",
    },
    "公園の面積は2.5平方キロメートル、池の水は3万立方メートルである。": {
        "公園の面積は250ヘクタールである。": "supported words_together",
        "公園の面積は2.5平方メートルである。": "contradicted number_rival",
        "池の水は30000立方メートルである。": "supported words_together",
    },
    "공원의 면적은 2.5제곱킬로미터이고 연못의 물은 3만 세제곱미터이다.": {
        "공원의 면적은 2.5제곱미터이다.": "unverified number_unit",
        "연못의 물은 30000세제곱미터이다.": "supported restated",
    },
    "The update to 10.0.19 came on 5.5.2011 from the server 10.0.0.1, and 10.0.20 followed a week later.": {
        "The update to 10.0.19 came from the server 10.0.0.1.": "supported words_together",
        "The update to 10.0.18 came from the server 10.0.0.1.": "contradicted name_rival",
        "The update to 10.0.19 came from the server 10.0.0.7.": "contradicted name_rival",
    },
    "No more than 40 people may ride in the lift, and no fewer than 3 guards watch it for at least 9 hours.": {
        "Fewer than 41 people may ride in the lift.": "contradicted number_rival",
        "More than 40 people may ride in the lift.": "contradicted number_rival",
        "At least 3 guards watch it.": "supported words_together",
        "At most 3 guards watch it.": "contradicted number_rival",
    },
    "The travel budget is 36,000 euros. The cache needs 256 megabytes. The rule was published on 2026-11-12.": {
        "The travel budget is 36,000.": "supported words_together",
        "The travel budget is 36,000 EUR.": "supported words_together",
        "The travel budget is 36.000 €.": "supported words_together",
        "The travel budget is 36,000 dollars.": "contradicted number_rival",
        "The travel budget is 36,500 euros.": "contradicted number_rival",
        "The cache needs 256 MB.": "supported words_together",
        "The cache needs 0.25 GB.": "supported words_together",
        "The cache needs 0.5 GB.": "contradicted number_rival",
        "The rule was published on 12 November 2026.": "supported words_together",
        "The rule was published on 13 November 2026.": "contradicted number_rival",
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
