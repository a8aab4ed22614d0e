"""Page text without marks: its list of contents tells the headings."""

import pytest

from deep_research.data import Found
from deep_research.sources._record_documents import read_page
from deep_research.text.listed_headings import listed_headings, with_marked_headings

MENU = "Home\nMenu\nAbout\nDownload\nSupport\nSearch\nAbout\nDownload\nSupport\nSearch"
BODY = "The pump lifts water from the well to the house, day and night.\nIt was built by the town."
NUMBERED = ["1. Overview", "2. How it works", "2.1. The valve", "3. Costs"]
PLAIN = ["Overview", "How it works", "The valve", "Costs"]


def page(listed: list[str], headings: list[str], *, between: str = "\n\n") -> str:
    told = between.join(f"{heading}{between}{BODY}" for heading in headings)
    return f"{MENU}\n\nThe pump\n\nContents\n\n{between.join(listed)}{between}{told}"


@pytest.mark.parametrize(
    ("listed", "headings", "levels"),
    [
        (NUMBERED, PLAIN, [2, 2, 3, 2]),
        ([f"{name} ......... {n}" for n, name in enumerate(NUMBERED, 3)], NUMBERED, [2, 2, 3, 2]),
        (
            [f"{name}Toggle {name[3:]} subsection" for name in NUMBERED],
            [f"{name}[edit]" for name in PLAIN],
            [2, 2, 3, 2],
        ),
        ([*NUMBERED, "4. What was not sent", "5. Nor this"], NUMBERED, [2, 2, 3, 2]),
    ],
)
def test_a_list_of_contents_tells_the_headings(listed: list[str], headings: list[str], levels: list[int]) -> None:
    text = f"{page(listed, headings)}\nSee [the well](https://example.org/well).\n"
    read = read_page(Found(key="k", origin="o", title="Pump", url="https://example.org/", page_text=text))
    told = [(heading.level, heading.title.removesuffix("[edit]")) for heading in read.headings if heading.level > 1]
    assert told == list(zip(levels, [name.removesuffix("[edit]") for name in headings], strict=True))
    assert "not sent" not in read.text
    assert "Menu" not in read.text
    assert read.text.count("lifts water") == len(headings)


@pytest.mark.parametrize(
    "text",
    [
        f"{MENU}\n\n{BODY}",  # a menu that stands in two places
        "\n".join([*PLAIN, BODY, *PLAIN[:2], BODY]),  # too few of them
        "\n".join([*PLAIN, BODY, *PLAIN]),  # nothing stands below them
        "\n".join([*PLAIN, BODY]),  # in another order
        # of the first chapter alone
        "\n".join(f"{name} is told here at length.\n{BODY}" for name in PLAIN * 2),  # sentences
    ],
)
def test_other_lines_are_no_headings(text: str) -> None:
    assert listed_headings(text.split("\n")) == (frozenset(), {})


def test_a_text_with_headings_stays_as_it_is() -> None:
    text = f"# Pump\n\n{page(NUMBERED, NUMBERED)}"
    assert with_marked_headings(text) == text
