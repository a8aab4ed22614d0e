"""Every error of the program, drawn as a tree. Branches answer "what can the reader do about it".

ResearchError
├── ConfigError            fix a setting, flag or argument
├── SourceError            the world failed: a place to search or a page to read
│   ├── Unreachable        try later
│   ├── RateLimited        wait `retry_after` seconds
│   ├── Blocked            the place refuses us
│   ├── NotFound           it is not there
│   └── Unreadable         it is there but has no text we can read
├── ModelError             a language model failed
│   ├── ContextTooLong     send less
│   ├── Refused            the model declines
│   ├── MalformedOutput    the answer does not fit its schema
│   ├── ModelRateLimited   wait `retry_after` seconds
│   └── ProviderDown       try later or elsewhere
├── StoreError             the disk or database failed
├── RunNotFound            no such run
├── RunBusy                another process carries the run out
├── NeedsAnswer            the run waits for an answer of the user
├── Declined               ended on purpose: nothing can answer it, or the user rejected the plan
├── LimitReached           a budget is spent
└── Stopped                the user asked to stop
"""

from typing import Any


class ResearchError(Exception):
    """Base of all errors raised on purpose. The message says what, which value, and what to do."""

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel through checkpoints and processes."""
        return (_rebuild, (type(self), self.message, self.fields))


def _rebuild(kind: type[ResearchError], message: str, fields: dict[str, object]) -> ResearchError:
    return kind(message, **fields)


class ConfigError(ResearchError, ValueError):
    """A setting is wrong. Fields: setting, value, came_from."""


class SourceError(ResearchError):
    """A source or page failed. Fields: source, url, status, retry_after."""


class Unreachable(SourceError):
    """It did not answer."""


class RateLimited(SourceError):
    """It asked us to wait."""


class Blocked(SourceError):
    """It refuses us, or our own guard refuses it."""


class NotFound(SourceError):
    """It does not exist."""


class Unreadable(SourceError):
    """It has no text that we can read: broken, encrypted, empty or of an unknown format."""


class ModelError(ResearchError):
    """A language model failed. Fields: model, provider, status, request_id, retry_after."""


class ContextTooLong(ModelError):
    """The prompt does not fit the model."""


class Refused(ModelError):
    """The model declines to answer."""


class MalformedOutput(ModelError):
    """The answer does not fit the form that was asked for."""


class ModelRateLimited(ModelError):
    """The provider asked us to wait."""


class ProviderDown(ModelError):
    """The provider does not answer or is overloaded."""


class StoreError(ResearchError):
    """The disk is full, a file cannot be written, or a database is damaged. Fields: path."""


class RunNotFound(ResearchError):
    """There is no run of that id. Fields: run_id."""


class RunBusy(ResearchError):
    """Another process carries the run out. Fields: run_id, process."""


class Declined(ResearchError):
    """The run ended on purpose without a report. Fields: run_id, by ("program": nothing can answer it; "user")."""


class NeedsAnswer(ResearchError):
    """The run waits for an answer of the user. Fields: run_id, options, asked (an `Asked`)."""

    @property
    def asked(self) -> Any:
        """Return what the user is asked."""
        return self.fields["asked"]


class LimitReached(ResearchError):
    """A budget is spent. Fields: kind, used, limit."""


class Stopped(ResearchError):
    """The user asked to stop; the state is kept. Fields: run_id."""
