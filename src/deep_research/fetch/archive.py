"""Archived copies of dead pages: the Wayback Machine's availability API.

https://archive.org/help/wayback_api.php; `id_` after the time of a copy asks for the bytes as archived.
"""

import json
import re
from urllib.parse import quote

from deep_research.errors import NotFound, Unreadable
from deep_research.fetch.addresses import Address, parse_address

BASE = "https://archive.org"
_COPY = re.compile(r"(/web/\d{4,14})(?:[a-z]{2}_)?/")


def query(base: str, address: Address) -> Address:
    """Return the address that asks for the newest copy of `address`."""
    return parse_address(f"{base.rstrip('/')}/wayback/available?url={quote(address.url, safe='')}")


def copy_address(body: bytes, address: Address) -> Address:
    """Return where the copy is. Raises NotFound when there is none, Unreadable when the answer is no JSON."""
    try:
        closest = json.loads(body)["archived_snapshots"].get("closest") or {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"The archive's answer about {address.url} cannot be read."
        raise Unreadable(message, url=address.url) from error
    url = closest.get("url") if isinstance(closest, dict) else None
    if (
        not isinstance(url, str)
        or not closest.get("available")
        or not str(closest.get("status", "200")).startswith("2")
    ):
        raise NotFound(f"There is no archived copy of {address.url}.", url=address.url)
    url = re.sub(r"^http://web\.archive\.org", "https://web.archive.org", url)
    return parse_address(_COPY.sub(r"\1id_/", url, count=1))
