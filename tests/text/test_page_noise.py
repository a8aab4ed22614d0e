"""Menus of a page whose text came one block a line: they go, and what looks like one stays."""

import pytest

from deep_research.text.page_noise import without_menus

MENU = ("Home", "Menu", "About", "Documentation", "Download", "Search Documentation")


def _page(*lines: str) -> str:
    return "\n\n".join(lines)


def _left(text: str) -> list[str]:
    return [line for line in without_menus(text).split("\n") if line]


def test_a_menu_goes_and_the_heading_behind_it_stays() -> None:
    told = ("# Pragmas", "PRAGMA Statements", "The PRAGMA statement is an extension.")
    assert _left(_page(told[0], *MENU, *told[1:])) == list(told)


@pytest.mark.parametrize("line", ["Prev UpChapter 26. Backup and RestoreHome Next", "Previous | Next"])
def test_a_line_that_turns_pages_goes(line: str) -> None:
    assert _left(_page("# Dump", line, "The idea is to make a file.")) == ["# Dump", "The idea is to make a file."]


@pytest.mark.parametrize(
    "lines",
    [
        ("Alpha", "Beta", "Gamma", "Delta", "Search", "Epsilon"),
        ("Home is where you begin.", "Then search.", "Up to next week.", "About time.", "Download it."),
        ("Next steps are told in the chapter on search",),
    ],
)
def test_what_is_no_menu_stays(lines: tuple[str, ...]) -> None:
    assert _left(_page("# Title", *lines)) == ["# Title", *lines]
