"""Storable text: NFC, no control, bidi, zero-width or tag characters, no wraps."""

import re

from claimcheck.language import HAN, KANA
from claimcheck.lexicon import any_word, compile_on_use
from claimcheck.text.normal_forms import normalized

_CONTROL = re.compile("[^\n\b]\b(?=\\S)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
# Soft hyphen, zero-width and bidirectional controls, byte-order marks, variation selectors of the second
# block and tag characters: invisible, so they can carry text that a reader of the page never sees.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
# The joiners shape letters of Arabic and Indic scripts; anywhere else they are as invisible as the rest.
_JOINER = compile_on_use("(?<![\u0600-\u0fff])[\u200c\u200d]|[\u200c\u200d](?![\u0600-\u0fff])")
_LINE_SEPARATOR = re.compile("\r\n?|[\u0085\u2028\u2029]")
_WIDE = f"{HAN}{KANA}\u3001-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff1f"
_WRAP_IN_WIDE_TEXT = compile_on_use(f"(?<=[{_WIDE}])[ \t]*\n[ \t]*(?=[{_WIDE}])")
_PLAIN = re.compile("[\n\t -~]*+")
_NUMBERING = compile_on_use(any_word("headings.numbering_patterns"), re.IGNORECASE)


def clean(text: str) -> str:
    """Return `text` in NFC with LF line ends, without control or hidden characters."""
    if _PLAIN.fullmatch(text):
        return text
    text = _CONTROL.sub("", _LINE_SEPARATOR.sub("\n", text))
    return normalized("NFC", _JOINER.sub("", _INVISIBLE.sub("", text)))


def shorten(text: str, most: int) -> str:
    """Return clean `text` on one line, cut at a word to about `most` characters."""
    line = fold(text)
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"


def fold(text: str) -> str:
    """Return clean `text` on one line: every run of white space is one space.

    A line break between two Chinese or Japanese characters is no word border and disappears.
    """
    text = clean(text)
    if text.isascii() and not ("\n" in text or "  " in text or "\t" in text):
        return text.strip()
    return " ".join((text if text.isascii() else _WRAP_IN_WIDE_TEXT.sub("", text)).split())


def plain_heading(title: str) -> str:
    """Return a heading without its number and marks."""
    return _NUMBERING.sub("", " ".join(title.split())).strip(" .:：¶#")
