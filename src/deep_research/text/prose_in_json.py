"""The prose in a JSON answer while it is being written: the values of some of its fields, as plain text."""

import json
from collections.abc import Collection

_PROSE_FIELDS = frozenset({"content", "abstract", "conclusion", "answer", "overview", "outlook"})
_ESCAPE_LENGTH = {"u": 6}


class ProseReader:
    """Reads JSON piece by piece and gives the text of its prose; strings in other fields are passed over.

    What is no JSON object (a model that answers in plain text) is given as it is.
    """

    def __init__(self, fields: Collection[str] = _PROSE_FIELDS) -> None:
        self._fields = fields
        self._rest = ""
        self._begun = self._is_plain = False
        self._inside = self._after_colon = self._has_given = False
        self._key = ""
        self._string: list[str] = []

    def feed(self, piece: str) -> str:
        """Return the prose that `piece` completes."""
        if not self._begun:
            self._rest += piece
            start = self._rest.lstrip()
            if not start or "```json".startswith(start):
                return ""
            self._begun, self._is_plain = True, not start.startswith(("{", "```"))
            piece, self._rest = self._rest, ""
        return piece if self._is_plain else "".join(self._read(piece))

    def _read(self, piece: str) -> list[str]:
        text, given, at = self._rest + piece, list[str](), 0
        while at < len(text):
            sign = text[at]
            if not self._inside:
                self._outside(sign, given)
                at += 1
                continue
            if sign == '"':
                self._close()
                at += 1
                continue
            length = 1 if sign != "\\" else _ESCAPE_LENGTH.get(text[at + 1 : at + 2], 2)
            if at + length > len(text):
                break
            self._take(text[at : at + length], given)
            at += length
        self._rest = text[at:]
        return given

    def _outside(self, sign: str, given: list[str]) -> None:
        if sign == '"':
            self._inside, self._string = True, []
            if self._is_prose and self._has_given:
                given.append("\n\n")
        elif sign == ":":
            self._key, self._after_colon = "".join(self._string), True
        elif not sign.isspace():
            self._after_colon = False

    @property
    def _is_prose(self) -> bool:
        return self._after_colon and self._key in self._fields

    def _take(self, sign: str, given: list[str]) -> None:
        try:
            meant = json.loads(f'"{sign}"') if sign.startswith("\\") else sign
        except ValueError:
            meant = ""
        if "\ud800" <= meant <= "\udfff":
            meant = ""  # half of a sign; its other half comes alone as well
        if self._is_prose:
            given.append(meant)
            self._has_given = True
        else:
            self._string.append(meant)

    def _close(self) -> None:
        self._inside = False
        if self._after_colon:
            self._after_colon = False
            self._string = []
