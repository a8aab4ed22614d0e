"""Strict parsing of web addresses, and the known addresses that may be opened.

Two programs that read one address differently (a checker and a connector) are how guards are bypassed. So an ambiguous
address is refused, and others are taken apart once, here; everything after works on the parts. Host names follow
UTS #46, dot segments RFC 3986 section 5.2.4.
"""

import ipaddress
import re
import threading
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import quote, urljoin

from deep_research.errors import Blocked
from deep_research.text.page_noise import without_orders

MAX_LENGTH = 8_000
_LONGEST_AUTHORITY = 1_000  # four times a name's 253: decoding international names takes long for longer ones
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_WEB = re.compile(r"(https?)://(?!/)", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/?#]*")
_PORT = re.compile(r"[0-9]{1,5}\Z", re.ASCII)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z", re.ASCII)
# The WHATWG URL standard reads a host whose last label looks like this as an IPv4 address.
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\Z", re.IGNORECASE | re.ASCII)
_DOT_SEGMENT = re.compile(r"(?:\.|%2e){1,2}\Z", re.IGNORECASE)
_LOOSE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_KEPT = "!$&'()*+,;=:@/%-._~"
_IN_TEXT = re.compile(r"https?://[^\s<>\"'`\\^{}|\x00-\x1f、。，；！？「」『』【】《》“”]+", re.IGNORECASE)
_TRAILING = ".,;:!?*_~…。，、；：！？）」』】》”’"
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Address:
    """A web address in parts; `host` is lower-case ASCII, without brackets."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and, unless it is the scheme's own, port: the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole address in its one spelling, without fragment."""
        return self.origin + self.target

    @property
    def ip(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """The address when the host is an IP address, not a name."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def refuse(url: str, rule: str, why: str) -> NoReturn:
    """Raise Blocked for `url`; `rule` is the short name of what it broke."""
    message = f"The address {_shown(url)} is not opened: {why}."
    raise Blocked(message, url=url, reason=rule)


def parse_address(text: str) -> Address:
    """Return a web address in parts. Raises Blocked (`reason`) unless http or https."""
    url = text.strip(" \t\r\n\f")
    _check_characters(url)
    match = _WEB.match(url)
    if not match:
        if (named := _SCHEME.match(url)) and named.group(1).lower() not in _DEFAULT_PORTS:
            refuse(url, "scheme", f"only http and https are, not {named.group(1)!r}")
        refuse(url, "form", "it is not of the form http://host/…")
    scheme = match.group(1).lower()
    authority = _AUTHORITY.match(url, match.end())
    assert authority is not None
    host, port = _split_authority(url, authority.group())
    return Address(scheme, _host(url, host), _port(url, scheme, port), _target(url[authority.end() :]))


def join_address(base: Address, reference: str) -> Address:
    """Return where a link or Location header leads from `base`. Raises Blocked."""
    reference = reference.strip(" \t\r\n\f")
    _check_characters(reference)
    if _SCHEME.match(reference):
        return parse_address(reference)
    try:
        joined = urljoin(base.url, reference)
    except ValueError:
        refuse(reference, "form", "it cannot be read")
    return parse_address(joined)


def _check_characters(url: str) -> None:
    if not url or len(url) > MAX_LENGTH:
        refuse(url, "length", "it is empty" if not url else f"it is longer than {MAX_LENGTH} characters")
    plain = url.isascii() and url.isprintable()
    if not plain and any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in url):
        refuse(url, "control character", "it holds control characters")
    if "\\" in url:
        refuse(url, "backslash", "programs disagree on what a backslash means")


def _split_authority(url: str, authority: str) -> tuple[str, str]:
    if "@" in authority or "＠" in authority:
        refuse(url, "userinfo", "it carries a user name, which hides where it leads")
    if len(authority) > _LONGEST_AUTHORITY:
        refuse(url, "host", "its host is too long")
    if "%" in authority:
        refuse(url, "percent-encoded host", "its host is percent-encoded or has a zone id")
    if any(unicodedata.category(char) in ("Cf", "Zs") for char in authority):
        refuse(url, "invisible character", "its host holds spaces or invisible characters")
    if authority.startswith("["):
        host, closed, rest = authority.partition("]")
        if not closed or (rest and not rest.startswith(":")):
            refuse(url, "host", "its IPv6 address is not closed properly")
        return host + closed, rest.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port


def _port(url: str, scheme: str, port: str) -> int:
    if not port:
        return _DEFAULT_PORTS[scheme]
    if not _PORT.match(port) or not 0 < int(port) < 65_536:
        refuse(url, "port", f"{port!r} is no port number")
    return int(port)


def _host(url: str, host: str) -> str:
    if not host:
        refuse(url, "host", "it names no host")
    if host.startswith("["):
        try:
            return str(ipaddress.IPv6Address(host[1:-1]))
        except ValueError:
            refuse(url, "host", "its IPv6 address cannot be read")
    name = _ascii(url, host).removesuffix(".")
    labels = name.split(".")
    if _NUMBER.match(labels[-1]):
        return _ipv4(url, host, name)
    if len(name) > 253 or not all(_LABEL.match(label) for label in labels):
        refuse(url, "host", "its host is no valid name")
    return name


def _ascii(url: str, host: str) -> str:
    """Return a host name in its wire form; a name that only looks encoded is refused."""
    plain = host.isascii()
    if plain and "xn--" not in host.lower():
        return host.lower()
    import idna  # noqa: PLC0415 - its tables are large and most names are plain

    try:
        mapped = host.lower() if plain else idna.encode(host, uts46=True, std3_rules=True).decode("ascii")
        idna.decode(mapped)
    except (idna.IDNAError, UnicodeError, IndexError):
        refuse(url, "international name", "its host is no valid international name")
    if not plain and ("xn--" not in mapped or _NUMBER.match(mapped.rstrip(".").rpartition(".")[2])):
        refuse(url, "disguised host", f"its host is written in characters that stand for {mapped!r}")
    return mapped


def _ipv4(url: str, host: str, name: str) -> str:
    try:
        address = ipaddress.IPv4Address(name)
    except ValueError:
        refuse(url, "numeric notation", "its host is a number that is not a plain IPv4 address")
    if host.removesuffix(".") != str(address):
        refuse(url, "numeric notation", "its IPv4 address is not written the plain way")
    return str(address)


def _target(rest: str) -> str:
    rest = rest.partition("#")[0]
    path, mark, query = rest.partition("?")
    target = _without_dots(_encoded(path, _KEPT)) or "/"
    return target + mark + _encoded(query, _KEPT + "?") if query else target


def _encoded(text: str, kept: str) -> str:
    return quote(_LOOSE_PERCENT.sub("%25", text), safe=kept)


def _without_dots(path: str) -> str:
    """Return the path that is requested, which rules must see: without `.` and `..`."""
    if "." not in path and "%2e" not in path.lower():
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if not _DOT_SEGMENT.match(segment):
            kept.append(segment)
        elif len(re.sub("%2e", ".", segment, flags=re.IGNORECASE)) == 2 and kept:
            kept.pop()
    if segments and _DOT_SEGMENT.match(segments[-1]):
        kept.append("")
    return "/" + "/".join(kept)


def _shown(url: str) -> str:
    short = url if len(url) <= 200 else url[:200] + "…"
    return ascii(short) if not short.isprintable() else repr(short)


class KnownAddresses:
    """The addresses that a user, a source or a page has named; thread-safe.

    http and https of one address are one, and so are `/path` and `/path/`: neither difference can carry anything out.
    """

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._keys: set[str] = set()
        self._linked: set[str] = set()
        self._hosts: set[str] = set()
        self._lock = threading.Lock()
        self.add(*urls)

    def add(self, *urls: str) -> None:
        """Add web addresses named by a user or source, with their hosts; skip other text."""
        found = _read(urls)
        with self._lock:
            self._keys |= {_key(address) for address in found}
            self._hosts |= {_site(address) for address in found}

    def add_linked(self, *urls: str) -> None:
        found = _read(urls)
        with self._lock:
            self._linked |= {_key(address) for address in found}

    def add_page_text(self, text: str) -> None:
        """Add the addresses in a page's or record's text, except in orders to readers."""
        self.add_linked(*named_in_page(text))

    def __contains__(self, url: str) -> bool:
        """Whether the address was named."""
        return any(self._holds(address) for address in _read([url]))

    def __len__(self) -> int:
        """How many addresses are known."""
        return len(self._keys | self._linked)

    def check(self, address: Address) -> None:
        """Raise Blocked when nobody named the address."""
        if not self._holds(address):
            refuse(address.url, "not named", "neither the user nor a source nor a page that was read has named it")

    def _holds(self, address: Address) -> bool:
        key = _key(address)
        with self._lock:
            if key in self._keys:
                return True
            return key in self._linked and ("?" not in address.target or _site(address) in self._hosts)


def urls_in(text: str) -> list[str]:
    """Return a text's web addresses in order, without the punctuation after them."""
    return [_trimmed(match.group()) for match in _IN_TEXT.finditer(text) if len(match.group()) <= MAX_LENGTH]


def named_in_page(text: str) -> list[str]:
    """Return the web addresses in a page's text, without those in orders to readers."""
    if "://" not in text:
        return []
    # Whether a line gives orders is dear to tell, and few lines name an address.
    return urls_in(without_orders("\n".join(line for line in text.split("\n") if "://" in line)))


def _trimmed(url: str) -> str:
    left, end = {sign: url.count(sign) for sign in "()[]{}"}, len(url)
    while end and ((last := url[end - 1]) in _TRAILING or left.get(last, 0) > left.get(_PAIRS.get(last, last), 0)):
        left[last] = left.get(last, 0) - 1
        end -= 1
    return url[:end]


def _read(urls: Iterable[str]) -> list[Address]:
    found: list[Address] = []
    for url in urls:
        with suppress(Blocked):
            found.append(parse_address(url))
    return found


def _site(address: Address) -> str:
    return address.host.removeprefix("www.")


def _key(address: Address) -> str:
    port = "" if address.port in (80, 443) else f":{address.port}"
    path, mark, query = address.target.partition("?")
    return f"{address.host}{port}{path.removesuffix('/')}{mark}{query}"
