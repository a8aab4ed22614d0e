"""JSON as models write it: fences around it, single quotes, trailing commas, brackets that were never closed.

Only what has one meaning is repaired. A string or number that was cut off is not: its end would be made up.
"""

import json
import re
from typing import Any, NoReturn

_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_SKIPPED = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_WORD = re.compile(r"[A-Za-z]+")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEPTH = 100


def parse_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that `text` is, in a fence or not, repaired where that is unambiguous; else None."""
    candidate = _unfenced(text).strip()
    if not candidate:
        return None
    try:
        found = json.loads(candidate, strict=False)
    except (ValueError, RecursionError):
        found = _repaired(candidate, whole=True)
    return found if isinstance(found, dict) else None


def find_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in `text`, which may stand between words: whole objects first, then repaired ones."""
    whole = parse_object(text)
    if whole is not None:
        return whole
    for source in (_unfenced(text), text):
        for start in _starts(source):
            try:
                found, _ = json.JSONDecoder(strict=False).raw_decode(source, start)
            except (ValueError, RecursionError):
                continue
            return found
    for start in _starts(text):
        found = _repaired(text[start:], whole=False)
        if isinstance(found, dict) and found:
            return found
    return None


def _unfenced(text: str) -> str:
    fenced = _FENCE.search(text)
    return fenced[1] if fenced and "{" in fenced[1] else text


def _starts(text: str) -> list[int]:
    """Where objects may begin; no more than a model would begin in earnest."""
    return [at for at, sign in enumerate(text) if sign == "{"][:20]


def _repaired(text: str, *, whole: bool) -> Any:
    reader = _Lenient(text)
    try:
        found = reader.value(0)
    except ValueError:
        return None
    return None if whole and reader.rest() else found


class _Lenient:
    """A reader of JSON that forgives what has one meaning."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def rest(self) -> str:
        """What follows the value, without blanks and comments."""
        self._skip()
        return self.text[self.at :]

    def value(self, depth: int) -> Any:
        """Read one value. Raises ValueError where its meaning is open."""
        self._skip()
        sign = self._sign()
        if sign == "{" and depth < _DEPTH:
            return self._object(depth + 1)
        if sign == "[" and depth < _DEPTH:
            return self._array(depth + 1)
        if sign in ("'", '"'):
            return self._string(sign)
        return self._word_or_number()

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while not self._ends("}"):
            quote = self._sign()
            if quote not in ("'", '"'):
                self._fail("a key without quotes")
            key = self._string(quote)
            self._skip()
            if self._sign() != ":":
                self._fail("a key without a value")
            self.at += 1
            found[key] = self.value(depth)
            self._comma("}")
        return found

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while not self._ends("]"):
            found.append(self.value(depth))
            self._comma("]")
        return found

    def _ends(self, bracket: str) -> bool:
        """Whether the container ends here: by its bracket, or because the text does."""
        self._skip()
        if self._sign() == bracket:
            self.at += 1
            return True
        return not self._sign()

    def _comma(self, bracket: str) -> None:
        self._skip()
        if self._sign() == ",":
            self.at += 1
        elif self._sign() not in (bracket, ""):
            self._fail("neither a comma nor an end")

    def _string(self, quote: str) -> str:
        parts: list[str] = []
        at = self.at + 1
        while at < len(self.text):
            sign = self.text[at]
            if sign == quote:
                self.at = at + 1
                # Two escapes of one sign beyond the BMP become that sign.
                return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if sign == "\\" and at + 1 < len(self.text):
                at, sign = self._escape(at + 1)
            parts.append(sign)
            at += 1
        return self._fail("a string that was cut off")

    def _escape(self, at: int) -> tuple[int, str]:
        """The last position of an escape that begins at `at` (after its backslash), and what it stands for."""
        sign = self.text[at]
        if sign == "u":
            try:
                return at + 4, chr(int(self.text[at + 1 : at + 5], 16))
            except ValueError:
                self._fail("a broken escape")
        return at, _ESCAPES.get(sign, sign)

    def _word_or_number(self) -> Any:
        if (number := _NUMBER.match(self.text, self.at)) and number.end() < len(self.text):
            self.at = number.end()
            return json.loads(number[0])
        if (word := _WORD.match(self.text, self.at)) and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        return self._fail("no value")

    def _sign(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip(self) -> None:
        skipped = _SKIPPED.match(self.text, self.at)
        self.at = skipped.end() if skipped else self.at

    def _fail(self, why: str) -> NoReturn:
        raise ValueError(f"{why} at {self.at}")
