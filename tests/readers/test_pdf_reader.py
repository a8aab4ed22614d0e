from collections.abc import Sequence
from typing import Any

import pytest

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers.pdf import PdfReader
from deep_research.text.passages import cut_passages
from tests.readers.pdf_files import DRAWING, Text, make_pdf

WIDE = "This line of running text is about as wide as the page allows it to be"


def read(*pages: Sequence[str | Text], **made: Any) -> Document:
    return PdfReader().read(make_pdf(pages, **made), name="paper.pdf")


def test_lines_become_paragraphs_and_hyphens_go():
    document = read([WIDE, f"{WIDE} and inter-", "national words are joined.", ("Next one.", 72, 600, 11)])
    assert document.text == f"{WIDE} {WIDE} and international words are joined.\n\nNext one."


def test_words_lead_where_their_link_does_also_across_lines():
    lines = ["Our survey", "of engines 1999. And no more", "Beta says so."]
    report, number, third = "http://a.test/report(1)", "http://a.test/2", "http://a.test/3"
    areas = (("71 757 300 771", report), ("72 743 124 757", report), ("126 743 230 757", number))
    areas = (*areas, ("72 729 94 743", third))
    out = (("72 743 500 757", "file:///etc/passwd"), ("72 100 500 900", "http://a.test/page"))
    document = read(lines, ["Other."], links=(*out, *areas))
    first, heading = document.text.split("\n\n")
    assert (first, heading) == (" ".join(lines), "Other.")
    linked = [(document.text[link.start : link.end], link.address) for link in document.links]
    assert linked[:3] == [("Our survey of engines", report), ("1999. And no more", number), ("Beta", third)]
    told = f"[Our survey of engines]({report}) [1999. And no more]({number}) [Beta]({third}) says so."
    assert document.linked_text.startswith(told)


def test_pages_are_kept():
    document = read(["First page text."], ["Second page text."], ["Third page text."])
    assert [page.number for page in document.pages] == [1, 2, 3]
    assert [document.text[page.start :].split("\n")[0] for page in document.pages] == [
        "First page text.",
        "Second page text.",
        "Third page text.",
    ]
    assert [piece.page for piece in cut_passages(document)] == [1, 2, 3]


def test_the_entries_of_an_outline_are_the_headings_and_nothing_is_guessed() -> None:
    first: list[str | Text] = [
        ("Printed from a browser", 72, 800, 16), ("2.1 The long way", 72, 760, 14), ("to the sea", 72, 744, 14),
        (f"{WIDE}.", 72, 720, 11), ("Note", 72, 680, 16), (f"{WIDE} too.", 72, 660, 11),
    ]  # fmt: skip
    second: list[str | Text] = [("Ways", 72, 760, 11), (f"{WIDE} there.", 72, 720, 11), (f"{WIDE} back.", 72, 660, 11)]
    outline = [("The long way to the sea", 0, 774.0), ("Ways", 1, 774.0), ("In a picture", 1, 680.0)]
    document = read(first, second, outline=outline)
    assert [heading.title for heading in document.headings] == [
        "2.1 The long way to the sea",
        "Ways",
        "In a picture",
    ]
    assert document.text.count("The long way") == 1
    assert document.text.index("there.") < document.text.index("In a picture") < document.text.index("back.")
    guessed = read(first, second)
    assert "Printed from a browser" in [heading.title for heading in guessed.headings]


def test_running_headers_and_page_numbers_are_dropped():
    pages: list[list[str | Text]] = [
        [("Journal of Tests", 72, 800, 9), (f"Content of sheet {word}.", 72, 700, 11), (f"Page {n} of 8", 280, 40, 9)]
        for n, word in enumerate(["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op"], start=1)
    ]
    text = read(*pages).text
    assert "Journal" not in text
    assert "Page" not in text
    assert text.count("Content of sheet") == 8


@pytest.mark.parametrize("count", [1, 11])
def test_what_a_browser_prints_around_each_page_is_dropped(count: int) -> None:
    pages: list[list[str | Text]] = [
        [
            *((f"Content of sheet {chr(96 + n)}.", 34, 700, 9), ("11/30/26, 2:03 AM", 24, 768, 9)),
            *(("Report 2", 255, 768, 9), ("https://a.test/report", 24, 15, 9), (f"{n}/{count}", 570, 15, 9)),
        ]
        for n in range(1, count + 1)
    ]
    assert (
        read(*pages).text.split() == " ".join(f"Content of sheet {chr(96 + n)}." for n in range(1, count + 1)).split()
    )


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["\u2022 first point", "\u2022 second point"], "- first point\n- second point"),
        (["1 Introduction . . . . . . . . . . . 3", f"{WIDE}."], f"{WIDE}."),
        (
            ["2 Locks and cranes 57", *(f"1.{n} Section . . . . . . . . . . . {n}" for n in range(1, 6)), f"{WIDE}."],
            f"{WIDE}.",
        ),
    ],
)
def test_bullets_are_items_and_a_table_of_contents_is_dropped(lines: list[str], text: str) -> None:
    assert read(lines).text == text


def test_metadata():
    document = read(["text"], info="/Title (On Tests) /Author (Ann Lee; Bo Li) /CreationDate (D:20210305120000Z)")
    assert (document.title, document.published, document.authors) == ("On Tests", None, ("Ann Lee", "Bo Li"))


@pytest.mark.parametrize(
    ("stated", "large", "title"),
    [
        (r"\(anonymous\)", [], "terms"),
        ("Letter template", ["Terms of warranty"], "Terms of warranty"),
    ],
)
def test_metadata_name_a_document_where_its_first_page_does_not_say_otherwise(
    stated: str, large: list[str], title: str
) -> None:
    lines = [
        *((line, 72.0, 760.0, 22.0) for line in large),
        *((f"{WIDE}.", 72.0, 700.0 - n, 11.0) for n in (0, 14, 28)),
    ]
    pdf = make_pdf([lines, ["Letter template"]], info=f"/Title ({stated})")
    assert PdfReader().read(pdf, name="terms.pdf").title == title


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (make_pdf([["secret"]], encrypted=True), "encrypted"),
        (make_pdf([[DRAWING]]), "no text in its one page: probably scanned"),
        (make_pdf([[]]), "^no text in it$"),
        (b"%PDF-1.4\nnothing", "broken"),
    ],
)
def test_why_a_pdf_is_unreadable(data: bytes, why: str):
    with pytest.raises(Unreadable, match=why):
        PdfReader().read(data, name="a.pdf")


def test_pages_without_text_are_warned_of():
    assert read(["text"], [DRAWING], [], [" "]).warnings == ("1 of 4 pages have no text (images?)",)


def test_figures_that_differ_from_page_to_page_make_no_running_lines():
    pages: list[list[str | Text]] = [
        [
            *(f"Data sheet of the pump P{n}00", f"Flow: {n * 11} litres per minute", f"Pressure: {n} bar"),
            *(f"Weight: {n * 3} kg", f"{WIDE} {word}.", f"Price: {n * 100} euros", f"Page {n} of 12"),
        ]
        for n, word in enumerate("abcdefghijkl", start=1)
    ]
    text = read(*pages).text
    for n in range(1, 13):
        assert f"Data sheet of the pump P{n}00" in text
        assert f"Pressure: {n} bar" in text
        assert f"Price: {n * 100} euros" in text
    assert "Page" not in text


def test_a_figure_that_ends_a_page_is_no_page_number():
    pages: list[list[str | Text]] = [
        [f"{WIDE} {word}.", "Total", str(n * 37)] for n, word in enumerate("abcd", start=5)
    ]
    assert all(str(n * 37) in read(*pages).text for n in range(5, 9))


def test_a_tagged_table_is_read_by_its_cells_also_over_pages_and_spanned_rows() -> None:
    first: list[str | Text] = [
        ("Engine", 72, 700, 11), ("Turns", 200, 700, 11), ("Source", 400, 700, 11),
        ("Alpha", 72, 680, 11), ("[1]", 400, 680, 11), ("at 3,000 rpm.", 200, 680, 11), ("at 4,500 rpm.", 200, 660, 11),
        ("[2]", 400, 660, 11),
    ]  # fmt: skip
    second: list[str | Text] = [("Beta", 72, 800, 11), ("12", 200, 800, 11), ("[3]", 400, 800, 11), f"{WIDE}."]
    rows = [
        (0, [("TH", 0, 1), ("TH", 1, 1), ("TH", 2, 1)]),
        (0, [("TD", 3, 2), ("TD", 5, 1), ("TD", 4, 1)]),
        (0, [("TD", 6, 1), ("TD", 7, 1)]),
        (1, [("TD", 0, 1), ("TD", 1, 1), ("TD", 2, 1)]),
    ]
    head = "| Engine | Turns | Source |\n| --- | --- | --- |\n"
    assert read(first, second, rows=rows).text == (
        f"{head}| Alpha | at 3,000 rpm. | [1] |\n| Alpha | at 4,500 rpm. | [2] |\n\n{head}| Beta | 12 | [3] |\n\n{WIDE}."
    )


def test_notes_at_the_foot_of_pages_have_the_raised_number_of_their_mark() -> None:
    def page(number: int) -> list[str | Text]:
        made = [
            ("A room of 5 m", 72, 760, 11),
            ("2", 143, 765, 6),
            ("in Graz", 150, 760, 11),
            (f"{number}", 188, 765, 6),
        ]
        return [*made, ("2 men came.", 72, 730, 11), (f"{number} Maier, http://a.test/{number}", 72, 90, 11)]

    text = read(page(3), page(4)).text
    assert [line for line in text.split("\n") if line.startswith(("³", "⁴"))] == [
        "³ Maier, http://a.test/3",
        "⁴ Maier, http://a.test/4",
    ]
    assert text.count("\n\n2 men came.") == 2
