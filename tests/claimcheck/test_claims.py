"""Claims in four languages against a passage: what is said of each, and for which reason where it does not stand."""

import pytest

from deep_research.api import check_claim

# Of each passage: its claims with what the check must say of them.
CLAIMS = {
    "The Orsted bridge is 1,624 m long, 25.5 m wide and 204 m high. It cost about 3.3 billion kroner and was opened on 1 July 2000.": {
        "The Orsted bridge is 1.624 km long.": "supported words_together",
        "The Orsted bridge is 1,624 km long.": "contradicted number_rival",
        "The Orsted bridge was opened in July 2000.": "supported words_together",
        "The Orsted bridge was opened on July 1, 2000.": "supported words_together",
        "The Orsted bridge was opened on 2000-07-01.": "supported words_together",
        "The Orsted bridge was opened on 2 July 2000.": "unverified number_missing",
        "The Orsted bridge was opened in 2001.": "unverified number_missing",
        "The Orsted bridge cost more than 3 billion kroner.": "supported words_together",
        "The Orsted bridge cost more than 2 billion kroner.": "unverified number_missing",
        "The Orsted bridge cost about 4 billion kroner.": "unverified number_missing",
        "The Orsted bridge cost under 6 billion kroner.": "unverified number_missing",
    },
    "Twenty-one volunteers finished the second course; forty-two had begun the first. A third of them fasted for three days.": {
        "21 volunteers finished the second course.": "supported words_together",
        "Twenty-two volunteers finished the second course.": "contradicted number_rival",
    },
    "Maria Lindqvist and Per Olsson of the University of Uppsala described the Kestrel-2 antenna in the Journal of Radio Science. Olsson had worked at NASA.": {
        "Lindqvist and Olsson described the Kestrel-2 antenna.": "supported words_together",
        "Maria Lindqvist and Per Olsson described the Kestrel-3 antenna.": "contradicted name_rival",
        "Maria Lindqvist and Per Olsson of the University of Lund described the Kestrel-2 antenna.": "contradicted name_rival",
        "Olsson had worked at ESA.": "contradicted name_rival",
    },
    "Without a licence nobody may sell fireworks in the state. Fireworks are never sold to minors, and shops must keep a record of every sale.": {
        "Nobody may sell fireworks in the state without a licence.": "supported words_together",
        "Fireworks are sold to minors.": "contradicted opposite",
        "Shops must not keep a record of every sale.": "contradicted opposite",
    },
    "The minister said: “We will not raise taxes before the next election.” Critics called the promise “empty”.": {
        "The minister said: “We will not raise taxes before the next election.”": "supported verbatim",
        "The minister said: “We will raise taxes before the next election.”": "unverified quotation_changed",
        "Critics called the promise “hollow”.": "unverified quotation_missing",
        'Critics called the promise "empty".': "supported verbatim",
    },
    "《红河谷》由赵敏执导，一九九六年十一月上映，票房一亿两千万元。影片不含暴力内容。": {
        "《红河谷》由赵敏执导。": "supported words_together",
        "《红河谷》由李敏执导。": "contradicted altered",
        "《红河谷》票房1.2亿元。": "supported words_together",
        "《红河谷》票房2.1亿元。": "contradicted number_rival",
        "影片含暴力内容。": "contradicted opposite",
    },
    "푸른대교는 길이 1624미터, 너비 25미터이며 2008년 7월 1일에 개통되었다. 설계는 한빛건설이 맡았고 공사비는 약 33억 원이었다.": {
        "푸른대교는 2008년에 개통되었다.": "supported words_together",
        "푸른대교는 2009년에 개통되었다.": "unverified number_missing",
        "푸른대교의 길이는 1624미터이다.": "supported words_together",
        "푸른대교의 길이는 1624킬로미터이다.": "contradicted number_rival",
        "설계는 한솔건설이 맡았다.": "unverified low_support",
        "설계는 한빛건설이 맡았다.": "supported words_together",
        "공사비는 약 33만 원이었다.": "contradicted number_rival",
    },
    "该药不降低疼痛，但能降低儿童的发热。": {
        "该药不降低儿童的发热。": "contradicted opposite",
        "该药能降低儿童的发热。": "supported words_together",
        "该药能降低疼痛。": "contradicted opposite",
        "该药不降低疼痛。": "supported words_together",
    },
    "Alpha weighs 3 kg, Beta weighs 5 kg, Gamma weighs 8 kg and Delta weighs 13 kg.": {
        "Alpha weighs 3 kg and Gamma weighs 8 kg.": "supported words_together",
        "Gamma weighs 5 kg.": "contradicted altered",
        "Delta weighs 3 kg.": "contradicted altered",
        "Gamma weighs 8 kg.": "supported words_together",
    },
    "Patients received 5 mg/kg once a week, a rate of 2 mL/min over 30 min; the placebo group received 0.9% saline.": {
        "Patients received 5 mg per kg once a week.": "supported words_together",
        "Patients received 5 mg/day once a week.": "contradicted number_rival",
        "Patients received 5 g/kg once a week.": "contradicted number_rival",
        "The rate was 2 mL per minute over 30 minutes.": "supported words_together",
        "The rate was 2 mL per hour over 30 minutes.": "unverified number_unit",
    },
    "The treaty was signed on 14 March 1848 and came into force in the autumn of 1849. It was renewed in the 1890s and lapsed in May of 1912.": {
        "The treaty was signed in 1848.": "supported words_together",
        "The treaty was signed in March 1848.": "supported words_together",
        "The treaty was signed on March 14, 1848.": "supported words_together",
        "The treaty was signed on 14 May 1848.": "contradicted number_rival",
        "The treaty was renewed in the 1880s.": "unverified number_missing",
        "The treaty lapsed in May 1912.": "supported words_together",
        "The treaty lapsed on 12 May 1912.": "unverified number_missing",
        "The treaty was signed in April 1848.": "unverified number_missing",
    },
    "该条约于一八四八年三月签署，1849年秋生效，二十世纪90年代续签，有效期为十五年。": {
        "该条约于1848年签署。": "supported words_together",
        "该条约于1849年签署。": "contradicted altered",
        "该条约有效期为15年。": "supported words_together",
        "该条约有效期为五十年。": "contradicted number_rival",
        "该条约在1980年代续签。": "contradicted number_rival",
    },
    "工費は3億5000万円で、作業員は約千二百人、工期は三年だった。完成は第二次計画の後である。": {
        "工費は3.5億円だった。": "supported words_together",
        "工費は5.3億円だった。": "contradicted number_rival",
        "作業員は約2100人だった。": "unverified number_missing",
        "工期は三年だった。": "supported words_together",
        "工期は五年だった。": "contradicted number_rival",
    },
    "French and German firms supply the European Space Agency; the ESA also buys from Japan.": {
        "German firms supply the European Space Agency.": "supported words_together",
        "Italian firms supply the European Space Agency.": "unverified name_missing",
        "The ESA also buys from Japan.": "supported words_together",
        "The ESA also buys from Korea.": "contradicted name_rival",
        "NASA also buys from Japan.": "contradicted name_rival",
    },
    "法院驳回了上诉，支持了赔偿请求。该裁决没有涉及专利。": {
        "法院驳回了上诉。": "supported words_together",
        "该裁决涉及专利。": "contradicted opposite",
        "该裁决没有涉及专利。": "supported verbatim",
    },
    "Some users of the beta version reported crashes, usually after long sessions. Updates are probably needed.": {
        "All users of the beta version reported crashes.": "contradicted altered",
        "Users of the beta version always reported crashes after long sessions.": "unverified scope_changed",
        "Some users of the beta version reported crashes.": "supported words_together",
        "Updates are needed.": "unverified scope_changed",
        "Updates are probably needed.": "supported verbatim",
    },
    "일부 사용자는 업데이트 후 데이터를 잃을 수 있다. 시스템은 보통 매일 백업된다.": {
        "모든 사용자는 업데이트 후 데이터를 잃는다.": "contradicted altered",
        "사용자는 업데이트 후 데이터를 잃는다.": "unverified scope_changed",
        "일부 사용자는 업데이트 후 데이터를 잃을 수 있다.": "supported verbatim",
    },
    "哈伦山天文台建于1926年，1958年扩建。": {
        "哈伦山天文台由蔡司公司建于1926年。": "unverified low_support",
        "哈伦山天文台1958年扩建。": "supported words_together",
    },
    "Chelsea beat Arsenal in the final at Wembley. The referee sent off two players.": {
        "Arsenal beat Chelsea in the final at Wembley.": "contradicted altered",
        "Chelsea lost to Arsenal in the final at Wembley.": "contradicted altered",
    },
    "The tin mine closed in 1986 and the copper mine opened in 1991 near Redruth.": {
        "The tin mine opened in 1986 near Redruth.": "contradicted altered",
    },
    "The chapel was restored in 1871 and its organ was replaced in 1904.": {
        "The chapel was restored in 1871 with money from Lord Ashby.": "unverified name_missing",
        "The chapel was restored in 1871 after the fire of the town hall.": "unverified low_support",
        "The chapel was restored in 1871.": "supported words_together",
        "The chapel was quickly restored in 1871.": "unverified low_support",
    },
    "예배당은 1871년에 복원되었고 오르간은 1904년에 교체되었다.": {
        "예배당은 1871년에 애슈비 경에 의해 복원되었다.": "unverified low_support",
        "오르간은 1904년에 교체되었다.": "supported words_together",
    },
    "공장에는 생산 라인 세 개와 창고 다섯 동이 있으며 하루 여덟 시간 가동하고 노동자 육백 명을 고용한다.": {
        "공장에는 생산 라인 네 개와 창고 다섯 동이 있다.": "contradicted number_rival",
        "공장은 하루 아홉 시간 가동한다.": "contradicted number_rival",
    },
    "서울대학교의 김민수가 논문을 발표했고 연세대학교의 박지영이 자료를 제공했다.": {
        "서울대학교의 이철수가 논문을 발표했다.": "unverified altered",
        "연세대학교의 박지영이 자료를 제공했다.": "supported words_together",
    },
    "价格在三月上涨，销量在四月下降，库存保持高位。": {
        "价格在三月下降。": "contradicted opposite",
        "销量在四月上涨。": "contradicted opposite",
        "价格在三月上涨。": "supported words_together",
        "库存保持低位。": "contradicted altered",
    },
    "The phase 3 trial of tavelimab enrolled 412 patients at 36 sites; 58% had stage 2 disease, see section 4.": {
        "The phase 2 trial of tavelimab enrolled 412 patients.": "contradicted altered",
        "The phase 3 trial of tavelimab enrolled 412 patients at 36 sites.": "supported words_together",
        "58% had stage 3 disease.": "contradicted altered",
        "The phase 3 trial of tavelimab enrolled 36 patients.": "contradicted altered",
    },
    "# Helena Okoye\n\nOkoye led the survey of the reef in Kiel Bay and later taught at Oslo.": {
        "Helena Okoye led the survey of the reef in Kiel Bay.": "supported words_together",
        "Ingrid Okoye led the survey of the reef in Kiel Bay.": "unverified name_missing",
        "Helena Okoye led the survey of the reef in Lund Bay.": "contradicted name_rival",
    },
    "The mayor called the plan “a costly mistake … for the whole town” and [t]he council agreed.": {
        "The mayor called the plan “a costly mistake”.": "supported words_together",
        "The mayor called the plan “a costly success”.": "unverified quotation_missing",
        "The mayor called the plan “a costly mistake … for the whole town”.": "supported words_together",
        "The mayor called the plan “for the whole town … a costly mistake”.": "unverified quotation_missing",
    },
    "시장은 그 계획을 “값비싼 실수”라고 불렀고 “다리는 다시 짓지 않는다”라고 말했다.": {
        "시장은 그 계획을 “값비싼 실수”라고 불렀다.": "supported words_together",
        "시장은 그 계획을 “값싼 실수”라고 불렀다.": "unverified quotation_changed",
    },
    "Prices of flour fell by 4.5 per cent in 2021 and by 2 to 3 per cent a year before 2015; sugar lost 12 cents a kilo.": {
        "Prices of flour fell by 4.5% in 2021.": "supported words_together",
        "Prices of flour fell by 5.4% in 2021.": "contradicted number_rival",
        "Sugar lost 12 cents a kilo.": "supported words_together",
    },
    "A pack of three costs ￥１２００ in Japan and ₩13,000 in Korea; the sixth edition has 640 pages.": {
        "A pack of three costs 1,200 yen in Japan.": "supported words_together",
        "A pack of three costs 1,300 yen in Japan.": "unverified number_missing",
        "The 6th edition has 640 pages.": "supported words_together",
        "The 7th edition has 640 pages.": "contradicted number_rival",
        "The sixth edition has 460 pages.": "contradicted number_rival",
        "A pack of three costs 13,000 won in Korea.": "supported words_together",
    },
    "2019년 주민은 3만 5천 명이고 그 가운데 십이 퍼센트가 65세 이상이며 제3초등학교 학생은 이백팔십 명이다.": {
        "2019년 주민은 3만 5000명이다.": "supported words_together",
        "2019년 주민은 5만 3000명이다.": "contradicted number_rival",
        "제3초등학교 학생은 280명이다.": "supported words_together",
    },
    "The chapel on the hill was restored in 1871 by the parish.": {
        "**Restoration:** The chapel on the hill was restored in 1871 by the parish.": "supported words_together",
        "**The mill.** The chapel on the hill was restored in 1871.": "supported words_together",
        "The chapel on the hill was restored in 1871 by the parish of Selby.": "unverified name_missing",
        "The chapel on the hill was slowly restored in 1871 by the parish.": "unverified added",
        "The chapel on the hill was restored in 1871 by the parish and its priest.": "unverified added",
        "The chapel on the hill was restored in 1871 by Ashby.": "unverified name_missing",
    },
    "The parish buys its bells from Kestrel and hangs them in spring.": {
        "The parish of Okoye buys its bells from Kestrel.": "unverified name_missing",
        "Selby buys its bells from Kestrel.": "unverified name_missing",
        "The parish hangs them in spring.": "supported words_together",
    },
    "大约12000名观众在青山体育馆观看了比赛。苏林在决赛中击败了哈瓦德。": {
        "在青山体育馆，大约12000名观众观看了比赛。": "supported words_together",
        "在决赛中，苏林击败了哈瓦德。": "supported words_together",
    },
    "김철수는 1998년에 이 서점을 열었고 가게에는 기둥 세 개와 책상 다섯 대가 있다.": {
        "김철호는 1998년에 이 서점을 열었다.": "contradicted altered",
        "이철수는 1998년에 이 서점을 열었다.": "contradicted altered",
        "김철수는 1998년에 부산에서 이 서점을 열었다.": "unverified low_support",
        "1998년에 김철수는 이 서점을 열었다.": "supported words_together",
    },
    "同社は2019年に38台の装置を売り、価格は12円だった。": {
        "同社は2019年に38箱の装置を売った。": "contradicted altered",
        "価格は12ドルだった。": "contradicted number_rival",
        "同社は2019年に38台の装置を売った。": "supported words_together",
    },
    "The drug may reduce mortality in older mice that were fed well, and it was cheap.": {
        "The drug reduces mortality in older mice that were fed well.": "unverified scope_changed",
        "The drug may reduce mortality in older mice.": "supported words_together",
        "It was cheap.": "supported words_together",
        "The drug reduces mortality in mice.": "unverified scope_changed",
    },
    "価格は下がるかもしれない。多くの町の店は通常、日曜の正午に閉まる。": {
        "価格は下がる。": "unverified scope_changed",
        "多くの町の店は日曜の正午に閉まる。": "unverified scope_changed",
        "すべての町の店は通常、日曜の正午に閉まる。": "contradicted altered",
    },
    "Copper melts at 1,085 degrees and is softer than iron, which melts at 1,538 degrees.": {
        "Copper is harder than iron.": "contradicted altered",
        "Iron melts at 1,085 degrees.": "contradicted altered",
        "Copper is softer than iron.": "supported words_together",
    },
    "战前该港向丹麦出口木材，从英国进口煤炭。": {
        "战前该港从丹麦进口木材。": "contradicted altered",
        "战后该港向丹麦出口木材。": "contradicted altered",
        "战前该港向英国出口木材，从丹麦进口煤炭。": "contradicted altered",
        "战前该港向丹麦出口木材。": "supported words_together",
    },
    "Dr. Ruth Adeyemi and Dr. Lars Holm treated 61 patients at the St. Olaf clinic; Holm's patients were older.": {
        "Holm's patients were younger.": "contradicted altered",
        "Dr. Ruth Adeyemi and Dr. Lars Holm treated 61 patients at the St. Anna clinic.": "contradicted name_rival",
        "Dr. Lars Holm and Dr. Ruth Adeyemi treated 61 patients at the St. Olaf clinic.": "supported words_together",
        "Dr. Ruth Adeyemi, Dr. Lars Holm and Dr. Ida Falk treated 61 patients at the St. Olaf clinic.": "unverified name_missing",
        "Adeyemi treated 61 patients at the St. Olaf clinic.": "supported words_together",
    },
    "ソリンは決勝でハルバルトを破った。観客は約12000人だった。": {
        "決勝でソリンがハルバルトを破った。": "supported words_together",
        "ハルバルトがソリンを決勝で破った。": "contradicted altered",
    },
    "이 기능은 ext4에서는 지원되지만 NTFS에서는 지원되지 않는다.": {
        "이 기능은 NTFS에서는 지원된다.": "unverified opposite",
        "이 기능은 ext4에서는 지원되지 않는다.": "contradicted opposite",
        "이 기능은 ext4에서는 지원된다.": "supported words_together",
        "이 기능은 NTFS에서는 지원되지 않는다.": "supported words_together",
    },
    "Snapshots are supported on ext4, but they are not supported on NTFS.": {
        "Snapshots are supported on NTFS.": "contradicted opposite",
        "Snapshots are not supported on ext4.": "contradicted opposite",
        "Snapshots are not supported on NTFS.": "supported words_together",
    },
    "Ludwig van Beethoven used a metronome by Maelzel in 1815, and Carl Czerny taught Franz Liszt in Vienna.": {
        "Beethoven used a metronome by Maelzel in 1815.": "supported words_together",
        "Carl Czerny taught Liszt in Vienna.": "supported words_together",
        "Franz Czerny taught Carl Liszt in Vienna.": "contradicted name_rival",
    },
    "他曾任政协委员，现任立法会议员。": {
        "他现任立法会议员。": "supported words_together",
        "他现任政协委员，曾任立法会议员。": "contradicted altered",
    },
}


@pytest.mark.parametrize(
    ("passage", "claim", "verdict"),
    [(p, claim, said) for p, claims in CLAIMS.items() for claim, said in claims.items()],
)
def test_what_is_said_of_a_claim(passage: str, claim: str, verdict: str) -> None:
    found = check_claim(claim, passage)
    assert " ".join((found.kind, *found.codes)) == verdict
