"""Show passages and sources in prompts, fenced, with ids to cite them by."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from deep_research.data import Passage, Source
from deep_research.ports import Library
from deep_research.search.source_standing import dated_source
from deep_research.text.prompt_fencing import attribute, clean
from deep_research.text.token_count import take_within_budget
from deep_research.verification.statements import plain_text


def passages_of(ids: Iterable[str], library: Library) -> list[Passage]:
    """Return the passages of ids that exist, each once, in the order of the ids."""
    return [passage for key in dict.fromkeys(ids) if (passage := library.passage(key)) is not None]


def within_tokens(passages: Sequence[Passage], budget: int) -> list[Passage]:
    """Return the first passages that fit into `budget` tokens together; at least one."""
    return list(take_within_budget(((p, p.text) for p in passages), budget))


def in_reading_order(passages: Iterable[Passage]) -> list[Passage]:
    """Sort passages by source and place; sources go by their first passage."""
    order = {source: place for place, source in enumerate(dict.fromkeys(p.source for p in passages))}
    return sorted(passages, key=lambda p: (order[p.source], p.start))


def show_passages(passages: Sequence[Passage], library: Library, *, beside: bool = False) -> str:
    """Return passages within source delimiters, each behind its id and heading.

    With `beside` the words just before and after each are shown as well, where the neighbours are not.
    """
    ids = {passage.id for passage in passages}
    blocks: list[str] = []
    for key, group in groupby(passages, key=lambda p: p.source):
        lines: list[str] = []
        heading = ""
        for passage in group:
            lines += _lines(passage, heading)
            heading = passage.heading
            if beside:
                lines = [*lines[:-1], _between(passage, lines[-1], ids, library)]
        blocks.append("\n".join([source_head(key, library), *lines, "</source>"]))
    return "\n".join(blocks)


def _lines(passage: Passage, heading: str) -> list[str]:
    """Return a passage behind its id, under the headings not shown already."""
    page = f" (p. {passage.page})" if passage.page else ""
    line = f"[{passage.id}]{page} {clean(passage.text)}"
    starts_itself = passage.text.lstrip().startswith("#")
    above = passage.heading.rpartition(" > ")[0] if starts_itself else passage.heading
    if not above or passage.heading == heading:
        return [line]
    return [f"(under: {attribute(above.replace(' > ', ' › '))})", line]


def _between(passage: Passage, line: str, ids: Collection[str], library: Library) -> str:
    """Return a passage's line between its neighbours' nearest words."""
    source, _, number = passage.id.partition("p")
    before, after = f"{source}p{int(number) - 1}", f"{source}p{int(number) + 1}"
    if before not in ids and (neighbour := library.passage(before)) is not None:
        line = f"[{before}] … {clean(neighbour.text[-_BESIDE:])}\n{line}"
    if after not in ids and (neighbour := library.passage(after)) is not None:
        line = f"{line}\n[{after}] {clean(neighbour.text[:_BESIDE])} …"
    return line


_BESIDE = 400
"""Characters shown of what stands just before and after a passage."""


def source_head(key: str, library: Library) -> str:
    """Return a source's opening delimiter, with id, title, date, standing if known."""
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
    """Return a source in one line: its id, title and place."""
    source = library.source(key)
    if source is None:
        return key
    place = source.url.partition("://")[2] or source.location
    return f"{key} {attribute(plain_text(source.title))}" + (f" ({attribute(place)})" if place else "")
