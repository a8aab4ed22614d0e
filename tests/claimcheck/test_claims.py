"""Claims in four languages against a passage: what is said of each, and for which reason where it does not stand."""

import pytest

from deep_research.api import check_claim

# Of each passage: its claims with what the check must say of them.
CLAIMS = {
    "The Orsted bridge is 1,624 m long, 25.5 m wide and 204 m high. It cost about 3.3 billion kroner and was opened on 1 July 2000.": {
        "The Orsted bridge is 1.624 km long.": "supported words_together",
        "The Orsted bridge is 1,624 km long.": "contradicted number_rival",
        "The Orsted bridge was opened in July 2000.": "supported words_together",
        "The Orsted bridge was opened on 2 July 2000.": "unverified number_missing",
        "The Orsted bridge cost more than 3 billion kroner.": "supported words_together",
        "The Orsted bridge cost more than 2 billion kroner.": "unverified number_missing",
    },
    "Maria Lindqvist and Per Olsson of the University of Uppsala described the Kestrel-2 antenna in the Journal of Radio Science. Olsson had worked at NASA.": {
        "Lindqvist and Olsson described the Kestrel-2 antenna.": "supported words_together",
        "Maria Lindqvist and Per Olsson described the Kestrel-3 antenna.": "contradicted name_rival",
        "Maria Lindqvist and Per Olsson of the University of Lund described the Kestrel-2 antenna.": "contradicted name_rival",
    },
    "Without a licence nobody may sell fireworks in the state. Fireworks are never sold to minors, and shops must keep a record of every sale.": {
        "Nobody may sell fireworks in the state without a licence.": "supported words_together",
        "Shops must not keep a record of every sale.": "contradicted opposite",
    },
    "《红河谷》由赵敏执导，一九九六年十一月上映，票房一亿两千万元。影片不含暴力内容。": {
        "《红河谷》由赵敏执导。": "supported words_together",
        "《红河谷》由李敏执导。": "contradicted altered",
        "《红河谷》票房1.2亿元。": "supported words_together",
        "《红河谷》票房2.1亿元。": "contradicted number_rival",
    },
    "该药不降低疼痛，但能降低儿童的发热。": {
        "该药不降低儿童的发热。": "contradicted opposite",
        "该药能降低疼痛。": "contradicted opposite",
    },
    "Alpha weighs 3 kg, Beta weighs 5 kg, Gamma weighs 8 kg and Delta weighs 13 kg.": {
        "Alpha weighs 3 kg and Gamma weighs 8 kg.": "supported words_together",
        "Gamma weighs 5 kg.": "contradicted altered",
    },
    "The treaty was signed on 14 March 1848 and came into force in the autumn of 1849. It was renewed in the 1890s and lapsed in May of 1912.": {
        "The treaty was signed on March 14, 1848.": "supported words_together",
        "The treaty was renewed in the 1880s.": "unverified number_missing",
        "The treaty lapsed on 12 May 1912.": "unverified number_missing",
    },
    "工費は3億5000万円で、作業員は約千二百人、工期は三年だった。完成は第二次計画の後である。": {
        "工費は3.5億円だった。": "supported words_together",
        "工費は5.3億円だった。": "contradicted number_rival",
        "工期は五年だった。": "contradicted number_rival",
    },
    "Some users of the beta version reported crashes, usually after long sessions. Updates are probably needed.": {
        "All users of the beta version reported crashes.": "contradicted altered",
        "Updates are needed.": "unverified scope_changed",
        "Updates are probably needed.": "supported verbatim",
    },
    "일부 사용자는 업데이트 후 데이터를 잃을 수 있다. 시스템은 보통 매일 백업된다.": {
        "모든 사용자는 업데이트 후 데이터를 잃는다.": "contradicted altered",
        "사용자는 업데이트 후 데이터를 잃는다.": "unverified scope_changed",
        "일부 사용자는 업데이트 후 데이터를 잃을 수 있다.": "supported verbatim",
    },
    "Chelsea beat Arsenal in the final at Wembley. The referee sent off two players.": {
        "Arsenal beat Chelsea in the final at Wembley.": "contradicted altered",
    },
    "서울대학교의 김민수가 논문을 발표했고 연세대학교의 박지영이 자료를 제공했다.": {
        "서울대학교의 이철수가 논문을 발표했다.": "unverified altered",
        "연세대학교의 박지영이 자료를 제공했다.": "supported words_together",
    },
    "The phase 3 trial of tavelimab enrolled 412 patients at 36 sites; 58% had stage 2 disease, see section 4.": {
        "The phase 2 trial of tavelimab enrolled 412 patients.": "contradicted altered",
        "The phase 3 trial of tavelimab enrolled 36 patients.": "contradicted altered",
    },
    "# Helena Okoye\n\nOkoye led the survey of the reef in Kiel Bay and later taught at Oslo.": {
        "Helena Okoye led the survey of the reef in Kiel Bay.": "supported words_together",
        "Helena Okoye led the survey of the reef in Lund Bay.": "contradicted name_rival",
    },
    "시장은 그 계획을 “값비싼 실수”라고 불렀고 “다리는 다시 짓지 않는다”라고 말했다.": {
        "시장은 그 계획을 “값비싼 실수”라고 불렀다.": "supported words_together",
        "시장은 그 계획을 “값싼 실수”라고 불렀다.": "unverified quotation_changed",
    },
    "A pack of three costs ￥１２００ in Japan and ₩13,000 in Korea; the sixth edition has 640 pages.": {
        "A pack of three costs 1,200 yen in Japan.": "supported words_together",
        "The 6th edition has 640 pages.": "supported words_together",
        "The sixth edition has 460 pages.": "contradicted number_rival",
    },
    "2019년 주민은 3만 5천 명이고 그 가운데 십이 퍼센트가 65세 이상이며 제3초등학교 학생은 이백팔십 명이다.": {
        "2019년 주민은 3만 5000명이다.": "supported words_together",
        "2019년 주민은 5만 3000명이다.": "contradicted number_rival",
        "제3초등학교 학생은 280명이다.": "supported words_together",
    },
    "価格は下がるかもしれない。多くの町の店は通常、日曜の正午に閉まる。": {
        "価格は下がる。": "unverified scope_changed",
    },
    "Dr. Ruth Adeyemi and Dr. Lars Holm treated 61 patients at the St. Olaf clinic; Holm's patients were older.": {
        "Holm's patients were younger.": "contradicted altered",
        "Dr. Ruth Adeyemi and Dr. Lars Holm treated 61 patients at the St. Anna clinic.": "contradicted name_rival",
        "Dr. Ruth Adeyemi, Dr. Lars Holm and Dr. Ida Falk treated 61 patients at the St. Olaf clinic.": "unverified name_missing",
    },
    "이 기능은 ext4에서는 지원되지만 NTFS에서는 지원되지 않는다.": {
        "이 기능은 NTFS에서는 지원된다.": "unverified opposite",
        "이 기능은 ext4에서는 지원되지 않는다.": "contradicted opposite",
        "이 기능은 NTFS에서는 지원되지 않는다.": "supported words_together",
    },
    "Snapshots are supported on ext4, but they are not supported on NTFS.": {
        "Snapshots are supported on NTFS.": "contradicted opposite",
        "Snapshots are not supported on NTFS.": "supported words_together",
    },
    "他曾任政协委员，现任立法会议员。": {
        "他现任立法会议员。": "supported words_together",
        "他现任政协委员，曾任立法会议员。": "contradicted altered",
    },
    "The socket is supported on ext4, but not on NTFS or FAT32.": {
        "The socket is supported on NTFS.": "contradicted opposite",
        "The socket is not supported on ext4.": "contradicted opposite",
    },
    "The price rose before the war, and there is no evidence that the drug helps.": {
        "The price rose after the war.": "contradicted opposite",
        "The drug helps.": "contradicted opposite",
    },
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
def test_what_is_said_of_a_claim(passage: str, claim: str, verdict: str) -> None:
    found = check_claim(claim, passage)
    assert " ".join((found.kind, *found.codes)) == verdict
