"""Make texts safe to keep or show: no control or hidden characters, known keys.

Models, file names, titles, tools and the errors of servers are outside: what they say passes here before it reaches
an error message, an event, a record or a report.
"""

import re
import urllib.parse
from collections.abc import Iterable, Mapping
from math import isfinite
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
_MASK = "…"
_MOST_NUMBER = 2**53
_DEEPEST = 60
_secrets: dict[str, str] = {}


def register_secrets(values: Iterable[str]) -> None:
    """Remember values never to be kept or shown; not addresses or very short ones."""
    for value in values:
        if len(value) >= _SHORTEST_SECRET and not value.startswith(("http://", "https://")):
            for form in (value, urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value)):
                _secrets[form] = _MASK


def mask_known(text: str) -> str:
    """Return `text` with every remembered secret in it replaced by an ellipsis."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text


def mask_known_bytes(data: bytes) -> bytes:
    """Return `data` with every remembered secret in it replaced by an ellipsis."""
    for secret in sorted(_secrets, key=len, reverse=True):
        data = data.replace(secret.encode(), _MASK.encode())
    return data


def safe_text(text: str) -> str:
    """Return text without terminal codes, control and hidden characters, secrets."""
    if not _PLAIN.fullmatch(text):
        text = _CONTROL.sub("", _LINE_END.sub("\n", _TERMINAL_CODE.sub("", text)))
    return mask_known(text) if _secrets else text


def safe_message(text: str) -> str:
    """Return a program's message made safe, also of credentials in any address."""
    return safe_text(_CREDENTIALS.sub(f"{_MASK}@", text))


def safe_values(value: Any, depth: int = 0) -> Any:
    """Return JSON data with safe texts and portable numbers; None if nested too deep."""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, Mapping):
        named = ((safe_text(k) if isinstance(k, str) else k, v) for k, v in value.items())
        return {k: safe_values(v, depth + 1) for k, v in named} if depth < _DEEPEST else None
    if isinstance(value, list | tuple):
        return type(value)(safe_values(v, depth + 1) for v in value) if depth < _DEEPEST else None
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-_MOST_NUMBER, min(value, _MOST_NUMBER))
    return value


def safe_noun(noun: _N) -> _N:
    """Return a noun with every text in it safe."""
    values = noun.model_dump()
    safe = safe_values(values)
    return noun if safe == values else type(noun).model_validate(safe)
