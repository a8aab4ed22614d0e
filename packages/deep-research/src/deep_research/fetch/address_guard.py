"""Rules for hosts, ports and IP addresses open to connections; no network."""

import ipaddress
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from deep_research.errors import ConfigError
from deep_research.fetch.addresses import Address, refuse

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_SPECIAL = {  # the most telling kind first
    "cloud metadata": "169.254.169.254/32 169.254.170.0/24 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32"
    " fd00:ec2::/32 fd20:ce::/32",
    "loopback": "127.0.0.0/8 ::1/128",
    "unspecified or this network": "0.0.0.0/8 ::/128",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
    "link-local": "169.254.0.0/16 fe80::/10",
    "shared by carriers (CGNAT)": "100.64.0.0/10",
    "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    "benchmarking": "198.18.0.0/15 2001:2::/48",
    "multicast": "224.0.0.0/4 ff00::/8",
    "broadcast": "255.255.255.255/32",
    "IPv4-mapped or -compatible IPv6": "::ffff:0:0/96 ::ffff:0:0:0/96 ::/96",
    "NAT64": "64:ff9b::/96 64:ff9b:1::/48",
    "6to4": "2002::/16 192.88.99.0/24",
    "Teredo": "2001::/32",
    "reserved": "240.0.0.0/4 192.0.0.0/24 192.31.196.0/24 192.52.193.0/24 192.175.48.0/24"
    " 2001::/23 100::/64 100:0:0:1::/64 2620:4f:8000::/48 5f00::/16",
}
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
_ISATAP = (0x00005EFE, 0x02005EFE)


@cache
def _special_networks() -> tuple[tuple[str, Network], ...]:
    return tuple((kind, ipaddress.ip_network(net)) for kind, nets in _SPECIAL.items() for net in nets.split())


def special_kind(address: IpAddress) -> str | None:
    """Return the kind of a special address, or None for an ordinary public one."""
    for kind, network in _special_networks():
        if address.version == network.version and address in network:
            return kind
    if isinstance(address, ipaddress.IPv6Address):
        if address not in _PUBLIC_IPV6:
            return "reserved"
        if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
            return "ISATAP"
    return None


# Names that lead inside by definition (RFC 6761, 6762, 8375; private-use .internal; Tor) or by habit.
_INSIDE = frozenset("localhost local internal intranet private corp home lan onion home.arpa".split())
# Web ports. Others are mostly not web servers, and asking them can trigger things (mail, Redis, printers).
WEB_PORTS = frozenset({80, 443, *range(8000, 9000)})


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """An entry of `allowed_internal_hosts`; port None means the web ports, 0 any."""

    name: str = ""
    network: Network | None = None
    port: int | None = None

    def covers_port(self, port: int) -> bool:
        return port in WEB_PORTS if self.port is None else self.port in (0, port)

    def covers_name(self, host: str) -> bool:
        if self.name.startswith("*."):
            return host.endswith(self.name[1:])
        return bool(self.name) and host == self.name

    def covers_ip(self, address: IpAddress) -> bool:
        return self.network is not None and address.version == self.network.version and address in self.network


class Guard:
    """Says which connections may be made; raises Blocked for all others."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        """Open the hosts `allowed`, see `parse_allowed`. Raises ConfigError if malformed."""
        self._allowed = tuple(parse_allowed(entry) for entry in allowed)

    def check_address(self, address: Address) -> None:
        """Judge host name, port and, where the host is one, IP address. Raises Blocked."""
        if address.ip is not None:
            self.check_ip(address, address.ip)
            return
        if any(entry.covers_name(address.host) and entry.covers_port(address.port) for entry in self._allowed):
            return
        labels = address.host.split(".")
        if len(labels) == 1 or labels[-1] in _INSIDE or ".".join(labels[-2:]) in _INSIDE:
            refuse(address.url, "internal name", f"{address.host!r} names a host of an internal network")
        # A name may still lead to an allowed network, with that entry's ports.
        if address.port not in WEB_PORTS and not any(
            entry.network and entry.port is not None for entry in self._allowed
        ):
            _refuse_port(address)

    def check_ip(self, address: Address, ip: IpAddress) -> None:
        """Judge an IP address about to be connected to for `address`. Raises Blocked."""
        for entry in self._allowed:
            if entry.covers_port(address.port) and (entry.covers_ip(ip) or entry.covers_name(address.host)):
                return
        if kind := special_kind(ip):
            where = "it" if address.ip else f"its name leads to {ip}, which"
            refuse(address.url, kind, f"{where} is no public address ({kind})")
        if address.port not in WEB_PORTS:
            _refuse_port(address)


def _refuse_port(address: Address) -> None:
    refuse(address.url, "port", f"port {address.port} is no web port (80, 443, 8000 to 8999)")


def parse_allowed(entry: str) -> AllowedHost:
    """Return a parsed entry of `allowed_internal_hosts`. Raises ConfigError.

    Forms are `host`, `*.domain`, `10.0.0.0/8` and `[::1]`, each with an optional `:port` or `:*`.
    """
    text = entry.strip().lower()
    host, port = text, None
    if text.count(":") == 1 or "]:" in text:
        host, _, port = text.rpartition(":")
    number = 0 if port == "*" else int(port) if port and port.isdecimal() else None
    host = host.strip("[]").removesuffix(".")
    if port in (None, "*") or (number and number < 65_536):
        with suppress(ValueError):
            return AllowedHost(network=ipaddress.ip_network(host, strict=False), port=number)
        if re.fullmatch(r"(?:\*\.)?[A-Za-z0-9._-]+", host):
            return AllowedHost(name=host, port=number)
    message = f"allowed_internal_hosts: {entry!r} is no host, *.domain or network, each with an optional :port or :*."
    raise ConfigError(message, setting="allowed_internal_hosts", value=entry)
