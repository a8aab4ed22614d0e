"""Row E1, a single paper: `open` takes the id that a source gives it, with the source's name before it."""

import asyncio

import pytest

from deep_research.data import Action, Observation
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.run_context.context import Outside, RunContext
from deep_research.settings import Settings
from deep_research.steps.search import perform
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.sources.answers import ScriptedClient, answer, bodies, opened
from tests.support.unkept_log import unkept_log


def _done(client: ScriptedClient, *actions: Action, place: str = "arxiv") -> list[Observation]:
    async def act() -> list[Observation]:
        journal = SqliteJournal(":memory:")
        ctx = RunContext(
            run_id="run",
            settings=Settings(),
            reasoner=FinderReasoner(),
            library=SqliteLibrary(":memory:"),
            journal=journal,
            log=unkept_log(),
            outside=Outside(places=(opened(place, client),)),
        )
        try:
            return [seen for action in actions for seen in await perform(ctx, [action])]
        finally:
            journal.close()

    return asyncio.run(act())


@pytest.mark.parametrize("name", ["arxiv:2401.00001", "arXiv:2401.00001", "arxiv: 2401.00001v1"])
def test_e1_a_paper_is_opened_by_its_id_with_the_source_before_it(name: str) -> None:
    client = ScriptedClient({"": answer(bodies("arxiv", "one")[""])})
    (seen,) = _done(client, Action(id="a1", name="open", source=name))
    assert seen.passages[0].startswith("s1p")
    assert not seen.failed
    assert [call.params.get("id_list") for call in client.calls] == ["2401.00001"]


def test_e1_a_paper_that_was_found_is_opened_by_its_id_and_asked_for_once() -> None:
    client = ScriptedClient({"": answer(bodies("arxiv", "one")[""])})
    found, seen, again = _done(
        client,
        Action(id="a1", name="search", query="sparse retrieval", source="arxiv"),
        Action(id="a2", name="open", source="2401.00001"),
        Action(id="a3", name="open", source="arxiv:2401.00001"),
    )
    assert set(found.passages) <= set(seen.passages) == set(again.passages)
    assert len(client.calls) == 1
