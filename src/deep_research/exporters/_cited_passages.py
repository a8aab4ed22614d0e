"""Which passages a citation of the report means: those that the statements before it cite."""

from collections import defaultdict

from deep_research.data import Claim, Report
from deep_research.text.cleaning import letters_of
from deep_research.text.tokens import content_terms

_MOST_GUESSED = 2


class CitedPassages:
    """Finds the statements of a report in its text, section by section."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._by_source = {reference.number: reference for reference in report.references}
        self._titles = {section.title for section in report.sections}
        self._claims: dict[str, list[tuple[str, Claim]]] = defaultdict(list)
        for claim in report.claims:
            self._claims[claim.section].append((letters_of(claim.text), claim))
        self._section = ""

    def enter_section(self, title: str) -> None:
        """Tell that the texts which follow stand under this heading."""
        self._section = title if title in self._titles else ""

    def passages(self, said: str, number: int) -> tuple[str, ...]:
        """Return the passages of reference `number` that a text rests on.

        Where no statement of the section stands in the text, those of the source that share most words with it.
        """
        reference = self._by_source[number]
        folded = letters_of(said)
        cited = {
            key for text, claim in self._claims[self._section] if text and text in folded for key in claim.passages
        }
        found = tuple(key for key in reference.passages if key in cited)
        return found or self._nearest(said, reference.passages)

    def _nearest(self, said: str, passages: tuple[str, ...]) -> tuple[str, ...]:
        terms = set(content_terms(said))
        known = [key for key in passages if key in self._report.passages]
        shared = {key: len(terms & set(content_terms(self._report.passages[key].text))) for key in known}
        best = max(shared.values(), default=0)
        return tuple(key for key in known if shared[key] == best)[:_MOST_GUESSED]


def quote_passage(text: str, most: int) -> str:
    """Return at most so many characters of a passage in one line, without its headings and fences of code."""
    lines = (line for line in text.splitlines() if not line.startswith(("#", "```")))
    line = " ".join(" ".join(lines).split())
    if len(line) <= most:
        return line
    space = line.rfind(" ", most // 2, most)
    return f"{line[: space if space > 0 else most].rstrip()} …"
