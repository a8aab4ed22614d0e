"""Whose name a host is: the registered domain, as far as the usual endings tell.

Where an ending is missing, two owners below it look like one, which is the cautious way round. Hosts of anybody's pages
(github.io, blogspot.com) are deliberately one domain each: who wants to can have a hundred names there.
"""

import ipaddress

_SECOND_LEVELS = frozenset(
    "ac asso co com edu firm gen go gob gouv gov govt gr gv hs ind lg ltd mil ne net nhs nic nom or"
    " org pe plc police re sc sch school".split()
)  # fmt: skip
"""Below the ending of a country these are no names: example.co.uk, example.ac.kr, example.gouv.fr."""


def registered_domain(host: str) -> str:
    """Return `example.co.uk` for `news.example.co.uk`, and an IP address itself."""
    name = host.casefold().rstrip(".")
    try:
        return str(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        labels = name.split(".")
    kept = 3 if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVELS else 2
    return ".".join(labels[-kept:])
