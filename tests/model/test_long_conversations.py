"""A conversation that outgrows its window: its oldest results shrink, seldom, so that providers' caches hold the rest."""

from itertools import pairwise

from deep_research.data import Action, Document, Found, Observation, Turn
from deep_research.reasoners.model.conversation import messages_of
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.text.token_count import estimate_tokens

BUDGET, TURNS = 4_000, 30


def opened(library: SqliteLibrary, number: int) -> Turn:
    text = f"# Page {number}\n\n" + "\n\n".join(f"Engine {number}.{n} turns at {n * 100} rpm." * 8 for n in range(6))
    url = f"https://z.example/{number}"
    source = library.add_source(Found(key=url, title=f"Page {number}", url=url, origin="pages"))
    library.add_snapshot(source.id, Document(text=text, title="t"), retrieved_at="2026-01-01T00:00:00+00:00")
    action = Action(id=f"a{number}", name="open", source=source.id)
    passages = tuple(passage.id for passage in library.passages(source.id))
    return Turn(actions=(action,), observations=(Observation(action=action.id, passages=passages),))


def test_the_oldest_results_shrink_seldom_and_what_was_sent_before_stands() -> None:
    library = SqliteLibrary(":memory:")
    turns = [opened(library, number) for number in range(TURNS)]
    sent = [messages_of(turns[:n], library, budget=BUDGET) for n in range(1, TURNS + 1)]
    assert all(sum(estimate_tokens(m.text) for m in messages) <= BUDGET for messages in sent)
    assert "Engine 29.5" in sent[-1][-1].text
    assert "Engine 0.5" not in sent[-1][1].text, "the oldest has shrunk"
    again = messages_of([*turns, turns[0].model_copy()], library, budget=BUDGET)
    assert "Engine 0.5" in again[-1].text, "what has left the conversation is shown when it is opened again"
    changed = sum(after[: len(before)] != before for before, after in pairwise(sent))
    assert 0 < changed <= TURNS / 3


def test_a_search_shows_what_several_pages_say_once_and_names_the_others() -> None:
    library = SqliteLibrary(":memory:")
    told = "The Alpha engine is a rotary engine that was built for small boats and for the people who row them. "
    texts = {"v1": told, "v2": told, "v3": f"{told}It turns at 3,000 rpm."}
    keys = {}
    for name, text in texts.items():
        source = library.add_source(Found(key=name, title=name, url=f"https://z.example/{name}", origin="pages"))
        library.add_snapshot(source.id, Document(text=text, title=name), retrieved_at="2026-01-01T00:00:00+00:00")
        keys[name] = library.passages(source.id)[0].id
    action = Action(id="a", name="search", query="alpha engine")
    seen = Observation(action="a", passages=tuple(keys.values()))
    shown = messages_of([Turn(actions=(action,), observations=(seen,))], library, budget=BUDGET)[-1].text
    assert shown.count("small boats") == 2
    assert "3,000 rpm" in shown
    assert f"The same words elsewhere: {keys['v2']}" in shown
    opening = Action(id="b", name="open", source="s2")
    opened_ = Turn(actions=(opening,), observations=(Observation(action="b", passages=(keys["v2"],)),))
    both = messages_of([Turn(actions=(action,), observations=(seen,)), opened_], library, budget=BUDGET)
    assert "small boats" in both[-1].text, "what is opened is shown as it stands"
