"""Numbers written in words: English, Chinese and Korean numerals, and ordinals."""

import re
from decimal import Decimal

from deep_research.verification import units
from deep_research.verification.units import SCALES, Make, Quantity, unit_at

_HAN_NUMBER = re.compile(
    r"百分之(?P<pct>[零〇一二三四五六七八九十百两点\d.]+)"
    r"|(?<![第数數几幾上零〇一二三四五六七八九十百千万亿\d])(?P<han>[一二三四五六七八九两兩十百千万萬亿億零〇]{2,})(?![一-九]?分之)"
    rf"|(?<![第数數几幾一-鿿\d])(?P<one>[二三四五六七八九两兩十])(?=[{units.HAN_COUNTERS}年月天]|小时|分钟)"
    rf"|(?<=[共有为了用包含分的过在前后近约及和与、，。：:；])(?P<two>[二三四五六七八九两兩十])(?=[{units.HAN_COUNTERS}年天]|小时|分钟)"
)
_HAN_IDIOMS = frozenset(
    "十分 千万 万一 一一 万千 百万 亿万 千百 万万 三七 百千 一二 二三 三四 七八 九十 一万万".split()
) - {"九十"}
_KOREAN_NUMBER = re.compile(
    rf"(?<![가-힣])(?!세대)(?P<native>{'|'.join(units.KOREAN_NATIVE)})(?= ?(?:{units.KOREAN_COUNTERS}))"
    r"|(?<![가-힣\d])(?P<sino>[일이삼사오육칠팔구]?(?:[십백천만억][일이삼사오육칠팔구]?)+)(?= ?(?:퍼센트|년|개월|개|명|원|달러|배))"
)
_WORD = "|".join(sorted(units.WORDS, key=len, reverse=True))
_ENGLISH_NUMBER = re.compile(
    rf"\b(?P<words>(?:{_WORD})(?:[ -](?:and )?(?:{_WORD}|hundred|thousand|million|billion|trillion))*)\b(?!-(?:party|sided))",
    re.IGNORECASE | re.ASCII,
)
_ORDINAL = re.compile(
    rf"\b(?P<digits>\d{{1,4}})(?:st|nd|rd|th)\b|(?<!one )(?<!one-)(?<!two )(?<!two-)(?<!a )\b(?P<word>{'|'.join(units.ORDINALS)})\b(?!s|-part)"
    r"|第 ?(?P<han>[一二三四五六七八九十]{1,3}|\d+)|제 ?(?P<ko>\d+)(?=[가-힣 ])",
    re.IGNORECASE | re.ASCII,
)


def _han(match: re.Match[str], text: str) -> Quantity | None:
    if match["pct"]:
        return Quantity(_han_value(match["pct"]), "%", match.start(), match.end())
    numeral = match["han"] or match["one"] or match["two"]
    if match["han"] and (
        numeral in _HAN_IDIOMS or not set(numeral) & set("十百千万萬亿億") or not _well_formed(numeral)
    ):
        year = re.fullmatch("[一二][零〇一二三四五六七八九]{3}", numeral)
        if year and text[match.end() : match.end() + 1] == "年":
            value = Decimal("".join(str(units.HAN_DIGITS[c]) for c in numeral))
            return Quantity(value, "year", match.start(), match.end() + 1)
        return None
    unit, end = unit_at(text, match.end())
    return Quantity(_han_value(numeral), unit, match.start(), end)


def _well_formed(numeral: str) -> bool:
    """Whether a run of numerals is a number: 三千五百, not 千千 or 一二."""
    return bool(
        re.fullmatch(
            r"(?:[一二三四五六七八九两兩]?[十百千](?:[零〇]?[一二三四五六七八九])?|[一二三四五六七八九两兩])*(?:[万萬亿億]+.*)?",
            numeral,
        )
    ) and (numeral[0] not in "百千万萬亿億零〇")


def _han_value(numeral: str) -> Decimal:
    """The value of 三百二十 or 一点五; Arabic digits pass through."""
    if numeral.isascii():
        return Decimal(numeral.strip(".") or "0")
    whole, _, fraction = numeral.partition("点")
    value = _positional(whole, units.HAN_DIGITS)
    if fraction:
        value += Decimal("0." + "".join(str(units.HAN_DIGITS.get(c, 0)) for c in fraction))
    return value


def _positional(numeral: str, digits: dict[str, int]) -> Decimal:
    total = section = Decimal(0)
    digit: int | None = None
    for char in numeral:
        if char in digits:
            digit = digits[char]
        elif SCALES.get(char, Decimal(0)) >= 10000:
            total = (total + section + (digit or 0)) * SCALES[char] if total + section + (digit or 0) else SCALES[char]
            section, digit = Decimal(0), None
        elif char in SCALES:
            section += (1 if digit is None else digit) * SCALES[char]
            digit = None
    return total + section + (digit or 0)


def _korean(match: re.Match[str], text: str) -> Quantity | None:
    if match["native"]:
        value = Decimal(units.KOREAN_NATIVE[match["native"]])
        if text[match.end() :].lstrip().startswith("번째"):
            return Quantity(value, "ordinal", match.start(), match.end())
    elif len(match["sino"]) < 2:
        return None
    else:
        value = _positional(match["sino"], units.HANGUL_DIGITS)
    unit, end = unit_at(text, match.end())
    return Quantity(value, unit, match.start(), end)


def _english(match: re.Match[str], text: str) -> Quantity | None:
    words = re.split(r"[ -]+", match["words"].lower())
    unit, end = unit_at(text, match.end())
    if words == ["one"] and unit not in ("%", "pp", "week", "month", "day", "h"):
        return None
    total = section = Decimal(0)
    for word in words:
        if word == "hundred":
            section = (section or Decimal(1)) * 100
        elif word in SCALES:
            total += (section or Decimal(1)) * SCALES[word]
            section = Decimal(0)
        elif word != "and":
            section += units.WORDS[word]
    return Quantity(total + section, unit, match.start(), end)


def _ordinal(match: re.Match[str], text: str) -> Quantity | None:
    if match["word"]:
        value = Decimal(units.ORDINALS[match["word"].lower()])
    else:
        value = _han_value(match["han"]) if match["han"] else Decimal(match["digits"] or match["ko"])
    return Quantity(value, "ordinal", match.start(), match.end())


ORDINAL_EXTRACTOR: tuple[re.Pattern[str], Make] = (_ORDINAL, _ordinal)
"""Tried before the amounts: 3rd is not 3."""
NUMERAL_EXTRACTORS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (_HAN_NUMBER, _han),
    (_KOREAN_NUMBER, _korean),
    (_ENGLISH_NUMBER, _english),
)
"""Tried after the amounts, in this order."""
