"""Any RSS or Atom feed that the user names (RSS 0.9–2.0, RDF, Atom 1.0, JSON Feed)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field, field_validator

from deep_research.data import Found, Gap
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, web_addresses
from deep_research.sources._feed import entries
from deep_research.sources._listing import ListingSource


class FeedsOptions(ApiOptions):
    """Options of feeds; there is no base address, each feed has its own."""

    feeds: tuple[str, ...] = Field((), description="Addresses of the feeds.", max_length=100)

    _are_web_addresses = field_validator("feeds")(web_addresses)

    def addresses(self) -> tuple[str, ...]:
        """Return the addresses of the feeds."""
        return self.feeds


class FeedsSource(ListingSource[FeedsOptions]):
    """Ranks the entries of all feeds; a feed that fails is a gap as long as another answers."""

    name = "feeds"
    purpose = "News and blogs that publish an RSS or Atom feed, as named in the settings."
    headers: ClassVar = {
        "accept": "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9"
    }

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: there are no feeds by default."""
        del keys
        return (
            ""
            if isinstance(options, FeedsOptions) and options.feeds
            else "name feeds in the option source_options.feeds.feeds"
        )

    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        return await self._side_by_side(self.options.feeds, self._feed, "a feed")

    async def _feed(self, address: str) -> list[Found]:
        return parse_feed(await self._client.request("GET", address, headers=self._headers()))


def parse_feed(response: ApiResponse) -> list[Found]:
    """Return the entries of a feed in its order. Raises SourceError when it is none."""
    return entries(response, FeedsSource)
