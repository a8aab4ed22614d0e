"""Patents of all offices through the European Patent Office's Open Patent Services (https://developers.epo.org)."""

import asyncio
import re
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from pydantic import Field

from deep_research.data import Document, Found, SearchResult
from deep_research.errors import Blocked, NotFound, Unreadable
from deep_research.ports import ApiClient, ApiResponse
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import ApiSource, DatedOptions, keywords, result
from deep_research.sources._api_answers import (
    Element,
    child,
    children,
    failure,
    inner_markup,
    json_of,
    limited,
    local_name,
    text_of,
    xml_of,
)
from deep_research.sources._fields import at, iso_date, number, text
from deep_research.sources._markup import line, paragraphs
from deep_research.sources._patents import Patent, found_patent

_COUNTRY_NOTE = re.compile(r"\s*\[[A-Z]{2}\]\s*$")
_FIELDED = re.compile(r"\b[a-z]{1,3}\s*(?:=|all|any|within)\s*", re.IGNORECASE)
_MARGIN = timedelta(seconds=60)
_THROTTLED = ("overloaded", "black")


class EpoOptions(DatedOptions):
    """Options of the patent search; the period is that of the publication."""

    base_url: str = Field("https://ops.epo.org/3.2", description="Address of the API.")
    requests_per_second: float = Field(
        1.0,
        gt=0,
        le=10,
        description="By the load of the service, told in x-throttling-control (www.epo.org/service-support/ordering/fair-use).",
    )
    countries: tuple[str, ...] = Field((), description="Only publications of these offices, such as EP or WO.")


class EpoSource(ApiSource[EpoOptions]):
    """Searches titles and abstracts. The key is `consumer key:consumer secret` of a registered app."""

    name = "patents_epo"
    purpose = "Patent publications of more than 100 offices with abstracts; claims of European and international ones."
    needs = "EPO_OPS_KEY"
    narrow = True

    def __init__(self, options: EpoOptions, client: ApiClient, keys: dict[str, str]) -> None:
        super().__init__(options, client, keys)
        self._token = ""
        self._valid_until = datetime.min.replace(tzinfo=UTC)
        self._lock = asyncio.Lock()

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"q": search_query(query, self.options), "Range": f"1-{min(limit, 100)}"}
        return result(parse_patents(await self._call("/rest-services/published-data/search/biblio", params)))

    async def _read(self, found: Found) -> Document:
        """The record and, where the office publishes texts, the claims."""
        publication = found.url.split("/patent/")[-1].split("/")[0]
        match = re.fullmatch(r"([A-Z]{2})(\w+?)([A-Z]\d?)", publication)
        if not match:
            raise NotFound(f"{found.key} is no publication number", source=self.name, url=found.url)
        address = f"/rest-services/published-data/publication/docdb/{'.'.join(match.groups())}"
        patents = parse_patents(await self._call(f"{address}/biblio", {}))
        if not patents or patents[0].document is None:
            raise NotFound(f"{self.name} has no record of {publication}", source=self.name, url=found.url)
        sections = []
        for heading, part, parse in (
            ("Claims", "claims", parse_claims),
            ("Description", "description", parse_description),
        ):
            try:
                sections.append((heading, "\n\n".join(parse(await self._call(f"{address}/{part}", {})))))
            except NotFound:
                continue  # most offices hand in no texts
        return _writing.joined(patents[0].document, _writing.document("", sections=sections))

    async def _call(self, path: str, params: dict[str, str]) -> ApiResponse:
        headers = {"accept": "application/xml", "authorization": f"Bearer {await self._access_token()}"}
        response = await self._client.request("GET", f"{self._base()}{path}", params=params, headers=headers)
        if (
            response.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED)
            and b"invalid_access_token" in response.body
        ):
            self._token = ""
            headers["authorization"] = f"Bearer {await self._access_token()}"
            response = await self._client.request("GET", f"{self._base()}{path}", params=params, headers=headers)
        return response

    async def _access_token(self) -> str:
        async with self._lock:
            if not self._token or datetime.now(UTC) >= self._valid_until:
                headers = {"accept": "application/json", "authorization": f"Basic {self._basic()}"}
                response = await self._client.request(
                    "POST",
                    f"{self._base()}/auth/accesstoken",
                    form={"grant_type": "client_credentials"},
                    headers=headers,
                )
                self._token, seconds = parse_token(response)
                self._valid_until = datetime.now(UTC) + timedelta(seconds=seconds) - _MARGIN
            return self._token

    def _basic(self) -> str:
        return b64encode(self._key().encode()).decode()

    def _secrets(self) -> Iterator[str]:
        yield from super()._secrets()
        yield from (self._basic(), self._token)


def search_query(query: str, options: EpoOptions) -> str:
    """Return the query in CQL: all words in title or abstract, with offices and period. CQL is kept."""
    words = " ".join(keywords(query.replace('"', " ")))
    parts = [query if _FIELDED.search(query) else f'ta all "{words}"']
    if options.countries:
        parts.append("(" + " or ".join(f"pn={code}" for code in options.countries) + ")")
    today = f"{datetime.now(UTC):%Y%m%d}"
    parts.append(options.period('pd within "{since} {until}"', form="%Y%m%d", first="18000101", last=today))
    return " and ".join(part for part in parts if part)


def parse_token(response: ApiResponse) -> tuple[str, int]:
    """Return the access token and the seconds it is good for. Raises Blocked when the key is refused."""
    if response.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        why = f"{EpoSource.needs} was refused (HTTP {response.status}); it is `consumer key:consumer secret`"
        raise failure(Blocked, response, EpoSource, why)
    answer = json_of(response, EpoSource)
    token = text(at(answer, "access_token"))
    if not token:
        raise failure(Unreadable, response, EpoSource, "the answer has no token in it")
    return token, number(at(answer, "expires_in")) or 600


def parse_patents(response: ApiResponse) -> list[Found]:
    """Return the publications of a search (references alone, or with their records) or of one publication.

    Nothing found is HTTP 404 and gives an empty list. Raises RateLimited when the service is throttled, SourceError.
    """
    control = response.headers.get("x-throttling-control", "").lower() + response.headers.get("x-rejection-reason", "")
    if response.status == HTTPStatus.FORBIDDEN and (any(word in control for word in _THROTTLED) or "Quota" in control):
        raise limited(response, EpoSource)
    try:
        root = xml_of(response, EpoSource)
    except NotFound:
        return []
    if local_name(root) not in ("world-patent-data", "exchange-documents", "exchange-document"):
        raise failure(Unreadable, response, EpoSource, "the answer has no patents in it")
    records = [root] if local_name(root) == "exchange-document" else list(root.iter("{*}exchange-document"))
    if records:
        return [found for record in records if (found := _record(record))]
    references = root.findall(".//{*}search-result/{*}publication-reference")
    return [found for reference in references if (found := _reference(reference))]


def parse_claims(response: ApiResponse) -> list[str]:
    """Return the claims of a publication in order. Raises NotFound when there are none, SourceError."""
    root = xml_of(response, EpoSource)
    languages = list(root.iter("{*}claims"))
    chosen = next(
        (one for one in languages if (one.get("lang") or "").lower() == "en"), languages[0] if languages else None
    )
    claims = [words for part in chosen.iter("{*}claim-text") if (words := text_of(part))] if chosen is not None else []
    if not claims:
        raise failure(NotFound, response, EpoSource, "there are no claims")
    return claims


def parse_description(response: ApiResponse) -> list[str]:
    """Return the paragraphs of a publication's description. Raises NotFound when there is none, SourceError."""
    root = xml_of(response, EpoSource)
    description = next(iter(root.iter("{*}description")), None)
    paragraphs = (
        [words for part in description.iter("{*}p") if (words := text_of(part))] if description is not None else []
    )
    if not paragraphs:
        raise failure(NotFound, response, EpoSource, "there is no description")
    return paragraphs


def _record(record: Element) -> Found | None:
    data = child(record, "bibliographic-data")
    publication = _number(record) or _document_number(child(data, "publication-reference"))
    if not publication:
        return None
    abstracts = children(record, "abstract")
    parties = child(data, "parties")
    return found_patent(
        Patent(
            number=publication,
            title=_in_english(children(data, "invention-title")).capitalize(),
            inventors=_people(child(parties, "inventors"), "inventor"),
            applicants=_people(child(parties, "applicants"), "applicant"),
            published=_date(child(data, "publication-reference")),
            abstract=_in_english(abstracts),
            facts=(
                ("Filed", _date(child(data, "application-reference"))),
                ("Priority", _date(child(data, "priority-claims", "priority-claim"))),
                ("Family", record.get("family-id")),
            ),
        ),
        EpoSource.name,
    )


def _reference(reference: Element) -> Found | None:
    publication = _document_number(reference)
    return found_patent(Patent(number=publication), EpoSource.name) if publication else None


def _number(record: Element) -> str:
    parts = [record.get("country") or "", record.get("doc-number") or "", record.get("kind") or ""]
    return "".join(parts) if parts[0] and parts[1] else ""


def _document_number(reference: Element | None) -> str:
    for one in children(reference, "document-id"):
        country, digits = text_of(child(one, "country")), text_of(child(one, "doc-number"))
        if country and digits:
            return f"{country}{digits}{text_of(child(one, 'kind'))}"
    return ""


def _date(reference: Element | None) -> str | None:
    dates = (iso_date(text_of(child(one, "date"))) for one in children(reference, "document-id"))
    return next((day for day in dates if day), None)


def _in_english(parts: list[Element]) -> str:
    """The English one of several languages, else the first."""
    chosen = next((one for one in parts if (one.get("lang") or "").lower() == "en"), parts[0] if parts else None)
    marked = inner_markup(chosen)
    return line(marked) if chosen is not None and local_name(chosen) == "invention-title" else paragraphs(marked)


def _people(group: Element | None, name: str) -> tuple[str, ...]:
    """Names in the office's own form, or where there is none as they were handed in."""
    entries = children(group, name)
    official = [one for one in entries if one.get("data-format") == "epodoc"] or entries
    names = (text_of(child(one, f"{name}-name", "name")) for one in official)
    return tuple(_COUNTRY_NOTE.sub("", each).strip(" ,") for each in names)
