"""Access tokens of the HTTP API, 256 random bits; only their SHA-256 is kept."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from deep_research import api
from deep_research.data.noun import Noun
from deep_research.errors import ConfigError, StoreError
from deep_research.state_files import OWNERS, lock, make_private_folder, open_private

_FILE, _PREFIX = "access-tokens.json", "drt_"
_OWNER = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


class TokenRecord(Noun):
    """A stored token; `id` is the start of its hash, used to list and revoke it."""

    id: str
    owner: str
    sha256: str
    created: str


_records = TypeAdapter(tuple[TokenRecord, ...])


class AccessTokens:
    """The tokens of a state folder; changes by other processes take effect at once."""

    def __init__(self, home: Path) -> None:
        self._home, self._path = home, home / _FILE
        self._seen: tuple[int, int] = (0, 0)
        self._owners: dict[str, str] = {}

    def create(self, owner: str) -> str:
        """Create an owner's token, shown this once. Raises ConfigError, StoreError."""
        if not _OWNER.fullmatch(owner):
            message = f"The owner {owner!r} must be 1–40 small letters, digits and . _ -, a letter or digit first."
            raise ConfigError(message, setting="owner", value=owner)
        token = _PREFIX + secrets.token_urlsafe(32)
        digest = _digest(token)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._alone():
            self._save([*self.records(), TokenRecord(id=digest[:12], owner=owner, sha256=digest, created=now)])
        return token

    def records(self) -> Sequence[TokenRecord]:
        """Return the tokens by creation time. Raises StoreError for a damaged file."""
        try:
            return _records.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError) as error:
            message = f"The tokens in {str(self._path)!r} cannot be read. Delete the file to begin anew."
            raise StoreError(message, path=str(self._path)) from error

    def check(self, host: str) -> None:
        """Raise ConfigError where there is no token yet for an address that asks for one."""
        if not self.records():
            how = "Make one for each owner: deep-research token create NAME"
            raise ConfigError(f"{host} asks for a token, and there is none. {how}", setting="host", value=host)

    def revoke(self, token_id: str) -> TokenRecord:
        """Take a token back by its id. Raises ConfigError for an unknown one."""
        with self._alone():
            records = self.records()
            found = [record for record in records if record.id == token_id]
            if not found:
                raise ConfigError(f"There is no token {token_id!r}.", setting="token", value=token_id)
            self._save(record for record in records if record.id != token_id)
        return found[0]

    def owner_of(self, token: str) -> str | None:
        """Return the owner of a token, or None for an unknown one."""
        return self._known().get(_digest(token))

    def has_several_owners(self) -> bool:
        """Return whether there are tokens of more than one owner."""
        return len(set(self._known().values())) > 1

    def _known(self) -> Mapping[str, str]:
        """Return the owners by token hash, read again after the file has changed."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return {}
        if (stat.st_mtime_ns, stat.st_size) != self._seen:
            self._owners = {record.sha256: record.owner for record in self.records()}
            self._seen = (stat.st_mtime_ns, stat.st_size)
        return self._owners

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock out other processes that make or revoke tokens. Raises StoreError."""
        try:
            make_private_folder(self._home)
            with open_private(self._path.with_suffix(".lock"), "a") as file:
                lock(file.fileno(), wait=True)
                yield
        except OSError as error:
            message = f"Cannot write {str(self._path)!r}: {error.strerror}. Check the disk and the rights."
            raise StoreError(message, path=str(self._path)) from error

    def _save(self, records: Iterable[TokenRecord]) -> None:
        api.write_bytes_atomically(self._path, _records.dump_json(tuple(records), indent=1), private=True)


def owner_home(home: Path, owner: str) -> Path:
    """Return an owner's state folder, apart from others; "" is this machine's user."""
    return home / OWNERS / owner if owner else home


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
