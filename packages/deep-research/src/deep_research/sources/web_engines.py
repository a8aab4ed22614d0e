"""Web search engines: each finds pages of others, and some send their text along."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Literal
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from pydantic import Field

from claimcheck.text.cleaning import fold
from deep_research.data import Found, SearchResult
from deep_research.errors import Blocked, NotFound, RateLimited, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, Pace, join_parts, read_answer, result
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import distinct, line, snippet
from deep_research.sources._web import LEAST_EXCERPT, Page, WebOptions, page_key, page_of, sited


class BochaSource(ApiSource[WebOptions]):
    """Searches the web with summaries of the pages."""

    name = "bocha"
    purpose = "General web search, strong on Chinese pages."
    address = "https://api.bochaai.com"
    pace = Pace(2.0, "By what has been paid in so far (open.bochaai.com).", most=50)
    needs = "BOCHA_API_KEY"
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        body = {
            "query": query,
            "summary": True,
            "count": min(limit, 50),
            "freshness": options.period("{since}..{until}") or "noLimit",
            "include": "|".join(options.include_domains),
            "exclude": "|".join(options.exclude_domains),
        }
        return await self._found_in(parse_bocha, self._post("/v1/web-search", body))


@BochaSource.parser("data", "webPages", "value", fields=("data",))
def parse_bocha(entry: Record) -> Page:
    """Return a page of a search."""
    # The "last crawled" of this service is the day of publication.
    page = page_of(entry, title="name", url="url displayUrl", published="datePublished dateLastCrawled")
    summary, short = entry.raw("summary"), entry.raw("snippet")
    # What it calls a summary is text of the page, made to be read in its place.
    least = 60 if len(summary) >= 60 else LEAST_EXCERPT
    return page._replace(excerpt=max(summary, short, key=len), least=least)


class BraveSource(ApiSource[WebOptions]):
    """Searches the web and the news in it."""

    name = "brave"
    purpose = "General web search with an index of its own."
    address = "https://api.search.brave.com"
    pace = Pace(0.9, "1 per second with an older free key, 50 with others (api-dashboard.search.brave.com).", most=50)
    needs = "BRAVE_API_KEY"
    key_header = ("x-subscription-token", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        params = {
            "q": sited(query, options),
            "count": min(limit, 20),
            "search_lang": options.language,
            "freshness": options.period("{since}to{until}"),
            "extra_snippets": "true",
        }
        return await self._found_in(parse_brave, self._get("/res/v1/web/search", params))


def _brave_entries(response: ApiResponse) -> Iterator[Record]:
    """Yield entries in the order of `mixed.main`, then all blocks, so some twice."""
    answer = BraveSource.object_of(response, "web", "query", "mixed", "news")
    blocks = {name: answer.records(name, "results") for name in ("web", "news", "discussions", "faq")}
    for place in answer.records("mixed", "main"):
        entries, index = blocks.get(place.text("type"), []), place.number("index")
        yield from entries if index is None else entries[index : index + 1]
    for entries in blocks.values():
        yield from entries


@BraveSource.parser(records=_brave_entries)
def parse_brave(entry: Record) -> Page:
    """Return a page of a search."""
    excerpts = distinct(map(line, [entry.first_raw("description", "answer"), *entry.texts("extra_snippets")]))
    page = page_of(entry, title="title question", published="page_age age", author="article.author.0.name")
    return page._replace(excerpt="\n\n".join(excerpts))


class DuckDuckGoSource(ApiSource[WebOptions]):
    """Searches the web."""

    name = "duckduckgo"
    purpose = "General web search without a key; slow and easily refused, so the last resort."
    address = "https://html.duckduckgo.com"
    pace = Pace(0.3, "No number is published; it refuses who asks more often than every few seconds.", most=2)
    headers: ClassVar = {"accept": "text/html"}

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"q": sited(query, self.options), "df": self.options.period("{since}..{until}")}
        return await self._found_in(parse_duckduckgo, self._get("/html/", params))


def _duckduckgo_results(response: ApiResponse) -> list[Any]:
    """Return the results of the HTML page but advertisements; it may be a challenge."""
    challenges = (b"anomaly-modal", b"anomaly.js", b"challenge-form")
    if response.status == 202 or any(mark in response.body for mark in challenges):
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


@DuckDuckGoSource.parser(records=_duckduckgo_results)
def parse_duckduckgo(block: Any) -> Page | None:
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


_EXA_CHARS = 20_000  # of a page; a longer one comes as an excerpt


class ExaSource(ApiSource[WebOptions]):
    """Searches the web; the text of the pages comes with the results."""

    name = "exa"
    purpose = "General web search by meaning, with the text of the pages."
    address = "https://api.exa.ai"
    pace = Pace(5.0, "10 searches per second (exa.ai/docs/reference/rate-limits).", most=50, at_once=5)
    needs = "EXA_API_KEY"
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        body = {
            "query": query,
            "numResults": min(limit, 25),
            "includeDomains": list(options.include_domains),
            "excludeDomains": list(options.exclude_domains),
            "startPublishedDate": f"{options.since}T00:00:00.000Z" if options.since else "",
            "endPublishedDate": f"{options.until}T23:59:59.999Z" if options.until else "",
            "contents": {"text": {"maxCharacters": _EXA_CHARS}},
        }
        found = await read_answer(parse_exa, await self._post("/search", body))
        return result(one.model_copy(update={"excerpt": len(one.page_text) >= _EXA_CHARS}) for one in found)


@ExaSource.parser("results")
def parse_exa(entry: Record) -> Page:
    """Return a page of a search."""
    return page_of(entry, url="url id", published="publishedDate", author="author", text="text")


_GOOGLE_ENGINE = "GOOGLE_CSE_ID"
_META_DATES = ("article:published_time", "datepublished", "citation_publication_date", "og:updated_time", "date")
_SERPER_BLOCKS = ("organic", "news", "places", "answerBox")


class _GoogleCseOptions(WebOptions):
    engine: str = Field("", description="Id of the search engine (cx); else GOOGLE_CSE_ID.")


class GoogleCseSource(ApiSource[_GoogleCseOptions]):
    """Searches with an engine that its owner has set up."""

    name = "google_cse"
    purpose = "General web search with Google's results over a search engine of one's own."
    address = "https://customsearch.googleapis.com"
    pace = Pace(1.0, "100 calls per day are free (developers.google.com/custom-search/v1/overview).", 10, at_once=10)
    needs = "GOOGLE_API_KEY"
    also = (_GOOGLE_ENGINE,)

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: a key, and the id of the engine."""
        engine = isinstance(options, _GoogleCseOptions) and options.engine
        return super().missing(options, keys) or ("" if engine or keys.get(_GOOGLE_ENGINE) else f"set {_GOOGLE_ENGINE}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        params = {
            "q": sited(query, options),
            "num": min(limit, 10),
            "cx": options.engine or self._keys.get(_GOOGLE_ENGINE, ""),
            "lr": f"lang_{options.language}" if options.language else "",
            "sort": f"date:r:{options.since:%Y%m%d}:{options.until:%Y%m%d}" if options.since and options.until else "",
            "key": self._key(),
        }
        return await self._found_in(parse_google_cse, self._get("/customsearch/v1", params))


@GoogleCseSource.parser("items", fields=("items", "searchInformation", "kind"))
def parse_google_cse(entry: Record) -> Page:
    """Return a page of a search; no `items` means nothing was found."""
    about = entry.record("pagemap", "metatags", 0)
    author = about.first("article:author_name", "citation_author", "author")
    page = page_of(entry, url="link", excerpt="snippet")
    return page._replace(published=about.first_date(*_META_DATES), author=author)


class _SerperOptions(WebOptions):
    kind: Literal["search", "news", "scholar", "patents"] = Field("search", description="What to search.")


class SerperSource(ApiSource[_SerperOptions]):
    """Searches with Google's index."""

    name = "serper"
    purpose = "General web, news, scholar and patent search with Google's results."
    address = "https://google.serper.dev"
    pace = Pace(4.0, "5 per second with the free credits (serper.dev).", most=100)
    needs = "SERPER_API_KEY"
    key_header = ("x-api-key", "{}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        body = {
            "q": join_parts(" ", sited(query, options), options.period("after:{since} before:{until}")),
            "num": min(limit, 100),
            "hl": options.language,
        }
        return await self._found_in(parse_serper, self._post(f"/{options.kind}", body))


def _serper_results(response: ApiResponse) -> list[Record]:
    answer = SerperSource.object_of(response, "searchParameters", "credits", *_SERPER_BLOCKS)
    return [entry for name in (*_SERPER_BLOCKS, "knowledgeGraph") for entry in answer.records(name)]


@SerperSource.parser(records=_serper_results)
def parse_serper(entry: Record) -> Page:
    """Return a page of a search, of the answer box or of the knowledge box."""
    return page_of(
        entry,
        url="link descriptionLink website",
        excerpt="snippet answer description",
        published="date publicationDate grantDate year",
        author="inventor author",
    )


class _JinaOptions(WebOptions):
    reader_url: str = Field("https://r.jina.ai", description="Address of the reader.")


class JinaSource(ApiSource[_JinaOptions]):
    """Searches the web; reading a result asks Jina for the page."""

    name = "jina"
    purpose = "General web search that returns the pages as Markdown; reads single pages."
    address = "https://s.jina.ai"
    pace = Pace(0.33, "40 searches per minute or more, by the kind of key (jina.ai/contact-sales).", 20, at_once=20)
    needs = "JINA_API_KEY"
    reads_pages = True
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        return await self._found_in(parse_jina, self._get(f"/{quote(sited(query, self.options), safe='')}"))

    async def _read(self, found: Found) -> list[Found]:
        address = f"{self.options.reader_url.rstrip('/')}/{found.url}"
        return await read_answer(parse_jina, await self._client.request("GET", address, headers=self._headers()))

    @classmethod
    def json_of(cls, response: ApiResponse) -> Any:
        """Return the JSON of an answer. Raises NotFound for a page that gave an error."""
        answer = super().json_of(response)
        if warning := Record(answer).line("data", "warning"):
            raise cls.failure(NotFound, response, f"the page could not be read: {warning[:200]}")
        return answer


@JinaSource.parser("data", fields=("data",))
def parse_jina(entry: Record) -> Page | None:
    """Return a page that was found or read, unless its site gave an error."""
    page = page_of(entry, excerpt="description", published="publishedTime date", text="content")
    return None if entry.text("warning") else page


class _PerplexityOptions(WebOptions):
    model: str = Field("sonar", description="Model that searches.")


class PerplexitySource(ApiSource[_PerplexityOptions]):
    """Asks for an answer and keeps what it was made from."""

    name = "perplexity"
    purpose = "Pages that an answering engine found; its answers are left out."
    address = "https://api.perplexity.ai"
    pace = Pace(0.4, "50 calls per minute for new keys (docs.perplexity.ai/guides/usage-tiers).", most=20, at_once=25)
    needs = "PERPLEXITY_API_KEY"
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        domains = [*options.include_domains, *(f"-{domain}" for domain in options.exclude_domains)]
        body = {
            "model": options.model,
            "messages": [{"role": "user", "content": query}],
            "max_tokens": 64,
            "search_domain_filter": domains[:20],
            "search_after_date_filter": f"{options.since:%m/%d/%Y}" if options.since else "",
            "search_before_date_filter": f"{options.until:%m/%d/%Y}" if options.until else "",
        }
        return await self._found_in(parse_perplexity, self._post("/chat/completions", body))


def _perplexity_pages(response: ApiResponse) -> list[Record]:
    answer = PerplexitySource.object_of(response, "choices", "citations", "search_results", what="citations")
    pages = answer.records("search_results")
    known = {page.text("url") for page in pages}
    return [*pages, *(Record({"url": url}) for url in answer.texts("citations") if url not in known)]


@PerplexitySource.parser(records=_perplexity_pages)
def parse_perplexity(entry: Record) -> Page:
    """Return a page of an answer."""
    return page_of(entry, excerpt="snippet", published="date last_updated")


class SearxngSource(ApiSource[WebOptions]):
    """Searches through the instance; engines that did not answer are a gap."""

    name = "searxng"
    purpose = "General web search over many engines through an instance of one's own."
    pace = Pace(2.0, "As the instance's own limiter allows (docs.searxng.org/admin/searx.limiter.html).", 100, 10)
    needs = "SEARXNG_URL"

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"q": sited(query, self.options), "format": "json", "language": self.options.language}
        response = await self._get("/search", params)
        found = await read_answer(parse_searxng, response)
        failed = await read_answer(parse_failed_engines, response)
        return result(found, [self._gap("some engines of searxng", failed)] if failed else [])


def _searxng_entries(response: ApiResponse) -> list[Record]:
    """Return the pages of a search and the infoboxes beside them."""
    try:
        answer = SearxngSource.object_of(response, "results")
    except (Blocked, Unreadable) as error:
        hint = "; the instance has to allow the format json in its settings.yml (search.formats)"
        raise replace(error, message=f"{error.message}{hint}") from None
    entries = [*answer.records("results"), *answer.records("infoboxes")]
    if not entries and (failed := parse_failed_engines(response)):
        raise SearxngSource.failure(Unreachable, response, f"no engine answered: {failed}")
    return entries


@SearxngSource.parser(records=_searxng_entries)
def parse_searxng(entry: Record) -> Page:
    """Return a page of a search, or an infobox."""
    titles, urls, dates = "title infobox", "url id urls.0.url", "publishedDate pubdate"
    return page_of(entry, title=titles, url=urls, excerpt="content", published=dates, author="author")


def parse_failed_engines(response: ApiResponse) -> str:
    """Return the engines without an answer, each with a reason; raise SourceError."""
    failed = SearxngSource.object_of(response, "results").items("unresponsive_engines")[:10]
    return snippet(", ".join(": ".join(Record(one).texts()) for one in failed))


class TavilySource(ApiSource[WebOptions]):
    """A web search; pages come with the results or are requested many at a time."""

    name = "tavily"
    purpose = "General web search that returns excerpts of the pages, and whole pages on request."
    address = "https://api.tavily.com"
    pace = Pace(
        0.8,
        "100 calls per minute for a development key, 1,000 for others (docs.tavily.com/documentation/rate-limits).",
        most=20,
        at_once=50,
    )
    needs = "TAVILY_API_KEY"
    reads_pages = True
    max_query_chars = 390
    key_header = ("authorization", "Bearer {}")

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        body = {
            "query": query,
            "max_results": min(limit, 20),
            "include_domains": list(options.include_domains),
            "exclude_domains": list(options.exclude_domains),
            "start_date": f"{options.since or ''}",
            "end_date": f"{options.until or ''}",
            "include_raw_content": "markdown",
        }
        return await self._found_in(parse_tavily, self._post("/search", body))

    async def _read(self, found: Found) -> list[Found]:
        response = await self._post("/extract", {"urls": [found.url], "format": "markdown"})
        pages = [page for page in await read_answer(parse_tavily, response) if page.key == page_key(found.url)]
        told = {"title": found.title, "published": found.published}
        return [page.model_copy(update=told) for page in pages if page.page_text]


@TavilySource.parser("results")
def parse_tavily(entry: Record) -> Page:
    """Return a page of a search or an extraction, without the engine's own `answer`."""
    return page_of(entry, published="published_date", text="raw_content")._replace(excerpt=entry.raw("content"))
