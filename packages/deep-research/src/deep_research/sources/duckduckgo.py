"""DuckDuckGo without a key: the HTML results page, for there is no official API."""

from importlib import import_module
from typing import Any, ClassVar
from urllib.parse import parse_qs, urljoin, urlsplit

from pydantic import Field

from claimcheck.text.cleaning import fold
from deep_research.data import SearchResult
from deep_research.errors import RateLimited, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, Pace
from deep_research.sources._web import Page, WebOptions, sited

_CHALLENGE = (b"anomaly-modal", b"anomaly.js", b"challenge-form")
_CHALLENGE_STATUS = 202


class _DuckDuckGoOptions(WebOptions):
    region: str = Field("", pattern=r"^([a-z]{2}-[a-z]{2})?$", description="Region, such as us-en or cn-zh.")


class DuckDuckGoSource(ApiSource[_DuckDuckGoOptions]):
    """Searches the web."""

    name = "duckduckgo"
    purpose = "General web search without a key; slow and easily refused, so the last resort."
    address = "https://html.duckduckgo.com"
    pace = Pace(0.3, "No number is published; it refuses who asks more often than every few seconds.", most=2)
    headers: ClassVar = {"accept": "text/html"}

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        params = {"q": sited(query, options), "kl": options.region, "df": options.period("{since}..{until}")}
        return await self._found_in(parse_search, self._get("/html/", params))


def _blocks(response: ApiResponse) -> list[Any]:
    """Return the results of the HTML page; advertisements are left out.

    Raises RateLimited when the page is a challenge (HTTP 202), SourceError.
    """
    if response.status == _CHALLENGE_STATUS or any(mark in response.body for mark in _CHALLENGE):
        why = "the site asks for a proof of humanity; wait some minutes"
        raise DuckDuckGoSource.failure(RateLimited, response, why)
    DuckDuckGoSource.judge(response)
    html = import_module("lxml.html")
    try:
        root = html.document_fromstring(response.body, parser=html.HTMLParser(encoding="utf-8", no_network=True))
    except (ValueError, import_module("lxml.etree").ParserError):
        root = html.Element("html")
    blocks = root.xpath("//*[contains(concat(' ', @class, ' '), ' result ')]")
    if not blocks and not root.xpath("//*[contains(@class, 'no-results')]"):
        raise DuckDuckGoSource.failure(Unreadable, response, "the page has no results in it")
    return [block for block in blocks if "result--ad" not in (block.get("class") or "")]


@DuckDuckGoSource.parser(records=_blocks)
def parse_search(block: Any) -> Page | None:
    """Return a page of a search."""
    links = block.xpath(".//a[contains(@class, 'result__a')]")
    excerpts = [one.text_content() for one in block.xpath(".//*[contains(@class, 'result__snippet')]")]
    if not links:
        return None
    return Page(fold(links[0].text_content()), _target(links[0].get("href") or ""), fold("".join(excerpts[:1])))


def _target(address: str) -> str:
    """Return the address behind DuckDuckGo's redirect."""
    try:
        parts = urlsplit(urljoin("https://duckduckgo.com/", address))
    except ValueError:
        return ""
    if parts.netloc.endswith("duckduckgo.com"):
        return parse_qs(parts.query).get("uddg", [""])[0] if parts.path.startswith("/l/") else ""
    return parts.geturl()
