import pytest

from deep_research.search.title_names import key, names, possible_titles, title_keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was published by the American Psychological Association in 1991.", {"american psychological association"}),
        ("In Tulsa, Oklahoma, the museum opened.", {"tulsa", "oklahoma"}),
        ("He was born in Łódź and met Johann Strauss II.", {"lodz", "johann strauss ii"}),
        ("The Journal of Mathematical Physics appeared.", {"journal of mathematical physics"}),
        ("Since 1999 nothing. However, many tried. In March it rained.", set()),
        ("Ed Sheeran and Amy Wadge wrote it.", {"ed sheeran", "amy wadge"}),
        ("GPT-4 was made by OpenAI.", {"gpt 4", "openai"}),
        ("曹雪芹写了《红楼梦》，OpenAI发布了GPT-4。", {"红楼梦", "openai", "gpt 4"}),
        ("作者はマーラーと「大地の歌」。", {"マーラー", "大地の歌"}),
        ("", set()),
    ],
)
def test_names(text: str, expected: set[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Hello Love (song)", {"hello love song", "hello love"}),
        ("Aschenbrödel", {"aschenbrodel"}),
        ("11.2. Index Types", {"11 2 index types", "index types"}),
        ("F.18. hstore", {"f 18 hstore", "hstore"}),
        ("boxes — Containers of all kinds", {"boxes containers of all kinds", "boxes"}),
        ("", set()),
    ],
)
def test_title_keys(title: str, expected: set[str]) -> None:
    assert title_keys(title) == expected


def test_a_name_has_the_same_key_inside_a_run() -> None:
    assert key("战国无双3") == key("战国无双 3")
    assert key("Node.js") == key("node js") == "node js"


def found_in(text: str) -> set[str]:
    return {k for place in possible_titles(text) for k in place}


def test_possible_titles_are_whole_words_longest_first() -> None:
    places = possible_titles("the band Pearl Jam")
    assert list(places[1]) == ["band pearl jam", "band pearl"]
    assert list(places[2]) == ["pearl jam", "pearl"]
    assert places[2]["pearl jam"] == 2


def test_a_single_word_is_a_possible_title_when_capitalised() -> None:
    assert "brother" in found_in("who sang Brother")
    assert "brother" not in found_in("whose brother sang")
    assert "the" not in found_in("The end")


def test_titles_inside_a_chinese_question() -> None:
    assert "战国无双3" in found_in("《战国无双3》是由哪两个公司合作开发的？")
    assert "注意力" in found_in("注意力机制是什么")
