"""The glossary: a well-formed table, and lookups in every direction."""

from importlib.resources import files

import pytest

from deep_research.i18n.language import detect
from deep_research.text.glossary import LANGUAGES, MAX_VARIANTS, translations

LINES = files("deep_research.text").joinpath("glossary_terms.tsv").read_text(encoding="utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES[1:]]


def test_table_has_one_column_per_language() -> None:
    assert tuple(LINES[0].split("\t")) == LANGUAGES
    assert {len(row) for row in ROWS} == {len(LANGUAGES)}
    assert len(ROWS) >= 1200


def test_no_variant_is_empty_or_padded() -> None:
    variants = [variant for row in ROWS for cell in row for variant in cell.split("|")]
    assert [variant for variant in variants if not variant or variant != variant.strip()] == []


def test_no_english_term_stands_twice() -> None:
    terms = [term.casefold() for row in ROWS for term in row[0].split("|")]
    assert sorted({term for term in terms if terms.count(term) > 1}) == []


def test_no_cell_names_a_term_twice() -> None:
    assert [cell for row in ROWS for cell in row if len(set(cell.split("|"))) < len(cell.split("|"))] == []


@pytest.mark.parametrize(("column", "language"), [(1, "zh"), (2, "ko"), (3, "ja")])
def test_columns_hold_their_language(column: int, language: str) -> None:
    """Only forms in Han characters alone are written alike in Chinese and Japanese."""
    wrong = [
        term
        for row in ROWS
        for term in row[column].split("|")
        if detect(term) != language and not (language == "ja" and detect(term) == "zh")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        ("数据库索引", "zh", "en", ["database", "index"]),
        ("数据库索引", "zh", "ja", ["データベース", "インデックス", "索引"]),
        ("트랜잭션 격리 수준", "ko", "en", ["transaction isolation", "level"]),
        ("교착 상태", "ko", "zh", ["死锁"]),
        ("データベースの排他", "ja", "en", ["database"]),
        ("インデックス", "ja", "ko", ["인덱스", "색인"]),
        ("deadlocks", "en", "zh", ["死锁"]),
        ("a deadlock", "en", "ko", ["교착 상태", "데드락"]),
        ("deadlock", "en", "ja", ["デッドロック"]),
    ],
)
def test_every_direction(text: str, source: str, target: str, expected: list[str]) -> None:
    assert translations(text, source=source, target=target) == expected


@pytest.mark.parametrize(
    ("text", "source", "longest", "parts"),
    [
        ("向量数据库", "zh", "vector database", {"vector", "database"}),
        ("벡터 데이터베이스의", "ko", "vector database", {"vector", "database"}),
        ("벡터데이터베이스", "ko", "vector database", {"vector", "database"}),
        ("ベクトルデータベースとは", "ja", "vector database", {"vector", "database"}),
    ],
)
def test_longest_match_wins(text: str, source: str, longest: str, parts: set[str]) -> None:
    found = translations(text, source=source, target="en")
    assert longest in found
    assert not parts & set(found)


def test_longest_match_wins_in_english() -> None:
    assert translations("vector databases", source="en", target="zh") == ["向量数据库"]


@pytest.mark.parametrize("word", ["인덱스의", "인덱스를", "인덱스에서는", "인덱스들이"])
def test_korean_particles_are_no_part_of_the_noun(word: str) -> None:
    assert translations(word, source="ko", target="en") == ["index"]


def test_korean_compound_written_as_one_word() -> None:
    assert translations("데이터베이스인덱스", source="ko", target="en") == ["database", "index"]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("클락", "ko"),  # holds 락, a lock
        ("락페스티벌", "ko"),  # begins with it, and goes on as another word
        ("テストステロン", "ja"),  # begins with テスト, a test
        ("コンテスト", "ja"),  # ends with it
        ("人行道", "zh"),  # holds 行, a row
    ],
)
def test_a_piece_of_an_unknown_word_is_no_term(text: str, source: str) -> None:
    assert translations(text, source=source, target="en") == []


def test_a_noun_of_one_character_is_found_where_it_stands_alone() -> None:
    assert translations("数据库的锁", source="zh", target="en") == ["database", "lock"]
    assert translations("락을 사용", source="ko", target="en")[0] == "lock"
    assert translations("型の違い", source="ja", target="en")[0] == "type"


def test_full_width_letters_capitals_and_hyphens_make_no_difference() -> None:
    assert translations("ＫＶ缓存", source="zh", target="ko") == ["키-값 캐시", "KV 캐시"]
    dash = translations("Antibody–drug conjugates", source="en", target="zh")
    assert dash == translations("antibody drug conjugate", source="en", target="zh")
    assert dash[0] == "抗体偶联药物"


def test_english_names_inside_a_korean_text_are_translated_into_chinese() -> None:
    assert translations("semaglutide의 부작용", source="ko", target="zh") == ["司美格鲁肽", "副作用", "不良反应"]


def test_order_of_the_text_and_no_duplicates() -> None:
    assert translations("索引、数据库、索引", source="zh", target="en") == ["index", "database"]


@pytest.mark.parametrize(
    ("text", "source", "target"),
    [
        ("", "zh", "en"),
        ("xyzzy", "en", "zh"),
        ("魑魅魍魎", "zh", "en"),
        ("꽹과리", "ko", "en"),
        ("数据库", "zh", "zh"),
        ("base de données", "fr", "en"),
        ("database", "en", "fr"),
    ],
)
def test_nothing_for_the_unknown(text: str, source: str, target: str) -> None:
    assert translations(text, source=source, target=target) == []


def test_every_term_is_found_in_its_own_column() -> None:
    """What the table holds can be looked up, longest first: no row is out of reach behind another."""
    lost = [
        (term, language)
        for row in ROWS
        for language, cell in zip(LANGUAGES, row, strict=True)
        for term in cell.split("|")[:1]
        if not translations(term, source=language, target="en" if language != "en" else "zh")
    ]
    assert lost == []


def test_at_most_a_few_variants_of_a_term() -> None:
    assert all(len(translations(row[0].split("|")[0], source="en", target="zh")) <= 2 * MAX_VARIANTS for row in ROWS)


def test_a_very_long_text_is_cut() -> None:
    assert translations("x" * 100_000 + " 数据库", source="zh", target="en") == []
