"""Read what an API sent: from its raw answer to JSON or XML, or to an error that says what the reader can do, and then
to single fields without trusting their shape (missing, null and oddly typed ones; dates in many forms).

An answer that is no success, or no data, never becomes text: it ends here as a SourceError.
"""

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from html import escape
from importlib import import_module
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from claimcheck.lexicon import any_word
from claimcheck.text.cleaning import fold
from deep_research.errors import RateLimited, SourceError, Unreadable
from deep_research.ports import ApiResponse
from deep_research.protocol.http_semantics import error_kind, requested_wait, status_meaning
from deep_research.sources._record_documents import line, paragraphs

_MAX_NUMBER_CHARS = 18
_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_ISO = re.compile(
    rf"(?<!\d)((?:1[4-9]|20)\d\d)(?:(?:[-/.]|{any_word('dates.year_marks')})(\d{{1,2}})(?!\d)(?:(?:[-/.]|{any_word('dates.month_marks')})(\d{{1,2}})(?!\d))?)?"
)
_COMPACT = re.compile(r"\s*((?:1[4-9]|20)\d\d)(\d\d)(\d\d)(?:\d{6})?\s*")
_YEAR, _MONTH = r"(?P<year>(?:1[4-9]|20)\d\d)", rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]{{0,6}})\b\.?"
_IN_WORDS = (
    re.compile(rf"\b{_YEAR}[ -]{_MONTH}(?:[ -](?P<day>\d{{1,2}})\b)?", re.IGNORECASE),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ -]{_MONTH},?[ -]{_YEAR}\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} (?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? )?{_YEAR}\b", re.IGNORECASE),
)
"""2024 Jan 31, 31 Jan 2024, Jan 31, 2024; all but the second also without a day."""
_EARLIEST, _LATEST = 1400, 2100
Element = Any  # lxml.etree._Element
_E = TypeVar("_E", bound=SourceError)
_MAX_WHY_CHARS = 200
_EXPLAINING = (
    "message errorMessage error_message error detail errors title info errMsg msg reason readableMessage".split()
)
_HTML = re.compile(rb"\s*+(?:<!--.*?-->\s*+)*+<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_WAIT_WORDS = re.compile(r"rate (?:limit )?exceeded|rate.?limit|too many requests|request limit", re.IGNORECASE)
_CLOSED = re.compile(rb"</[\w:.-]+\s*>\s*+(?:<!--.*?-->\s*+)*+$", re.DOTALL)
_END = 2_000
"""Bytes at the end of an answer among which the closing tag of its root is looked for."""


def listed(value: Any) -> list[Any]:
    """Return a list as it is, null as none, and anything else as a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


class Record:
    """One object of a JSON answer. Its fields are read by path (keys of objects, indices of lists), and their shape is
    not trusted: what is missing, null or of another type reads as nothing.
    """

    def __init__(self, value: Any = None) -> None:
        """`value` that is no object makes a record without fields."""
        self._fields: Mapping[str, Any] = value if isinstance(value, Mapping) else {}

    def __bool__(self) -> bool:
        """Whether there are fields."""
        return bool(self._fields)

    def __contains__(self, name: str) -> bool:
        """Whether there is a field of this name, be it null."""
        return name in self._fields

    def get(self, *path: str | int) -> Any:
        """Return what lies under `path` as it was sent, or None."""
        value: Any = self._fields
        for step in path:
            if isinstance(step, str) and isinstance(value, Mapping):
                value = value.get(step)
            elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
                value = value[step]
            else:
                return None
        return value

    def record(self, *path: str | int) -> "Record":
        """Return the object under `path`."""
        return Record(self.get(*path))

    def records(self, *path: str | int) -> "list[Record]":
        """Return the objects of the list under `path`, or the object there on its own."""
        return records(self.get(*path))

    def text(self, *path: str | int) -> str:
        """Return the string or number under `path` as a clean line, or the first of a list that has one."""
        return text(self.get(*path))

    def texts(self, *path: str | int) -> tuple[str, ...]:
        """Return the clean lines of the list (or the string) under `path`, each once, empty ones left out."""
        return distinct(text(item) for item in listed(self.get(*path)))

    def raw(self, *path: str | int) -> str:
        """Return the string under `path` with its line breaks and markup, or the first of a list."""
        return raw(self.get(*path))

    def line(self, *path: str | int) -> str:
        """Return the string under `path` on one line without markup."""
        return line(self.raw(*path))

    def paragraphs(self, *path: str | int) -> str:
        """Return the string under `path` without markup, paragraphs parted by blank lines."""
        return paragraphs(self.raw(*path))

    def number(self, *path: str | int) -> int | None:
        """Return the whole number under `path`, also from a string of digits."""
        return number(self.get(*path))

    def score(self, *path: str | int) -> float:
        """Return the number under `path` if it is finite, else 0.0."""
        value = self.get(*path)
        plain = value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
        return float(plain) if abs(plain) < 1e12 else 0.0

    def date(self, *path: str | int) -> str | None:
        """Return the date under `path` (see `iso_date`)."""
        return iso_date(self.get(*path))

    def first(self, *names: str) -> str:
        """Return the first of these fields that has a text."""
        return next((line for name in names if (line := self.text(name))), "")

    def first_date(self, *names: str) -> str | None:
        """Return the first date in these fields."""
        return next((day for name in names if (day := self.date(name))), None)

    def full_name(self, given: str, family: str) -> str:
        """Return the two parts of a name as one, "" when there is neither."""
        return f"{self.text(given)} {self.text(family)}".strip()


def records(value: Any) -> list[Record]:
    """Return the objects of a list, or an object on its own; whatever is no object is left out."""
    return [Record(item) for item in listed(value) if isinstance(item, Mapping)]


def text(value: Any) -> str:
    """Return a clean line from a string or number, or from the first of a list that has one."""
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"[:_MAX_NUMBER_CHARS]
    if isinstance(value, list):
        return next((line for item in value if (line := text(item))), "")
    return ""


def raw(value: Any) -> str:
    """Return a string with its line breaks and markup, "" for anything else (the first of a list of strings)."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str) and item.strip()), "")
    return value if isinstance(value, str) else ""


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that are not empty, each once."""
    return tuple(dict.fromkeys(value for value in values if value))


def number(value: Any) -> int | None:
    """Return a whole number from a number or a string of digits, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,18}\s*", value):
        return int(value)
    return None


def iso_date(value: Any) -> str | None:
    """Return the date in `value`, or None where there is none (also for "2 days ago").

    Reads ISO dates and times, `20240131`, `31 Jan 2024`, `Jan 31, 2024`, `2024 Jan 31`, `2024 Jan-Feb`,
    seconds since 1970, and Crossref's date-parts `[[2024, 1, 31]]`.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, list):
        return _from_parts(value)
    if isinstance(value, int | float):
        return _from_number(value)
    return _from_text(value) if isinstance(value, str) else None


def unix_seconds(day: date) -> int:
    """Return the beginning of a day (UTC) in seconds since 1970."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def written(year: int, month: int | None = None, day: int | None = None) -> str | None:
    """Return the date as far as it makes sense, or None for an impossible year."""
    if not _EARLIEST <= year <= _LATEST:
        return None
    if not month or not 1 <= month <= 12:
        return f"{year}"
    if not day:
        return f"{year}-{month:02}"
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return f"{year}-{month:02}"


def month_number(name: str) -> int | None:
    """Return the number of a month written as a word or number, or None."""
    name = name.strip().lower()
    if name.isdecimal():
        return int(name) if 1 <= int(name[:4]) <= 12 else None
    return _MONTHS.get(name[:3])


def _from_number(value: float) -> str | None:
    if _EARLIEST <= value <= _LATEST:
        return written(int(value))
    try:
        seconds = value / 1000 if abs(value) > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _from_parts(value: list[Any]) -> str | None:
    parts = value[0] if value and isinstance(value[0], list) else value
    numbers = [int(part) if isinstance(part, int | float | str) and str(part).isdecimal() else None for part in parts]
    if not numbers or numbers[0] is None:
        return None
    padded = [*numbers, None, None]
    return written(numbers[0], padded[1], padded[2] if padded[1] else None)


def _from_text(value: str) -> str | None:
    value = value[:200]
    if match := _COMPACT.fullmatch(value):
        return written(*(int(part) for part in match.groups()))
    if match := _ISO.match(value.strip()):
        year, month, day = match.groups()
        if month:
            return written(int(year), int(month), int(day) if day else None)
    return _from_words(value) or (written(int(match[1])) if (match := _ISO.search(value)) else None)


def _from_words(value: str) -> str | None:
    for form in _IN_WORDS:
        if match := form.search(value):
            return written(int(match["year"]), month_number(match["month"]), int(match["day"] or 0))
    return None


class Declaration:
    """What a source says of itself, once, as class variables: tables, messages, documentation and tests read it."""

    name: ClassVar[str]
    """The name in settings and reports, which is that of the file."""
    purpose: ClassVar[str]
    """A sentence on what is found there."""
    needs: ClassVar[str | None] = None
    """The environment variable without which nothing works; None: keyless."""
    also: ClassVar[tuple[str, ...]] = ()
    """Variables that are used when they are set, such as a token that raises limits."""

    @classmethod
    def variables(cls) -> tuple[str, ...]:
        """Return the environment variables that this source may use, the needed one first."""
        return (*((cls.needs,) if cls.needs else ()), *cls.also)

    @classmethod
    def key_variable(cls) -> str | None:
        """Return the variable of the key, as messages name it, or None; other variables hold addresses and ids."""
        return next((name for name in cls.variables() if name.endswith(("_KEY", "_TOKEN", "_EMAIL"))), None)


def judge(response: ApiResponse, source: type[Declaration]) -> None:
    """Pass a success; raise what the status means otherwise.

    The classes are those of `http_semantics.error_kind`; what a key can repair names the key's variable.
    """
    meaning = status_meaning(response.status, response.headers)
    if meaning == "success":
        return
    if meaning == "wait":
        raise limited(response, source)
    status = f"(HTTP {response.status}{_explained(response)})"
    variable = source.key_variable()
    key = f"the key in {variable}" if variable else "this computer"
    why = {
        "login": f"{key} was refused {status}",
        "payment": f"the plan of {key} is used up {status}",
        "forbidden": f"access was refused {status}{f'; check {variable}' if variable else ''}",
        "missing": f"not found {status}",
        "down": f"the service failed {status}",
    }.get(meaning, f"the request was not accepted {status}")
    raise failure(error_kind(meaning), response, source, why)


def json_of(response: ApiResponse, source: type[Declaration]) -> Any:
    """Return the JSON of a successful answer. Raises what `judge` raises, and Unreadable for anything but JSON."""
    judge(response, source)
    try:
        return json.loads(response.body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _not_data(response, source, "JSON") from None


def object_of(response: ApiResponse, source: type[Declaration], *fields: str, what: str = "results") -> Record:
    """Return the JSON object of a successful answer. Raises Unreadable when it has none of these fields (if any)."""
    answer = json_of(response, source)
    if isinstance(answer, Mapping) and (not fields or any(field in answer for field in fields)):
        return Record(answer)
    raise failure(Unreadable, response, source, f"the answer has no {what} in it{_explained(response)}")


def list_of(response: ApiResponse, source: type[Declaration], *path: str, what: str = "results") -> list[Record]:
    """Return the objects in the list under `path` (the answer itself) of a success. Raises Unreadable when there is no list."""
    answer = json_of(response, source)
    found = Record(answer).get(*path) if path else answer
    if isinstance(found, list):
        return records(found)
    raise failure(Unreadable, response, source, f"the answer has no {what} in it{_explained(response)}")


def xml_of(response: ApiResponse, source: type[Declaration], *, lenient: bool = False) -> Element:
    """Return the root element of a successful answer.

    `lenient` also reads documents with small faults (feeds written by hand), as long as they are complete.
    External entities, DTDs and huge trees are refused. Raises as `json_of` does.
    """
    judge(response, source)
    return parse_xml(response, source, lenient=lenient)


def parse_xml(response: ApiResponse, source: type[Declaration], *, lenient: bool = False) -> Element:
    """Return the root element of an answer whatever its status. Raises Unreadable."""
    etree = import_module("lxml.etree")
    body = response.body.lstrip()
    if not body.startswith((b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or _HTML.match(body):
        raise _not_data(response, source, "XML")
    for recover in (False, True) if lenient and _CLOSED.search(body[-_END:]) else (False,):
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover
        )
        try:
            root = etree.fromstring(body, parser)
        except (etree.XMLSyntaxError, ValueError):
            continue
        if root is not None:
            return root
    raise _not_data(response, source, "XML")


def text_of(element: Element | None, *path: str) -> str:
    """Return all text inside the first descendant along `path`, without one inside the element itself, on one line."""
    found = child(element, *path)
    return "" if found is None else text("".join(str(part) for part in found.itertext()))


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first descendant along `path`, by local names whatever their namespace."""
    for name in path:
        if element is None:
            return None
        element = element.find(f"{{*}}{name}")
    return element


def children(element: Element | None, name: str) -> list[Element]:
    """Return the direct children of a local name."""
    return [] if element is None else element.findall(f"{{*}}{name}")


def inner_markup(element: Element | None) -> str:
    """Return an element's content as markup, for `paragraphs` to clean."""
    etree = import_module("lxml.etree")
    if element is None:
        return ""
    parts = [escape(element.text or "", quote=False)]
    for part in element:
        if isinstance(part.tag, str):
            parts.append(etree.tostring(part, encoding="unicode", with_tail=False))
        elif part.tag is etree.Entity:
            parts.append(part.text or "")
        parts.append(escape(part.tail or "", quote=False))
    return "".join(parts)


def local_name(element: Element) -> str:
    """Return an element's name without its namespace, in lower case."""
    return str(element.tag).rsplit("}", 1)[-1].lower()


def limited(response: ApiResponse, source: type[Declaration]) -> RateLimited:
    """Return the error that says how long to wait, as far as the API says."""
    wait = requested_wait(response.headers, time.time())
    after = f"; wait {wait:.0f} s" if wait is not None else ""
    why = f"too many requests (HTTP {response.status}{_explained(response)}){after}"
    return replace(failure(RateLimited, response, source, why), retry_after=wait)


def failure(kind: type[_E], response: ApiResponse, source: type[Declaration], why: str) -> _E:
    """Return an error of `kind` about this answer; its message begins with the source's name."""
    parts = urlsplit(response.url)
    url = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"  # a query may hold a key
    return kind(f"{source.name}: {why}", source=source.name, url=url, status=response.status)


def says_wait(words: str) -> bool:
    """Whether the text of an answer asks to come back later."""
    return bool(_WAIT_WORDS.search(words))


def explanation(response: ApiResponse) -> str:
    """Return what the answer itself gives as its reason: the message of a JSON error, or a short plain text."""
    try:
        value = json.loads(response.body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return _from_plain_text(response.body)
    return _shorten(_message(value))


def _message(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth > 3:
        return ""
    if isinstance(value, list):
        return next((found for item in value[:5] if (found := _message(item, depth + 1))), "")
    for name in _EXPLAINING:
        for item in listed(Record(value).get(name)):
            if found := _message(item, depth + 1):
                return found
    return ""


def _from_plain_text(body: bytes) -> str:
    if _HTML.match(body):
        return "an HTML page"
    return _shorten(body[:2000].decode("utf-8", "replace"))


def _explained(response: ApiResponse) -> str:
    why = explanation(response)
    return f": {why}" if why else ""


def _shorten(words: str) -> str:
    words = _ADDRESS.sub("…", line(words))
    return words if len(words) <= _MAX_WHY_CHARS else f"{words[:_MAX_WHY_CHARS]}…"


def _not_data(response: ApiResponse, source: type[Declaration], wanted: str) -> SourceError:
    body = response.body.strip()
    if not body:
        return failure(Unreadable, response, source, f"the answer is empty instead of {wanted}")
    if _HTML.match(body):
        return failure(Unreadable, response, source, f"the answer is an HTML page instead of {wanted}")
    if len(body) < _MAX_WHY_CHARS and says_wait(body.decode("utf-8", "replace")):
        return limited(response, source)
    opened = body[:1] in b"{[<"
    return failure(Unreadable, response, source, f"the answer is {'broken or cut off' if opened else 'no'} {wanted}")
