"""All errors of the program, as a tree by the reader's possible remedy.

`dataclasses.replace(error, url=…)` returns a changed copy.

ResearchError
├── ConfigError            fix a setting, flag or argument
│   └── ModelSetupError    fix the key, the model's name or the address of a provider
├── SourceError            a source to search or a page to read failed
│   ├── Unreachable        try later
│   ├── RateLimited        wait `retry_after` seconds
│   ├── Blocked            the source refuses us, or our own guard refuses it
│   ├── NotFound           it is not there
│   └── Unreadable         it is there but has no text we can read
├── ModelError             a language model failed
│   ├── ContextTooLong     send less
│   ├── Refused            the model declines
│   ├── MalformedOutput    the answer does not fit its schema
│   ├── ModelRateLimited   wait `retry_after` seconds
│   └── ProviderDown       try later or elsewhere
├── StoreError             the disk or database failed
│   └── RunTakenOver       another process carries the run out now; this one stops
├── WorkTooLarge           a text takes more time or memory to work on than it may
├── RunNotFound            no such run
├── RunBusy                another process carries the run out
├── ReplayDiffers          a replay asks for something that the recorded run did not
├── NeedsAnswer            the run waits for an answer of the user
├── Declined               ended on purpose: nothing can answer it, or the user rejected the plan
├── LimitReached           a budget is spent
└── Stopped                the user asked to stop
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from deep_research.safe_text import safe_message, safe_text

if TYPE_CHECKING:
    from deep_research.data import Asked, Usage


_LONGEST = 4_000  # of a message, which may hold what a server sent


@dataclass(eq=False, repr=False)
class ResearchError(Exception):
    """Base of all deliberate errors; a message names fact, value and remedy."""

    message: str

    def __post_init__(self) -> None:
        """Make the texts safe to keep and to show, and let Exception know the message."""
        self.__dict__.update({key: safe_text(told) for key, told in self.__dict__.items() if isinstance(told, str)})
        said = safe_message(self.message)
        self.message = said if len(said) <= _LONGEST else f"{said[:_LONGEST]} …"
        super().__init__(self.message)

    def __reduce__(self) -> tuple[object, ...]:
        """Return what pickle needs: errors travel through checkpoints and processes."""
        return (rebuilt, (type(self), self.__dict__))


def rebuilt(kind: type[ResearchError], attributes: dict[str, Any]) -> ResearchError:
    """Return an error of `kind` with these attributes."""
    error = kind(attributes["message"])
    error.__dict__.update(attributes)
    return error


@dataclass(eq=False, repr=False, kw_only=True)
class ConfigError(ResearchError, ValueError):
    """A setting, flag or argument is wrong; `came_from` is where its value was set."""

    setting: str = ""
    value: object = None
    came_from: str = ""
    reason: str = ""


@dataclass(eq=False, repr=False, kw_only=True)
class ModelSetupError(ConfigError):
    """A provider refuses the key, model name or request, or a key is missing.

    `reason` is one of no_key, bad_key, no_credit, no_access, unknown_model, bad_request, base_url.
    """

    provider: str = ""
    model: str = ""
    status: int | None = None
    request_id: str | None = None
    retry_after: float | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class SourceError(ResearchError):
    """A source or page failed.

    `status` is that of HTTP; `retry_after` are seconds; `reason` is the short name of what went wrong ("time",
    "robots", "dns", "size", …). `final`: the same request would fail again. `given_up`: the source is not asked again
    in this run. `limit` is the size that was exceeded, in bytes.
    """

    source: str = ""
    url: str = ""
    status: int | None = None
    retry_after: float | None = None
    reason: str = ""
    final: bool = False
    given_up: bool = False
    limit: int | None = None


class Unreachable(SourceError):
    """It did not answer."""


class RateLimited(SourceError):
    """It asked us to wait."""


class Blocked(SourceError):
    """It refuses us, or our own guard refuses it."""


class NotFound(SourceError):
    """It does not exist."""


class Unreadable(SourceError):
    """The content has no readable text: broken, encrypted, empty or unknown format."""


@dataclass(eq=False, repr=False, kw_only=True)
class ModelError(ResearchError):
    """A language model failed.

    `status` is that of HTTP; `retry_after` are seconds; `reason` tells errors of one class apart; `usage` is what a
    failed call was billed for, where that is known.
    """

    provider: str = ""
    model: str = ""
    status: int | None = None
    request_id: str | None = None
    retry_after: float | None = None
    reason: str = ""
    usage: "Usage | None" = None


@dataclass(eq=False, repr=False, kw_only=True)
class ContextTooLong(ModelError):
    """The prompt does not fit; `used`, `window` (with the answer): tokens, if known."""

    used: int | None = None
    window: int | None = None
    fits: int = 0  # estimated tokens that the next prompt may have


class Refused(ModelError):
    """The model declines to answer."""


@dataclass(eq=False, repr=False, kw_only=True)
class MalformedOutput(ModelError):
    """The answer, `text`, does not fit the form that was asked for."""

    text: str = ""


class ModelRateLimited(ModelError):
    """The provider asked us to wait."""


class ProviderDown(ModelError):
    """The provider does not answer or is overloaded."""


@dataclass(eq=False, repr=False, kw_only=True)
class StoreError(ResearchError):
    """The disk is full, a file cannot be written, or a database is damaged."""

    path: str = ""


class RunTakenOver(StoreError):
    """Another process took over the run after its lease expired; writing ends."""


class WorkTooLarge(ResearchError):
    """Work on a text took more time or memory than it may."""


@dataclass(eq=False, repr=False, kw_only=True)
class RunNotFound(ResearchError):
    """There is no run of that id, or it has no report yet."""

    run_id: str = ""


@dataclass(eq=False, repr=False, kw_only=True)
class RunBusy(ResearchError):
    """Another process carries the run out; `process` is its id, where that is known."""

    run_id: str = ""
    process: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class ReplayDiffers(ResearchError):
    """A replay's call (`kind`, `request`) or report is not that of the recorded run."""

    run_id: str = ""
    kind: str = ""
    request: str = ""


@dataclass(eq=False, repr=False, kw_only=True)
class NeedsAnswer(ResearchError):
    """The run waits for an answer of the user to the question `asked`."""

    run_id: str = ""
    options: tuple[str, ...] = ()
    asked: "Asked | None" = None


@dataclass(eq=False, repr=False, kw_only=True)
class Declined(ResearchError):
    """The run ended without a report: unanswerable (`by` program), or plan rejected."""

    run_id: str = ""
    by: Literal["program", "user"] = "program"


@dataclass(eq=False, repr=False, kw_only=True)
class LimitReached(ResearchError):
    """A budget is spent: US dollars ("usd") or tokens."""

    kind: str = ""
    used: float = 0
    limit: float = 0

    @property
    def amounts(self) -> dict[str, str]:
        """Return `used` and `limit` as texts."""
        used = f"{self.used:g}" if self.kind == "usd" else str(self.used)
        return {"used": used, "limit": str(self.limit)}


@dataclass(eq=False, repr=False, kw_only=True)
class Stopped(ResearchError):
    """The user asked to stop; the state is kept."""

    run_id: str = ""
