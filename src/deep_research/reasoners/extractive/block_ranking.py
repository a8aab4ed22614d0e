"""Blocks around the passages that a search found, ranked by how much of the question they speak of.

The score of a block is the share of the question's weight that it holds: in its own text, less in the headings above
it, least in the paragraphs beside it; with a little for its best sentence, for words said again, for the rank of its
passage, and more for an entry, row or definition of what the question names.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, permutations
from typing import NamedTuple

from deep_research.data import Passage
from deep_research.i18n.lexicon import any_word
from deep_research.ports import Library
from deep_research.reasoners.extractive.asked_words import Word, is_identifier, terms_of
from deep_research.text.cleaning import plain_heading
from deep_research.text.contents_lists import repeated_lines
from deep_research.text.question_parts import Shape
from deep_research.text.quotable_blocks import Outline, QuotableBlock, is_record, is_sentence, outline, quotable_blocks
from deep_research.text.sentences import ITEM_MARKER
from deep_research.text.tokens import content_terms

_BEFORE, _AFTER = 1, 2
"""Passages beside each hit in which blocks may begin or end."""
_HEADING, _BESIDE = 0.75, 0.3
"""What a word counts in the headings above a block, and in the paragraphs beside it, instead of in the block itself."""
_FOCUS, _AGAIN, _PRIOR = 0.45, 0.3, 0.25
_ENTRY, _OWN_ENTRY, _DEFINES, _SECTION, _SHAPED, _LISTED = 0.4, 0.7, 0.4, 0.2, 0.15, 0.25
"""What a block gains as an entry named by the words or by an identifier asked for, as a definition, at the head of a
section of that name, in the form asked for, and as the whole list below a heading that says more than its items."""
_ENUMERATED = 1.5
"""What a list gains whose lead-in says that it has all of a kind, as far as that says what is asked."""
_RECORD = 0.4
"""What a block of lines such as "Published: 2022-11" loses where the question names none of their keys."""
_HISTORY = 0.5
"""What a block below a heading such as "Version 4.3.0" or "Release notes" is worth to a question that names no version,
and below the signature of a function to one that names nothing in code."""
_SIGNATURE = re.compile(r"\w\([^()]*\)$")
_OPTION, _FEW_ENTRIES = re.compile(r"--?\w"), 3
_LONGEST_CODE = 2000
"""Characters of the longest piece of code that is an answer: a whole file of settings has every word."""
_MANY_ITEMS = 4
"""From so many items on a list of other things is worth less than the one of them that says what is asked."""
_OF_VERSION = re.compile(r"[\s,(]*\b(?:version|v)\s?\d[\d.]*\)?$")
_IS_HISTORY = re.compile(f"(?:{any_word('headings.history_patterns')})$", re.IGNORECASE)
_ENUMERATES = re.compile(any_word("quoting.enumerating_patterns"), re.IGNORECASE)
_FENCE = re.compile(r"^```[^\n]*$", re.MULTILINE)
KEY = re.compile(r"^\W*([^:：\n|]{1,80}?)(?:[:：](?:\s|$)|\s\||\s[—–-]\s)")
"""What an entry begins with: its key, and a colon, a cell or a dash."""
_ASIDE = re.compile(r"\s*[(（][^()（）]*[)）]")
_ACRONYM_ASIDE = re.compile(r"[(（]([A-Z][A-Z0-9]+)[)）]")
_PHRASE = 0.3
"""What a block gains where words that follow each other in the question follow each other in it ("market share")."""
_MENU_CHARS, _TITLE_CHARS = 300, 80
"""Of how much of a page's beginning the lines are compared with those of others."""
_VOTING, _VOTE = 20, 0.3
"""How many of the best blocks vote for their documents, and what a block of a document gains that has all votes."""
_STEPS_SECTION = 1.0
"""What a block gains below a heading that names what is to be done."""
_HEADED = 0.2
"""What a block gains below a heading that says all that is asked."""
_OPENING, _OPENING_OF_PAGE, _TITLED = 80, 1500, 1.2
DEFINES = re.compile(any_word("quoting.defines_patterns"))
"""The verb of a sentence that says what something is."""


class Region(NamedTuple):
    """A run of passages of one source: their text as one outline, which begins at offset `start` of the snapshot."""

    source: str
    title: str
    passages: tuple[Passage, ...]
    ranks: tuple[int, ...]
    outline: Outline
    terms: tuple[frozenset[str], ...]
    blocks: tuple[QuotableBlock, ...]

    @property
    def start(self) -> int:
        """Where the region begins in its snapshot."""
        return self.passages[0].start

    def passage(self, atom: int) -> Passage:
        """Return the passage in which an atom begins."""
        return self.passages[self._place(atom)]

    def rank(self, atom: int) -> int:
        """Return the rank of that passage among the hits."""
        return self.ranks[self._place(atom)]

    def share(self, atom: int, words: Sequence[Word]) -> list[float]:
        """Return how far an atom says each of `words` (0–1)."""
        return [word.share(self.terms[atom]) for word in words]

    def _place(self, atom: int) -> int:
        at = self.start + self.outline.atoms[atom].start
        return max(0, bisect_right([p.start for p in self.passages], at) - 1)


class Candidate(NamedTuple):
    """A block that may answer. `own` and `said` hold for each word of the question how far it is said (0–1): by the
    block itself, and with its headings and the paragraphs beside it."""

    region: Region
    block: QuotableBlock
    score: float
    own: tuple[float, ...]
    said: tuple[float, ...]

    @property
    def text(self) -> str:
        """The text of the block, one atom a line."""
        return "\n".join(self.region.outline.of(n) for n in self.block.atoms)

    @property
    def start(self) -> int:
        """Return where the block begins in its snapshot."""
        return self.region.start + self.region.outline.atoms[self.block.atoms[0]].start

    @property
    def heading(self) -> str:
        """The headings above the block."""
        return self.region.passage(self.block.atoms[0]).heading

    @property
    def length(self) -> int:
        """The characters of the block."""
        return self.region.outline.length(self.block.atoms)


def regions(hits: Sequence[Passage], library: Library) -> list[Region]:
    """Return the text around `hits` (best first), each stretch once."""
    ranks = {p.id: rank for rank, p in reversed(list(enumerate(hits)))}
    wanted: dict[str, dict[int, Passage | None]] = defaultdict(dict)
    for hit in hits:
        number = _number(hit)
        for near in range(max(1, number - _BEFORE), number + _AFTER + 1):
            wanted[hit.source].setdefault(near, None)
        wanted[hit.source][number] = hit
    found: list[Region] = []
    menu = repeated_lines(p.text[:_MENU_CHARS] for source in wanted if (p := library.passage(f"{source}p1")))
    for source, numbers in wanted.items():
        known = library.source(source)
        title = known.title if known else ""
        run: list[Passage] = []
        for number in sorted(numbers):
            passage = numbers[number] or library.passage(f"{source}p{number}")
            if run and (passage is None or number != _number(run[-1]) + 1):
                found.append(_region(source, title, _with_told(run, library), ranks, library, menu))
                run = []
            run += [passage] if passage is not None else []
        if run:
            found.append(_region(source, title, _with_told(run, library), ranks, library, menu))
    return found


def _with_told(run: list[Passage], library: Library) -> list[Passage]:
    """Return passages with the one behind them where they end with the name of what that tells ("14. Maximum Size")."""
    name = run[-1].text.rstrip().rpartition("\n")[2]
    if ITEM_MARKER.match(name) is None or len(name) > _TITLE_CHARS or is_sentence(name):
        return run
    following = library.passage(f"{run[-1].source}p{_number(run[-1]) + 1}")
    return [*run, following] if following is not None else run


def _number(passage: Passage) -> int:
    return int(passage.id.rpartition("p")[2])


def _region(
    source: str, title: str, run: Sequence[Passage], ranks: dict[str, int], library: Library, menu: Collection[str]
) -> Region:
    text = ""
    for passage in run:
        # What stands between two passages is white space; its length keeps the offsets true.
        gap = passage.start - run[0].start - len(text)
        text += "\n" * gap + passage.text
    if _number(run[0]) == 1:
        text = _without_menu(text, menu)
    if _FENCE.search(text) and (rest := _inside_code(source, run[0].start, text, library)):
        text = "\n" * rest + text[rest:]
    return Region(source, title, tuple(run), tuple(ranks.get(p.id, len(ranks)) for p in run), *_laid_out(text))


def _without_menu(text: str, menu: Collection[str]) -> str:
    """Return a page with blanks for the lines that it begins with as other pages do, below its title too."""
    lines = text.splitlines(keepends=True)
    for place, line in enumerate(lines):
        if line.startswith("# "):
            continue
        if line.strip() and line.strip() not in menu:
            break
        lines[place] = "\n" * len(line)
    return "".join(lines)


@lru_cache(maxsize=512)
def _laid_out(text: str) -> tuple[Outline, tuple[frozenset[str], ...], tuple[QuotableBlock, ...]]:
    """Return the outline of a text, the terms of its atoms, and what can be quoted of it; each section asks for much the
    same."""
    outlined = outline(text)
    terms = tuple(terms_of(outlined.of(number)) for number in range(len(outlined.atoms)))
    return outlined, terms, tuple(quotable_blocks(outlined))


def _inside_code(source: str, start: int, text: str, library: Library) -> int:
    """Return how many characters of a region belong to a piece of code that begins before it; 0 for none."""
    snapshot = library.snapshot(source)
    fences = len(_FENCE.findall(snapshot.text[:start])) if snapshot is not None else 0
    closing = _FENCE.search(text)
    return closing.end() if fences % 2 and closing else 0


def ranked(
    found: Sequence[Region], words: Sequence[Word], shape: Shape = "statement", *, dated: bool = False
) -> list[Candidate]:
    """Return the blocks of `found` that say anything of `words`, best first; those of the shape asked for gain a little.

    Where a version is asked about (`dated`), what says that it changed is worth as much as anything else.
    """
    total = sum(word.weight for word in words)
    if not total:
        return []
    candidates = [c for region in found for c in _of_region(region, words, total, shape, dated=dated)]
    titles = {region.title.casefold() for region in found}
    if not dated:
        candidates = [c._replace(score=c.score * _HISTORY) if _is_superseded(c, titles) else c for c in candidates]
    return _with_votes(sorted(candidates, key=lambda c: -c.score))


def _is_superseded(candidate: Candidate, titles: Collection[str]) -> bool:
    """Return whether a page is about one version of what another page is about as it is ("Types, version 2" and "Types")."""
    title = candidate.region.title.casefold()
    plain = _OF_VERSION.sub("", title)
    return plain != title and plain in titles


def _with_votes(best: list[Candidate]) -> list[Candidate]:
    """Return blocks with what the other good blocks of their document say for them: a page about the matter has several.
    A block that says nothing beyond the better ones has no vote: it is a piece of the same text."""
    votes: Counter[str] = Counter()
    known: dict[int, set[int]] = defaultdict(set)
    for candidate in best[:_VOTING]:
        told = known[id(candidate.region)]
        votes[candidate.region.source] += not told.issuperset(candidate.block.atoms)
        told.update(candidate.block.atoms)
    share = {source: count / votes.total() for source, count in votes.items()}
    voted = [c._replace(score=c.score + _VOTE * share.get(c.region.source, 0.0)) for c in best]
    return sorted(voted, key=lambda c: -c.score)


def _of_region(
    region: Region, words: Sequence[Word], total: float, shape: Shape, *, dated: bool
) -> Iterator[Candidate]:
    atoms = region.outline.atoms
    said = [region.share(n, words) for n in range(len(atoms))]
    headed = any(any(word.share(terms_of(p.heading)) for word in words) for p in region.passages if p.heading)
    if not headed and not any(any(row) for row in said):
        return
    above: dict[str, list[float]] = {}
    named_in_code = any(is_identifier(word.text) for word in words)
    sections = {n: section for section in region.outline.sections for n in section}
    for block in region.blocks:
        heading = region.passage(block.atoms[0]).heading
        if heading not in above:
            named = terms_of(f"{region.title}\n{heading}")
            above[heading] = [word.share(named) for word in words]
        section = sections[block.atoms[0]]
        scored = _scored(region, block, words, total, said, above[heading], section)
        gain = _favoured(region, block, words, shape, section)
        if block.kind == "list" and weigh(words, above[heading]) > weigh(words, scored.own):
            gain += _LISTED * weigh(words, above[heading]) / total
        if block.kind == "list" and shape == "list":
            gain += _LISTED * weigh(words, said[block.atoms[0]]) / total
        if shape == "list" and (kinds := enumerated(region.outline, block)):
            lead = said[block.atoms[0]] if any(word.share(terms_of(kinds)) for word in words) else [0.0] * len(words)
            light = [share for word, share in zip(words, lead, strict=True) if word.light]
            # Where the question says of what kind they are ("advantages"), so must the lead-in.
            gain += _ENUMERATED * weigh(words, lead) / total if any(light) or not light else 0.0
        nearest = terms_of(heading.rsplit(" > ", 1)[-1] or region.title)
        gain += _HEADED * weigh(words, [word.share(nearest) for word in words]) / total
        past = not dated and _is_history(f"{region.title} > {heading}")
        apart = past or (not named_in_code and _SIGNATURE.search(heading))
        apart = apart or (shape != "list" and _lists_entries(region.outline, block, shape))
        apart = apart or _lists_other_things(region.outline, block, said)
        apart = apart or (block.kind == "code" and region.outline.length(block.atoms) > _LONGEST_CODE)
        yield scored._replace(score=(scored.score + gain) * (_HISTORY if apart else 1.0))


def _lists_entries(outlined: Outline, block: QuotableBlock, shape: Shape) -> bool:
    """Return whether a block is a list of options or, where it is asked how to do something, of commands: of these one or two
    do it."""
    items = [n for n in block.atoms if outlined.atoms[n].kind == "item" and not outlined.atoms[n].numbered]
    key = KEY if shape == "steps" else _OPTION
    return block.kind in ("list", "run") and sum(key.match(outlined.of(n)) is not None for n in items) > _FEW_ENTRIES


def _lists_other_things(outlined: Outline, block: QuotableBlock, said: Sequence[Sequence[float]]) -> bool:
    """Return whether a block is a list led in without a word of what is asked, which only one of its many items says."""
    items = [n for n in block.atoms if outlined.atoms[n].kind == "item"]
    if block.kind != "list" or len(items) < _MANY_ITEMS or outlined.atoms[block.atoms[0]].kind != "prose":
        return False
    units = {outlined.atoms[n].unit for n in items if any(said[n])}
    return not any(said[block.atoms[0]]) and len(units) == 1


def enumerated(outlined: Outline, block: QuotableBlock) -> str:
    """Return of a list whose lead-in says that it has all of a kind ("There are three approaches to …:") where it says of
    what kind, "" for any other block: in "The hook takes three parameters:" it is not the hook."""
    led = block.kind == "list" and outlined.atoms[block.atoms[0]].kind == "prose"
    leads = [outlined.of(n) for n in block.atoms if outlined.atoms[n].kind == "prose"] if led else []
    found = _ENUMERATES.search(leads[-1]) if leads else None
    return "" if found is None else found.group() if found.end() == len(leads[-1]) else leads[-1]


def is_history(candidate: Candidate) -> bool:
    """Return whether a block stands below a title or heading that says what changed."""
    return _is_history(f"{candidate.region.title} > {candidate.heading}")


@lru_cache(maxsize=2_000)
def _is_history(path: str) -> bool:
    """Return whether a title or heading says that what changed stands below it."""
    return any(_IS_HISTORY.match(plain_heading(part)) for part in path.split(" > "))


def _scored(
    region: Region,
    block: QuotableBlock,
    words: Sequence[Word],
    total: float,
    said: Sequence[Sequence[float]],
    above: Sequence[float],
    section: Sequence[int],
) -> Candidate:
    rows = [said[n] for n in block.atoms]
    first, last = section.index(block.atoms[0]), section.index(block.atoms[-1])
    beside = [said[n] for n in (*section[max(0, first - 1) : first], *section[last + 1 : last + 2])]
    own = tuple(max(row[i] for row in rows) for i in range(len(words)))
    near = [max((row[i] for row in beside), default=0.0) for i in range(len(words))]
    covered = weigh(words, [max(o, _HEADING * h, _BESIDE * n) for o, h, n in zip(own, above, near, strict=True)])
    focus = max(weigh(words, row) for row in rows)
    again = weigh(words, [_saturated(sum(row[i] for row in rows)) for i in range(len(words))])
    rank = min(region.rank(n) for n in block.atoms)
    score = (covered + _FOCUS * focus + _AGAIN * again) / total + _PRIOR / (1 + rank / 5)
    score += _PHRASE * _phrased(region, block, words)
    full = tuple(max(o, h, 0.5 * n) for o, h, n in zip(own, above, near, strict=True))
    return Candidate(region, block, score, own, full)


def _phrased(region: Region, block: QuotableBlock, words: Sequence[Word]) -> float:
    """Return how many of the words that follow each other in a question do so in an atom of a block (0–1), by weight."""
    pairs = _pairs(words)
    if not pairs:
        return 0.0
    said = frozenset[tuple[str, ...]]().union(*(_sequence(region.outline.of(n)) for n in block.atoms))
    return sum(weight for ways, weight in pairs if not said.isdisjoint(ways)) / sum(weight for _, weight in pairs)


def phrased(text: str, words: Sequence[Word]) -> bool:
    """Return whether the words of a name follow each other in a text as they do in the name."""
    said = _sequence(text)
    return not any(said.isdisjoint(ways) for ways, _ in _pairs(words))


def _pairs(words: Sequence[Word]) -> list[tuple[frozenset[tuple[str, ...]], float]]:
    """Return the terms of words that follow each other, with the weight of the lighter one.

    Scripts without spaces have none: their terms are pairs of characters already. But a word of theirs that is two words
    in another language is such a pair, whose order is not known.
    """
    found = [
        (frozenset({(*one.ways[0], *other.ways[0])}), min(one.weight, other.weight))
        for one, other in pairwise(words)
        if one.text.isascii() and other.text.isascii() and len(one.ways[0]) == len(other.ways[0]) == 1
    ]
    for word in words:
        ways = frozenset(pair for way in word.ways[1:] if len(way) == 2 for pair in permutations(way))
        if ways and not word.text.isascii():
            found.append((ways, word.weight))
    return found


@lru_cache(maxsize=20_000)
def _sequence(text: str) -> frozenset[tuple[str, ...]]:
    """Return the pairs of content terms that follow each other in a text."""
    return frozenset(pairwise(content_terms(text)))


def weigh(words: Sequence[Word], said: Sequence[float]) -> float:
    """Return the weight of the words as far as they are said."""
    return sum(word.weight * share for word, share in zip(words, said, strict=True))


def _saturated(count: float) -> float:
    return count / (count + 1.5)


def _favoured(
    region: Region, block: QuotableBlock, words: Sequence[Word], shape: Shape, section: Sequence[int]
) -> float:
    """Return what a block gains for its form: an entry or definition of what is asked, the beginning of its section."""
    outlined = region.outline
    first = next((n for n in block.atoms if outlined.atoms[n].kind in ("item", "row")), block.atoms[0])
    text = outlined.of(first)
    gain = 0.0
    if is_record(outlined, block) and not any(named(outlined.of(n).split(":")[0], words) for n in block.atoms):
        gain = -_RECORD
    if block.kind in ("item", "row", "paragraph") and (key := KEY.match(_unit_text(outlined, first))):
        entry = _ENTRY + _DEFINES if shape == "definition" else _ENTRY
        gain += max(entry * named(key[1], words), _OWN_ENTRY * _is_entry(key[1], words))
    elif block.kind == "item" and [outlined.atoms[n].kind for n in block.atoms if n > first][:1] == ["prose"]:
        gain += _ENTRY * named(text, words)  # the name of what the paragraph behind it tells
    if shape == "definition" and (verb := DEFINES.search(text[:_OPENING])):
        gain = max(gain, _DEFINES * named(text[: verb.start()], words))
    if block.atoms[0] == section[0] or shape == "steps":
        path = region.passage(block.atoms[0]).heading.split(" > ")
        heading = path[-1] or region.title
        if shape == "steps":
            gain += _STEPS_SECTION * max(named(heading, words), float(_is_made_of(heading, words)))
        else:
            gain += _SECTION * named(heading, words)
    at = region.start + outlined.atoms[block.atoms[0]].start
    if shape == "definition" and at < _OPENING_OF_PAGE and outlined.atoms[block.atoms[0]].kind == "prose":
        telling = [word for word in words if not word.light]
        begins = block.atoms[0] == section[0] and telling and named(region.title, telling) == 1.0
        gain += _TITLED if begins else _DEFINES * named(region.title, words)
    listed = block.kind == "list"
    fits = {"list": listed or block.kind == "table", "steps": listed or block.kind == "code"}.get(shape, not listed)
    return gain + _SHAPED * fits


def key_of(candidate: Candidate) -> str:
    """Return the key of the entry or row that a block begins with; "" for other blocks."""
    outlined = candidate.region.outline
    first = next((n for n in candidate.block.atoms if outlined.atoms[n].kind in ("item", "row")), None)
    key = KEY.match(_unit_text(outlined, first)) if first is not None else None
    return key[1] if key else ""


def _is_entry(key: str, words: Sequence[Word]) -> float:
    """Return how much of the heaviest word weighs the identifier that a key is ("work_mem (integer)"); 0 for others."""
    name = key.partition("(")[0].strip(" `*-").casefold()
    asked = [word.weight for word in words if is_identifier(word.text) and word.text.casefold() == name]
    return max(asked, default=0.0) / max(word.weight for word in words) if asked else 0.0


def _unit_text(outlined: Outline, atom: int) -> str:
    """Return the beginning of the paragraph, item or row that begins with an atom."""
    found = outlined.atoms[atom]
    end = min(found.start + 2 * _OPENING, len(outlined.text))
    return " ".join(outlined.text[found.start : end].split("\n\n")[0].split())


def named(name: str, words: Sequence[Word]) -> float:
    """Return how much of a question a name says (0–1); one that says more than was asked names something else.

    What a name has in parentheses adds nothing to it, and an acronym there names the same by itself.
    """
    total = weigh(words, [1.0] * len(words))
    if not total:
        return 0.0
    asked = frozenset(term for word in words for way in word.ways for term in way)
    names = [terms for terms in _names_in(name) if terms & asked]
    shares = (
        weigh(words, [w.share(terms) for w in words]) / total * len(terms & asked) / len(terms) for terms in names
    )
    return max(shares, default=0.0)


def _is_made_of(heading: str, words: Sequence[Word]) -> bool:
    """Return whether a heading has two words or more, and none but asked ones: it names what is asked about."""
    asked = frozenset(term for word in words for way in word.ways for term in way)
    return any(len(terms) > 1 and terms <= asked for terms in _names_in(heading))


@lru_cache(maxsize=20_000)
def _names_in(name: str) -> tuple[frozenset[str], ...]:
    """Return the terms of each name that a heading or key gives: "Write-Ahead Logging (WAL)" gives two."""
    plain = plain_heading(name).replace("-", " ")
    names = [plain, _ASIDE.sub(" ", plain), *_ACRONYM_ASIDE.findall(plain)]
    return tuple(dict.fromkeys(terms_of(each) for each in names))
