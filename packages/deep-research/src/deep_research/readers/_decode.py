"""Decode bytes: byte-order mark, declared encoding, UTF-8, then a guess."""

import re
from contextlib import suppress

from claimcheck.language import KANA
from claimcheck.lexicon import words
from deep_research.errors import Unreadable
from deep_research.protocol.media_type import BOMS, CONTROLS, codec_of

_SAMPLE = 65_536
_WESTERN = frozenset("àâäáãåæçèéêëíîïñóôöõøœùúûüÿßÀÂÄÁÅÆÇÈÉÊËÍÎÏÑÓÔÖÕØŒÙÚÛÜŸ€£§°©®™«»“”„‘’‚–—…·¡¿ºª×±½\xa0")
# The commonest characters of each language; a wrong decoding of its bytes yields rare ones instead.
_COMMON_HAN = frozenset("".join(words("script.common_signs")))
_CANDIDATES = ("gb18030", "cp932", "euc_jp", "cp949", "big5hkscs")
_PAGES = (
    *(f"cp{number}" for number in range(1250, 1259)),
    *("koi8_r", "koi8_u", "iso8859_2", "iso8859_5", "iso8859_7", "iso8859_9", "cp866", "cp852", "cp850", "tis_620"),
)
"""What files on people's disks are written in; of others (Macintosh, EBCDIC) a few bytes look like any text."""
_KANA_RE = re.compile(f"[{KANA}]")
_HALF_KANA = re.compile("[\uff66-\uff9f]")


def decode(data: bytes, *, declared: str = "") -> str:
    """Decode `data` to text; `declared` is the encoding named by file or sender.

    Raises Unreadable when the bytes are no text at all.
    """
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    if encoding := _utf16_without_bom(data):
        return data.decode(encoding, "replace")
    if len(data[:_SAMPLE].translate(None, CONTROLS)) < 0.92 * len(data[:_SAMPLE]):
        raise Unreadable("binary data, not text")
    for encoding in filter(None, ("utf-8", codec_of(declared))):
        with suppress(UnicodeDecodeError, LookupError):
            return data.decode(encoding)
    # A few broken bytes in UTF-8 are likelier than that much valid multi-byte text in any other encoding.
    text = data.decode("utf-8", "replace")
    broken, wide = text.count("\ufffd"), len(data) - len(text)
    if broken * 20 < wide:
        return text
    return data.decode(codec_of(declared) or _guess(data[:_SAMPLE]), "replace")


def _utf16_without_bom(data: bytes) -> str:
    """UTF-16 of mostly Latin text has a NUL in every second byte."""
    sample = data[:2000]
    if len(sample) < 4 or len(data) % 2:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > half * 0.6 and even < half * 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.6 and odd < half * 0.1 else ""


def _guess(sample: bytes) -> str:
    """Guess East Asian encodings by common characters, others by charset-normalizer."""
    best = max(_CANDIDATES, key=lambda encoding: _ordinary(sample, encoding))
    if _ordinary(sample, best) > 0.35:
        return best
    if _is_western(sample):
        return "cp1252"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - heavy

    match = from_bytes(sample, cp_isolation=[*_PAGES]).best()
    return match.encoding if match else "cp1252"


def _is_western(sample: bytes) -> bool:
    """Return whether bytes look like Windows-1252: few accented letters among plain."""
    text = sample.decode("cp1252", "replace")
    accented = [char for char in text if char > "\x7f"]
    plain = sum(char.isascii() and char.isalpha() for char in text)
    known = sum(char in _WESTERN for char in accented)
    return known > 0.9 * len(accented) and sum(char.isalpha() for char in accented) < 0.5 * plain


def _ordinary(sample: bytes, encoding: str) -> float:
    """Return the share of non-ASCII characters common in a language of `encoding`."""
    # The sample may end inside a character, so a handful of errors is no proof against the encoding.
    text = sample.decode(encoding, "replace")
    runs = [run for run in "".join(char if char > "\x7f" else " " for char in text).split(" ") if run]
    letters = "".join(runs)
    if not letters or text.count("\ufffd") > 1 + len(letters) // 200:
        return 0.0
    # Signs that stand alone are accented letters, each taken for one together with the letter behind it.
    if sum(len(run) == 1 for run in runs) > len(letters) / 2:
        return 0.0
    common = sum(char in _COMMON_HAN for char in letters)
    if encoding in ("cp932", "euc_jp"):
        common += len(_KANA_RE.findall(text)) - 2 * len(_HALF_KANA.findall(text))
    if encoding == "cp949":
        common = sum(0xAC00 <= ord(char) <= 0xD7A3 for char in letters)
        common -= sum(0x3400 <= ord(char) <= 0x9FFF for char in letters)
    return common / len(letters)
