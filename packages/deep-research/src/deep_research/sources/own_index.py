"""An organisation's own index: OpenSearch, Elasticsearch, a PostgreSQL table.

A table is searched by full text, and by pgvector where it has embeddings and a server makes those of queries; both
rankings are joined by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pydantic import Field, field_validator

from claimcheck.text.cleaning import fold
from deep_research.data import Found, Gap, SearchResult
from deep_research.errors import ConfigError, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, Pace, basic, read_answer, result
from deep_research.sources._api_answers import Record
from deep_research.sources._record_documents import Item, line
from deep_research.text.dates import iso_date

_MOST = 50
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_FUSION = 60


class OpenSearchOptions(ApiOptions):
    """Options of an index; the first field of each kind that a record has is used."""

    base_url: str = Field("", description="Address of the cluster; else OPENSEARCH_URL.")
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
    """A word search over title and text (the cluster's BM25); results carry text."""

    name = "opensearch"
    purpose = "An organisation's own index in OpenSearch or Elasticsearch."
    pace = Pace(10.0, "As the cluster can bear.", most=100, at_once=10)
    needs = "OPENSEARCH_URL"
    also = ("OPENSEARCH_API_KEY",)

    async def _search(self, query: str, limit: int) -> SearchResult:
        options = self.options
        fields = [*(f"{name}^2" for name in options.title_fields), *options.text_fields]
        asked = {
            "size": min(limit, _MOST),
            "query": {"multi_match": {"query": query, "fields": fields, "type": "most_fields", "lenient": True}},
            "_source": [*options.title_fields, *options.text_fields, *options.url_fields, *options.date_fields],
        }
        response = await self._post(f"/{quote(options.index, safe=',*')}/_search", asked)
        return result(await read_answer(parse_search, response, options))

    def _headers(self) -> dict[str, str]:
        key = self._key()
        written = f"Basic {basic(key)}" if ":" in key else f"ApiKey {key}"
        return {**self.headers, **({"authorization": written} if key else {})}


def parse_search(response: ApiResponse, options: OpenSearchOptions | None = None) -> list[Found]:
    """Return the records of a search, best first, each with text; raise SourceError."""
    options = options or OpenSearchOptions.model_validate({})
    hits = OpenSearchSource.list_of(response, "hits", "hits")
    best = max((hit.score("_score") for hit in hits), default=0.0) or 1.0
    items = [_hit(hit, options, best) for hit in hits if hit.text("_id") and hit.record("_source")]
    return [found for item in items if (found := item.found(OpenSearchSource.name))]


def _hit(hit: Record, options: OpenSearchOptions, best: float) -> Item:
    own, fields = hit.text("_id"), hit.record("_source")
    title, body = line(fields.first_raw(*options.title_fields)) or own, fields.first_raw(*options.text_fields)
    published = iso_date(fields.first_raw(*options.date_fields))
    url, score = fields.first_raw(*options.url_fields), hit.score("_score") / best
    place = f"{hit.text('_index')}/{own}"
    return _item(OpenSearchSource.name, place, title, body, url=url, published=published, score=score)


def _item(origin: str, place: str, title: str, body: str, *, url: str, published: str | None, score: float) -> Item:
    return Item(
        key=f"{origin}:{place}",
        title=title,
        url=url if url.startswith(("https://", "http://")) else "",
        about=body,
        published=published,
        score=score,
        sections=[("Text", body)],
        location=place,
    )


class PostgresIndexOptions(ApiOptions):
    """Options of a table; a column name is "" for a column that it does not have."""

    base_url: str = Field(
        "", description="Address of a server with OpenAI's /embeddings, for pgvector; none: words alone."
    )
    table: str = Field("documents", description="Table or view to search, SCHEMA.TABLE where it is not public.")
    id_column: str = Field("id", description="Column that names a record.")
    title_column: str = Field("title", description="Column with the title.")
    text_column: str = Field("text", description="Column with the text.")
    url_column: str = Field("", description="Column with the address.")
    date_column: str = Field("", description="Column with the date.")
    search_column: str = Field("", description="Column of type tsvector; without it one is made of title and text.")
    vector_column: str = Field("", description="Column of pgvector's type vector.")
    embedding_model: str = Field("", description="Name of the model whose embeddings the vectors are.")
    language: str = Field("simple", description="Text search configuration: simple, english, german, …")

    @field_validator("table", "language", "vector_column", "search_column", *(f"{n}_column" for n in ("id", "title", "text", "url", "date")))  # fmt: skip
    @classmethod
    def _is_name(cls, value: str) -> str:
        if value and not all(_NAME.fullmatch(part) for part in value.split(".", 1)):
            raise ValueError("a name has letters, digits and _ only")
        return value


class PostgresIndexSource(ApiSource[PostgresIndexOptions]):
    """A table search by words, and by meaning if possible; results carry the text."""

    name = "postgres_index"
    purpose = "An organisation's own table in PostgreSQL, by full text and pgvector."
    needs = "POSTGRES_INDEX_DSN"
    also = ("POSTGRES_INDEX_EMBEDDINGS_KEY",)
    key_header = ("authorization", "Bearer {}")
    over_http: ClassVar[bool] = False

    async def _search(self, query: str, limit: int) -> SearchResult:
        most, gaps = min(limit, _MOST), list[Gap]()
        vector: Sequence[float] = ()
        if self.options.vector_column and self.options.base_url:
            try:
                asked = {"input": query, "model": self.options.embedding_model}
                vector = await read_answer(parse_embedding, await self._post("/embeddings", asked))
            except SourceError as error:
                gaps.append(self._gap("search by meaning in postgres_index", error))
        rows = await asyncio.to_thread(self._ask, query, vector, most)
        return result((self._record(row).found(self.name) for row in rows), gaps)

    def _ask(self, query: str, vector: Sequence[float], limit: int) -> list[tuple[Any, ...]]:
        """Return the records of both rankings; raise errors that hide the address."""
        try:
            import psycopg  # noqa: PLC0415 - an extra
        except ImportError as error:
            message = "A table in PostgreSQL needs the extra `postgres`: pip install 'deep-research[postgres]'."
            raise ConfigError(message, setting="sources", value=self.name) from error
        try:
            address, bound = self._keys["POSTGRES_INDEX_DSN"], "-c statement_timeout=20s"
            with psycopg.connect(address, connect_timeout=10, options=bound) as connection:
                connection.read_only = True
                words = " or ".join(re.findall(r"\w+", query))
                values = {"query": words, "vector": str(list(vector)), "limit": limit, "deep": 3 * limit}
                return connection.execute(_query(self.options, by_meaning=bool(vector)).encode(), values).fetchall()
        except psycopg.Error as error:
            is_away = isinstance(error, (psycopg.OperationalError, psycopg.errors.QueryCanceled))
            kind, what = (Unreachable, "does not answer") if is_away else (Unreadable, "refused")
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise kind(f"{self.name}: the database {what}: {why}", source=self.name) from None

    def _record(self, row: tuple[Any, ...]) -> Item:
        own, title, body, url, date, rank = row
        title, place = fold(str(title or own)), f"{self.options.table}/{own}"
        published = iso_date(str(date)) if date else None
        return _item(self.name, place, title, str(body or ""), url=str(url), published=published, score=float(rank))


def _query(options: PostgresIndexOptions, *, by_meaning: bool) -> str:
    """Return the statement; its names are checked to be names."""
    columns = (options.title_column, options.url_column, options.date_column)
    title, url, date = (f"t.{name}" if name else "NULL" for name in columns)
    words = f"coalesce({title}, '') || ' ' || coalesce(t.{options.text_column}, '')"
    found = f"t.{options.search_column}" if options.search_column else f"to_tsvector('{options.language}', {words})"
    rankings = f"""
    SELECT t.{options.id_column} AS id, row_number() OVER (ORDER BY ts_rank_cd({found}, q, 32) DESC) AS place
    FROM {options.table} t, websearch_to_tsquery('{options.language}', %(query)s) q WHERE {found} @@ q
    ORDER BY place LIMIT %(deep)s"""  # noqa: S608 - names that were checked
    if by_meaning:
        near = f"t.{options.vector_column} <=> %(vector)s::vector"
        rankings = f"""({rankings}) UNION ALL (
        SELECT t.{options.id_column}, row_number() OVER (ORDER BY {near}) FROM {options.table} t
        WHERE t.{options.vector_column} IS NOT NULL ORDER BY {near} LIMIT %(deep)s)"""  # noqa: S608
    return f"""
    WITH places AS ({rankings}),
    best AS (SELECT id, sum({_FUSION + 1}.0 / ({_FUSION} + place)) AS rank FROM places GROUP BY id ORDER BY rank DESC LIMIT %(limit)s)
    SELECT best.id, {title}, t.{options.text_column}, {url}, {date}, best.rank
    FROM best JOIN {options.table} t ON t.{options.id_column} = best.id ORDER BY best.rank DESC, best.id"""  # noqa: S608


def parse_embedding(response: ApiResponse) -> list[float]:
    """Return the vector of a server with OpenAI's /embeddings. Raises SourceError."""
    vector = PostgresIndexSource.object_of(response, "data", what="embedding").get("data", 0, "embedding")
    if not isinstance(vector, list) or not vector or not all(isinstance(one, int | float) for one in vector):
        raise PostgresIndexSource.failure(Unreadable, response, "the answer is no embedding")
    return [float(one) for one in vector]
