"""PubMed: biomedical literature (https://www.ncbi.nlm.nih.gov/books/NBK25499/): esearch for ids, efetch for records."""

from collections.abc import Mapping

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import SourceError, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace, read_answer
from deep_research.sources._api_answers import (
    Element,
    child,
    children,
    explanation,
    failure,
    inner_markup,
    iso_date,
    limited,
    local_name,
    month_number,
    number,
    object_of,
    says_wait,
    text_of,
    written,
    xml_of,
)
from deep_research.sources._papers import Ids, Work, doi, found_work, pmid
from deep_research.sources._record_documents import line, paragraphs


class PubMedOptions(DatedOptions):
    """Options of PubMed."""

    language: str = Field("", description="Only papers in this language, such as english.")
    publication_types: tuple[str, ...] = Field((), description="Only these types, such as Review.")


class PubMedSource(ApiSource[PubMedOptions]):
    """Searches PubMed by relevance; two calls per search."""

    name = "pubmed"
    purpose = "Biomedical and clinical literature with structured abstracts."
    address = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    pace = Pace(2.5, "3 per second without a key, 10 with one (www.ncbi.nlm.nih.gov/books/NBK25497).", most=10)
    also = ("NCBI_API_KEY", "NCBI_EMAIL")
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"term": _term(query, self.options), "retmax": min(limit, 100), "sort": "relevance"}
        params |= _period(self.options)
        ids = await read_answer(parse_ids, await self._call("esearch", params | {"retmode": "json"}))
        if not ids and (spelled := await self._spelled(query)):
            params["term"] = _term(spelled, self.options)
            ids = await read_answer(parse_ids, await self._call("esearch", params | {"retmode": "json"}))
        if not ids:
            return SearchResult()
        return await self._found_in(parse_articles, self._call("efetch", {"id": ",".join(ids), "retmode": "xml"}))

    async def _spelled(self, query: str) -> str:
        try:
            return await read_answer(parse_spelling, await self._call("espell", {"term": query}))
        except SourceError:
            return ""  # the search itself was answered: nothing was found

    async def _call(self, tool: str, params: Mapping[str, str | int]) -> ApiResponse:
        own: dict[str, str | int] = {"db": "pubmed", "tool": "deep-research"}
        own |= {"api_key": self._keys.get("NCBI_API_KEY", ""), "email": self._keys.get("NCBI_EMAIL", "")}
        return await self._get(f"/{tool}.fcgi", own | dict(params))


def parse_ids(response: ApiResponse) -> list[str]:
    """Return the ids of an esearch answer, best first; none found gives none. Raises SourceError."""
    found = object_of(response, PubMedSource).record("esearchresult")
    if "idlist" not in found:
        _refuse_error(found.text("ERROR") or explanation(response), response)
        raise failure(Unreadable, response, PubMedSource, "the answer is no search result")
    return list(found.texts("idlist"))


def parse_spelling(response: ApiResponse) -> str:
    """Return the corrected query of an espell answer, "" when nothing is to be corrected. Raises SourceError."""
    root = xml_of(response, PubMedSource)
    if local_name(root) != "espellresult":
        raise failure(Unreadable, response, PubMedSource, "the answer is no spelling")
    corrected = text_of(root, "CorrectedQuery")
    return "" if corrected == text_of(root, "Query") else corrected


def parse_articles(response: ApiResponse) -> list[Found]:
    """Return the articles and book chapters of an efetch answer. Raises SourceError."""
    root = xml_of(response, PubMedSource)
    if local_name(root) not in ("pubmedarticleset", "pubmedarticle"):
        _refuse_error(text_of(root, "ERROR"), response)
        raise failure(Unreadable, response, PubMedSource, "the answer has no articles in it")
    entries = [root] if local_name(root) == "pubmedarticle" else list(root)
    articles = (_article(entry) for entry in entries if isinstance(entry.tag, str))
    return [found for found in articles if found]


def _article(entry: Element) -> Found | None:
    """`PubmedArticle`, or `PubmedBookArticle` whose record has other names."""
    record = child(entry, "MedlineCitation")
    book = child(entry, "BookDocument")
    record = book if record is None else record
    article = child(record, "Article") if book is None else book
    if record is None or article is None:
        return None
    title = child(article, "ArticleTitle")
    title = child(article, "Book", "BookTitle") if title is None else title
    work = Work(
        title=_untranslated(line(inner_markup(title)).removesuffix(".")) or text_of(article, "VernacularTitle"),
        ids=_ids(entry, record, article),
        authors=_authors(article),
        published=_published(article),
        venue=text_of(article, "Journal", "Title") or text_of(article, "Book", "Publisher", "PublisherName"),
        sections=_abstract(article, record),
        facts=(
            ("Type", [text_of(kind) for kind in children(child(article, "PublicationTypeList"), "PublicationType")]),
            ("Keywords", [text_of(word) for word in children(child(record, "KeywordList"), "Keyword")]),
            ("Language", [text_of(code) for code in children(article, "Language") if text_of(code) != "eng"]),
        ),
    )
    return found_work(work, PubMedSource.name)


def _untranslated(title: str) -> str:
    """Titles that PubMed translated stand in brackets."""
    whole = title.startswith("[") and title.endswith("]") and "]" not in title[:-1]
    return title[1:-1].removesuffix(".") if whole else title


def _ids(entry: Element, record: Element, article: Element) -> Ids:
    data = child(entry, "PubmedData")
    data = child(entry, "PubmedBookData") if data is None else data
    names = {
        str(one.get("IdType", "")).lower(): text_of(one)
        for one in [
            *children(child(record, "ArticleIdList"), "ArticleId"),
            *children(child(data, "ArticleIdList"), "ArticleId"),
        ]
    }
    located = (text_of(one) for one in children(article, "ELocationID") if one.get("EIdType") == "doi")
    pmcid = names.get("pmc", "").split(".")[0].upper()
    return Ids(
        doi=doi(names.get("doi", "") or next(located, "")),
        pmid=pmid(text_of(record, "PMID") or names.get("pubmed", "")),
        pmcid=pmcid if pmcid.startswith("PMC") else "",
    )


def _authors(article: Element) -> list[str]:
    names: list[str] = []
    for author in children(child(article, "AuthorList"), "Author"):
        given = text_of(author, "ForeName") or text_of(author, "Initials")
        whole = f"{given} {text_of(author, 'LastName')}".strip()
        names.append(whole or text_of(author, "CollectiveName"))
    return names


def _published(article: Element) -> str | None:
    """The day of the electronic article, or the issue's date, which may be a `MedlineDate` such as 1998 Dec-1999 Jan."""
    issue = child(article, "Journal", "JournalIssue", "PubDate")
    issue = child(article, "Book", "PubDate") if issue is None else issue
    dates = [_day(child(article, "ArticleDate")), _day(issue), _day(child(article, "ContributionDate"))]
    dates.append(iso_date(text_of(issue, "MedlineDate")))
    return next((day for day in dates if day), None)


def _day(element: Element | None) -> str | None:
    year = number(text_of(element, "Year"))
    month, day = text_of(element, "Month"), number(text_of(element, "Day"))
    return written(year, month_number(month) if month else None, day) if year else None


def _abstract(article: Element, record: Element) -> tuple[tuple[str, str], ...]:
    """The labelled parts of the abstract; without one, an abstract by somebody else (`OtherAbstract`)."""
    parts = children(child(article, "Abstract"), "AbstractText")
    parts = parts or children(child(record, "OtherAbstract"), "AbstractText")
    sections: list[tuple[str, str]] = []
    for part in parts:
        label = (part.get("Label") or "").strip().rstrip(":")
        heading = label.capitalize() if label.isupper() and label != "UNLABELLED" else label
        heading = "Abstract" if label in ("", "UNLABELLED") else heading
        if body := paragraphs(inner_markup(part)):
            sections.append((heading, body))
    return tuple(sections)


def _refuse_error(why: str, response: ApiResponse) -> None:
    """Errors arrive with HTTP 200 as well; "no items found" is none."""
    if says_wait(why):
        raise limited(response, PubMedSource)
    if why:
        raise failure(SourceError, response, PubMedSource, f"the request was not accepted: {line(why)[:200]}")


def _term(query: str, options: PubMedOptions) -> str:
    parts = [f"({query})" if options.language or options.publication_types else query]
    if options.language:
        parts.append(f"{options.language}[la]")
    if options.publication_types:
        parts.append("(" + " OR ".join(f'"{kind}"[pt]' for kind in options.publication_types) + ")")
    return " AND ".join(parts)


def _period(options: PubMedOptions) -> dict[str, str]:
    if not (options.since or options.until):
        return {}
    since = f"{options.since:%Y/%m/%d}" if options.since else "1800/01/01"
    until = f"{options.until:%Y/%m/%d}" if options.until else "2100/12/31"
    return {"datetype": "pdat", "mindate": since, "maxdate": until}
