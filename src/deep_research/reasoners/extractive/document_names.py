"""Documents that a question calls by their name: the page of a module, of a command, of an acronym."""

import itertools
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from deep_research.data import Source
from deep_research.ports import Library
from deep_research.text.contents_lists import is_contents_line
from deep_research.text.question_terms import is_furniture
from deep_research.text.sentences import ITEM_MARKER
from deep_research.text.tokens import STOP_WORDS, content_terms

_NUMBERING = re.compile(r"^(?:chapter\s+)?\d+(?:\.\d+)*[.)]?\s+", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9][\w.+#-]*")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9]{2,}")
_EVERYWHERE = frozenset("index readme main default overview introduction intro about contents toc".split())
_SHORTEST = 3
_LONGEST_INTRODUCTION, _FEWEST_ANNOUNCED = 4000, 2
"""How long a page may be that is an introduction, and how few pages it introduces."""
_ENTRY = re.compile(r"(?:^\W*|, )(?P<number>(?:[A-Z]|\d+)(?:\.\d+)+)\.? (?P<title>[^,]+)")
"""A numbered entry of a contents list."""
_MOST = 0.5
"""A name in the titles of more than this share of the documents is that of the product, not of one page."""


def called(question: str, sources: Sequence[Source]) -> frozenset[str]:
    """Return the ids of the sources that `question` calls by their name.

    A name is what stands before the dash of a title ("collections — Container datatypes"), the stem of a file
    ("wal.html", "git-merge.html" for "git merge"), or the words that an acronym abbreviates ("Write-Ahead
    Logging" for "WAL"). A name that half of the documents bear calls none of them.
    """
    words = [w.strip(".-") for w in _WORD.findall(question)]
    named = {
        w.casefold() for w in words if len(w) >= _SHORTEST and not is_furniture(w) and w.casefold() not in STOP_WORDS
    }
    named |= {f"{a}-{b}".casefold() for a, b in itertools.pairwise(words)}
    named -= {name for name in named if _is_common(name, sources)}
    acronyms = {w for w in words if _ACRONYM.fullmatch(w)}
    return frozenset(s.id for s in sources if _bears(s, named, acronyms))


def _bears(source: Source, named: set[str], acronyms: set[str]) -> bool:
    title = _NUMBERING.sub("", source.title).strip()
    head, dash, _ = title.partition(" — ")
    stem = PurePosixPath(source.url or source.location or "").stem.casefold()
    if stem in named - _EVERYWHERE or (dash and head.casefold() in named):
        return True
    return any(_initials(title) == acronym for acronym in acronyms)


def _initials(title: str) -> str:
    """Return the first letters of the words of a title, without its small ones: "Write-Ahead Logging" is WAL."""
    words = [w for w in re.split(r"[\s/-]+", title) if w and w.casefold() not in STOP_WORDS]
    return "".join(w[0] for w in words).upper()


def _is_common(name: str, sources: Sequence[Source]) -> bool:
    terms = frozenset(content_terms(name))
    bearing = sum(bool(terms) and terms <= frozenset(content_terms(s.title)) for s in sources)
    return bearing > _MOST * len(sources) and bearing > 1


def announced_titles(source: str, library: Library) -> tuple[str, ...]:
    """Return the titles of the pages that a short page with a contents list introduces, such as the first one of a chapter:
    those of the highest rank, with their numbers."""
    page = library.snapshot(source)
    if page is None or len(page.text) > _LONGEST_INTRODUCTION:
        return ()
    listed = [line for line in page.text.splitlines() if is_contents_line(line) or ITEM_MARKER.match(f"\n{line}")]
    found = [match for line in listed for match in _ENTRY.finditer(line)]
    rank = min((match["number"].count(".") for match in found), default=0)
    titles = dict.fromkeys(
        f"{match['number']}. {match['title'].strip()}" for match in found if match["number"].count(".") == rank
    )
    return tuple(titles) if len(titles) >= _FEWEST_ANNOUNCED else ()
