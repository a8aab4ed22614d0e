import pytest

from deep_research.search.title_names import key, names, title_keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was published by the American Psychological Association in 1991.", {"american psychological association"}),
        ("In Tulsa, Oklahoma, the museum opened.", {"tulsa", "oklahoma"}),
        ("He was born in Łódź and met Johann Strauss II.", {"lodz", "johann strauss ii"}),
        ("Since 1999 nothing. However, many tried. In March it rained.", set()),
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
        ("11.2. Index Types", {"11 2 index types", "index types"}),
        ("boxes — Containers of all kinds", {"boxes containers of all kinds", "boxes"}),
        ("", set()),
    ],
)
def test_title_keys(title: str, expected: set[str]) -> None:
    assert title_keys(title) == expected


def test_a_name_has_the_same_key_inside_a_run() -> None:
    assert key("战国无双3") == key("战国无双 3")
    assert key("Node.js") == key("node js") == "node js"
