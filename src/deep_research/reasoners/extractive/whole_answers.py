"""Answers that a document spreads over several paragraphs or headings: the steps of a procedure, all kinds of a thing."""

import re
from collections.abc import Collection, Sequence

from deep_research.i18n.language import detect
from deep_research.i18n.lexicon import any_word
from deep_research.ports import Library
from deep_research.reasoners.extractive.answer_blocks import PartAnswer, in_context, overlap, weighs
from deep_research.reasoners.extractive.asked_words import Word, terms_of
from deep_research.reasoners.extractive.block_ranking import Candidate, Region, enumerated, regions, weigh
from deep_research.reasoners.extractive.question_reading import Reading
from deep_research.text.cleaning import plain_heading
from deep_research.text.question_parts import answer_shape, decided
from deep_research.text.quotable_blocks import QuotableBlock

_STEPS_CHARS = 4000
"""How long a procedure may be with what stands around it."""
_BESIDE_CHARS, _BESIDE_MOST = 1000, 2
"""How much is quoted of another procedure of the page, and of how many."""
_FEWEST_KINDS, _MOST_KINDS, _NAMED = 3, 30, 0.6
"""How many headings list the kinds of a thing, and what share of the question the title and the heading above them say."""
_DETECTED = 2000
"""How much of a text tells its language."""
_SETS_UP = re.compile(any_word("asking.setup_patterns"), re.IGNORECASE)
_DOES = re.compile(any_word("headings.action_patterns"), re.IGNORECASE)
_AIMS = re.compile(any_word("quoting.aim_patterns"), re.IGNORECASE)


def with_all_steps(part: PartAnswer, library: Library) -> PartAnswer:
    """Return what answers how to do something with its steps whole, and what is said around them. Where that has none, as
    what tells how something works, the further blocks stay.

    Setting something up takes what the page has to be done beside it ("Preparing the server"), in the order of the page.
    """
    if answer_shape(part.text) != "steps" or not part.blocks:
        return part
    best = max(part.blocks, key=lambda block: block.score)
    whole = in_context([best], (), chars=_STEPS_CHARS)
    if not any(block.region.outline.atoms[n].kind in ("item", "code") for block in whole for n in block.block.atoms):
        whole += [block for block in part.blocks if not _is_told(block, whole)]
    if _SETS_UP.search(part.text):
        beside = [*whole, *_done_beside(best, whole, library)]
        whole = sorted(beside, key=lambda b: (b.region.source != best.region.source, b.start))
    return part._replace(blocks=tuple(whole))


def _is_told(block: Candidate, told: Sequence[Candidate]) -> bool:
    return any(overlap(block, other) for other in told)


def _done_beside(best: Candidate, told: Sequence[Candidate], library: Library) -> list[Candidate]:
    """Return how the other procedures begin that stand beside the one of `best` on its page."""
    around = best.heading.rpartition(" > ")[0]
    passages = [p for p in library.passages(best.region.source) if around and p.heading.rpartition(" > ")[0] == around]
    found: list[Candidate] = []
    for path in dict.fromkeys(p.heading for p in passages):
        if path == best.heading or not _DOES.match(plain_heading(path.rsplit(" > ", 1)[-1])):
            continue
        for region in regions([p for p in passages if p.heading == path], library):
            blocks = [b for b in region.blocks if region.passage(b.atoms[0]).heading == path and b.kind != "row"]
            aims = [b for b in blocks if _begins_paragraph(region, b) and _AIMS.match(region.outline.of(b.atoms[0]))]
            first = min(aims or blocks, key=lambda b: b.atoms, default=None)
            if first is not None:
                found += in_context([Candidate(region, first, 0.0, (), ())], (), chars=_BESIDE_CHARS)
    return [block for block in found if not _is_told(block, told)][:_BESIDE_MOST]


def _begins_paragraph(region: Region, block: QuotableBlock) -> bool:
    first, atoms = block.atoms[0], region.outline.atoms
    return not first or atoms[first - 1].unit != atoms[first].unit


def with_both_sides(part: PartAnswer) -> PartAnswer:
    """Return what answers whether to do something with all lists of its section that weigh it: the advantages beside the
    drawbacks, first and in order."""
    sides: list[Candidate] = []
    for block in part.blocks if decided(part.text) else ():
        if block.block.kind == "list" and weighs(block):
            others = [Candidate(block.region, b, 0.0, (), ()) for b in block.region.blocks if b.kind == "list"]
            beside = [other for other in others if other.heading == block.heading and weighs(other)]
            sides += [side for side in (block, *beside) if not _is_told(side, sides)]
    rest = [block for block in part.blocks if not _is_told(block, sides)]
    return part._replace(blocks=(*sorted(sides, key=lambda b: (b.region.source, b.start)), *rest)) if sides else part


def with_all_kinds(part: PartAnswer, reading: Reading, library: Library) -> PartAnswer:
    """Return what answers which things of a kind there are: where a page has them under headings of their own below one that
    names the kind ("HOOKS"), how each of these begins. What a document lists in one place stays, unless another page has the
    name of the kind."""
    if answer_shape(part.text) != "list" or not part.blocks:
        return part
    words, best = reading.words(part.text), part.blocks[0].region
    asked = terms_of(part.text) | {term for word in words for way in word.ways for term in way}
    listed = any(_lists_kinds(block, words, asked) for block in part.blocks)
    for source, region in {region.source: region for region in reading.regions}.items():
        title = region.title
        if _is_readable(best, reading) and not _is_readable(region, reading):
            continue  # a page in another language takes no place of one that the reader can read
        if listed and (source == best.source or not _is_made_of(plain_heading(title), asked)):
            continue
        passages = library.passages(source)
        paths = dict.fromkeys(p.heading for p in passages)
        # What has nothing but headings below it has no passage of its own.
        above = dict.fromkeys(path.rpartition(" > ")[0] for path in paths if " > " in path)
        for path in [path for path in above if _names_kind(path, title, words, asked)]:
            below = [p for p in paths if p.startswith(f"{path} > ") and " > " not in p.removeprefix(f"{path} > ")]
            if _FEWEST_KINDS <= len(below) <= _MOST_KINDS:
                found = regions([p for p in passages if p.heading in below], library)
                return part._replace(blocks=tuple(_openings(below, found)))
    return part


def _is_readable(region: Region, reading: Reading) -> bool:
    return detect(region.outline.text[:_DETECTED], default=reading.language) == reading.language


def _lists_kinds(block: Candidate, words: Sequence[Word], asked: Collection[str]) -> bool:
    """Return whether a block is a list or table that says of what kind its items are, or stands below the name of the kind."""
    kinds = terms_of(enumerated(block.region.outline, block.block))
    if any(word.share(kinds) for word in words):
        return True
    return block.block.kind in ("list", "table") and _names_kind(block.heading, block.region.title, words, asked)


def _names_kind(path: str, title: str, words: Sequence[Word], asked: Collection[str]) -> bool:
    """Return whether the last heading of a path has only words of the question, and with the title above it most of them."""
    said = terms_of(f"{title}\n{path}")
    return _is_made_of(plain_heading(path.rsplit(" > ", 1)[-1]), asked) and (
        weigh(words, [w.share(said) for w in words]) >= _NAMED * weigh(words, [1.0] * len(words))
    )


def _is_made_of(heading: str, asked: Collection[str]) -> bool:
    name = terms_of(heading)
    return bool(name) and all(term in asked for term in name)


def _openings(paths: Sequence[str], found: Sequence[Region]) -> list[Candidate]:
    """Return the first sentence below each of `paths`."""
    first: dict[str, Candidate] = {}
    for region in found:
        for block in region.blocks:
            path = region.passage(block.atoms[0]).heading
            if path in paths and path not in first and region.outline.atoms[block.atoms[0]].kind == "prose":
                first[path] = Candidate(region, QuotableBlock("paragraph", block.atoms[:1]), 1.0, (), ())
    return [first[path] for path in paths if path in first]
