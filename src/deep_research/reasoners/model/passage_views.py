"""Passages and sources as a prompt shows them: fenced, with the ids by which they are cited."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from deep_research.data import Passage, Source
from deep_research.ports import Library
from deep_research.search.source_standing import dated_source
from deep_research.text.prompt_fencing import attribute, clean
from deep_research.text.token_count import estimate_tokens, take_within_budget
from deep_research.verification.statements import plain_text


def passages_of(ids: Iterable[str], library: Library) -> list[Passage]:
    """Return the passages of ids that exist, each once, in the order of the ids."""
    return [passage for key in dict.fromkeys(ids) if (passage := library.passage(key)) is not None]


def within_tokens(passages: Sequence[Passage], budget: int) -> list[Passage]:
    """Return the first passages that fit into `budget` tokens together; at least one."""
    return list(take_within_budget(((p, p.text) for p in passages), budget))


def in_reading_order(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages by source, in the order of each text; sources in the order of their first passage."""
    order = {source: place for place, source in enumerate(dict.fromkeys(p.source for p in passages))}
    return sorted(passages, key=lambda p: (order[p.source], p.start))


def show_passages(passages: Sequence[Passage], library: Library) -> str:
    """Return passages between the delimiters of their sources, each behind its id and heading."""
    return "\n".join(
        f"{source_head(key, library)}\n{_texts(list(group))}\n</source>"
        for key, group in groupby(passages, key=lambda p: p.source)
    )


def _texts(passages: Sequence[Passage]) -> str:
    lines: list[str] = []
    heading = ""
    for passage in passages:
        if passage.heading and passage.heading != heading:
            heading = passage.heading
            if not passage.text.lstrip().startswith("#"):  # there it says so itself
                lines.append(f"(under: {attribute(heading.replace(' > ', ' › '))})")
        page = f" (p. {passage.page})" if passage.page else ""
        lines.append(f"[{passage.id}]{page} {clean(passage.text)}")
    return "\n".join(lines)


def source_head(key: str, library: Library) -> str:
    """Return the opening delimiter of a source: id, title, date and standing as far as they are known."""
    source = library.source(key)
    return f"<source {_facts(key, source, library)}>" if source is not None else f'<source id="{key}">'


def _facts(key: str, source: Source, library: Library) -> str:
    told = dated_source(library, key)
    standing = " by ".join(part for part in (told.standing.status, told.standing.by) if part)
    named = {
        "id": key,
        "title": plain_text(source.title),
        "place": source.url if source.url.startswith("http") else source.location,
        "date": told.date,
        "standing": standing,
        "version": told.standing.version,
    }
    return " ".join(f'{name}="{attribute(value)}"' for name, value in named.items() if value)


def source_line(key: str, library: Library) -> str:
    """Return a source in one line: its id and title."""
    source = library.source(key)
    return f"{key} {attribute(plain_text(source.title))}" if source is not None else key


def with_neighbours(ids: Iterable[str], library: Library) -> list[Passage]:
    """Return the passages of ids with the ones just before and after each, in reading order."""
    found = passages_of(ids, library)
    around: dict[str, Passage] = {}
    for passage in found:
        source, _, number = passage.id.partition("p")
        for near in (int(number) - 1, int(number), int(number) + 1):
            if (neighbour := library.passage(f"{source}p{near}")) is not None:
                around[neighbour.id] = neighbour
    return in_reading_order(around.values())


def tokens_of(passages: Iterable[Passage]) -> int:
    """Return about how many tokens passages take together."""
    return sum(estimate_tokens(passage.text) for passage in passages)
