"""Writes the table of addresses into docs/security.md: `python -m tests.fetch.security_table`."""

from collections import Counter
from itertools import groupby
from pathlib import Path

from tests.fetch.address_table import CASES, OPEN, Case

DOCUMENT = Path(__file__).parents[2] / "docs" / "security.md"
BEGIN, END = "<!-- table of addresses: begin -->\n", "<!-- table of addresses: end -->\n"
_LONGEST = 110


def render() -> str:
    """Return the table and the full list as Markdown."""
    groups = {group: list(cases) for group, cases in groupby(CASES, key=lambda case: case.group)}
    opened = sum(case.outcome == OPEN for case in CASES)
    lines = [
        f"{len(CASES)} cases: {opened} are opened, {len(CASES) - opened} refused.",
        "",
        "| group | cases | opened | refused as | for example |",
        "| --- | ---: | ---: | --- | --- |",
        *(_row(group, cases) for group, cases in groups.items()),
        "",
        "<details><summary>All of them</summary>",
        "",
        *(line for group, cases in groups.items() for line in _all(group, cases)),
        "</details>",
    ]
    return "\n".join(lines) + "\n"


def current() -> str:
    """Return what stands in the document."""
    return DOCUMENT.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


def _row(group: str, cases: list[Case]) -> str:
    rules = Counter(case.outcome for case in cases)
    opened = rules.pop(OPEN, 0)
    refused = ", ".join(f"{rule} ({count})" for rule, count in rules.most_common())
    return f"| {group} | {len(cases)} | {opened or ''} | {refused} | {_code(_example(cases), table=True)} |"


def _example(cases: list[Case]) -> str:
    return next(case.shown for case in cases if len(case.shown) < _LONGEST)


def _all(group: str, cases: list[Case]) -> list[str]:
    return [f"**{group}**", "", *(f"- {_code(case.shown)} — {case.outcome}" for case in cases), ""]


def _code(text: str, *, table: bool = False) -> str:
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    escaped = short.replace("|", "\\|") if table else short
    fence = "``" if "`" in short else "`"
    return f"{fence} {escaped or '(empty)'} {fence}" if fence == "``" else f"`{escaped or '(empty)'}`"


if __name__ == "__main__":
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(text.partition(BEGIN)[0] + BEGIN + render() + END + text.partition(END)[2], "utf-8")
