"""Find numbers only where they can stand: patterns of numbers begin at or shortly before a digit.

To try such a pattern at every character costs most of the time of a check. What is found is what `finditer` finds.
"""

import re
from collections.abc import Iterator, Set

_DIGITS = re.compile(r"\d+", re.ASCII)
_WORD_START = re.compile(r"\b\w|(?<!\d)\d", re.ASCII)
_WORD = re.compile("[a-z]+")
_OTHER_SCRIPT = re.compile("[\u1100-\u1fff\u2100-\U0010ffff]")
_GOES_ON = re.compile("[A-Za-z0-9_.]")
_SIGNS_BEFORE = " -$€£¥₩"
_LONGEST_SIGN = 8
"""Characters before a digit in which its sign, currency and spaces stand."""


def is_western(text: str) -> bool:
    """Return whether `text` holds no sign of a script in which numerals are no Arabic digits."""
    return text.isascii() or not _OTHER_SCRIPT.search(text)


def has_word_of(text: str, words: Set[str]) -> bool:
    """Return whether one of these words, in small letters, stands in `text`."""
    return not words.isdisjoint(_WORD.findall(text.lower()))


def find_amounts(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that is a sign, spaces and digits with no letter, digit, "_" or "." before them."""
    end = 0
    for digits in _DIGITS.finditer(text):
        first = digits.start()
        if first < end:
            continue
        before = text[first - 1] if first else ""
        if _GOES_ON.match(before):
            continue
        reach = _LONGEST_SIGN if before and before in _SIGNS_BEFORE else 0
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
    for digits in _DIGITS.finditer(text):
        first = digits.start()
        if first < end:
            continue
        begin = max(end, first - reach) if reach >= 0 else _two_words_back(text, end, first)
        for word in _WORD_START.finditer(text, begin, digits.end()):
            if word.start() >= end and (match := pattern.match(text, word.start())):
                yield match
                end = match.end()
        end = max(end, first)


def _two_words_back(text: str, begin: int, digit: int) -> int:
    space = text.rfind(" ", begin, digit)
    return begin if space < 0 else text.rfind(" ", begin, space) + 1 or begin
