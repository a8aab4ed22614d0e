import pytest

from deep_research.text.near_duplicates import Distinct, are_near_duplicates

TEXT = (
    "Paged attention stores the keys and values of a sequence in blocks of fixed size that need not lie next to"
    " each other, as an operating system does with pages of memory, so that almost none of it is wasted. Blocks are"
    " shared between sequences that begin alike, and copied when one of them goes another way. The block table of a"
    " sequence says where its blocks lie."
)
CHINESE = (
    "分页注意力把一个序列的键和值存放在固定大小的块中，这些块不必相邻，就像操作系统处理内存页一样，因此几乎没有浪费。"
)


@pytest.mark.parametrize(
    ("other", "is_copy"),
    [
        (TEXT, True),
        (TEXT.replace(". ", ".\n\n"), True),
        (TEXT.replace("almost none", "hardly any"), True),
        (TEXT[: len(TEXT) // 2], False),
        (CHINESE, False),
        (" ".join(reversed(TEXT.split())), False),
    ],
)
def test_copies_are_near_duplicates_and_others_are_not(other: str, is_copy: bool) -> None:
    assert are_near_duplicates(TEXT, other) == is_copy


def test_distinct_remembers() -> None:
    distinct = Distinct()
    assert [distinct.add(text) for text in (TEXT, CHINESE, TEXT + " More.", "Else.", CHINESE)] == [
        True, True, False, True, False,
    ]  # fmt: skip
