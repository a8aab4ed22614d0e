"""Drafts of every shape: which sentences they have, and how they are written again, whole and with a sentence cut."""

import pytest

from deep_research.claimcheck.citations import cite_ids, render_citations, without_links
from deep_research.claimcheck.drafts import parse_draft, without_general_cells

# A draft and its sentences: text, ids, kind, its stretch of the draft, ids near it, what a cell is about.
READ = [
    (
        "One. [s1p1] Two [s1p2]. Three?",
        [
            ("One.", "[s1p1]", "prose", "One. [s1p1]", "[s1p1]", ""),
            ("Two.", "[s1p2]", "prose", "Two [s1p2].", "[s1p2]", ""),
            ("Three?", "", "prose", "Three?", "[s1p1][s1p2]", ""),
        ],
    ),
    (
        "One,\ntwo [s1p1]\nthree. Four.",
        [
            ("One,\ntwo", "[s1p1]", "prose", "One,\ntwo [s1p1]", "[s1p1]", ""),
            ("three.", "", "prose", "three.", "[s1p1]", ""),
            ("Four.", "", "prose", "Four.", "[s1p1]", ""),
        ],
    ),
    (
        "- Item one [s1p1]\n- Item two. [s1p2]\n\nText [s1p3].",
        [
            ("Item one", "[s1p1]", "item", "Item one [s1p1]", "[s1p1]", ""),
            ("Item two.", "[s1p2]", "item", "Item two. [s1p2]", "[s1p2]", ""),
            ("Text.", "[s1p3]", "prose", "Text [s1p3].", "[s1p3]", ""),
        ],
    ),
    (
        "1. First. [s1p1]\n2. Second. [s1p2]",
        [
            ("First.", "[s1p1]", "item", "First. [s1p1]", "[s1p1]", ""),
            ("Second.", "[s1p2]", "item", "Second. [s1p2]", "[s1p2]", ""),
        ],
    ),
    (
        "- [ ] Task one. [s1p1]\n- [x] Task two. [s1p2]",
        [
            ("Task one.", "[s1p1]", "item", "Task one. [s1p1]", "[s1p1]", ""),
            ("Task two.", "[s1p2]", "item", "Task two. [s1p2]", "[s1p2]", ""),
        ],
    ),
    (
        "> Quoted words. [s1p1]\n> More. [s1p2]",
        [
            ("Quoted words.", "[s1p1]", "prose", "Quoted words. [s1p1]", "[s1p1]", ""),
            ("More.", "[s1p2]", "prose", "More. [s1p2]", "[s1p2]", ""),
        ],
    ),
    ("# Title [s1p1]\n\nText. [s1p2]", [("Text.", "[s1p2]", "prose", "Text. [s1p2]", "[s1p2]", "")]),
    ("## See [the docs](https://a.b/c)\n\nText. [s1p2]", [("Text.", "[s1p2]", "prose", "Text. [s1p2]", "[s1p2]", "")]),
    (
        "### Deep\n\nText. [s1p1]\n\n## Higher\n\n### Empty below",
        [("Text.", "[s1p1]", "prose", "Text. [s1p1]", "[s1p1]", "")],
    ),
    (
        "## A\n\n### B\n\nText. [s1p1]\n\n### C\n\n## D\n\nMore. [s1p2]",
        [
            ("Text.", "[s1p1]", "prose", "Text. [s1p1]", "[s1p1]", ""),
            ("More.", "[s1p2]", "prose", "More. [s1p2]", "[s1p2]", ""),
        ],
    ),
    ("## A\n\n## B\n\nText. [s1p1]", [("Text.", "[s1p1]", "prose", "Text. [s1p1]", "[s1p1]", "")]),
    ("**Benefits**\n\nText. [s1p1]", [("Text.", "[s1p1]", "prose", "Text. [s1p1]", "[s1p1]", "")]),
    ("**Benefits:**\n\n**Costs**\n\nText. [s1p1]", [("Text.", "[s1p1]", "prose", "Text. [s1p1]", "[s1p1]", "")]),
    ("__Costs__\n\n- One. [s1p1]", [("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", "")]),
    (
        "**Benefits are many here**: they do. [s1p1]",
        [
            (
                "**Benefits are many here**: they do.",
                "[s1p1]",
                "prose",
                "**Benefits are many here**: they do. [s1p1]",
                "[s1p1]",
                "",
            )
        ],
    ),
    ("It offers:\n\n- One. [s1p1]", [("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", "")]),
    ("It offers：\n\n- One. [s1p1]", [("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", "")]),
    (
        "It offers:\n\nText. [s1p1]",
        [
            ("It offers:", "", "prose", "It offers:", "[s1p1]", ""),
            ("Text.", "[s1p1]", "prose", "Text. [s1p1]", "[s1p1]", ""),
        ],
    ),
    ("It offers:\n\n```\nx = 1\n```\n\n[s1p1]", [("```\nx = 1\n```", "[s1p1]", "code", "```\nx = 1\n```", "", "")]),
    (
        "It offers:\n\n| a | b |\n|---|---|\n| c | d [s1p1] |",
        [("d", "[s1p1]", "cell", "| c | d [s1p1] ", "[s1p1]", "c b")],
    ),
    (
        "It offers: [s1p9]\n\n- One. [s1p1]",
        [
            ("It offers:", "[s1p9]", "prose", "It offers: [s1p9]", "[s1p9]", ""),
            ("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", ""),
        ],
    ),
    (
        "It offers many things to all of us today:\n\n- One. [s1p1]",
        [
            (
                "It offers many things to all of us today:",
                "",
                "prose",
                "It offers many things to all of us today:",
                "[s1p1]",
                "",
            ),
            ("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", ""),
        ],
    ),
    (
        "It offers many things to all of us today too:\n\n- One. [s1p1]",
        [
            (
                "It offers many things to all of us today too:",
                "",
                "prose",
                "It offers many things to all of us today too:",
                "[s1p1]",
                "",
            ),
            ("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", ""),
        ],
    ),
    (
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:\n\n- One. [s1p1]",
        [("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", "")],
    ),
    (
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:\n\n- One. [s1p1]",
        [
            (
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:",
                "",
                "prose",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:",
                "[s1p1]",
                "",
            ),
            ("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", ""),
        ],
    ),
    (
        "It offers. It gives:\n\n- One. [s1p1]",
        [
            ("It offers.", "", "prose", "It offers.", "[s1p1]", ""),
            ("It gives:", "", "prose", "It gives:", "[s1p1]", ""),
            ("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", ""),
        ],
    ),
    (
        "Text.\n\n[s1p1][s1p2]\n\nMore. [s1p3]",
        [
            ("Text.", "[s1p1][s1p2]", "prose", "Text.", "", ""),
            ("More.", "[s1p3]", "prose", "More. [s1p3]", "[s1p3]", ""),
        ],
    ),
    ("[s1p1]\n\nText.", [("Text.", "", "prose", "Text.", "", "")]),
    ("Text. [s1p1]\n\n[s1p1] [s1p2]", [("Text.", "[s1p1][s1p2]", "prose", "Text. [s1p1]", "[s1p1]", "")]),
    ("```\nx = 1\n```\n\n[s1p1]", [("```\nx = 1\n```", "[s1p1]", "code", "```\nx = 1\n```", "", "")]),
    (
        "Code:\n\n```py\nprint(a[0])\n```\n\nAfter. [s1p1]",
        [
            ("```py\nprint(a[0])\n```", "", "code", "```py\nprint(a[0])\n```", "", ""),
            ("After.", "[s1p1]", "prose", "After. [s1p1]", "[s1p1]", ""),
        ],
    ),
    (
        "| N | V |\n|---|---|\n| a | Five [s1p5] |\n| b | |",
        [("Five", "[s1p5]", "cell", "| a | Five [s1p5] ", "[s1p5]", "a V"), ("b", "", "cell", "| b | ", "", "N")],
    ),
    (
        "| N | V |\n| a | Five [s1p5] |",
        [("V", "", "cell", "| N | V ", "", "N"), ("Five", "[s1p5]", "cell", "| a | Five [s1p5] ", "[s1p5]", "a")],
    ),
    (
        "| N | V |\n|:--|--:|\n| *a* | `Five` [s1p5] |\n| __b__ | _Six_ [s1p6] |\n| max_rate_x | 5 [s1p7] |",
        [
            ("`Five`", "[s1p5]", "cell", "| *a* | `Five` [s1p5] ", "[s1p5]", "a V"),
            ("_Six_", "[s1p6]", "cell", "| __b__ | _Six_ [s1p6] ", "[s1p6]", "b V"),
            ("5", "[s1p7]", "cell", "| max_rate_x | 5 [s1p7] ", "[s1p7]", "max_rate_x V"),
        ],
    ),
    (
        "N | V\n---|---\na | Five [s1p5]",
        [("N | V\n---|---\na | Five", "[s1p5]", "prose", "N | V\n---|---\na | Five [s1p5]", "[s1p5]", "")],
    ),
    (
        "| N | V | W |\n|---|---|---|\n| a | b \\| c [s1p5] | |\n| only | [s1p6] | |",
        [("b \\| c", "[s1p5]", "cell", "| a | b \\| c [s1p5] | ", "[s1p5]", "a V")],
    ),
    (
        "| N [s1p1] | V |\n|---|---|\n| a | Five [s1p5] |",
        [
            ("N", "[s1p1]", "cell", "| N [s1p1] | V ", "[s1p1]", "N"),
            ("Five", "[s1p5]", "cell", "| a | Five [s1p5] ", "[s1p5]", "a V"),
        ],
    ),
    (
        "| Claim |\n|---|\n| It works [s1p1] |\n| It fails |",
        [
            ("It works", "[s1p1]", "cell", "| It works [s1p1] ", "[s1p1]", "Claim"),
            ("It fails", "", "cell", "| It fails ", "", "Claim"),
        ],
    ),
    (
        "| N | V |\n|---|---|\n| a | Five | [s1p5] |\n| b | — | [s1p6] |",
        [("Five", "", "cell", "| a | Five | [s1p5] ", "[s1p5]", "a V")],
    ),
    (
        "| N | V |\n|---|---|\n| a [s1p1] | |\n| b [s1p2] | Six [s1p3] |",
        [
            ("a", "[s1p1]", "cell", "| a [s1p1] | ", "[s1p1]", "N"),
            ("b", "[s1p2]", "cell", "| b [s1p2] | Six [s1p3] ", "[s1p2][s1p3]", "N"),
            ("Six", "[s1p3]", "cell", "| b [s1p2] | Six [s1p3] ", "[s1p2][s1p3]", "b V"),
        ],
    ),
    (
        "| A | B |\n|---|---|\n| x | One. [s1p1] |\n\n| C | D |\n|---|---|\n| y | Two. [s1p2] |",
        [
            ("One.", "[s1p1]", "cell", "| x | One. [s1p1] ", "[s1p1]", "x B"),
            ("Two.", "[s1p2]", "cell", "| y | Two. [s1p2] ", "[s1p2]", "y D"),
        ],
    ),
    ("|---|---|\n| a | b [s1p1] |", [("b", "[s1p1]", "cell", "| a | b [s1p1] ", "[s1p1]", "a")]),
    (
        "Text. [s1p1]\n\n---\n\nMore. [s1p2]",
        [
            ("Text.", "[s1p1]", "prose", "Text. [s1p1]", "[s1p1]", ""),
            ("More.", "[s1p2]", "prose", "More. [s1p2]", "[s1p2]", ""),
        ],
    ),
    (
        "第一句。[s1p1]第二句[s1p2]。\n- 项目。[s1p3]",
        [
            ("第一句。", "[s1p1]", "prose", "第一句。[s1p1]", "[s1p1]", ""),
            ("第二句。", "[s1p2]", "prose", "第二句[s1p2]。", "[s1p2]", ""),
            ("项目。", "[s1p3]", "item", "项目。[s1p3]", "[s1p3]", ""),
        ],
    ),
    (
        "One [s1p1, s1p2]; two [s1p3].",
        [("One; two.", "[s1p1][s1p2][s1p3]", "prose", "One [s1p1, s1p2]; two [s1p3].", "[s1p1][s1p2][s1p3]", "")],
    ),
    (
        "One. Two. [s1p1]\n\nThree. Four. [s1p2]",
        [
            ("One.", "", "prose", "One.", "[s1p1]", ""),
            ("Two.", "[s1p1]", "prose", "Two. [s1p1]", "[s1p1]", ""),
            ("Three.", "", "prose", "Three.", "[s1p2]", ""),
            ("Four.", "[s1p2]", "prose", "Four. [s1p2]", "[s1p2]", ""),
        ],
    ),
    ("Dr. Smith works. [s1p1]", [("Dr. Smith works.", "[s1p1]", "prose", "Dr. Smith works. [s1p1]", "[s1p1]", "")]),
    (
        "A claim with [12](https://a.b/c) and [a link](https://x.y). [s1p1]",
        [
            (
                "A claim with and a link.",
                "[s1p1]",
                "prose",
                "A claim with [12](https://a.b/c) and [a link](https://x.y). [s1p1]",
                "[s1p1]",
                "",
            )
        ],
    ),
    ("  Indented. [s1p1]", [("Indented.", "[s1p1]", "prose", "Indented. [s1p1]", "[s1p1]", "")]),
    (
        "One.[s1p1] Two.[s1p2]",
        [
            ("One.", "[s1p1]", "prose", "One.[s1p1]", "[s1p1]", ""),
            ("Two.", "[s1p2]", "prose", "Two.[s1p2]", "[s1p2]", ""),
        ],
    ),
    (
        "One [s1p1] and two [s1p2].",
        [("One and two.", "[s1p1][s1p2]", "prose", "One [s1p1] and two [s1p2].", "[s1p1][s1p2]", "")],
    ),
    (
        "Text [s1p1]\n\n\n\nMore [s1p2]",
        [
            ("Text", "[s1p1]", "prose", "Text [s1p1]", "[s1p1]", ""),
            ("More", "[s1p2]", "prose", "More [s1p2]", "[s1p2]", ""),
        ],
    ),
    (
        "* Star. [s1p1]\n* Star two. [s1p2]\n\n+ Plus. [s1p3]",
        [
            ("Star.", "[s1p1]", "item", "Star. [s1p1]", "[s1p1]", ""),
            ("Star two.", "[s1p2]", "item", "Star two. [s1p2]", "[s1p2]", ""),
            ("Plus.", "[s1p3]", "item", "Plus. [s1p3]", "[s1p3]", ""),
        ],
    ),
    (
        "Label:\n- One. [s1p1]\nNext:\n- Two. [s1p2]",
        [
            ("One.", "[s1p1]", "item", "One. [s1p1]", "[s1p1]", ""),
            ("Two.", "[s1p2]", "item", "Two. [s1p2]", "[s1p2]", ""),
        ],
    ),
    ("…", []),
    ("**Bold** [s1p1]", [("**Bold**", "[s1p1]", "prose", "**Bold** [s1p1]", "[s1p1]", "")]),
    (
        "One! [s1p1] (s1p2) Two.",
        [
            ("One!", "[s1p1][s1p2]", "prose", "One! [s1p1] (s1p2)", "[s1p1][s1p2]", ""),
            ("Two.", "", "prose", "Two.", "[s1p1][s1p2]", ""),
        ],
    ),
]


@pytest.mark.parametrize(("draft", "expected"), READ)
def test_the_sentences_of_a_draft(draft: str, expected: list[tuple[str, ...]]) -> None:
    found = parse_draft(draft).sentences
    assert [
        (s.text, cite_ids(s.passages), s.kind, draft[s.start : s.end], cite_ids(s.near), s.context) for s in found
    ] == expected


# A draft as it is written again, and without its first sentence.
WRITTEN = [
    ("One. [s1p1] Two [s1p2]. Three?", "One. [s1p1] Two. [s1p2] Three?", "Two. [s1p2] Three?"),
    ("One,\ntwo [s1p1]\nthree. Four.", "One,\ntwo [s1p1] three. Four.", "three. Four."),
    (
        "- Item one [s1p1]\n- Item two. [s1p2]\n\nText [s1p3].",
        "- Item one [s1p1]\n- Item two. [s1p2]\n\nText. [s1p3]",
        "- Item two. [s1p2]\n\nText. [s1p3]",
    ),
    ("1. First. [s1p1]\n2. Second. [s1p2]", "1. First. [s1p1]\n2. Second. [s1p2]", "1. Second. [s1p2]"),
    (
        "- [ ] Task one. [s1p1]\n- [x] Task two. [s1p2]",
        "- [ ] Task one. [s1p1]\n- [x] Task two. [s1p2]",
        "- [x] Task two. [s1p2]",
    ),
    ("> Quoted words. [s1p1]\n> More. [s1p2]", "> Quoted words. [s1p1] More. [s1p2]", "> More. [s1p2]"),
    ("# Title [s1p1]\n\nText. [s1p2]", "# Title\n\nText. [s1p2]", ""),
    ("## See [the docs](https://a.b/c)\n\nText. [s1p2]", "## See the docs\n\nText. [s1p2]", ""),
    ("### Deep\n\nText. [s1p1]\n\n## Higher\n\n### Empty below", "### Deep\n\nText. [s1p1]", ""),
    (
        "## A\n\n### B\n\nText. [s1p1]\n\n### C\n\n## D\n\nMore. [s1p2]",
        "## A\n\n### B\n\nText. [s1p1]\n\n## D\n\nMore. [s1p2]",
        "## D\n\nMore. [s1p2]",
    ),
    ("## A\n\n## B\n\nText. [s1p1]", "## B\n\nText. [s1p1]", ""),
    ("**Benefits**\n\nText. [s1p1]", "**Benefits**\n\nText. [s1p1]", ""),
    ("**Costs**\n\n## Next\n\nText. [s1p1]", "## Next\n\nText. [s1p1]", ""),
    ("Text. [s1p1]\n\n**Costs**", "Text. [s1p1]", ""),
    (
        "| N | V |\n|---|---|\n| a \\| b | Five \\| six [s1p5] |",
        "| N | V |\n| --- | --- |\n| a \\| b | Five \\| six [s1p5] |",
        "",
    ),
    ("**Benefits:**\n\n**Costs**\n\nText. [s1p1]", "**Costs**\n\nText. [s1p1]", ""),
    ("__Costs__\n\n- One. [s1p1]", "__Costs__\n- One. [s1p1]", ""),
    ("**Benefits are many here**: they do. [s1p1]", "**Benefits are many here**: they do. [s1p1]", ""),
    ("It offers:\n\n- One. [s1p1]", "It offers:\n- One. [s1p1]", ""),
    ("It offers：\n\n- One. [s1p1]", "It offers：\n- One. [s1p1]", ""),
    ("It offers:\n\nText. [s1p1]", "It offers:\n\nText. [s1p1]", "Text. [s1p1]"),
    ("It offers:\n\n```\nx = 1\n```\n\n[s1p1]", "It offers:\n\n```\nx = 1\n```\n\n[s1p1]", ""),
    (
        "It offers:\n\n| a | b |\n|---|---|\n| c | d [s1p1] |",
        "It offers:\n\n| a | b |\n| --- | --- |\n| c | d [s1p1] |",
        "",
    ),
    ("It offers: [s1p9]\n\n- One. [s1p1]", "It offers: [s1p9]\n\n- One. [s1p1]", "- One. [s1p1]"),
    (
        "It offers many things to all of us today:\n\n- One. [s1p1]",
        "It offers many things to all of us today:\n\n- One. [s1p1]",
        "- One. [s1p1]",
    ),
    (
        "It offers many things to all of us today too:\n\n- One. [s1p1]",
        "It offers many things to all of us today too:\n\n- One. [s1p1]",
        "- One. [s1p1]",
    ),
    (
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:\n\n- One. [s1p1]",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:\n- One. [s1p1]",
        "",
    ),
    (
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:\n\n- One. [s1p1]",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:\n\n- One. [s1p1]",
        "- One. [s1p1]",
    ),
    ("It offers. It gives:\n\n- One. [s1p1]", "It offers. It gives:\n\n- One. [s1p1]", "It gives:\n\n- One. [s1p1]"),
    ("Text.\n\n[s1p1][s1p2]\n\nMore. [s1p3]", "Text. [s1p1][s1p2]\n\nMore. [s1p3]", "More. [s1p3]"),
    ("[s1p1]\n\nText.", "Text.", ""),
    ("Text. [s1p1]\n\n[s1p1] [s1p2]", "Text. [s1p1][s1p2]", ""),
    ("```\nx = 1\n```\n\n[s1p1]", "```\nx = 1\n```\n\n[s1p1]", ""),
    (
        "Code:\n\n```py\nprint(a[0])\n```\n\nAfter. [s1p1]",
        "Code:\n\n```py\nprint(a[0])\n```\n\nAfter. [s1p1]",
        "Code:\n\nAfter. [s1p1]",
    ),
    (
        "| N | V |\n|---|---|\n| a | Five [s1p5] |\n| b | |",
        "| N | V |\n| --- | --- |\n| a | Five [s1p5] |\n| b |  |",
        "| N | V |\n| --- | --- |\n| b |  |",
    ),
    ("| N | V |\n| a | Five [s1p5] |", "| N | V |\n| a | Five [s1p5] |", "| a | Five [s1p5] |"),
    (
        "| N | V |\n|:--|--:|\n| *a* | `Five` [s1p5] |\n| __b__ | _Six_ [s1p6] |\n| max_rate_x | 5 [s1p7] |",
        "| N | V |\n| :-- | --: |\n| *a* | `Five` [s1p5] |\n| __b__ | _Six_ [s1p6] |\n| max_rate_x | 5 [s1p7] |",
        "| N | V |\n| :-- | --: |\n| __b__ | _Six_ [s1p6] |\n| max_rate_x | 5 [s1p7] |",
    ),
    ("N | V\n---|---\na | Five [s1p5]", "N | V\n---|---\na | Five [s1p5]", ""),
    (
        "| N | V | W |\n|---|---|---|\n| a | b \\| c [s1p5] | |\n| only | [s1p6] | |",
        "| N | V | W |\n| --- | --- | --- |\n| a | b \\| c [s1p5] |  |\n| only |  |  |",
        "| N | V | W |\n| --- | --- | --- |\n| only |  |  |",
    ),
    (
        "| N [s1p1] | V |\n|---|---|\n| a | Five [s1p5] |",
        "| N [s1p1] | V |\n| --- | --- |\n| a | Five [s1p5] |",
        "| — | V |\n| --- | --- |\n| a | Five [s1p5] |",
    ),
    (
        "| Claim |\n|---|\n| It works [s1p1] |\n| It fails |",
        "| Claim |\n| --- |\n| It works [s1p1] |\n| It fails |",
        "| Claim |\n| --- |\n| It fails |",
    ),
    (
        "| N | V |\n|---|---|\n| a | Five | [s1p5] |\n| b | — | [s1p6] |",
        "| N | V |\n| --- | --- |\n| a | Five |  |\n| b | — |  |",
        "| N | V |\n| --- | --- |\n| b | — |  |",
    ),
    (
        "| N | V |\n|---|---|\n| a [s1p1] | |\n| b [s1p2] | Six [s1p3] |",
        "| N | V |\n| --- | --- |\n| a [s1p1] |  |\n| b [s1p2] | Six [s1p3] |",
        "| N | V |\n| --- | --- |\n| b [s1p2] | Six [s1p3] |",
    ),
    (
        "| A | B |\n|---|---|\n| x | One. [s1p1] |\n\n| C | D |\n|---|---|\n| y | Two. [s1p2] |",
        "| A | B |\n| --- | --- |\n| x | One. [s1p1] |\n\n| C | D |\n| --- | --- |\n| y | Two. [s1p2] |",
        "| C | D |\n| --- | --- |\n| y | Two. [s1p2] |",
    ),
    ("|---|---|\n| a | b [s1p1] |", "| --- | --- |\n| a | b [s1p1] |", ""),
    ("Text. [s1p1]\n\n---\n\nMore. [s1p2]", "Text. [s1p1]\n\nMore. [s1p2]", "More. [s1p2]"),
    (
        "第一句。[s1p1]第二句[s1p2]。\n- 项目。[s1p3]",
        "第一句。 [s1p1] 第二句。 [s1p2]\n\n- 项目。 [s1p3]",
        "第二句。 [s1p2]\n\n- 项目。 [s1p3]",
    ),
    ("One [s1p1, s1p2]; two [s1p3].", "One [s1p1][s1p2]; two. [s1p3]", ""),
    (
        "One. Two. [s1p1]\n\nThree. Four. [s1p2]",
        "One. Two. [s1p1]\n\nThree. Four. [s1p2]",
        "Two. [s1p1]\n\nThree. Four. [s1p2]",
    ),
    ("Dr. Smith works. [s1p1]", "Dr. Smith works. [s1p1]", ""),
    ("A claim with [12](https://a.b/c) and [a link](https://x.y). [s1p1]", "A claim with and a link. [s1p1]", ""),
    ("  Indented. [s1p1]", "  Indented. [s1p1]", ""),
    ("One.[s1p1] Two.[s1p2]", "One. [s1p1] Two. [s1p2]", "Two. [s1p2]"),
    ("**它说得对。** 甲 [s1p1]，乙 [s1p2]。", "**它说得对。** 甲 [s1p1]，乙。 [s1p2]", ""),
    ("**Lead of it.** One [s1p1].", "**Lead of it.** One. [s1p1]", ""),
    (
        "→ In this order:\n1. One [s1p1].\n2. Two [s1p2].",
        "→ In this order:\n1. One. [s1p1]\n2. Two. [s1p2]",
        "→ In this order:\n1. Two. [s1p2]",
    ),
    (
        "It says:\n1. One [s1p1].\n2. Two [s1p2].",
        "It says:\n1. One. [s1p1]\n2. Two. [s1p2]",
        "It says:\n1. Two. [s1p2]",
    ),
    ("One [s1p1] and two [s1p2].", "One [s1p1] and two. [s1p2]", ""),
    ("Text [s1p1]\n\n\n\nMore [s1p2]", "Text [s1p1]\n\nMore [s1p2]", "More [s1p2]"),
    (
        "* Star. [s1p1]\n* Star two. [s1p2]\n\n+ Plus. [s1p3]",
        "* Star. [s1p1]\n* Star two. [s1p2]\n+ Plus. [s1p3]",
        "* Star two. [s1p2]\n+ Plus. [s1p3]",
    ),
    (
        "Label:\n- One. [s1p1]\nNext:\n- Two. [s1p2]",
        "Label:\n- One. [s1p1]\n\nNext:\n- Two. [s1p2]",
        "Next:\n- Two. [s1p2]",
    ),
    ("…", "", ""),
    ("**Bold** [s1p1]", "**Bold** [s1p1]", ""),
    ("One! [s1p1] (s1p2) Two.", "One! [s1p1][s1p2] Two.", "Two."),
]


@pytest.mark.parametrize(("draft", "whole", "cut"), WRITTEN)
def test_a_draft_is_written_again_without_empty_shells(draft: str, whole: str, cut: str) -> None:
    read = parse_draft(draft)
    assert read.render() == whole
    assert read.render({0: None}) == read.render({0: ("  ", ["s1p1"])}) == cut


CITATIONS = [
    ("One [s1p1], [s1p2]; and [s2p1].", "One <s1p1,s1p2>; and <s2p1>."),
    ("[s1p1] [s1p1][s2p2]", "<s1p1,s2p2>"),
    ("One [s1p1]a", "One <s1p1>a"),
    ("One。 [s1p1]", "One。<s1p1>"),
    ("One  [s1p1]", "One <s1p1>"),
    ("One[s1p1]", "One<s1p1>"),
    ("x[0] [s1p1] y[1]", "x\\[0\\] <s1p1> y\\[1\\]"),
    ("```\nx\n```\n\n[s1p1] [s1p2]", "```\nx\n```\n\n<s1p1,s1p2>"),
    ("See [1](https://a.b). [s1p1]", "See [1](https://a.b). <s1p1>"),
    ("a \\[3\\] [s1p1]", "a \\[3\\] <s1p1>"),
    ("one (s1p1 and s1p2) two", "one <s1p1,s1p2> two"),
    ("one (see s1p1) two", "one <s1p1> two"),
    ("one (cf. s1p1; s2p1) two", "one <s1p1,s2p1> two"),
    ("（参见：s1p1、s1p2）", "<s1p1,s1p2>"),
    ("[s1p1](#x) two", "<s1p1> two"),
    (" [s1p1] start", " <s1p1> start"),
    ("no ids [12]", "no ids \\[12\\]"),
    ("end [s1p1]", "end <s1p1>"),
    ("[passage s1p1]", "<s1p1>"),
    ("[see s1p1]", "<s1p1>"),
    ("(s1) and [s1]", "(s1) and <s1>"),
    ("S1P1 [S1P1]", "S1P1 [S1P1]"),
    ("xs1p1 [xs1p1]", "xs1p1 [xs1p1]"),
]


@pytest.mark.parametrize(("text", "expected"), CITATIONS)
def test_groups_of_ids_become_one_citation_each(text: str, expected: str) -> None:
    assert render_citations(text, lambda ids: f"<{','.join(ids)}>") == expected


def test_a_citation_that_is_nothing_leaves_no_space() -> None:
    assert render_citations("One [s1p1]. Two [s2p2].", lambda ids: "[1]" if "s1p1" in ids else "") == "One [1]. Two."


PLAIN = [
    ("Call run() with [] and a[0].", "Call run() with [] and a[0]."),
    ("It is [1] so.", "It is so."),
    ("It is (https://a.b) so.", "It is so."),
    ("It is <https://a.b> so.", "It is so."),
    ("It is https://a.b/c?d=e, so.", "It is, so."),
    ("It is www.a.b.", "It is."),
    ("[https://a.b] x", "x"),
    ("[1](https://a.b) x", "x"),
    ('[text](https://a.b "t") x', "text x"),
    ("[ ^3 ](https://a.b) x", "x"),
    ("mailto [me](mailto:a@b.c)", "mailto me"),
    ("x [1][2] y.", "x y."),
    ("它有效 [1]。", "它有效。"),
    ("它有效（https://a.b/c）", "它有效"),
    ("x, [1]", "x"),
    ("x ( [1] ) y", "x y"),
    ("`a`[0] b", "`a`[0] b"),
    ("x [1–3] y", "x y"),
    ("x [^12] y", "x y"),
    ("x [1](y)", "x [1](y)"),
    ("x [1234] y", "x [1234] y"),
    ("x【12】y", "x【12】y"),
    ("a [1]", "a"),
    ("[1]", ""),
]


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_addresses_and_numbers_in_the_place_of_citations_go(text: str, expected: str) -> None:
    assert without_links(text) == expected


def test_a_paragraph_that_opens_a_section_rests_on_what_follows() -> None:
    text = "Three ways differ.\n\nThe first is fast. [s1p1]\n\n**Slow.** The second is not. [s2p1]\n\n## Next\n\nMore. [s3p1]"
    opening, *rest = parse_draft(text).sentences
    assert (opening.text, opening.role, opening.near) == ("Three ways differ.", "inference", ("s1p1", "s2p1"))
    assert {sentence.role for sentence in rest} == {"fact"}
    (alone,) = parse_draft("Nothing follows.").sentences
    assert (alone.role, alone.near) == ("fact", ())
    _first, second, *_ = parse_draft("Cited. [s1p1]\n\nNot cited.\n\nCited again. [s2p1]").sentences
    assert second.role == "fact"


# A draft; of each sentence the measure it is judged by, what it may rest on, what it is about, and its text; then how the
# draft reads without its last sentence.
MEASURED: list[tuple[str, list[str], str]] = [
    (
        "It offers: [s1p9]\n\n- One.\n- Two.",
        ["fact [s1p9] It offers:", "fact [s1p9] One.", "fact [s1p9] Two."],
        "It offers: [s1p9]\n\n- One.",
    ),
    (
        "**Up 20 % in 2024.** It rose. [s1p1]",
        ["inference [s1p1] **Up 20 % in 2024.**", "fact [s1p1] It rose."],
        "**Up 20 % in 2024.**",
    ),
    (
        "1. First. [s1p1]\n2. Second. [s1p2]\n\nText. [s1p3]\n\n1. Third. [s1p4]\n2. Fourth. [s1p5]",
        ["fact [s1p1] First.", "fact [s1p2] Second.", "fact [s1p3] Text.", "fact [s1p4] Third.", "fact [s1p5] Fourth."],
        "1. First. [s1p1]\n2. Second. [s1p2]\n\nText. [s1p3]\n\n1. Third. [s1p4]",
    ),
    (
        "| Engine | Speed | Weight |\n|---|---|---|\n| Alpha | fast | heavy [s1p1] |\n| Beta | slow | light [s1p2] |",
        ["fact (Engine | Speed | Weight) Alpha | fast | heavy", "fact (Engine | Speed | Weight) Beta | slow | light"],
        "| Engine | Speed | Weight |\n| --- | --- | --- |\n| Alpha | fast | heavy [s1p1] |",
    ),
    (
        "| Engine | Speed | Weight | Source |\n|---|---|---|---|\n| Alpha | fast | heavy | [s1p1] |\n| Beta | slow | light | [s1p2] |",
        [
            "fact (Engine | Speed | Weight | Source) Alpha | fast | heavy |",
            "fact (Engine | Speed | Weight | Source) Beta | slow | light |",
        ],
        "| Engine | Speed | Weight | Source |\n| --- | --- | --- | --- |\n| Alpha | fast | heavy | [s1p1] |",
    ),
    (
        "| Engine | Speed |\n|---|---|\n| Alpha | fast [s1p1] |\n| Beta | slow [s1p2] |",
        ["fact [s1p1] (Alpha Speed) fast", "fact [s1p2] (Beta Speed) slow"],
        "| Engine | Speed |\n| --- | --- |\n| Alpha | fast [s1p1] |",
    ),
    (
        "| Engine | Speed |\n|---|---|\n| Alpha | fast |\n| Beta | slow |\n\nText. [s1p1]",
        ["fact (Alpha Speed) fast", "fact (Beta Speed) slow", "fact [s1p1] Text."],
        "| Engine | Speed |\n| --- | --- |\n| Alpha | fast |\n| Beta | slow |",
    ),
    (
        "**这是一个相当长的粗体开头它说明了后面整段的内容并且不是标签**：下文。[s1p1]",
        ["fact [s1p1] **这是一个相当长的粗体开头它说明了后面整段的内容并且不是标签**：下文。"],
        "",
    ),
    (
        "**这是粗体开头**：下文很好。[s1p1]下文更好。[s1p2]",
        ["fact [s1p1] **这是粗体开头**：下文很好。", "fact [s1p2] 下文更好。"],
        "**这是粗体开头**：下文很好。 [s1p1]",
    ),
    (
        "Two lines stand here. They open.\n\n## Next\n\nText. [s1p1]\n\n- Item. [s1p2]",
        ["fact Two lines stand here.", "fact They open.", "fact [s1p1] Text.", "fact [s1p2] Item."],
        "Two lines stand here. They open.\n\n## Next\n\nText. [s1p1]",
    ),
    (
        "## Head\n\nIt sums up.\n\nText. [s1p1]\n\nMore. [s1p2]\n\n## Other\n\nElse. [s1p3]",
        ["inference [s1p1][s1p2] It sums up.", "fact [s1p1] Text.", "fact [s1p2] More.", "fact [s1p3] Else."],
        "## Head\n\nIt sums up.\n\nText. [s1p1]\n\nMore. [s1p2]",
    ),
    (
        "Text. [s1p1]\n\n→ So it is.\n\n→ And so it goes. [s1p2]",
        ["fact [s1p1] Text.", "inference [s1p1] So it is.", "inference And so it goes."],
        "Text. [s1p1]\n\n→ So it is.",
    ),
    (
        "→ In this order:\n\n1. First it.\n2. Then that. [s1p1]\n\nText. [s1p2]",
        ["inference First it.", "inference [s1p1] Then that.", "fact [s1p2] Text."],
        "→ In this order:\n1. First it.\n2. Then that. [s1p1]",
    ),
    (
        "The engines differ:\n\n| Engine | Speed |\n|---|---|\n| Alpha | fast [s1p1] |",
        ["fact [s1p1] (Alpha Speed) fast"],
        "",
    ),
    (
        "The engines differ a lot in this respect, as the rows of the table show.\n\n| Engine | Speed |\n|---|---|\n| Alpha | fast [s1p1] |\n| Beta | slow [s1p2] |\n\n- It is so. [s1p3]",
        [
            "fact [s1p1][s1p2][s1p3] The engines differ a lot in this respect, as the rows of the table show.",
            "fact [s1p1] (Alpha Speed) fast",
            "fact [s1p2] (Beta Speed) slow",
            "fact [s1p3] It is so.",
        ],
        "The engines differ a lot in this respect, as the rows of the table show.\n\n| Engine | Speed |\n| --- | --- |\n| Alpha | fast [s1p1] |\n| Beta | slow [s1p2] |",
    ),
    (
        "- **Speed.** It is fast. [s1p1]\n- **Weight.** It is light. [s1p2]\n  - Deep: it is. [s1p3]",
        ["fact [s1p1] It is fast.", "fact [s1p2] It is light.", "fact [s1p3] Deep: it is."],
        "- **Speed.** It is fast. [s1p1]\n- **Weight.** It is light. [s1p2]",
    ),
    (
        "It is said so [open]. It is fast. [s1p1]",
        ["limit [s1p1] It is said so.", "fact [s1p1] It is fast."],
        "It is said so [open].",
    ),
    ("It is fast [s1p1] [open].", ["fact [s1p1] It is fast."], ""),
    (
        "**All is open** It is not said [open]. Nor that [open].",
        ["limit **All is open** It is not said.", "limit Nor that."],
        "**All is open** It is not said [open].",
    ),
]


@pytest.mark.parametrize(("draft", "sentences", "cut"), MEASURED)
def test_by_what_measure_each_sentence_is_judged(draft: str, sentences: list[str], cut: str) -> None:
    parsed = parse_draft(draft)
    assert [
        " ".join(part for part in (s.role, cite_ids(s.near), f"({s.context})" if s.context else "", s.text) if part)
        for s in parsed.sentences
    ] == sentences
    assert parsed.render({len(sentences) - 1: None}) == cut


def test_lists_apart_are_numbered_apart() -> None:
    draft = "1. First. [s1p1]\n2. Second. [s1p2]\n\nText. [s1p3]\n\n1. Third. [s1p4]\n2. Fourth. [s1p5]"
    parsed = parse_draft(draft)
    assert parsed.numbered_lists() == [[(0,), (1,)], [(3,), (4,)]]
    assert parsed.render({0: None, 3: None}) == "1. Second. [s1p2]\n\nText. [s1p3]\n\n1. Fourth. [s1p5]"


LED = """**Where the guide is out of date.** The later rules are of 4.6. [s1p1]

- The new field replaces two old ones. [s1p2]
- The licence need not name them. [s1p3]

It offers two ways:

1. Take the first. [s1p4]
2. Take the second. [s1p5]

### Levels

Level 10 was advised. [s1p6]
"""


def test_a_sentence_stands_under_its_heading_and_the_words_that_open_its_list() -> None:
    draft = parse_draft(LED)
    leads = {sentence.text: draft.lead_of(number) for number, sentence in enumerate(draft.sentences)}
    assert leads["The licence need not name them."] == "Where the guide is out of date."
    assert leads["Take the second."] == "It offers two ways:"
    assert leads["Level 10 was advised."] == "Levels"


def test_sentences_that_end_with_a_wide_stop_stand_close() -> None:
    text = "旧格式只有一个文件。3.0 逐项记录修改。[s1p1]"
    assert parse_draft(text).render({0: ("旧格式只有一个文件。", ())}) == text.replace("[", " [")


@pytest.mark.parametrize("label", ["**postgres_fdw**", "**threading.main_thread()**", "__Notes__"])
def test_a_bold_line_is_a_label_and_no_conclusion(label: str) -> None:
    sentences = parse_draft(f"## Notes\n\n{label}\n\nForeign tables can be read like others. [s1p2]\n").sentences
    assert [s.role for s in sentences] == ["fact"]


def test_what_closes_a_paragraph_behind_an_arrow_is_the_writer_s_own() -> None:
    text = (
        "It runs dry. [s1p1] It is light. [s1p2] → So boats take it.  It suits them. Newer ones are quiet.†\n\nA → B."
    )
    parsed = parse_draft(text)
    assert [(s.role, s.text, s.passages) for s in parsed.sentences] == [
        ("fact", "It runs dry.", ("s1p1",)),
        ("fact", "It is light.", ("s1p2",)),
        ("inference", "So boats take it. It suits them.", ()),
        ("background", "Newer ones are quiet †.", ()),
        ("fact", "A → B.", ()),
    ]
    assert parsed.sentences[2].near == ("s1p1", "s1p2")
    assert (
        parsed.render({3: None, 4: None})
        == "It runs dry. [s1p1] It is light. [s1p2] → So boats take it. It suits them."
    )
    assert parsed.render({2: None, 4: None}) == "It runs dry. [s1p1] It is light. [s1p2] Newer ones are quiet †."


def test_a_cell_of_general_knowledge_is_none_of_its_row_s_statement() -> None:
    text = "| Call | Removed | Since |\n| --- | --- | --- |\n| `a()` | 3.10 | an error since Python 3.14 † [s1p1] |"
    (row,) = parse_draft(text).sentences
    assert without_general_cells(row.text) == ("`a()` | 3.10 | — ", ["an error since Python 3.14 †"])
    assert [without_general_cells(text) for text in ("a † b", "a b †")] == [("a † b", []), ("a b †", [])]
    # A version that the row is about is as much general knowledge as what it tells of it; a figure is not.
    assert without_general_cells("the same, 3.14 of 5 | an error †") == ("the same, — of 5 | — ", ["an error †"])
    beside = parse_draft(text.replace("3.10", "3.10 [s1p1]").replace("† [s1p1]", "†")).sentences
    assert [(s.role, s.text) for s in beside] == [("fact", "3.10"), ("background", "an error since Python 3.14 †")]


def test_what_leads_to_nothing_goes() -> None:
    parsed = parse_draft("It is so. [s1p1] It offers: [s1p2]\n\n- One. [s1p2]\n- Two. [s1p3]\n\nMore. [s1p4]")
    assert parsed.render({2: None, 3: None}) == "It is so. [s1p1]\n\nMore. [s1p4]"
    assert parsed.render({3: None}) == "It is so. [s1p1] It offers: [s1p2]\n\n- One. [s1p2]\n\nMore. [s1p4]"


def test_bold_words_that_open_a_paragraph_go_with_all_of_it() -> None:
    parsed = parse_draft("**Not every one goes.** It needs oil. [s1p1]\n\nIt runs dry. [s1p2]")
    assert parsed.render({1: None}) == "It runs dry. [s1p2]"
    assert parsed.render({0: ("**Few go.**", ()), 2: None}) == "**Few go.** It needs oil. [s1p1]"
    assert parsed.render() == "**Not every one goes.** It needs oil. [s1p1]\n\nIt runs dry. [s1p2]"


def test_a_sentence_stands_under_the_bold_words_that_open_its_list_item() -> None:
    draft = parse_draft(
        "- **Network disks.** It refuses to work there. [s1p1] An option allows it. [s1p2]\n- Others work. [s1p3]"
    )
    assert [draft.lead_of(number) for number in range(3)] == ["Network disks.", "Network disks.", ""]


def test_a_row_with_a_dash_in_its_cited_cell_is_one_claim() -> None:
    rows = "| Task | Interval | Does |\n|---|---|---|\n| `prefetch` | hourly | fetches [s1p1] |\n| `gc` | off | \u2013 [s1p2] |\n"
    found = [(s.text, s.context, s.passages) for s in parse_draft(rows).sentences]
    assert found == [
        ("`prefetch` | hourly | fetches", "Task | Interval | Does", ("s1p1",)),
        ("`gc` | off | \u2013", "Task | Interval | Does", ("s1p2",)),
    ]
