"""Numbers with their units, scales and dates, in English, Chinese, Japanese and Korean writing.

Extraction first recognises what looks like a number and is none (identifiers, versions, addresses),
then dates, then amounts. Agreement asks that every quantity of a claim stands in the evidence with
the same unit; values are compared exactly, or within a tolerance where the claim says "about".
Patterns are tried only beside digits: to try them at every character would cost most of the time of a check.
"""

import re
from collections.abc import Iterator, Sequence, Set
from decimal import Context, Decimal
from functools import lru_cache
from typing import NamedTuple

from deep_research.i18n.lexicon import any_of, any_word, compile_on_use, groups, words
from deep_research.text.tokens import FULL_WIDTH
from deep_research.claimcheck import units
from deep_research.claimcheck.numerals import ENGLISH_NUMBERS, NUMERAL_EXTRACTORS, ORDINAL_EXTRACTOR
from deep_research.claimcheck.units import (
    BASES,
    CALENDAR,
    CLOCKS,
    DATE_EXTRACTORS,
    DATES,
    DECADES,
    MONTHS,
    SCALES,
    SUFFIXES,
    Make,
    Quantity,
    same_date,
    unit_at,
)

_DIGIT_RUN = re.compile(r"\d+", re.ASCII)
_WORD_START = re.compile(r"\b\w|(?<!\d)\d", re.ASCII)
_WORD = re.compile("[a-z]+")
_OTHER_SCRIPT = compile_on_use("[\u1100-\u1fff\u2100-\U0010ffff]")
_SIGNS_BEFORE = " -$€£¥₩"
_LONGEST_SIGN = 8
"""Characters before a digit in which its sign, currency and spaces stand."""


def is_western(text: str) -> bool:
    """Return whether `text` holds no sign of a script in which numerals are no Arabic digits."""
    return not _OTHER_SCRIPT.search(text)


def has_word_of(text: str, words: Set[str]) -> bool:
    """Return whether one of these words, in small letters, stands in `text`."""
    return not words.isdisjoint(_WORD.findall(text.lower()))


def find_amounts(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that is a sign, spaces and digits with no letter, digit, "_" or "." before them."""
    end = 0
    for digits in _DIGIT_RUN.finditer(text):
        first = digits.start()
        reach = _LONGEST_SIGN if text[first - 1 : first] in _SIGNS_BEFORE else 0
        for start in range(max(end, first - reach), first + 1):
            if match := pattern.match(text, start):
                yield match
                end = match.end()
                break


def find_from_words(pattern: re.Pattern[str], text: str, *, reach: int) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that begins with digits, or with a word at most `reach` characters before some.

    `reach` -1 stands for the two words, parted by one space, before the digits: their own and the one before it.
    """
    end = 0
    for digits in _DIGIT_RUN.finditer(text):
        first = digits.start()
        begin = max(end, first - reach) if reach >= 0 else _two_words_back(text, end, first)
        for word in _WORD_START.finditer(text, begin, digits.end()):
            if word.start() >= end and (match := pattern.match(text, word.start())):
                yield match
                end = match.end()
        end = max(end, first)


def _two_words_back(text: str, begin: int, digit: int) -> int:
    space = max(begin, text.rfind(" ", begin, digit))
    return max(begin, text.rfind(" ", begin, space) + 1)


class Agreement(NamedTuple):
    """Whether the quantities of a claim stand in the evidence; `missing` are those that do not.

    `there` is how the first missing one is written in the evidence, where only its unit differs.
    """

    ok: bool
    missing: tuple[Quantity, ...] = ()
    there: str = ""


TOLERANCE = Decimal("0.05")
"""How far a number may be off, relatively, where the claim says "about"."""
REACH = Decimal("1.5")
"""Up to which multiple "more than 1,000" is a fair account of the number in the evidence."""

# One character becomes one character, so that offsets stay those of the text.
_PLAIN = (
    FULL_WIDTH
    | dict.fromkeys(map(ord, "\u00a0\u2009\u202f\u2007\u3000"), " ")
    | str.maketrans(
        {
            "\u2212": "-",
            "—": "–",
            "\ufe63": "-",
            "\u301c": "~",
            "\u223c": "~",
            "\u2010": "-",
            "\u2011": "-",
            "\uffe1": "£",
            "\uffe5": "¥",
            "\uffe6": "₩",
        }
    )
)

_NOT_NUMBERS = re.compile(
    r"https?://[!-~]+|www\.[!-~]+|\bdoi:[!-~]+|\b10\.\d{4,}/[!-~]+|\barXiv:\s?[!-~]+|[!-~]{1,64}@[!-~]{1,64}\.[!-~]{1,64}"
    r"|\b\d+(?:\.\d+){2,}\b"  # 1.2.3
    r"|\b[vV]\d+(?:\.\d+)*\b"
    r"|\b[A-Za-z][\w+-]{0,40}\(\d[a-z]{0,2}\)"  # the section of a manual page: printf(3)
    rf"|\b(?!(?i:{'|'.join(sorted(MONTHS, key=len, reverse=True))})-\d{{4}}\b)"
    r"(?![Uu][Ss]\b)[A-Za-z][A-Za-z0-9]{0,40}(?:[-_./][A-Za-z0-9]{1,40}){0,5}[-_./]?\d[A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*"  # GPT-4, H100
    r"|\b[A-Z]\w*(?<!\bThe)(?<!\bOf)(?<!\bIn)(?<!\bAbout)(?<!\bOver)(?<!\bBy)(?<!\bAt)(?<!\bFrom)(?<!\bTo)(?<!\bWith)"
    r"(?<!\bAn)(?<!\bAnd)(?<!\bNearly)(?<!\bUSD)(?<!\bEUR)(?<!\bGBP)(?<!\bRMB)(?<!\bCNY)"
    r" \d{1,2}\.\d{1,2}(?=[\s,;:)]*(?:$|[.,;:)]|[^\x00-\x7f]|\s(?:and|or|is|was|has|to|on|in|with|adds|added|does|introduced|supports)\b))"
    r"|\bversions? \d+(?:\.\d+)*",
    re.ASCII,
)
_NAMED_ORDINAL = compile_on_use(any_word("numerals.ordinal_name_patterns"))
_DIGITS = r"(?:\d+,\d{1,2}(?= ?%)|\d{1,3}(?:,\d{3})+(?!\d)|(?<![\d.])\d{1,3}(?: \d{3})+(?![\d,])|\d+)(?:\.\d+)?"
_SCALE = "|".join(sorted((s for s in SCALES if not s.isascii()), key=len, reverse=True))


def _scales(*powers: int) -> str:
    return any_of(name for name, value in SCALES.items() if value.adjusted() in powers and not name.isascii())


_COMPOSITE = rf"{_scales(8, 12)}(?: ?\d[\d,.]* ?{_scales(8)})?(?: ?\d[\d,.]* ?{_scales(4, 7)})"
_THOUSANDS = rf"{_scales(4)} ?(?:\d ?{_scales(3)}|\d{{4}}(?! ?\d| ?{any_of(words('dates.year_marks'))}))"
_WORD_SCALE = "hundred|thousand|million|billion|trillion|quadrillion|mln|mn|bn|tn"
_SIGN = r"US\$|NT\$|HK\$|A\$|C\$|[$€£¥₩]|\b(?:USD|EUR|GBP|RMB|CNY|JPY|KRW) ?"
_AMOUNT = re.compile(
    rf"(?P<sign>{_SIGN})? ?(?P<minus>(?<![A-Za-z0-9_)\]]) ?-|(?<=\s)-)?(?<![A-Za-z0-9_.])(?P<digits>{_DIGITS})"
    rf"(?:(?P<suffix>(?-i:[kKMBbT])(?![A-Za-z0-9/])|(?:bn|mn|tn)\b|(?(sign)m(?![A-Za-z0-9])|(?!)))|[ -]?(?P<scale>(?:{_WORD_SCALE})s?)\b(?! to one)"
    rf"|(?P<han> ?(?:{_COMPOSITE}|{_THOUSANDS}|{_SCALE})))?",
    re.IGNORECASE | re.ASCII,
)
_FRACTION = re.compile(r"(?<![\d/.])(?P<n>\d{1,3})/(?P<d>\d{1,4})(?![\d/])")
_AFTER_ABOUT = re.compile(rf"\s?{any_word('numbers.about_behind_patterns')}")
_BEFORE = re.compile(
    rf"(?:(?P<about>{any_word('numbers.about_patterns')})|(?P<more>{any_word('numbers.more_patterns')})"
    rf"|(?P<less>{any_word('numbers.less_patterns')}))[ ]?(?:the |a )?[$€£¥₩]?$",
    re.IGNORECASE | re.ASCII,
)
_RANGE = re.compile(rf"\s?{any_word('numbers.range_patterns')}\s?")
_JOIN = re.compile(rf"\s?(?:{any_word('numbers.range_patterns')}|{any_word('numbers.series_patterns')})\s?")
_NO_UNIT = re.compile(any_word("numbers.no_unit_patterns"))
"""What looks like a unit behind a number and is a verb."""
_DOTTED_TIME = re.compile(r"(?<=\d)\.(?=(?:second|minute|hour|day|week|month|year)s?\b)")
"""How Git writes a time ("2.weeks.ago")."""
_YEAR_MARKS = words("dates.year_marks")
_LETTER = re.compile("[A-Za-z]")
_CELSIUS_BEFORE = re.compile(rf"{any_word('numerals.celsius_prefix')} ?$")
_AGE_BEFORE = re.compile(r"\baged? (?:of )?$")
_DEGREES = words("numerals.degrees")
_PERCENT_BEFORE = re.compile(rf"{any_word('numerals.percent_prefix_patterns')}$")


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of `text` in order; identifiers, versions and addresses are none."""
    return list(_quantities(text))


@lru_cache(maxsize=2048)
def _quantities(text: str) -> tuple[Quantity, ...]:
    """A passage is asked for once per claim that cites it."""
    plain = text if text.isascii() else text.translate(_PLAIN)
    if "\n" in plain:  # a line may be broken between a number and its unit
        plain = _BROKEN.sub(" ", plain)
    plain = _DOTTED_TIME.sub(" ", plain)
    plain = _NAMED_ORDINAL.sub(lambda name: " " * len(name[0]), plain) if not plain.isascii() else plain
    plain = _NO_UNIT.sub(lambda verb: " " * len(verb[0]), plain)
    found: list[Quantity] = []
    left = _blank(plain, [match.span() for match in _find_others(plain)])
    for pattern, make in _EXTRACTORS if _DIGIT.search(left) else (ORDINAL_EXTRACTOR, *NUMERAL_EXTRACTORS):
        made = [quantity for match in _find(pattern, left) if (quantity := make(match, left))]
        if made:
            found.extend(quantity._replace(bound=_bound(left, quantity)) for quantity in made)
            left = _blank(left, [(quantity.start, quantity.end) for quantity in made])
    return tuple(_share_units(sorted(found, key=lambda q: q.start), plain))


def _find_others(text: str) -> Iterator[re.Match[str]]:
    """Yield what looks like a number and is none."""
    if any(sign in text for sign in _ADDRESS_SIGNS):
        return _NOT_NUMBERS.finditer(text)
    return find_from_words(_NOT_NUMBERS, text, reach=-1)


def _find(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of an extractor's pattern, which is tried only where it can match."""
    if pattern is _AMOUNT:
        return find_amounts(pattern, text)
    if pattern is DATES:
        return find_from_words(pattern, text, reach=_LONGEST_MONTH)
    if not _may_hold(pattern, text):
        return iter(())
    return pattern.finditer(text)


def _may_hold(pattern: re.Pattern[str], text: str) -> bool:
    """Tell whether a text has the signs without which a pattern matches nothing."""
    if pattern in _SIGN_OF:
        return _SIGN_OF[pattern] in text
    if not is_western(text):
        return True
    if pattern is ORDINAL_EXTRACTOR[0]:
        return bool(_ORDINAL_ENDING.search(text)) or has_word_of(text, units.ORDINALS.keys())
    if pattern is DECADES:
        return bool(_DECADE_ENDING.search(text))
    return pattern is ENGLISH_NUMBERS and has_word_of(text, units.WORDS.keys())


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace what was recognised by a neutral character, so that no later pattern reads it again."""
    if not spans:
        return text
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "\x00" * (end - start)
    return "".join(characters)


def _amount(match: re.Match[str], text: str) -> Quantity | None:
    digits = match["digits"].replace(" ", "")
    decimal_comma = re.fullmatch(r"\d+,\d{1,2}", digits)
    value = Decimal(digits.replace(",", "." if decimal_comma else ""))
    value *= _scale(match)
    if match["han"]:
        value += sum(_composite(match["han"]))
    if match["minus"]:
        value = -value
    end = match.end()
    sign = (match["sign"] or "").strip()
    unit, end = unit_at(text, end)
    if sign:
        unit = units.SIGNS.get(sign) or units.CODES.get(sign.upper(), "")
    elif not unit and _LETTER.match(text, end):
        return None  # 3D, 5HT: an identifier
    if _is_year(match, text) and (not unit or text[end - 1] in _YEAR_MARKS):
        unit = "year"
    if not unit and _AGE_BEFORE.search(text, match.start("digits") - 12, match.start("digits")):
        unit = "years"
    start = match.start("sign") if sign else match.start("minus") if match["minus"] else match.start("digits")
    if not unit and _CELSIUS_BEFORE.search(text, start - 4, start) and text[end : end + 1] in _DEGREES:
        unit, end = "°C", end + 1
    if not unit and (prefix := _PERCENT_BEFORE.search(text, start - 12, start)):
        unit, start = "%", prefix.start()
    return Quantity(value, unit, start, end)


def _scale(match: re.Match[str]) -> Decimal:
    if match["suffix"]:
        suffix = match["suffix"]
        return SCALES.get(suffix.lower()) or Decimal(10) ** SUFFIXES[suffix]
    if match["scale"]:
        return SCALES[match["scale"].lower().removesuffix("s")]
    if match["han"] and (first := re.match(rf" ?({_SCALE})", match["han"])):
        return SCALES[first[1]]
    return Decimal(1)


def _composite(tail: str) -> Iterator[Decimal]:
    """The later parts of 3亿5000万, 3억 5천만, or 3万5千."""
    for digits, scale in re.findall(rf"(\d[\d,.]*) ?({_SCALE})?", tail):
        yield Decimal(digits.replace(",", "").strip(".")) * (SCALES[scale] if scale else 1)


def _is_year(match: re.Match[str], text: str) -> bool:
    digits = match["digits"]
    plain = (
        len(digits) == 4
        and digits.isdigit()
        and not (match["scale"] or match["suffix"] or match["han"] or match["sign"])
    )
    return plain and 1000 <= int(digits) <= 2199


def _fraction(match: re.Match[str], text: str) -> Quantity | None:
    if int(match["d"]) == 0:
        return None
    return Quantity(
        (Decimal(match["n"]) / Decimal(match["d"])).quantize(Decimal("0.000001")),
        "fraction",
        match.start(),
        match.end(),
    )


_BROKEN = re.compile(r"(?<=\d)\n(?=[^\W\d_])")
_DIGIT = re.compile(r"\d")
_ADDRESS_SIGNS = ("://", "www.", "@", "doi:", "arXiv:")
_SIGN_OF = {CLOCKS: ":", _FRACTION: "/"}
_ORDINAL_ENDING = re.compile(r"\d(?:st|nd|rd|th)", re.IGNORECASE)
_DECADE_ENDING = re.compile("0['’]?s")
_LONGEST_MONTH = 24
"""Characters before the digits of a date in which its month stands."""

_EXTRACTORS: tuple[tuple[re.Pattern[str], Make], ...] = (
    *DATE_EXTRACTORS,
    (_FRACTION, _fraction),
    ORDINAL_EXTRACTOR,
    (_AMOUNT, _amount),
    *NUMERAL_EXTRACTORS,
)


def _bound(text: str, quantity: Quantity) -> str:
    if _AFTER_ABOUT.match(text, quantity.end):
        return "~"
    match = _BEFORE.search(text, quantity.start - 24, quantity.start)
    if match is None or (match["more"] == "over" and unit_base(quantity.unit) in _PERIODS):
        return ""  # "over 26 weeks" is how long it took
    return "~" if match["about"] else ">" if match["more"] else "<"


def _share_units(found: list[Quantity], text: str) -> list[Quantity]:
    """In "10–20 mg" and "5, 10 and 15 %" the unit stands once and holds for all; so does the scale of a range."""
    for index in range(len(found) - 2, -1, -1):
        this, following = found[index], found[index + 1]
        between = text[this.end : following.start]
        if _RANGE.fullmatch(between):
            if this.unit == "year" and not following.unit and this.value % 100 < following.value < 100:
                found[index + 1] = following._replace(unit="year", value=this.value // 100 * 100 + following.value)
            this = this._replace(value=this.value * _shared_scale(this, following, text))
            if this.unit in _MONEY and following.unit == "":
                found[index + 1] = following._replace(unit=this.unit)
        if this.unit == "" and following.unit not in _KINDS and _JOIN.fullmatch(between):
            this = this._replace(unit=following.unit)
        found[index] = this
    return found


def _shared_scale(this: Quantity, following: Quantity, text: str) -> Decimal:
    """The scale of the second number of a range, where the first was written without one: 1–2 million."""
    written = re.match(r"\D*(\d+(?:\.\d+)?)", text[following.start : following.end])
    if written is None or not 0 < this.value <= Decimal(written[1]) or following.value <= Decimal(written[1]):
        return Decimal(1)
    return following.value / Decimal(written[1])


_FALL = re.compile(any_word("numbers.fall_patterns"), re.IGNORECASE)
_OFTEN = {
    unit: re.compile(rf"\s{any_of(listed, literal=False)}", re.IGNORECASE) for unit, listed in groups("often").items()
}
_FALL_AFTER = re.compile(rf"\s?{any_word('numbers.fall_behind_patterns')}")
_KINDS = frozenset({"year", "yearmonth", "date", "decade", "ordinal", "clock", "fraction"})
_PERIODS = frozenset({"s", "day", "month"})
_MONEY = frozenset({"usd", "eur", "gbp", "cny", "jpy", "krw", "¥"})


def numbers_agree(claim: str, evidence: str, wanted: Sequence[Quantity] | None = None) -> Agreement:
    """Return whether every quantity of `claim` (or those `wanted` of it) stands in `evidence` with the same unit.

    A claim without quantities agrees.
    """
    wanted = quantities(claim) if wanted is None else wanted
    there = quantities(evidence) if wanted else []
    missing = tuple(
        q
        for q in wanted
        if not any(same(q, other, evidence) for other in there)
        and not _is_version(claim, q, evidence)
        and not _is_said_in_words(q, evidence)
    )
    other = next((q for q in there if missing and q.value == missing[0].value), None)
    return Agreement(not missing, missing, evidence[other.start : other.end].strip() if other else "")


def _is_said_in_words(quantity: Quantity, evidence: str) -> bool:
    """Tell whether the evidence says a number with an English word that is not always one: "the first call", "a gigabyte"."""
    if quantity.unit == "ordinal" and quantity.value in _FIRST_ORDINALS:
        return _FIRST_ORDINALS[quantity.value].search(evidence) is not None
    if quantity.value != 1 or quantity.unit in ("", "ordinal", "s"):  # "a second column"
        return False
    return any(unit_at(evidence, one.end())[0] == quantity.unit for one in _ONE.finditer(evidence))


_FIRST_ORDINALS = {
    Decimal(1): re.compile(r"\bfirst\b", re.IGNORECASE),
    Decimal(2): re.compile(r"\bsecond (?!s\b)", re.IGNORECASE),
}
_ONE = re.compile(r"(?<!times )(?<!once )(?<!\w)an? (?=\w)", re.IGNORECASE)


def _is_version(claim: str, quantity: Quantity, evidence: str) -> bool:
    """Tell whether a number stands in the evidence as that of a version, or of a series of them ("version 3.9", "3.11" of
    "3.11.2"; behind a name also "GPL 1" of "GPL (versions 1, 2)"), or a long one in an address or identifier
    ("bugs/581186")."""
    number = claim[quantity.start : quantity.end].strip()
    if re.fullmatch(r"\d{1,3}", number) and _BEHIND_NAME.search(claim[: quantity.start]):
        return re.search(rf"\bversions? {number}(?![\d.]*\d)", evidence) is not None
    if re.fullmatch(r"\d+\.\d+|\d{4,}", number) is None:
        return False
    return any(
        number in found[0] and re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", found[0])
        for found in _find_others(evidence)
    )


_BEHIND_NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z+#-]* ?v?$")


def _by_value(found: Sequence[Quantity]) -> dict[tuple[Decimal, str, str], Quantity]:
    """Return one quantity for each value that is written in the same way: what is repeated is compared once."""
    return {(q.value, q.unit, q.bound): q for q in found}


def _distinct(found: Sequence[Quantity]) -> list[Quantity]:
    """Return the first and the last quantity of each value: what stands around them may say that it fell."""
    return list(dict.fromkeys([*_by_value(found[::-1]).values(), *_by_value(found).values()]))


def same(claim: Quantity, there: Quantity, evidence: str) -> bool:
    """Return whether `there`, a quantity of the text `evidence`, says what the quantity `claim` says."""
    if claim.unit in CALENDAR and there.unit in (*CALENDAR, ""):
        return same_date(claim, there)
    claim_value, claim_unit = _base(claim)
    there_value, there_unit = _base(there)
    if claim_unit != there_unit:
        if not _is_compatible(claim, there, evidence):
            return False
        claim_value, there_value = claim.value, there.value
    if claim_value < 0 and _falls(there, evidence):
        there_value = -abs(there_value)
    return _close(claim_value, there_value, claim.bound, there.bound)


def _falls(there: Quantity, evidence: str) -> bool:
    """Tell whether a number is how far something fell: "fell by 2.3", "2.3% 감소"; a claim may write it with a minus."""
    before, after = evidence[max(0, there.start - 60) : there.start], evidence[there.end : there.end + 12]
    clause = re.split(r"[.;!?。；！？]\s", before)[-1]
    return bool(_FALL.search(clause)) or bool(_FALL_AFTER.match(after))


def unit_base(unit: str) -> str:
    """Return the unit that `unit` is measured in together with its like: "g" for "mg", "m/s" for "km/h"."""
    return _in_base(unit)[0]


def _in_base(unit: str) -> tuple[str, Decimal]:
    """Return the base of a unit or of a rate, and how many of it one is."""
    if "/" not in unit:
        return BASES.get(unit, (unit, Decimal(1)))
    of, per = (_in_base(part) for part in unit.rsplit("/", 1))
    return f"{of[0]}/{per[0]}", of[1] / per[1]


_EXACT_TO = Context(prec=20)
"""Digits in which two values are compared: a seventh of 35 is 5."""


def _base(quantity: Quantity) -> tuple[Decimal, str]:
    base, factor = _in_base(quantity.unit)
    return _EXACT_TO.multiply(quantity.value, factor), base


def _is_compatible(claim: Quantity, there: Quantity, evidence: str) -> bool:
    pair = {claim.unit, there.unit}
    of, _, per = claim.unit.rpartition("/")
    if of == there.unit and per in _OFTEN and _OFTEN[per].match(evidence, there.end):
        return True
    if of and there.unit.startswith(f"{claim.unit}/"):
        return True  # "5 mg/kg" of 5 mg/kg/day: the time of a dose by weight may be left out
    if pair == {"pp", ""}:
        return _is_in_points(there, evidence) or _is_header_unit(claim.unit, evidence)
    # A count may carry its unit in the noun: grade 9 (9th grade).
    if pair <= {"", "year"} or pair == {"", "ordinal"} or ("¥" in pair and pair <= {"¥", "cny", "jpy"}):
        return True
    return there.unit == "" and _is_header_unit(claim.unit, evidence)


@lru_cache(maxsize=512)
def _is_header_unit(unit: str, text: str) -> bool:
    """Tell whether a unit stands in the header of a table: | accuracy (%) |."""
    return re.search(rf"\({re.escape(unit)}(?![a-z0-9])", text, re.IGNORECASE) is not None


def _is_in_points(quantity: Quantity, text: str) -> bool:
    """Tell whether "points" follow a number: "by 2.30 percentage points, and by 1.86 points"."""
    return re.match(r"\s?points?\b", text[quantity.end : quantity.end + 8]) is not None and "percentage" in text


def _close(claim: Decimal, there: Decimal, bound: str, there_bound: str) -> bool:
    """Tell whether the values agree. Where both are rounded, or both limits, they are the same number or none."""
    if claim == there or (claim > 0 and claim == -there):
        return {bound, there_bound} != {"<", ">"}
    if bound == there_bound:
        return False
    if bound == "~":
        return abs(claim - there) <= abs(there) * TOLERANCE
    if bound == ">":
        return claim <= there <= claim * REACH
    if bound == "<":
        return claim / REACH <= there <= claim
    return False
