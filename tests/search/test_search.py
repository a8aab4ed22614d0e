"""Search: ranking, titles, names and the second hop, in any script."""

from collections.abc import Iterable, Sequence

import pytest

from deep_research.data import Document, Found, Heading
from deep_research.stores.sqlite_library import SqliteLibrary

NOTES = [
    ("Harbour Light (song)", "Harbour Light is a song recorded by Mira Kelland for her second album. It was a hit."),
    ("Mira Kelland", "Mira Kelland was a singer. She died in Ostvale in 1999 after a long illness."),
    ("Ostvale", "Ostvale is a town on the river Brenn with a harbour and about 9,000 people."),
    ("Light", "Light is electromagnetic radiation that the eye can see. A harbour may have a light on its pier."),
    ("Pier", "A pier is a raised structure at a harbour. Songs are sung on piers in the light of the evening."),
    ("Brother (play)", "Brother is a play written by Tom Arden. It opened in 1931."),
    ("Family", "A brother is a male sibling. The author of a play may have a brother, and a brother may play."),
    ("Tom Arden", "Tom Arden was a writer who lived in Ostvale for most of his life."),
]
CJK = [
    ("注意力机制", "注意力机制让模型在生成每个词时关注输入的不同部分。它由查询、键和值组成。"),
    ("缓存", "缓存保存已经算过的键和值，所以解码时不必重复计算。"),
    ("梅雨", "梅雨は六月から七月にかけて降る雨である。北海道には梅雨がない。"),
    ("港", "港は船が停泊する場所である。ユーロポートはオランダにある大きな港だ。"),
    ("검색 증강 생성", "검색 증강 생성은 언어 모델이 문서를 찾아 그 내용을 바탕으로 답하게 하는 방법이다."),
    ("양자화", "양자화는 모델의 가중치를 적은 비트로 저장하여 메모리를 줄인다."),
]


def library_of(rows: Iterable[tuple[str, str]]) -> SqliteLibrary:
    library = SqliteLibrary(":memory:")
    for number, (title, text) in enumerate(rows):
        source = library.add_source(Found(key=str(number), title=title, origin="o"))
        library.add_snapshot(source.id, Document(text=text), retrieved_at="2024-05-01T00:00:00Z")
    return library


def titles(library: SqliteLibrary, query: str, **options: object) -> Sequence[str]:
    return [hit.title for hit in library.search(query, **{"limit": 4, **options})]  # type: ignore[arg-type]


def test_a_title_named_in_the_question_comes_first() -> None:
    library = library_of(NOTES)
    assert titles(library, "Who wrote the play Brother?")[0] == "Brother (play)"
    assert titles(library, "Who recorded Harbour Light?")[0] == "Harbour Light (song)"


def test_the_second_hop_follows_names() -> None:
    library = library_of(NOTES)
    question = "Where did the singer of Harbour Light die?"
    assert set(titles(library, question, hops=2, limit=2)) == {"Harbour Light (song)", "Mira Kelland"}
    play = "In which town did the author of Brother live?"
    assert "Tom Arden" in titles(library, play, hops=2, limit=2)
    assert "Tom Arden" not in titles(library, play, hops=1, limit=2)


def test_a_long_description_is_searched_as_it_is() -> None:
    library = library_of(NOTES)
    words = " ".join(f"matter{n}" for n in range(40))
    question = f"In which town did the author of Brother live? {words}"
    assert library.search(question, limit=4, hops=2) == library.search(question, limit=4)
    assert library.search(question.removesuffix(words), limit=4, hops=2) != library.search(question, limit=4)


def test_the_second_hop_stays_among_the_sources_asked_for() -> None:
    library = library_of(NOTES)
    allowed = ["s1", "s4"]
    hits = library.search("Where did the singer of Harbour Light die?", limit=8, hops=2, sources=allowed)
    assert {hit.passage.source for hit in hits} <= set(allowed)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("注意力机制由什么组成？", "注意力机制"),
        ("北海道に梅雨はありますか", "梅雨"),
        ("검색 증강 생성이란 무엇인가요?", "검색 증강 생성"),
    ],
)
@pytest.mark.parametrize("hops", [1, 2])
def test_chinese_japanese_and_korean_in_one_index(question: str, expected: str, hops: int) -> None:
    library = library_of([*NOTES, *CJK])
    assert titles(library, question, hops=hops)[0] == expected


def test_near_duplicates_count_once() -> None:
    text = NOTES[1][1] + " She sang in many towns along the river and wrote most of the words herself."
    copies = [("Mirror", text + " More."), ("Original", text), ("Another", text.replace(". ", ".\n"))]
    library = library_of([*copies, *NOTES[2:]])
    assert len([t for t in titles(library, "singer who died in Ostvale", limit=5) if t in dict(copies)]) == 1


@pytest.mark.parametrize(
    "query", ["", " ", "the", "的", "?", "\x00", "🦓", "name:zebra", "a" * 100_000, "字" * 20_000, "(" * 5000]
)
def test_odd_queries_are_answered(query: str) -> None:
    library = library_of([*NOTES, *CJK])
    assert len(library.search(query, limit=3, hops=2)) <= 3


def test_a_heading_that_the_question_names_leads_to_its_section() -> None:
    library = SqliteLibrary(":memory:")
    slots = "A replication slot keeps what is streaming. Streaming to a slot, streaming from a slot: replication. "
    text = f"{slots * 12}\n\n## 27.2.5. Streaming Replication\n\nIt keeps a standby server up to date.\n"
    headings = (Heading(start=text.index("##"), level=2, title="27.2.5. Streaming Replication"),)
    source = library.add_source(Found(key="k", title="Slots", origin="o"))
    library.add_snapshot(source.id, Document(text=text, headings=headings), retrieved_at="2024-05-01T00:00:00Z")
    (first, *_) = library.search("how does streaming replication work", limit=4)
    assert "standby server" in first.passage.text
    library.remove_source(source.id)
    assert not library.search("streaming replication", limit=4)
