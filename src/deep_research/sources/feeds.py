"""Any RSS or Atom feed that the user names (RSS 0.9–2.0, RDF, Atom 1.0, JSON Feed)."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field, field_validator

from deep_research.data import Found, Gap
from deep_research.errors import SourceError
from deep_research.ports import ApiResponse
from deep_research.sources._answers import Place
from deep_research.sources._api import ApiOptions
from deep_research.sources._feed import entries
from deep_research.sources._listing import ListingSource

NAME = "feeds"
PURPOSE = "News and blogs that publish an RSS or Atom feed, as named in the settings."
NEEDS = None
_PLACE = Place(NAME)


class FeedsOptions(ApiOptions):
    """Options of feeds; there is no base address, each feed has its own."""

    feeds: tuple[str, ...] = Field((), description="Addresses of the feeds.", max_length=100)

    @field_validator("feeds")
    @classmethod
    def _are_web_addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for address in value:
            if not address.startswith(("https://", "http://")):
                raise ValueError(f"{address!r} does not begin with https:// or http://")
        return value


class FeedsSource(ListingSource[FeedsOptions]):
    """Ranks the entries of all feeds; a feed that fails is a gap as long as another answers."""

    name = NAME
    purpose = PURPOSE
    options_type: ClassVar = FeedsOptions

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: there are no feeds by default."""
        del keys
        return (
            ""
            if isinstance(options, FeedsOptions) and options.feeds
            else "name feeds in the option sources.feeds.feeds"
        )

    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._feed(address)) for address in self.options.feeds]
        answers = [task.result() for task in tasks]
        errors = [answer for answer in answers if isinstance(answer, SourceError)]
        if len(errors) == len(answers):
            raise errors[0]
        found = [one for answer in answers if isinstance(answer, list) for one in answer]
        return found, [Gap(what="a feed", why=error.message, source=NAME) for error in errors]

    async def _feed(self, address: str) -> list[Found] | SourceError:
        try:
            return parse_feed(await self._client.request("GET", address, headers=self._headers()))
        except SourceError as error:
            return error

    def _headers(self) -> dict[str, str]:
        return {"accept": "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9"}


def parse_feed(response: ApiResponse) -> list[Found]:
    """Return the entries of a feed in its order. Raises SourceError when it is none."""
    return entries(response, _PLACE)


build = FeedsSource.build
COMPONENT = FeedsSource
