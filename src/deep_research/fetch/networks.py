"""Which IP addresses are the public Internet, and what the others are.

The special-purpose address registries of IANA (RFC 6890 and its successors,
https://www.iana.org/assignments/iana-ipv4-special-registry,
https://www.iana.org/assignments/iana-ipv6-special-registry) as a table of our own: the answers of
Python's `is_global` changed between versions. Addresses that carry another one inside
(IPv4-mapped, 6to4, Teredo, NAT64, ISATAP) are refused as a class: where they lead is decided elsewhere.
"""

import ipaddress
from functools import cache

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_SPECIAL = {
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
def special_networks() -> tuple[tuple[str, Network], ...]:
    """Return (kind, network) pairs, the most telling kind first."""
    return tuple((kind, ipaddress.ip_network(net)) for kind, nets in _SPECIAL.items() for net in nets.split())


def special_kind(address: IpAddress) -> str | None:
    """Return what kind of special address this is, or None when it is an ordinary public one."""
    for kind, network in special_networks():
        if address.version == network.version and address in network:
            return kind
    if isinstance(address, ipaddress.IPv6Address):
        if address not in _PUBLIC_IPV6:
            return "reserved"
        if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
            return "ISATAP"
    return None
