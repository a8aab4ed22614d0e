"""Shared parts of web search engines: options, address keys and `Found` results."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import Field, field_validator

from deep_research.data import Found
from deep_research.sources._api import DatedOptions, join_parts
from deep_research.sources._api_answers import Record
from deep_research.sources._papers import arxiv_id, doi, pmid, work_key
from deep_research.sources._record_documents import Item, line

LEAST_EXCERPT = 400  # a shorter one only tells what the page is about
_TRACKING = re.compile(r"utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|igshid|ref_src|spm")
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")
_TRIAL = re.compile(r"/(?:ct2/show/|study/)(NCT\d{8})")


class WebOptions(DatedOptions):
    """Options of a web search engine."""

    include_domains: tuple[str, ...] = Field((), max_length=20, description="Only pages of these domains.")
    exclude_domains: tuple[str, ...] = Field((), max_length=20, description="No pages of these domains.")
    language: str = Field("", pattern=r"^([a-z]{2})?$", description="Language of the pages, such as en.")

    @field_validator("include_domains", "exclude_domains")
    @classmethod
    def _are_domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        domains = tuple(domain.lower().strip(".") for domain in value)
        for domain in domains:
            if not _DOMAIN.fullmatch(domain):
                raise ValueError(f"{domain!r} is no domain; write it as example.org")
        return domains


class Page(NamedTuple):
    """One web search result with the engine's `excerpt`, or the whole page in `text`.

    An excerpt of `least` characters or more becomes a document that says so: it stands in for a page that cannot be
    read.
    """

    title: str
    url: str
    excerpt: str = ""
    published: str | None = None
    author: str = ""
    score: float = 0.0
    text: str = ""
    least: int = LEAST_EXCERPT

    def found(self, origin: str) -> Found | None:
        """Return it as a result, None when it has no web address."""
        if not urlsplit_or_none(self.url):
            return None
        is_whole = bool(self.text.strip())
        is_excerpt = not is_whole and len(self.excerpt) >= self.least
        return Item(
            key=page_key(self.url),
            title=self.title or self.url,
            url=self.url,
            about=self.excerpt or self.text,
            shown=500,
            published=self.published,
            authors=[self.author],
            score=self.score,
            sections=[("Excerpt", self.excerpt if is_excerpt else "")],
            warnings=[f"an excerpt by {origin}, not the whole page"],
            page_text=self.text if is_whole else "",
            excerpt=is_excerpt,
        ).found(origin)


def page_of(
    entry: Record,
    *,
    title: str = "title",
    url: str = "url",
    excerpt: str = "",
    published: str = "",
    author: str = "",
    text: str = "",
) -> Page:
    """Return what a result says of its page: per part the first field with a text.

    Names of fields have spaces between; a dot leads into an object or a list.
    """
    return Page(
        title=line(entry.first_raw(*title.split())),
        url=entry.first(*url.split()),
        excerpt=line(entry.first_raw(*excerpt.split())),
        published=entry.first_date(*published.split()),
        author=line(entry.first(*author.split())),
        score=entry.score("score"),
        text=entry.first_raw(*text.split()),
    )


def urlsplit_or_none(url: str) -> str:
    """Return the host of a web address, "" when it is none."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "" if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


def page_key(url: str) -> str:
    """Return one key for all spellings of an address; a known work has its own."""
    parts = urlsplit(url)
    host, path = (parts.hostname or "").removeprefix("www."), parts.path
    if host.endswith("arxiv.org") and (paper := arxiv_id(f"arxiv.org{path}")):
        return work_key({"arxiv": paper})
    if host in ("doi.org", "dx.doi.org") and (name := doi(path)):
        return work_key({"doi": name})
    if host == "pubmed.ncbi.nlm.nih.gov" and (number := pmid(path.strip("/"))):
        return work_key({"pmid": number})
    if host == "clinicaltrials.gov" and (trial := _TRIAL.search(path)):
        return f"nct:{trial[1]}"
    if host == "github.com" and len(names := path.strip("/").split("/")) == 2:
        return f"github:{'/'.join(names).lower()}"
    query = [(name, value) for name, value in parse_qsl(parts.query) if not _TRACKING.fullmatch(name)]
    return urlunsplit((parts.scheme, parts.netloc.lower(), path.rstrip("/") or "/", urlencode(query), ""))


def sited(query: str, options: WebOptions) -> str:
    """Return the query with `site:` operators, for engines without domain parameters."""
    included = " OR ".join(f"site:{domain}" for domain in options.include_domains)
    included = f"({included})" if len(options.include_domains) > 1 else included
    excluded = " ".join(f"-site:{domain}" for domain in options.exclude_domains)
    return join_parts(" ", query, included, excluded)
