"""Read numbers written in words: English, Chinese and Korean, and ordinals."""

import re
from collections.abc import Mapping
from decimal import Decimal

from claimcheck.language import HANGUL
from claimcheck.lexicon import any_of, any_word, compile_on_use, entry, table, words
from claimcheck.text import measures
from claimcheck.text.measures import SCALES, Make, Quantity, unit_at

_HAN_DIGITS: Mapping[str, int] = table("numerals.digits")
_SINO_DIGITS: Mapping[str, int] = table("numerals.sino_digits")
_NATIVE: Mapping[str, int] = table("numerals.native")
_POINT: str = entry("numerals.point", "zh")
_ZEROS = "".join(sign for sign, value in _HAN_DIGITS.items() if value == 0)
_ONES = "".join(sign for sign, value in _HAN_DIGITS.items() if value)
_TENS = "".join(sign for sign, value in SCALES.items() if len(sign) == 1 and value < 10_000)
_MYRIADS = "".join(sign for sign in SCALES if len(sign) == 1 and sign not in _TENS)
_HAN_NUMBER = compile_on_use(
    rf"{any_word('numerals.percent_prefix_patterns')}(?P<pct>\d[\d.]*|[{_ZEROS}{_ONES}{_TENS}]+(?:[{_POINT}][{_ZEROS}{_ONES}]+)?)"
    rf"|{any_word('numerals.decimal_patterns')}"
    rf"|(?P<run>{any_word('numerals.run_patterns')})|(?P<single>{any_word('numerals.single_patterns')})"
)
_HAN_IDIOMS = frozenset(words("numerals.idioms"))
_HAN_DATE = compile_on_use(
    rf"(?P<year>[{_ONES}][{_ZEROS}{_ONES}]{{3}}){any_word('dates.year_marks', 'zh')}(?P<month>[{_ONES}{_TENS}]{{1,3}})"
    rf"{any_word('dates.month_marks', 'zh')}(?:(?P<day>[{_ONES}{_TENS}]{{1,3}}){any_word('dates.day_marks', 'zh')})?"
)
_HAN_YEAR = compile_on_use(f"[{_ONES}][{_ZEROS}{_ONES}]{{3}}")
_HAN_WELL_FORMED = compile_on_use(rf"(?:[{_ONES}]?[{_TENS}](?:[{_ZEROS}]?[{_ONES}])?|[{_ONES}])*(?:[{_MYRIADS}].*)?")
_KOREAN_NUMBER = compile_on_use(
    rf"(?<![{HANGUL}])(?!{any_word('numerals.no_native_patterns')})(?P<native>{any_of(_NATIVE)})"
    rf"(?= ?{any_word('numerals.native_counter_patterns')})"
    rf"|(?<![{HANGUL}\d])(?P<sino>{any_word('numerals.sino_patterns')})(?= ?{any_word('numerals.sino_counter_patterns')})"
)
_HAN_PREFIX = any_word("numerals.ordinal_prefix_patterns", "zh")
_KOREAN_PREFIX = any_word("numerals.ordinal_prefix_patterns", "ko")


def _english_words(low: int, high: int) -> str:
    return any_of(word for word, value in measures.WORDS.items() if low <= value <= high)


_BELOW_100 = rf"(?:{_english_words(20, 90)}(?:[ -]{_english_words(1, 9)})?|{_english_words(0, 19)})\b"
_ENGLISH_NUMBERS = compile_on_use(
    rf"\b(?P<words>{_BELOW_100}(?:[ -](?:hundred|thousand|million|billion|trillion)\b(?:[ -](?:and )?{_BELOW_100})?)*)"
    r"(?!-(?:party|sided))",
    re.IGNORECASE | re.ASCII,
)
_ORDINAL = compile_on_use(
    rf"\b(?P<digits>\d{{1,4}})(?:st|nd|rd|th)\b|(?<!one )(?<!one-)(?<!two )(?<!two-)(?<!a )\b(?P<word>{'|'.join(measures.ORDINALS)})\b(?!s|[- ]part(?:y|ies)\b)"
    rf"|{_HAN_PREFIX} ?(?P<han>[{_ONES}{_TENS}]{{1,3}}|\d+)|{_KOREAN_PREFIX} ?(?P<ko>\d+)(?=[{HANGUL} ])",
    re.IGNORECASE | re.ASCII,
)


def _han(match: re.Match[str], text: str) -> Quantity | None:
    if match["pct"]:
        return Quantity(_han_value(match["pct"]), "%", match.start(), match.end())
    unit, end = unit_at(text, match.end())
    if match["decimal"]:
        scale = _positional(match["scale"], _HAN_DIGITS) if match["scale"] else 1
        return Quantity(_han_value(match["decimal"]) * scale, unit, match.start(), end)
    numeral = match["run"] or match["single"]
    # 三千五百 is a number, 千千 and 一二 are none.
    is_formed = _HAN_WELL_FORMED.fullmatch(numeral) and (numeral[0] in _ONES or SCALES.get(numeral[0]) == 10)
    is_number = is_formed and numeral not in _HAN_IDIOMS and set(numeral) & {*_TENS, *_MYRIADS}
    if match["run"] and not is_number:
        mark = text[match.end() : match.end() + 1]
        if _HAN_YEAR.fullmatch(numeral) and mark in words("dates.year_marks", "zh"):
            value = Decimal("".join(str(_HAN_DIGITS[c]) for c in numeral))
            return Quantity(value, "year", match.start(), match.end() + 1)
        return None
    return Quantity(_han_value(numeral), unit, match.start(), end)


def _han_date(match: re.Match[str], text: str) -> Quantity | None:
    year = Decimal("".join(str(_HAN_DIGITS[sign]) for sign in match["year"]))
    month, day = (_han_value(match[part]) if match[part] else Decimal(0) for part in ("month", "day"))
    if not (1 <= month <= 12 and day <= 31):
        return None
    value = (year * 100 + month) * (100 if day else 1) + day
    return Quantity(value, "date" if day else "yearmonth", match.start(), match.end())


def _han_value(numeral: str) -> Decimal:
    """Return the value of 三百二十 or 一点五; Arabic digits pass through."""
    if numeral.isascii():
        return Decimal(numeral.strip("."))
    whole, *fraction = re.split(f"[{_POINT}]", numeral)
    digits = "".join(str(_HAN_DIGITS[sign]) for sign in "".join(fraction))
    return _positional(whole, _HAN_DIGITS) + (Decimal(f"0.{digits}") if digits else 0)


def _positional(numeral: str, digits: Mapping[str, int]) -> Decimal:
    """Return the value of a numeral in tens and myriads: 三亿五千万 is 3,5000,0000."""
    total = section = Decimal(0)
    digit: int | None = None
    for char in numeral:
        if char in digits:
            digit = digits[char]
            continue
        scale = SCALES[char]
        if scale < 10_000:
            section += (1 if digit is None else digit) * scale
        else:
            section += digit or 0
            total = (total + section) * scale if 0 < total < scale else total + (section or 1) * scale
            section = Decimal(0)
        digit = None
    return total + section + (digit or 0)


def _korean(match: re.Match[str], text: str) -> Quantity | None:
    if match["native"]:
        value = Decimal(_NATIVE[match["native"]])
        if text[match.end() :].lstrip().startswith(entry("numerals.ordinal_suffix", "ko")):
            return Quantity(value, "ordinal", match.start(), match.end())
    elif len(match["sino"]) < 2:
        return None
    else:
        value = _positional(match["sino"], _SINO_DIGITS)
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
            section *= 100
        elif word in SCALES:  # "two thousand million" is a product, "two million five thousand" a sum
            total = total + section * SCALES[word] if section else total * SCALES[word]
            section = Decimal(0)
        elif word != "and":
            section += measures.WORDS[word]
    return Quantity(total + section, unit, match.start(), end)


def _ordinal(match: re.Match[str], text: str) -> Quantity | None:
    if match["word"]:
        value = Decimal(measures.ORDINALS[match["word"].lower()])
    else:
        value = _han_value(match["han"]) if match["han"] else Decimal(match["digits"] or match["ko"])
    return Quantity(value, "ordinal", match.start(), match.end())


ORDINAL_EXTRACTOR: tuple[re.Pattern[str], Make] = (_ORDINAL, _ordinal)
"""Tried before the amounts: 3rd is not 3."""
CJK_EXTRACTORS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (_HAN_DATE, _han_date), (_HAN_NUMBER, _han), (_KOREAN_NUMBER, _korean),
)  # fmt: skip
"""They match nothing in ASCII."""
ENGLISH_EXTRACTOR: tuple[re.Pattern[str], Make] = (_ENGLISH_NUMBERS, _english)
