"""An organisation's own index in OpenSearch or Elasticsearch (https://docs.opensearch.org/latest/api-reference/search/)."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pydantic import Field, field_validator

from deep_research.data import Found, SearchResult
from deep_research.errors import Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, result, snippet
from deep_research.sources._api_answers import at, failure, iso_date, json_of, objects, raw, score, text
from deep_research.sources._record_documents import document, line

_MOST = 50


class OpenSearchOptions(ApiOptions):
    """Options of an index; of each kind of field the first one that a record has is taken."""

    base_url: str = Field("", description="Address of the cluster; else OPENSEARCH_URL.")
    requests_per_second: float = Field(10.0, gt=0, le=100, description="As the cluster can bear.")
    burst: int = Field(10, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")
    index: str = Field("_all", description="Indexes to search: names with commas, or a pattern such as docs-*.")
    title_fields: tuple[str, ...] = Field(("title", "name", "subject"), description="Fields with the title.")
    text_fields: tuple[str, ...] = Field(("text", "content", "body"), description="Fields with the text.")
    url_fields: tuple[str, ...] = Field(("url", "link"), description="Fields with the address, where there is one.")
    date_fields: tuple[str, ...] = Field(("published", "date", "@timestamp"), description="Fields with the date.")

    @field_validator("index")
    @classmethod
    def _is_name(cls, value: str) -> str:
        if not value or any(sign in value for sign in "/?#\\ "):
            raise ValueError("an index is a name without slashes and spaces")
        return value


class OpenSearchSource(ApiSource[OpenSearchOptions]):
    """Searches by words over title and text (BM25 of the cluster); the text comes with the result."""

    name = "opensearch"
    purpose = "An organisation's own index in OpenSearch or Elasticsearch."
    needs = "OPENSEARCH_URL"
    also = ("OPENSEARCH_API_KEY",)

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: the address of the cluster, as an option or a variable."""
        return "" if options.base_url else super().missing(options, keys)

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        fields = [*(f"{name}^2" for name in options.title_fields), *options.text_fields]
        asked = {
            "size": min(limit, _MOST),
            "query": {"multi_match": {"query": query, "fields": fields, "type": "most_fields", "lenient": True}},
            "_source": [*options.title_fields, *options.text_fields, *options.url_fields, *options.date_fields],
        }
        response = await self._post(f"/{quote(options.index, safe=',*')}/_search", asked)
        return result(parse_search(response, options))

    def _base(self) -> str:
        return self.options.base_url or self._keys.get("OPENSEARCH_URL", "").rstrip("/")

    def _headers(self) -> dict[str, str]:
        """Return the headers; USER:PASSWORD is sent as such, anything else as a key of Elasticsearch."""
        key = self._key()
        basic = f"Basic {b64encode(key.encode()).decode()}" if ":" in key else f"ApiKey {key}"
        return {**self.headers, **({"authorization": basic} if key else {})}


def parse_search(response: ApiResponse, options: OpenSearchOptions | None = None) -> list[Found]:
    """Return the records of a search, best first, each with its text. Raises SourceError."""
    options = options or OpenSearchOptions.model_validate({})
    answer = json_of(response, OpenSearchSource)
    hits = at(answer, "hits", "hits")
    if not isinstance(hits, list):
        raise failure(Unreadable, response, OpenSearchSource, "the answer is no search result")
    best = max((score(hit.get("_score")) for hit in objects(hits)), default=0.0) or 1.0
    return [found for hit in objects(hits) if (found := _record(hit, options, best))]


def _record(hit: Mapping[str, Any], options: OpenSearchOptions, best: float) -> Found | None:
    own, fields = text(hit.get("_id")), hit.get("_source")
    if not own or not isinstance(fields, Mapping):
        return None
    index, body = text(hit.get("_index")), _first(fields, options.text_fields)
    title = line(_first(fields, options.title_fields)) or own
    published = iso_date(_first(fields, options.date_fields))
    url = _first(fields, options.url_fields)
    return Found(
        key=f"opensearch:{index}/{own}",
        title=title,
        url=url if url.startswith(("https://", "http://")) else "",
        origin=OpenSearchSource.name,
        location=f"{index}/{own}",
        published=published,
        snippet=snippet(body),
        score=score(hit.get("_score")) / best,
        document=document(title, sections=[("Text", body)], published=published) if body.strip() else None,
    )


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of these fields that is there; a dot leads into an object."""
    return next((found for name in names if (found := raw(fields.get(name) or at(fields, *name.split("."))))), "")


COMPONENT = OpenSearchSource
