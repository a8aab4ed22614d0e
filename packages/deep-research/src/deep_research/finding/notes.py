"""Write the finder's results as Markdown: notes per part, and the whole report."""

from collections.abc import Iterable, Iterator, Sequence

from claimcheck.text.sentences import blocks
from deep_research.data import Passage
from deep_research.finding.places import PartPlaces, Piece, Place, Stretch, shown_passages
from deep_research.i18n.catalog import phrase
from deep_research.ports import Library
from deep_research.text.inert_markdown import keep_literal
from deep_research.verification.citations import without_ids

_MOST_NAMED = 12
"""Words that are named where they do not stand together."""


def write_notes(part: PartPlaces, language: str, library: Library) -> str:
    """Return the notes of one part: missing words, best stretches, other places."""
    shown = list(_stretches(part, language, library, set()))
    if part.places:
        shown += [f"**{phrase('finder_other_places', language)}**", _listed(part.places, language)]
    return "\n\n".join(shown)


def write_report(
    title: str, parts: Sequence[PartPlaces], language: str, library: Library, *, is_cut: bool, is_foreign: bool
) -> str:
    """Return the report: notes, best stretch and other places per part, documents."""
    opening = {"finder_note": True, "finder_note_rows": True, "finder_cut": is_cut, "finder_language": is_foreign}
    notes = [phrase(name, language) for name, is_so in opening.items() if is_so]
    blocks_of = [f"# {title}", "\n".join(f"> {note}" for note in notes)]
    several = len(parts) > 1
    shown: set[tuple[str, int, int]] = set()
    for part in parts:
        told = list(_stretches(part, language, library, shown))
        blocks_of += [f"## {part.text}", *told] if several and (told or not part.places) else told
    if any(part.places for part in parts):
        blocks_of.append(f"## {phrase('finder_other_places', language)}")
        for part in parts:
            blocks_of += [f"### {part.text}"] if several and part.places else []
            blocks_of += [_listed(part.places, language)] if part.places else []
    if listed := list(_by_document(parts, library)):
        blocks_of += [f"## {phrase('finder_by_document', language)}", "\n".join(listed)]
    return "\n\n".join(blocks_of)


def _stretches(part: PartPlaces, language: str, library: Library, shown: set[tuple[str, int, int]]) -> Iterator[str]:
    """Yield the best stretches as Markdown blocks, after a note on missing words.

    Of a stretch all of which was `shown` (source, start and end of each slice) for another part only the place is
    named, and where it has not the words of this part, nothing.
    """
    before = frozenset(shown)
    if said := _not_together(part, language):
        yield said
    for stretch in part.stretches:
        slices = {(stretch.source, piece.start, piece.end) for piece in stretch.pieces}
        if slices <= shown:
            if not stretch.is_own or not slices <= before:
                continue
            ids = dict.fromkeys(f"[{key}]" for piece in stretch.pieces for key in piece.passages)
            yield phrase("finder_above", language, place=f"**{_named(stretch, language)}** {''.join(ids)}")
            continue
        shown |= slices
        yield f"**{_named(stretch, language)}**"
        for number, piece in enumerate(stretch.pieces):
            if number or stretch.has_before:
                yield "…"
            yield from _cited(piece, library)
        if stretch.has_after:
            yield "…"
    if not part.stretches:
        yield phrase("finder_nothing", language)
    if part.ordering:
        yield phrase("finder_ordering", language, titles=", ".join(part.ordering[:_MOST_NAMED]))


def _not_together(part: PartPlaces, language: str) -> str:
    """Return a note on words found in no passage, or in none all together.

    It is empty unless every text was searched completely.
    """
    if not part.is_complete:
        return ""

    def named(words: Sequence[str]) -> str:
        return phrase("finder_comma", language).join(f"“{word}”" for word in words)

    if part.missing:  # then none has all of them, which goes without saying
        return phrase("finder_missing", language, words=named(part.missing))
    is_said = not part.together and 1 < len(part.words) <= _MOST_NAMED
    return phrase("finder_not_together", language, words=named(part.words)) if is_said else ""


def _named(place: Stretch | Place, language: str) -> str:
    """Return where a place is: document › headings, and its page where it has one."""
    headings = [heading for heading in place.where.split(" > ") if heading]
    title = place.title or place.location
    path = keep_literal(" › ".join([title, *(heading for heading in headings if heading != title)]))
    pages = ", ".join(map(str, place.pages))
    return without_ids(f"{path} ({phrase('page', language, page=pages)})" if pages else path)


def _cited(piece: Piece, library: Library) -> Iterator[str]:
    """Yield a slice's blocks with their passage ids; keep items of a list together."""
    passages = [passage for key in piece.passages if (passage := library.passage(key)) is not None]
    items: list[str] = []
    for block in blocks(piece.text):
        text = piece.text[block.start : block.end]
        text = text if block.kind == "code" else without_ids(text)
        ids = _ids(passages, piece.start + block.start, piece.start + block.end)
        if block.kind == "item":
            items.append(f"{text} {ids}")
            continue
        if items:
            yield "\n".join(items)
            items = []
        yield f"{text}\n\n{ids}" if block.kind in ("table", "code") else f"{text} {ids}"
    if items:
        yield "\n".join(items)


def _ids(passages: Sequence[Passage], start: int, end: int) -> str:
    return "".join(f"[{p.id}]" for p in passages if p.start < end and start < p.end)


def _listed(places: Iterable[Place], language: str) -> str:
    return "\n".join(
        f"{number}. {_named(place, language)}: {without_ids(place.line)} [{place.passage}]"
        for number, place in enumerate(places, 1)
    )


def _by_document(parts: Sequence[PartPlaces], library: Library) -> Iterator[str]:
    """Yield one line per document with its shown passages, in order of first showing."""
    found: dict[str, list[str]] = {}
    for passage, source in shown_passages(parts).items():
        found.setdefault(source, []).append(passage)
    for key, passages in found.items():
        source = library.source(key)
        if source is not None:
            where = source.location or source.url
            name = f"{source.title} ({where})" if source.title and where else source.title or where
            yield f"- {without_ids(name)}: {' '.join(f'[{passage}]' for passage in passages)}"
