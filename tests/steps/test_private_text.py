"""What may go out of a run that has read the user's documents: names and terms, but no stretches of them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Document, Found
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.run_context.context import Outside, RunContext
from deep_research.settings import Settings
from deep_research.steps.private_text import hold_back, sent_queries
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.support.turns import TOO_LONG, turns_of_others
from tests.support.unkept_log import unkept_log

PRIVATE = """# Plan for Helios

The board has decided to close the plant in Augsburg on the first of May, and nobody outside may know of it.
Write to anna.holm@helios-works.example or call +49 821 5980 1147. Account DE89 3704 0044 0532 0130 00.
The key is sk4f9Qz81LmX02pVtR77 and the licence 7KQ2-99XA-L0PD. Revenue 2019 2020 2021, see 10.1038/s41586-021-03819-2
and 2401.12345 of 2024-05-01. The password is not in it.

董事会决定在五月一日关闭奥格斯堡的工厂并解雇全部员工，任何外人都不得知道这件事情。
이사회는 오월 일일에 아우크스부르크 공장을 닫고 직원을 모두 해고하기로 결정했다.
取締役会は五月一日にアウクスブルクの工場を閉鎖して全従業員を解雇することを決めた。
"""
TITLE = "Helios: we will sell the works in Bergen to nobody but Rolf"
NAME = "2025/How we fire the whole night shift in June.docx"
PUBLIC = "The engine of the Zeppelin museum turns at three thousand revolutions a minute on every first Sunday."

HELD = {
    "a sentence": ("the board has decided to close the plant in Augsburg", "words"),
    "other signs and capitals": ("Board: has decided - TO close, the “plant” in Augsburg?", "words"),
    "between other words": ("news today nobody knows has decided to close the plant in Augsburg on site", "words"),
    "an address": ("https://evil.example/board-has-decided-to-close-the-plant-in-augsburg/", "words"),
    "a query of an address": ("https://evil.example/?q=board+has%20decided%20to+close+the+plant+in", "words"),
    "a line for each word": ('{"q": "board\\nhas\\ndecided\\nto\\tclose\\nthe\\nplant\\nin\\naugsburg"}', "words"),
    "without spaces": ("theboardhasdecidedtoclosetheplantinaugsburgonthefirstofmayandnobodyoutside", "words"),
    "Chinese": ("董事会决定在五月一日关闭奥格斯堡的工厂", "words"),
    "Korean": ("이사회는 오월 일일에 아우크스부르크 공장을 닫고 직원을 모두", "words"),
    "Japanese": ("取締役会は五月一日にアウクスブルクの工場を閉鎖", "words"),
    "an e-mail address": ("who is Anna.Holm@helios-works.example", "value"),
    "an e-mail address in a line": ('{"q": "\\nanna.holm@helios-works.example\\n"}', "value"),
    "a number": ("+49 821 5980 1147", "value"),
    "two runs of words": ("theboardhasdecided toclosetheplantinaugsburg onthefirst", "words"),
    "a title": ("we will sell the works in Bergen to nobody but Rolf", "words"),
    "the name of a file": ("how we fire the whole night shift in June", "words"),
    "a number with signs": ("+49_821 (598): 01147", "value"),
    "a number without its spaces": ("https://evil.example/8215980 1147".replace(" ", ""), "value"),
    "a number in a path": ("https://evil.example/7/82159801147/3", "value"),
    "a number that calls itself a DOI": ("10.1234/82159801147", "value"),
    "a key with more around it": ("xxsk4f9Qz81LmX02pVtR77yy", "value"),
    "an IBAN": ("DE89370400440532013000", "value"),
    "a key": ("sk4f9Qz81LmX02pVtR77 leaked", "value"),
    "a key in full width": ("ｓｋ４ｆ９Ｑｚ８１ＬｍＸ０２ｐＶｔＲ７７", "value"),
    "a key with signs between": ("sk4f9Q_z81LmX0 2pVtR77", "value"),
    "a key in groups": ("licence 7KQ2-99XA-L0PD", "value"),
}  # fmt: skip
SENT = {
    "names and terms": "Helios Augsburg plant closure board",
    "seven words": "decided to close the plant in Augsburg",
    "words of it in another order": "Augsburg plant close decided has board the that in to may",
    "a DOI": "10.1038/s41586-021-03819-2",
    "an arXiv id": "2401.12345",
    "a date": "Helios 2024-05-01",
    "a time": "Helios 2024-05-01 10:30",
    "another e-mail address of the same people": "info@helios-works.example",
    "a long word": "internationalization2024 of Helios",
    "years": "revenue 2019 2020 2021",
    "a number that is not in it": "+49 30 5566 7788",
    "a public sentence": "engine of the Zeppelin museum turns at three thousand revolutions a minute",
    "Chinese terms": "董事会 奥格斯堡 工厂",
}


def held(
    said: str, folder: Path, *, place: str = "searxng", asked: str = "", private: str = PRIVATE, **fields: Any
) -> tuple[str, RunContext]:
    """Return the code of the gap with which `said` was held back, "" where it may be sent."""
    library = SqliteLibrary(":memory:")
    for key, origin, text in (("file:plan.md", "documents", private), ("https://z.example/", "pages", PUBLIC)):
        source = library.add_source(Found(key=key, title=TITLE, url=key, origin=origin, location=NAME))
        library.add_snapshot(source.id, Document(text=text, title="t"), retrieved_at="2026-01-01T00:00:00+00:00")
    journal = SqliteJournal(folder / "journal.db")
    settings = Settings(**fields.pop("settings", {}))
    ctx = RunContext(
        run_id="r",
        settings=settings,
        reasoner=FinderReasoner(),
        library=library,
        journal=journal,
        log=unkept_log(),
        outside=Outside(asked=asked, **{"docs": ("plans",), **fields}),
    )
    gap = asyncio.run(hold_back(ctx, place, said))
    assert (gap is not None) == bool(ctx.log.gaps)
    return (gap.codes[0].removeprefix("held_back_") if gap else ""), ctx


@pytest.mark.parametrize(("said", "why"), [*HELD.values(), *((said, "") for said in SENT.values())], ids=[*HELD, *SENT])
def test_what_repeats_a_document_is_held_back_and_names_and_terms_are_sent(said: str, why: str, tmp_path: Path) -> None:
    code, ctx = held(said, tmp_path)
    assert code == why
    assert [(q.place, q.query, q.held_back) for q in sent_queries(ctx)] == [("searxng", said, why)]


SENTENCE = HELD["a sentence"][0]


def test_what_the_user_has_asked_is_sent(tmp_path: Path) -> None:
    assert held(SENTENCE, tmp_path, asked=f"Is it true that {SENTENCE}?")[0] == ""


def test_the_notes_that_come_with_the_program_are_not_private(tmp_path: Path) -> None:
    assert held(SENTENCE, tmp_path, docs=())[0] == ""


@pytest.mark.parametrize("place", ["documents", "opensearch"])
def test_what_is_the_users_own_may_be_asked_anything(place: str, tmp_path: Path) -> None:
    code, ctx = held(SENTENCE, tmp_path, place=place)
    assert (code, sent_queries(ctx)) == ("", ())


@pytest.mark.parametrize("said", ["a", "a ", "1 ", "1", "a@", "A1-", "水", "10.1234/", "a.", "ABCD-", "%41"])
def test_a_long_query_takes_no_longer_than_a_moment(said: str, tmp_path: Path) -> None:
    assert held((said * 4_000)[:4_000], tmp_path)[0] == ""
    assert held(said * 100_000, tmp_path)[0] == "words"


def test_a_long_document_leaves_other_threads_their_turn(tmp_path: Path) -> None:
    private = "ﬁ½ﷺ " * 120_000 + PRIVATE
    with turns_of_others() as held_up:
        assert held(SENTENCE, tmp_path, private=private)[0] == "words"
    assert max(held_up) < TOO_LONG


def test_what_would_take_too_long_to_compare_is_held_back(tmp_path: Path) -> None:
    digits = "".join(str(number) for number in range(10_000, 10_700))
    for times, why in ((400, ""), (400_000, "words")):
        folder = tmp_path / str(times)
        folder.mkdir()
        assert held(digits, folder, private="a b c d e f " * times)[0] == why
