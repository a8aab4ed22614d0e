"""What a draft is read as: of each sentence its measure, what it rests on and what it stands under; and what is left without it."""

import pytest

from deep_research.claimcheck.citations import CitedSentence, cite_ids
from deep_research.claimcheck.drafts import Draft, parse_draft, without_sentences

# A draft; of each sentence its measure ("!": a step), its ids, those it may rest on (~), its context, what it stands under,
# and its text; then the draft without its first sentence.
READ: list[tuple[str, list[str], str]] = [
    ("→\n\nIt is so. [s1p1]\n\n→ .\n\n-> [s1p2]", ["fact [s1p1] It is so."], ""),
    (
        "## Head\n\n**Cost.** It is cheap, and it stays cheap. [s1p1] It lasts. [s1p2]\n\nIt sums up.\n\nMore. [s1p3]",
        [
            "fact [s1p1] <Head > Cost.> It is cheap, and it stays cheap.",
            "fact [s1p2] <Head > Cost.> It lasts.",
            "fact <Head> It sums up.",
            "fact [s1p3] <Head> More.",
        ],
        "## Head\n\n**Cost.** It lasts. [s1p2]\n\nIt sums up.\n\nMore. [s1p3]",
    ),
    (
        "- Item. [s1p1]\n\nIt sums up.\n\n- Next. [s1p2]\n- Last one. [s1p3]\n\nEnd. [s1p4]",
        [
            "fact [s1p1] Item.",
            "fact ~[s1p2][s1p3] It sums up.",
            "fact [s1p2] Next.",
            "fact [s1p3] Last one.",
            "fact [s1p4] End.",
        ],
        "It sums up.\n\n- Next. [s1p2]\n- Last one. [s1p3]\n\nEnd. [s1p4]",
    ),
    (
        "→ So we say:\n\nIt is so. [s1p1]\n\n- One. [s1p2]",
        ["inference So we say:", "fact [s1p1] It is so.", "fact [s1p2] One."],
        "It is so. [s1p1]\n\n- One. [s1p2]",
    ),
    (
        "→ In this order: [s1p1]\n\n1. First. [s1p2]",
        ["inference [s1p1] In this order:", "inference! [s1p2] <In this order:> First."],
        "1. First. [s1p2]",
    ),
    (
        "→ In this order\n\n1. First. [s1p2]",
        ["inference ~[s1p2] In this order", "fact! [s1p2] First."],
        "1. First. [s1p2]",
    ),
    (
        "→ In this order：\n1. First.\n2. Then [open].\n3. Next {k1}.",
        [
            "inference! <→ In this order：> First.",
            "limit! <→ In this order：> Then.",
            "computed! <→ In this order：> Next {k1}.",
        ],
        "→ In this order：\n1. Then [open].\n2. Next {k1}.",
    ),
    (
        "It offers these ways to all： [s1p9]\n\n- One.\n\nText.\n\n- Two.",
        [
            "fact [s1p9] It offers these ways to all：",
            "fact ~[s1p9] <It offers these ways to all：> One.",
            "fact Text.",
            "fact Two.",
        ],
        "- One.\n\nText.\n\n- Two.",
    ),
    (
        "It offers these ways to all. [s1p9]\n\n- One.",
        ["fact [s1p9] It offers these ways to all.", "fact One."],
        "- One.",
    ),
    ("Paragraph: [s1p9]\n\nNo item at all.", ["fact [s1p9] Paragraph:", "fact No item at all."], "No item at all."),
    (
        "**A bold line that ends with no stop**\n\nText. [s1p1]",
        ["fact [s1p1] <A bold line that ends with no stop> Text."],
        "",
    ),
    (
        "**A bold sentence that is quite long and that goes on for more than eighty characters in all.**\n\nText. [s1p1]",
        [
            "inference ~[s1p1] **A bold sentence that is quite long and that goes on for more than eighty characters in all.**",
            "fact [s1p1] Text.",
        ],
        "Text. [s1p1]",
    ),
    (
        "**Only this.** [s1p1] **And this.** Text. [s1p2]",
        ["fact [s1p1] **Only this.**", "fact ~[s1p2] <Only this.> **And this.**", "fact [s1p2] <Only this.> Text."],
        "**And this.** Text. [s1p2]",
    ),
    ("**Alone in its paragraph.**\n\n- One. [s1p1]", ["fact [s1p1] <Alone in its paragraph.> One."], ""),
    (
        "**Running work cannot be cancelled.** The queue waits. [s1p1]",
        [
            "inference ~[s1p1] **Running work cannot be cancelled.**",
            "fact [s1p1] <Running work cannot be cancelled.> The queue waits.",
        ],
        "The queue waits. [s1p1]",
    ),
    ("**Limits.** The queue waits. [s1p1]", ["fact [s1p1] <Limits.> The queue waits."], ""),
    (
        "**Speed in 2024.** The queue waits. [s1p1]",
        ["inference ~[s1p1] **Speed in 2024.**", "fact [s1p1] <Speed in 2024.> The queue waits."],
        "The queue waits. [s1p1]",
    ),
    ("**Costs of running it** The queue waits. [s1p1]", ["fact [s1p1] **Costs of running it** The queue waits."], ""),
    (
        "**All of this is quite open to this day and for all of them.** It is not said [open].",
        [
            "limit **All of this is quite open to this day and for all of them.**",
            "limit <All of this is quite open to this day and for all of them.> It is not said.",
        ],
        "It is not said [open].",
    ),
    (
        "**Everybody tests this under load before they ship it.** Teams do so each week. †",
        [
            "background **Everybody tests this under load before they ship it.**",
            "background <Everybody tests this under load before they ship it.> Teams do so each week. †",
        ],
        "Teams do so each week. †",
    ),
    (
        "**All of this is quite open to this day and for all of them.** It is not said.",
        [
            "inference **All of this is quite open to this day and for all of them.**",
            "fact <All of this is quite open to this day and for all of them.> It is not said.",
        ],
        "It is not said.",
    ),
    (
        "**これは短い見出し。** 待ち行列。[s1p1]",
        ["inference ~[s1p1] **これは短い見出し。**", "fact [s1p1] <これは短い見出し。> 待ち行列。"],
        "待ち行列。 [s1p1]",
    ),
    (
        "**実行中の作業は取り消せない仕様である。** 待ち行列。[s1p1]",
        [
            "inference ~[s1p1] **実行中の作業は取り消せない仕様である。**",
            "fact [s1p1] <実行中の作業は取り消せない仕様である。> 待ち行列。",
        ],
        "待ち行列。 [s1p1]",
    ),
    (
        "| | Speed | Price |\n|---|---|---|\n| Alpha | 3,000 rpm | 30 euros [s1p1] |",
        ["fact [s1p1] (Speed | Price) Alpha | 3,000 rpm | 30 euros"],
        "",
    ),
    (
        "| A | B | C |\n|---|---|---|\n| one | two [s1p1] | three |\n| four | [s1p2] | five |",
        ["fact [s1p1] (one B) two", "fact ~[s1p1] (one C) three", "fact ~[s1p2] (four C) five"],
        "| A | B | C |\n| --- | --- | --- |\n| one | — | three |\n| four |  | five |",
    ),
    (
        "| A | B | C |\n|---|---|---|\n| one | two | three [s1p1] |\n| four | five | [s1p2] |\n| six | | [s1p3] |",
        ["fact [s1p1] (A | B | C) one | two | three", "fact ~[s1p2] (four B) five"],
        "| A | B | C |\n| --- | --- | --- |\n| four | five |  |\n| six |  |  |",
    ),
    ("| A | B |\n|---|---|\n| one \\| two | three [s1p1] |", ["fact [s1p1] (one \\| two B) three"], ""),
    ("| A | B |\n|---|---|\n| one | two | [s1p1][s1p2]", ["fact [s1p1][s1p2] (A | B) one | two"], ""),
    ("| A | B |\n| one | two [s1p1] |", ["fact (A) B", "fact [s1p1] (one) two"], "| one | two [s1p1] |"),
    (
        "| *A* | `B` |\n|---|---|\n| max_size | two_ [s1p1] |\n| _six_ | seven [s1p2] |",
        ["fact [s1p1] (max_size B) two_", "fact [s1p2] (six B) seven"],
        "| *A* | `B` |\n| --- | --- |\n| _six_ | seven [s1p2] |",
    ),
    (
        "| A | B | C |\n|---|---|---|\n| one | two | three |\n\n[s1p1]",
        ["fact (one B) two", "fact [s1p1] (one C) three"],
        "| A | B | C |\n| --- | --- | --- |\n| one | — | three [s1p1] |",
    ),
    (
        "| A | B [s1p9] |\n|---|---|\n| one | two [s1p1] |",
        ["fact [s1p9] (A B) B", "fact [s1p1] (one B) two"],
        "| A | — |\n| --- | --- |\n| one | two [s1p1] |",
    ),
    (
        "1. One. [s1p1]\n2. Two. [s1p2]\n3. Three. [s1p3]",
        ["fact! [s1p1] One.", "fact! [s1p2] Two.", "fact! [s1p3] Three."],
        "1. Two. [s1p2]\n2. Three. [s1p3]",
    ),
    ("1) One. [s1p1]\n2) Two. [s1p2]", ["fact! [s1p1] One.", "fact! [s1p2] Two."], "1) Two. [s1p2]"),
    (
        "1. One. [s1p1]\n   1. Inner. [s1p2]\n   2. Other. [s1p3]\n2. Two. [s1p4]",
        ["fact! [s1p1] One.", "fact! [s1p2] Inner.", "fact! [s1p3] Other.", "fact! [s1p4] Two."],
        "   1. Inner. [s1p2]\n   2. Other. [s1p3]\n1. Two. [s1p4]",
    ),
    (
        "- One. [s1p1]\n- Two. [s1p2]\n\n1. Three. [s1p3]\n2. Four. [s1p4]",
        ["fact [s1p1] One.", "fact [s1p2] Two.", "fact! [s1p3] Three.", "fact! [s1p4] Four."],
        "- Two. [s1p2]\n1. Three. [s1p3]\n2. Four. [s1p4]",
    ),
    (
        "> Quoted\n> words. [s1p1]\n\nText. [s1p2]",
        ["fact [s1p1] <>> Quoted\n  words.", "fact [s1p2] Text."],
        "Text. [s1p2]",
    ),
    ("- [ ] Do it. [s1p1]\n- [x] Done. [s1p2]", ["fact [s1p1] Do it.", "fact [s1p2] Done."], "- [x] Done. [s1p2]"),
    (
        "It says so† . It says more. [s1p1]",
        ["background ~[s1p1] It says so† .", "fact [s1p1] It says more."],
        "It says more. [s1p1]",
    ),
    (
        "It is {k1} more. [s1p1] It is {k12}.",
        ["computed [s1p1] It is {k1} more.", "computed ~[s1p1] It is {k12}."],
        "It is {k12}.",
    ),
    ("# A\n\nOpens it.\n\n# B\n\nText. [s1p1]", ["fact <A> Opens it.", "fact [s1p1] <B> Text."], "# B\n\nText. [s1p1]"),
    (
        "Opens it. [s1p1]\n\n→ Follows.\n\nPlain.\n\n→ Follows again.",
        ["fact [s1p1] Opens it.", "inference ~[s1p1] Follows.", "fact Plain.", "inference Follows again."],
        "→ Follows.\n\nPlain.\n\n→ Follows again.",
    ),
    ("```\nx = 1\n```\n\n→ Follows.", ["fact ```\nx = 1\n```", "inference Follows."], "→ Follows."),
    (
        "Text. [s1p1][s1p2]\n\nMore [s1p3][s1p4][s1p5]. Again. [s1p6] On. [s1p7] And. [s1p8]\n\n→ So.",
        [
            "fact [s1p1][s1p2] Text.",
            "fact [s1p3][s1p4][s1p5] More.",
            "fact [s1p6] Again.",
            "fact [s1p7] On.",
            "fact [s1p8] And.",
            "inference ~[s1p3][s1p4][s1p5][s1p6][s1p7][s1p8] So.",
        ],
        "More. [s1p3][s1p4][s1p5] Again. [s1p6] On. [s1p7] And. [s1p8]\n\n→ So.",
    ),
    (
        "See below.\n\n- One. [s1p1]\n- Two. [s1p2]\n- Three. [s1p3]\n- Four. [s1p4]\n- Five. [s1p5]\n- Six. [s1p6]\n- Seven. [s1p7]",
        [
            "fact ~[s1p1][s1p2][s1p3][s1p4][s1p5][s1p6] See below.",
            "fact [s1p1] One.",
            "fact [s1p2] Two.",
            "fact [s1p3] Three.",
            "fact [s1p4] Four.",
            "fact [s1p5] Five.",
            "fact [s1p6] Six.",
            "fact [s1p7] Seven.",
        ],
        "- One. [s1p1]\n- Two. [s1p2]\n- Three. [s1p3]\n- Four. [s1p4]\n- Five. [s1p5]\n- Six. [s1p6]\n- Seven. [s1p7]",
    ),
    (
        "## Head\n\n**Bold lead of the list**\n\n- One. [s1p1]\n\n## Other\n\n- Two. [s1p2]",
        ["fact [s1p1] <Head > Bold lead of the list> One.", "fact [s1p2] <Other> Two."],
        "## Other\n\n- Two. [s1p2]",
    ),
    (
        "**Label**\n\nIt has parts: [s1p1]\n\n- One.\n\nText. [s1p2]",
        ["fact [s1p1] <Label> It has parts:", "fact ~[s1p1] <Label > It has parts:> One.", "fact [s1p2] <Label> Text."],
        "**Label**\n- One.\n\nText. [s1p2]",
    ),
]


def _row(draft: Draft, number: int, sentence: CitedSentence) -> str:
    near = f"~{cite_ids(sentence.near)}" if sentence.near and sentence.near != sentence.passages else ""
    context = f"({sentence.context})" if sentence.context else ""
    lead = f"<{draft.lead_of(number)}>" if draft.lead_of(number) else ""
    is_step = any(number in step for steps in draft.numbered_lists() for step in steps)
    role = f"{sentence.role}!" if is_step else sentence.role
    return " ".join(part for part in (role, cite_ids(sentence.passages), near, context, lead, sentence.text) if part)


@pytest.mark.parametrize(("text", "sentences", "cut"), READ)
def test_what_a_draft_is_read_as(text: str, sentences: list[str], cut: str) -> None:
    draft = parse_draft(text)
    assert [_row(draft, number, sentence) for number, sentence in enumerate(draft.sentences)] == sentences
    assert draft.render({0: None}) == cut


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (["The first engine is told of by nobody. [open]"], "The second engine runs well. [s1p1]"),
        (["“The second engine runs well [s1p1].” Corrected by s2p1."], "The first engine is told of by nobody [open]."),
        (["engine"], "The first engine is told of by nobody [open]. The second engine runs well. [s1p1]"),
    ],
)
def test_sentences_are_taken_out_by_their_words(said: list[str], left: str) -> None:
    draft = "The first engine is told of by nobody [open]. The second engine runs well. [s1p1]"
    assert without_sentences(draft, said) == left


def test_what_announces_a_list_ends_with_the_list() -> None:
    draft = parse_draft(
        "It does not protect against:\n- Fetches by others. [s1p1]\n\nTwo things close this hole. [s1p2]"
    )
    assert [draft.lead_of(number) for number in range(2)] == ["It does not protect against:", ""]


@pytest.mark.parametrize("lead", ["**Colleagues.**", "**A colleague who does not use it.**"])
def test_a_conclusion_behind_a_bold_lead_is_the_writers_own(lead: str) -> None:
    text = f"- {lead} → Nobody else is held to it. [s1p1]"
    draft = parse_draft(text)
    assert [s.role for s in draft.sentences if "Nobody" in s.text] == ["inference"]
    assert {s.role for s in draft.sentences} == {"inference"}
    written = draft.render({n: (s.text, s.passages) for n, s in enumerate(draft.sentences)})
    assert written == text
