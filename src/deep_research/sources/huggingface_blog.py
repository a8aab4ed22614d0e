"""The Hugging Face blog, through its feed of titles."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from deep_research.data import Found, Gap
from deep_research.ports import ApiResponse
from deep_research.sources._api import DatedOptions
from deep_research.sources._feed import entries
from deep_research.sources._listing import ListingSource


class HuggingFaceBlogOptions(DatedOptions):
    """Options of the Hugging Face blog."""

    base_url: str = Field("https://huggingface.co", description="Address of the site.")


class HuggingFaceBlogSource(ListingSource[HuggingFaceBlogOptions]):
    """Ranks the posts of the feed by their titles; the posts themselves are pages."""

    name = "huggingface_blog"
    purpose = "Posts of the Hugging Face blog on models, libraries and methods."
    headers: ClassVar = {"accept": "application/rss+xml, application/xml;q=0.9"}

    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        posts = parse_feed(await self._get("/blog/feed.xml"))
        return [post for post in posts if self.options.covers(post.published)], []


def parse_feed(response: ApiResponse) -> list[Found]:
    """Return the posts of the feed, newest first; it has titles, dates and addresses only. Raises SourceError."""
    return entries(response, HuggingFaceBlogSource)
