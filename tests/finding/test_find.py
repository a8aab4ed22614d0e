"""What is shown of a question: the best stretch whole, then other places, and only negatives that are true."""

from pathlib import Path

import pytest

from deep_research.data import Passage
from deep_research.finding.places import PartPlaces
from deep_research.finding.ranking import Best, Candidate
from deep_research.finding.stretches import make_stretch
from deep_research.finding.text_units import Section, Span, Unit
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.finding.folders import find, library_of
from tests.finding.manuals import CHINESE, JAPANESE, KOREAN, MANUAL


def shown(part: PartPlaces) -> str:
    return "\n".join(piece.text for stretch in part.stretches for piece in stretch.pieces)


def ask(folder: Path, files: dict[str, str], question: str) -> PartPlaces:
    with library_of(folder, files) as library:
        return asked_of(library, question)


def asked_of(library: SqliteLibrary, question: str) -> PartPlaces:
    (part,) = find(question, "en", library).parts
    return part


def test_all_steps_are_shown_with_their_lead(tmp_path: Path) -> None:
    part = ask(
        tmp_path / "docs",
        {"manual.md": MANUAL, "other.md": "# Other\n\nNothing here.\n"},
        "How do I change the filter?",
    )
    text = shown(part)
    assert "close the inlet valve. To change it:" in text
    assert all(f"{number}. " in text for number in range(1, 6))
    assert part.stretches[0].where == "Pump manual > Changing the filter"


def test_rows_stand_under_their_header(tmp_path: Path) -> None:
    rows = "\n".join(f"| Q{n} | {n} | {n} | {n} |" for n in range(1_000, 1_200))
    table = MANUAL.replace("| P900 | 103 | 9 | 27 |", f"| P900 | 103 | 9 | 27 |\n{rows}")
    text = shown(ask(tmp_path / "docs", {"manual.md": table}, "What is the mass of the P700?"))
    assert "| Model | Flow l/min | Pressure bar | Mass kg |" in text
    assert "| P700 | 77 | 7 | 19 |" in text
    assert len(text) < 3_000


def test_code_is_shown_with_its_caption(manual: SqliteLibrary) -> None:
    text = shown(asked_of(manual, "Which command reports the serial number?"))
    assert "Write a message with the serial number:" in text
    assert "pumpctl report --serial 4711" in text


def test_the_paragraph_that_answers_comes_first(tmp_path: Path) -> None:
    files = {"manual.md": MANUAL, "手册.md": CHINESE, "規程.md": JAPANESE, "지침.md": KOREAN}
    with library_of(tmp_path / "docs", files) as library:
        for question, language, answer in (
            ("what must I wear when the pump is open", "en", "Wear gloves"),
            ("出差住宿一晚最多多少钱？", "zh", "四百五十元"),
            ("在宅勤務はいつまでに申請しますか", "ja", "前日の正午"),
            ("비밀번호는 며칠마다 바꾸나요?", "ko", "90일마다"),
        ):
            (part,) = find(question, language, library).parts
            assert answer in shown(part)


def test_pieces_and_places_are_exact_slices(manual: SqliteLibrary) -> None:
    part = asked_of(manual, "How do I change the filter of the pump?")
    snapshot = manual.snapshot(part.stretches[0].source)
    assert snapshot is not None
    for piece in part.stretches[0].pieces:
        assert snapshot.text[piece.start : piece.end] == piece.text
        spans = [manual.passage(key) for key in piece.passages]
        assert spans
        assert all(p is not None and p.start < piece.end and piece.start < p.end for p in spans)
    assert all(manual.passage(place.passage) is not None for place in part.places)
    assert all("\n" not in place.line for place in part.places)


def test_both_things_compared_have_places_and_those_with_both_come_first(tmp_path: Path) -> None:
    files = {
        "alias.md": "# mod_alias\n\nmod_alias maps addresses to folders. It is simple and fast.\n",
        "rewrite.md": "# mod_rewrite\n\nmod_rewrite changes addresses by rules and conditions.\n",
        "choose.md": "# Choosing\n\nUse mod_alias for plain redirects; mod_rewrite only where rules need conditions.\n",
        "other.md": "# Logs\n\nThe log tells which addresses were asked for.\n",
    }
    part = ask(tmp_path / "docs", files, "What is the difference between mod_alias and mod_rewrite?")
    assert "plain redirects" in shown(part)
    del files["choose.md"]
    part = ask(tmp_path / "more", files, "What is the difference between mod_alias and mod_rewrite?")
    assert {stretch.title for stretch in part.stretches} == {"mod_alias", "mod_rewrite"}


def test_words_that_stand_nowhere_and_nowhere_together_are_told(manual: SqliteLibrary) -> None:
    part = asked_of(manual, "What colour has the filter cover of the dishwasher?")
    assert not part.together
    assert part.is_complete
    assert {"colour", "dishwasher"} <= set(part.missing)
    assert "filter" not in part.missing


@pytest.mark.parametrize("question", ["What is the mass of the P700?", "How hot may the housing of the pump be?"])
def test_nothing_is_said_to_be_missing_that_one_passage_has(manual: SqliteLibrary, question: str) -> None:
    part = asked_of(manual, question)
    assert part.together
    assert not part.missing


def test_a_word_deep_in_a_large_library_is_not_said_to_be_missing(tmp_path: Path) -> None:
    filler = {f"f{n}.md": f"# Filter {n}\n\n" + "The filter is cleaned. " * 20 for n in range(80)}
    last = {
        "z.md": "# Notes\n\n"
        + "Rain fell. " * 400
        + "The filter is green by order of the zymurgist. "
        + "Rain fell. " * 400
    }
    part = ask(tmp_path / "docs", filler | last, "Which filter did the zymurgist order?")
    assert part.together
    assert "zymurgist" in shown(part) or any("zymurgist" in place.line for place in part.places)


def test_a_document_in_two_formats_is_shown_once(tmp_path: Path) -> None:
    text = "The swap partition should be as large as the memory, and at least 512 megabytes."
    files = {
        "guide.html": f"<html><head><title>Guide</title></head><body><h1>Partitions</h1><p>{text}</p></body></html>",
        "guide.txt": f"Guide\n\nPartitions\n\n{text.replace(' as the', chr(10) + 'as the')}\n",
        "guide.md": f"# Guide\n\n## Partitions\n\n{text}\n",
    }
    part = ask(tmp_path / "docs", files, "How large should the swap partition be?")
    lines = [place.line for place in part.places if "512" in place.line]
    assert "512 megabytes" in shown(part)
    assert lines == []


@pytest.mark.parametrize(
    ("question", "language", "is_foreign"),
    [("P700 的质量是多少？", "zh", True), ("P700의 질량은?", "ko", True), ("mass of the P700", "en", False)],
)
def test_that_most_of_what_is_shown_is_in_another_language_is_told(
    manual: SqliteLibrary, question: str, language: str, is_foreign: bool
) -> None:
    found = find(question, language, manual)
    assert found.is_foreign == is_foreign
    assert "P700" in shown(found.parts[0])


def test_code_tells_no_language(tmp_path: Path) -> None:
    coded = "# KeepAlive\n\n最大数は max で制限することができます。\n\n```\n<KeepAlive :max=10>\n  <component :is=view />\n```\n"
    with library_of(tmp_path / "docs", {"keep.md": coded}) as library:
        assert find("How is KeepAlive used with max?", "en", library).is_foreign
        assert not find("KeepAlive の max は？", "ja", library).is_foreign


@pytest.mark.parametrize(
    ("name", "words", "within"),
    [
        ("Chrome™", ["Chrome™", "Chrome"], ["Chrom", "hrome"]),
        ("ﬁle v2.53", ["file", "2.53"], ["2.5", "ile"]),
        ("bottleneck", ["bottlenecks"], ["TTL", "neck"]),
        (
            "fast sensor reports of companies, Zürich",
            ["sensors", "Sensors", "Company", "Zurich"],
            ["Fastly", "Reportedly"],
        ),
    ],
)
def test_a_word_is_said_to_be_missing_where_it_does_not_stand_whole(
    tmp_path: Path, name: str, words: list[str], within: list[str]
) -> None:
    files = {"a.md": f"# Rent\n\nThe pump costs ({name}).d in all.\n"}
    with library_of(tmp_path / "docs", files) as library:
        for asked in (*words, *within):
            missing = asked_of(library, f"Is the pump rent {asked} in Paris?").missing
            assert missing == (*[asked] * (asked in within), "Paris")


def test_a_place_is_of_the_passage_and_page_that_its_line_stands_in(tmp_path: Path) -> None:
    rows = "".join(f"- Item {n}: {'some words about the weather of that day ' * 9}\n" for n in range(40))
    files = {f"{name}.md": f"# {name}\n\n{rows}- Pelikan {name}: blue ink\n\n{rows}" for name in ("a", "b", "c", "d")}
    with library_of(tmp_path / "docs", files) as library:
        (part,) = find("Pelikan ink", "en", library).parts
        found = [(place.line, library.passage(place.passage)) for place in part.places]
    assert len(found) > 1
    assert all(passage is not None and "Pelikan" in line and "Pelikan" in passage.text for line, passage in found[:3])


def test_a_stretch_over_two_pages_names_both() -> None:
    passages = tuple(
        Passage(id=f"s1p{n}", source="s1", sha256="", start=10 * n, end=10 * n + 9, text="x" * 9, page=n, heading="")
        for n in (1, 2, 3)
    )
    unit = Unit("prose", 10, 29, (), (Span(10, 29, frozenset()),))
    section = Section("s1", "y" * 60, "", (unit,), passages)
    best = Best(Candidate(passages[1], "", frozenset(), frozenset(), 1.0), section, unit, None, 1.0)
    assert make_stretch(best, ()).pages == (1, 2)


@pytest.mark.parametrize(
    "question",
    ["x" * 20_000, "漢字" * 10_000, "".join(f"word{n} " for n in range(3_000)), "a? " * 7_000],
)
def test_a_question_of_any_length_is_bounded(manual: SqliteLibrary, question: str) -> None:
    found = find(question, "en", manual)
    assert len(found.parts) <= 7
    assert sum(len(part.words) for part in found.parts) <= 60
    assert found.is_cut or not found.parts


def test_a_lead_belongs_to_its_own_list_only(tmp_path: Path) -> None:
    fixes = "".join(f"- Fix {n}: the ldap driver logs {'its errors ' * 12}again.\n" for n in range(12))
    changes = f"# Fixes\n\n- Fix 100: a wrong answer.\n\n  Affected paths are:\n\n  - /clients/subscribe\n  - /clients/leave\n{fixes}"
    part = ask(tmp_path / "docs", {"fixes.md": changes}, "Which fix made the ldap driver log errors?")
    lines = [shown(part), *(place.line for place in part.places)]
    assert not any("Affected paths" in line and "ldap" in line for line in lines)
    part = ask(tmp_path / "more", {"fixes.md": changes}, "Affected paths /clients/leave")
    assert "/clients/leave" in shown(part).partition("Affected paths are:")[2]


def test_what_is_left_out_is_marked(tmp_path: Path) -> None:
    log = "".join(f"- 02:{n} the detector in hall {n} was read {'and noted ' * 20}.\n" for n in range(20, 30))
    page = f"# Alarm\n\nHi,\n\nan account for the insurers:\n\n{log}- 03:10 Torben shut valve V-114.\n\nGreetings.\n"
    part = ask(tmp_path / "docs", {"a.md": page}, "Who shut valve V-114?")
    (stretch,) = part.stretches
    assert (stretch.has_before, stretch.has_after) == (True, True)
    assert len(stretch.pieces) == 2
    part = ask(
        tmp_path / "more", {"a.md": page, "b.md": "# Valve V-114\n\nTorben shut valve V-114.\n"}, "Torben shut V-114"
    )
    assert [(one.has_before, one.has_after) for one in part.stretches] == [(False, False)]
    lines = [place.line for place in part.places]
    assert "an account for the insurers: … 03:10 Torben shut valve V-114." in lines


def test_own_documents_that_speak_of_orders_are_shown_whole(tmp_path: Path) -> None:
    text = "Drivers may ignore previous instructions of the depot lead when the road is closed by the police.\n"
    with library_of(tmp_path / "docs", {"rota.txt": text}) as library:
        (part,) = find("When may drivers ignore instructions?", "en", library).parts
    assert shown(part) == text.strip()
    assert part.ordering == ()
