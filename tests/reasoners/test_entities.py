"""Entities of list questions: names of the right kind, and nothing that merely stands beside them."""

import pytest

from deep_research.reasoners.extractive.entity_discovery import clean_name, discover
from deep_research.reasoners.extractive.question_analysis import analyze
from tests.reasoners.libraries import all_passages, library


def _found(question: str, language: str, **texts: str) -> list[str]:
    made = library(**texts)
    target = analyze(question).discovery_target
    return [e.name for e in discover([(target, question)], all_passages(made), made, language=language).entities]


def test_an_enumeration_inside_parentheses() -> None:
    found = _found(
        "Which join methods can the planner use?",
        "en",
        Planning="The planner supports a variety of join methods (e.g., nested loop, hash join, merge join in Acme) to"
        " process joins.",
    )
    assert {name.casefold() for name in found} == {"nested loop", "hash join", "merge join"}


def test_the_entries_of_a_definition_list() -> None:
    text = (
        "# Disks\n\n## Different RAID Levels\n\nRAID has several levels.\n\nRAID-0: This level stripes data.\n\n"
        "RAID-1: This level mirrors data.\n\nRAID-5: Parity is spread over all disks.\n"
    )
    assert _found("What RAID levels are there?", "en", Disks=text) == ["RAID-0", "RAID-1", "RAID-5"]


def test_drugs_are_named_and_not_the_mutations_and_trials_beside_them() -> None:
    found = _found(
        "Which drugs target KRAS G12C?",
        "en",
        Sotorasib="Sotorasib is a drug that inhibits KRAS G12C. The CodeBreaK trial tested it.",
        Adagrasib="Adagrasib is a drug that binds KRAS G12C. Drugs for KRAS G12C fail by R68S, H95D, Y96C and G12V.",
        CodeBreaK="CodeBreaK trial results: KRAS G12C patients were treated with the drug.",
    )
    assert set(found) == {"Sotorasib", "Adagrasib"}


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        ("Which GLP-1 agonists are there?", "en", "The side effects of GLP-1 agonists are nausea, vomiting and fever."),
        ("GLP-1 작용제에는 어떤 종류가 있나요?", "ko", "GLP-1 작용제는 메스꺼움, 구토, 설사 등의 부작용이 있다."),
    ],
)
def test_what_belongs_to_the_things_is_not_one_of_them(question: str, language: str, text: str) -> None:
    assert _found(question, language, Effects=text) == []


def test_titles_of_documents_about_the_things_do_not_join_a_list_of_them() -> None:
    found = _found(
        "What index types are there?",
        "en",
        Indexes="There are several index types: B-tree, Hash, GiST and GIN.",
        CREATE_INDEX="CREATE INDEX makes an index of one of the index types.",
    )
    assert set(found) == {"B-tree", "Hash", "GiST", "GIN"}


def test_headings_of_a_document_about_the_target_are_aspects_unless_the_noun_goes_with_them() -> None:
    text = (
        "# Index types\n\n## Hash\n\nHash indexes compare for equality.\n\n## GiST\n\nGiST indexes are a frame.\n\n"
        "## BRIN\n\nBRIN indexes store summaries.\n\n## Side effects\n\nSide effects of indexes are slow writes.\n"
    )
    found = _found("What index types are there?", "en", Index_types=text)
    assert {"Hash", "GiST", "BRIN"} <= set(found)
    assert "Side effects" not in found


@pytest.mark.parametrize(
    ("question", "language", "text", "names"),
    [
        ("有哪些开源模型？", "zh", "开源模型包括 LLaVA、InternVL、CogVLM。", {"LLaVA", "InternVL", "CogVLM"}),
        (
            "공개 모델에는 어떤 것들이 있나요?",
            "ko",
            "LLaVA, InternVL, CogVLM 등의 공개 모델이 있다.",
            {"LLaVA", "InternVL", "CogVLM"},
        ),
    ],
)
def test_enumerations_in_chinese_and_korean(question: str, language: str, text: str, names: set[str]) -> None:
    assert set(_found(question, language, 模型=text)) == names


@pytest.mark.parametrize(
    "piece",
    ['manual" (default', "increasingly) by LVM", "is both the simplest", "then aggregated into one", "overview"],
)
def test_pieces_of_sentences_are_no_names(piece: str) -> None:
    assert clean_name(piece, frozenset()) == ""


@pytest.mark.parametrize(
    ("question", "target"),
    [
        ("Which drugs target KRAS G12C?", "drugs"),
        (
            "Which mechanisms of resistance to KRAS G12C inhibitors are known?",
            "mechanisms of resistance to KRAS G12C inhibitors",
        ),
        ("GLP-1 작용제에는 어떤 종류가 있나요?", "GLP-1 작용제"),
        ("RAIDの種類にはどのようなものがありますか？", "RAID"),
    ],
)
def test_what_a_list_question_wants_listed(question: str, target: str) -> None:
    assert analyze(question).discovery_target == target


def test_trials_are_told_by_what_they_did_wherever_the_documents_say_so() -> None:
    kept = library(
        **{
            "Velmadon: HARBOUR-1, HARBOUR-2 and HARBOUR-5": "# Velmadon: HARBOUR-1, HARBOUR-2 and HARBOUR-5\n\n"
            "Velmadon is a drug for obesity that is injected once a week.\n\n## Trials\n\n"
            "HARBOUR-1 included 900 adults with obesity. HARBOUR-2 compared Velmadon with Tolmadon in adults with "
            "obesity over 72 weeks. HARBOUR-5 followed 300 patients.",
            "Tolmadon 2.4 mg for obesity": "# Tolmadon 2.4 mg for obesity\n\nTolmadon is a drug for obesity that is a pill.",
        }
    )
    question = "Which drugs for obesity are there?"
    hits = [kept.passages(source.id)[0] for source in kept.sources()]
    found = discover([("drugs for obesity", question)], hits, kept, language="en")
    assert {entity.name for entity in found.entities} == {"Velmadon", "Tolmadon"}


def test_entries_of_a_list_are_written_as_they_stand_and_nested_ones_are_left_out() -> None:
    text = "# Joining\n\n## Join strategies\n\n- hash: Builds a table.\n  - seed: Sets the seed.\n- nested: Runs twice.\n- merge: Sorts first."
    kept = library(Joining=text)
    found = discover([("join strategies", "Which join strategies are there?")], all_passages(kept), kept, language="en")
    assert {entity.name for entity in found.entities} == {"hash", "nested", "merge"}


def test_headings_that_end_with_what_is_asked_for_name_its_kinds() -> None:
    text = (
        "# Isolation of work\n\nThere are several isolation levels.\n\n## 2.1. Read Committed Isolation Level\n\nIt is the default.\n\n"
        "ERROR: could not serialize access\n\n## 2.2. Repeatable Read Isolation Level\n\nIt sees one snapshot.\n\n"
        "## 2.3. Serializable Isolation Level\n\nIt is the strictest. ERROR: could not serialize access\n"
    )
    found = _found("What isolation levels are there?", "en", Isolation=text)
    assert set(found) == {"Read Committed", "Repeatable Read", "Serializable"}
