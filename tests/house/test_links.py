"""The pages for readers lead to what is there."""

import re

from tests.house.sources import ROOT

_LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")


def _anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_link_between_pages_leads_to_a_file_and_a_heading() -> None:
    wrong: list[str] = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")]:
        text = page.read_text("utf-8")
        for target, anchor in _LINK.findall(text):
            if target.startswith(("http:", "https:", "mailto:")) or "`" in target:
                continue
            file = page.parent / target if target else page
            if not file.exists() or (
                anchor and file.suffix == ".md" and anchor not in _anchors(file.read_text("utf-8"))
            ):
                wrong.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert wrong == []


def test_the_readme_fits_a_screen() -> None:
    assert (ROOT / "README.md").read_text("utf-8").count("\n") <= 80


_FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_.]+\.(?:py|md|toml))`")


def test_every_file_that_a_page_names_is_there() -> None:
    roots = [ROOT, ROOT / "docs", *ROOT.glob("packages/*/src"), *ROOT.glob("packages/*/src/*")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    named = {(page.name, name) for page in pages for name in _FILE.findall(page.read_text("utf-8"))}
    assert {row for row in named if not any((root / row[1]).exists() for root in roots)} == set()
