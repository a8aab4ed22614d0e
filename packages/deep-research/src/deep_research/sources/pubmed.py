"""PubMed: biomedical literature (https://www.ncbi.nlm.nih.gov/books/NBK25499/)."""

from collections.abc import Mapping

from deep_research.data import SearchResult
from deep_research.errors import Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiSource, DatedOptions, Pace, read_answer
from deep_research.sources._api_answers import Node, explanation
from deep_research.sources._papers import Work
from deep_research.sources._record_documents import Section
from deep_research.text.dates import month_number, written


class PubMedSource(ApiSource[DatedOptions]):
    """Searches PubMed by relevance; two calls per search."""

    name = "pubmed"
    purpose = "Biomedical and clinical literature with structured abstracts."
    address = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    pace = Pace(2.5, "3 per second without a key, 10 with one (www.ncbi.nlm.nih.gov/books/NBK25497).", most=10)
    also = ("NCBI_API_KEY", "NCBI_EMAIL")
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        days = self.options.period("{since} {until}", first="1800/01/01", last="2100/12/31", form="%Y/%m/%d")
        since, _, until = days.partition(" ")
        params = {"term": query, "retmax": min(limit, 100), "sort": "relevance", "retmode": "json"}
        params |= {"datetype": "pdat" if days else "", "mindate": since, "maxdate": until}
        ids = await read_answer(parse_ids, await self._call("esearch", params))
        if not ids:
            return SearchResult()
        return await self._found_in(parse_articles, self._call("efetch", {"id": ",".join(ids), "retmode": "xml"}))

    async def _call(self, tool: str, params: Mapping[str, str | int]) -> ApiResponse:
        own: dict[str, str | int] = {"db": "pubmed", "tool": "deep-research"}
        own |= {"api_key": self._keys.get("NCBI_API_KEY", ""), "email": self._keys.get("NCBI_EMAIL", "")}
        return await self._get(f"/{tool}.fcgi", own | dict(params))


def parse_ids(response: ApiResponse) -> list[str]:
    """Return the ids of an esearch answer, best first, or none; raise SourceError."""
    found = PubMedSource.object_of(response).record("esearchresult")
    if "idlist" not in found:
        if why := found.text("ERROR") or explanation(response):
            raise PubMedSource.own_failure(response, "", why)
        raise PubMedSource.failure(Unreadable, response, "the answer is no search result")
    return list(found.texts("idlist"))


def _entries(response: ApiResponse) -> list[Node]:
    root = PubMedSource.xml_of(response)
    if root.name not in ("pubmedarticleset", "pubmedarticle"):
        if why := root.text("ERROR"):
            raise PubMedSource.own_failure(response, "", why)
        raise PubMedSource.failure(Unreadable, response, "the answer has no articles in it")
    return [root] if root.name == "pubmedarticle" else root.children("*")


@PubMedSource.parser(records=_entries)
def parse_articles(entry: Node) -> Work | None:
    """Return a `PubmedArticle`, or `PubmedBookArticle`, which has other names."""
    book = entry.child("BookDocument")
    record = entry.child("MedlineCitation") or book
    article = book or record.child("Article")
    if not record or not article:
        return None
    data = entry.child("PubmedData") or entry.child("PubmedBookData")
    listed = [*record.children("ArticleIdList", "ArticleId"), *data.children("ArticleIdList", "ArticleId")]
    ids = {one.get("IdType").lower(): one.text() for one in listed}
    located = (one.text() for one in article.children("ELocationID") if one.get("EIdType") == "doi")
    title = article.child("ArticleTitle") or article.child("Book", "BookTitle")
    return Work(
        title=title.line().removesuffix(".") or article.text("VernacularTitle"),
        doi=ids.get("doi") or next(located, ""),
        pmid=record.text("PMID") or ids.get("pubmed", ""),
        pmcid=ids.get("pmc", "").split(".")[0],
        authors=[_author(author) for author in article.children("AuthorList", "Author")],
        published=_published(article),
        venue=article.text("Journal", "Title") or article.text("Book", "Publisher", "PublisherName"),
        sections=_abstract(article, record),
        facts=(
            ("Type", [kind.text() for kind in article.children("PublicationTypeList", "PublicationType")]),
            ("Keywords", [word.text() for word in record.children("KeywordList", "Keyword")]),
            ("Language", [code.text() for code in article.children("Language") if code.text() != "eng"]),
        ),
    )


def _author(author: Node) -> str:
    given = author.text("ForeName") or author.text("Initials")
    return f"{given} {author.text('LastName')}".strip() or author.text("CollectiveName")


def _published(article: Node) -> str | None:
    """Return the day of the electronic article, or the issue's (1998 Dec-1999 Jan)."""
    issue = article.child("Journal", "JournalIssue", "PubDate") or article.child("Book", "PubDate")
    dates = [_day(element) for element in (article.child("ArticleDate"), issue, article.child("ContributionDate"))]
    return next((day for day in [*dates, issue.date("MedlineDate")] if day), None)


def _day(element: Node) -> str | None:
    year, month = element.number("Year"), month_number(element.text("Month"))
    return written(year, month, element.number("Day")) if year else None


def _abstract(article: Node, record: Node) -> list[Section]:
    """Return the labelled parts of the abstract, or of one by somebody else."""
    parts = article.children("Abstract", "AbstractText") or record.children("OtherAbstract", "AbstractText")
    labelled = ((part.get("Label").strip().rstrip(":").replace("UNLABELLED", ""), part) for part in parts)
    return [(label.capitalize() if label.isupper() else label, part.paragraphs()) for label, part in labelled]
