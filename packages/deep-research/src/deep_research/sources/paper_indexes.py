"""Registers and indexes of papers, searched by words or by the id of a paper."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from deep_research.data import SearchResult
from deep_research.errors import NotFound, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, DatedOptions, Pace, join_parts
from deep_research.sources._api_answers import Node, Record
from deep_research.sources._papers import Work, arxiv_id, doi, full_text_of_arxiv

_ARXIV_PREFIXES = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all|submittedDate):")


class ArxivSource(ApiSource[DatedOptions]):
    """Searches arXiv; a query that is an arXiv id or address gives that paper."""

    name = "arxiv"
    purpose = (
        "Preprints in physics, mathematics, computer science, biology, finance, statistics: abstracts and full text."
    )
    address = "https://export.arxiv.org"
    pace = Pace(1 / 3, "One call in three seconds (info.arxiv.org/help/api/tou.html).", most=1)
    narrow = True
    headers: ClassVar = {"accept": "application/atom+xml"}

    async def _search(self, query: str, limit: int) -> SearchResult:
        ids = [found for word in query.split() if (found := arxiv_id(word))]
        if ids and len(ids) == len(query.split()):
            params = {"id_list": ",".join(ids), "max_results": len(ids)}
        else:
            params = {"search_query": arxiv_query(query, self.options), "start": 0, "max_results": min(limit, 100)}
            params |= {"sortBy": "relevance", "sortOrder": "descending"}
        return await self._found_in(parse_arxiv, self._get("/api/query", params))


def arxiv_query(query: str, options: DatedOptions) -> str:
    """Return the query in arXiv's syntax, kept if it is: all words, in the period."""
    words = (f'"{word}"' if re.search(r"[^\w.]", word) else word for word in query.replace('"', "").split())
    wanted = query if _ARXIV_PREFIXES.search(query) else " AND ".join(f"all:{word}" for word in words)
    days = "submittedDate:[{since}0000 TO {until}2359]"
    period = options.period(days, form="%Y%m%d", first="19910101", last="21001231")
    return f"({wanted}) AND {period}" if period else wanted


def _arxiv_entries(response: ApiResponse) -> list[Node]:
    """Return the papers of an Atom answer; an error may be a feed of any status."""
    try:
        root = ArxivSource.parse_xml(response)
    except Unreadable:
        ArxivSource.judge(response)  # a failure says more than its page
        raise
    entries = root.children("entry")
    for why in (entry.text("summary") for entry in entries if "arxiv.org/api/errors" in entry.text("id")):
        kind = NotFound if "id format" in why else SourceError
        raise ArxivSource.failure(kind, response, f"the request was not accepted: {why[:200]}")
    ArxivSource.judge(response)
    if root.name != "feed":
        raise ArxivSource.failure(Unreadable, response, "the answer is no Atom feed")
    is_page_of_results = root.number("itemsPerPage") != 0
    if not entries and is_page_of_results and (root.number("totalResults") or 0) > (root.number("startIndex") or 0):
        why = "the answer lacks the results that it counts; try again later"  # when it is called too often
        raise ArxivSource.failure(Unreachable, response, why)
    return entries


@ArxivSource.parser(records=_arxiv_entries)
def parse_arxiv(entry: Node) -> Work | None:
    """Return a paper of an Atom answer."""
    versioned = entry.text("id").rsplit("/abs/", 1)[-1]
    if not arxiv_id(f"arxiv:{versioned}"):
        return None
    return Work(
        title=entry.raw("title"),
        arxiv=f"arxiv:{versioned}",
        doi=entry.text("doi"),
        url=f"https://arxiv.org/abs/{versioned}",
        authors=[author.text("name") for author in entry.children("author")],
        published=entry.date("published"),
        venue=entry.text("journal_ref"),
        abstract=entry.raw("summary"),
        facts=(
            ("Updated", entry.date("updated") if not versioned.endswith("v1") else None),
            ("Subjects", [category.get("term") for category in entry.children("category")]),
            ("Comment", entry.text("comment")),
        ),
        full_text=full_text_of_arxiv(versioned),
    )


_CROSSREF_FIELDS = (
    "DOI,title,subtitle,author,editor,abstract,container-title,published,published-online,published-print,issued,type,"
    "publisher,is-referenced-by-count,URL,link,score,volume,issue,page,update-to"
)
_CROSSREF_DATES = ("published", "published-online", "published-print", "issued", "posted", "created")


class CrossrefSource(ApiSource[DatedOptions]):
    """Searches by words; a query that is a DOI gives that work."""

    name = "crossref"
    purpose = "The register of DOIs: journal articles, books and conference papers, with abstracts where publishers give them."
    address = "https://api.crossref.org"
    pace = Pace(
        3.0,
        "By the pool, told in x-rate-limit-limit (www.crossref.org/documentation/retrieve-metadata/rest-api).",
        most=50,
    )
    also = ("CROSSREF_MAILTO",)

    async def _search(self, query: str, limit: int) -> SearchResult:
        mail = {"mailto": self._keys.get("CROSSREF_MAILTO", "")}
        if name := doi(query):
            params = {"filter": f"doi:{name}", "rows": 1}
        else:
            period = self.options.period("from-pub-date:{since},until-pub-date:{until}", first="1600-01-01")
            params = {"query.bibliographic": query, "rows": min(limit, 100), "filter": period}
            params |= {"select": _CROSSREF_FIELDS}
        return await self._found_in(parse_crossref, self._get("/works", params | mail))


def _people(persons: list[Record]) -> list[str]:
    return [person.full_name("given", "family") or person.first("name", "literal") for person in persons]


@CrossrefSource.parser("message", "items", what="works")
def parse_crossref(work: Record) -> Work:
    """Return a work of a list."""
    links = work.records("link")
    return Work(
        title=join_parts(": ", work.raw("title"), work.raw("subtitle")),
        doi=work.text("DOI"),
        otherwise=work.text("URL"),
        authors=_people(work.records("author")) or _people(work.records("editor")),
        published=next((day for field in _CROSSREF_DATES if (day := work.date(field, "date-parts"))), None),
        venue=work.first_raw("container-title", "publisher"),
        abstract=work.raw("abstract"),
        facts=(
            ("Type", work.text("type").replace("-", " ")),
            ("Volume", work.text("volume")),
            ("Pages", work.text("page")),
            ("Cited by (Crossref)", work.number("is-referenced-by-count")),
            ("Corrects or retracts", [entry.text("DOI") for entry in work.records("update-to")]),
        ),
        # Texts that anybody may open; those for text mining want a subscription.
        full_text=[one.text("URL") for one in links if one.text("intended-application") != "text-mining"],
        score=work.score("score"),
    )


class EuropePmcSource(ApiSource[DatedOptions]):
    """Searches Europe PMC by relevance; retracted papers are left out."""

    name = "europepmc"
    purpose = "Life-science papers, preprints and patents with abstracts; open full texts."
    address = "https://www.ebi.ac.uk/europepmc/webservices/rest"
    pace = Pace(3.0, "No number is published (europepmc.org/RestfulWebService).", most=20)
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        period = self.options.period("AND FIRST_PDATE:[{since} TO {until}]", first="1800-01-01")
        asked = join_parts(" ", f"({query})", 'AND NOT PUB_TYPE:"retracted publication"', period)
        params = {
            "query": asked,
            "format": "json",
            "resultType": "core",
            "pageSize": min(limit, 100),
            "cursorMark": "*",
        }
        return await self._found_in(parse_europepmc, self._get("/search", params))


@EuropePmcSource.parser("resultList", "result", fields=("resultList", "hitCount"))
def parse_europepmc(record: Record) -> Work:
    """Return a record of a search."""
    kind, own = record.text("source"), record.text("id")
    names = [
        author.full_name("firstName", "lastName") or author.first("fullName", "collectiveName")
        for author in record.records("authorList", "author")
    ]
    links = record.records("fullTextUrlList", "fullTextUrl")
    return Work(
        title=record.raw("title").removesuffix("."),
        doi=record.text("doi"),
        pmid=record.text("pmid") or (own if kind == "MED" else ""),
        pmcid=record.text("pmcid"),
        own=f"epmc:{kind}:{own}" if own else "",
        otherwise=f"https://europepmc.org/article/{kind}/{own}" if own else "",
        authors=names or record.text("authorString").removesuffix(".").split(", "),
        published=record.first_date("firstPublicationDate", "electronicPublicationDate", "pubYear"),
        venue=record.first("journalTitle", "bookTitle", "journalInfo.journal.title"),
        abstract=record.raw("abstractText"),
        facts=(
            ("Type", "; ".join(record.texts("pubTypeList", "pubType"))),
            ("Cited by (Europe PMC)", record.number("citedByCount")),
        ),
        full_text=[one.text("url") for one in links if one.text("availabilityCode") in ("OA", "F")],
    )


_OPENALEX_FIELDS = (
    "id,doi,title,display_name,publication_date,publication_year,ids,language,primary_location,locations,type,"
    "open_access,best_oa_location,authorships,cited_by_count,is_retracted,abstract_inverted_index,relevance_score"
)


class OpenAlexSource(ApiSource[DatedOptions]):
    """A search of titles, abstracts and full texts, or of one work by its DOI."""

    name = "openalex"
    purpose = "Scholarly works of all fields with abstracts, citations and open-access links."
    address = "https://api.openalex.org"
    pace = Pace(10.0, "100 per second (developers.openalex.org/api-reference/authentication).", most=100, at_once=10)
    also = ("OPENALEX_API_KEY", "OPENALEX_MAILTO")

    async def _search(self, query: str, limit: int) -> SearchResult:
        keys = self._keys
        own = {"api_key": keys.get("OPENALEX_API_KEY", ""), "mailto": keys.get("OPENALEX_MAILTO", "")}
        if name := doi(query):
            params = {"filter": f"doi:{name}", "per_page": 1}
        else:
            plain = " ".join(re.split(r"[\s,|]+", query)).strip()  # commas and pipes are operators there
            period = "from_publication_date:{since},to_publication_date:{until}"
            filters = self.options.period(period, first="1600-01-01")
            params = {"search": plain, "per_page": min(limit, 200), "filter": filters, "select": _OPENALEX_FIELDS}
        return await self._found_in(parse_openalex, self._get("/works", params | own))


def abstract(index: Any) -> str:
    """Return the text of an inverted index {word: [positions]}; "" if there is none."""
    if not isinstance(index, Mapping):
        return ""
    placed: dict[int, str] = {}
    for word, positions in index.items():
        for position in Record(positions).items():
            where = Record(position).number()
            if where is not None and 0 <= where <= 20_000:
                placed.setdefault(where, str(word))
    return " ".join(placed[where] for where in sorted(placed))


@OpenAlexSource.parser("results", what="works")
def parse_openalex(work: Record) -> Work:
    """Return a work of a list."""
    places = [*work.records("primary_location"), *work.records("locations")]
    addresses = [place.text("landing_page_url") for place in places]
    papers = (arxiv_id(address) for address in addresses if "arxiv.org" in address)
    pmcid = work.text("ids", "pmcid").rstrip("/").rsplit("/", 1)[-1]
    return Work(
        title=work.first("title", "display_name"),
        doi=work.first("doi", "ids.doi"),
        arxiv=next(filter(None, papers), ""),
        pmid=work.text("ids", "pmid"),
        pmcid=f"PMC{pmcid}" if pmcid.isdecimal() else pmcid,
        own=work.text("id"),
        otherwise=next(filter(None, addresses), work.text("id")),
        authors=[one.first("author.display_name", "raw_author_name") for one in work.records("authorships")],
        published=work.first_date("publication_date", "publication_year"),
        venue=work.raw("primary_location", "source", "display_name"),
        abstract=abstract(work.get("abstract_inverted_index")),
        facts=(
            ("Type", work.text("type")),
            ("Cited by (OpenAlex)", work.number("cited_by_count")),
            ("Retracted", work.get("is_retracted") is True),
        ),
        full_text=map(work.first, ("best_oa_location.pdf_url", "open_access.oa_url", "primary_location.pdf_url")),
        score=work.score("relevance_score"),
    )


_SEMANTIC_SCHOLAR_FIELDS = (
    "title,abstract,year,publicationDate,authors,venue,journal,externalIds,url,openAccessPdf,citationCount,"
    "publicationTypes,tldr"
)


class SemanticScholarSource(ApiSource[DatedOptions]):
    """Searches papers; a query that is a DOI or arXiv id gives that paper."""

    name = "semantic_scholar"
    purpose = "Papers of all fields with abstracts, citation counts and open PDFs."
    address = "https://api.semanticscholar.org"
    pace = Pace(0.5, "One pool for all without a key, else 1 per second (www.semanticscholar.org/product/api).", 10)
    also = ("SEMANTIC_SCHOLAR_API_KEY",)
    key_header = ("x-api-key", "{}")
    nothing_is_404 = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        ids = [f"ARXIV:{number}" for number in [arxiv_id(query)] if number] or [f"DOI:{d}" for d in [doi(query)] if d]
        if ids:
            call = self._get(f"/graph/v1/paper/{ids[0]}", {"fields": _SEMANTIC_SCHOLAR_FIELDS})
            return await self._found_in(parse_semantic_scholar, call)
        params = {
            "query": query.replace("-", " "),  # a hyphenated word finds nothing there
            "limit": min(limit, 100),
            "fields": _SEMANTIC_SCHOLAR_FIELDS,
            "publicationDateOrYear": self.options.period("{since}:{until}", first="", last=""),
        }
        return await self._found_in(parse_semantic_scholar, self._get("/graph/v1/paper/search", params))


@SemanticScholarSource.parser("data", fields=("data", "total", "paperId"), what="papers")
def parse_semantic_scholar(paper: Record) -> Work:
    """Return one of the papers of a search, or the one that was asked for."""
    own = paper.text("paperId")
    return Work(
        title=paper.raw("title"),
        doi=paper.text("externalIds", "DOI"),
        arxiv=paper.text("externalIds", "ArXiv"),
        pmid=paper.text("externalIds", "PubMed"),
        own=f"s2:{own}" if own else "",
        otherwise=paper.text("url") or (f"https://www.semanticscholar.org/paper/{own}" if own else ""),
        authors=[author.text("name") for author in paper.records("authors")],
        published=paper.first_date("publicationDate", "year"),
        venue=paper.first("venue", "journal.name"),
        abstract=paper.raw("abstract"),
        facts=(
            ("Type", paper.texts("publicationTypes")),
            ("Cited by (Semantic Scholar)", paper.number("citationCount")),
        ),
        full_text=[paper.text("openAccessPdf", "url")],
    )


class UnpaywallSource(ApiSource[ApiOptions]):
    """Finds open copies; the address of a result is that of the copy."""

    name = "unpaywall"
    purpose = "Open copies of papers, by DOI or words of the title."
    address = "https://api.unpaywall.org"
    pace = Pace(1.0, "100,000 calls per day (unpaywall.org/products/api).", most=10, at_once=10)
    needs = "UNPAYWALL_EMAIL"
    nothing_is_404 = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        path, params = "/v2/search", {"query": query, "is_oa": "true"}
        if name := doi(query):
            path, params = f"/v2/{name}", {}
        return await self._found_in(parse_unpaywall, self._get(path, params | {"email": self._key()}))


@UnpaywallSource.parser("results", fields=("results", "doi"), what="papers")
def parse_unpaywall(entry: Record) -> Work:
    """Return a paper of a search, or the one of an answer about a DOI."""
    paper = entry.record("response") or entry
    people = paper.records("z_authors")
    return Work(
        title=paper.raw("title"),
        doi=paper.text("doi"),
        url=paper.record("best_oa_location").first("url_for_pdf", "url", "url_for_landing_page"),
        authors=[one.first("raw_author_name") or one.full_name("given", "family") for one in people],
        published=paper.first_date("published_date", "year"),
        venue=paper.raw("journal_name"),
        score=entry.score("score"),
    )
