"""Patents of the EPO and the USPTO, with one key per publication for both.

APIs: https://developers.epo.org (Open Patent Services), https://data.uspto.gov/apis.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import ClassVar

from deep_research.data import Found, SearchResult
from deep_research.errors import Blocked, NotFound, Unreadable
from deep_research.ports import ApiClient, ApiResponse
from deep_research.safe_text import register_secrets
from deep_research.sources._api import ApiSource, DatedOptions, Pace, basic, join_parts, keywords, read_answer
from deep_research.sources._api_answers import Node, Record
from deep_research.sources._record_documents import Fact, Item, distinct, people

_NUMBER = re.compile(r"([A-Z]{2})(D|PP|RE|H|T|P)?0*+(\d[\dA-Z]*?)([A-Z]\d?)?")
_COUNTRY_NOTE = re.compile(r"(?:(?<!\s)\s++)?\[[A-Z]{2}\]\s*$")
_FIELDED = re.compile(r"\b[a-z]{1,3}\s*(?:=|all|any|within)\s*", re.IGNORECASE)
_THROTTLED = ("overloaded", "black", "Quota")
_PUBLISHED = "/rest-services/published-data"


def patent_key(number: str) -> str:
    """Return the key of a publication (`US 2024/0362478 A1`), without its kind code."""
    match = _NUMBER.fullmatch(re.sub(r"[\s/.,-]", "", number.upper()))
    if not match:
        return f"patent:{number.upper()}"
    country, prefix, digits, _ = match.groups()
    if country == "US" and len(digits) == 11 and digits[4] == "0":
        digits = digits[:4] + digits[5:]  # US20240362478: a year and seven digits, of which others drop the first 0
    return f"patent:{country}{prefix or ''}{digits}"


def _patent(
    number: str,
    *,
    title: str = "",
    inventors: Iterable[str] = (),
    applicants: Iterable[str] = (),
    published: str | None = None,
    abstract: str = "",
    facts: tuple[Fact, ...] = (),
) -> Item:
    inventors, applicants = distinct(inventors), distinct(applicants)
    is_known = abstract or facts or inventors or applicants
    return Item(
        key=patent_key(number),
        title=title or f"Patent {number}",
        url=f"https://patents.google.com/patent/{re.sub(r'[^A-Z0-9]', '', number.upper())}/en",
        about=abstract or "; ".join(applicants),
        published=published,
        authors=inventors,
        facts=(("Publication", number), ("Applicants", people(applicants)), *facts) if is_known else (),
        sections=[("Abstract", abstract)] if abstract else (),
        labels=("Inventors", "Published"),
    )


class EpoSource(ApiSource[DatedOptions]):
    """Searches titles and abstracts; the period is that of the publication."""

    name = "patents_epo"
    purpose = "Patent publications of more than 100 offices with abstracts; claims of European and international ones."
    address = "https://ops.epo.org/3.2"
    pace = Pace(
        1.0,
        "By the load of the service, told in x-throttling-control (www.epo.org/service-support/ordering/fair-use).",
        most=10,
    )
    needs = "EPO_OPS_KEY"  # `consumer key:consumer secret` of a registered app
    narrow = True
    nothing_is_404 = True
    headers: ClassVar = {"accept": "application/xml"}

    def __init__(self, options: DatedOptions, client: ApiClient, keys: dict[str, str]) -> None:
        super().__init__(options, client, keys)
        self._token = ""
        self._valid_until = datetime.min.replace(tzinfo=UTC)
        self._lock = asyncio.Lock()

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"q": search_query(query, self.options), "Range": f"1-{min(limit, 100)}"}
        return await self._found_in(parse_epo_patents, self._call(f"{_PUBLISHED}/search/biblio", params))

    async def _read(self, found: Found) -> list[Found]:
        """Return the record and, where the office publishes texts, the claims."""
        publication = found.url.split("/patent/")[-1].split("/")[0]
        match = re.fullmatch(r"([A-Z]{2})(\w+?)([A-Z]\d?)", publication)
        if not match:
            return []
        address = f"{_PUBLISHED}/publication/docdb/{'.'.join(match.groups())}"
        patents = await read_answer(parse_epo_patents, await self._call(f"{address}/biblio", {}))
        if not patents or patents[0].document is None:
            return []
        sections: list[tuple[str, str]] = []
        for part, parse in (("claims", parse_claims), ("description", parse_description)):
            with suppress(NotFound):  # most offices hand in no texts
                texts = await read_answer(parse, await self._call(f"{address}/{part}", {}))
                sections.append((part.capitalize(), "\n\n".join(texts)))
        whole = Item(found.key, "", body=patents[0].document, sections=sections).document()
        return [found.model_copy(update={"document": whole.model_copy(update={"title": patents[0].title})})]

    @classmethod
    def judge(cls, response: ApiResponse) -> None:
        """Pass a success; a service that is throttled raises RateLimited."""
        told = response.headers.get("x-throttling-control", "").lower() + response.headers.get("x-rejection-reason", "")
        if response.status == HTTPStatus.FORBIDDEN and any(word in told for word in _THROTTLED):
            raise cls.limited(response)
        super().judge(response)

    async def _call(self, path: str, params: Mapping[str, str | int]) -> ApiResponse:
        async with self._lock:
            if not self._token or datetime.now(UTC) >= self._valid_until:
                headers = {"accept": "application/json", "authorization": f"Basic {basic(self._key())}"}
                address, form = f"{self._base()}/auth/accesstoken", {"grant_type": "client_credentials"}
                response = await self._client.request("POST", address, form=form, headers=headers)
                self._token, seconds = await read_answer(parse_token, response)
                register_secrets((self._token,))
                self._valid_until = datetime.now(UTC) + timedelta(seconds=seconds - 60)
        return await self._get(path, params)

    def _headers(self) -> dict[str, str]:
        return {**self.headers, "authorization": f"Bearer {self._token}"}


def search_query(query: str, options: DatedOptions) -> str:
    """Return the query in CQL, kept if it is: words of title or abstract, a period."""
    words = " ".join(keywords(query.replace('"', " ")))
    asked, today = query if _FIELDED.search(query) else f'ta all "{words}"', f"{datetime.now(UTC):%Y%m%d}"
    period = options.period('pd within "{since} {until}"', form="%Y%m%d", first="18000101", last=today)
    return join_parts(" and ", asked, period)


def parse_token(response: ApiResponse) -> tuple[str, int]:
    """Return the access token and its lifetime in seconds; raise Blocked if refused."""
    if response.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        why = f"{EpoSource.needs} was refused (HTTP {response.status}); it is `consumer key:consumer secret`"
        raise EpoSource.failure(Blocked, response, why)
    answer = EpoSource.object_of(response, what="token")
    token = answer.text("access_token")
    if not token:
        raise EpoSource.failure(Unreadable, response, "the answer has no token in it")
    return token, answer.number("expires_in") or 600


def _publications(response: ApiResponse) -> list[Node]:
    root = EpoSource.xml_of(response)
    if root.name != "world-patent-data":
        raise EpoSource.failure(Unreadable, response, "the answer has no patents in it")
    return root.descendants("exchange-document")


@EpoSource.parser(records=_publications)
def parse_epo_patents(record: Node) -> Item | None:
    """Return a publication with its record."""
    country, digits, kind = (record.get(part) for part in ("country", "doc-number", "kind"))
    if not (country and digits):
        return None
    data = record.child("bibliographic-data")
    parties = data.child("parties")
    return _patent(
        f"{country}{digits}{kind}",
        title=_english(data.children("invention-title")).line().capitalize(),
        inventors=_epo_people(parties, "inventor"),
        applicants=_epo_people(parties, "applicant"),
        published=_epo_date(data.child("publication-reference")),
        abstract=_english(record.children("abstract")).paragraphs(),
        facts=(
            ("Filed", _epo_date(data.child("application-reference"))),
            ("Priority", _epo_date(data.child("priority-claims", "priority-claim"))),
            ("Family", record.get("family-id")),
        ),
    )


def parse_claims(response: ApiResponse) -> list[str]:
    """Return a publication's claims in order; raise NotFound if none, or SourceError."""
    return _passages(response, "claims", "claim-text")


def parse_description(response: ApiResponse) -> list[str]:
    """Return the paragraphs of a description; raise NotFound if none, or SourceError."""
    return _passages(response, "description", "p")


def _passages(response: ApiResponse, whole: str, part: str) -> list[str]:
    text = _english(EpoSource.xml_of(response).descendants(whole))
    found = [words for one in text.descendants(part) if (words := one.text())]
    if not found:
        raise EpoSource.failure(NotFound, response, f"there is no text of the {whole}")
    return found


def _epo_date(reference: Node) -> str | None:
    return next((day for one in reference.children("document-id") if (day := one.date("date"))), None)


def _english(parts: list[Node]) -> Node:
    """Return the English one of several languages, else the first."""
    return next((one for one in parts if one.get("lang").lower() == "en"), parts[0] if parts else Node())


def _epo_people(parties: Node, role: str) -> tuple[str, ...]:
    """Names in the office's own form, or where there is none as they were handed in."""
    entries = parties.children(f"{role}s", role)
    official = [one for one in entries if one.get("data-format") == "epodoc"] or entries
    names = (one.text(f"{role}-name", "name") for one in official)
    return tuple(_COUNTRY_NOTE.sub("", each).strip(" ,") for each in names)


class UsptoSource(ApiSource[DatedOptions]):
    """A word search of US applications' records; the period limits the filing date."""

    name = "patents_uspto"
    purpose = "US patent applications and grants: applicants, inventors, dates, status."
    address = "https://api.uspto.gov"
    pace = Pace(0.9, "60 calls per minute, one at a time (data.uspto.gov/apis/api-rate-limits).", most=1)
    needs = "USPTO_API_KEY"
    narrow = True
    key_header = ("x-api-key", "{}")
    nothing_is_404 = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {
            "q": " AND ".join(query.split()) if '"' not in query and ":" not in query else query,
            "offset": 0,
            "limit": min(limit, 100),
            "rangeFilters": self.options.period("applicationMetaData.filingDate {since}:{until}", first="1900-01-01"),
        }
        return await self._found_in(parse_applications, self._get("/api/v1/patent/applications/search", params))


@UsptoSource.parser("patentFileWrapperDataBag", fields=("count", "patentFileWrapperDataBag"), what="applications")
def parse_applications(entry: Record) -> Item | None:
    """Return an application of a search."""
    application, about = entry.text("applicationNumberText"), entry.record("applicationMetaData")
    grant, publication = about.first("patentNumber"), about.first("earliestPublicationNumber")
    number = f"US{grant.removeprefix('US')}" if grant else publication
    if not application and not number:
        return None
    patent = _patent(
        number or f"US application {application}",
        title=about.text("inventionTitle"),
        inventors=_parties(about, "inventor"),
        applicants=_parties(about, "applicant"),
        published=about.date("grantDate" if grant else "earliestPublicationDate"),
        facts=_facts(about, application),
    )
    if number:
        return patent
    address = f"https://patentcenter.uspto.gov/applications/{application}"
    return patent._replace(key=f"patent:US-application:{application}", url=address)


def _facts(about: Record, application: str) -> tuple[tuple[str, object], ...]:
    values = (
        ("Filed", about.date("filingDate")),
        ("Granted", about.date("grantDate")),
        ("Status", about.text("applicationStatusDescriptionText")),
        ("Status since", about.date("applicationStatusDate")),
        ("Type", about.text("applicationTypeLabelName")),
        ("Classes", [" ".join(code.split()) for code in about.texts("cpcClassificationBag")[:12]]),
    )
    return (("Application", application), *values) if any(value for _, value in values) else ()


def _parties(about: Record, role: str) -> Iterable[str]:
    everybody = [one.text(f"{role}NameText") for one in about.records(f"{role}Bag")]
    return everybody or about.texts(f"first{role.capitalize()}Name")
