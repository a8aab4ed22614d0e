"""Make the office folder of the questions: notes of a small ferry operator, the same files every time.

    python lab/answers/make_office.py FOLDER

Markdown, CSV, JSON Lines, XLSX, DOCX, PPTX and a mail, in English, Chinese, Korean and Japanese. People, prices and
dates are invented; `verify.py` checks that the questions about them are answered here.
"""

import csv
import io
import json
import sys
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx

TEXTS = {
    "2027-02-15 operations meeting.md": """\
# Operations meeting, 15 February 2027

Present: Astrid Voss (chair), Marek Dudek, Hye-jin Seo, Kenji Mori, Lin Qiao
Apologies: Paul Achterberg

## Decided
- The Skerry goes to the yard in Gdynia from 5 to 23 April.
- Bicycles travel free of charge on the island line from 1 May.
- The kiosk on the Petrel closes; two vending machines replace it.
- Marek buys 260 life jackets for children.

## To do
- Hye-jin: test the new fire pumps on the Petrel by 2 March
- Kenji: migrate the ticket data to the new system by 31 March
- Lin: ask three yards for an offer for the hull of the Gannet by 12 March
- Astrid: talk to the harbour master of Nordby about night berths

## Still open
- Whether dogs need a ticket.
- Who pays for the damaged ramp in Holm.

Next meeting: Thursday 4 March, 14:00, room Beacon.
""",
    "decision log.md": """\
# Decision log

| No. | Date | Decision | Owner |
|---|---|---|---|
| D-31 | 2026-11-09 | Tickets are valid for 24 hours instead of one day | Kenji Mori |
| D-32 | 2026-12-07 | No ship sails above a significant wave height of 2.5 m | Astrid Voss |
| D-33 | 2027-01-11 | Marine diesel is replaced by HVO100 on the Petrel | Marek Dudek |
| D-34 | 2027-01-25 | The ticket machines take no more cash from 1 June 2027 | Kenji Mori |

## Reasons

D-32 was taken after the accident of 28 November, when a lorry slid on the car deck of the Gannet. The limit used to
be 3.0 m.

D-33: HVO100 costs about 18 % more, but the county pays half of the difference until the end of 2028.
""",
    "mail winter timetable.txt": """\
From: Paul Achterberg
To: Astrid Voss
Date: Wed, 20 Jan 2027 09:12:00 +0100
Subject: Winter timetable and the school run

Dear Astrid,

the county has answered. The school run at 07:10 from Holm stays, but the one at 15:40 from Nordby moves to 15:55
because the school bus is late. The county pays 41,500 euros a year for both.

In case of ice the Skerry sails instead of the Gannet; the Gannet has no ice class.

The last evening boat on Sundays (22:30) is dropped until 28 March. On average four passengers used it.

Best wishes
Paul
""",
    "glossary.md": """\
# Words we use

- **Turnaround**: the time between the ramp touching the quay and the ramp leaving it. Our goal is 12 minutes.
- **Dead leg**: a crossing without passengers, made only to bring the ship to where it is needed.
- **Blue card**: the season ticket of people who live on the islands. It is personal and cannot be lent.
- **Amber day**: a day on which the wave forecast is between 2.0 and 2.5 m; the captain decides for each crossing.
""",
    "how to cancel a crossing.md": """\
# How to cancel a crossing

Only the captain on duty or the duty manager may cancel a crossing.

1. Enter the cancellation in the board system with its reason code.
2. Call the terminals in Holm and Nordby.
3. Send the text message to all who booked a car; foot passengers are informed by the displays.
4. Note the time in the log book of the ship.
5. If the pause is longer than 90 minutes, order coffee vouchers for the waiting passengers.

Refunds are made by the office within seven days, without a request.
""",
    "东码头改造会议纪要.md": """\
# 东码头改造会议纪要（2027年2月18日）

主持：乔琳；记录：周启明；列席：马雷克

## 决定
- 东码头的改造工程于6月14日开工，工期十一周。
- 施工期间，所有航班改停西码头。
- 候船厅加装两部电梯，总费用不超过38万元。
- 旧栈桥不拆除，改作员工自行车棚。

## 待办
- 周启明：3月5日前取得消防部门的批复
- 乔琳：与渔业协会商量临时泊位

## 未决
- 是否保留小卖部，下次会议再议。

名词：所谓“空驶”，是指不载客、只为调船而进行的航行。
""",
    "供应商报价.csv": """\
项目,供应商,报价（元）,交货期（天）,质保（年）
防撞护舷,海安橡胶,126000,45,3
电梯,北辰电梯,352000,70,2
售票机,云帆科技,88000,30,1
照明灯具,明远照明,41500,20,5
""",
    "如何申请加班.md": """\
# 如何申请加班

1. 提前两天在系统里填写申请单。
2. 由当班船长签字。
3. 交人事部备案。

周末加班按双倍工资计算，也可以换成调休。每人每月加班不得超过36小时。
""",
    "안전 점검 회의록.md": """\
# 안전 점검 회의록 (2027년 2월 22일)

참석: 서혜진, 오태민, 마레크 두데크

## 결정 사항
- 페트럴호 소방 펌프 두 대를 3월 안에 교체한다. 비용은 1,840만 원이다.
- 구명정 훈련은 매월 첫째 화요일에 실시한다.
- 갑판 미끄럼 사고는 2026년에 7건이었다. 원인은 낡은 바닥 도장이다.

## 할 일
- 오태민: 3월 9일까지 바닥 도장 견적을 받는다
- 서혜진: 승무원 응급 처치 교육 일정을 잡는다

## 보류
- 선내 CCTV 추가 설치는 다음 회의에서 결정한다.
""",
    "매표 현황.csv": """\
노선,2월 승객 수,2월 매출(만 원),정시율(%)
홀름-노르드뷔,18420,22104,96
섬 순환선,6310,5048,91
야간선,880,1584,88
""",
    "新システム導入メモ.md": """\
# 新しい発券システムの導入メモ

作成：森健二（2027年2月10日）

## 決まったこと
- 本番切り替えは4月12日の夜間に行う。
- 旧システムは6月末まで参照専用で残す。
- 予約番号は8桁から10桁に変わる。
- 障害が起きたときの連絡先は運航管理室（内線 214）とする。

## 移行の手順
1. 旧データを書き出す。
2. 重複した顧客を統合する。
3. 新システムに取り込む。
4. 件数と金額を照合する。
5. 窓口の端末を順番に切り替える。

## 旧システムとの違い
旧システムでは払い戻しに上司の承認が必要だったが、新システムでは1万円未満なら窓口の担当者だけで処理できる。
""",
    "売店売上.csv": """\
品目,1月の売上（円）,2月の売上（円）,仕入先
コーヒー,412000,388000,みなと珈琲
弁当,655000,702000,浜田食品
絵はがき,48000,51000,島の印刷所
酔い止め薬,93000,121000,北浜薬局
""",
}

FLEET = [
    ("ship", "built", "passengers", "cars", "speed_knots", "ice_class", "captain"),
    ("Petrel", 2014, 299, 42, 14, "1B", "Marek Dudek"),
    ("Skerry", 2003, 180, 24, 12, "1A", "Ole Tangen"),
    ("Gannet", 1996, 250, 36, 13, "none", "Ruth Behrens"),
    ("Tern", 2021, 97, 0, 28, "none", "Ida Halvorsen"),
]
INCIDENTS = [
    {"id": "I-207", "ship": "Gannet", "date": "2026-11-28", "what": "lorry slid on the car deck", "cost_eur": 23400},
    {"id": "I-208", "ship": "Petrel", "date": "2026-12-19", "what": "bow thruster failed", "hours_out_of_service": 31},
    {"id": "I-209", "ship": "Tern", "date": "2027-01-07", "what": "bird strike broke a window", "cost_eur": 1250},
    {"id": "I-210", "ship": "Skerry", "date": "2027-02-02", "what": "crew member sprained an ankle", "days_absent": 9},
]
FARES = [
    ("Passenger", "Single (EUR)", "Return (EUR)", "Ten trips (EUR)"),
    ("Adult", 8.5, 15, 68),
    ("Child 6 to 15", 4, 7, 32),
    ("Senior from 67", 6, 10.5, 48),
    ("Car up to 5 m", 24, 44, 205),
    ("Motorcycle", 11, 20, 92),
]
SEASON = [
    ("Ticket", "Price (EUR)", "Valid", "Includes a car"),
    ("Blue card", 310, "12 months", "no"),
    ("Blue card with car", 890, "12 months", "yes"),
    ("Summer pass", 96, "June to August", "no"),
]
BUDGET = [
    ("科目", "2026年实际（万元）", "2027年预算（万元）"),
    ("燃油", 412, 455),
    ("船员工资", 968, 1010),
    ("码头租金", 140, 140),
    ("维修", 233, 198),
]
HANDBOOK = [
    "# Watches and rest",
    "Nobody works more than 12 hours in any period of 24 hours. After a night watch the rest is 11 hours.",
    "# Uniform",
    "The company pays for two uniforms a year. Shoes are paid for up to 120 euros a year.",
    "# Illness",
    "Tell the duty manager before 05:30. From the fourth day on a doctor's note is needed.",
    "# Muster stations",
    [
        ("Ship", "Muster station A", "Muster station B"),
        ("Petrel", "Saloon deck, aft", "Car deck, bow"),
        ("Skerry", "Sun deck", "Saloon"),
        ("Gannet", "Saloon deck, port side", "Saloon deck, starboard side"),
    ],
    "# What a new crew member brings on the first day",
    "- passport or identity card",
    "- medical certificate for seafarers",
    "- certificate of basic safety training",
    "- bank details",
]
RULES = [
    "# 정기 점검",
    "주기관 윤활유는 500시간마다 교환한다. 선체 청소는 2년에 한 번 실시한다.",
    "# 휴가와 당직",
    "기관사는 14일 근무 후 14일을 쉰다.",
    "# 점검 주기",
    [
        ("장비", "점검 주기", "담당"),
        ("구명정", "매월", "갑판장"),
        ("소화기", "분기", "안전 담당"),
        ("비상 발전기", "매주", "기관장"),
    ],
]
SLIDES = [
    ("Summer season 2027", ["Starts on 12 June and ends on 22 August", "Goal: 148,000 passengers"]),
    (
        "New this summer",
        [
            "The Tern sails to Lyngholm on Fridays and Saturdays",
            "Family day on 4 July: children free",
            "Breakfast on the 06:20 boat, run by the Holm bakery",
        ],
    ),
    ("Risks", ["Only one spare captain for the Tern", "The ramp in Holm is not repaired before July"]),
]
FIXED = (2027, 3, 1, 0, 0, 0)


def write_csv(rows: list[tuple]) -> bytes:
    """Return `rows` as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def write_workbook(sheets: dict[str, list[tuple]]) -> bytes:
    """Return a workbook with one sheet per entry."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def write_document(title: str, parts: list) -> bytes:
    """Return a document: a string is a paragraph, "# …" a heading, "- …" a bullet, a list of tuples a table."""
    document = docx.Document()
    document.add_heading(title, 0)
    for part in parts:
        if isinstance(part, list):
            table = document.add_table(rows=0, cols=len(part[0]))
            for row in part:
                for cell, value in zip(table.add_row().cells, row, strict=True):
                    cell.text = str(value)
        elif part.startswith("# "):
            document.add_heading(part[2:], 1)
        elif part.startswith("- "):
            document.add_paragraph(part[2:], style="List Bullet")
        else:
            document.add_paragraph(part)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def write_slides(slides: list[tuple[str, list[str]]]) -> bytes:
    """Return slides with a title and bullets each."""
    deck = pptx.Presentation()
    for title, bullets in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(bullets)
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def freeze_archive(data: bytes) -> bytes:
    """Return an office file without the time at which it was made."""
    source, out = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(source.namelist()):
            if name != "docProps/core.xml":
                target.writestr(zipfile.ZipInfo(name, FIXED), source.read(name), zipfile.ZIP_DEFLATED)
            else:
                empty = (
                    '<?xml version="1.0" encoding="UTF-8"?><cp:coreProperties xmlns:cp='
                    '"http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>'
                )
                target.writestr(zipfile.ZipInfo(name, FIXED), empty, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def make_office(folder: Path) -> None:
    """Write all files into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: text.encode() for name, text in TEXTS.items()}
    files["fleet.csv"] = write_csv(FLEET)
    files["incidents.jsonl"] = "".join(json.dumps(row) + "\n" for row in INCIDENTS).encode()
    files["fares 2027.xlsx"] = freeze_archive(write_workbook({"Single fares": FARES, "Season tickets": SEASON}))
    files["2027年预算.xlsx"] = freeze_archive(write_workbook({"预算": BUDGET}))
    files["Crew handbook.docx"] = freeze_archive(write_document("Crew handbook", HANDBOOK))
    files["선박 정비 규정.docx"] = freeze_archive(write_document("선박 정비 규정", RULES))
    files["Summer season.pptx"] = freeze_archive(write_slides(SLIDES))
    for name, data in files.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    make_office(Path(sys.argv[1]))
