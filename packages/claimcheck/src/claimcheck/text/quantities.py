"""Numbers with units, scales and dates, in English, Chinese, Japanese and Korean.

Extraction first recognises what looks like a number and is none (identifiers, versions, addresses), then dates, then
amounts. The longest patterns are tried only beside digits: at every character they would cost most of the time.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from claimcheck.lexicon import any_of, any_word, compile_on_use, words
from claimcheck.text import measures
from claimcheck.text.kept_readings import keep_readings
from claimcheck.text.measures import MONTHS, SCALES, Quantity, in_base, unit_at
from claimcheck.text.numerals import CJK_EXTRACTORS, ENGLISH_EXTRACTOR, ORDINAL_EXTRACTOR
from claimcheck.text.tokens import FULL_WIDTH, STOP_WORDS

_DIGIT_RUN = re.compile(r"\d+", re.ASCII)
_WORD_START = re.compile(r"\b\w|(?<!\d)\d", re.ASCII)


def find_from_words(pattern: re.Pattern[str], text: str, *, reach: int) -> Iterator[re.Match[str]]:
    """Yield matches starting at digits or at a word up to `reach` characters before.

    `reach` -1 stands for the two words, parted by one space, before the digits: their own and the one before it.
    """
    end = 0
    for digits in _DIGIT_RUN.finditer(text):
        first = digits.start()
        space = max(end, text.rfind(" ", end, first))
        begin = max(end, first - reach) if reach >= 0 else max(end, text.rfind(" ", end, space) + 1)
        for word in _WORD_START.finditer(text, begin, digits.end()):
            if word.start() >= end and (match := pattern.match(text, word.start())):
                yield match
                end = match.end()
        end = max(end, first)


# One character becomes one character, so that offsets stay those of the text.
_PLAIN = (
    FULL_WIDTH
    | dict.fromkeys(map(ord, "\u00a0\u2009\u202f\u2007\u3000"), " ")
    | str.maketrans("\u2212—\ufe63\u301c\u223c\u2010\u2011\uffe1\uffe5\uffe6", "-–-~~--£¥₩")
)

_NOT_NUMBERS = compile_on_use(
    r"https?://[!-~]+|www\.[!-~]+|\bdoi:[!-~]+|\b10\.\d{4,}/[!-~]+|\barXiv:\s?[!-~]+|[!-~]{1,64}@[!-~]{1,64}\.[!-~]{1,64}"
    r"|\b(?!\d{1,2}\.\d{1,2}\.[12]\d{3}\b|[12]\d{3}\.\d{1,2}\.\d{1,2}\b|\d{1,3}(?:\.\d{3}){2}\b)\d+(?:\.\d+){2,}\b"  # 1.2.3
    rf"|\b(?!(?i:{'|'.join(sorted(MONTHS, key=len, reverse=True))})-\d{{4}}\b)"
    r"(?![Uu][Ss]\b)[A-Za-z][A-Za-z0-9]{0,40}(?:[-_./][A-Za-z0-9]{1,40}){0,5}[-_./]?\d[A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*"  # GPT-4, H100
    r"|\b(?P<of>[A-Z]\w*)"  # Python 3.11
    r" \d{1,2}\.\d{1,2}(?!\.\d)(?=[\s,;:)]*(?:$|[.,;:)]|[^\x00-\x7f]|\s(?:and|or|is|was|has|to|on|in|with|adds|added|does|introduced|supports)\b))"
    r"|\bversions? \d+(?:\.\d+)*",
    re.ASCII,
)
_NAMED_ORDINAL = compile_on_use(any_word("numerals.ordinal_name_patterns"))
_DIGITS = r"(?:\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?![\d.])|\d+,\d{1,2}(?= ?%)|\d{1,3}(?:,\d{3})+(?!\d)|(?<![\d.])\d{1,3}(?: \d{3})+(?![\d,])|\d+)(?:\.\d+)?"
_SCALE = "|".join(sorted((s for s in SCALES if not s.isascii()), key=len, reverse=True))


def _scales(*powers: int) -> str:
    return any_of(name for name, value in SCALES.items() if value.adjusted() in powers and not name.isascii())


_COMPOSITE = rf"{_scales(8, 12)}(?: ?\d[\d,.]* ?{_scales(8)})?(?: ?\d[\d,.]* ?{_scales(4, 7)})"
_THOUSANDS = rf"{_scales(4)} ?(?:\d ?{_scales(3)}|\d,?\d{{3}}(?! ?\d| ?{any_of(words('dates.year_marks'))}))"
_WORD_SCALE = "hundred|thousand|million|billion|trillion|quadrillion|mln|mn|bn|tn"
_SIGN = r"US\$|NT\$|HK\$|A\$|C\$|[$€£¥₩]|\b(?:USD|EUR|GBP|RMB|CNY|JPY|KRW) ?"
_AMOUNT = compile_on_use(
    rf"(?P<sign>{_SIGN})? ?(?P<minus>(?<![A-Za-z0-9_)\]]) ?-|(?<=\s)-)?(?<![A-Za-z0-9_.])(?P<digits>{_DIGITS})"
    rf"(?:(?P<suffix>(?-i:[kKMBbT])(?![A-Za-z0-9/])|(?:bn|mn|tn)\b|(?(sign)m(?![A-Za-z0-9])|(?!)))|[ -]?(?P<scale>(?:{_WORD_SCALE})s?)\b(?! to one)"
    rf"|(?P<han> ?(?:{_COMPOSITE}|{_THOUSANDS}|{_SCALE})))?",
    re.IGNORECASE | re.ASCII,
)
_FRACTION = re.compile(r"(?<![\d/.])(?P<n>\d{1,3})/(?P<d>\d{1,4})(?![\d/])")
_AFTER_ABOUT = re.compile(rf"\s?{any_word('numbers.about_behind_patterns')}")
_BEFORE = compile_on_use(
    rf"(?:(?P<about>{any_word('numbers.about_patterns')})|(?P<more>{any_word('numbers.more_patterns')})"
    rf"|(?P<less>{any_word('numbers.less_patterns')}))[ ]?(?:the |a )?[$€£¥₩]?$",
    re.IGNORECASE | re.ASCII,
)
_AROUND = re.compile(
    rf"(?:{any_word('numbers.about_patterns')}|{any_word('numbers.more_patterns')}|{any_word('numbers.less_patterns')})[ ]"
)
_RANGE = re.compile(rf"\s?{any_word('numbers.range_patterns')}\s?")
_JOIN = re.compile(rf"\s?(?:{any_word('numbers.range_patterns')}|{any_word('numbers.series_patterns')})\s?")
_NO_UNIT = re.compile(any_word("numbers.no_unit_patterns"))
"""What looks like a unit behind a number and is a verb."""
_YEAR_MARKS = words("dates.year_marks")
_LETTER = re.compile("[A-Za-z]")
_CELSIUS_BEFORE = re.compile(rf"{any_word('numerals.celsius_prefix')} ?$")
_AGE_BEFORE = re.compile(r"\baged? (?:of )?$")
_DEGREES = words("numerals.degrees")
_PERCENT_BEFORE = re.compile(rf"{any_word('numerals.percent_prefix_patterns')}$")


@keep_readings(2048)  # a text is asked for once for each claim that cites it
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return quantities of `text` in order, without identifiers, versions, addresses."""
    plain = text if text.isascii() else text.translate(_PLAIN)
    if "\n" in plain:  # a line may be broken between a number and its unit
        plain = _BROKEN.sub(" ", plain)
    plain = _NAMED_ORDINAL.sub(lambda name: " " * len(name[0]), plain) if not plain.isascii() else plain
    plain = _NO_UNIT.sub(lambda verb: " " * len(verb[0]), plain)
    found: list[Quantity] = []
    left = _blank(plain, [match.span() for match in find_others(plain)])
    with_digits = (*measures.DATE_EXTRACTORS, (_FRACTION, _fraction)) if re.search(r"\d", left) else ()
    amounts = ((_AMOUNT, _amount),) if with_digits else ()
    cjk = () if left.isascii() else CJK_EXTRACTORS
    for pattern, make in (*with_digits, ORDINAL_EXTRACTOR, *amounts, *cjk, ENGLISH_EXTRACTOR):
        is_date = pattern is measures.DATES
        matches = find_from_words(pattern, left, reach=_LONGEST_MONTH) if is_date else pattern.finditer(left)
        made = [quantity for match in matches if (quantity := make(match, left))]
        if made:
            found.extend(quantity._replace(bound=_bound(left, quantity)) for quantity in made)
            left = _blank(left, [(quantity.start, quantity.end) for quantity in made])
    return tuple(_share_units(sorted(found, key=lambda q: q.start), plain))


def find_others(text: str) -> Iterator[re.Match[str]]:
    """Yield what looks like a number and is none: addresses, versions, identifiers."""
    addressed = any(sign in text for sign in _ADDRESS_SIGNS)
    found = _NOT_NUMBERS.finditer(text) if addressed else find_from_words(_NOT_NUMBERS, text, reach=-1)
    return (match for match in found if not match["of"] or _may_have_versions(match["of"].lower()))


def _may_have_versions(word: str) -> bool:
    """Tell whether a capitalised word may take a version; not "The 3.5", "EUR 3.5"."""
    return not (word in STOP_WORDS or word in measures.ALIASES or _AROUND.fullmatch(f"{word} "))


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return `text` with the given spans blanked, so that no later pattern matches."""
    if not spans:
        return text
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "\x00" * (end - start)
    return "".join(characters)


def _amount(match: re.Match[str], text: str) -> Quantity | None:
    digits = _plain_digits(match["digits"])
    value = Decimal(digits)
    sign = (match["sign"] or "").strip()
    unit, end = unit_at(text, match.end())
    longer, behind = unit_at(text, match.start("han")) if match["han"] else ("", 0)
    if behind > match.end():  # 256 兆字节 are megabytes, and no 兆 of bytes
        unit, end = longer, behind
    else:
        value *= _scale(match)
        value += sum(_composite(match["han"] or ""))
    if match["minus"]:
        value = -value
    if sign:
        unit = measures.CURRENCIES[sign.upper()]
    elif not unit and _LETTER.match(text, end):
        return None  # 3D, 5HT: an identifier
    is_bare = not (match["scale"] or match["suffix"] or match["han"] or sign)
    if is_bare and re.fullmatch(r"1\d{3}|2[01]\d\d", match["digits"]) and (not unit or text[end - 1] in _YEAR_MARKS):
        unit = "year"
    if unit in measures.MONEY and not match["scale"] and re.fullmatch(r"\d{1,3}\.\d{3}", digits):
        value *= 1000  # 36.000 €: no price has three decimals
    if not unit and _AGE_BEFORE.search(text, match.start("digits") - 12, match.start("digits")):
        unit = "years"
    start = match.start("sign") if sign else match.start("minus") if match["minus"] else match.start("digits")
    if not unit and _CELSIUS_BEFORE.search(text, start - 4, start) and text[end : end + 1] in _DEGREES:
        unit, end = "°C", end + 1
    if not unit and (prefix := _PERCENT_BEFORE.search(text, start - 12, start)):
        unit, start = "%", prefix.start()
    return Quantity(value, unit, start, end)


def _plain_digits(written: str) -> str:
    """Return digits as Decimal reads them: 61.250,00 and 61,250.00 are one number."""
    digits = written.replace(" ", "")
    if re.fullmatch(r"[\d.]+,\d{1,2}", digits):
        return digits.replace(".", "").replace(",", ".")
    return digits.replace(".", "") if digits.count(".") > 1 else digits.replace(",", "")


def _scale(match: re.Match[str]) -> Decimal:
    if suffix := match["suffix"]:
        return SCALES.get(suffix.lower()) or Decimal(10) ** measures.SUFFIXES[suffix]
    if match["scale"]:
        return SCALES[match["scale"].lower().removesuffix("s")]
    if match["han"] and (first := re.match(rf" ?({_SCALE})", match["han"])):
        return SCALES[first[1]]
    return Decimal(1)


def _composite(tail: str) -> Iterator[Decimal]:
    """Yield the later parts of 3亿5000万, 3억 5천만, or 3万5千."""
    for digits, scale in re.findall(rf"(\d[\d,.]*) ?({_SCALE})?", tail):
        yield Decimal(digits.replace(",", "").strip(".")) * (SCALES[scale] if scale else 1)


def _fraction(match: re.Match[str], text: str) -> Quantity | None:
    if int(match["d"]) == 0:
        return None
    value = (Decimal(match["n"]) / Decimal(match["d"])).quantize(Decimal("0.000001"))
    return Quantity(value, "fraction", match.start(), match.end())


_NOUN_BEHIND = re.compile(r" [^\W\d_]")
_BROKEN = re.compile(r"(?<=\d)\n(?=[^\W\d_])")
_ADDRESS_SIGNS = ("://", "www.", "@", "doi:", "arXiv:")
_LONGEST_MONTH = 24


def _bound(text: str, quantity: Quantity) -> str:
    if _AFTER_ABOUT.match(text, quantity.end):
        return "~"
    match = _BEFORE.search(text, quantity.start - 24, quantity.start)
    if match is None or (match["more"] == "over" and in_base(quantity)[1] in measures.PERIODS):
        return ""  # "over 26 weeks" is how long it took
    return "~" if match["about"] else ">" if match["more"] else "<"


def _share_units(found: list[Quantity], text: str) -> list[Quantity]:
    """Return quantities with shared units and scales: "10–20 mg", "5, 10 and 15 %"."""
    for index in range(len(found) - 2, -1, -1):
        this, following = found[index], found[index + 1]
        between = text[this.end : following.start]
        if _RANGE.fullmatch(between):
            if this.unit == "year" and not following.unit and this.value % 100 < following.value < 100:
                found[index + 1] = following._replace(unit="year", value=this.value // 100 * 100 + following.value)
            if "date" not in (this.unit, following.unit):
                this = this._replace(value=this.value * _shared_scale(this, following, text))
            elif not this.unit and 0 < this.value < following.value % 100:  # 12–14 May 2016
                this = this._replace(unit="date", value=following.value // 100 * 100 + this.value)
            elif this.value % 100 < following.value < 32 and not _NOUN_BEHIND.match(text, following.end):
                found[index + 1] = following._replace(unit="date", value=this.value // 100 * 100 + following.value)
            if this.unit in measures.MONEY and following.unit == "":
                found[index + 1] = following._replace(unit=this.unit)
        if this.unit == "" and following.unit not in measures.KINDS and _JOIN.fullmatch(between):
            this = this._replace(unit=following.unit)
        found[index] = this
    return found


def _shared_scale(this: Quantity, following: Quantity, text: str) -> Decimal:
    """Return the scale of a range's second number for an unscaled first: 1–2 million."""
    written = re.match(r"\D*(\d+(?:\.\d+)?)", text[following.start : following.end])
    if written is None or not 0 < this.value <= Decimal(written[1]) or following.value <= Decimal(written[1]):
        return Decimal(1)
    return following.value / Decimal(written[1])


_AND = any_of([",", "~", "–", "-", *words("numbers.step_joined_patterns")], literal=False)
_STEP_BEFORE = re.compile(
    rf"(?:{any_word('numbers.step_before_patterns')})(?:\s?\d{{1,2}}\s?{_AND})*\s?$", re.IGNORECASE
)
_STEP_BEHIND = re.compile(rf"(?:\s?{_AND}\s?\d{{1,2}})*\s?(?:{any_word('numbers.step_behind_patterns')})")
"""Of several numbers the word stands before the first or behind the last: "steps 1 to 3", "1～3단계"."""
_MOST_STEPS = 30


def is_step(text: str, number: Quantity) -> bool:
    """Return whether a number names a step of the text ("points 1 to 3", "3단계")."""
    if number.unit not in ("", "ordinal") or number.value > _MOST_STEPS:
        return False
    before, behind = text[max(0, number.start - 40) : number.start], text[number.end : number.end + 20]
    return bool(_STEP_BEFORE.search(before.rstrip()) or _STEP_BEHIND.match(behind.lstrip()))
