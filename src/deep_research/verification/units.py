"""Units of measure, scales and number words of English, Chinese, Japanese and Korean, and how they are read."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

_UNITS: dict[str, str] = {
    "%": "% percent per_cent pct パーセント 퍼센트 프로",
    "pp": "pp percentage_point percentage_points %p %포인트 퍼센트포인트 个百分点 百分点 ポイント",
    "usd": "usd us$ dollar dollars us_dollar us_dollars u.s._dollars 美元 美金 달러 米ドル ドル",
    "eur": "eur euro euros 欧元 유로 ユーロ",
    "gbp": "gbp pound_sterling pounds_sterling 英镑 파운드",
    "cny": "cny rmb yuan renminbi 元人民币 人民币 元 위안 人民元",
    "jpy": "jpy yen 日元 円 엔",
    "krw": "krw won 韩元 원 ウォン",
    "kg": "kg kilogram kilograms 公斤 千克 킬로그램 キログラム",
    "g": "g gram grams 克 그램 グラム",
    "mg": "mg milligram milligrams 毫克 밀리그램 ミリグラム",
    "µg": "µg μg mcg ug microgram micrograms 微克 마이크로그램",
    "ng": "ng nanogram nanograms 纳克",
    "tonne": "tonne tonnes metric_ton metric_tons 吨 톤 トン",
    "ton": "ton tons",
    "lb": "lb lbs",
    "km": "km kilometer kilometers kilometre kilometres 公里 千米 킬로미터",
    "m": "m meter meters metre metres 米 미터 メートル",
    "cm": "cm centimeter centimeters centimetre centimetres 厘米 公分 센티미터",
    "mm": "mm millimeter millimeters millimetre millimetres 毫米 밀리미터",
    "µm": "µm μm um micron microns micrometer micrometers 微米",
    "nm": "nm nanometer nanometers nanometre nanometres 纳米 나노미터",
    "mile": "mile miles mi 英里 마일",
    "ft": "ft foot feet 英尺",
    "inch": "inch inches 英寸 인치",
    "ns": "ns nanosecond nanoseconds 纳秒",
    "µs": "µs μs us microsecond microseconds 微秒",
    "ms": "ms msec millisecond milliseconds 毫秒 밀리초 ミリ秒",
    "s": "s sec secs second seconds 秒 秒钟 초",
    "min": "min mins minute minutes 分钟 分間 분",
    "h": "h hr hrs hour hours 小时 个小时 時間 시간",
    "day": "day days 天 日間 일",
    "week": "week weeks 周 个星期 星期 週間 주",
    "month": "month months 个月 ヶ月 か月 개월",
    "years": "year years yr yrs 年 年間 년 岁 歳 세",
    "KB": "kb kilobyte kilobytes",
    "MB": "mb megabyte megabytes",
    "GB": "gb gigabyte gigabytes",
    "TB": "tb terabyte terabytes",
    "PB": "pb petabyte petabytes",
    "KiB": "kib",
    "MiB": "mib",
    "GiB": "gib",
    "TiB": "tib",
    "byte": "byte bytes 字节 바이트",
    "bit": "bit bits 位元 比特 비트",
    "Mbps": "mbps mbit/s",
    "Gbps": "gbps gbit/s",
    "Hz": "hz",
    "kHz": "khz",
    "MHz": "mhz",
    "GHz": "ghz",
    "W": "w watt watts 瓦 와트",
    "kW": "kw kilowatt kilowatts 千瓦",
    "MW": "mw megawatt megawatts",
    "GW": "gw gigawatt gigawatts",
    "kWh": "kwh",
    "V": "v volt volts",
    "°C": "°c ℃ degrees_celsius 摄氏度",
    "°F": "°f ℉ degrees_fahrenheit",
    "L": "l liter liters litre litres 升 리터",
    "mL": "ml milliliter milliliters millilitre millilitres 毫升 밀리리터",
    "µL": "µl μl ul",
    "mol": "mol",
    "mmol": "mmol",
    "µM": "µm_conc",
    "nM": "nm_conc",
    "ha": "ha hectare hectares",
    "times": "x × fold times -fold 倍 배",
}
ALIASES: dict[str, str] = {alias.replace("_", " "): unit for unit, names in _UNITS.items() for alias in names.split()}
"""Unit by its (lower-case) way of writing."""
EXACT = {"nM": "nM", "µM": "µM", "μM": "µM", "mM": "mM", "mW": "mW", "M": "M"}
"""Ways of writing in which the case carries the meaning; looked up first."""

SIGNS = {
    "$": "usd",
    "US$": "usd",
    "€": "eur",
    "£": "gbp",
    "¥": "¥",
    "₩": "krw",
    "USD": "usd",
    "EUR": "eur",
    "GBP": "gbp",
}
CODES = {"RMB": "cny", "CNY": "cny", "JPY": "jpy", "KRW": "krw", "NT$": "twd", "HK$": "hkd", "A$": "aud", "C$": "cad"}

BASES: dict[str, tuple[str, Decimal]] = {
    unit: (base, Decimal(factor))
    for base, members in {
        "g": {"kg": "1000", "g": "1", "mg": "0.001", "µg": "0.000001", "ng": "0.000000001", "tonne": "1000000"},
        "m": {"km": "1000", "m": "1", "cm": "0.01", "mm": "0.001", "µm": "0.000001", "nm": "0.000000001"},
        "s": {"ns": "0.000000001", "µs": "0.000001", "ms": "0.001", "s": "1", "min": "60", "h": "3600"},
        "day": {"day": "1", "week": "7"},
        "month": {"month": "1", "years": "12"},
        "MB": {"KB": "0.001", "MB": "1", "GB": "1000", "TB": "1000000", "PB": "1000000000"},
        "Mbps": {"Mbps": "1", "Gbps": "1000"},
        "Hz": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
        "W": {"mW": "0.001", "W": "1", "kW": "1000", "MW": "1000000", "GW": "1000000000"},
        "L": {"L": "1", "mL": "0.001", "µL": "0.000001"},
        "M": {"M": "1", "mM": "0.001", "µM": "0.000001", "nM": "0.000000001"},
    }.items()
    for unit, factor in members.items()
}
"""Units of one dimension as multiples of one base, so that 0.5 g is 500 mg."""

SCALES: dict[str, Decimal] = {
    name: Decimal(10) ** power
    for power, names in {
        1: "십 十",
        2: "hundred 百 백",
        3: "thousand 千 천",
        4: "万 萬 만",
        6: "million mn mln 百万 百萬 백만",
        7: "千万 千萬 천만",
        8: "亿 億 억",
        9: "billion bn",
        12: "trillion tn 兆 조 万亿 萬億",
        15: "quadrillion",
    }.items()
    for name in names.split()
}
SUFFIXES = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "T": 12}
"""One-letter scales written against the number: 10k, 7B. `m` is million after a currency sign only."""

WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen".split()
    )
} | {w: 10 * i for i, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
ORDINALS = {
    word: value
    for value, word in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"
        " seventeenth eighteenth nineteenth twentieth".split(),
        3,
    )
}
MONTHS = {
    name: number
    for number, names in enumerate(
        "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sept|sep october|oct"
        " november|nov december|dec".split(),
        1,
    )
    for name in names.split("|")
}
HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
HANGUL_DIGITS = {c: i for i, c in enumerate("영일이삼사오육칠팔구")}
KOREAN_NATIVE = {"두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10}
HAN_COUNTERS = "个個名位项項种種款篇家条條组組类類倍次代层層步周岁歳人例台台只本章节節大点點届届国國"
KOREAN_COUNTERS = "개|명|가지|번|배|종|건|편|곳|단계|시간|달|살|차례|권|대|마리"

_UNIT_WORD = re.compile(
    r"[ -]?(?P<unit>"
    + "|".join(
        re.escape(a) + (r"(?![A-Za-z0-9])" if a[-1].isascii() and a[-1].isalnum() else "")
        for a in sorted((set(ALIASES) | {e.lower() for e in EXACT}), key=len, reverse=True)
        if a != "-fold"
    )
    + r")(?P<per> ?(?:/|per ) ?(?:[A-Za-zµμ]{1,10}\d?|[天日年月秒时时])(?![A-Za-z]))?",
    re.IGNORECASE | re.ASCII,
)


class Quantity(NamedTuple):
    """A value with its canonical unit at `text[start:end]`.

    `unit` is "" for a plain count; "year", "yearmonth", "date", "decade", "ordinal" and "clock" are kinds
    of their own, with values such as 2024, 202405 and 20240501. `bound` is "~", ">" or "<" where the
    text says about, more than or less than.
    """

    value: Decimal
    unit: str
    start: int
    end: int
    bound: str = ""


def unit_at(text: str, end: int) -> tuple[str, int]:
    """Return the unit written at `end`, canonical, and where it ends; "" where there is none."""
    match = _UNIT_WORD.match(text, end)
    if match is None:
        return "", end
    written = match["unit"]
    unit = EXACT.get(written) or ALIASES.get(written.lower(), "")
    if written in ("a", "in", "A") or (
        written.lower() in ("m", "s", "h", "v", "w", "l", "g", "x") and text[end] == "-"
    ):
        return "", end
    if match["per"]:
        divisor = re.sub(r"^ ?(?:/|per ) ?", "", match["per"])
        known = ALIASES.get(divisor.lower()) or EXACT.get(divisor)
        if known or "/" in match["per"]:
            return f"{unit}/{known or divisor}", match.end()
    return unit, match.end("unit")


Make = Callable[[re.Match[str], str], Quantity | None]
"""Turns a match of its pattern in a text into a quantity, or None where it is no number after all."""
