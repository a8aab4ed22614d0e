"""Statements made from outdated or superseded sources are dated or flagged; statements of the day are left alone."""

import datetime

import pytest

from deep_research.claimcheck.currency import Dated, flags_of, with_note, written_date
from deep_research.text.standing import Standing, read_date, read_standing

TODAY = datetime.date(2026, 11, 22)
HEADS = {
    "PEP: 554\nStatus: Superseded\nSuperseded-By: 734\nCreated: 05-Sep-2017": ("superseded", "734", "2017-09-05"),
    "| Status: | Final |\n| Created: | 2022-03-08 |": ("final", "", "2022-03-08"),
    "Status: Rejected\nUpdated: July 8, 2026": ("rejected", "", "2026-07-08"),
    "This document has been superseded by RFC 9110. It was good.": ("superseded", "RFC 9110", ""),
    "Obsoleted by: 9110\nDate: June 2014": ("superseded", "9110", "2014-06"),
    "Internet-Draft\nStatus: Internet-Draft\nVersion: 07": ("draft", "", ""),
    "状态：已废止\n发布日期：2019年3月4日": ("obsolete", "", "2019-03-04"),
    "本标准已由GB/T 2020取代。": ("superseded", "GB/T 2020", ""),
    "상태: 폐지\n제정일: 2018년 7월": ("obsolete", "", "2018-07"),
    "ステータス：却下\n公開日：2021年2月3日": ("rejected", "", "2021-02-03"),
    "An ordinary page about engines. It is final in no way.": ("", "", ""),
}


@pytest.mark.parametrize("head", HEADS)
def test_a_document_says_what_it_is_in_its_head(head: str) -> None:
    standing = read_standing(head)
    assert (standing.status, standing.by, standing.date) == HEADS[head]


@pytest.mark.parametrize(
    ("text", "date"),
    [("13-Mar-2025", "2025-03-13"), ("March 13, 2025", "2025-03-13"), ("2025-3-1", "2025-03-01"), ("2025/03", "2025-03"),
     ("June 2014", "2014-06"), ("2025年3月", "2025-03"), ("2025년 3월 2일", "2025-03-02"), ("version 3.12", ""), ("", "")],
)  # fmt: skip
def test_dates_are_read_as_they_are_written(text: str, date: str) -> None:
    assert read_date(text) == date


OLD = Dated("2023-05-10", Standing(status="final", published="2023-05-10"))
NEW = Dated("2026-10-20", Standing(status="final", published="2026-10-20"))
REJECTED = Dated("2026-07-08", Standing(status="rejected", published="2026-07-08"))
REPLACED = Dated("2026-07-08", Standing(status="superseded", by="RFC 9110", published="2026-07-08"))
DRAFT = Dated("2026-09-01", Standing(status="draft", published="2026-09-01"))
OUTDATED: list[tuple[str, Dated]] = [
    *((text, OLD) for text in (
        "The build is currently about 10 % slower.", "It is not yet supported on Windows.", "The feature will become the default.",
        "A stable interface is planned.", "The latest release adds three switches.", "Support is expected to follow.",
        "Nowadays most servers still use the old format.", "The team is going to remove the flag.", "A fix is scheduled.",
        "To date nobody has measured it.", "As of this writing there are four back ends.", "The upcoming release drops it.",
        "目前该功能尚未默认启用。", "预计下一版本会支持该接口。", "现在的速度约慢一成。", "该标志将会被移除。", "迄今没有测量结果。",
        "计划在后续版本中加入。", "현재 약 10 % 느리다.", "다음 판에서 지원할 예정이다.", "아직 지원되지 않는다.", "최신 버전에는 세 가지 옵션이 있다.",
        "제거될 전망이다.", "現在は約1割遅い。", "次の版で対応する予定である。", "まだ対応していない。", "最新版には3つの選択肢がある。",
        "The release is expected on 2026-10-01.", "该版本预计于2026年10月1日发布。", "2026년 10월 1일에 나올 예정이다.", "2026年10月1日に公開予定である。",
    )),
    *((text, REJECTED) for text in (
        "A proxy object lends any value across interpreters.", "The syntax makes types immutable.", "代理对象可以跨解释器共享。",
        "프록시 객체로 값을 공유한다.", "プロキシで値を共有する。", "Callers use the new entry point.", "The header has two fields.",
        "接口有两个参数。", "헤더에는 필드가 두 개 있다.", "ヘッダーには2つの項目がある。",
    )),
    *((text, REPLACED) for text in (
        "A request line ends with two characters.", "Headers are case-insensitive.", "请求行以两个字符结束。", "요청 줄은 두 문자로 끝난다.",
        "要求行は2文字で終わる。", "The server answers with a code.", "代码有三位数字。", "코드는 세 자리이다.", "コードは3桁である。",
    )),
    *((text, DRAFT) for text in (
        "The compiler doubles the speed.", "Every module needs the slot.", "The flag is mandatory.", "编译器使速度加倍。",
        "模块需要该插槽。", "컴파일러가 속도를 두 배로 높인다.", "모듈에는 슬롯이 필요하다.", "コンパイラは速度を倍にする。",
        "モジュールにはスロットが要る。", "The table has five columns.",
    )),
]  # fmt: skip
CURRENT: list[tuple[str, Dated]] = [
    *((text, NEW) for text in (
        "The build is currently about 10 % slower.", "It is not yet supported on Windows.", "目前尚未启用。", "현재 지원되지 않는다.",
        "現在は対応していない。", "A stable interface is planned for 2027.", "The release will follow on 2027-05-04.",
    )),
    *((text, OLD) for text in (
        "The build was about 10 % slower in March 2023.", "The lock protects one object.", "A list holds items in order.",
        "2023年3月时约慢10%。", "锁保护一个对象。", "2023년 3월에는 약 10 % 느렸다.", "잠금은 객체 하나를 보호한다.",
        "2023年3月には約10%遅かった。", "ロックは1つの対象を守る。", "Water boils at 100 degrees.", "Python 3.12 added the call.",
    )),
    ("The proposal to lend objects was rejected.", REJECTED), ("该提案已被否决。", REJECTED), ("그 제안은 거부되었다.", REJECTED),
    ("The draft would make the slot mandatory.", DRAFT), ("草案要求该插槽。", DRAFT), ("RFC 9110 has replaced this rule.", REPLACED),
]  # fmt: skip


def test_statements_from_outdated_sources_are_dated_or_flagged_and_others_are_left_alone() -> None:
    missed = [text for text, source in OUTDATED if not flags_of(text, [source], TODAY)]
    false = [text for text, source in CURRENT if flags_of(text, [source], TODAY)]
    assert len(OUTDATED) == 60
    assert len(missed) <= 6, missed  # at least 90 %
    assert len(false) <= 1, false  # at most 5 %


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("en", "is slow (as of 10 May 2023)."),
        ("zh", "2023年5月10日"),
        ("ko", "2023년 5월 10일 기준"),
        ("ja", "2023年5月10日時点"),
    ],
)
def test_a_note_stands_before_the_full_stop_in_the_language_of_the_report(language: str, note: str) -> None:
    assert note in with_note("It is slow.", ["relative_time"], [OLD], language)


def test_figures_of_different_years_side_by_side_say_so() -> None:
    claim = "The first took 12 ms and the second 7 ms."
    assert flags_of(claim, [OLD, NEW], TODAY) == ("mixed_dates",)
    assert "10 May 2023 – 20 October 2026" in with_note(claim, ["mixed_dates"], [OLD, NEW], "en")
    assert flags_of("The first took 12 ms in 2023, the second 7 ms in 2026.", [OLD, NEW], TODAY) == ()


def test_what_replaced_a_source_is_named() -> None:
    assert (
        with_note("It ends so.", ["not_current"], [REPLACED], "en")
        == "It ends so (its source: superseded, by RFC 9110)."
    )


def test_a_month_is_written_as_the_language_writes_it() -> None:
    assert [written_date("2025-03", code) for code in ("en", "zh", "ko", "ja")] == [
        "March 2025",
        "2025年3月",
        "2025년 3월",
        "2025年3月",
    ]


def _of(date: str, status: str = "") -> Dated:
    return Dated(date, Standing(status=status, published=date))  # type: ignore[arg-type]


NOW = "It is currently slow."
TWO = "One took 12 ms, the other 7 ms."
# A claim, its sources, and exactly what is flagged.
FLAGS: list[tuple[str, list[Dated], tuple[str, ...]]] = [
    (NOW, [_of("2026-02-25")], ()),  # 270 days old
    (NOW, [_of("2026-02-24")], ("relative_time",)),
    (NOW, [_of("2026-02")], ("relative_time",)),
    (NOW, [_of("2026-03")], ()),
    (NOW, [_of("2026")], ()),  # the middle of a year whose day is not known
    (NOW, [_of("2025")], ("relative_time",)),
    (NOW, [_of("2026-02-30")], ()),  # no day of the calendar
    (NOW, [_of("")], ()),
    (NOW, [], ()),
    (NOW, [OLD, _of("2024-05-01"), NEW], ()),
    (NOW, [NEW, OLD, _of("2024-05-01")], ()),
    (TWO, [OLD, _of("2023-06-01"), NEW], ("mixed_dates",)),
    (NOW, [OLD, NEW], ()),  # the newest counts
    ("It is currently slow in 2020.", [OLD], ()),
    ("It will follow in 2027.", [OLD], ()),
    ("It will follow in 2026.", [OLD], ()),
    ("It will follow in October 2026.", [OLD], ("past_future",)),
    ("It will follow in November 2026.", [OLD], ()),
    ("It will follow on 21 November 2026.", [OLD], ("past_future",)),
    ("It will follow on 22 November 2026.", [OLD], ()),
    ("It came in October 2026.", [OLD], ()),
    (TWO, [_of("2025-01-01"), _of("2026-02-05")], ()),  # 400 days apart
    (TWO, [_of("2025-01-01"), _of("2026-02-06")], ("mixed_dates",)),
    (TWO, [_of("2026-02-06"), _of("2025-01-01")], ("mixed_dates",)),
    (TWO, [OLD], ()),
    ("One took 12 ms.", [OLD, NEW], ()),
    ("In 2023 one took 12 ms, the other 7 ms.", [OLD, NEW], ()),
    ("It will follow in 2025 or 2031.", [OLD], ("past_future",)),
    ("It will follow in 2031 or 2025.", [OLD], ("past_future",)),
    ("One of two engines took 12 ms.", [OLD, NEW], ()),
    ("Two engines took three minutes.", [OLD, NEW], ()),
    ("Engine one took 12 ms, the other seven.", [OLD, NEW], ()),
    ("The slot is mandatory.", [DRAFT, NEW], ()),
    ("The slot is mandatory.", [DRAFT, DRAFT], ("not_current",)),
    ("The slot is mandatory.", [REJECTED, NEW], ("not_current",)),
    ("The slot is mandatory.", [], ()),
]


@pytest.mark.parametrize(("claim", "sources", "flags"), FLAGS)
def test_exactly_what_a_reader_must_know_is_flagged(claim: str, sources: list[Dated], flags: tuple[str, ...]) -> None:
    assert flags_of(claim, sources, TODAY) == flags


# Flags, sources, and the sentence with its note.
NOTES: list[tuple[list[str], list[Dated], str]] = [
    ([], [OLD], "It is slow."),
    (["relative_time"], [], "It is slow."),
    (["relative_time"], [_of("")], "It is slow."),
    (["relative_time"], [OLD, NEW], "It is slow (as of 20 October 2026)."),
    (["past_future"], [NEW, OLD], "It is slow (as of 20 October 2026)."),
    (["relative_time"], [_of("2025-03")], "It is slow (as of March 2025)."),
    (["relative_time"], [_of("2025")], "It is slow (as of 2025)."),
    (["mixed_dates"], [OLD], "It is slow."),
    (["mixed_dates"], [NEW, OLD], "It is slow (as of 10 May 2023 – 20 October 2026)."),
    (["mixed_dates"], [NEW, _of("2025-03"), OLD], "It is slow (as of 10 May 2023 – 20 October 2026)."),
    (["relative_time"], [OLD, _of("2025-03"), _of("2024-01-05")], "It is slow (as of March 2025)."),
    (["not_current"], [OLD], "It is slow."),
    (["not_current"], [OLD, REJECTED], "It is slow (its source: rejected)."),
    (["relative_time", "not_current"], [REPLACED], "It is slow (as of 8 July 2026; its source: superseded, by RFC 9110)."),
]  # fmt: skip


@pytest.mark.parametrize(("flags", "sources", "written"), NOTES)
def test_a_note_says_what_was_flagged_and_no_more(flags: list[str], sources: list[Dated], written: str) -> None:
    assert with_note("It is slow.", flags, sources, "en") == written
    assert with_note("It is slow", flags, sources, "en") == written.removesuffix(".")


def test_a_day_and_a_year_are_written_as_the_language_writes_them() -> None:
    assert [written_date("2025-03-04", code) for code in ("en", "zh", "ko", "ja")] == [
        "4 March 2025", "2025年3月4日", "2025년 3월 4일", "2025年3月4日"]  # fmt: skip
    assert written_date("2025", "en") == "2025"


@pytest.mark.parametrize(
    ("written", "today", "flags"),
    [
        # A source of which only the year is known is taken to be of the middle of it.
        ("2025", datetime.date(2026, 3, 1), ()),
        ("2025", datetime.date(2026, 5, 1), ("relative_time",)),
        ("2025-07", datetime.date(2026, 3, 28), ()),
        ("2025-07", datetime.date(2026, 3, 29), ("relative_time",)),
        ("2025-07-20", datetime.date(2026, 4, 10), ()),
        ("soon", datetime.date(2026, 5, 1), ()),
        ("2025-13", datetime.date(2026, 5, 1), ()),
    ],
)
def test_how_old_a_source_is(written: str, today: datetime.date, flags: tuple[str, ...]) -> None:
    assert flags_of("The build is currently slower.", [Dated(written, Standing())], today) == flags


@pytest.mark.parametrize(
    ("claim", "said", "flags"),
    [
        ("界面可能读到尚未提交的更改。", "A reader may see changes that are uncommitted.", ()),
        ("该功能尚未支持。", "The feature is not yet supported.", ("relative_time",)),
        ("The call will fail.", "The call fails.", ()),
        ("The call will fail.", "The call will be made to fail.", ("relative_time",)),
        ("The build is currently slower.", "", ("relative_time",)),
    ],
)
def test_a_word_of_time_counts_where_the_source_has_one(claim: str, said: str, flags: tuple[str, ...]) -> None:
    assert flags_of(claim, [OLD], TODAY, said) == flags
