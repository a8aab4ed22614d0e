"""An organisation's own table in PostgreSQL: full text (https://www.postgresql.org/docs/current/textsearch.html), and
pgvector (https://github.com/pgvector/pgvector) where the table has embeddings and a server makes those of queries.

Both rankings are joined by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, field_validator

from deep_research.data import Found, Gap, SearchResult
from deep_research.errors import ConfigError, SourceError, Unreachable, Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, snippet
from deep_research.sources._api_answers import at, failure, iso_date, json_of
from deep_research.sources._record_documents import document
from deep_research.text.cleaning import fold

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_MOST, _FUSION = 50, 60
_SECONDS = 20


class PostgresIndexOptions(ApiOptions):
    """Options of a table; columns that it does not have are set to "". `base_url` is that of the server of embeddings."""

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
    """Searches a table by words, and by meaning where it can; the text comes with the result."""

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
                vector = await self._embed(query)
            except SourceError as error:
                why = self._without_secrets(error).message
                gaps.append(Gap(what="search by meaning in postgres_index", why=why, source=self.name))
        rows = await asyncio.to_thread(self._ask, query, vector, most)
        return SearchResult(found=tuple(self._record(row) for row in rows), gaps=tuple(gaps))

    async def _embed(self, query: str) -> Sequence[float]:
        return parse_embedding(await self._post("/embeddings", {"input": query, "model": self.options.embedding_model}))

    def _ask(self, query: str, vector: Sequence[float], limit: int) -> list[tuple[Any, ...]]:
        """Return the records of both rankings. Raises Unreachable and Unreadable, without the address."""
        try:
            import psycopg  # noqa: PLC0415 - an extra
        except ImportError as error:
            message = "A table in PostgreSQL needs the extra `postgres`: pip install 'deep-research[postgres]'."
            raise ConfigError(message, setting="sources", value=self.name) from error
        try:
            with psycopg.connect(
                self._keys["POSTGRES_INDEX_DSN"], connect_timeout=10, options=f"-c statement_timeout={_SECONDS}s"
            ) as connection:
                connection.read_only = True
                values = {
                    "query": " or ".join(re.findall(r"\w+", query)),
                    "vector": str(list(vector)),
                    "limit": limit,
                    "deep": 3 * limit,
                }
                return connection.execute(_query(self.options, by_meaning=bool(vector)).encode(), values).fetchall()
        except (psycopg.OperationalError, psycopg.errors.QueryCanceled) as error:
            raise Unreachable(
                f"{self.name}: the database does not answer: {_first_line(error)}", source=self.name
            ) from None
        except psycopg.Error as error:
            raise Unreadable(f"{self.name}: the database refused: {_first_line(error)}", source=self.name) from None

    def _record(self, row: tuple[Any, ...]) -> Found:
        own, title, body, url, date, rank = row
        title, body = fold(str(title or own)), str(body or "")
        published = iso_date(str(date)) if date else None
        return Found(
            key=f"postgres_index:{self.options.table}/{own}",
            title=title,
            url=url if str(url).startswith(("https://", "http://")) else "",
            origin=self.name,
            location=f"{self.options.table}/{own}",
            published=published,
            snippet=snippet(body),
            score=float(rank),
            document=document(title, sections=[("Text", body)], published=published) if body.strip() else None,
        )


def _query(options: PostgresIndexOptions, *, by_meaning: bool) -> str:
    """Return the statement; its names are checked to be names."""
    title, url, date = (
        f"t.{name}" if name else "NULL" for name in (options.title_column, options.url_column, options.date_column)
    )
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
    vector = at(json_of(response, PostgresIndexSource), "data", 0, "embedding")
    if not isinstance(vector, list) or not vector or not all(isinstance(one, int | float) for one in vector):
        raise failure(Unreadable, response, PostgresIndexSource, "the answer is no embedding")
    return [float(one) for one in vector]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


COMPONENT = PostgresIndexSource
