"""Make texts safe to keep or show: no control or hidden characters, known keys.

Models, file names, titles, tools and the errors of servers are outside: what they say passes here before it reaches
an error message, an event, a record or a report.
"""

import json
import logging
import re
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

_N = TypeVar("_N", bound="BaseModel")
_PLAIN = re.compile("[\n\t -~]*+")
_LINE_END = re.compile("\r\n?|[\x85\u2028\u2029]")
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_TERMINAL_CODE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]{0,2000}(?:\x07|\x1b\\\\|\x9c)?"
)
"""Control sequences and strings of ECMA-48 (colours; titles, links and clipboards of OSC), with what they carry."""
_CREDENTIALS = re.compile(r"(?<=://)[^\s/?#@:]{0,200}:[^\s/?#]{0,500}@")
"""User and password in an address."""
_SHORTEST_SECRET = 8
_WORD = re.compile(r"[A-Za-z]?[a-z]{0,15}")
"""A secret that could be a word ("production"), of which sources are full: it is masked in what is shown alone."""
_MASK = "…"
_MOST_NUMBER = 2**53
_DEEPEST = 60
_secrets, _words = set[str](), set[str]()


def register_secrets(values: Iterable[str]) -> None:
    """Remember values never to be kept or shown; not addresses or short ones.

    Nor the path of something that is there, as of `$HOME` in the arguments of a program.
    """
    for value in values:
        if len(value) < _SHORTEST_SECRET or value.startswith(("http://", "https://")) or _is_path(value):
            continue
        if _WORD.fullmatch(value):
            _words.add(value)
        else:
            _secrets.update((value, urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value)))


def _is_path(value: str) -> bool:
    with suppress(OSError, ValueError):
        return value.startswith("/") and Path(value).exists()
    return False


def mask_known(text: str) -> str:
    """Return `text` with every remembered secret in it replaced by an ellipsis."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text


def mask_in_place(text: str) -> str:
    """Return `text` with every remembered secret masked, and each offset as it was."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK * len(secret))
    return text


def mask_known_bytes(data: bytes) -> bytes:
    """Return `data`, of the same length, with every remembered secret masked."""
    for secret in (form.encode("utf-8", "surrogatepass") for form in sorted(_secrets, key=len, reverse=True)):
        data = data.replace(secret, b"*" * len(secret))
    return data


def mask_record(text: str) -> str:
    """Return a text or JSON with every remembered secret masked; JSON stays JSON.

    The sign behind a backslash is part of an escape: masked in the text as it stands, it would end the JSON.
    """
    masked = mask_known(text)
    if masked != text:
        with suppress(ValueError, RecursionError):
            return json.dumps(safe_values(json.loads(text), safe=mask_known))
    return masked


class SafeLog(logging.Formatter):
    """Formats log records without the secrets that are known."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the whole record, also of a library, masked."""
        return mask_known(super().format(record))


def safe_text(text: str) -> str:
    """Return text without terminal codes, control and hidden characters, secrets."""
    if not _PLAIN.fullmatch(text):
        text = _CONTROL.sub("", _LINE_END.sub("\n", _TERMINAL_CODE.sub("", text)))
    for word in _words:
        text = text.replace(word, _MASK)
    return mask_known(text) if _secrets else text


def safe_message(text: str) -> str:
    """Return a program's message made safe, also of credentials in any address."""
    return safe_text(_CREDENTIALS.sub(f"{_MASK}@", text))


def safe_values(value: Any, depth: int = 0, *, safe: Callable[[str], str] = safe_text) -> Any:
    """Return JSON data with safe texts and portable numbers; None if nested too deep."""
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, Mapping):
        named = ((safe(k) if isinstance(k, str) else k, v) for k, v in value.items())
        return {k: safe_values(v, depth + 1, safe=safe) for k, v in named} if depth < _DEEPEST else None
    if isinstance(value, list | tuple):
        return type(value)(safe_values(v, depth + 1, safe=safe) for v in value) if depth < _DEEPEST else None
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-_MOST_NUMBER, min(value, _MOST_NUMBER))
    return value


def safe_noun(noun: _N, *, safe: Callable[[str], str] = safe_text) -> _N:
    """Return a noun with every text in it safe."""
    values = noun.model_dump()
    made = safe_values(values, safe=safe)
    return noun if made == values else type(noun).model_validate(made)
