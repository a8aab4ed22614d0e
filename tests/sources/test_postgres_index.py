"""A table of an organisation as a source, on a real PostgreSQL with pgvector."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from deep_research.errors import ConfigError, Unreachable, Unreadable
from deep_research.sources.own_index import PostgresIndexSource
from tests.runs.running import run
from tests.sources.answers import ScriptedClient, answer
from tests.support.postgres import new_database

psycopg = pytest.importorskip("psycopg", reason="no PostgreSQL here: pip install 'deep-research[postgres]'")
pytestmark = pytest.mark.process
ROWS = [
    (
        "a",
        "Alpha engine",
        "The Alpha engine is a rotary engine that turns at 3,000 rpm. It was built in 1999.",
        "[1,0,0]",
    ),
    ("b", "Beta engine", "The Beta engine is a piston engine that turns at 4,500 rpm. It weighs 85 kg.", "[0,1,0]"),
    ("c", "Canteen", "The canteen is open from noon to two.", "[0,0,1]"),
]


@pytest.fixture(scope="module")
def dsn(postgres: str) -> Iterator[str]:
    with new_database(postgres) as address, psycopg.connect(address, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION vector")
        except psycopg.Error:
            pytest.skip("this PostgreSQL has no pgvector")
        connection.execute(
            "CREATE TABLE notes (id text PRIMARY KEY, title text, text text, url text, day date, meaning vector(3))"
        )
        for own, title, text, vector in ROWS:
            values = (own, title, text, f"https://intranet.test/{own}", "2025-03-18", vector)
            connection.execute("INSERT INTO notes VALUES (%s, %s, %s, %s, %s, %s)", values)
        yield address


def opened(dsn: str, client: ScriptedClient | None = None, **options: object) -> PostgresIndexSource:
    given = {"table": "notes", "url_column": "url", "date_column": "day", "language": "english", **options}
    return PostgresIndexSource.build(given, client or ScriptedClient(answer({})), {"POSTGRES_INDEX_DSN": dsn})


async def test_a_table_is_searched_by_words(dsn: str) -> None:
    found = (await opened(dsn).search("How fast do rotary engines turn?", limit=5)).found
    assert [one.key for one in found] == ["postgres_index:notes/a", "postgres_index:notes/b"]
    assert (found[0].title, found[0].url, found[0].published) == (
        "Alpha engine",
        "https://intranet.test/a",
        "2025-03-18",
    )
    assert found[0].document is not None
    assert "3,000 rpm" in found[0].document.text
    assert (await opened(dsn).search("\"'; DROP TABLE notes; --", limit=5)).found == ()
    assert len((await opened(dsn).search("engine", limit=1)).found) == 1


async def test_a_table_is_searched_by_meaning_too(dsn: str) -> None:
    client = ScriptedClient(answer({"data": [{"embedding": [0.0, 0.1, 0.9]}]}))
    named = {"vector_column": "meaning", "base_url": "http://embeddings.test/v1", "embedding_model": "m"}
    found = (await opened(dsn, client, **named).search("Where is lunch served?", limit=2)).found
    assert found[0].key == "postgres_index:notes/c"
    assert client.calls[0].json == {"input": "Where is lunch served?", "model": "m"}
    broken = ScriptedClient(answer({"error": "no"}, 500))
    result = await opened(dsn, broken, **named).search("rotary engine", limit=2)
    assert [one.title for one in result.found] == ["Alpha engine", "Beta engine"]
    assert "search by meaning" in result.gaps[0].what


async def test_a_database_that_refuses_is_an_error_without_its_address(dsn: str) -> None:
    with pytest.raises(Unreadable, match=r"refused: .*no_such_table"):
        await opened(dsn, table="no_such_table").search("engine", limit=2)
    nowhere = "postgresql://anna:hidden-word@127.0.0.1:1/x"
    with pytest.raises(Unreachable) as error:
        await opened(nowhere).search("engine", limit=2)
    assert not re.search("hidden-word", error.value.message)
    with pytest.raises(ConfigError, match="a name has letters"):
        opened(dsn, table="notes; DROP TABLE notes")


def test_a_run_cites_a_table(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSTGRES_INDEX_DSN", dsn)
    options = {"postgres_index": {"table": "notes", "url_column": "url"}}
    ran = run(
        "How fast does the Alpha engine turn?", home=tmp_path, sources=("postgres_index",), source_options=options,
        workflow="quick",
    )  # fmt: skip
    assert "3,000 rpm" in ran.report.report
    assert {source.origin for source in ran.report.sources.values()} == {"postgres_index"}
