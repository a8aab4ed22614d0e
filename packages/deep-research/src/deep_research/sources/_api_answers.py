"""Read an API's answer to JSON, XML or a helpful error, then to single fields.

Fields may be missing, null or oddly typed. What is no success, or no data, ends here as a SourceError.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from http import HTTPStatus
from importlib import import_module
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from claimcheck.text.cleaning import fold
from deep_research.data import Found
from deep_research.errors import Blocked, RateLimited, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.protocol.http_semantics import error_kind, requested_wait, status_meaning
from deep_research.sources._record_documents import distinct, line, paragraphs
from deep_research.text.dates import iso_date

_E = TypeVar("_E", bound=SourceError)
_MAX_WHY_CHARS = 200
_EXPLAINING = (
    "message errorMessage error_message error detail errors title info errMsg msg reason readableMessage".split()
)
_HTML = re.compile(rb"\s*+(?:<!--.*?-->\s*+)*+<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_WAIT_WORDS = re.compile(
    r"rate (?:limit )?exceeded|rate.?limit|too.many.requests|request limit|maxlag|abuse detection", re.IGNORECASE
)
_CLOSED = re.compile(rb"</[\w:.-]+\s*>\s*+(?:<!--.*?-->\s*+)*+$", re.DOTALL)
_OWN_CODES: dict[type[SourceError], tuple[str, ...]] = {
    Blocked: ("authentication", "permission", "billing", "quota", "blocked"),
    Unreachable: ("unavailable", "overloaded", "api_error", "server_error", "timeout"),
}
"""What is in the codes of errors that services name inside their answers."""


class Record:
    """A JSON value with fields by path: keys of objects and indices of lists.

    What is missing, null or of another type reads as nothing.
    """

    def __init__(self, value: Any = None) -> None:
        self._value = value

    def __bool__(self) -> bool:
        """Whether it is an object that has fields."""
        return isinstance(self._value, Mapping) and bool(self._value)

    def __contains__(self, name: str) -> bool:
        """Whether there is a field of this name, be it null."""
        return isinstance(self._value, Mapping) and name in self._value

    def get(self, *path: str | int) -> Any:
        """Return what lies under `path` as it was sent, or None."""
        value = self._value
        for step in path:
            if isinstance(step, str) and isinstance(value, Mapping):
                value = value.get(step)
            elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
                value = value[step]
            else:
                return None
        return value

    def items(self, *path: str | int) -> list[Any]:
        """Return the list under `path` as it is; null as none, others as a list of one."""
        value = self.get(*path)
        if isinstance(value, list):
            return value
        return [] if value is None else [value]

    def record(self, *path: str | int) -> "Record":
        """Return the object under `path`."""
        return Record(self.get(*path))

    def records(self, *path: str | int) -> "list[Record]":
        """Return the objects of the list under `path`, or the object there on its own."""
        return [Record(item) for item in self.items(*path) if isinstance(item, Mapping)]

    def text(self, *path: str | int) -> str:
        """Return the string or number under `path` as a clean line, or a list's first."""
        value = self.get(*path)
        if isinstance(value, str):
            return fold(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value}"[:18]
        if isinstance(value, list):
            return next((line for item in value if (line := Record(item).text())), "")
        return ""

    def texts(self, *path: str | int) -> tuple[str, ...]:
        """Return the distinct clean lines of the list or string under `path`, not empty."""
        return distinct(Record(item).text() for item in self.items(*path))

    def raw(self, *path: str | int) -> str:
        """Return the string under `path`, or a list's first, with line breaks and markup."""
        value = self.get(*path)
        if isinstance(value, list):
            return next((item for item in value if isinstance(item, str) and item.strip()), "")
        return value if isinstance(value, str) else ""

    def line(self, *path: str | int) -> str:
        """Return the string under `path` on one line without markup."""
        return line(self.raw(*path))

    def paragraphs(self, *path: str | int) -> str:
        """Return the string under `path` without markup, paragraphs by blank lines."""
        return paragraphs(self.raw(*path))

    def number(self, *path: str | int) -> int | None:
        """Return the whole number under `path`, also from a string of digits."""
        value = self.get(*path)
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        is_digits = isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,18}\s*", value)
        return int(value) if is_whole or is_digits else None

    def score(self, *path: str | int) -> float:
        """Return the number under `path` if it is finite, else 0.0."""
        value = self.get(*path)
        plain = value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
        return float(plain) if abs(plain) < 1e12 else 0.0

    def date(self, *path: str | int) -> str | None:
        """Return the date under `path` (see `iso_date`)."""
        return iso_date(self.get(*path))

    def first(self, *names: str) -> str:
        """Return the first of these fields that has a text; a dot leads into an object."""
        return next((line for name in names if (line := self.text(*self._path(name)))), "")

    def first_raw(self, *names: str) -> str:
        """Return the first of these fields that has a string, as it was sent."""
        return next((raw for name in names if (raw := self.raw(*self._path(name)))), "")

    def first_date(self, *names: str) -> str | None:
        """Return the first date in these fields."""
        return next((day for name in names if (day := self.date(*self._path(name)))), None)

    def _path(self, name: str) -> list[str | int]:
        steps = [name] if name in self else name.split(".")
        return [int(step) if step.isdecimal() else step for step in steps]

    def full_name(self, given: str, family: str) -> str:
        """Return the two parts of a name as one, "" when there is neither."""
        return f"{self.text(given)} {self.text(family)}".strip()


class Node:
    """An XML element or none, with parts by path: local names of nested elements.

    The namespace does not matter; what is not there reads as nothing.
    """

    def __init__(self, element: Any = None) -> None:
        """`element` is an `lxml.etree._Element`, or None."""
        self.element = element

    def __bool__(self) -> bool:
        """Whether there is an element."""
        return self.element is not None

    @property
    def name(self) -> str:
        """The element's name without its namespace, in lower case."""
        return str(self.element.tag).rsplit("}", 1)[-1].lower()

    def get(self, attribute: str) -> str:
        """Return an attribute, "" when it is not there."""
        return str(self.element.get(attribute) or "") if self else ""

    def child(self, *path: str) -> "Node":
        """Return the first descendant along `path`."""
        element = self.element
        for name in path:
            element = None if element is None else element.find(f"{{*}}{name}")
        return Node(element)

    def children(self, *path: str) -> "list[Node]":
        """Return the elements of `path`'s last name, below the first match of the rest."""
        *above, name = path
        parent = self.child(*above).element
        return [] if parent is None else [Node(one) for one in parent.findall(f"{{*}}{name}")]

    def descendants(self, name: str) -> "list[Node]":
        """Return all elements of a name, however deep."""
        return [Node(one) for one in self.element.iter(f"{{*}}{name}")] if self else []

    def raw(self, *path: str) -> str:
        """Return the raw text of the first descendant along `path`, or of this element."""
        found = self.child(*path).element
        return "" if found is None else "".join(str(part) for part in found.itertext())

    def text(self, *path: str) -> str:
        """Return all text inside the first descendant along `path` on one line."""
        return fold(self.raw(*path))

    def date(self, *path: str) -> str | None:
        """Return the date in the text along `path` (see `iso_date`)."""
        return iso_date(self.text(*path))

    def number(self, *path: str) -> int | None:
        """Return the whole number that the text along `path` is."""
        return Record(self.text(*path)).number()

    def markup(self, *path: str) -> str:
        """Return what is inside the first descendant along `path` as markup."""
        element = self.child(*path).element
        if element is None:
            return ""
        whole = import_module("lxml.etree").tostring(element, encoding="unicode", with_tail=False)
        return whole[whole.index(">") + 1 : whole.rindex("<")]

    def line(self, *path: str) -> str:
        """Return the content along `path` on one line without markup."""
        return line(self.markup(*path))

    def paragraphs(self, *path: str) -> str:
        """Return the content along `path` without markup, paragraphs by blank lines."""
        return paragraphs(self.markup(*path))


class Declaration:
    """What a source declares, once, in class variables for tables, messages and docs."""

    name: ClassVar[str]  # in settings and reports
    purpose: ClassVar[str]
    needs: ClassVar[str | None] = None  # the environment variable without which nothing works
    also: ClassVar[tuple[str, ...]] = ()  # those that are used when they are set, such as a token that raises limits
    nothing_is_404: ClassVar[bool] = False  # the service answers so where it has found nothing

    @classmethod
    def variables(cls) -> tuple[str, ...]:
        """Return the environment variables this source may use, the needed one first."""
        return (*((cls.needs,) if cls.needs else ()), *cls.also)

    @classmethod
    def key_variable(cls) -> str | None:
        """Return the key's variable, as in messages, or None; others hold addresses, ids."""
        return next((name for name in cls.variables() if name.endswith(("_KEY", "_TOKEN", "_EMAIL"))), None)

    @classmethod
    def judge(cls, response: ApiResponse) -> None:
        """Pass a success; raise what the status means, naming a key that repairs it.

        A refusal that asks to wait, by a header or in words, is a limit.
        """
        meaning = status_meaning(response.status, response.headers)
        if meaning == "success":
            return
        asks = meaning == "forbidden" and requested_wait(response.headers, time.time()) is not None
        asks = asks or (meaning in ("forbidden", "refused") and _WAIT_WORDS.search(explanation(response)))
        if meaning == "wait" or asks:
            raise cls.limited(response)
        status = f"(HTTP {response.status}{_explained(response)})"
        variable = cls.key_variable()
        key = f"the key in {variable}" if variable else "this computer"
        why = {
            "login": f"{key} was refused {status}",
            "payment": f"the plan of {key} is used up {status}",
            "forbidden": f"access was refused {status}{f'; check {variable}' if variable else ''}",
            "missing": f"not found {status}",
            "down": f"the service failed {status}",
        }.get(meaning, f"the request was not accepted {status}")
        raise cls.failure(error_kind(meaning), response, why)

    @classmethod
    def json_of(cls, response: ApiResponse) -> Any:
        """Return the JSON of a successful answer; raise as `judge`, or Unreadable.

        An `error` or the `code` of one inside the answer is judged too.
        """
        cls.judge(response)
        try:
            answer = json.loads(response.body.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            raise cls._no_data(response, "JSON") from None
        error, code = Record(answer).record("error"), Record(answer).number("code") or 0
        if error:
            raise cls.own_failure(response, error.first("code", "type"), error.first("message", "info"))
        if code >= HTTPStatus.BAD_REQUEST:
            cls.judge(response._replace(status=min(code, 599)))
        return answer

    @classmethod
    def object_of(cls, response: ApiResponse, *fields: str, what: str = "results") -> Record:
        """Return an answer's JSON object; raise Unreadable if it has none of `fields`."""
        answer = cls.json_of(response)
        if isinstance(answer, Mapping) and (not fields or any(field in answer for field in fields)):
            return Record(answer)
        raise cls.failure(Unreadable, response, f"the answer has no {what} in it{_explained(response)}")

    @classmethod
    def list_of(cls, response: ApiResponse, *path: str, what: str = "results") -> list[Record]:
        """Return the objects in the list under `path`. Raises Unreadable without a list."""
        answer = Record(cls.json_of(response))
        if isinstance(answer.get(*path), list):
            return answer.records(*path)
        raise cls.failure(Unreadable, response, f"the answer has no {what} in it{_explained(response)}")

    @classmethod
    def xml_of(cls, response: ApiResponse, *, lenient: bool = False) -> Node:
        """Return the root element of a successful answer (see `parse_xml`)."""
        cls.judge(response)
        return cls.parse_xml(response, lenient=lenient)

    @classmethod
    def parse_xml(cls, response: ApiResponse, *, lenient: bool = False) -> Node:
        """Return the root element of an answer whatever its status. Raises Unreadable.

        `lenient` also reads complete documents with small faults. External entities and DTDs are refused.
        """
        etree = import_module("lxml.etree")
        body = response.body.lstrip()
        if not body.startswith((b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or _HTML.match(body):
            raise cls._no_data(response, "XML")
        for recover in (False, True) if lenient and _CLOSED.search(body[-2_000:]) else (False,):
            parser = etree.XMLParser(
                resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover
            )
            try:
                root = etree.fromstring(body, parser)
            except (etree.XMLSyntaxError, ValueError):
                continue
            if root is not None:
                return Node(root)
        raise cls._no_data(response, "XML")

    @classmethod
    def parser(
        cls,
        *path: str,
        fields: Sequence[str] = (),
        what: str = "results",
        records: Callable[[ApiResponse], Iterable[Any]] | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., list[Found]]]:
        """Make a function that reads one record of an answer read the whole answer.

        The records are those of `records`, or in the list under `path`; an answer with one of `fields` but without the
        list is a record itself. What is made raises SourceError.
        """

        def listed(response: ApiResponse) -> Iterable[Any]:
            if not fields:
                return cls.list_of(response, *path, what=what)
            answer = cls.object_of(response, *fields, what=what)
            return answer.records(*path) if path[0] in answer else [answer]

        def reading_all(read_one: Callable[..., Any]) -> Callable[..., list[Found]]:
            @wraps(read_one, assigned=("__module__", "__qualname__", "__name__", "__doc__"))
            def read_all(response: ApiResponse, *about: Any) -> list[Found]:
                if cls.nothing_is_404 and response.status == HTTPStatus.NOT_FOUND:
                    return []
                made = (read_one(record, *about) for record in (records or listed)(response))
                return [found for one in made if one is not None and (found := one.found(cls.name))]

            return read_all

        return reading_all

    @classmethod
    def failure(cls, kind: type[_E], response: ApiResponse, why: str) -> _E:
        """Return an error of `kind` on this answer; its message begins with the source."""
        parts = urlsplit(response.url)
        url = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"  # a query may hold a key
        return kind(f"{cls.name}: {why}", source=cls.name, url=url, status=response.status)

    @classmethod
    def limited(cls, response: ApiResponse) -> RateLimited:
        """Return the error that says how long to wait, as far as the API says."""
        wait = requested_wait(response.headers, time.time())
        after = f"; wait {wait:.0f} s" if wait is not None else ""
        why = f"too many requests (HTTP {response.status}{_explained(response)}){after}"
        return replace(cls.failure(RateLimited, response, why), retry_after=wait)

    @classmethod
    def own_failure(cls, response: ApiResponse, code: str, why: str) -> SourceError:
        """Return the error that a service names inside its answer, by a code or in words."""
        told = ": ".join(filter(None, (code, _shorten(why))))
        kinds = (kind for kind, signs in _OWN_CODES.items() if any(sign in code for sign in signs))
        kind, variable = next(kinds, SourceError), cls.key_variable()
        if kind is SourceError and _WAIT_WORDS.search(told):
            return cls.limited(response)
        check = f"; check {variable}" if kind is Blocked and variable else ""
        return cls.failure(kind, response, f"the request was not accepted ({told}){check}")

    @classmethod
    def _no_data(cls, response: ApiResponse, wanted: str) -> SourceError:
        body = response.body.strip()
        if not body:
            return cls.failure(Unreadable, response, f"the answer is empty instead of {wanted}")
        if _HTML.match(body):
            return cls.failure(Unreadable, response, f"the answer is an HTML page instead of {wanted}")
        if len(body) < _MAX_WHY_CHARS and _WAIT_WORDS.search(body.decode("utf-8", "replace")):
            return cls.limited(response)
        opened = body[:1] in b"{[<"
        return cls.failure(Unreadable, response, f"the answer is {'broken or cut off' if opened else 'no'} {wanted}")


def explanation(response: ApiResponse) -> str:
    """Return the answer's own reason: a JSON error's message, or a short plain text."""
    try:
        value = json.loads(response.body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        is_page = _HTML.match(response.body)
        return "an HTML page" if is_page else _shorten(response.body[:2000].decode("utf-8", "replace"))
    return _shorten(_message(value))


def _message(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth > 3:
        return ""
    if isinstance(value, list):
        return next((found for item in value[:5] if (found := _message(item, depth + 1))), "")
    for name in _EXPLAINING:
        for item in Record(value).items(name):
            if found := _message(item, depth + 1):
                return found
    return ""


def _explained(response: ApiResponse) -> str:
    why = explanation(response)
    return f": {why}" if why else ""


def _shorten(words: str) -> str:
    words = _ADDRESS.sub("…", line(words))
    return words if len(words) <= _MAX_WHY_CHARS else f"{words[:_MAX_WHY_CHARS]}…"
