import pytest
from hypothesis import given
from hypothesis import strategies as st

from claimcheck.text.sentences import blocks, sentences


def split(text: str) -> list[str]:
    return [" ".join(text[s.start : s.end].split()) for s in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One ends. Two begins! Three? Four", ["One ends.", "Two begins!", "Three?", "Four"]),
        ("J. K. Rowling wrote it. It sold well.", ["J. K. Rowling wrote it.", "It sold well."]),
        ("第一句。第二句！“第三句？”第四句", ["第一句。", "第二句！", "“第三句？”", "第四句"]),
        (
            "It was made in 2023. vLLM serves models. mRNA is short.",
            ["It was made in 2023.", "vLLM serves models.", "mRNA is short."],
        ),
        ("No full stop here\n\nNext one\n- an item", ["No full stop here", "Next one", "an item"]),
        (
            "`<이름>.<확장자>`와 `a.가`를 채운다. 그다음 실행한다.",
            ["`<이름>.<확장자>`와 `a.가`를 채운다.", "그다음 실행한다."],
        ),
        ("**2. 清点。** 须先做。", ["**2. 清点。**", "须先做。"]),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_headings_tables_and_code_are_not_prose() -> None:
    text = "# Title. Not prose.\n\nProse here.\n\n| a. | b. |\n|---|---|\n\n```\ncode. More code.\n```\n\n- item one\n- item two. With more."
    assert split(text) == ["Prose here.", "item one", "item two.", "With more."]
    assert [b.kind for b in blocks(text)] == ["heading", "prose", "table", "code", "item", "item"]


def test_an_open_fence_ends_with_the_text() -> None:
    assert [b.kind for b in blocks("```\nnever closed. At all.")] == ["code"]


texts = st.text(alphabet=st.sampled_from("aB1.!?。！ \n#-|`>“”\"'。、，字가"), max_size=200)


@given(texts)
def test_spans_are_ordered_trimmed_and_hold_all_prose(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        assert last <= sentence.start < sentence.end <= len(text)
        assert text[sentence.start : sentence.end].strip() == text[sentence.start : sentence.end]
        last = sentence.end


@given(texts)
def test_blocks_hold_everything_but_white_space(text: str) -> None:
    inside = "".join(text[b.start : b.end] for b in blocks(text))
    assert "".join(inside.split()) == "".join(text.split())
