"""The finder's results per part: best stretches, other places, missing words."""

from collections.abc import Sequence

from deep_research.data.noun import Noun


class Piece(Noun):
    """An exact slice `snapshot[start:end]` with the ids of the passages it overlaps."""

    start: int
    end: int
    text: str
    passages: tuple[str, ...]


class Stretch(Noun):
    """The best place as a whole unit: paragraph, list, table rows, steps or code.

    `pieces` are in the order of the text; between two of them something was left out, and where `has_before` or
    `has_after` something of the same heading stands before or behind them. `where` is the heading path, `pages` are those
    of the pieces. `is_own`: it has all words of its part that stand anywhere.
    """

    source: str
    title: str
    where: str
    pieces: tuple[Piece, ...]
    has_before: bool = False
    has_after: bool = False
    location: str = ""
    pages: tuple[int, ...] = ()
    is_own: bool = True


class Place(Noun):
    """Another relevant place, with one line of its text around the words.

    `passage` is the one in which `line` begins.
    """

    passage: str
    source: str
    title: str
    where: str
    line: str
    location: str = ""
    pages: tuple[int, ...] = ()


class PartPlaces(Noun):
    """What was found for one part of a question.

    `words` are those that were looked for, `missing` those that stand in no text that was read, with the
    common ones among them. `together` says whether one passage has them all, or one of them stands in another form only
    ("costs": "cost"), which nothing can be said of. `is_complete` says that every text was looked through for that. Of scripts whose
    words nothing parts none are among them: what is a word there, nobody knows.
    `is_covered`: one of the places has every word of the part, also of a script whose words nothing parts. `ordering` are
    the titles of documents of which something is not shown because it orders a reading program about.
    """

    text: str
    words: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    together: bool = True
    is_complete: bool = True
    is_covered: bool = False
    ordering: tuple[str, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    places: tuple[Place, ...] = ()


def shown_passages(parts: Sequence[PartPlaces]) -> dict[str, str]:
    """Return the shown passages as id → source, those of the best stretches first."""
    stretches = [stretch for part in parts for stretch in part.stretches]
    found = {key: stretch.source for stretch in stretches for piece in stretch.pieces for key in piece.passages}
    return found | {place.passage: place.source for part in parts for place in part.places}
