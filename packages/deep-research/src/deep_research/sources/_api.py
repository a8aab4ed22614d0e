"""What all sources behind web APIs share: options, keys, queries, calls, errors."""

import re
from abc import abstractmethod
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from claimcheck.text.cleaning import shorten
from claimcheck.text.tokens import STOP_WORDS
from deep_research.concurrency import in_background
from deep_research.data import Document, Found, Gap, SearchResult
from deep_research.errors import Blocked, ConfigError, NotFound, SourceError, Unreadable, WorkTooLarge
from deep_research.ports import ApiClient, ApiResponse, Progress
from deep_research.reading_child import limits_of
from deep_research.safe_text import register_secrets
from deep_research.sources._api_answers import Declaration
from deep_research.sources._record_documents import read_page
from deep_research.worker_pool import call_in_worker, in_worker_thread

_WORD = re.compile(r"\w(?:[\w.+#/'’\-]*[\w+#])?")


def attempts(query: str, *, narrow: bool, max_chars: int) -> Iterator[str]:
    """Yield the query; for a `narrow` API its first eight keywords, then three alone."""
    line = shorten(query, max_chars).removesuffix(" …")
    if not narrow or re.search(r'\w:\S|"', line):  # fields and phrases: somebody knows what they ask for
        yield line
        return
    words = keywords(line)
    yield " ".join(words[:8])
    if len(words) > 3:
        yield " ".join(words[:3])


def keywords(query: str) -> list[str]:
    """Return a query's words but stop words, as written; all if there are no others."""
    words = _WORD.findall(query)
    telling = [word for word in words if word.lower() not in STOP_WORDS]
    return telling or words or [query]


class Pace(NamedTuple):
    """The call rate a service documents for its smallest plan; `why` says where."""

    per_second: float
    why: str
    most: float  # per second that can be set
    at_once: int = 1  # calls that may follow each other after a pause


class ApiOptions(BaseModel):
    """Options of every source: where its API is, and how often it may be called."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field("", description="Address of the API; a proxy, mirror or test server can stand in for it.")
    requests_per_second: float = Field(1.0, gt=0, description="Calls per second at most.")
    burst: int = Field(1, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")

    @field_validator("*", mode="before")
    @classmethod
    def _split_list(cls, value: Any, info: ValidationInfo) -> Any:
        """Take a list as text with commas: `--set` and the environment know nothing else."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        listed = get_origin(annotation) is tuple and isinstance(value, str)
        return tuple(part.strip() for part in value.split(",") if part.strip()) if listed else value

    @field_validator("base_url")
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        return web_addresses((value,))[0].rstrip("/") if value else value

    @field_validator("requests_per_second")
    @classmethod
    def _is_polite(cls, value: float, info: ValidationInfo) -> float:
        most = (info.context or {}).get("most", value)
        if value > most:
            raise PydanticCustomError("less_than_equal", "Input should be less than or equal to {le}", {"le": most})
        return value

    def addresses(self) -> tuple[str, ...]:
        """Return the addresses that the source itself calls."""
        return (self.base_url,) if self.base_url else ()


def web_addresses(value: tuple[str, ...]) -> tuple[str, ...]:
    """Return `value`; raise ValueError for what is no web address (for validators)."""
    for address in value:
        if not address.startswith(("https://", "http://")):
            raise ValueError(f"{address!r} does not begin with https:// or http://")
    return value


class DatedOptions(ApiOptions):
    """Options of a source that can search a period."""

    since: date | None = Field(None, description="Nothing published before this day.")
    until: date | None = Field(None, description="Nothing published after this day.")

    def period(
        self, template: str, *, first: str = "1990-01-01", last: str = "2100-12-31", form: str = "%Y-%m-%d"
    ) -> str:
        """Return `template` with {since} and {until} (open: `first`, `last`), or ""."""
        if not (self.since or self.until):
            return ""
        since = f"{self.since:{form}}" if self.since else first
        return template.format(since=since, until=f"{self.until:{form}}" if self.until else last)

    def covers(self, day: str | None) -> bool:
        """Return whether a date (YYYY, YYYY-MM, YYYY-MM-DD) is in the period; None is."""
        since, until = str(self.since or ""), str(self.until or "9999")
        return since <= (day or until) <= until

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since > self.until:
            raise ValueError(f"since ({self.since}) is later than until ({self.until})")
        return self


_T = TypeVar("_T")


async def read_answer(parse: Callable[..., _T], response: ApiResponse, *about: Any) -> _T:
    """Return `parse(response, *about)`, read in a worker where it is long.

    Raises the errors of `parse`, and Unreadable if it is too slow.
    """
    if len(response.body) <= 65_536:
        return parse(response, *about)
    return await in_a_worker(parse, response, *about, size=len(response.body))


async def in_a_worker(work: Callable[..., _T], *given: Any, size: int) -> _T:
    """Do `work(*given)` in a worker, in limits for `size` bytes; or raise Unreadable."""
    returns = cast("type[_T]", get_type_hints(work)["return"])
    try:
        return await in_worker_thread(call_in_worker, work, *given, returns=returns, limits=limits_of(size))
    except WorkTooLarge as error:
        raise Unreadable(f"the answer was not read: {error.message}", reason="size") from error


Options = TypeVar("Options", bound=ApiOptions)


class ApiSource(Declaration, Generic[Options]):
    """A place behind a web API; subclasses declare it, write `_search` (and `_read`).

    Keys come in by the names of their environment variables.
    """

    address: ClassVar[str] = ""  # of its API, unless the option `base_url` says otherwise
    pace: ClassVar[Pace] = Pace(1.0, "Calls per second at most.", most=100)
    headers: ClassVar[Mapping[str, str]] = {"accept": "application/json"}
    key_header: ClassVar[tuple[str, str]] = ("", "")
    """The header that carries the key, if there is one, and how: ("authorization", "Bearer {}")."""
    narrow: ClassVar[bool] = False  # it wants every word of the query: it is asked with keywords, then with fewer
    max_query_chars: ClassVar[int] = 300
    over_http: ClassVar[bool] = True  # not so the results of a database
    reads_pages: ClassVar[bool] = False  # those at any address
    options_type: ClassVar[type[ApiOptions]]  # those that the class is declared with: `ApiSource[…]`
    asked_in: str = ""  # the language of the run's question, for sources with editions

    def __init_subclass__(cls) -> None:
        for base in cls.__dict__.get("__orig_bases__", ()):
            if declared := [each for each in get_args(base) if isinstance(each, type)]:
                cls.options_type = declared[0]

    def __init__(self, options: Options, client: ApiClient, keys: Mapping[str, str]) -> None:
        self.options = options
        self._client = client
        self._keys = {name: keys[name].strip() for name in self.variables() if keys.get(name, "").strip()}
        # Their parts too, and how basic authentication writes them.
        secrets = (value for name, value in self._keys.items() if not name.endswith("_URL"))
        register_secrets(form for v in secrets for form in (v, *v.split(":"), basic(v), basic(f"{v}:")))

    @classmethod
    def build(cls, options: Mapping[str, Any] | None, client: ApiClient, keys: Mapping[str, str]) -> Self:
        """Return the source with these options or defaults; raise ConfigError if wrong."""
        return cls(cls.read_options(options), client, keys)  # pyright: ignore[reportArgumentType]

    @classmethod
    def read_options(cls, options: Mapping[str, Any] | None) -> ApiOptions:
        """Return the options as an object of this source's type. Raises ConfigError."""
        own = {"base_url": cls.address, "requests_per_second": cls.pace.per_second, "burst": cls.pace.at_once}
        try:
            return cls.options_type.model_validate(own | dict(options or {}), context={"most": cls.pace.most})
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "options"
            setting = f"source_options.{cls.name}.{place}"
            message = f"The option {setting} = {first['input']!r} does not fit: {first['msg'].lower()}."
            raise ConfigError(message, setting=setting, value=first["input"]) from None

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set before the source works, "" when it is ready."""
        is_set = not cls.needs or keys.get(cls.needs, "").strip() or (cls.is_at_address() and options.base_url)
        return "" if is_set else f"set {cls.needs}"

    @classmethod
    def is_at_address(cls) -> bool:
        """Return whether the service is one's own, by `base_url` or `needs` variable."""
        return bool(cls.needs and cls.needs.endswith("_URL"))

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        """Return the gap of a source that lacks its key; nothing is called."""
        missing = self.missing(self.options, self._keys)
        return [self._gap(f"search at {self.name}", missing)] if missing else []

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """Return up to `limit` results, best first, each once; or raise SourceError."""
        if limit < 1 or not query.strip():
            return SearchResult()
        self._insist_on_key()
        result = SearchResult()
        for attempt in attempts(query, narrow=self.narrow, max_chars=self.max_query_chars):
            result = await self._search(attempt, limit)
            if result.found:
                break
        kept: dict[str, Found] = {}
        for one in result.found:
            kept.setdefault(one.key, one)
        return result.model_copy(update={"found": tuple(kept.values())[:limit]})

    async def read(self, found: Found) -> Document:
        """Return a result's text; raise NotFound where the API knows its address alone."""
        with suppress(Unreadable):
            if text := await _text_in(found):
                return text
        self._insist_on_key()
        for read in await self._read(found):
            if text := await _text_in(read):
                return text
        where = found.url or found.key
        raise NotFound(f"{self.name} has no text of {found.title!r}: open {where}", source=self.name, url=found.url)

    async def close(self) -> None:
        """Nothing is held: the client belongs to the caller."""

    @abstractmethod
    async def _search(self, query: str, limit: int) -> SearchResult:
        raise NotImplementedError

    async def _read(self, found: Found) -> Sequence[Found]:
        """Return a result with its text, where the API has it in another call."""
        return ()

    async def _found_in(self, parse: Callable[..., Iterable[Found]], call: Awaitable[ApiResponse]) -> SearchResult:
        return result(await read_answer(parse, await call))

    async def _get(self, path: str, params: Mapping[str, str | int] | None = None) -> ApiResponse:
        given = {name: value for name, value in (params or {}).items() if value != ""}
        return await self._client.request("GET", f"{self._base()}{path}", params=given, headers=self._headers())

    async def _post(self, path: str, body: Mapping[str, object]) -> ApiResponse:
        given = {name: value for name, value in body.items() if value not in (None, "", [], ())}
        return await self._client.request("POST", f"{self._base()}{path}", json=given, headers=self._headers())

    def _base(self) -> str:
        own = self._keys.get(self.needs or "", "") if self.is_at_address() else ""
        return self.options.base_url or own.rstrip("/")

    def _headers(self) -> dict[str, str]:
        (header, form), key = self.key_header, self._key()
        return {**self.headers, **({header: form.format(key)} if header and key else {})}

    def _key(self) -> str:
        return self._keys.get(self.key_variable() or "", "")

    def _gap(self, what: str, why: str | SourceError) -> Gap:
        return Gap(what=what, why=why.message if isinstance(why, SourceError) else why, source=self.name)

    def _insist_on_key(self) -> None:
        if missing := self.missing(self.options, self._keys):
            raise Blocked(f"{self.name} is not ready: {missing}", source=self.name)


def join_parts(between: str, *parts: str) -> str:
    """Return the parts that are not empty as one text."""
    return between.join(filter(None, parts))


def basic(login: str) -> str:
    """Return USER:PASSWORD as basic authentication writes it."""
    return b64encode(login.encode()).decode()


async def _text_in(found: Found) -> Document | None:
    return found.document or (await in_background(read_page, found) if found.page_text else None)


def result(found: Iterable[Found | None], gaps: Iterable[Gap] = ()) -> SearchResult:
    """Return a result of what is there."""
    return SearchResult(found=tuple(one for one in found if one is not None), gaps=tuple(gaps))
