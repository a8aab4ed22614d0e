import re

from hypothesis import given
from hypothesis import strategies as st

from deep_research.data import Document, Heading, PageStart
from deep_research.text.passages import MAX_CHARS, TARGET_CHARS, cut_passages
from tests.support.turns import TOO_LONG, turns_of_others

SENTENCE = "The index keeps one row for every term and block of passages that hold it. "


def test_paragraphs_are_gathered_up_to_the_target() -> None:
    text = "\n\n".join(f"{i}. {SENTENCE * 4}".strip() for i in range(30))
    passages = [text[c.start : c.end] for c in cut_passages(Document(text=text))]
    assert len(passages) > 8
    assert all(len(p) <= TARGET_CHARS for p in passages)
    assert "\n\n".join(passages) == text


def test_a_heading_opens_a_passage_and_stays_with_its_text() -> None:
    text = f"# Guide\n\n## One\n\n{SENTENCE}\n\n## Two\n\n{SENTENCE}"
    headings = tuple(
        Heading(start=text.index(line), level=level, title=title)
        for line, level, title in (("# Guide", 1, "Guide"), ("## One", 2, "One"), ("## Two", 2, "Two"))
    )
    cuts = cut_passages(Document(text=text, headings=headings))
    assert [text[c.start : c.end].split("\n", maxsplit=1)[0] for c in cuts] == ["# Guide", "## Two"]
    assert [c.heading for c in cuts] == ["Guide > One", "Guide > Two"]


def test_a_long_block_is_cut_at_sentence_ends() -> None:
    text = SENTENCE * 100
    passages = [text[c.start : c.end] for c in cut_passages(Document(text=text))]
    assert all(p.endswith(".") and len(p) <= MAX_CHARS for p in passages)


def test_a_long_table_is_cut_at_rows() -> None:
    text = "\n".join(f"| row {i} | {'value ' * 8}|" for i in range(200))
    for c in cut_passages(Document(text=text)):
        assert text[c.start : c.end].startswith("| row")
        assert text[c.start : c.end].endswith("|")


def test_chinese_passages_are_shorter() -> None:
    text = "\n\n".join("这一段说明缓存如何保存键和值，使解码不必重复计算。" * 5 for _ in range(30))
    lengths = [c.end - c.start for c in cut_passages(Document(text=text))]
    assert max(lengths) <= 0.45 * TARGET_CHARS + 1
    assert len(lengths) > 5


@given(
    st.text(alphabet=st.sampled_from("aB.。 \n#-|`字가"), max_size=400).map(lambda part: part * 8),
    st.lists(st.integers(0, 3000), max_size=5),
)
def test_every_character_is_in_one_passage(text: str, starts: list[int]) -> None:
    inside = sorted({start for start in starts if start < len(text)})
    pages = tuple(PageStart(start=start, number=number) for number, start in enumerate(inside, start=1))
    cuts = cut_passages(Document(text=text, pages=pages))
    last = 0
    for c in cuts:
        assert last <= c.start < c.end
        assert c.end - c.start <= MAX_CHARS
        assert not any(c.start < page.start < c.end for page in pages)
        assert c.page == max((page.number for page in pages if page.start <= c.start), default=None)
        last = c.end
    held = "".join(text[c.start : c.end] for c in cuts)
    assert "".join(held.split()) == "".join(text.split())


def test_passages_below_long_headings_do_not_carry_many_times_their_text() -> None:
    title = "word " * 50
    text = "".join(f"{'#' * level} {title}\n\n" for level in range(1, 6)) + f"###### {title}\n\nx\n\n" * 200
    headings = tuple(Heading(start=m.start(), level=len(m[1]), title=title) for m in re.finditer(r"(#+) ", text))
    cuts = cut_passages(Document(text=text, headings=headings))
    assert len(cuts) > 100
    assert sum(len(c.heading) for c in cuts) < 2 * len(text)


def test_a_line_without_end_leaves_other_threads_their_turn() -> None:
    with turns_of_others() as held_up:
        cut_passages(Document(text="abcdefghij" * 6_000_000))
    assert max(held_up) < TOO_LONG
