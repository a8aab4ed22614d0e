"""The reasoner without a model: when it asks back, what it searches, and the report it makes."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from claimcheck.language import detect
from deep_research.data import LIBRARY, Action, Brief, Message, Observation, Question, Ranking, Section, Term, Turn
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.finding.notes import write_notes
from deep_research.i18n.catalog import phrase
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.finding.folders import find, library_of, researched
from tests.finding.manuals import JAPANESE, KOREAN, MANUAL

REASONER = FinderReasoner()
_AS_WRITTEN = {"en": "As written", "zh": "原样", "ja": "書かれたとおり", "ko": "적힌 그대로"}


def decided(text: str, *history: tuple[str, str], rounds: int = 0, terms: Sequence[Term] = ()):
    told = tuple(Message.model_validate({"role": role, "text": said}) for role, said in history)
    question = Question(text=text, language=detect(text), history=told)
    return asyncio.run(REASONER.decide(question, rounds=rounds, terms=terms))


@pytest.mark.parametrize(
    ("text", "before", "topic"),
    [
        ("and for version 2?", "How is Playwright installed?", "Playwright"),
        ("What about Windows?", "How is Playwright installed?", "Playwright"),
        ("How is Selenium installed?", "How is Playwright installed?", ""),
    ],
)
def test_a_question_that_goes_on_keeps_the_subject(text: str, before: str, topic: str) -> None:
    decision = decided(text, ("user", before), ("assistant", "…"))
    assert decision.refined_question.startswith(f"{text} ({topic}" if topic else text)
    assert ("Playwright" in decision.refined_question) is bool(topic)


def test_the_report_shows_places_by_part_and_by_document_and_says_that_nobody_judged(tmp_path: Path) -> None:
    with library_of(tmp_path / "docs", {"manual.md": MANUAL, "지침.md": KOREAN}) as library:
        text, sections = asyncio.run(
            researched(library, "How do I change the filter of the pump? What is the mass of the P700?")
        )
        assert text.startswith("# How do I change the filter")
        assert text.count("\n> ") == 2
        assert "No language model has written this, or judged" in text
        assert "## How do I change the filter of the pump" in text
        assert "## By document" in text
        ids = set(re.findall(r"\[(s\d+p\d+)\]", text))
        assert ids
        assert all(library.passage(key) is not None for key in ids)
        assert len(sections) == 2
        for section in sections:
            assert re.search(r"\[s\d+p\d+\]", section.content)


def test_what_two_parts_have_in_common_is_shown_whole_once(manual: SqliteLibrary) -> None:
    text, _ = asyncio.run(
        researched(manual, "What should I wear when the pump is opened? Is the housing of the pump hot?")
    )
    assert text.count("Wear gloves") == 1
    assert "Shown above: **Pump manual › Safety** [s1p" in text


def test_text_before_and_behind_a_stretch_is_marked_in_the_report(tmp_path: Path) -> None:
    page = "# Tanks\n\n" + "".join(f"Tank {n} holds {n} litres of water{' from the well' * 30}.\n\n" for n in range(9))
    with library_of(tmp_path / "docs", {"tanks.md": page}) as library:
        text, sections = asyncio.run(researched(library, "How much does tank 4 hold?"))
    for said in (text, sections[0].content):
        assert re.search(r"\*\*Tanks\*\*\n\n…\n\nTank", said)
        assert re.search(r"\[s1p\d+\]\n\n…\n\n(?:## |\*\*)Other places", said)


def test_that_no_passage_has_all_words_is_said_before_a_place_is_shown(tmp_path: Path) -> None:
    plans = "# Cloud\n\n## Storage\n\nThe Team plan stores 500 GB per user.\n\n## Sales\n\nEach month a price list is sent.\n"
    with library_of(tmp_path / "docs", {"cloud.md": plans}) as library:
        text, _ = asyncio.run(researched(library, "What is the price per month of the Team plan?"))
    said = "As written, all of these words stand together in none of the passages that the search brought: “price”, “per”, “month”, “Team”, “plan”."
    assert 0 < text.index(said) < text.index("500 GB")


def test_of_a_script_whose_words_nothing_parts_none_is_said_to_be_missing(tmp_path: Path) -> None:
    page = "# 分区\n\n交换分区的大小可以和内存相同，一般不小于 512MB。\n"
    with library_of(tmp_path / "docs", {"分区.md": page, "規程.md": JAPANESE, "지침.md": KOREAN}) as library:
        for question, named in (
            ("SWAPFS 的交换分区应该设多大", "“SWAPFS”"),
            ("变压器楼有付晚的交换分区应该设多大", ""),
            ("員工食堂の在宅勤務はいつ申請しますか", ""),
            ("고객센터의 비밀번호는 며칠마다 바꾸나요?", ""),
            ("नोवा पंप का वज़न कितना है?", ""),
        ):
            text, _ = asyncio.run(researched(library, question))
            told = [line for line in text.splitlines() if any(sign in line for sign in _AS_WRITTEN.values())]
            assert ["“" + line.partition("“")[2].partition("”")[0] + "”" for line in told] == [named] * bool(named)


def test_what_is_said_of_words_is_said_of_them_as_written(tmp_path: Path) -> None:
    with library_of(tmp_path / "docs", {"kai.md": "# Kai\n\nOPTIONS of the store in Jul: 12.\n"}) as library:
        (part,) = find("How optional was the store in July?", "en", library).parts
        assert part.missing == ("July",)
        for language, as_written in _AS_WRITTEN.items():
            said, _, _ = write_notes(part, language, library).partition("\n\n")
            assert said == phrase("finder_missing", language, words="“July”")
            assert said.count(as_written) == 1


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much parental leave does the company pay?", ["parental", "leave", "company", "pay"]),
        ("Who approves the hotel costs?", []),
    ],
)
def test_exactly_the_words_that_stand_nowhere_are_named(tmp_path: Path, question: str, said: list[str]) -> None:
    files = {"a.md": "# Hotels\n\nThe hotel is far.\n\n# Trips\n\nThe cost is noted.\n\n# Boss\n\nApproval is due.\n"}
    with library_of(tmp_path / "docs", files) as library:
        (part,) = find(question, "en", library).parts
        notes = write_notes(part, "en", library)
    assert sorted(re.findall("“(.+?)”", notes)) == sorted(said)
    assert ("As written" in notes) is bool(said)


def test_a_report_with_nothing_found_cites_nothing(manual: SqliteLibrary) -> None:
    text, _ = asyncio.run(researched(manual, "zzyzx qwertz"))
    assert "No place was found." in text
    assert "[s" not in text


@pytest.mark.parametrize(
    ("question", "searches"), [("filter cover", 0), ("filter cover of a dishwasher", 1), ("洗碗机的滤网盖", 1)]
)
def test_a_follow_up_searches_only_where_what_was_read_lacks_a_word(
    manual: SqliteLibrary, question: str, searches: int
) -> None:
    section = Section(title="Answer", description=question, queries=(question,))
    brief = Brief(title=question, objective="", question=question, sections=(section,))
    ids = tuple(passage.id for passage in manual.passages("s1"))
    action = Action(id="m1", name="search", query=question, source=LIBRARY)
    turn = Turn(actions=(action,), observations=(Observation(action="m1", passages=ids),))
    move = asyncio.run(REASONER.next_move(section, brief, [turn], manual))
    assert len(move.actions) == searches
    assert bool(move.text) == (not searches)


class Reversing:
    """A ranker to which the last text is the best."""

    name = "reversing"

    async def rank(self, question: str, texts: Sequence[str]) -> Ranking:
        return Ranking(scores=tuple(float(number) for number in range(len(texts))))

    async def close(self) -> None:
        """Hold nothing."""


def test_a_ranker_puts_the_places_in_order(tmp_path: Path) -> None:
    files = {f"f{n}.md": f"# File {n}\n\nThe filter number {n} is {'kept ' * n}clean.\n" for n in range(4)}
    with library_of(tmp_path / "docs", files) as library:
        plain, _ = asyncio.run(researched(library, "filter clean"))
        ranked, _ = asyncio.run(researched(library, "filter clean", Reversing()))
    assert re.findall(r"\*\*(File \d)\*\*", plain) != re.findall(r"\*\*(File \d)\*\*", ranked)


_HONEY = {"bees.md": "# Bees\n\n## Honey\n\nBees make honey from nectar that is gathered in spring.\n"}


@pytest.mark.parametrize(
    "question", ["The zebra saxophone sings. What is honey?", "What is honey? The zebra saxophone sings."]
)
def test_words_that_stand_nowhere_are_named_of_all_sentences(tmp_path: Path, question: str) -> None:
    with library_of(tmp_path / "folder", _HONEY) as library:
        report, _ = asyncio.run(researched(library, question))
    assert all(f"“{word}”" in report for word in ("zebra", "saxophone", "sings"))


@pytest.mark.parametrize(
    ("second", "missing"),
    [
        ("Where is nectar gathered?", []),
        ("Which nectar does a zebra drink?", ["zebra", "drink"]),
        ("蜂蜜和 nectar？", []),
    ],
)
def test_below_each_part_stand_its_place_and_its_own_words_that_are_missing(
    tmp_path: Path, second: str, missing: list[str]
) -> None:
    with library_of(tmp_path / "folder", _HONEY) as library:
        report, _ = asyncio.run(researched(library, f"How do purple bees make honey? {second}"))
    first, below = report.partition("\n## By document")[0].split("\n## ")[1:]
    assert re.findall("“(.+?)”", first) == ["purple"]
    assert re.findall("“(.+?)”", below) == missing
    assert re.search(r"\*\*Bees › Honey\*\* \[s1p\d\]$", below.strip())
