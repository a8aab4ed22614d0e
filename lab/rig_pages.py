"""The synthetic web of the rig: 5 sections, 4 searches each, 5 pages per search.

Searches share pages: two of the five results of a search belong to its section as a whole or to all
sections. The same text every time.
"""

import random
from collections.abc import Mapping, Sequence

SUBJECTS = {
    "Tidal turbines": ("rotor blades", "seabed foundations", "grid connection", "marine growth"),
    "Wave converters": ("point absorbers", "oscillating columns", "power take-off", "storm survival"),
    "Offshore wind": ("floating platforms", "monopile fatigue", "cable burial", "wake losses"),
    "Salinity gradients": ("membrane fouling", "reverse electrodialysis", "brine pretreatment", "pressure retarded osmosis"),
    "Ocean thermal energy": ("cold water pipes", "working fluids", "heat exchangers", "island grids"),
}  # fmt: skip
QUESTION = "How far have the ways of generating electricity from the sea been developed?"


def searches_of(subjects: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return sections by title with the searches of each."""
    return {title: [f"{title.lower()} {aspect}" for aspect in aspects] for title, aspects in subjects.items()}


PLAN = searches_of(SUBJECTS)
RESULTS, _OWN, _SMALLEST, _LARGEST = 5, 3, 8_000, 40_000
_FRAMES = (
    "The {name} trial off {place} measured {subject} with {aspect} over {number} hours in {year}.",
    "According to {name}, {aspect} account for {percent} percent of the cost of {subject} at {place}.",
    "Engineers at {place} replaced the {aspect} of the {name} unit after {number} operating hours.",
    "{name} reported that {subject} near {place} delivered {number} megawatt hours in {year}.",
    "A survey of {subject} by {name} found {percent} percent fewer failures where {aspect} were inspected every {few} months.",
    "The permit for {place} limits {subject} to {few} units until the effect of {aspect} on seals is known.",
    "Laboratory tests by {name} in {year} compared {few} designs of {aspect} for {subject}.",
    "Maintenance crews reach the site at {place} on {percent} percent of the days of a year, which delays work on {aspect}.",
)


class SyntheticWeb:
    """A search engine over those pages: results by query, page text by address."""

    def __init__(self, plan: Mapping[str, Sequence[str]] = PLAN, *, base: str = "https://sea.example") -> None:
        """`base` is the address under which the pages are named."""
        self._base = base
        self._results: dict[str, list[str]] = {}
        for title, queries in plan.items():
            for query in queries:
                own = [f"{query} {n}" for n in range(_OWN)]
                self._results[query] = [*own, f"{title} overview {len(self._results) % 2}", "Energy from the sea"]
        self._plan = plan
        self._keys = {self.address(key): key for title in plan for key in (f"{title} overview 0",)}
        self._keys |= {self.address(key): key for found in self._results.values() for key in found}
        self._texts: dict[str, str] = {}

    def search(self, query: str, limit: int = RESULTS) -> list[str]:
        """Return result addresses of a planned search; other pages for a detailed one.

        For any other search these are the overviews.
        """
        query = query.lower()
        planned = next((known for known in self._results if known.lower() == query), "")
        if not planned and " in detail " in query:
            planned = query
            self._results[query] = [f"{query} {n}" for n in range(RESULTS)]
        keys = self._results.get(planned) or [f"{title} overview 0" for title in self._plan]
        self._keys |= {self.address(key): key for key in keys}
        return [self.address(key) for key in keys[: min(limit, RESULTS)]]

    def nearest(self, query: str) -> list[str]:
        """Return the results of the planned search that shares most words with `query`."""
        words = set(query.lower().split())
        return self.search(max(self._results, key=lambda planned: len(set(planned.lower().split()) & words)))

    def title(self, address: str) -> str:
        """Return the title of the page at an address; "" where there is none."""
        return self._keys.get(address, "").capitalize()

    def text(self, address: str) -> str | None:
        """Return the page text at an address as Markdown; None without such a page."""
        key = self._keys.get(address)
        if key is None:
            return None
        if key not in self._texts:
            self._texts[key] = page(key)
        return self._texts[key]

    def section_of(self, words: str) -> str:
        """Return the section title that a query or address belongs to; "" for none."""
        named = words.lower().replace("-", " ")
        return next((title for title in self._plan if title.lower() in named), "")

    def address(self, key: str) -> str:
        """Return the address of a page by its key."""
        return f"{self._base}/{key.lower().replace(' ', '-')}"


def page(key: str) -> str:
    """Return the text of a page: headings and paragraphs, the same for the same key."""
    drawn = random.Random(key)
    title = next((t for t in SUBJECTS if key.lower().startswith(t.lower())), drawn.choice(list(SUBJECTS)))
    length = drawn.randint(_SMALLEST, _LARGEST)
    parts, size = [f"# {key.capitalize()}"], 0
    while size < length:
        aspect = next((a for a in SUBJECTS[title] if a in key), drawn.choice(SUBJECTS[title]))
        if len(parts) % 6 == 1:
            parts.append(f"## {aspect.capitalize()} in {drawn.randint(1990, 2024)}")
        parts.append(" ".join(_sentence(drawn, title.lower(), aspect) for _ in range(drawn.randint(3, 7))))
        size += len(parts[-1])
    return "\n\n".join(parts) + "\n"


def _sentence(drawn: random.Random, subject: str, aspect: str) -> str:
    return drawn.choice(_FRAMES).format(
        subject=subject,
        aspect=aspect,
        name=_name(drawn),
        place=_name(drawn),
        number=drawn.randint(100, 9000),
        percent=drawn.randint(3, 60),
        few=drawn.randint(2, 12),
        year=drawn.randint(1990, 2024),
    )


def _name(drawn: random.Random) -> str:
    return drawn.choice(("Kar", "Mel", "Tor", "Vin", "Sol", "Bran", "Eld")) + drawn.choice(
        ("wick", "haven", "mouth", "sund", "fjord", "ness", "holm")
    )
