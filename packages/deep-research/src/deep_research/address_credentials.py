"""Keep user and password of addresses (`https://USER:PASSWORD@host`) apart.

Where a setting or variable is read, they are taken out of its address, remembered in this process for the place that
the address names, and masked in all texts (`safe_text`). Only what opens a connection there asks for them.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from deep_research.errors import ConfigError
from deep_research.safe_text import register_secrets

_ADDRESS = re.compile(
    r"\s*(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<user>[^/?#\s]*)@(?P<place>[^/?#\s@]*)(?P<rest>.*)", re.S
)
_UNCODED = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s@:]+:(?!\d+(?:[/?#]|$))[^@\n]*@[^/?#\s@]+")
"""A password that has not been encoded; behind a colon an address has a port."""
_WORD = re.compile("[A-Za-z]?[a-z-]*")
"""A password that is a word is masked in its address alone: every text is full of words."""
_PORTS = {"http": ":80", "https": ":443"}
_known: dict[str, str] = {}


def without_credentials(value: Any) -> Any:
    """Return a setting without address credentials, even nested ones; remember them."""
    if isinstance(value, str):
        found = _ADDRESS.fullmatch(value)
        if found is None and _UNCODED.match(value):
            register_secrets((value.partition("://")[2],))
            message = "An address has a password with a sign that ends it; write / as %2F, # as %23, ? as %3F, a blank as %20."
            raise ConfigError(message, setting="address")
        if found is None or not found["user"]:
            return value
        hide_credentials(value)
        _known[_place(found["scheme"], found["place"])] = found["user"]
        return f"{found['scheme']}://{found['place']}{found['rest']}"
    if isinstance(value, Mapping):
        return {name: without_credentials(one) for name, one in value.items()}
    return type(value)(map(without_credentials, value)) if isinstance(value, list | tuple) else value


def hide_credentials(address: str) -> str:
    """Return an address unchanged; mask its credentials in all texts from now on."""
    if (found := _ADDRESS.fullmatch(address)) is not None and found["user"]:
        user, _, password = found["user"].partition(":")
        pair = f"{unquote(user)}:{unquote(password)}"
        register_secrets(
            (f"://{found['user']}@", f"{found['user']}@{found['place']}", b64encode(pair.encode()).decode())
        )
        alone = password or user
        if not _WORD.fullmatch(alone):
            register_secrets((pair, alone, unquote(alone)))
    return address


def _place(scheme: str, place: str) -> str:
    scheme, place = scheme.lower(), place.lower()
    return f"{scheme}://{place.removesuffix(_PORTS.get(scheme, ' '))}"


def credentials_for(address: str) -> tuple[str, str] | None:
    """Return user and password for an address, or None if none were given."""
    if (found := _known_for(address)) is None:
        return None
    user, _, password = found.partition(":")
    return unquote(user), unquote(password)


def _known_for(address: str) -> str | None:
    scheme, _, rest = address.partition("://")
    return _known.get(_place(scheme, re.split("[/?#]", rest, maxsplit=1)[0]))


def basic_authorization(address: str) -> dict[str, str]:
    """Return the Basic authorization header for an address (RFC 7617), or nothing."""
    found = credentials_for(address)
    return {} if found is None else {"authorization": f"Basic {b64encode(':'.join(found).encode()).decode()}"}


def proxy_for(address: str, proxy: str) -> str | None:
    """Return a proxy with credentials; None without one, and for this machine."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    is_here = host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host)
    return with_credentials(proxy) if proxy and not is_here else None


def with_credentials(address: str) -> str:
    """Return an address with its credentials, for a client without another way."""
    found = _known_for(address)
    return address if found is None else address.replace("://", f"://{found}@", 1)
